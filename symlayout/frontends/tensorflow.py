"""TensorFlow's operations, by the argument names of its raw ops.

The ND pair takes any block from 1 on any number of axes after the batch; TensorFlow's kernels stop at four
such axes, which is a limit of the kernels and not of the operation.  The older four take a block from 2.

>>> from symlayout import tensor
>>> y = space_to_batch_nd(tensor("N, H, W, C"), block_shape=[2, 2], paddings=[[1, 1], [1, 1]])
>>> y.shape
(4*N, H/2 + 1, W/2 + 1, C)
>>> depth_to_space(tensor("N, h, w, 4*c"), block_size=2).shape
(N, 2*h, 2*w, c)
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank, require_tensors
from symlayout.frontends.registry import register
from symlayout.frontends.slices import slice_of
from symlayout.ops import space_batch, space_depth
from symlayout.ops.broadcast import broadcast_to as core_broadcast_to
from symlayout.ops.concatenate import concatenate
from symlayout.ops.flip import flip
from symlayout.ops.pad import pad as core_pad
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.roll import roll as core_roll
from symlayout.ops.slicing import getitem
from symlayout.ops.split import split_sizes
from symlayout.ops.tile import tile as core_tile
from symlayout.ops.transpose import transpose as core_transpose
from symlayout.tensor import Tensor

# data_format: rank, axis of the depth, axes of height and width.  NCHW_VECT_C holds channel 4*i + j at
# [:, i, :, :, j], so that whole groups of four move as NCHW and the last axis stays.
_FORMATS = {
    "NHWC": (4, 3, (1, 2)),
    "NCHW": (4, 1, (2, 3)),
    "NCHW_VECT_C": (5, 1, (2, 3)),
}
_VECTOR = 4
_MIRRORS = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}


@register("tensorflow:SpaceToBatchND")
def space_to_batch_nd(input: Tensor, block_shape: Any, paddings: Any) -> Tensor:
    """Return *input* padded with zeros, its blocks moved to the batch, as the major part of it.

    Parameters
    ----------
    input : Tensor
        Rank ``M + 1`` or more.
    block_shape : sequence of int
        ``M`` blocks of the axes 1 to ``M``, at least 1 each; ``M`` may be 0.
    paddings : sequence of pairs of int
        ``M`` times ``[begin, end]``, at least 0 each.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``negative_pad``,
        ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op SpaceToBatchND: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SpaceToBatchND

    Examples
    --------
    >>> import symlayout as sl
    >>> y = sl.tensorflow.space_to_batch_nd(sl.tensor("N, H, W, C"), block_shape=[2, 2], paddings=[[1, 1], [0, 0]])
    >>> y.shape
    (4*N, H/2 + 1, W/2, C)
    >>> y.requires
    (Eq(Mod(H, 2), 0), Eq(Mod(W, 2), 0))
    """
    block, pairs = _nd("SpaceToBatchND", input, block_shape, "paddings", paddings)
    return space_batch.space_to_batch(input, block, pairs)


@register("tensorflow:BatchToSpaceND")
def batch_to_space_nd(input: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """Return *input* with the major part of its batch interleaved into the axes 1 to ``M``, then cropped.

    Parameters
    ----------
    input : Tensor
        Rank ``M + 1`` or more.
    block_shape : sequence of int
        ``M`` blocks of the axes 1 to ``M``, at least 1 each; ``M`` may be 0.
    crops : sequence of pairs of int
        ``M`` times ``[begin, end]``, at least 0 each.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``negative_crop``,
        ``crop_exceeds``, ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op BatchToSpaceND: https://www.tensorflow.org/api_docs/python/tf/raw_ops/BatchToSpaceND

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.batch_to_space_nd(sl.tensor("4*N, h, w, C"), block_shape=[2, 2], crops=[[0, 0], [0, 0]]).shape
    (N, 2*h, 2*w, C)
    """
    block, pairs = _nd("BatchToSpaceND", input, block_shape, "crops", crops)
    return space_batch.batch_to_space(input, block, pairs)


@register("tensorflow:SpaceToBatch")
def space_to_batch(input: Tensor, paddings: Any, block_size: Any) -> Tensor:
    """Return the NHWC tensor *input* padded with zeros, its square blocks moved to the batch.

    Parameters
    ----------
    input : Tensor
        Rank 4.
    paddings : sequence of pairs of int
        ``[[top, bottom], [left, right]]``, at least 0 each.
    block_size : int
        At least 2.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``negative_pad``, ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op SpaceToBatch: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SpaceToBatch

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.space_to_batch(sl.tensor("N, H, W, C"), paddings=[[1, 1], [0, 0]], block_size=2).shape
    (4*N, H/2 + 1, W/2, C)
    """
    return space_batch.space_to_batch(input, *_square("SpaceToBatch", input, block_size, "paddings", paddings))


@register("tensorflow:BatchToSpace")
def batch_to_space(input: Tensor, crops: Any, block_size: Any) -> Tensor:
    """Return the NHWC tensor *input* with the major part of its batch moved to rows and columns, cropped.

    Parameters
    ----------
    input : Tensor
        Rank 4.
    crops : sequence of pairs of int
        ``[[top, bottom], [left, right]]``, at least 0 each.
    block_size : int
        At least 2.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``negative_crop``, ``crop_exceeds``, ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op BatchToSpace: https://www.tensorflow.org/api_docs/python/tf/raw_ops/BatchToSpace

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.batch_to_space(sl.tensor("4*N, h, w, C"), crops=[[0, 0], [0, 0]], block_size=2).shape
    (N, 2*h, 2*w, C)
    """
    block, pairs = _square("BatchToSpace", input, block_size, "crops", crops)
    return space_batch.batch_to_space(input, block, pairs)


@register("tensorflow:SpaceToDepth")
def space_to_depth(input: Tensor, block_size: Any, data_format: str = "NHWC") -> Tensor:
    """Return *input* with its square blocks moved to the depth, as the depth's major part.

    Parameters
    ----------
    input : Tensor
        Rank 4, or 5 for ``"NCHW_VECT_C"``, whose last axis has extent 4.
    block_size : int
        At least 2.
    data_format : str
        ``"NHWC"``, ``"NCHW"`` or ``"NCHW_VECT_C"``.

    Raises
    ------
    ShapeError
        ``rank``, ``bad_format``, ``size_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op SpaceToDepth: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SpaceToDepth

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.space_to_depth(sl.tensor("N, 2*h, 2*w, C"), block_size=2).shape
    (N, h, w, 4*C)
    >>> sl.tensorflow.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), block_size=2, data_format="NCHW").shape
    (N, 4*C, h, w)
    """
    block = _block_size(block_size)
    input, depth, spatial = _layout("SpaceToDepth", input, data_format)
    return space_depth.space_to_depth(input, block, depth_axis=depth, spatial_axes=spatial)


@register("tensorflow:DepthToSpace")
def depth_to_space(input: Tensor, block_size: Any, data_format: str = "NHWC") -> Tensor:
    """Return *input* with the major part of its depth moved to rows and columns: undoes `space_to_depth`.

    Parameters
    ----------
    input : Tensor
        Rank 4, or 5 for ``"NCHW_VECT_C"``, whose last axis has extent 4.
    block_size : int
        At least 2.
    data_format : str
        ``"NHWC"``, ``"NCHW"`` or ``"NCHW_VECT_C"``.

    Raises
    ------
    ShapeError
        ``rank``, ``bad_format``, ``size_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op DepthToSpace: https://www.tensorflow.org/api_docs/python/tf/raw_ops/DepthToSpace

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.depth_to_space(sl.tensor("N, h, w, 4*c"), block_size=2).shape
    (N, 2*h, 2*w, c)
    """
    block = _block_size(block_size)
    input, depth, spatial = _layout("DepthToSpace", input, data_format)
    return space_depth.depth_to_space(input, block, depth_axis=depth, spatial_axes=spatial)


@register("tensorflow:Transpose")
def transpose(x: Tensor, perm: Any) -> Tensor:
    """Return *x* with its axes permuted: output axis ``k`` is ``perm[k]``.

    Parameters
    ----------
    x : Tensor
        Of any rank.
    perm : sequence of int
        A permutation of the axes; negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    TensorFlow, raw op Transpose: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Transpose

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.transpose(sl.tensor("N, H, W, C"), perm=[0, 3, 1, 2]).shape
    (N, C, H, W)
    """
    require_rank("Transpose", x, 0)
    return core_transpose(x, attributes.constants("perm", perm))


@register("tensorflow:Reshape")
def reshape(tensor: Tensor, shape: Any) -> Tensor:
    """Return the elements of *tensor* in row-major order under another shape.

    Parameters
    ----------
    tensor : Tensor
        Of any rank.
    shape : sequence of int
        The extents; one -1 stands for what remains.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``.

    References
    ----------
    TensorFlow, raw op Reshape: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Reshape

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.reshape(sl.tensor("N, H, W"), shape=[6, -1]).shape
    (6, H*N*W/6)
    """
    require_rank("Reshape", tensor, 0)
    return core_reshape(tensor, attributes.fill("shape", attributes.vector("shape", shape), 0))


@register("tensorflow:Pad")
def pad(input: Tensor, paddings: Any) -> Tensor:
    """Return *input* with zeros added at both ends of its axes.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    paddings : sequence of pairs of int
        ``[begin, end]`` of each axis, at least 0.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``negative_pad``, ``overflow``.

    References
    ----------
    TensorFlow, raw op Pad: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Pad

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.pad(sl.tensor("H, W"), paddings=[[1, 2], [0, 0]]).shape
    (H + 3, W)
    """
    return core_pad(input, _paddings("Pad", input, paddings), bounded=True)


@register("tensorflow:PadV2")
def pad_v2(input: Tensor, paddings: Any, constant_values: Any) -> Tensor:
    """Return *input* with *constant_values* added at both ends of its axes.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    paddings : sequence of pairs of int
        ``[begin, end]`` of each axis, at least 0.
    constant_values : scalar
        What is added.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``negative_pad``, ``overflow``.

    References
    ----------
    TensorFlow, raw op PadV2: https://www.tensorflow.org/api_docs/python/tf/raw_ops/PadV2

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.pad_v2(sl.tensor("W"), paddings=[[1, 2]], constant_values=7).index_map
    (i0) -> (i0 - 1) if 0 <= i0 - 1 < W else 7
    """
    return core_pad(
        input,
        _paddings("PadV2", input, paddings),
        constant_values=attributes.fill_value("constant_values", constant_values),
        bounded=True,
    )


@register("tensorflow:MirrorPad")
def mirror_pad(input: Tensor, paddings: Any, mode: str) -> Tensor:
    """Return *input* with its axes continued by their reflection.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    paddings : sequence of pairs of int
        ``[begin, end]`` of each axis, at least 0.
    mode : str
        ``"REFLECT"``: the elements at the ends are not repeated; ``"SYMMETRIC"``: they are.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_mode``, ``negative_pad``, ``size_mismatch`` where there are
        not as many elements to reflect as are added, ``overflow``.

    References
    ----------
    TensorFlow, raw op MirrorPad: https://www.tensorflow.org/api_docs/python/tf/raw_ops/MirrorPad

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.mirror_pad(sl.tensor("H"), paddings=[[2, 0]], mode="SYMMETRIC").index_map
    (i0) -> (max(1 - i0, i0 - 2))
    """
    widths = _paddings("MirrorPad", input, paddings)
    return core_pad(input, widths, _MIRRORS[attributes.choice("mode", mode, _MIRRORS)], bounded=True)


@register("tensorflow:Slice")
def slice(input: Tensor, begin: Any, size: Any) -> Tensor:
    """Return the *size* elements of each axis from *begin* on.

    Parameters
    ----------
    input : Tensor
        Rank 1 or more.
    begin : sequence of int
        One per axis, at least 0.
    size : sequence of int
        One per axis, at least 0; -1 is all that remain.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``crop_exceeds`` for elements that are not there.

    References
    ----------
    TensorFlow, raw op Slice: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Slice

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.slice(sl.tensor("H, W"), begin=[1, 0], size=[3, -1]).shape
    (3, W)
    >>> sl.tensorflow.slice(sl.tensor("H, W"), begin=[1, 0], size=[3, -1]).requires
    (H >= 4,)
    """
    rank = require_rank("Slice", input, 1)
    starts = attributes.fill("begin", attributes.vector("begin", begin, rank), 0)
    sizes = attributes.fill("size", attributes.vector("size", size, rank), 0)
    rest = [isinstance(count, int) and count == -1 for count in sizes]
    stops = [None if r else a + count for r, a, count in zip(rest, starts, sizes, strict=True)]
    return getitem(input, tuple(map(builtins.slice, starts, stops)), bounds="exact")


@register("tensorflow:StridedSlice")
def strided_slice(
    input: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: Any = 0,
    end_mask: Any = 0,
    ellipsis_mask: Any = 0,
    new_axis_mask: Any = 0,
    shrink_axis_mask: Any = 0,
) -> Tensor:
    """Return ``input[key]`` with NumPy's basic indexing; entry ``i`` of the key is set by bit ``i`` of the masks.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    begin, end, strides : sequence of int
        One per entry; a stride is not 0.
    begin_mask, end_mask : int
        Bits of entries whose begin, or end, is that of the axis.
    ellipsis_mask, new_axis_mask, shrink_axis_mask : int
        Bits of entries that are ``...``, a new axis, or the index *begin*; of several the first counts.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``crop_exceeds`` for symbolic bounds.

    References
    ----------
    TensorFlow, raw op StridedSlice: https://www.tensorflow.org/api_docs/python/tf/raw_ops/StridedSlice

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("8, W")
    >>> sl.tensorflow.strided_slice(x, begin=[0, 0], end=[5, 0], strides=[2, 1], shrink_axis_mask=2).shape
    (3,)
    """
    require_rank("StridedSlice", input, 0)
    first = attributes.fill("begin", attributes.vector("begin", begin), 0)
    last = attributes.fill("end", attributes.vector("end", end), 0)
    steps = attributes.constants("strides", attributes.vector("strides", strides))
    if not len(first) == len(last) == len(steps):
        lengths = f"{len(first)}, {len(last)} and {len(steps)}"
        raise ShapeError(f"begin, end and strides have {lengths} values", "length_mismatch")
    masks = [
        attributes.constant(name, mask)
        for name, mask in (
            ("begin_mask", begin_mask),
            ("end_mask", end_mask),
            ("ellipsis_mask", ellipsis_mask),
            ("new_axis_mask", new_axis_mask),
            ("shrink_axis_mask", shrink_axis_mask),
        )
    ]
    if masks[2] & (masks[2] - 1):
        raise ShapeError(f"ellipsis_mask {masks[2]:b} has more than one bit", "bad_axis")
    key: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(first, last, steps, strict=True)):
        from_start, to_end, is_ellipsis, is_new, is_index = (mask >> i & 1 for mask in masks)
        if is_ellipsis:
            key.append(...)
        elif is_new:
            key.append(None)
        elif is_index:
            if step < 1:
                raise ShapeError(f"strides[{i}] is {step}: an index takes a positive one", "bad_axis")
            key.append(start)
        else:
            key.append(slice_of(None if from_start else start, None if to_end else stop, step))
    return input[tuple(key)]


@register("tensorflow:Tile")
def tile(input: Tensor, multiples: Any) -> Tensor:
    """Return *input* put side by side with itself.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    multiples : sequence of int
        One per axis, at least 0.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    TensorFlow, raw op Tile: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Tile

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.tile(sl.tensor("H, W"), multiples=[2, 1]).shape
    (2*H, W)
    """
    rank = require_rank("Tile", input, 0)
    return core_tile(input, attributes.fill("multiples", attributes.vector("multiples", multiples, rank), 0))


@register("tensorflow:Roll")
def roll(input: Tensor, shift: Any, axis: Any) -> Tensor:
    """Return *input* with its elements moved along *axis*, those that leave coming back at the other end.

    Parameters
    ----------
    input : Tensor
        Rank 1 or more.
    shift : int or sequence of int
        How far, one per axis of *axis*.
    axis : int or sequence of int
        An axis may be repeated; its shifts add up.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``overflow``.

    References
    ----------
    TensorFlow, raw op Roll: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Roll

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.roll(sl.tensor("H, W"), shift=[1], axis=[0]).index_map
    (i0, i1) -> ((i0 - 1) % H, i1)
    """
    require_rank("Roll", input, 1)
    along = attributes.constants("axis", axis)
    return core_roll(input, attributes.fill("shift", attributes.listed("shift", shift, len(along)), 0), along)


@register("tensorflow:ReverseV2")
def reverse_v2(tensor: Tensor, axis: Any) -> Tensor:
    """Return *tensor* reversed along *axis*.

    Parameters
    ----------
    tensor : Tensor
        Of any rank.
    axis : sequence of int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis`` if one is out of range or repeated.

    References
    ----------
    TensorFlow, raw op ReverseV2: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ReverseV2

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.reverse_v2(sl.tensor("H, W"), axis=[1]).index_map
    (i0, i1) -> (i0, W - i1 - 1)
    """
    require_rank("ReverseV2", tensor, 0)
    return flip(tensor, attributes.constants("axis", attributes.vector("axis", axis)))


@register("tensorflow:BroadcastTo")
def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Return *input* in a larger shape, its elements repeated along axes of extent 1 and new ones before.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    shape : sequence of int
        At least 0 each.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``rank``, ``size_mismatch``, ``overflow``.

    References
    ----------
    TensorFlow, raw op BroadcastTo: https://www.tensorflow.org/api_docs/python/tf/raw_ops/BroadcastTo

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.broadcast_to(sl.tensor("1, 3"), shape=[5, 2, 3]).shape
    (5, 2, 3)
    """
    require_rank("BroadcastTo", input, 0)
    return core_broadcast_to(input, attributes.fill("shape", attributes.vector("shape", shape), 0))


