"""OpenVINO's operations, by the attribute and input names of its specifications.

Block shapes, pads and crops of BatchToSpace-2 and SpaceToBatch-2 have one entry per axis, the batch
included; its entry has to be 1, or 0: anything else has no meaning that OpenVINO's own kernels agree on.

Each specification is a page of its own, such as
https://docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/operation-specs/movement/batch-to-space-2.html

>>> from symlayout import tensor
>>> x = tensor("100, 7, 13, 3")
>>> batch_to_space(x, block_shape=[1, 10, 5, 1], crops_begin=[0, 3, 1, 0], crops_end=[0, 3, 0, 0]).shape
(2, 64, 64, 3)
>>> space_to_depth(tensor("5, 7, 4, 6"), mode="blocks_first", block_size=2).shape
(5, 28, 2, 3)
"""

from __future__ import annotations

import math
from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.common import concat as concat
from symlayout.frontends.common import squeeze as squeeze
from symlayout.frontends.pads import padded
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import AttributeNameError, register
from symlayout.frontends.slices import sliced
from symlayout.ops import space_batch, space_depth
from symlayout.ops.axes import expand_dims
from symlayout.ops.broadcast import broadcast_to, broadcast_with
from symlayout.ops.channel_shuffle import channel_shuffle
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.roll import roll as core_roll
from symlayout.ops.split import split as core_split
from symlayout.ops.tile import tile as core_tile
from symlayout.ops.transpose import transpose as core_transpose
from symlayout.tensor import Tensor

_PADS = ("constant", "edge", "reflect", "symmetric")
_BROADCASTS = ("numpy", "explicit", "bidirectional")


