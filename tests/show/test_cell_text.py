"""Cells as text: the elements of the output in their places, a dot for a fill."""

from __future__ import annotations

import symlayout as sl
from symlayout.show.cell_text import LINE, text
from symlayout.show.read_numbers import cells


def test_a_pad_is_dots_around_numbers() -> None:
    assert text(cells(sl.pad(sl.tensor((2, 2), name="x"), 1))).splitlines() == [
        ". . . .",
        ". 0 1 .",
        ". 2 3 .",
        ". . . .",
    ]


def test_planes_have_their_place_as_a_title() -> None:
    shown = text(cells(sl.tensor((2, 2, 2), name="x"))).splitlines()
    assert shown[0].split("   ")[0].strip() == "[0, :, :]"
    assert "[1, :, :]" in shown[0]


def test_lines_have_a_greatest_length_and_what_is_left_out_is_said() -> None:
    shown = text(cells(sl.tensor((100, 1000), name="x")))
    assert "shown are" in shown
    assert max(map(len, shown.split("\n\n")[0].splitlines())) <= 2 * LINE


def test_an_empty_tensor_has_no_elements() -> None:
    assert text(cells(sl.tensor((0, 3), name="x"))) == "no elements"
