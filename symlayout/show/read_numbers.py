"""Which element each element of a tensor reads, and where the digits of both sides have their borders.

Shapes that are too large to draw are cut: of each axis some first and some last coordinates stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.polynomial import Extent, terms_of
from symlayout.errors import InconclusiveError
from symlayout.maps.compose_chain import Window, normalise
from symlayout.maps.interpreter import gathers
from symlayout.maps.split_digits import Box, refine
from symlayout.tensors.chain import Tensor

MAX_CELLS = 512  # of a grid that is shown as a whole
_CUT_CELLS = 64  # of the output where it is cut
_AROUND_CELLS = 144  # of a source then: what is read, and what lies between
_SHOWN = ((12, 3), (8, 3), (8, 2), (6, 2), (5, 2), (4, 2), (3, 2), (2, 2), (2, 1), (1, 1))
_MOST_PIECES = 16  # of a map whose digits are looked at
IntArray = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Grid:
    """An array of which some elements are shown.

    Attributes
    ----------
    name : str
        What it is called.
    shape : tuple of int
        The extents, of which `axes` shows a part.
    axes : tuple of tuple of int
        For each axis the coordinates that are shown, ascending.
    borders : tuple of dict
        For each axis, from a coordinate to the size of the largest digit block that begins there.
    start : int
        The number of its first element, where the elements of several arrays are numbered one after another.
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    borders: tuple[dict[int, int], ...]
    start: int = 0

    @property
    def whole(self) -> bool:
        """Whether all elements are shown."""
        return all(len(shown) == extent for shown, extent in zip(self.axes, self.shape, strict=True))

    def coordinate(self, number: int) -> tuple[int, ...]:
        """Return the coordinate of the element of that number."""
        found, rest = [], number - self.start
        for extent in reversed(self.shape):
            rest, digit = divmod(rest, extent)
            found.append(digit)
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Cells:
    """What each element of the output that is shown reads.

    Attributes
    ----------
    output : Grid
    sources : tuple of Grid
    numbers : array
        The number of the element that is read: row-major, source after source.  ``-1 - k`` is fill *k*.
    fills : tuple
        The values of the fills.
    """

    output: Grid
    sources: tuple[Grid, ...]
    numbers: IntArray
    fills: tuple[Any, ...]

    @property
    def total(self) -> int:
        """The number of elements of all sources."""
        return sum(prod(source.shape) for source in self.sources)

    def source_of(self, number: int) -> Grid:
        """Return the source that the element of that number belongs to."""
        return next(s for s in reversed(self.sources) if s.start <= number and 0 not in s.shape)


def cells(t: Tensor) -> Cells:
    """Return what the elements of *t* read, of which all extents are integers."""
    axes = _ends(t.shape)
    numbers = np.full([len(shown) for shown in axes], -1, dtype=np.int64)
    fills: list[Any] = []
    starts, total = {}, 0
    for leaf in t.leaves():
        starts[leaf.key] = leaf.shape, total
        total += prod(leaf.shape)
    grid = np.ix_(*(np.asarray(shown, dtype=np.int64) for shown in axes)) if axes else ()
    for part in gathers(t, grid) if numbers.size else ():
        if not part.mask.any():
            continue
        if part.key is None:
            if not any(_alike(part.fill, f) for f in fills):
                fills.append(part.fill)
            value: Any = -1 - next(k for k, f in enumerate(fills) if _alike(part.fill, f))
        else:
            extents, start = starts[part.key]
            inside = [np.clip(c, 0, n - 1) for c, n in zip(part.coords, extents, strict=True)]
            value = start + sum((c * prod(extents[k + 1 :]) for k, c in enumerate(inside)), np.int64(0))
        np.copyto(numbers, value, where=part.mask)
    out_borders, source_borders = _borders(t)
    sources = []
    for leaf in t.leaves():
        extents, start = starts[leaf.key]
        plain = Grid(leaf.name, extents, _ends(extents), source_borders[leaf.key], start)
        sources.append(plain if plain.whole else _around(plain, numbers))
    return Cells(Grid("output", t.shape, axes, out_borders), tuple(sources), numbers, tuple(fills))


def _alike(a: Any, b: Any) -> bool:
    return repr(a) == repr(b)  # nan is like nan, and -0.0 unlike 0.0


