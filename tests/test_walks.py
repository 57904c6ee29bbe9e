"""Walks visit each value once, whatever is read twice, and values after what they are made of."""

from __future__ import annotations

import pytest

from symlayout.walks import Walk, settle


def test_a_walk_visits_each_value_once_and_the_last_one_found_first() -> None:
    below = {"a": "bcb", "b": "d", "c": "d", "d": "a"}
    walk = Walk("a")
    visited = []
    for at in walk:
        visited.append(at)
        walk.to(below[at])
    assert visited == list(walk.seen) == ["a", "b", "d", "c"]


@pytest.mark.parametrize("depth", [1, 100_000])
def test_a_value_is_made_after_its_parts_without_recursion(depth: int) -> None:
    made = {0: 0}
    order: list[int] = []

    def make(n: int) -> int:
        order.append(n)
        return made[n - 1] + 1

    assert settle(depth, lambda n: [n - 1, n - 1], made, make) == depth
    assert order == list(range(1, depth + 1))
