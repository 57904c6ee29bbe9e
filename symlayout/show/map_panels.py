"""Draw the two sides of an index map: each element once, as one group of its cell and of those that read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from symlayout.show import wording
from symlayout.show.grid_layout import Arranged, arrange
from symlayout.show.read_numbers import Cells, Grid
from symlayout.show.svg import CHAR, Canvas, shortened, wrapped
from symlayout.show.theme import hue

_HEIGHTS = (32.0, 28.0, 25.0, 22.0)  # of a cell: the first that the paper has room for
_DIGIT = 6.6  # width of a digit in a cell
_ROOM = 560.0  # height that the larger cells may take
_BETWEEN = 44.0  # from a source to the output beside it
_HATCH = 6.0  # from line to line of the hatching
_LETTERS = "abcdefghijklmnopqrstuvwxyz"  # of fills, where there are several
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """A grid on paper: what is written above it, and the upper left corner of its cells."""

    grid: Grid
    arranged: Arranged
    head: str
    x: float
    y: float

    def corner(self, place: Place) -> tuple[float, float]:
        """Return the upper left corner of a cell."""
        dx, dy = self.arranged.places[place]
        return self.x + dx, self.y + dy


def draw(
    canvas: Canvas,
    x: float,
    y: float,
    width: float,
    drawn: Cells,
    symbolic: Mapping[str, str],
    at: Sequence[int] | None = None,
) -> float:
    """Draw the sources and the output from (x, y) on, within *width*; return where they end.

    *symbolic* has the shapes of the grids in the user's dims; *at* is an output coordinate to be marked.
    """
    panels, arrow, bottom = _plan(x, y, width, drawn, symbolic)
    followed = _place(drawn.output, at)
    if followed is not None and drawn.numbers[followed] >= 0:
        _way(canvas, panels, drawn, followed)
    elif arrow:
        canvas.arrow(*arrow)
    for panel in panels:
        _frame(canvas, panel)
    _elements(canvas, drawn, panels, followed)
    return bottom


def legend(drawn: Cells) -> str:
    """Return what the numbers and the hatching mean."""
    said = f"numbers: elements of {', '.join(s.name for s in drawn.sources)}, row-major"
    said += ", one source after another" if len(drawn.sources) > 1 else ""
    if drawn.fills:
        letters = [f"{_letter(drawn, k)} = " if len(drawn.fills) > 1 else "" for k in range(len(drawn.fills))]
        said += f"; hatched: fill {', '.join(f'{a}{f}' for a, f in zip(letters, drawn.fills, strict=True))}"
    if any(n not in drawn.numbers for n, _, _ in _sources(drawn)):
        said += "; dashed: not read"
    if not all(grid.whole for grid in (drawn.output, *drawn.sources)):
        said += "; …: left out"
    return said


# ---------------------------------------------------------------------- where things go


def _plan(
    x: float, y: float, width: float, drawn: Cells, symbolic: Mapping[str, str]
) -> tuple[list[Panel], tuple[float, float, float, float] | None, float]:
    """Return the panels, the arrow to the last of them, and where they end; with the largest cells that have room."""
    grids = (*drawn.sources, drawn.output)
    digits = max((len(str(s.start + max(prod(s.shape) - 1, 0))) for s in drawn.sources), default=1)
    for height in _HEIGHTS:
        size = max(height, _DIGIT * digits + 8), height
        planned = _placed(x, y, width, [(grid, arrange(grid, size, width), _head(grid, symbolic)) for grid in grids])
        if planned[2] - y <= _ROOM and all(panel.arranged.width <= width for panel in planned[0]):
            break
    return planned


def _placed(
    x: float, y: float, width: float, grids: Sequence[tuple[Grid, Arranged, str]]
) -> tuple[list[Panel], tuple[float, float, float, float] | None, float]:
    """Return the panels beside each other if they fit, else below each other."""
    wide = [max(a.width, CHAR * 1.06 * len(head), 5.2 * len(a.roles)) for _, a, head in grids]
    panels = []
    left, top, bottom = x + max(0.0, width - sum(wide) - _BETWEEN * (len(wide) - 1)) / 2, y, y
    beside = sum(wide) + _BETWEEN * (len(wide) - 1) <= width
    arrow = None
    for k, (grid, arranged, head) in enumerate(grids):
        above = 20.0 + 13 * bool(arranged.roles)
        last = k == len(grids) - 1 and k > 0
        if not beside:
            gap = 0 if not k else 34 if last else 16
            left, top = x + (width - wide[k]) / 2, bottom + gap
            if last:
                arrow = x + width / 2, top - 26, x + width / 2, top - 8
        elif last:
            middle = y + above + max(a.height for _, a, _ in grids) / 2
            arrow = left - _BETWEEN + 10, middle, left - 14, middle
        panels.append(Panel(grid, arranged, head, left + (wide[k] - arranged.width) / 2, top + above))
        bottom = max(bottom, top + above + arranged.height)
        left += wide[k] + _BETWEEN
    return panels, arrow, bottom


def _head(grid: Grid, symbolic: Mapping[str, str]) -> str:
    concrete, written = wording.shape(grid.shape), symbolic[grid.name]
    return shortened(f"{grid.name} {concrete}" + (f" = {written}" if written != concrete else ""), 62)


def _frame(canvas: Canvas, panel: Panel) -> None:
    """Write and draw what stands around the cells."""
    arranged = panel.arranged
    middle = panel.x + arranged.width / 2
    roles = 13 * bool(arranged.roles)
    canvas.text(middle, panel.y - 9 - roles, panel.head, "mono", "strong", "halo", anchor="middle", size=11)
    for line in wrapped(arranged.roles, 80, 1):
        canvas.text(middle, panel.y - 8, line, "soft", "halo", anchor="middle", size=10)
    for x, y, width, height in arranged.blocks:
        canvas.rect(panel.x + x, panel.y + y, width, height, "box", radius=5)
    for (x, y), title in arranged.titles:
        canvas.text(panel.x + x, panel.y + y, title, "mono", "soft", size=9)
    for x, y in arranged.dots:
        canvas.text(panel.x + x, panel.y + y + 4, "…", "soft", anchor="middle")
    if not arranged.places:
        canvas.rect(panel.x, panel.y, *arranged.size, "unread")
        canvas.text(middle, panel.y + arranged.size[1] + 13, "no elements", "soft", anchor="middle", size=10)


# ---------------------------------------------------------------------- the elements


def _elements(canvas: Canvas, drawn: Cells, panels: Sequence[Panel], followed: Place | None) -> None:
    readers: dict[int, list[Place]] = {}
    for place in panels[-1].arranged.places:
        readers.setdefault(int(drawn.numbers[place]), []).append(place)
    order = {n: k for k, n in enumerate(sorted({*readers, *(n for n, _, _ in _sources(drawn))} - set(range(-99, 0))))}
    for number, source, place in _sources(drawn):
        reading = readers.pop(number, [])
        marked = ("at",) if followed is not None and followed in reading else ()
        colour = hue(order[number], len(order)) if reading else "unread"
        with canvas.group(_said(drawn, number, reading), "e", *marked):
            _cell(canvas, panels[drawn.sources.index(source)], place, colour, str(number))
            for r in reading:
                _cell(canvas, panels[-1], r, colour, str(number))
    for number, reading in readers.items():  # fills, and what is not shown of a source
        for r in reading:
            label = str(number) if number >= 0 else _letter(drawn, -1 - number) if len(drawn.fills) > 1 else ""
            with canvas.group(_said(drawn, number, [r]), "e", *(("at",) if followed == r else ())):
                _cell(canvas, panels[-1], r, hue(order[number], len(order)) if number >= 0 else "fill", label)


def _said(drawn: Cells, number: int, reading: Sequence[Place]) -> str:
    """Return in words what is read where."""
    where = ", ".join(_coordinate(drawn.output, r) for r in reading[:8]) + (", ..." if len(reading) > 8 else "")
    if number < 0:
        return f"output {where} is fill {drawn.fills[-1 - number]}"
    source = drawn.source_of(number)
    name = f"{source.name}[{', '.join(map(str, source.coordinate(number)))}]"
    return f"{name} is read at {where}" if reading else f"{name} is not read"


def _letter(drawn: Cells, fill: int) -> str:
    return _LETTERS[fill % len(_LETTERS)]


def _sources(drawn: Cells) -> Iterator[tuple[int, Grid, Place]]:
    """Yield each source element that is shown: its number, its source, and its place there."""
    for source in drawn.sources:
        strides = [prod(source.shape[k + 1 :]) for k in range(len(source.shape))]
        for place in np.ndindex(*map(len, source.axes)):
            coordinate = [axis[k] for axis, k in zip(source.axes, place, strict=True)]
            yield source.start + sum(c * s for c, s in zip(coordinate, strides, strict=True)), source, place


def _place(grid: Grid, at: Sequence[int] | None) -> Place | None:
    """Return where the coordinate *at* is among those shown; None if it is not, or there is none."""
    if at is None or not all(c in axis for c, axis in zip(at, grid.axes, strict=True)):
        return None
    return tuple(axis.index(c) for c, axis in zip(at, grid.axes, strict=True))


def _coordinate(grid: Grid, place: Place) -> str:
    return wording.shape([axis[k] for axis, k in zip(grid.axes, place, strict=True)])


def _cell(canvas: Canvas, panel: Panel, place: Place, colour: str, label: str) -> None:
    x, y = panel.corner(place)
    width, height = panel.arranged.size
    canvas.rect(x, y, width, height, colour)
    if colour == "fill":
        canvas.path(_hatching(x + 1, y + 1, width - 2, height - 2), "hatch")
    if label:
        canvas.text(x + width / 2, y + height / 2 + 3.8, label, "n", *(("soft",) if colour == "unread" else ()))


def _hatching(x: float, y: float, width: float, height: float) -> str:
    """Return lines at 45 degrees in a box, at the same places in all boxes of a size."""
    lines = []
    at = _HATCH / 2
    while at < width + height:
        x1, y1 = (at, 0.0) if at <= width else (width, at - width)
        x2, y2 = (0.0, at) if at <= height else (at - height, height)
        lines.append(f"M{x + x1:.1f} {y + y1:.1f}L{x + x2:.1f} {y + y2:.1f}")
        at += _HATCH
    return "".join(lines)


def _way(canvas: Canvas, panels: Sequence[Panel], drawn: Cells, followed: Place) -> None:
    """Draw the curve from the element that is read to where it is; under the cells, so that no number is crossed."""
    source = drawn.source_of(int(drawn.numbers[followed]))
    start = _place(source, source.coordinate(int(drawn.numbers[followed])))
    panel = panels[drawn.sources.index(source)]
    if start is None:
        return
    width, height = panel.arranged.size
    (x1, y1), (x2, y2) = panel.corner(start), panels[-1].corner(followed)
    if panels[-1].y > panel.y + panel.arranged.height:
        x1, y1, x2 = x1 + width / 2, y1 + height, x2 + width / 2
        bend = (y1 + y2) / 2
        canvas.path(f"M{x1:.1f} {y1:.1f}C{x1:.1f} {bend:.1f} {x2:.1f} {bend:.1f} {x2:.1f} {y2:.1f}", "way")
    else:
        x1, y1, y2 = x1 + width, y1 + height / 2, y2 + height / 2
        bend = (x1 + x2) / 2
        canvas.path(f"M{x1:.1f} {y1:.1f}C{bend:.1f} {y1:.1f} {bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}", "way")
