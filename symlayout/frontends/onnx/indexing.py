"""ONNX's operators that read at indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute import along_axis
from symlayout.compute import gather as core
from symlayout.compute.demands import chosen_from, demanding
from symlayout.compute.whole import room_of, scattered_cache, whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import AT_LEAST_1, Sizes, as_tensor, is_known, known, known_number, operator
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.language.sympy_bridge import fresh
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Places

_KINDS = "rank, bad_axis, size_mismatch, attr_dtype"
_INDICES = {"indices": "Coordinates; negative ones count from the end."}


@operator("Gather", example=("N, C, H", "indices=[0, 2], axis=1", "(N, 2, H)"), kinds=_KINDS, about=_INDICES)
def gather(data: Tensor, indices: Tensor | Any, axis: Any = 0) -> Tensor:
    """Return slices of *data* along *axis* in the order of *indices*, whose axes replace *axis*."""
    along = attributes.axis("axis", axis, require_rank("Gather", data, 1))
    if is_known(indices):
        array = _integers(known("indices", indices))
        if (moved := core.take(data, array, along)) is not None:
            return moved
        indices = array
    places = as_tensor("Gather", "indices", indices)
    return core.gather_runtime(chosen_from(data, [along], places.shape), places, along)


def _integers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.kind == "O" and array.ndim == 0:
        return array
    if array.dtype.kind not in "iu" and array.size:
        raise ShapeError(f"indices have element type {array.dtype}, not an integer type", "attr_dtype")
    return array


@operator("GatherElements", example=("N, C; N, 3", "axis=1", "(N, 3)"), kinds=_KINDS, about=_INDICES)
def gather_elements(data: Tensor, indices: Tensor, axis: Any = 0) -> Tensor:
    """Return the element of *data* at the coordinate of each index, with the index in place of that on *axis*."""
    along = attributes.axis("axis", axis, require_rank("GatherElements", data, 1))
    return core.gather_elements(chosen_from(data, [along], indices.shape), indices, along)


@operator("GatherND", example=("N, C, H; M, 2", "", "(M, H)"), kinds=f"{_KINDS}, unknown_rank", about=_INDICES)
def gather_nd(data: Tensor, indices: Tensor, batch_dims: Any = 0) -> Tensor:
    """Return slices of *data* at the coordinates that the last axis of *indices* has."""
    rank, first = require_rank("GatherND", data, 1), attributes.constant("batch_dims", batch_dims)
    if first < 0:
        raise ShapeError(f"batch_dims is {first}, it has to be at least 0", "attr_range")
    require_rank("GatherND", indices, 1)
    *places, count = indices.shape
    if isinstance(count, int):
        data = chosen_from(data, range(first, min(first + count, rank)), places)
    return core.gather_nd(data, indices, first)


_SCAN = {"axis": "Negative ones count from the end."}


def _cumulated(name: str, x: Tensor, axis: Any, exclusive: Any, reverse: Any) -> Tensor:
    along = attributes.axis("axis", known_number("axis", axis), require_rank(name, x, 1))
    flags = {"exclusive": attributes.flag("exclusive", exclusive), "reverse": attributes.flag("reverse", reverse)}
    return along_axis.cumulative(x, along, product=name == "CumProd", **flags)


@operator("CumSum", example=("N, C", "axis=1", "(N, C)"), kinds="bad_axis, attr_dtype", about=_SCAN)
def cum_sum(x: Tensor, axis: Any, exclusive: Any = 0, reverse: Any = 0) -> Tensor:
    """Return the sums of the elements up to each one along *axis*."""
    return _cumulated("CumSum", x, axis, exclusive, reverse)


@operator("CumProd", example=("N, C", "axis=1", "(N, C)"), kinds="bad_axis, attr_dtype", about=_SCAN)
def cum_prod(x: Tensor, axis: Any, exclusive: Any = 0, reverse: Any = 0) -> Tensor:
    """Return the products of the elements up to each one along *axis*."""
    return _cumulated("CumProd", x, axis, exclusive, reverse)


@operator(
    "TopK",
    example=("N, 9", "K=3", "[(N, 3), (N, 3)]"),
    kinds="bad_axis, attr_dtype, crop_exceeds",
    about={
        "K": "How many, as an input.",
        "k": "How many, as an attribute of the versions before 10.",
        "largest": "Whether the largest are returned, not the smallest.",
        "sorted": "Whether they are in order; the standard does not say what other order they have.",
    },
    allowed={"k": AT_LEAST_1},
)
def top_k(
    X: Tensor, K: Tensor | Sizes = None, axis: Any = -1, largest: Any = 1, sorted: Any = 1, k: Any = None
) -> list[Tensor]:
    """Return the largest or smallest elements along *axis*, best first, and their positions.

    A number that is read at run time is a new dim, at most the extent of the axis.
    """
    along = attributes.axis("axis", axis, require_rank("TopK", X, 1))
    if not attributes.flag("sorted", sorted):
        raise NotDeclaredError("the order is open")
    count = k if K is None else K
    if isinstance(K, Tensor):
        require_rank("K", K, 1, 1)
        X = demanding(X, "K has {} numbers, not {}", [(K.shape[0], 1)])
    if isinstance(K, np.ndarray) and K.ndim != 1:
        raise ShapeError(f"K has rank {K.ndim}, not 1", "length_mismatch")
    is_open = isinstance(K, Tensor) and K.values is None
    number = fresh("k", 0) if is_open else attributes.listed("K", count, 1)[0]
    return along_axis.top_k(X, number, along, largest=attributes.flag("largest", largest))


@operator(
    "TensorScatter",
    example=("N, H, 16, D; N, H, 2, D; N", "", "(N, H, 16, D)"),
    kinds="rank, bad_axis, bad_mode",
    about={"mode": '``"linear"``, or ``"circular"``: after the last index comes the first.'},
)
def tensor_scatter(
    past_cache: Tensor, update: Tensor, write_indices: Tensor | None = None, axis: Any = -2, mode: str = "linear"
) -> Tensor:
    """Return *past_cache* with *update* written along *axis*, from the index on that each element of axis 0 has."""
    rank = require_rank("TensorScatter", past_cache, 2)
    require_rank("TensorScatter", update, rank, rank)
    along = attributes.axis("axis", axis, rank)
    if along == 0:
        raise ShapeError("TensorScatter writes along an axis after the first", "bad_axis")
    circular = attributes.choice("mode", mode, ("linear", "circular")) == "circular"
    shape = past_cache.shape
    update = require_shape("the update", update, (*shape[:along], update.shape[along], *shape[along + 1 :]))
    update = demanding(update, "{} places for {} updates", at_least=[(shape[along], update.shape[along])])
    xs, given = [past_cache, update], [("axis", along), ("circular", circular)]
    places: tuple[Places, ...] = ()
    if write_indices is not None:
        starts = (shape[along] - update.shape[along],)  # the last one is the number of the others
        xs += [require_shape("write_indices", write_indices, shape[:1]), *([] if circular else [room_of(starts)])]
        within = Places(2, axes=(along,), from_end=False) if circular else Places(2, 3, (0,), lengths=True)
        places = () if circular and write_indices.values is not None else (within,)  # it may be beyond the axis
    return whole("tensor_scatter", xs, shape, function=scattered_cache, attributes=given, places=places)
