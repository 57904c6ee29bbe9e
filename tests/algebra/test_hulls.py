"""Bounds of one dim are the exact hull of its values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from symlayout.algebra import floor_normal_form
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent
from tests.algebra.systems import H, facts_of


@dataclass(frozen=True, slots=True)
class Hull:
    """An extent of one dim with statements about it, and all values that it has."""

    name: str
    dim: Dim
    make: Callable[[Facts], Extent]
    values: Callable[[int], list[int]]  # at one value of the dim: none where a statement fails


def required(facts: Facts, e: Extent) -> Facts:
    facts.require_nonnegative(e, "low")
    return facts


HULLS = (
    Hull("scaled", Dim("H", 1, 9), lambda f: 3 * H - 2, lambda h: [3 * h - 2]),
    Hull("falling", Dim("H", 1, 9), lambda f: 5 - 2 * H, lambda h: [5 - 2 * h]),
    Hull("half", Dim("H", 1, 9), lambda f: f.divide(H + 1, 2, "two"), lambda h: [(h + 1) // 2] if h % 2 else []),
    Hull("square", Dim("H", 0, 7), lambda f: H * H + H, lambda h: [h * h + h]),
    Hull("floor", Dim("H", 1, 9), lambda f: floor_normal_form.floor_div(f, H + 1, 3), lambda h: [(h + 1) // 3]),
    Hull("max", Dim("H", 0, 9), lambda f: f.maximum(H - 3, 0), lambda h: [max(h - 3, 0)]),
    Hull("min", Dim("H", 0, 9), lambda f: f.minimum(H, 5), lambda h: [min(h, 5)]),
    Hull(
        "required",
        Dim("H", 0, 9),
        lambda f: required(f, 2 * H - 5).reduce(H),
        lambda h: [h] if 2 * h >= 5 else [],
    ),
    Hull(
        "twice",
        Dim("H", 0, 30),
        lambda f: (f.divide(H, 4, "four"), f.divide(H, 6, "six"), f.reduce(H + 1))[2],
        lambda h: [h + 1] if h % 12 == 0 else [],
    ),
)


@pytest.mark.parametrize("hull", HULLS, ids=lambda hull: hull.name)
def test_bounds_of_one_dim_are_the_exact_hull(hull: Hull) -> None:
    facts = facts_of(hull.dim)
    e = hull.make(facts)
    assert hull.dim.min is not None
    assert hull.dim.max is not None
    values = [v for h in range(hull.dim.min, hull.dim.max + 1) for v in hull.values(h)]
    assert facts.interval(e) == (min(values), max(values))
