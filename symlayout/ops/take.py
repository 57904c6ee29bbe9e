"""Read elements by a list of indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.budgets import limits
from symlayout.errors import ShapeError, shown
from symlayout.ops.reshape import mixed_radix
from symlayout.tensors.chain import core_operation
from symlayout.tensors.declaration import Case, Declared, Operand, as_list, is_list


@core_operation
def take(x: Operand, indices: Any, axis: int | None = None) -> Declared:
    """Return the elements of *x* at constant *indices* of *axis*, whose place the axes of *indices* take.

    The positions ``u`` in *indices* are cut into boxes.  In each box the index rises or falls by a constant step along
    each axis, ``i = start + step_0 * (u_0 - begin_0) + ...`` where ``0 <= u_k - begin_k < count_k``, and each box is
    one piece of the map.

    Parameters
    ----------
    indices : int, dim, expression, or nested sequences of them
        A negative int counts from the end.
    axis : int, optional
        None takes from the elements of *x* in row-major order.

    Raises
    ------
    ShapeError
        ``bad_axis`` for an index out of range, ``attr_dtype`` for one that is no integer, ``length_mismatch`` if
        *indices* is ragged, ``overflow`` for more pieces than `limits.take_pieces`.

    References
    ----------
    `numpy.take`.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> y = sl.take(sl.tensor("N", name="x"), [2, 1, 0, 5], axis=0)
    >>> y.requires
    (N >= 6,)
    >>> sl.interpret(y, np.arange(6) * 10)
    array([20, 10,  0, 50])
    """
    at = None if axis is None else x.axis(axis)
    n = product(x.shape) if at is None else x.shape[at]
    shape, values = _flattened(x, indices)
    before, after = ([], []) if at is None else (list(x.shape[:at]), list(x.shape[at + 1 :]))
    boxes = list(_boxes(_in_range(x, values, n), shape)) if values else []
    if len(boxes) > limits.take_pieces:
        raise ShapeError(
            f"{x.where}: the indices make {len(boxes)} pieces, more than {limits.take_pieces}\n"
            "  help: raise symlayout.limits.take_pieces, or take in several steps",
            "overflow",
        )
    only = _constant_coordinate(x, boxes[0].start) if at is None and not shape else []
    first, last = len(before), len(before) + len(shape)

    def case(box: _Box) -> Case:
        def coords(*o: Any) -> list[Any]:
            places = zip(o[first:last], box.begins, box.steps, strict=True)
            i = box.start + sum((c - begin) * step for c, begin, step in places)
            if at is not None:
                return [*o[:first], i, *o[last:]]
            return mixed_radix(i, x.shape) if shape else only

        def where(*o: Any) -> list[tuple[Any, Extent]]:
            sides = zip(o[first:last], box.begins, box.counts, shape, strict=True)
            return [(c - begin, count) for c, begin, count, extent in sides if count != extent]

        return Case(coords, where=None if len(boxes) == 1 else where)

    nothing = _Box((0,) * len(shape), tuple(shape), 0, (0,) * len(shape))
    return Declared((*before, *shape, *after), tuple(case(box) for box in boxes or [nothing]))


def _constant_coordinate(x: Operand, number: Extent) -> list[Extent]:
    """Return the coordinate of the element with the row-major *number*, which no output coordinate has a part in."""
    coordinate: list[Extent] = []
    for axis, extent in reversed(list(enumerate(x.shape))[1:]):
        x.require(extent - 1, "bad_axis", "index {} is out of range for an axis {} of extent {}", number, axis, extent)
        rest = x.floor_div(number, extent)
        coordinate.insert(0, number - rest * extent)
        number = rest
    return [number, *coordinate] if x.shape else []


@dataclass(frozen=True, slots=True)
class _Box:
    """*counts* positions from *begins* on: the index is *start* there, and one of *steps* more along each axis."""

    begins: tuple[int, ...]
    counts: tuple[int, ...]
    start: Extent
    steps: tuple[Extent, ...]


def _boxes(values: Sequence[Extent], shape: Sequence[int]) -> Iterator[_Box]:
    """Yield disjoint boxes that cover *shape*, in each of which the indices are affine in the position."""
    if not shape:
        yield _Box((), (), values[0], ())
        return
    size = len(values) // shape[0]
    rows = [list(_boxes(values[k * size : (k + 1) * size], shape[1:])) for k in range(shape[0])]
    begin = 0
    while begin < len(rows):
        end = begin + 1
        step = _shift(rows[begin], rows[end]) if end < len(rows) else None
        while step is not None and end < len(rows) and _shift(rows[end - 1], rows[end]) == step:
            end += 1
        for b in rows[begin]:
            yield _Box((begin, *b.begins), (end - begin, *b.counts), b.start, (0 if step is None else step, *b.steps))
        begin = end


def _shift(one: Sequence[_Box], other: Sequence[_Box]) -> Extent | None:
    """Return by what the indices of one row exceed those of another with the same boxes; None if that varies."""
    if [replace(b, start=0) for b in one] != [replace(b, start=0) for b in other]:
        return None
    shifts = {b.start - a.start for a, b in zip(one, other, strict=True)}
    return shifts.pop() if len(shifts) == 1 else None


def _flattened(x: Operand, indices: Any) -> tuple[list[int], list[Any]]:
    """Return the shape of nested sequences, and what is in them."""
    if not is_list(indices):
        return [], [indices]
    items = as_list(indices)
    parts = [_flattened(x, item) for item in items]
    inner = parts[0][0] if parts else []
    if any(shape != inner for shape, _ in parts):
        raise ShapeError(f"{x.where}: indices {shown(indices)} is ragged", "length_mismatch")
    return [len(items), *inner], [value for _, values in parts for value in values]


def _in_range(x: Operand, values: Sequence[Any], n: Extent) -> list[Extent]:
    """Return the indices counted from the start, all of them required to be inside the axis."""
    rule = "index {} is out of range for an axis of extent {}"
    given = [x.extent(value, "index") for value in values]
    numbers = [i for i in given if isinstance(i, int)]
    if numbers:
        highest, lowest = max(numbers), min(numbers)
        x.require(n - 1 - highest, "bad_axis", rule, highest, n)
        x.require(n + lowest, "bad_axis", rule, lowest, n)
    for i in dict.fromkeys(i for i in given if not isinstance(i, int)):
        x.require(i, "bad_axis", rule, i, n)
        x.require(n - 1 - i, "bad_axis", rule, i, n)
    return [n + i if isinstance(i, int) and i < 0 else i for i in given]
