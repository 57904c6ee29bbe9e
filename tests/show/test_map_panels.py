"""A drawn map has all cells of its grids, and a legend of what the marks mean."""

from __future__ import annotations

import symlayout as sl
from symlayout.show.map_panels import draw, legend
from symlayout.show.read_numbers import cells
from symlayout.show.svg import Canvas


def test_every_element_is_drawn_and_more_room_is_taken_by_more_cells() -> None:
    ends = []
    for extent in (2, 6):
        drawn = cells(sl.pad(sl.tensor((extent, extent), name="x"), 1))
        canvas = Canvas()
        symbolic = {"x": "(H, H)", drawn.output.name: "(H + 2, H + 2)"}
        ends.append(draw(canvas, 10.0, 20.0, 800.0, drawn, symbolic, (1, 1)))
        document = canvas.document(900, ends[-1], "t", "d")
        assert document.count("<rect") >= extent**2 + (extent + 2) ** 2
        assert "H + 2" in document
    assert 20.0 < ends[0] < ends[1]


def test_the_legend_names_the_inputs_and_the_fills() -> None:
    said = legend(cells(sl.pad(sl.tensor((2,), name="x"), 1)))
    assert "elements of x" in said
    assert "0" in said