def _ends(shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return for each axis the coordinates to show: all, or some at both ends, most of the last two longer than 1."""
    if prod(shape) <= MAX_CELLS:
        return tuple(tuple(range(e)) for e in shape)
    inner = [axis for axis, e in enumerate(shape) if e > 1][-2:]
    for within, outside in _SHOWN:
        kept = [within if axis in inner else outside for axis in range(len(shape))]
        if prod(min(e, n) for e, n in zip(shape, kept, strict=True)) <= _CUT_CELLS:
            break
    return tuple(_both_ends(range(e), n) for e, n in zip(shape, kept, strict=True))


def _both_ends(coordinates: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the first two thirds of *most* coordinates and the last third."""
    if len(coordinates) <= most:
        return tuple(coordinates)
    last = most // 3
    return (*coordinates[: most - last], *coordinates[len(coordinates) - last :])


def _around(source: Grid, numbers: IntArray) -> Grid:
    """Return *source* cut to the coordinates that are read, as far as they are few."""
    size = prod(source.shape)
    read = [source.coordinate(n) for n in np.unique(numbers).tolist() if 0 <= n - source.start < size]
    if not read:
        return source
    axes: Sequence[Sequence[int]] = [sorted(set(column)) for column in zip(*read, strict=True)]
    most = max(map(len, axes))
    while prod(min(len(shown), most) for shown in axes) > _AROUND_CELLS:
        most -= 1
    shown = tuple(_both_ends(axis, most) for axis in axes)
    return Grid(source.name, source.shape, shown, source.borders, source.start)


# ---------------------------------------------------------------------- where digits begin

Borders = tuple[dict[int, int], ...]


def _borders(t: Tensor) -> tuple[Borders, dict[str, Borders]]:
    """Return the borders of the output and of each leaf, none where the map is not affine in digits.

    An axis that is ``4*hi + lo - 1`` in digits has blocks of 4 that begin where ``coordinate + 1`` is a multiple of 4.
    """
    output: Borders = tuple({} for _ in t.shape)
    sources: dict[str, Borders] = {leaf.key: tuple({} for _ in leaf.shape) for leaf in t.leaves()}
    try:
        reads = normalise(t)
    except InconclusiveError:
        return output, sources
    if len(reads) > _MOST_PIECES:
        return output, sources
    for read in reads:
        if read.leaf is None:
            continue
        try:
            box, refined = refine(t, read.path, lambda b, r: [*b.coords, *r.coords])
        except InconclusiveError:
            continue
        _mark(output, t.shape, box.coords, box)
        coords = [refined.facts.reduce(c) for c in refined.coords]
        _mark(sources[read.leaf.key], read.leaf.shape, coords, box)
        for window in refined.windows:
            _mark_window(output, t.shape, box.coords, window)
    return output, sources


def _mark(borders: Borders, shape: Sequence[int], coords: Sequence[Extent], box: Box) -> None:
    """Add the borders that an affine coordinate in digits has on each axis."""
    for axis, e in enumerate(coords):
        terms = terms_of(e)
        if not all(len(m) <= 1 and (not m or m[0] in box.extents) for m in terms):
            continue
        shift = terms.get((), 0)
        steps = sorted(abs(c) for m, c in terms.items() if m)
        backwards = sum(c * (_last(box, m[0])) for m, c in terms.items() if m and c < 0)
        for step in steps[1:] if steps and steps[0] == 1 else steps:
            for at in range(1, shape[axis]):
                if (at - shift - backwards) % step == 0:
                    borders[axis][at] = max(step, borders[axis].get(at, 0))


def _last(box: Box, name: str) -> int:
    extent = box.extents[name]
    return extent - 1 if isinstance(extent, int) else 0


def _mark_window(borders: Borders, shape: Sequence[int], coords: Sequence[Extent], window: Window) -> None:
    """Add the ends of a part of the output that a window bounds, where it is a range of one axis."""
    for axis, e in enumerate(coords):
        shift = window.value - e
        if not isinstance(shift, int) or not isinstance(window.extent, int):
            continue
        if not any(name[0] == DIGIT for m in terms_of(e) for name in m):
            continue
        for at in (-shift, window.extent - shift):
            if 0 < at < shape[axis]:
                borders[axis].setdefault(at, 1)
