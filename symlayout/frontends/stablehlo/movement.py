"""StableHLO's operations that move elements; the forms whose shapes are operands name the same functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from symlayout.compute.whole import ranged, room_of, whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import Sizes, as_tensor, known_number, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.rank import require_tensors
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.concatenate import concatenate as core_concatenate
from symlayout.ops.flip import flip
from symlayout.ops.pad import pad as core_pad
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.slicing import getitem
from symlayout.ops.transpose import transpose as core_transpose
from symlayout.tensors.chain import Tensor

P = ParamSpec("P")
R = TypeVar("R")

_KINDS = "rank, length_mismatch, attr_dtype, bad_axis, size_mismatch, crop_exceeds, not_declared, overflow"
_MOST_ELEMENTS = 1 << 20  # of numbers along an axis that are a constant
ABOUT = {
    "broadcast_dimensions": "The axis of the result that each axis of *operand* is.",
    "dimension": "The axis, from 0 on.",
    "dimensions": "The axes, from 0 on.",
    "dtype": "The element type of the result, by NumPy's name.",
    "edge_padding_high": "What is added after each axis; a negative number takes away.",
    "edge_padding_low": "What is added before each axis; a negative number takes away.",
    "interior_padding": "What is added between two elements of each axis.",
    "iota_dimension": "The axis along which numbers count.",
    "limit_indices": "What no element reaches, for each axis.",
    "output_shape": "The extents of the result.",
    "padding_value": "The added value: one number.",
    "permutation": "A permutation of the axes.",
    "start_indices": "The first element of each axis.",
    "strides": "The distance of elements of each axis.",
}


def row(
    name: str, shapes: str, given: str, result: str, *, joint: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that registers a function as an operation of StableHLO."""
    return operator(f"stablehlo:{name}", example=(shapes, given, result), kinds=_KINDS, about=ABOUT, joint=joint)


def plain(values: Any) -> Any:
    """Return an array of constants as lists."""
    return values.tolist() if isinstance(values, np.ndarray) else values


def axes_of(name: str, given: Any, rank: int) -> list[int]:
    """Return axes from 0 on, each once."""
    found = attributes.distinct(name, plain(given), rank)
    if any(axis < 0 for axis in attributes.constants(name, plain(given))):
        raise ShapeError(f"{name} is {given}: axes count from 0 here", "bad_axis")
    return found


@row("transpose", "N, H, W", "permutation=[0, 2, 1]", "(N, W, H)")
def transpose(operand: Tensor, permutation: Any) -> Tensor:
    """Return *operand* with its axes permuted: output axis ``k`` is ``permutation[k]``."""
    return core_transpose(operand, attributes.permutation("permutation", plain(permutation)))


@row("reshape", "N, 2, W", "output_shape=[2, 3]", "(2, 3)")
def reshape(operand: Tensor, output_shape: Sizes) -> Tensor:
    """Return the elements of *operand* in row-major order in another shape."""
    return core_reshape(operand, _extents("output_shape", output_shape))


def _extents(name: str, given: Any) -> list[Any]:
    found = attributes.vector(name, plain(given))
    if any(isinstance(n, int) and n < 0 for n in found):
        raise ShapeError(f"{name} is {found}, an extent is at least 0", "size_mismatch")
    return found


@row("broadcast_in_dim", "C", "output_shape=[2, 3], broadcast_dimensions=[1]", "(2, 3)")
def broadcast_in_dim(operand: Tensor, output_shape: Sizes, broadcast_dimensions: Any) -> Tensor:
    """Return *operand* with its axes at *broadcast_dimensions* of the result; those of extent 1, and others, repeat."""
    shape = _extents("output_shape", output_shape)
    places = axes_of("broadcast_dimensions", broadcast_dimensions, len(shape))
    if len(places) != operand.rank:
        raise ShapeError(f"broadcast_dimensions has {len(places)} axes, the operand {operand.rank}", "length_mismatch")
    order = sorted(range(len(places)), key=places.__getitem__)
    made = operand if order == list(range(operand.rank)) else core_transpose(operand, order)
    new = [k for k in range(len(shape)) if k not in places]
    made = expand_dims(made, new) if new else made
    return made if tuple(made.shape) == tuple(shape) else broadcast_to(made, shape)


