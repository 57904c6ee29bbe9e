"""OpenVINO's operations: move blocks of space to the batch or the depth, and back."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.ops import space_batch, space_depth
from symlayout.ops.channel_shuffle import channel_shuffle
from symlayout.tensors.chain import Tensor


@register("openvino:SpaceToBatch-2")
def space_to_batch(data: Tensor, block_shape: Any, pads_begin: Any, pads_end: Any) -> Tensor:
    """Return *data* padded with zeros; its block digits become the major part of the batch.

    Parameters
    ----------
    data : Tensor
        Rank 2 or more.
    block_shape : sequence of int
        One per axis, at least 1; ``block_shape[0]`` is 1.
    pads_begin, pads_end : sequence of int
        One per axis, at least 0; ``pads_begin[0]`` and ``pads_end[0]`` are 0.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``batch_block_not_one``,
        ``negative_pad``, ``batch_pad_nonzero``, ``non_divisible``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification SpaceToBatch-2.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N, C, H, W")
    >>> sl.openvino.space_to_batch(x, block_shape=[1, 1, 2, 2], pads_begin=[0, 0, 1, 0], pads_end=[0, 0, 1, 0]).shape
    (4*N, C, H/2 + 1, W/2)
    """
    rank = require_rank("SpaceToBatch-2", data, 2)
    block = _spatial("block_shape", block_shape, rank, 1, "block_lt_1", "batch_block_not_one")
    begin = _spatial("pads_begin", pads_begin, rank, 0, "negative_pad", "batch_pad_nonzero")
    end = _spatial("pads_end", pads_end, rank, 0, "negative_pad", "batch_pad_nonzero")
    return space_batch.space_to_batch(data, block, list(zip(begin, end, strict=True)))


@register("openvino:BatchToSpace-2")
def batch_to_space(data: Tensor, block_shape: Any, crops_begin: Any, crops_end: Any) -> Tensor:
    """Return *data* with the major part of its batch interleaved into the spatial axes, then cropped.

    Parameters
    ----------
    data : Tensor
        Rank 2 or more.
    block_shape : sequence of int
        One per axis, at least 1; ``block_shape[0]`` is 1.
    crops_begin, crops_end : sequence of int
        One per axis, at least 0; ``crops_begin[0]`` and ``crops_end[0]`` are 0.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``batch_block_not_one``,
        ``negative_crop``, ``batch_crop_nonzero``, ``crop_exceeds``, ``non_divisible``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification BatchToSpace-2.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("4*N, C, h, w")
    >>> sl.openvino.batch_to_space(x, block_shape=[1, 1, 2, 2], crops_begin=[0, 0, 1, 0], crops_end=[0, 0, 1, 0]).shape
    (N, C, 2*h - 2, 2*w)
    """
    rank = require_rank("BatchToSpace-2", data, 2)
    block = _spatial("block_shape", block_shape, rank, 1, "block_lt_1", "batch_block_not_one")
    begin = _spatial("crops_begin", crops_begin, rank, 0, "negative_crop", "batch_crop_nonzero")
    end = _spatial("crops_end", crops_end, rank, 0, "negative_crop", "batch_crop_nonzero")
    return space_batch.batch_to_space(data, block, list(zip(begin, end, strict=True)))


@register("openvino:SpaceToDepth-1")
def space_to_depth(data: Tensor, mode: str, block_size: Any = 1) -> Tensor:
    """Return *data* with the blocks of its spatial axes, 2 and up, moved to axis 1.

    Parameters
    ----------
    data : Tensor
        Rank 3 or more.
    mode : str
        ``"blocks_first"``: the block digits are the major part of the depth; ``"depth_first"``: the minor.
    block_size : int
        At least 1; the same on every spatial axis.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``bad_mode``, ``block_lt_1``, ``non_divisible``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification SpaceToDepth-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), mode="blocks_first", block_size=2).shape
    (N, 4*C, h, w)
    """
    require_rank("SpaceToDepth-1", data, 3)
    return space_depth.space_to_depth(data, attributes.scalar("block_size", block_size, 1), mode)


@register("openvino:DepthToSpace-1")
def depth_to_space(data: Tensor, mode: str, block_size: Any = 1) -> Tensor:
    """Return *data* with block digits of axis 1 moved to the spatial axes: undoes `space_to_depth`.

    Parameters
    ----------
    data : Tensor
        Rank 3 or more.
    mode : str
        ``"blocks_first"``: the block digits are the major part of the depth; ``"depth_first"``: the minor.
    block_size : int
        At least 1; the same on every spatial axis.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``bad_mode``, ``block_lt_1``, ``non_divisible``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification DepthToSpace-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.depth_to_space(sl.tensor("N, 4*c, h, w"), mode="depth_first", block_size=2).shape
    (N, c, 2*h, 2*w)
    """
    require_rank("DepthToSpace-1", data, 3)
    return space_depth.depth_to_space(data, attributes.scalar("block_size", block_size, 1), mode)


@register("openvino:ShuffleChannels-1")
def shuffle_channels(data: Tensor, axis: Any = 1, group: Any = 1) -> Tensor:
    """Return *data* with the channels of its groups interleaved.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    axis : int
        The axis of the channels.
    group : int
        The number of groups, at least 1.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``bad_axis``, ``block_lt_1``, ``non_divisible``.

    References
    ----------
    OpenVINO, operation specification ShuffleChannels-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.shuffle_channels(sl.tensor("N, 6, H, W"), axis=1, group=2).index_map
    (i0, i1, i2, i3) -> (i0, 3*(i1 % 2) + i1//2, i2, i3)
    """
    require_rank("ShuffleChannels-1", data, 1)
    groups = attributes.scalar("group", group, 1)
    return channel_shuffle(data, groups, attributes.constant("axis", axis))


def _spatial(name: str, value: Any, rank: int, least: int, below: str, batch_kind: str) -> list[Any]:
    """Return the entries of all axes except the batch, whose entry must be *least*, the neutral value.

    *below* and *batch_kind* are the kinds of an entry of the batch that is less, or greater.
    """
    batch, *spatial = attributes.vector(name, value, rank)
    if isinstance(batch, int) and batch < least:
        raise ShapeError(f"{name}[0] is {batch}, less than {least}", below)
    if batch not in (least, None):
        raise ShapeError(f"{name}[0] is {batch}: the entry of the batch has to be {least}", batch_kind)
    return attributes.fill(name, spatial, least)
