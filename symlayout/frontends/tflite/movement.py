"""TensorFlow Lite's operations that move elements, and that make shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from symlayout.compute.elementwise import broadcast_jointly
from symlayout.compute.whole import where_elements
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx import indexing, shape_values
from symlayout.frontends.onnx.operator import Sizes, as_tensor, known, known_number, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.openvino import indexing as openvino
from symlayout.frontends.rank import require_rank, require_tensors
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.tensorflow import blocks, bounds, shapes
from symlayout.frontends.tflite.elementwise import ABOUT, activated
from symlayout.ops.axes import expand_dims as core_expand_dims
from symlayout.ops.axes import squeeze as core_squeeze
from symlayout.ops.concatenate import concatenate, stack
from symlayout.ops.split import split as core_split
from symlayout.ops.split import split_sizes
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Places

P = ParamSpec("P")
R = TypeVar("R")

_KINDS = "rank, length_mismatch, attr_dtype, bad_axis, size_mismatch, overflow"
_ABOUT = {
    **ABOUT,
    "axis": "Negative ones count from the end.",
    "batch_dim": "The axis that *seq_lengths* has.",
    "batch_dims": "How many of the first axes both inputs have.",
    "begin": "The first element of each axis.",
    "begin_mask": "A bit for each axis whose *begin* does not count.",
    "block_shape": "The blocks of the axes after the batch.",
    "block_size": "The rows and columns of a block.",
    "constant_values": "The added value.",
    "crops": "What is taken away, as ``[begin, end]`` of each axis.",
    "depth": "The extent of the new axis: a constant.",
    "ellipsis_mask": "A bit for the entry that stands for all axes between.",
    "end": "What no element reaches.",
    "end_mask": "A bit for each axis whose *end* does not count.",
    "indices": "Coordinates, at least 0.",
    "mode": '``"REFLECT"`` or ``"SYMMETRIC"``.',
    "multiples": "How often each axis is repeated.",
    "new_axis_mask": "A bit for each new axis.",
    "new_shape": "The extents; one -1 stands for the remaining elements.",
    "num": "The number of parts.",
    "num_splits": "The number of parts.",
    "off_value": "The value elsewhere.",
    "offset": "Whether ends count from the begins.",
    "on_value": "The value at the index.",
    "paddings": "What is added, as ``[begin, end]`` of each axis.",
    "perm": "A permutation of the axes.",
    "seq_dim": "The axis that is reversed.",
    "shape": "The extents.",
    "shrink_axis_mask": "A bit for each axis of which one element stays.",
    "size": "The number of elements of each axis; -1 means all that remain.",
    "size_splits": "The extents of the parts; one may be -1.",
    "values_count": "The number of values, if it is stated.",
    "squeeze_dims": "The axes that go; none means all of extent 1.",
    "strides": "The distance of elements.",
}


def _row(
    name: str, shapes: str, given: str, result: str, *, joint: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return operator(f"tflite:{name}", example=(shapes, given, result), kinds=_KINDS, about=_ABOUT, joint=joint)


def _plain(values: Any) -> Any:
    """Return an array of constants as lists."""
    return values.tolist() if isinstance(values, np.ndarray) else values


def _check_some(name: str, values: Sequence[Tensor]) -> None:
    if not values:
        raise ShapeError(f"{name} takes one tensor or more, there is none", "length_mismatch")


def _check_count(name: str, stated: Any, count: int) -> None:
    """Refuse a stated number of values that is another one; None states nothing."""
    if stated is not None and attributes.constant("count", stated) != count:
        raise ShapeError(f"{name} states {stated} values, there are {count}", "length_mismatch")


_NOT_BELOW_0 = Places(0, limits=(0, (1 << 63) - 1))


def _from_the_start(made: Tensor, indices: Any) -> Tensor:
    """Return what is read at indices, none of which is below 0: nothing counts from the end here."""
    places = as_tensor("GATHER", "indices", indices)
    if places.values is None:
        return where_elements(made, places, "indices_from_the_start", _NOT_BELOW_0)
    if places.values.size and places.values.min() < 0:
        raise ShapeError(f"an index is {places.values.min()}, at least 0 is read", "attr_range")
    return made


@_row("RESHAPE", "N, H, W", "new_shape=[6, -1]", "(6, H*N*W/6)")
def reshape(tensor: Tensor, new_shape: Sizes) -> Tensor:
    """Return the elements of *tensor* in row-major order in another shape."""
    return shapes.reshape(tensor, _plain(new_shape))


@_row("TRANSPOSE", "N, H, W", "perm=[0, 2, 1]", "(N, W, H)")
def transpose(x: Tensor, perm: Any) -> Tensor:
    """Return *x* with its axes permuted: output axis ``k`` is ``perm[k]``."""
    return shapes.transpose(x, _plain(perm))


@_row("CONCATENATION", "H, W; K, W", "axis=0", "(H + K, W)", joint=True)
def concatenation(values: Sequence[Tensor], axis: Any = 0, fused_activation_function: str = "NONE") -> Tensor:
    """Return *values* one after the other along *axis*."""
    _check_some("CONCATENATION", require_tensors("CONCATENATION", values, 1))
    return activated(concatenate(values, attributes.constant("axis", axis)), fused_activation_function)


@_row("PACK", "H, W; H, W", "axis=0", "(2, H, W)", joint=True)
def pack(values: Sequence[Tensor], axis: Any = 0, values_count: Any = None) -> Tensor:
    """Return *values*, which have one shape, along a new axis."""
    _check_some("PACK", values)
    _check_count("PACK", values_count, len(values))
    return stack(values, attributes.constant("axis", axis))


@_row("UNPACK", "2, W", "axis=0, num=2", "[(W,), (W,)]")
def unpack(value: Tensor, num: Any, axis: Any = 0) -> list[Tensor]:
    """Return the slices of *value* along *axis*, without it."""
    along = attributes.axis("axis", axis, require_rank("UNPACK", value, 1))
    count = attributes.constant("num", num)
    if count == 0:
        raise NotDeclaredError("UNPACK of no slices")
    parts = split_sizes(value, [1] * count, along)
    return [core_squeeze(part, along) for part in parts]


@_row("SPLIT", "2*h, W", "axis=0, num_splits=2", "[(h, W), (h, W)]")
def split(value: Tensor, axis: Any, num_splits: Any) -> list[Tensor]:
    """Return *value* cut into equal parts along *axis*."""
    along = int(known_number("axis", axis))
    require_rank("SPLIT", value, 1)
    return core_split(value, attributes.constant("num_splits", num_splits), along)


@_row("SPLIT_V", "N, 9", "size_splits=(2, -1), axis=1", "[(N, 2), (N, 7)]")
def split_v(value: Tensor, size_splits: Any, axis: Any, num_splits: Any = None) -> list[Tensor]:
    """Return *value* cut into parts along *axis*."""
    _check_count("SPLIT_V", num_splits, np.size(size_splits))
    made: list[Tensor] = openvino.variadic_split(value, int(known_number("axis", axis)), _plain(size_splits))
    return made


@_row("SLICE", "H, W", "begin=[0, 0], size=[-1, -1]", "(H, W)")
def slice(input: Tensor, begin: Sizes, size: Sizes) -> Tensor:
    """Return *size* elements of each axis, beginning at *begin*."""
    return bounds.slice(input, _plain(begin), _plain(size))


@_row("STRIDED_SLICE", "H, W", "begin=[0, 0], end=[0, 0], strides=[1, 2], end_mask=3", "(H, ceiling(W/2))")
def strided_slice(
    input: Tensor,
    begin: Sizes,
    end: Sizes,
    strides: Any,
    begin_mask: Any = 0,
    end_mask: Any = 0,
    ellipsis_mask: Any = 0,
    new_axis_mask: Any = 0,
    shrink_axis_mask: Any = 0,
    offset: Any = False,
) -> Tensor:
    """Return elements of each axis in steps."""
    if attributes.flag("offset", offset):
        raise NotDeclaredError("STRIDED_SLICE with offset has no declaration")
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    return bounds.strided_slice(input, _plain(begin), _plain(end), _plain(strides), *masks)


@_row("PAD", "H, W", "paddings=[[1, 2], [0, 0]]", "(H + 3, W)")
def pad(input: Tensor, paddings: Any) -> Tensor:
    """Return *input* with zeros added at both ends of its axes."""
    return bounds.pad(input, _plain(paddings))


@_row("PADV2", "H, W", "paddings=[[1, 2], [0, 0]], constant_values=7", "(H + 3, W)")
def padv2(input: Tensor, paddings: Any, constant_values: Any) -> Tensor:
    """Return *input* with *constant_values* added at both ends of its axes."""
    value = known_number("constant_values", constant_values)
    return bounds.pad_v2(input, _plain(paddings), value.item() if isinstance(value, np.generic) else value)


@_row("MIRROR_PAD", "H, W", 'paddings=[[1, 0], [0, 0]], mode="REFLECT"', "(H + 1, W)")
def mirror_pad(input: Tensor, paddings: Any, mode: str = "REFLECT") -> Tensor:
    """Return *input* with its axes extended by reflection."""
    return bounds.mirror_pad(input, _plain(paddings), mode)


@_row("TILE", "H, W", "multiples=[2, 1]", "(2*H, W)")
def tile(input: Tensor, multiples: Sizes) -> Tensor:
    """Return copies of *input* side by side."""
    return shapes.tile(input, _plain(multiples))


@_row("BROADCAST_TO", "1, 3", "shape=[5, 2, 3]", "(5, 2, 3)")
def broadcast_to(input: Tensor, shape: Sizes) -> Tensor:
    """Return *input* broadcast to *shape*."""
    return shapes.broadcast_to(input, _plain(shape))


@_row("EXPAND_DIMS", "H, W", "axis=0", "(1, H, W)")
def expand_dims(input: Tensor, axis: Any) -> Tensor:
    """Return *input* with a new axis of extent 1."""
    return core_expand_dims(input, int(known_number("axis", axis)))


@_row("SQUEEZE", "1, H, W", "squeeze_dims=[0]", "(H, W)")
def squeeze(input: Tensor, squeeze_dims: Any = ()) -> Tensor:
    """Return *input* without axes of extent 1."""
    axes = attributes.constants("squeeze_dims", _plain(squeeze_dims))
    if axes:
        return core_squeeze(input, axes)
    if any(not isinstance(n, int) for n in input.shape):
        raise NotDeclaredError("SQUEEZE of all axes of extent 1, where an extent is a dim")
    ones = [k for k, n in enumerate(input.shape) if n == 1]
    return core_squeeze(input, ones) if ones else input


@_row("REVERSE_V2", "H, W", "axis=[1]", "(H, W)")
def reverse_v2(tensor: Tensor, axis: Any) -> Tensor:
    """Return *tensor* reversed along *axis*."""
    return shapes.reverse_v2(tensor, _plain(axis))


@_row("SPACE_TO_BATCH_ND", "N, 2*h, 2*w, C", "block_shape=[2, 2], paddings=[[0, 0], [0, 0]]", "(4*N, h, w, C)")
def space_to_batch_nd(input: Tensor, block_shape: Any, paddings: Any) -> Tensor:
    """Return *input* padded with zeros; its block digits become the major part of the batch."""
    return blocks.space_to_batch_nd(input, _plain(block_shape), _plain(paddings))


@_row("BATCH_TO_SPACE_ND", "4*N, h, w, C", "block_shape=[2, 2], crops=[[0, 0], [0, 0]]", "(N, 2*h, 2*w, C)")
def batch_to_space_nd(input: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """Return *input* with the major part of its batch interleaved into the axes after it, then cropped."""
    return blocks.batch_to_space_nd(input, _plain(block_shape), _plain(crops))


@_row("SPACE_TO_DEPTH", "N, 2*h, 2*w, C", "block_size=2", "(N, h, w, 4*C)")
def space_to_depth(input: Tensor, block_size: Any) -> Tensor:
    """Return NHWC images with their square blocks moved to the depth, whose major part they become."""
    return blocks.space_to_depth(input, block_size)


@_row("DEPTH_TO_SPACE", "N, h, w, 4*c", "block_size=2", "(N, 2*h, 2*w, c)")
def depth_to_space(input: Tensor, block_size: Any) -> Tensor:
    """Return NHWC images with the major part of their depth moved to rows and columns."""
    return blocks.depth_to_space(input, block_size)


@_row("GATHER", "N, C, H; 2", "axis=1", "(N, 2, H)")
def gather(input: Tensor, indices: Tensor | Any, axis: Any = 0, batch_dims: Any = 0) -> Tensor:
    """Return slices of *input* along *axis* in the order of *indices*, whose axes replace *axis*."""
    made: Tensor = openvino.gather(input, indices, attributes.constant("axis", axis), batch_dims)
    return _from_the_start(made, indices)


@_row("EMBEDDING_LOOKUP", "V, C; N", "", "(N, C)")
def embedding_lookup(value: Tensor, lookup: Tensor | Any) -> Tensor:
    """Return the slices of *value* along its first axis in the order of *lookup*."""
    made: Tensor = openvino.gather(value, lookup, 0)
    return _from_the_start(made, lookup)


@_row("GATHER_ND", "N, C, H; M, 2", "", "(M, H)")
def gather_nd(input: Tensor, indices: Tensor) -> Tensor:
    """Return the slices of *input* at the coordinates in the last axis of *indices*."""
    made: Tensor = indexing.gather_nd(input, indices)
    return _from_the_start(made, indices)


@_row("REVERSE_SEQUENCE", "N, T, C; N", "seq_dim=1", "(N, T, C)")
def reverse_sequence(input: Tensor, seq_lengths: Tensor, seq_dim: Any = 0, batch_dim: Any = 0) -> Tensor:
    """Return *input* with the first elements along *seq_dim* reversed, as many as *seq_lengths* says."""
    made: Tensor = openvino.reverse_sequence(input, seq_lengths, batch_dim, seq_dim)
    return made


@_row("ONE_HOT", "N; 1; 1", "depth=4", "(N, 4)")
def one_hot(indices: Tensor, on_value: Tensor, off_value: Tensor, depth: Any, axis: Any = -1) -> Tensor:
    """Return *on_value* at each index along a new axis, and *off_value* elsewhere."""
    made: Tensor = openvino.one_hot(indices, int(known_number("depth", depth)), on_value, off_value, axis)
    return made


@_row("SHAPE", "N, C, H", "", "(3,)")
def shape(input: Tensor, out_type: str = "int32") -> Tensor:
    """Return the extents of *input*."""
    return cast_to(shape_values.shape(input), np.dtype(out_type))


@_row("RANK", "N, C, H", "", "()")
def rank(input: Tensor) -> Tensor:
    """Return the number of axes of *input*."""
    return as_tensor("RANK", "rank", np.array(input.rank, np.int32))


@_row("FILL", "1", "dims=[2, 3]", "(2, 3)")
def fill(value: Tensor, dims: Sizes) -> Tensor:
    """Return *value*, one element, in each place of a shape."""
    if value.rank > 1 or (value.rank == 1 and value.shape[0] != 1):
        raise ShapeError(f"the value of FILL has shape {value.shape}, it is one element", "rank")
    return shapes.broadcast_to(value, _plain(dims))


@_row("ZEROS_LIKE", "N, C", "", "(N, C)")
def zeros_like(input: Tensor) -> Tensor:
    """Return zeros in the shape of *input*."""
    zero = as_tensor("ZEROS_LIKE", "zero", np.zeros((1,) * input.rank, input.dtype or np.float32))
    return broadcast_jointly([zero, input], 0)


@_row("RANGE", "", "start=0, limit=10, delta=3", "(4,)")
def range(start: Sizes, limit: Sizes, delta: Sizes) -> Tensor:
    """Return numbers from *start* on in steps of *delta*, up to *limit*, which is left out."""
    made: Tensor = shape_values.range(
        *(known("bound", v) if isinstance(v, Tensor) else v for v in (start, limit, delta))
    )
    return made
