"""Repeat an array as a whole, or each of its elements."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.ops.reshape import mixed_radix
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Case, Declared, Operand, index_map


@core_operation
def tile(x: Operand, reps: Any) -> Declared:
    """Return copies of *x* side by side: ``i = o % n``.

    Parameters
    ----------
    reps : int, dim, expression, or a sequence of them
        The number of copies along each axis, >= 0.  Fewer numbers than axes are for the last axes; more numbers
        make new axes before those of *x*.

    Raises
    ------
    ShapeError
        ``size_mismatch`` for a negative number of copies, ``overflow``.

    References
    ----------
    `numpy.tile`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tile(sl.tensor("H, W"), (2, 1)).index_map
    (i0, i1) -> (i0 % H, i1)
    """
    given = x.extents(reps, "reps")
    for k, count in enumerate(given):
        x.require(count, "size_mismatch", "reps[{}] = {} is negative", k, count)
    counts = [1] * (x.rank - len(given)) + given
    new = len(counts) - x.rank
    domain = [n * count for n, count in zip([1] * new + [*x.shape], counts, strict=True)]
    return index_map(domain, lambda *o: [c % n for c, n in zip(o[new:], x.shape, strict=True)])


@core_operation
def repeat(x: Operand, repeats: Any, axis: Any = None) -> Declared:
    """Return *x* with each element repeated along *axis*: ``i = o // repeats`` there, ``i = o`` elsewhere.

    Parameters
    ----------
    repeats : int, dim, expression, or a sequence of them
        The number of copies of each element, >= 0.  A sequence has one number for each element; an element is read
        where ``start <= o < start + repeats``, with ``start`` the sum of the numbers before its own.
    axis : int, optional
        None repeats the elements in row-major order, into one axis.

    Raises
    ------
    ShapeError
        ``size_mismatch`` for a negative number, ``bad_axis``, ``length_mismatch`` if a sequence has another length
        than the axis has elements, ``overflow``.

    References
    ----------
    `numpy.repeat`.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.interpret(sl.repeat(sl.tensor("N"), 2), np.array([1, 2, 3]))
    array([1, 1, 2, 2, 3, 3])
    >>> sl.repeat(sl.tensor("3, W"), [1, 0, 4], axis=0).shape
    (5, W)
    """
    counts = x.extents(repeats, "repeats")
    for count in counts:
        x.require(count, "size_mismatch", "repeats = {} is negative", count)
    if len(counts) != 1:
        return _each_repeated(x, counts, None if axis is None else x.axis(axis))
    (count,) = counts
    if axis is None:
        return index_map([product(x.shape) * count], lambda o: mixed_radix(o // count, x.shape))
    along = x.axis(axis)
    return index_map(
        [n * count if k == along else n for k, n in enumerate(x.shape)],
        lambda *o: [c // count if k == along else c for k, c in enumerate(o)],
    )


def _each_repeated(x: Operand, counts: list[Extent], along: int | None) -> Declared:
    """Return the map of an axis, or of all elements, with ``counts[k]`` copies of element *k*."""
    size = product(x.shape) if along is None else x.shape[along]
    x.require_equal(size, len(counts), "length_mismatch", "repeats has {} numbers for {} elements", len(counts), size)
    starts = [sum(counts[:k], 0) for k in range(len(counts) + 1)]
    at = along or 0

    def element(number: int) -> Case:
        def coords(*o: Any) -> list[Any]:
            place = 0 * o[at] + number
            return mixed_radix(place, x.shape) if along is None else [*o[:at], place, *o[at + 1 :]]

        return Case(coords, where=lambda *o: [(o[at] - starts[number], counts[number])])

    domain = [starts[-1]] if along is None else [starts[-1] if k == along else n for k, n in enumerate(x.shape)]
    if not counts:
        return index_map(domain, lambda *o: mixed_radix(o[0], x.shape) if along is None else o)
    return Declared(tuple(domain), tuple(element(k) for k, count in enumerate(counts) if count != 0 or k == 0))
