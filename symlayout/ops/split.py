"""Cut an array into several."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError, shown
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Applicable, Tensor, check_tensors
from symlayout.tensors.declaration import Declared, Operand, index_map, is_list

MAX_PARTS = 1 << 16


def split(x: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Return the parts of *x* along *axis*, in order.

    Parameters
    ----------
    x : Tensor
        Rank 1 or more.
    indices_or_sections : int or sequence of int, dim or expression
        An int is the number of equal parts.  A sequence has the coordinates at which to cut, read like the bounds
        of slices in ``x[...]``.
    axis : int
        The axis to cut.

    Raises
    ------
    ShapeError
        ``non_divisible`` if the parts cannot be equal, ``block_lt_1`` for less than one part, ``overflow`` for more
        than `MAX_PARTS`, ``attr_dtype`` if the number of parts is not an int, ``crop_exceeds`` for symbolic cuts out
        of range, ``bad_axis``.

    References
    ----------
    `numpy.split`.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("H, 6")
    >>> [part.shape for part in sl.split(x, 3, axis=1)]
    [(H, 2), (H, 2), (H, 2)]
    >>> [part.shape for part in sl.split(x, [1, 5], axis=1)]
    [(H, 1), (H, 4), (H, 1)]
    """
    if not isinstance(x, Applicable):
        check_tensors("split", x)
    if not is_list(indices_or_sections):
        count = _sections(indices_or_sections)
        return [equal_part(x, number, count, axis) for number in range(count)]
    if isinstance(x, Applicable):
        return x.applied("split", (indices_or_sections, axis), {})  # type: ignore[no-any-return]
    along = Operand((x.extents,), x.facts, "split").axis(axis)
    cuts = list(indices_or_sections)
    return [x[(slice(None),) * along + (slice(a, b),)] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]


def array_split(x: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Return the parts of *x* along *axis*, in order; the parts may differ by one element.

    Parameters
    ----------
    x : Tensor
        Rank 1 or more.
    indices_or_sections : int or sequence of int, dim or expression
        An int is the number of parts.  Part ``k`` of an axis of ``n`` elements has ``floor((n + sections - 1 - k) /
        sections)`` elements.  A sequence has the coordinates at which to cut, as in `split`.
    axis : int
        The axis to cut.

    Raises
    ------
    ShapeError
        As in `split`, except ``non_divisible``.

    References
    ----------
    `numpy.array_split`.

    Examples
    --------
    >>> import symlayout as sl
    >>> [part.shape for part in sl.array_split(sl.tensor("8, W"), 3)]
    [(3, W), (3, W), (2, W)]
    """
    if is_list(indices_or_sections):
        return split(x, indices_or_sections, axis)
    count = _sections(indices_or_sections)
    return [near_part(x, number, count, axis) for number in range(count)]


def split_sizes(x: Tensor, sizes: Sequence[Any], axis: int = 0) -> list[Tensor]:
    """Return the parts of *x* along *axis* with the extents *sizes*, whose sum is the extent of the axis.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if the sum differs from the extent, or a size is negative; ``bad_axis``.
    """
    return [sized_part(x, number, sizes, axis) for number in range(len(sizes))]


def split_ceil(x: Tensor, sections: Any, axis: int = 0) -> list[Tensor]:
    """Return *sections* parts of ``ceil(n / sections)`` elements each; the last part has the rest.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if the parts before the last exceed the axis, ``block_lt_1`` for less than one part,
        ``attr_dtype`` if the number of parts is not an int, ``bad_axis``.
    """
    count = _sections(sections)
    return [ceil_part(x, number, count, axis) for number in range(count)]


@core_operation
def equal_part(x: Operand, number: int, count: int, axis: int) -> Declared:
    """Return one of *count* equal parts: ``i = o + number * (n / count)`` on *axis*."""
    along = x.axis(axis)
    size = x.divide(x.shape[along], count)
    return _from(x, along, number * size, size)


@core_operation
def sized_part(x: Operand, number: int, sizes: Sequence[Any], axis: int) -> Declared:
    """Return the part with number *number*: ``i = o + sizes_0 + ... + sizes_(number - 1)`` on *axis*."""
    along = x.axis(axis)
    parts = x.extents(sizes, "sizes")
    for k, size in enumerate(parts):
        x.require(size, "size_mismatch", "part {} of axis {} has a negative extent {}", k, along, size)
    whole, n = sum(parts, 0), x.shape[along]
    x.require_equal(whole, n, "size_mismatch", "the parts of axis {} hold {} elements of {}", along, whole, n)
    return _from(x, along, sum(parts[:number], 0), parts[number])


@core_operation
def ceil_part(x: Operand, number: int, count: int, axis: int) -> Declared:
    """Return a part of ``ceil(n / count)`` elements, or the last one: ``i = o + number * ceil(n / count)``."""
    along = x.axis(axis)
    n = x.shape[along]
    size = x.floor_div(n + count - 1, count)
    last = n - size * (count - 1)
    x.require(last, "size_mismatch", "axis {}: {} parts of {} exceed its extent {}", along, count - 1, size, n)
    return _from(x, along, number * size, last if number == count - 1 else size)


@core_operation
def near_part(x: Operand, number: int, count: int, axis: int) -> Declared:
    """Return one of *count* parts that differ by at most one element, the larger ones first."""
    along = x.axis(axis)
    n = x.shape[along]

    def size(k: int) -> Extent:
        return x.floor_div(n + count - 1 - k, count)

    from_start = 2 * number < count  # the shorter sum
    start = sum(map(size, range(number)), 0) if from_start else n - sum(map(size, range(number, count)), 0)
    return _from(x, along, start, size(number))


def _from(x: Operand, along: int, start: Extent, size: Extent) -> Declared:
    """Return the map of *size* elements of an axis, beginning at *start*."""
    domain = [size if k == along else n for k, n in enumerate(x.shape)]
    return index_map(domain, lambda *o: [c + start if k == along else c for k, c in enumerate(o)])


def _sections(sections: Any) -> int:
    try:
        count = operator.index(sections)
    except TypeError:
        raise ShapeError(f"split: sections {shown(sections)} is not an int", "attr_dtype") from None
    if count < 1:
        raise ShapeError(f"split: sections {shown(count)} is not >= 1", "block_lt_1")
    if count > MAX_PARTS:
        raise ShapeError(f"split: more than {MAX_PARTS} parts", "overflow")
    return count