@register("tensorflow:ConcatV2", joint=True)
def concat_v2(values: Sequence[Tensor], axis: Any) -> Tensor:
    """Return *values* one after the other along *axis*.

    Parameters
    ----------
    values : sequence of Tensor
        Two or more, of rank 1 or more.
    axis : int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``rank``, ``attr_dtype``, ``bad_axis``, ``size_mismatch``, ``overflow``.

    References
    ----------
    TensorFlow, raw op ConcatV2: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ConcatV2

    Examples
    --------
    >>> import symlayout as sl
    >>> x, y = sl.tensor("H, W", name="x"), sl.tensor("K, W", name="y")
    >>> sl.tensorflow.concat_v2([x, y], axis=0).shape
    (H + K, W)
    """
    if len(require_tensors("ConcatV2", values, 1)) < 2:
        raise ShapeError("ConcatV2 takes two tensors or more, there is one", "length_mismatch")
    return concatenate(values, attributes.constant("axis", axis))


def _paddings(op: str, x: Tensor, value: Any) -> list[list[Any]]:
    """Return the paddings of each axis."""
    rank = require_rank(op, x, 0)
    found = attributes.pairs("paddings", value, rank)
    if len(found) != rank:
        raise ShapeError(f"paddings has {len(found)} pairs, the tensor has rank {rank}", "length_mismatch")
    return attributes.fill_pairs("paddings", found)