@register("openvino:SpaceToBatch-2")
def space_to_batch(data: Tensor, block_shape: Any, pads_begin: Any, pads_end: Any) -> Tensor:
    """Return *data* padded with zeros, its blocks moved to the batch, as the major part of it.

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


@register("openvino:Transpose-1")
def transpose(arg: Tensor, input_order: Any) -> Tensor:
    """Return *arg* with its axes permuted: output axis ``k`` is ``input_order[k]``.

    Parameters
    ----------
    arg : Tensor
        Of any rank.
    input_order : sequence of int
        A permutation of the axes, from 0; an empty list reverses them.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    OpenVINO, operation specification Transpose-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.transpose(sl.tensor("N, C, H, W"), input_order=[0, 2, 3, 1]).shape
    (N, H, W, C)
    """
    require_rank("Transpose-1", arg, 0)
    return core_transpose(arg, attributes.permutation("input_order", input_order) or None)


@register("openvino:Reshape-1")
def reshape(data: Tensor, shape: Any, special_zero: Any) -> Tensor:
    """Return the elements of *data* in row-major order under another shape.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    shape : sequence of int
        The extents; one -1 stands for what remains.
    special_zero : bool
        Whether a 0 copies the extent of that axis.  Copied axes take no part in what -1 stands for, so that it
        has a meaning also where they are empty.

    Raises
    ------
    ShapeError
        ``size_mismatch``, ``bad_axis`` for a 0 where *data* has no axis, ``length_mismatch``, ``attr_dtype``;
        ``non_divisible`` for a -1 beside copied axes.

    References
    ----------
    OpenVINO, operation specification Reshape-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.reshape(sl.tensor("N, C, H"), shape=[0, -1], special_zero=True).shape
    (N, C*H)
    """
    rank = require_rank("Reshape-1", data, 0)
    target = attributes.fill("shape", attributes.vector("shape", shape), 0)
    copied = attributes.copied_axes("shape", target, rank) if attributes.flag("special_zero", special_zero) else []
    others = [n for k, n in enumerate(target) if k not in copied]
    target = [data.shape[k] if k in copied else n for k, n in enumerate(target)]
    if copied and others.count(-1) == 1:
        rest = math.prod(n for k, n in enumerate(data.shape) if k not in copied)
        target[target.index(-1)] = _quotient(rest, -math.prod(others))
    return core_reshape(data, target)


@register("openvino:Pad-12")
def pad(data: Tensor, pads_begin: Any, pads_end: Any, pad_value: Any = 0, *, pad_mode: str) -> Tensor:
    """Return *data* with elements added at both ends of its axes; negative pads then take elements away.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    pads_begin, pads_end : sequence of int
        One per axis.
    pad_value : scalar
        What ``"constant"`` adds.
    pad_mode : str
        ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_mode``, ``crop_exceeds``, ``size_mismatch`` where there are
        not as many elements to reflect as are added, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Pad-12.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.pad(sl.tensor("H, W"), pads_begin=[1, 0], pads_end=[2, 0], pad_mode="edge").shape
    (H + 3, W)
    """
    rank = require_rank("Pad-12", data, 0)
    mode = attributes.choice("pad_mode", pad_mode, _PADS)
    begin = attributes.fill("pads_begin", attributes.vector("pads_begin", pads_begin, rank), 0)
    end = attributes.fill("pads_end", attributes.vector("pads_end", pads_end, rank), 0)
    widths = [[a, b] for a, b in zip(begin, end, strict=True)]
    return padded(data, widths, mode, attributes.fill_value("pad_value", pad_value), crops_first=False)


@register("openvino:Slice-8")
def slice(data: Tensor, start: Any, stop: Any, step: Any, axes: Any = None) -> Tensor:
    """Return the part of *data* from *start* to before *stop*, every *step*-th element.

    Bounds clamp to the axis; with a negative step, a start before the first element is the first element.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    start, stop, step : sequence of int
        One per axis of *axes*; negative bounds count from the end, and a step is not 0.
    axes : sequence of int, optional
        None is the first axes.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``crop_exceeds`` for symbolic bounds.

    References
    ----------
    OpenVINO, operation specification Slice-8.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.slice(sl.tensor("8, W"), start=[1], stop=[-1], step=[2]).shape
    (3, W)
    """
    require_rank("Slice-8", data, 1)
    return sliced(data, start, stop, step, axes)


@register("openvino:Tile-1")
def tile(data: Tensor, repeats: Any) -> Tensor:
    """Return *data* put side by side with itself, *repeats* times along its last axes.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    repeats : sequence of int
        At least 0 each; more of them than axes make new axes before those of *data*.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Tile-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.tile(sl.tensor("H, W"), repeats=[2, 1]).shape
    (2*H, W)
    """
    require_rank("Tile-1", data, 0)
    return core_tile(data, attributes.fill("repeats", attributes.vector("repeats", repeats), 0))


@register("openvino:Roll-7")
def roll(data: Tensor, shift: Any, axes: Any) -> Tensor:
    """Return *data* with its elements moved along *axes*, those that leave coming back at the other end.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    shift : int or sequence of int
        One per axis of *axes*; an int that is no list is for all of them.
    axes : int or sequence of int
        An axis may be repeated; its shifts add up.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Roll-7.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.roll(sl.tensor("H, W"), shift=1, axes=[1]).index_map
    (i0, i1) -> (i0, (i1 - 1) % W)
    """
    require_rank("Roll-7", data, 1)
    along = attributes.constants("axes", axes)
    return core_roll(data, attributes.fill("shift", attributes.each("shift", shift, len(along)), 0), along)


@register("openvino:Broadcast-3")
def broadcast(data: Tensor, target_shape: Any, axes_mapping: Any = None, mode: str = "numpy") -> Tensor:
    """Return *data* in a larger shape, its elements repeated.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    target_shape : sequence of int
        The extents; with ``"bidirectional"`` one of them may be 1 where *data* has more.
    axes_mapping : sequence of int, optional
        With ``"explicit"`` only: for each axis of *data* which axis of *target_shape* it is, in order.
    mode : str
        ``"numpy"``, ``"explicit"`` or ``"bidirectional"``.

    Raises
    ------
    ShapeError
        ``bad_mode``, ``attr_missing`` or ``attr_unknown`` for *axes_mapping*, ``length_mismatch``,
        ``attr_dtype``, ``bad_axis``, ``rank``, ``size_mismatch``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Broadcast-3.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.broadcast(sl.tensor("1, 3"), target_shape=[5, 2, 3]).shape
    (5, 2, 3)
    """
    rank = require_rank("Broadcast-3", data, 0)
    attributes.choice("mode", mode, _BROADCASTS)
    if (axes_mapping is not None) != (mode == "explicit"):
        kind = "attr_missing" if axes_mapping is None else "attr_unknown"
        raise AttributeNameError("Broadcast-3 has axes_mapping if mode is 'explicit', and only then", kind)
    target = attributes.fill("target_shape", attributes.vector("target_shape", target_shape), 0)
    if mode == "bidirectional":
        return broadcast_with(data, target)
    if mode == "explicit":
        mapping = attributes.constants("axes_mapping", axes_mapping)
        if len(mapping) != rank:
            raise ShapeError(f"axes_mapping has {len(mapping)} values, the rank is {rank}", "length_mismatch")
        if mapping != sorted(set(mapping)) or any(not 0 <= k < len(target) for k in mapping):
            raise ShapeError(f"axes_mapping {mapping} is not increasing within 0 .. {len(target) - 1}", "bad_axis")
        data = expand_dims(data, [k for k in range(len(target)) if k not in mapping])
    return broadcast_to(data, target)


@register("openvino:ShuffleChannels-1")
def shuffle_channels(data: Tensor, axis: Any = 1, group: Any = 1) -> Tensor:
    """Return *data* with one channel of each group after the other.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    axis : int
        The axis of the channels.
    group : int
        How many groups they are in, at least 1.

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
    (i0, i1, i2, i3) -> (i0, 3*i1 - 5*(i1//2), i2, i3)
    """
    require_rank("ShuffleChannels-1", data, 1)
    groups = attributes.scalar("group", group, 1)
    return channel_shuffle(data, groups, attributes.constant("axis", axis))


@register("openvino:Split-1")
def split(data: Tensor, axis: Any, num_splits: Any) -> list[Tensor]:
    """Return *data* cut into *num_splits* equal parts along *axis*.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    axis : int
        Negative ones count from the end.
    num_splits : int
        At least 1.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``bad_axis``, ``block_lt_1``, ``non_divisible``.

    References
    ----------
    OpenVINO, operation specification Split-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> [part.shape for part in sl.openvino.split(sl.tensor("2*h, W"), axis=0, num_splits=2)]
    [(h, W), (h, W)]
    """
    require_rank("Split-1", data, 1)
    return core_split(data, attributes.constant("num_splits", num_splits), attributes.constant("axis", axis))


@register("openvino:Unsqueeze-1")
def unsqueeze(data: Tensor, axes: Any) -> Tensor:
    """Return *data* with new axes of extent 1.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    axes : int or sequence of int
        Where the new axes are in the result; one or more.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``length_mismatch`` for no axes, ``bad_axis`` if one is out of range or repeated.

    References
    ----------
    OpenVINO, operation specification Unsqueeze-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.unsqueeze(sl.tensor("H, W"), axes=[0]).shape
    (1, H, W)
    """
    require_rank("Unsqueeze-1", data, 0)
    new = attributes.constants("axes", axes)
    if not new:
        raise ShapeError("Unsqueeze-1 takes one axis or more, axes is empty", "length_mismatch")
    return expand_dims(data, new)


def _spatial(name: str, value: Any, rank: int, least: int, below: str, batch_kind: str) -> list[Any]:
    """Return the entries of all axes but the batch, whose entry has to be *least*, which changes nothing.

    *below* and *batch_kind* are the kinds of an entry of the batch that is less, or greater.
    """
    batch, *spatial = attributes.vector(name, value, rank)
    if isinstance(batch, int) and batch < least:
        raise ShapeError(f"{name}[0] is {batch}, less than {least}", below)
    if batch not in (least, None):
        raise ShapeError(f"{name}[0] is {batch}: the entry of the batch has to be {least}", batch_kind)
    return attributes.fill(name, spatial, least)


def _quotient(numerator: Any, denominator: Any) -> Any:
    """Return an exact quotient, of which an expression is left to the core operation to check."""
    if not isinstance(numerator, int) or not isinstance(denominator, int):
        return numerator / denominator
    if denominator < 1 or numerator % denominator:
        raise ShapeError(f"-1 stands for {numerator} / {denominator}", "non_divisible")
    return numerator // denominator
