"""Overlapping windows of an array."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Fill, Operand, as_list, index_map, is_list


@core_operation
def window(
    x: Operand, window_shape: Any, axis: Any = None, strides: Any = 1, dilation: Any = 1, padding: Any = 0
) -> Declared:
    """Return the windows of *x*: the axes of *x*, then one new axis for each of *axis*.

    On axis ``a``, the coordinate ``o_a`` is the number of the window.  On the new axis, ``u`` is the position in the
    window.  They read ``i = o_a * stride + u * dilation - before``.  Outside ``0 <= i < n``, the element is 0.

    Parameters
    ----------
    window_shape : int, dim, expression, or one per axis
        The number of elements in a window, >= 1.
    axis : int or sequence of int, optional
        None is every axis.
    strides : int, dim, expression, or one per axis
        The distance between two windows, >= 1.
    dilation : int, dim, expression, or one per axis
        The distance between two elements of a window, >= 1.
    padding : int, dim, expression, or one or a pair ``(before, after)`` per axis
        The number of zeros before and after the axis, >= 0.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if a window is longer than its axis, ``block_lt_1``, ``negative_pad``,
        ``bad_axis``, ``length_mismatch``, ``overflow``.

    References
    ----------
    `numpy.lib.stride_tricks.sliding_window_view`, which has the same order of axes.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.window(sl.tensor("N, L"), 3, axis=1, strides=2).shape
    (N, ceiling(L/2) - 1, 3)
    >>> sl.interpret(sl.window(sl.tensor("L"), 3), np.array([1, 2, 3, 4]))
    array([[1, 2, 3],
           [2, 3, 4]])
    """
    axes = list(range(x.rank)) if axis is None else [x.axis(a) for a in as_list(axis)]
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{x.where}: axis {axis} repeats an axis", "bad_axis")
    sizes = _at_least_one(x, window_shape if is_list(window_shape) else [window_shape], "window_shape", len(axes))
    steps = _at_least_one(x, strides if is_list(strides) else [strides] * len(axes), "strides", len(axes))
    gaps = _at_least_one(x, dilation if is_list(dilation) else [dilation] * len(axes), "dilation", len(axes))
    margins = as_list(padding) if is_list(padding) else [padding] * len(axes)
    pads = x.pairs([m if is_list(m) else (m, m) for m in margins], "padding", len(axes))
    domain = [*x.shape, *sizes]
    for a, size, step, gap, (before, after) in zip(axes, sizes, steps, gaps, pads, strict=True):
        for e in (before, after):
            x.require(e, "negative_pad", "axis {}: padding {} is negative", a, e)
        whole = before + x.shape[a] + after
        room = whole - 1 - (size - 1) * gap
        x.require(room, "size_mismatch", "axis {}: a window over {} elements exceeds {}", a, whole - room, whole)
        domain[a] = x.floor_div(room, step) + 1

    def coords(*o: Any) -> list[Any]:
        i = list(o[: x.rank])
        for a, u, step, gap, (before, _after) in zip(axes, o[x.rank :], steps, gaps, pads, strict=True):
            i[a] = o[a] * step + u * gap - before
        return i

    padded = any(e != 0 for pair in pads for e in pair)
    return index_map(domain, coords, fill=Fill(0) if padded else None)


def _at_least_one(x: Operand, values: Any, what: str, length: int) -> list[Extent]:
    made = x.extents(values, what, length)
    for e in made:
        x.require(x.countable(e, what) - 1, "block_lt_1", "{} {} is not >= 1", what, e)
    return made
