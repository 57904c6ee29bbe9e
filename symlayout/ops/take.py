"""Read elements by a list of indices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.algebra.table import Table
from symlayout.budgets import limits
from symlayout.errors import ShapeError, shown
from symlayout.ops.reshape import mixed_radix
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Case, Declared, Operand, as_list, index_map, is_list
from symlayout_codegen.values import Value


@core_operation
def take(x: Operand, indices: Any, axis: int | None = None) -> Declared:
    """Return the elements of *x* at constant *indices* of *axis*, whose place the axes of *indices* take.

    The positions ``u`` in *indices* are cut into boxes.  In each box the index rises or falls by a constant step along
    each axis, ``i = start + step_0 * (u_0 - begin_0) + ...`` where ``0 <= u_k - begin_k < count_k``, and each box is
    one piece of the map.  Where that makes more than `limits.take_runs` pieces of ints, the map is one piece instead,
    which reads its indices from a table.

    Parameters
    ----------
    indices : int, dim, expression, or nested sequences of them
        A negative one counts from the end, symbolic ones too.
    axis : int, optional
        None takes from the elements of *x* in row-major order.

    Raises
    ------
    ShapeError
        ``bad_axis`` for an index out of range, ``attr_dtype`` for one that is no integer, ``length_mismatch`` if
        *indices* is ragged, ``overflow`` if they have dims and make more pieces than `limits.take_pieces`.

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
    inside = _in_range(x, values, n)
    if (table := _table(inside, values, shape, n)) is not None:
        return _by_table(x, at, shape, table)
    boxes = list(_boxes(inside, shape)) if values else []
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


def _by_table(x: Operand, at: int | None, shape: Sequence[int], index: Callable[[Any], Any]) -> Declared:
    """Return the map that reads at ``index(u)`` on axis *at*; *u* is the row-major number of the position."""
    before, after = ([], []) if at is None else (list(x.shape[:at]), list(x.shape[at + 1 :]))
    first, last = len(before), len(before) + len(shape)

    def coords(*o: Any) -> list[Any]:
        number: Any = 0
        for place, count in zip(o[first:last], shape, strict=True):
            number = place + number * count
        return mixed_radix(index(number), x.shape) if at is None else [*o[:first], index(number), *o[last:]]

    return index_map((*before, *shape, *after), coords)


def _table(
    inside: Sequence[Extent], given: Sequence[Any], shape: Sequence[int], n: Extent
) -> Callable[[Any], Any] | None:
    """Return the index at a position as a table of *given* indices; None where a few pieces, or dims, make it.

    *inside* are the indices counted from the start of an axis of extent *n*.
    """
    if len(given) <= limits.take_runs or not all(isinstance(i, int) for i in given):
        return None
    if _pieces_at_least(given, shape) <= limits.take_runs and len(list(_boxes(inside, shape))) <= limits.take_runs:
        return None
    if all(isinstance(i, int) for i in inside):
        counted = Table([i for i in inside if isinstance(i, int)])
        return lambda u: counted[u]
    table = Table(given)  # some indices count from the end of an axis whose extent is not known
    if table.high < 0:
        return lambda u: table[u] + n
    return lambda u: table[u] % n


def _pieces_at_least(values: Sequence[int], shape: Sequence[int]) -> int:
    """Return how many pieces a list of indices makes at least: a piece ends at most two steps of one length."""
    if len(shape) != 1:
        return 0
    steps = [b - a for a, b in pairwise(values)]
    return sum(a != b for a, b in pairwise(steps)) // 2


def _constant_coordinate(x: Operand, number: Extent) -> list[Extent]:
    """Return the coordinate of the element with the row-major *number*, which no output coordinate has a part in."""
    coordinate: list[Extent] = []
    for axis, extent in reversed(list(enumerate(x.shape))[1:]):
        x.require(extent - 1, "bad_axis", "index {} is out of range for an axis {} of extent {}", number, axis, extent)
        rest = x.floor_div(number, extent)
        coordinate.insert(0, number - rest * extent)
        number = rest
    return [number, *coordinate] if x.shape else []


class _Box(Value):
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
    """Return by what the indices of one row exceed those of another with the same boxes; None if that varies.

    A number and an index that depends on dims have no step between them: the algebra knows no bound of its multiples.
    """
    if [b.replaced(start=0) for b in one] != [b.replaced(start=0) for b in other]:
        return None
    shifts = {b.start - a.start for a, b in zip(one, other, strict=True)}
    mixed = any(isinstance(a.start, int) != isinstance(b.start, int) for a, b in zip(one, other, strict=True))
    return shifts.pop() if len(shifts) == 1 and not mixed else None


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
        x.require(n + i, "bad_axis", rule, i, n)
        x.require(n - 1 - i, "bad_axis", rule, i, n)
    return [x.counted(i, n) for i in given]
