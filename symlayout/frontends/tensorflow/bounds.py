"""TensorFlow's operations: pads and slices."""

from __future__ import annotations

import builtins
from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.frontends.slices import slice_of
from symlayout.ops.pad import pad as core_pad
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor

_MIRRORS = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}


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
        The added value.

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
    """Return *input* with its axes extended by reflection.

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
    """Return *size* elements of each axis, beginning at *begin*.

    Parameters
    ----------
    input : Tensor
        Rank 1 or more.
    begin : sequence of int
        One per axis, at least 0.
    size : sequence of int
        One per axis, at least 0; -1 means all remaining elements.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``crop_exceeds`` for elements outside the axis.

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
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

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
    return getitem(input, tuple(key), bounds="numpy")


def _paddings(op: str, x: Tensor, value: Any) -> list[list[Any]]:
    """Return the paddings of each axis."""
    rank = require_rank(op, x, 0)
    found = attributes.pairs("paddings", value, rank)
    if len(found) != rank:
        raise ShapeError(f"paddings has {len(found)} pairs, the tensor has rank {rank}", "length_mismatch")
    return attributes.fill_pairs("paddings", found)