def _nd(op: str, input: Tensor, block_shape: Any, name: str, amounts: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return block shape and pairs; where one of them is unknown, the other one says how many there are."""
    if block_shape is None:
        found = attributes.pairs(name, amounts, None)
        block = [None] * len(found)
    else:
        block = attributes.vector("block_shape", block_shape)
        found = attributes.pairs(name, amounts, len(block))
    require_rank(f"{op} with {len(block)} blocks", input, len(block) + 1)
    return attributes.fill("block_shape", block, 1), attributes.fill_pairs(name, found)


def _square(op: str, input: Tensor, block_size: Any, name: str, amounts: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return block shape and pairs of the older ops: one block for height and width."""
    require_rank(op, input, 4, 4)
    pairs = attributes.fill_pairs(name, attributes.pairs(name, amounts, 2))
    return [_block_size(block_size)] * 2, pairs


def _block_size(value: Any) -> Any:
    """Return the block of one of the older ops, which has to be 2 or more."""
    block = attributes.scalar("block_size", value, 2)
    if isinstance(block, int) and block < 1:
        return block  # the core op refuses it
    if not attributes.at_least(block, 2):
        raise ShapeError(
            f"block_size is {block}, which is not at least 2\n"
            "  help: the ND operations take a block of 1; a dim as a block is declared with min=2",
            "block_lt_2",
        )
    return block


def _layout(op: str, input: Tensor, data_format: str) -> tuple[Tensor, int, tuple[int, int]]:
    """Return the input, checked, the axis of the depth and those of height and width."""
    if not isinstance(data_format, str) or data_format not in _FORMATS:
        known = ", ".join(map(repr, _FORMATS))
        raise ShapeError(f"data_format is {data_format!r:.80}, none of {known}", "bad_format")
    rank, depth, spatial = _FORMATS[data_format]
    require_rank(f"{op} in {data_format}", input, rank, rank)
    if data_format == "NCHW_VECT_C":
        (input,) = split_sizes(input, [_VECTOR], -1)  # the same elements: it demands the extent
    return input, depth, spatial
