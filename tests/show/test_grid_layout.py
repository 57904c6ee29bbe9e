"""Cells lie apart, inside the grid, each once."""

from __future__ import annotations

import itertools

import pytest

import symlayout as sl
from symlayout.show.grid_layout import arrange
from symlayout.show.read_numbers import cells


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (2, 1, 2, 3), (40, 50)])
def test_cells_lie_apart_and_inside(shape: tuple[int, ...]) -> None:
    grid = cells(sl.tensor(shape, name="x")).output
    arranged = arrange(grid, (20.0, 10.0), 900.0)
    assert set(arranged.places) == set(itertools.product(*(range(len(axis)) for axis in grid.axes)))
    width, height = arranged.size
    for x, y in arranged.places.values():
        assert 0 <= x <= arranged.width - width + 1e-9
        assert 0 <= y <= arranged.height - height + 1e-9
    for (x1, y1), (x2, y2) in itertools.islice(itertools.combinations(arranged.places.values(), 2), 5000):
        assert abs(x1 - x2) >= width or abs(y1 - y2) >= height


def test_an_empty_grid_has_no_cells() -> None:
    assert arrange(cells(sl.tensor((0, 2), name="x")).output, (20.0, 10.0), 900.0).places == {}
