"""Small sizes for examples: which are taken, and how often the declarations run for those that are not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import symlayout as sl
from symlayout.show import small_sizes
from symlayout.tensors.chain import Tensor


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, int]]:
    """Return a list that gets the values with which a tensor is bound."""
    seen: list[Mapping[str, int]] = []
    original = small_sizes._bound

    def counted(t: Tensor, values: Mapping[str, int]) -> Tensor | None:
        seen.append(values)
        return original(t, values)

    monkeypatch.setattr(small_sizes, "_bound", counted)
    return seen


def test_sizes_that_are_too_large_are_not_bound_after_the_first(bound: list[Mapping[str, int]]) -> None:
    h, w = sl.dims("h w")
    t = sl.space_to_depth(sl.tensor((2 * h, 2 * w, 200), name="x"), 2, "blocks_first", 2)
    assert small_sizes.small(t)[1] == {"h": 2, "w": 2}
    assert bound == [{"h": 2, "w": 2}]


def test_a_small_example_is_found_behind_large_ones(bound: list[Mapping[str, int]]) -> None:
    h, w = sl.dims("h w")
    t = sl.transpose(sl.tensor((16 * h, 16 * w), name="x"))
    assert small_sizes.small(t, preferred=(9, 8, 7, 1, 2))[1] == {"h": 1, "w": 1}
    assert bound == [{"h": 9, "w": 9}, {"h": 1, "w": 1}]


def test_each_example_that_might_be_taken_is_asked_whether_it_fits(bound: list[Mapping[str, int]]) -> None:
    t = sl.transpose(sl.tensor("h, w"))
    assert small_sizes.small(t, lambda made: made.shape[0] == 3)[1] == {"h": 2, "w": 3}
    assert len(bound) > 1
