"""The search finds the extreme values and the points that enumeration finds."""

from __future__ import annotations

import itertools
import random

import pytest

from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, evaluate, symbol
from symlayout.algebra.search.branch_and_bound import can_hold, searches
from symlayout.algebra.search.constraints import Constraints
from symlayout.errors import ShapeError

X, Y = symbol("x"), symbol("y")
GOALS: list[Extent] = [X, Y, X + Y, X * Y - 3 * X, 7 - X * X + Y]


def system(seed: int) -> tuple[Facts, list[dict[str, int]]]:
    """Return facts of two dims, and the points at which they hold."""
    rnd = random.Random(seed)
    facts = Facts()
    for name in ("x", "y"):
        facts.declare(Dim(name, 0, rnd.randint(2, 7)))
    known: list[Extent] = [rnd.randint(-2, 3) * X + rnd.randint(-2, 3) * Y + rnd.randint(0, 5) for _ in range(2)]
    for e in known:
        facts.require_nonnegative(e, "infeasible")
    ranges = [range((facts.dims[name].max or 0) + 1) for name in ("x", "y")]
    points = [{"x": x, "y": y} for x, y in itertools.product(*ranges)]
    return facts, [p for p in points if all(evaluate(e, p) >= 0 for e in known)]


@pytest.mark.parametrize("seed", range(40))
def test_extreme_values_are_those_of_enumeration(seed: int) -> None:
    try:
        facts, points = system(seed)
    except ShapeError:
        return
    assert can_hold(facts) or not points
    if not points:
        return
    for goal, search in zip(GOALS, searches(facts, GOALS), strict=True):
        values = [evaluate(goal, p) for p in points]
        assert search.least(goal, 500) == min(values)
        assert search.greatest(goal, 500) == max(values)


@pytest.mark.parametrize("seed", range(10))
def test_all_points_are_found_once(seed: int) -> None:
    try:
        facts, points = system(seed)
    except ShapeError:
        return
    (search,) = searches(facts, [X + Y])
    found, complete = search.points(10_000, 10_000)
    if complete and {"x", "y"} <= set(search.free):
        assert sorted((p["x"], p["y"]) for p in found) == sorted((p["x"], p["y"]) for p in points)


def test_constraints_hold_where_the_facts_do() -> None:
    facts = Facts()
    facts.declare(Dim("x", 1, 9))
    facts.declare(Dim("y", 0, 9))
    facts.require_nonnegative(X - 2 * Y, "infeasible")
    floor = facts.add_floor(X, 2)
    constraints = Constraints(facts)
    assert constraints.tied(frozenset({"y"})) >= {"x", "y"}
    assert constraints.sides("x") == (1, 9)
    for x, y in itertools.product(range(1, 10), range(10)):
        if x >= 2 * y:
            values = facts.values({"x": x, "y": y})
            assert evaluate(floor, values) == x // 2
            for s in constraints.all:
                if s.given is None:
                    assert evaluate(s.e, values) >= 0
