"""Sides in boxes hold at every point of small boxes."""

from __future__ import annotations

import itertools
import random
from math import inf

import pytest

from symlayout.algebra.polynomial import Extent, collapse, evaluate, symbol
from symlayout.algebra.search.box_bounds import (
    Box,
    ceil_of,
    floor_of,
    form_of,
    quotient_sides,
    sides_of,
    slope_of,
    tighter,
)

NAMES = "xyz"


def random_form(rnd: random.Random) -> Extent:
    terms = {tuple(sorted(rnd.choices(NAMES, k=rnd.randint(0, 3)))): rnd.randint(-4, 4) for _ in range(4)}
    return collapse(terms)


def random_box(rnd: random.Random) -> Box:
    lows = {name: rnd.randint(-3, 2) for name in NAMES}
    return {name: (low, low + rnd.randint(0, 3)) for name, low in lows.items()}


def points(box: Box) -> list[dict[str, int]]:
    ranges = [range(int(low), int(high) + 1) for low, high in box.values()]
    return [dict(zip(box, values, strict=True)) for values in itertools.product(*ranges)]


@pytest.mark.parametrize("seed", range(60))
def test_an_expression_stays_within_its_sides(seed: int) -> None:
    rnd = random.Random(seed)
    e, box = random_form(rnd), random_box(rnd)
    values = [evaluate(e, p) for p in points(box)]
    low, high = sides_of(e, box)
    assert low <= min(values) <= max(values) <= high
    assert low <= form_of(e).least(box) <= min(values)


def test_a_slope_tightens_the_least_value() -> None:
    x = symbol("x")
    e = x * x - x
    assert sides_of(e, {"x": (1, 5)})[0] == 1 - 5
    assert form_of(e).least({"x": (1, 5)}) == 0
    assert slope_of(e, "x") == 2 * x - 1


@pytest.mark.parametrize("c", [(1, 3), (2, 2), (-3, -1), (0, 2), (-2, 0)])
def test_what_tightening_removes_meets_no_inequality(c: tuple[int, int]) -> None:
    for most in (-4, -1, 0, 3):
        low, high = tighter((-9, 9), c, most)
        possible = [s for s in range(-9, 10) if any(k * s + most >= 0 for k in range(c[0], c[1] + 1))]
        assert all(low <= s <= high for s in possible)


def test_quotients_of_infinite_sides() -> None:
    assert (floor_of(7, 2), floor_of(7, inf), ceil_of(7, 2), ceil_of(7, inf), ceil_of(7, 0)) == (3, 0, 4, 1, inf)
    assert quotient_sides((-7, 7), (2, 3)) == (-4, 3)
    assert quotient_sides((-inf, inf), (1, inf)) == (-inf, inf)
    for n, d in itertools.product(range(-7, 8), (2, 3)):
        assert -4 <= n // d <= 3
