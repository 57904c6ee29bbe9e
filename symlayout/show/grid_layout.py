"""Arrange the cells of a grid in a picture: planes of two axes in rows, with gaps between the blocks of digits."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from symlayout.show.read_numbers import Grid

# Lengths in pixels.
_GAPS = (2.0, 9.0, 15.0)  # between cells; between blocks of digits; between the larger of two levels of blocks
_OUTLINE_MARGINS = (2.5, 5.5)  # from the cells of a block to its outline; for a block of a larger level
_ELISION_GAP = 18.0  # where coordinates are left out
_PLANE_GAP = 14.0  # between planes
_TITLE_HEIGHT = 13.0  # of the line above a plane
_TITLE_LETTER = 5.6  # width of a letter in that line

Point = tuple[float, float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Arranged:
    """The positions of a grid's cells, in pixels from the grid's upper left corner.

    Attributes
    ----------
    width, height : float
        Of the whole grid.
    size : tuple of float
        Width and height of a cell.
    places : dict
        From the index of a cell among the shown coordinates of each axis, to its upper left corner.
    titles : list
        The title of each plane, with its lower left corner.
    dots : list
        The positions of the dots that stand for left-out coordinates.
    blocks : list
        The outlines of the blocks that the digits form, larger blocks first: left, top, width, height.
    roles : str
        In words, which axes are planes, rows and columns.
    """

    width: float
    height: float
    size: Point
    places: dict[tuple[int, ...], Point]
    titles: list[tuple[Point, str]]
    dots: list[Point]
    blocks: list[tuple[float, float, float, float]]
    roles: str


def arrange(grid: Grid, size: Point, limit: float) -> Arranged:
    """Return the positions of all shown cells, each of *size*.

    The grid is at most *limit* wide, unless one cell is wider.
    """
    if () in grid.axes:
        return Arranged(*size, size, {}, [], [], [], "")
    cell, tall = size
    long = [axis for axis, shown in enumerate(grid.axes) if len(shown) != 1]
    columns = long[-1] if long else None
    rows = long[-2] if len(long) > 1 else None
    outer = long[:-2]
    across, width, lines = _columns(grid, columns, size, limit)
    down, height = _line(grid, rows, tall)
    if lines > 1:
        step = lines * (tall + _GAPS[0]) + _GAPS[0]
        down = [k * step for k in range(len(down))]
        height = len(down) * step - 2 * _GAPS[0]
    titled = bool(outer)
    plane = width, height
    if titled:
        plane = max(width, _TITLE_LETTER * _title_length(grid, outer)), height + _TITLE_HEIGHT
    corners, extent = _planes([len(grid.axes[axis]) for axis in outer], plane, limit)
    places: dict[tuple[int, ...], Point] = {}
    titles = []
    for corner, (x, y) in corners.items():
        fixed = dict(zip(outer, corner, strict=True))
        if titled:
            titles.append(((x, y + _TITLE_HEIGHT - 4), _title(grid, fixed)))
        for place in itertools.product(*(_range(grid, axis, fixed) for axis in range(len(grid.axes)))):
            row = place[rows] if rows is not None else 0
            dx, dy = across[place[columns]] if columns is not None else (0.0, 0.0)
            places[place] = (x + dx, y + _TITLE_HEIGHT * titled + dy + down[row])
    dots: list[Point] = []
    if lines == 1:
        dots += [(at[0] - _ELISION_GAP / 2, height / 2) for at in _jumps(grid, columns, across)]
        dots += [(width / 2, y - _ELISION_GAP / 2) for y in _jumps(grid, rows, down)]
    blocks = [] if lines > 1 else _blocks(grid, (rows, columns), (down, [x for x, _ in across]), (tall, cell))
    above = _TITLE_HEIGHT * titled
    outlines = [(x + left, y + above + top, w, h) for x, y in corners.values() for left, top, w, h in blocks]
    dots = [(x + dx, y + above + dy) for x, y in corners.values() for dx, dy in dots]
    return Arranged(*extent, size, places, titles, dots, outlines, _roles(outer, rows, columns))


def _roles(outer: Sequence[int], rows: int | None, columns: int | None) -> str:
    """Return in words which axes are planes, rows and columns; "" for the usual order of two axes."""
    if not outer and (rows, columns) in ((None, None), (None, 0), (0, 1)):
        return ""
    parts = [
        ("planes", outer),
        ("rows", () if rows is None else (rows,)),
        ("columns", () if columns is None else (columns,)),
    ]
    return ", ".join(
        f"{role}: ax{'e' if len(axes) > 1 else 'i'}s {', '.join(map(str, axes))}" for role, axes in parts if axes
    )


def _blocks(
    grid: Grid, axes: tuple[int | None, int | None], begins: tuple[Sequence[float], Sequence[float]], size: Point
) -> list[tuple[float, float, float, float]]:
    """Return the outlines of the blocks of one plane, cut at the borders of the digits of its rows and columns."""
    borders = [{} if axis is None else grid.borders[axis] for axis in axes]
    levels = sorted({step for border in borders for step in border.values()})
    found = []
    for level in dict.fromkeys((levels[-1], levels[0])) if levels else ():
        margin = _OUTLINE_MARGINS[0 if level == levels[0] else 1]
        runs = [
            _runs([0] if axis is None else grid.axes[axis], border, level)
            for axis, border in zip(axes, borders, strict=True)
        ]
        for (top, bottom), (left, right) in itertools.product(*runs):
            x, y = begins[1][left] - margin, begins[0][top] - margin
            found.append((x, y, begins[1][right] + size[1] + margin - x, begins[0][bottom] + size[0] + margin - y))
    return found


def _runs(shown: Sequence[int], border: dict[int, int], level: int) -> list[tuple[int, int]]:
    """Return the first and last index of each run of coordinates that has no border of *level* or more inside."""
    starts = [k for k, c in enumerate(shown) if not k or border.get(c, 0) >= level or shown[k - 1] != c - 1]
    return list(zip(starts, [k - 1 for k in starts[1:]] + [len(shown) - 1], strict=True))


def _range(grid: Grid, axis: int, fixed: dict[int, int]) -> Sequence[int]:
    return (fixed[axis],) if axis in fixed else range(len(grid.axes[axis]))


def _line(grid: Grid, axis: int | None, cell: float) -> tuple[list[float], float]:
    """Return where each cell along an axis begins, and the length of all together."""
    if axis is None:
        return [0.0], cell
    begins: list[float] = []
    end = 0.0
    for k, coordinate in enumerate(grid.axes[axis]):
        begins.append(end + (_gap(grid, axis, k, coordinate) if k else 0.0))
        end = begins[-1] + cell
    return begins, end


def _gap(grid: Grid, axis: int, k: int, coordinate: int) -> float:
    if grid.axes[axis][k - 1] != coordinate - 1:
        return _ELISION_GAP
    border = grid.borders[axis].get(coordinate)
    if border is None:
        return _GAPS[0]
    return _GAPS[2 if border > min(grid.borders[axis].values()) else 1]


def _columns(grid: Grid, axis: int | None, size: Point, limit: float) -> tuple[list[Point], float, int]:
    """Return the position of each cell of a row, the row's width, and its number of lines.

    A row longer than *limit* is broken into lines.
    """
    cell, tall = size
    begins, width = _line(grid, axis, cell)
    if width <= limit:
        return [(x, 0.0) for x in begins], width, 1
    fit = max(1, int((limit + _GAPS[0]) // (cell + _GAPS[0])))
    steps = grid.borders[axis].values() if axis is not None else ()
    block = max((step for step in steps if step <= fit), default=1)
    fit -= fit % block  # so that a line ends at the end of a block
    pitch = cell + _GAPS[0]
    places = [(k % fit * pitch, k // fit * (tall + _GAPS[0])) for k in range(len(begins))]
    return places, fit * pitch - _GAPS[0], -(-len(begins) // fit)


def _jumps(grid: Grid, axis: int | None, begins: Sequence[T]) -> list[T]:
    """Return the elements of *begins* before which coordinates are left out."""
    if axis is None:
        return []
    shown = grid.axes[axis]
    return [begins[k] for k in range(1, len(shown)) if shown[k] != shown[k - 1] + 1]


def _planes(counts: Sequence[int], plane: Point, limit: float) -> tuple[dict[tuple[int, ...], Point], Point]:
    """Return the corner of each plane, and the size of all planes together.

    The outer axes, from the innermost, are laid out across and down in turn.
    """
    corners: dict[tuple[int, ...], Point] = {(): (0.0, 0.0)}
    width, height = plane
    for turn, count in enumerate(reversed(counts)):
        gap = _PLANE_GAP + 6 * (turn // 2)
        fit = max(1, int((limit + gap) // (width + gap)))
        if turn % 2:
            fit = 1
        lines = -(-count // fit)
        fit = -(-count // max(lines, 1))  # lines of equal length
        corners = {
            (k, *rest): (x + k % fit * (width + gap), y + k // fit * (height + gap))
            for k in range(count)
            for rest, (x, y) in corners.items()
        }
        width, height = fit * (width + gap) - gap, lines * (height + gap) - gap
    return corners, (width, height)


def _title(grid: Grid, fixed: dict[int, int]) -> str:
    """Return the title of a plane: its coordinates on the outer axes."""
    return ",".join(str(grid.axes[axis][place]) for axis, place in fixed.items())


def _title_length(grid: Grid, outer: Sequence[int]) -> int:
    return len(",".join(str(max(grid.axes[axis], default=0)) for axis in outer))
