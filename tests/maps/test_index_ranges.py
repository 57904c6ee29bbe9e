"""Inputs that operations read at have values in the range of the axis."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import InconclusiveError
from symlayout.maps.index_ranges import in_range, ranges_of


def test_places_that_are_read_at_are_in_the_range_of_the_axis() -> None:
    x, at = sl.tensor("5, C", name="x"), sl.tensor("N", dtype="int64", name="at")
    y = sl.onnx.gather(x, at, axis=0)
    assert ranges_of([y], lambda _, e: e if isinstance(e, int) else None) == {at.key: range(-5, 5)}
    assert ranges_of([y], lambda *_: None) == {}


def test_numbers_out_of_a_range_become_numbers_of_it() -> None:
    drawn = np.array([-9, -1, 0, 3, 9])
    found = in_range(drawn, range(-2, 3))
    assert set(found.tolist()) <= set(range(-2, 3))
    assert found[1:3].tolist() == [-1, 0]
    with pytest.raises(InconclusiveError):
        in_range(drawn, range(0))
