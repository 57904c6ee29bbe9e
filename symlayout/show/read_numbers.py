"""Compute which source element each element of a tensor reads, and where the blocks of digits begin on each axis.

A shape that is too large to draw is cut: each axis keeps some first and some last coordinates.
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
from symlayout.maps.gather_elements import gathers
from symlayout.maps.split_digits import Box, refine
from symlayout.tensors.chain import Tensor

MAX_CELLS = 512  # cells of the largest grid that is shown as a whole
_CUT_CELLS = 64  # cells that are shown of a larger output
_CUT_SOURCE_CELLS = 144  # cells that are shown of a larger source
# Coordinates that a cut output shows of each of its two inner axes, and of each other axis.  The first pair that fits.
_KEPT_COORDINATES = ((12, 3), (8, 3), (8, 2), (6, 2), (5, 2), (4, 2), (3, 2), (2, 2), (2, 1), (1, 1))
_MOST_PIECES = 16  # a map of more pieces is drawn without borders of digits
IntArray = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Grid:
    """An array in a picture, with the coordinates that are shown.

    Attributes
    ----------
    name : str
        The name of the leaf, or ``output``.
    shape : tuple of int
        The extents.
    axes : tuple of tuple of int
        The coordinates that are shown on each axis, ascending.
    borders : tuple of dict
        For each axis, from a coordinate to the size of the largest block of a digit that begins there.
    start : int
        The number of the array's first element.  The elements of all sources are numbered consecutively.
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
        """Return the coordinate of element *number*."""
        found, rest = [], number - self.start
        for extent in reversed(self.shape):
            rest, digit = divmod(rest, extent)
            found.append(digit)
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Cells:
    """The element that each shown element of the output reads.

    Attributes
    ----------
    output : Grid
        The output.
    sources : tuple of Grid
        The leaves, in the order in which a call takes them.
    numbers : array of int64
        For each shown output element, the number of the element that it reads, or ``-1 - k`` for fill *k*.
        Elements are numbered in row-major order, one source after another.
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
        """Return the source that has element *number*."""
        return next(s for s in reversed(self.sources) if s.start <= number and 0 not in s.shape)


def cells(t: Tensor) -> Cells:
    """Return what the elements of *t* read.  All extents of *t* are integers."""
    axes = _shown_coordinates(t.shape)
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
            if not any(_same_fill(part.fill, f) for f in fills):
                fills.append(part.fill)
            value: Any = -1 - next(k for k, f in enumerate(fills) if _same_fill(part.fill, f))
        else:
            extents, start = starts[part.key]
            inside = [np.clip(c, 0, n - 1) for c, n in zip(part.coords, extents, strict=True)]
            value = start + sum((c * prod(extents[k + 1 :]) for k, c in enumerate(inside)), np.int64(0))
        np.copyto(numbers, value, where=part.mask)
    out_borders, source_borders = _borders(t)
    sources = []
    for leaf in t.leaves():
        extents, start = starts[leaf.key]
        uncut = Grid(leaf.name, extents, _shown_coordinates(extents), source_borders[leaf.key], start)
        sources.append(uncut if uncut.whole else _cut_to_reads(uncut, numbers))
    return Cells(Grid("output", t.shape, axes, out_borders), tuple(sources), numbers, tuple(fills))


def _same_fill(a: Any, b: Any) -> bool:
    return repr(a) == repr(b)  # == would tell nan from nan, and would not tell -0.0 from 0.0


def _shown_coordinates(shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the coordinates to show on each axis: all, or some at both ends.

    A cut shape shows most of its two inner axes, the last two longer than 1.
    """
    if prod(shape) <= MAX_CELLS:
        return tuple(tuple(range(e)) for e in shape)
    inner = [axis for axis, e in enumerate(shape) if e > 1][-2:]
    for within, outside in _KEPT_COORDINATES:
        kept = [within if axis in inner else outside for axis in range(len(shape))]
        if prod(min(e, n) for e, n in zip(shape, kept, strict=True)) <= _CUT_CELLS:
            break
    return tuple(_both_ends(range(e), n) for e, n in zip(shape, kept, strict=True))


def _both_ends(coordinates: Sequence[int], most: int) -> tuple[int, ...]:
    """Return at most *most* coordinates: two thirds of them from the beginning, one third from the end."""
    if len(coordinates) <= most:
        return tuple(coordinates)
    last = most // 3
    return (*coordinates[: most - last], *coordinates[len(coordinates) - last :])


def _cut_to_reads(source: Grid, numbers: IntArray) -> Grid:
    """Return *source* cut to the coordinates that are read, or to both ends of these if they are many."""
    size = prod(source.shape)
    read = [source.coordinate(n) for n in np.unique(numbers).tolist() if 0 <= n - source.start < size]
    if not read:
        return source
    axes: Sequence[Sequence[int]] = [sorted(set(column)) for column in zip(*read, strict=True)]
    most = max(map(len, axes))
    while prod(min(len(shown), most) for shown in axes) > _CUT_SOURCE_CELLS:
        most -= 1
    shown = tuple(_both_ends(axis, most) for axis in axes)
    return Grid(source.name, source.shape, shown, source.borders, source.start)


# ---------------------------------------------------------------------- borders of digits

Borders = tuple[dict[int, int], ...]


def _borders(t: Tensor) -> tuple[Borders, dict[str, Borders]]:
    """Return the borders of the output and of each leaf.  A read that is not affine in digits has none.

    The coordinate ``4*hi + lo - 1``, say, has blocks of 4 that begin where ``coordinate + 1`` is a multiple of 4.
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
    """Add the borders that each coordinate has if it is affine in digits, one coordinate for each axis."""
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
    """Add the ends of the range that a window allows, where the window bounds a single axis of the output."""
    for axis, e in enumerate(coords):
        shift = window.value - e
        if not isinstance(shift, int) or not isinstance(window.extent, int):
            continue
        if not any(name[0] == DIGIT for m in terms_of(e) for name in m):
            continue
        for at in (-shift, window.extent - shift):
            if 0 < at < shape[axis]:
                borders[axis].setdefault(at, 1)
