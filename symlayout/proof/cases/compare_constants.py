"""Compare the elements of two constants, each read under a map, bit for bit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, names_of, symbol
from symlayout.tensors.uniform_constants import as_bits, uniform

_MOST_POINTS = 1 << 28  # most points to compare

Box = tuple[tuple[str, Extent, int, int], ...]


@dataclass(frozen=True, slots=True)
class EqualElements:
    """What was compared of two constants: for all values of some symbols, the elements at one coordinate of each.

    Attributes
    ----------
    box : tuple of (str, Extent, int, int)
        Each symbol: its name, what it stands for, and its least and greatest value.
    coords : tuple of two tuples of Extent
        The coordinate in each constant, in these symbols.
    """

    box: Box
    coords: tuple[tuple[Extent, ...], tuple[Extent, ...]]


def same_elements(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], at: Sequence[Extent], bt: Sequence[Extent], facts: Facts
) -> EqualElements | None:
    """Return what was compared if it is proved that ``a[at]`` and ``b[bt]`` have equal bits wherever *facts* hold.

    The elements are compared for all values of the symbols between constant bounds.  These include all values that the
    facts allow.  A coordinate with other symbols, such as `i - N` in a constant after *N* elements, is a symbol itself.
    """
    found = _both(a, b, at, bt, facts)
    if found is None:
        return None
    equal, (left, right) = found
    one, other = (_without_axes(as_bits(x), as_bits(y)) for x, y in ((left, right), (right, left)))
    return equal if one is not None and other is not None and bool((one == other).all()) else None


def near_elements(
    a: np.ndarray[Any, Any],
    b: np.ndarray[Any, Any],
    at: Sequence[Extent],
    bt: Sequence[Extent],
    facts: Facts,
    most: float,
) -> bool:
    """Return whether the floats ``a[at]`` and ``b[bt]`` are proved to differ by at most *most*, where *facts* hold."""
    found = _both(a, b, at, bt, facts) if a.dtype.kind == "f" else None
    if found is None:
        return False
    left, right = (x.astype(np.float64) for x in found[1])
    (least, greatest), (low, high) = _extremes(left, right), _extremes(right, left)
    with np.errstate(invalid="ignore"):  # infinities are near to nothing here
        return bool((greatest - low <= most).all()) and bool((high - least <= most).all())


def _own_axes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Return the axes along which *a* has several elements, and *b* has one, so that each of them meets it."""
    return tuple(k for k, (m, n) in enumerate(zip(a.shape, b.shape, strict=True)) if m > n == 1)


def _without_axes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return *a* without the axes that *b* does not have; None if *a* is not the same all along them."""
    for axis in _own_axes(a, b):
        first = a.take([0], axis)
        if not bool((a == first).all()):
            return None
        a = first
    return a


def _extremes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the least and the greatest element of *a* along the axes that *b* does not have."""
    axes = _own_axes(a, b)
    return a.min(axes, keepdims=True), a.max(axes, keepdims=True)


def _both(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], at: Sequence[Extent], bt: Sequence[Extent], facts: Facts
) -> tuple[EqualElements, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] | None:
    """Return what is to be compared, and ``a[at]`` and ``b[bt]`` for all values of the symbols.

    None if the symbols have no bounds, or the types differ.
    """
    if a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return None
    bounded = _bounded((*at, *bt), (*a.shape, *b.shape), facts)
    if bounded is None:
        return None
    box, coordinates = bounded
    if prod(high + 1 - low for _, _, low, high in box) > _MOST_POINTS:
        return None
    grid = _grid({name: range(low, high + 1) for name, _, low, high in box})
    coords = tuple(coordinates[: a.ndim]), tuple(coordinates[a.ndim :])
    left, right = _gathered(a, coords[0], grid), _gathered(b, coords[1], grid)
    return None if left is None or right is None else (EqualElements(box, coords), (left, right))


