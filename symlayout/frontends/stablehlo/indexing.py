"""StableHLO's operations whose places are data, and orders along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from symlayout.compute import along_axis
from symlayout.compute import gather as core
from symlayout.compute.demands import demanding
from symlayout.compute.gather import Boxes
from symlayout.compute.whole import whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import Sizes, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.stablehlo.movement import axes_of, plain
from symlayout.language.sympy_bridge import extreme
from symlayout.ops.axes import squeeze
from symlayout.ops.slicing import getitem, update_slice
from symlayout.tensors.chain import Tensor

P = ParamSpec("P")
R = TypeVar("R")

_KINDS = "rank, length_mismatch, size_mismatch, attr_dtype, bad_axis, crop_exceeds, not_declared, overflow"
_ABOUT = {
    "body": "What becomes of an element and of what is written over it, by the name of the operation.",
    "collapsed_slice_dims": "Axes of the data, of extent 1 in a slice, that the result does not have.",
    "comparator": 'The order: ``"LT"`` or ``"GT"``.',
    "dimension": "The axis, from 0 on.",
    "index_vector_dim": "The axis of the indices that has coordinates.",
    "input_batching_dims": "Axes of the data that the indices have too.",
    "inserted_window_dims": "Axes of the data that a slice of the updates does not have.",
    "k": "How many.",
    "offset_dims": "The axes of the result that a slice has.",
    "operand_batching_dims": "Axes of the data that the indices have too.",
    "scatter_dims_to_operand_dims": "The axis of the data that each coordinate is of.",
    "scatter_indices_batching_dims": "Those axes of the indices.",
    "slice_sizes": "The extents of a slice.",
    "start_index_map": "The axis of the data that each coordinate is of.",
    "start_indices": "The first element of each axis, as single numbers.",
    "starts": "The same, where they are not read at run time.",
    "start_indices_batching_dims": "Those axes of the indices.",
    "update_window_dims": "The axes of the updates that a slice has.",
}


def _row(name: str, shapes: str, given: str, result: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return operator(f"stablehlo:{name}", example=(shapes, given, result), kinds=_KINDS, about=_ABOUT)


def _inside(operand: Tensor, sizes: list[Any], given: Sequence[Any]) -> list[Any]:
    """Return where a slice of these sizes begins, moved so that it is inside."""
    found = attributes.vector("starts", plain(given), operand.rank)
    made = []
    for n, size, start in zip(operand.shape, sizes, found, strict=True):
        numbers = all(isinstance(e, int) for e in (n, size, start))
        if numbers or (isinstance(start, int) and start <= 0):
            made.append(max(min(start, n - size), 0) if numbers else 0)
        else:
            made.append(extreme("min", (extreme("max", (start, 0)), n - size)))
    return made


def _known_starts(starts: Any, start_indices: Sequence[Tensor]) -> list[Any] | None:
    """Return starts that are numbers; None if they are read at run time."""
    if starts is not None:
        return list(plain(starts))
    found = [None if x.values is None else x.values.reshape(-1) for x in start_indices]
    if any(v is None or v.size != 1 for v in found):
        return None
    return [int(v[0]) for v in found if v is not None]


def _check_sizes(operand: Tensor, sizes: list[Any]) -> Tensor:
    return demanding(
        operand, "an extent of {} for a slice of {}", at_least=list(zip(operand.shape, sizes, strict=True))
    )


@_row("dynamic_slice", "9, W", "starts=[1, 0], slice_sizes=[3, 1]", "(3, 1)")
def dynamic_slice(operand: Tensor, *start_indices: Tensor, slice_sizes: Any, starts: Any = None) -> Tensor:
    """Return the slice of these sizes from *start_indices*, or *starts*, on, which are moved so that it is inside."""
    sizes = attributes.vector("slice_sizes", plain(slice_sizes), operand.rank)
    operand = _check_sizes(operand, sizes)
    known = _known_starts(starts, start_indices)
    if known is None:
        given = (("sizes", tuple(sizes)),)
        xs = [operand, *start_indices]
        return whole("box_at", xs, sizes, function=core.box_at, attributes=given, dtype=operand.dtype)
    begins = _inside(operand, sizes, known)
    if not operand.rank:
        return operand
    return getitem(operand, tuple(np.s_[s : s + m] for s, m in zip(begins, sizes, strict=True)), bounds="exact")


@_row("dynamic_update_slice", "9, W; 3, 1", "starts=[1, 0]", "(9, W)")
def dynamic_update_slice(operand: Tensor, update: Tensor, *start_indices: Tensor, starts: Any = None) -> Tensor:
    """Return *operand* with *update* over its elements from the starts on, moved so that it is inside."""
    require_rank("dynamic_update_slice", update, operand.rank, operand.rank)
    sizes = list(update.shape)
    operand = _check_sizes(operand, sizes)
    known = _known_starts(starts, start_indices)
    if known is None:
        xs = [operand, update, *start_indices]
        return whole("with_box_at", xs, operand.shape, function=core.with_box_at, dtype=operand.dtype)
    return update_slice(operand, update, _inside(operand, sizes, known)) if operand.rank else update


@_row(
    "gather", "9, 3; M, 1",
    "offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1, slice_sizes=[1, 3]", "(M, 3)",
)  # fmt: skip
def gather(
    operand: Tensor,
    start_indices: Tensor,
    slice_sizes: Sizes,
    offset_dims: Any = (),
    collapsed_slice_dims: Any = (),
    operand_batching_dims: Any = (),
    start_indices_batching_dims: Any = (),
    start_index_map: Any = (),
    index_vector_dim: Any = 0,
) -> Tensor:
    """Return slices of *operand* at the coordinates that *start_indices* has; each is moved so that it is inside."""
    sizes = attributes.vector("slice_sizes", plain(slice_sizes), operand.rank)
    operand = _check_sizes(operand, sizes)
    boxes = Boxes(
        tuple(attributes.constants("offset_dims", plain(offset_dims))),
        tuple(axes_of("collapsed_slice_dims", collapsed_slice_dims, operand.rank)),
        tuple(axes_of("operand_batching_dims", operand_batching_dims, operand.rank)),
        tuple(attributes.constants("start_indices_batching_dims", plain(start_indices_batching_dims))),
        tuple(axes_of("start_index_map", start_index_map, operand.rank)),
        attributes.constant("index_vector_dim", index_vector_dim),
    )
    _check_boxes(boxes, start_indices)
    if (moved := _one_box(operand, start_indices, sizes, boxes)) is not None:
        return moved
    if (moved := _taken(operand, start_indices, sizes, boxes)) is not None:
        return moved
    outer = [n for k, n in enumerate(start_indices.shape) if k != boxes.coordinates]
    inner = [sizes[k] for k in boxes.kept(operand.rank)]
    if len(inner) != len(boxes.offset) or any(not 0 <= k < len(outer) + len(inner) for k in boxes.offset):
        raise ShapeError(f"offset_dims has {len(boxes.offset)} axes, a slice {len(inner)}", "length_mismatch")
    if not all(isinstance(n, int) for n in sizes):
        raise NotDeclaredError("slices of sizes that are no numbers")
    rest, own = iter(outer), iter(inner)
    shape = [next(own) if k in boxes.offset else next(rest) for k in range(len(outer) + len(inner))]
    given = [("boxes", boxes), ("sizes", tuple(sizes))]
    xs = [operand, start_indices]
    return whole("read_boxes", xs, shape, function=core.read_boxes, attributes=given, dtype=operand.dtype)


def _check_boxes(boxes: Boxes, index: Tensor) -> None:
    if not 0 <= boxes.coordinates <= index.rank:
        raise ShapeError(f"index_vector_dim is {boxes.coordinates}, for rank {index.rank}", "bad_axis")
    count = index.shape[boxes.coordinates] if boxes.coordinates < index.rank else 1
    if count != len(boxes.starts) or len(boxes.batch) != len(boxes.index_batch):
        raise ShapeError(f"places have {count} coordinates, {len(boxes.starts)} axes are named", "length_mismatch")
    if any(not 0 <= k < index.rank or k == boxes.coordinates for k in boxes.index_batch):
        raise ShapeError(f"the indices have no batch axes {boxes.index_batch}", "bad_axis")


def _one_box(operand: Tensor, index: Tensor, sizes: list[Any], boxes: Boxes) -> Tensor | None:
    """Return the only box, at a constant place, as a slice; None if there are several, or their place is read."""
    if index.values is None or index.rank != (1 if boxes.coordinates == 0 else 0) or boxes.batch:
        return None
    if boxes.offset != tuple(range(len(boxes.kept(operand.rank)))) or any(sizes[k] != 1 for k in boxes.collapsed):
        return None
    starts = [0] * operand.rank
    for axis, start in zip(boxes.starts, index.values.reshape(-1).tolist(), strict=True):
        starts[axis] = start
    begins = _inside(operand, sizes, starts)
    key = tuple(np.s_[s : s + m] for s, m in zip(begins, sizes, strict=True))
    cut = getitem(operand, key, bounds="exact") if key else operand
    return squeeze(cut, list(boxes.collapsed)) if boxes.collapsed else cut


def _taken(operand: Tensor, index: Tensor, sizes: list[Any], boxes: Boxes) -> Tensor | None:
    """Return whole slices along one axis at a constant index, as movement; None if it is another gather."""
    if index.values is None or len(boxes.starts) != 1 or boxes.batch:
        return None
    (axis,) = boxes.starts
    n = operand.shape[axis]
    whole_else = all(size == m for k, (size, m) in enumerate(zip(sizes, operand.shape, strict=True)) if k != axis)
    if not whole_else or not isinstance(n, int) or sizes[axis] != 1 or boxes.collapsed != (axis,) or n < 1:
        return None
    places = index.values if boxes.coordinates == index.rank else np.squeeze(index.values, boxes.coordinates)
    start = axis
    if boxes.offset != tuple(k for k in range(places.ndim + operand.rank - 1) if not start <= k < start + places.ndim):
        return None
    return core.take(operand, np.clip(places.astype(np.int64), 0, n - 1), axis)


@_row(
    "scatter", "9, C; M, 1; M, C",
    "update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], index_vector_dim=1, "
    'body="add"', "(9, C)",
)  # fmt: skip
def scatter(
    input: Tensor,
    scatter_indices: Tensor,
    update: Tensor,
    body: Any,
    update_window_dims: Any = (),
    inserted_window_dims: Any = (),
    input_batching_dims: Any = (),
    scatter_indices_batching_dims: Any = (),
    scatter_dims_to_operand_dims: Any = (),
    index_vector_dim: Any = 0,
) -> Tensor:
    """Return *input* with slices of *update* written at the coordinates that *scatter_indices* has, in their order.

    What lies outside is not written.
    """
    boxes = Boxes(
        tuple(attributes.constants("update_window_dims", plain(update_window_dims))),
        tuple(axes_of("inserted_window_dims", inserted_window_dims, input.rank)),
        tuple(axes_of("input_batching_dims", input_batching_dims, input.rank)),
        tuple(attributes.constants("scatter_indices_batching_dims", plain(scatter_indices_batching_dims))),
        tuple(axes_of("scatter_dims_to_operand_dims", scatter_dims_to_operand_dims, input.rank)),
        attributes.constant("index_vector_dim", index_vector_dim),
    )
    _check_boxes(boxes, scatter_indices)
    join = attributes.choice("body", body, core.JOINS)
    outer = [n for k, n in enumerate(scatter_indices.shape) if k != boxes.coordinates]
    if update.rank != len(outer) + len(boxes.offset) or len(boxes.offset) != len(boxes.kept(input.rank)):
        raise ShapeError(f"updates have rank {update.rank}, for places of rank {len(outer)}", "rank")
    own = [n for k, n in enumerate(update.shape) if k not in boxes.offset]
    update = demanding(update, "an extent of {} beside one of {} in the indices", list(zip(own, outer, strict=True)))
    given = [("boxes", boxes), ("join", join)]
    xs = [input, scatter_indices, update]
    return whole("written_boxes", xs, input.shape, function=core.written_boxes, attributes=given, dtype=input.dtype)


@_row("sort", "N, 9", 'dimension=1, comparator="LT"', "(N, 9)")
def sort(input: Tensor, dimension: Any, comparator: Any) -> Tensor:
    """Return integers, or truth values, in order along an axis."""
    if input.dtype is not None and input.dtype.kind not in "iub":
        raise NotDeclaredError("an order of floats, whose zeros and NaNs have places of their own")
    (along,) = axes_of("dimension", [dimension], require_rank("sort", input, 1))
    descending = attributes.choice("comparator", comparator, ("LT", "GT")) == "GT"
    return along_axis.along(input, [along], along_axis.ordered_values, (("largest", descending),), input.dtype)


@_row("chlo.top_k", "N, 9", "k=3", "[(N, 3), (N, 3)]")
def chlo_top_k(operand: Tensor, k: Any) -> list[Tensor]:
    """Return the largest elements along the last axis, best first, and their positions."""
    if operand.dtype is not None and operand.dtype.kind not in "iub":
        raise NotDeclaredError("an order of floats, whose zeros and NaNs have places of their own")
    rank = require_rank("top_k", operand, 1)
    values, places = along_axis.top_k(operand, attributes.scalar("k", k, 0), rank - 1, largest=True)
    return [values, cast_to(places, np.dtype(np.int32))]


@_row("arg_extreme", "N, C", "dimension=1, largest=True", "(N,)")
def arg_extreme(operand: Tensor, dimension: Any, largest: Any, dtype: Any = "int32") -> Tensor:
    """Return the position of the first of the largest, or of the least, elements along an axis."""
    (along,) = axes_of("dimension", [dimension], require_rank("arg_extreme", operand, 1))
    best = attributes.flag("largest", largest)
    made = along_axis.arg_extreme(operand, along, largest=best, last=False, keepdims=False)
    return cast_to(made, np.dtype(dtype))