@row("concatenate", "H, W; K, W", "dimension=0", "(H + K, W)", joint=True)
def concatenate(inputs: Sequence[Tensor], dimension: Any) -> Tensor:
    """Return *inputs* one after the other along an axis."""
    found = require_tensors("concatenate", inputs, 1)
    if not found:
        raise ShapeError("concatenate takes one tensor or more, there is none", "length_mismatch")
    (along,) = axes_of("dimension", [dimension], found[0].rank)
    return core_concatenate(found, along)


@row("slice", "9, W", "start_indices=[1, 0], limit_indices=[9, 1], strides=[2, 1]", "(4, 1)")
def slice(operand: Tensor, start_indices: Sizes, limit_indices: Sizes, strides: Sizes) -> Tensor:
    """Return elements of each axis from a start on in steps, up to a limit, which is left out."""
    numbers = [
        attributes.vector(name, plain(given), operand.rank)
        for name, given in (
            ("start_indices", start_indices), ("limit_indices", limit_indices), ("strides", strides)
        )
    ]  # fmt: skip
    key = tuple(_cut(n, *entry) for n, *entry in zip(operand.shape, *numbers, strict=True))
    return getitem(operand, key, bounds="exact") if key else operand


def _cut(n: Any, start: Any, limit: Any, stride: Any) -> Any:
    if isinstance(stride, int) and stride < 1:
        raise ShapeError(f"a stride is {stride}, at least 1", "block_lt_1")
    return np.s_[:] if (start, limit, stride) == (0, n, 1) else np.s_[start:limit:stride]


@row(
    "pad",
    "H, W",
    "padding_value=0.0, edge_padding_low=[1, 0], edge_padding_high=[2, 0], interior_padding=[0, 0]",
    "(H + 3, W)",
)
def pad(
    operand: Tensor, padding_value: Tensor, edge_padding_low: Sizes, edge_padding_high: Sizes, interior_padding: Sizes
) -> Tensor:
    """Return *operand* with *padding_value*, a constant, around its axes and between their elements."""
    low, high, between = (
        attributes.vector(name, plain(given), operand.rank)
        for name, given in (
            ("edge_padding_low", edge_padding_low), ("edge_padding_high", edge_padding_high),
            ("interior_padding", interior_padding),
        )
    )  # fmt: skip
    if all(e == 0 for e in (*low, *high, *between)):
        return operand
    if padding_value.values is None:
        raise NotDeclaredError("a padding value that is no constant")
    value = known_number("padding_value", padding_value)
    value = value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufc" else value
    gaps = 0 if all(e == 0 for e in between) else between
    return core_pad(operand, list(zip(low, high, strict=True)), constant_values=value, interior=gaps)


@row("reverse", "H, W", "dimensions=[1]", "(H, W)")
def reverse(operand: Tensor, dimensions: Any) -> Tensor:
    """Return *operand* reversed along axes."""
    along = axes_of("dimensions", dimensions, operand.rank)
    return flip(operand, along) if along else operand


@row("iota", "", 'output_shape=[2, 3], iota_dimension=1, dtype="int32"', "(2, 3)")
def iota(output_shape: Sizes, iota_dimension: Any, dtype: Any) -> Tensor:
    """Return the coordinate along an axis at each place of a shape."""
    shape = _extents("output_shape", output_shape)
    (along,) = axes_of("iota_dimension", [iota_dimension], len(shape))
    to, n = np.dtype(dtype), shape[along]
    if isinstance(n, int) and n <= _MOST_ELEMENTS:
        numbers = as_tensor("iota", "numbers", np.arange(n).astype(to))
    else:
        wide = np.dtype(np.int64)
        given = [("start", 0), ("delta", 1), ("to", wide)]
        numbers = cast_to(whole("range", [room_of((n,))], (n,), function=ranged, attributes=given, dtype=wide), to)
    rest = [k for k, _ in enumerate(shape) if k != along]
    made = expand_dims(numbers, rest) if rest else numbers
    return broadcast_to(made, shape) if rest else made
