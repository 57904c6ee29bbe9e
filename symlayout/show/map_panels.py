"""Draw the inputs and the output of an index map.

Each source element is one group: its cell, and the output cells that read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from symlayout.errors import shortened
from symlayout.show import wording
from symlayout.show.grid_layout import Arranged, arrange
from symlayout.show.read_numbers import Cells, Grid
from symlayout.show.svg import CHAR, Canvas, wrapped
from symlayout.show.theme import hue

# Lengths in pixels.
_CELL_HEIGHTS = (32.0, 28.0, 25.0, 22.0)  # the first is used that fits
_NUMERAL_WIDTH = 6.6  # of one decimal digit of an element's number
_MAX_HEIGHT = 560.0  # of all panels; where they are taller, smaller cells are tried
_PANEL_GAP = 44.0  # between panels beside each other
_HATCH_SPACING = 6.0  # between the lines that hatch a fill
_FILL_LETTERS = "abcdefghijklmnopqrstuvwxyz"  # labels of fills, where a map has several
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """A grid with its cells arranged, the line above it, and the upper left corner of its cells."""

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
    """Draw the sources and the output with their upper left corner at (x, y); return the y at which they end.

    Parameters
    ----------
    width : float
        The greatest width, in pixels.
    symbolic : mapping
        The shape of each grid in the user's dims, by the grid's name.
    at : sequence of int, optional
        An output coordinate to mark, with a curve from the element that it reads.
    """
    panels, arrow, bottom = _plan(x, y, width, drawn, symbolic)
    followed = _place(drawn.output, at)
    if followed is not None and drawn.numbers[followed] >= 0:
        _draw_read_curve(canvas, panels, drawn, followed)
    elif arrow:
        canvas.arrow(*arrow)
    for panel in panels:
        _frame(canvas, panel)
    _elements(canvas, drawn, panels, followed)
    return bottom


def legend(drawn: Cells) -> str:
    """Return a sentence that explains the numbers, the hatching and the dashes."""
    sentence = f"numbers: elements of {', '.join(s.name for s in drawn.sources)}, row-major"
    sentence += ", one source after another" if len(drawn.sources) > 1 else ""
    if drawn.fills:
        letters = [f"{_fill_letter(drawn, k)} = " if len(drawn.fills) > 1 else "" for k in range(len(drawn.fills))]
        sentence += f"; hatched: fill {', '.join(f'{a}{f}' for a, f in zip(letters, drawn.fills, strict=True))}"
    if any(n not in drawn.numbers for n, _, _ in _source_elements(drawn)):
        sentence += "; dashed: not read"
    if not all(grid.whole for grid in (drawn.output, *drawn.sources)):
        sentence += "; …: left out"
    return sentence


# ---------------------------------------------------------------------- positions


def _plan(
    x: float, y: float, width: float, drawn: Cells, symbolic: Mapping[str, str]
) -> tuple[list[Panel], tuple[float, float, float, float] | None, float]:
    """Return the panels with the largest cells that fit, the arrow to the last panel, and the y at which all end."""
    grids = (*drawn.sources, drawn.output)
    digits = max((len(str(s.start + max(prod(s.shape) - 1, 0))) for s in drawn.sources), default=1)
    for height in _CELL_HEIGHTS:
        size = max(height, _NUMERAL_WIDTH * digits + 8), height
        planned = _placed(x, y, width, [(grid, arrange(grid, size, width), _head(grid, symbolic)) for grid in grids])
        if planned[2] - y <= _MAX_HEIGHT and all(panel.arranged.width <= width for panel in planned[0]):
            break
    return planned


def _placed(
    x: float, y: float, width: float, grids: Sequence[tuple[Grid, Arranged, str]]
) -> tuple[list[Panel], tuple[float, float, float, float] | None, float]:
    """Return the panels side by side if they fit, else stacked, with the arrow and the end as `_plan` returns them."""
    wide = [max(a.width, CHAR * 1.06 * len(head), 5.2 * len(a.roles)) for _, a, head in grids]
    panels = []
    left, top, bottom = x + max(0.0, width - sum(wide) - _PANEL_GAP * (len(wide) - 1)) / 2, y, y
    beside = sum(wide) + _PANEL_GAP * (len(wide) - 1) <= width
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
            arrow = left - _PANEL_GAP + 10, middle, left - 14, middle
        panels.append(Panel(grid, arranged, head, left + (wide[k] - arranged.width) / 2, top + above))
        bottom = max(bottom, top + above + arranged.height)
        left += wide[k] + _PANEL_GAP
    return panels, arrow, bottom


def _head(grid: Grid, symbolic: Mapping[str, str]) -> str:
    concrete, written = wording.shape(grid.shape), symbolic[grid.name]
    return shortened(f"{grid.name} {concrete}" + (f" = {written}" if written != concrete else ""), 62)


def _frame(canvas: Canvas, panel: Panel) -> None:
    """Draw everything of a panel but its cells: heading, outlines of blocks, titles of planes and dots."""
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
    elements = {*readers, *(number for number, _, _ in _source_elements(drawn))}
    order = {number: k for k, number in enumerate(sorted(number for number in elements if number >= 0))}
    for number, source, place in _source_elements(drawn):
        reading = readers.pop(number, [])
        marked = ("at",) if followed is not None and followed in reading else ()
        colour = hue(order[number], len(order)) if reading else "unread"
        with canvas.group(_group_title(drawn, number, reading), "e", *marked):
            _cell(canvas, panels[drawn.sources.index(source)], place, colour, str(number))
            for r in reading:
                _cell(canvas, panels[-1], r, colour, str(number))
    for number, reading in readers.items():  # fills, and source elements that are left out of the picture
        for r in reading:
            label = str(number) if number >= 0 else _fill_letter(drawn, -1 - number) if len(drawn.fills) > 1 else ""
            with canvas.group(_group_title(drawn, number, [r]), "e", *(("at",) if followed == r else ())):
                _cell(canvas, panels[-1], r, hue(order[number], len(order)) if number >= 0 else "fill", label)


def _group_title(drawn: Cells, number: int, reading: Sequence[Place]) -> str:
    """Return in words which output coordinates read an element."""
    where = ", ".join(_coordinate(drawn.output, r) for r in reading[:8]) + (", ..." if len(reading) > 8 else "")
    if number < 0:
        return f"output {where} is fill {drawn.fills[-1 - number]}"
    source = drawn.source_of(number)
    name = f"{source.name}[{', '.join(map(str, source.coordinate(number)))}]"
    return f"{name} is read at {where}" if reading else f"{name} is not read"


def _fill_letter(drawn: Cells, fill: int) -> str:
    return _FILL_LETTERS[fill % len(_FILL_LETTERS)]


def _source_elements(drawn: Cells) -> Iterator[tuple[int, Grid, Place]]:
    """Yield each source element that is shown: its number, its source, and its place among the shown cells."""
    for source in drawn.sources:
        strides = [prod(source.shape[k + 1 :]) for k in range(len(source.shape))]
        for place in np.ndindex(*map(len, source.axes)):
            coordinate = [axis[k] for axis, k in zip(source.axes, place, strict=True)]
            yield source.start + sum(c * s for c, s in zip(coordinate, strides, strict=True)), source, place


def _place(grid: Grid, at: Sequence[int] | None) -> Place | None:
    """Return the place of the coordinate *at* among the shown cells; None if *at* is None or not shown."""
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
    """Return the SVG path of lines at 45 degrees in a box.  Boxes of equal size get equal lines."""
    lines = []
    at = _HATCH_SPACING / 2
    while at < width + height:
        x1, y1 = (at, 0.0) if at <= width else (width, at - width)
        x2, y2 = (0.0, at) if at <= height else (at - height, height)
        lines.append(f"M{x + x1:.1f} {y + y1:.1f}L{x + x2:.1f} {y + y2:.1f}")
        at += _HATCH_SPACING
    return "".join(lines)


def _draw_read_curve(canvas: Canvas, panels: Sequence[Panel], drawn: Cells, followed: Place) -> None:
    """Draw a curve from the element that *followed* reads to the cell of *followed*.

    The cells are drawn over it later, so that the curve crosses no number.
    """
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