def elements_at(
    a: np.ndarray[Any, Any], coords: Sequence[Extent], facts: Facts
) -> tuple[tuple[str, ...], np.ndarray[Any, Any]] | None:
    """Return the elements that are read at *coords*, with an axis for each symbol in them, and the symbols, sorted.

    An element that is the same for all values of the symbols has no axes.  None if a symbol has no constant bounds, if
    elements differ and a symbol is not bounded from 0 on, or if some value of the symbols leads outside.
    """
    reduced = [facts.reduce(e) for e in coords]
    ranges = _ranges(reduced, facts)
    if ranges is None or prod(map(len, ranges.values())) > _MOST_POINTS:
        return None
    grid = _grid(ranges)
    found = _gathered(a, reduced, grid)
    if found is None:
        return None
    if any(facts.low[name] != 0 for name in grid):
        same = uniform(found)
        return None if same is None else ((), np.asarray(same))
    return tuple(grid), np.broadcast_to(found, np.broadcast_shapes(*(g.shape for g in grid.values())))


def _bounded(coords: Sequence[Extent], extents: Sequence[int], facts: Facts) -> tuple[Box, list[Extent]] | None:
    """Return a box of symbols, and the coordinates in these symbols; None if a coordinate has no constant bounds."""
    ranges: dict[str, range] = {}
    bases: list[tuple[Extent, Extent]] = []  # a coordinate, and the symbol that stands for it
    found: list[Extent] = []
    for e, n in zip(map(facts.reduce, coords), extents, strict=True):
        own = _ranges([e], facts)
        if own is not None:
            ranges.update(own)
            found.append(e)
            continue
        related = (
            value
            for base, value in bases
            for value in (e - base + value, e + base - value)
            if not names_of(value) - ranges.keys()
        )
        known = next(related, None)
        if known is None:
            if not facts.nonnegative(e) or not facts.nonnegative(n - 1 - e):
                return None
            name = f"coordinate {len(bases)}"
            ranges[name] = _within(e, n, facts)
            known = symbol(name)
            bases.append((e, known))
        found.append(known)
    stands = {value: base for base, value in bases}
    box = [(name, stands.get(symbol(name), symbol(name)), r.start, r.stop - 1) for name, r in ranges.items()]
    return tuple(box), found


def _within(e: Extent, n: int, facts: Facts) -> range:
    """Return what a coordinate from 0 to below *n* is proved to be within."""
    low = bisect_left(range(1, n), True, key=lambda k: not facts.nonnegative(e - k))
    high = low + bisect_left(range(low, n - 1), True, key=lambda k: facts.nonnegative(k - e))
    return range(low, high + 1)


def _ranges(coords: Sequence[Extent], facts: Facts) -> dict[str, range] | None:
    """Return the values that the symbols of coordinates may have; None if one has no constant bounds."""
    ranges = {}
    for name in sorted({name for e in coords for name in names_of(e)}):
        low, high = facts.low.get(name), facts.high.get(name)
        if isinstance(high, Poly):
            high = facts.interval(high)[1]
        if low is None or high is None:
            return None
        ranges[name] = range(low, high + 1)
    return ranges


def _grid(ranges: dict[str, range]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the values of each symbol along an axis of its own, the symbols sorted."""
    return {
        name: np.arange(r.start, r.stop, dtype=np.int64).reshape([-1 if k == axis else 1 for k in range(len(ranges))])
        for axis, (name, r) in enumerate(sorted(ranges.items()))
    }


def _gathered(
    array: np.ndarray[Any, Any], coords: Sequence[Extent], grid: dict[str, np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any] | None:
    """Return the elements at coordinates for all values of their symbols; None if some are outside."""
    found = [_value(e, grid) for e in coords]
    if any(bool((c < 0).any() or (c >= n).any()) for c, n in zip(found, array.shape, strict=True)):
        return None
    elements = np.asarray(array[tuple(np.broadcast_arrays(*found)) if found else ()])
    return elements if elements.ndim else elements.reshape((1,) * len(grid))


def _value(e: Extent, grid: dict[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    if not isinstance(e, Poly):
        return np.asarray(e, np.int64)
    total: Any = np.zeros((1,) * len(grid), np.int64)
    for monomial, coefficient in e.terms.items():
        term: Any = coefficient
        for name in monomial:
            term = term * grid[name]
        total = total + term
    return np.asarray(total)
