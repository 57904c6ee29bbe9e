"""No rule proves what is false.  There are no samples here, at which the prover elsewhere sees that a goal is false."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from symlayout.algebra import floor_normal_form
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.nonnegative import Inequalities
from symlayout.algebra.polynomial import Extent, collapse, evaluate, symbol
from symlayout.algebra.sample_points import Samples
from symlayout.errors import InconclusiveError, ShapeError
from tests.support.certificates.derivations import identities

Point = dict[str, int]


@pytest.fixture(autouse=True)
def no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Samples, "_points", lambda self: [])


def some(rnd: random.Random, names: list[str], most: int = 3) -> Extent:
    """Return a polynomial of a few terms, of degree 2 at most."""
    e: Extent = rnd.randint(-4, 4)
    for _ in range(rnd.randint(1, most)):
        monomial = sorted(rnd.choices(names, k=rnd.choice((1, 1, 2))))
        e = e + collapse({tuple(monomial): rnd.choice((-3, -2, -1, 1, 1, 2, 4))})
    return e


def random_facts(rnd: random.Random, facts: Facts) -> tuple[Facts, list[Point]]:
    """Return a system of dims, facts, a maximum, digits and floors, and the points of a box where it holds."""
    names = ["x", "y", "z"][: rnd.randint(1, 3)]
    ranges = []
    for name in names:
        low = rnd.choice((-3, -1, 0, 0, 1, 2))
        high = rnd.choice((None, low + 1, low + 3))
        facts.declare(Dim(name, low, high))
        ranges.append(range(low, (low + 5 if high is None else high) + 1))
    points = [dict(zip(names, values, strict=True)) for values in itertools.product(*ranges)]
    for _ in range(rnd.randint(0, 3)):
        fact = some(rnd, names)
        facts.assume_nonnegative(fact)
        points = [p for p in points if evaluate(fact, p) >= 0]
    if rnd.random() < 0.5:
        facts.maximum(some(rnd, names, 2), 0)
        points = [facts.values(p) for p in points]
        names = list(facts.low)
    for k in range(rnd.randint(0, 2)):
        extent = some(rnd, names, 1)
        facts.assume_nonnegative(extent - 1)
        facts.add_digit(floor_normal_form.digit_name(k), extent)
        points = [p | {floor_normal_form.digit_name(k): v} for p in points for v in range(evaluate(extent, p))]
        names.append(floor_normal_form.digit_name(k))
    for _ in range(rnd.randint(0, 2)):
        divisor = rnd.choice((2, 3, 4, symbol(rnd.choice(names))))
        facts.assume_nonnegative(divisor - 1)
        points = [p for p in points if evaluate(divisor, p) >= 1]
        numerator = some(rnd, names)
        quotient = floor_normal_form.floor_div(facts, numerator, divisor)
        points = [with_floors(facts, p) for p in points]
        for p in points:
            assert evaluate(facts.reduce(quotient), p) == evaluate(numerator, p) // evaluate(divisor, p)
        names = list(facts.low)
    return facts, points


def with_floors(facts: Facts, point: Point) -> Point:
    for name, (n, d) in facts.floors.items():
        point[name] = evaluate(n, point) // evaluate(d, point)
    return point


def systems(seeds: range, make: type[Facts] = Facts) -> Iterator[tuple[random.Random, Facts, list[Point]]]:
    for seed in seeds:
        rnd = random.Random(seed)
        try:
            facts, points = random_facts(rnd, make())
        except (ShapeError, InconclusiveError, KeyError):  # nothing is left, or a divisor may be 0
            continue
        if points:
            yield rnd, facts, points


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, 500, 100))
def test_what_fails_by_one_is_not_proved(first: int) -> None:
    """``e - least >= 0`` may be proved, ``e - least - 1 >= 0`` fails where *e* is least."""
    proved = 0
    for rnd, facts, points in systems(range(first, first + 100)):
        for _ in range(12):
            e = some(rnd, list(facts.low))
            least = min(evaluate(e, p) for p in points)
            assert not facts.nonnegative(e - least - 1), f"{e} is {least} in {facts.low}, {facts.high}, {facts.known}"
            proved += facts.nonnegative(e - least)
    assert proved > 100


def test_a_derivation_is_an_identity_of_what_is_not_negative() -> None:
    checked = 0
    for rnd, facts, points in systems(range(200)):
        for _ in range(6):
            e = some(rnd, list(facts.low))
            proof = facts.derive(e - min(evaluate(e, p) for p in points))
            checked += proof is not None and identities(facts, proof, points[:: 1 + len(points) // 8])
    assert checked > 500


def test_a_quotient_is_not_bounded_by_the_high_end_of_a_falling_digit() -> None:
    facts, n = Facts(), symbol("n")
    facts.declare(Dim("n", 1, None))
    j, i = (facts.add_digit(floor_normal_form.digit_name(k), n) for k in range(2))
    quotient = floor_normal_form.floor_div(facts, 2 * j - 2 * i + 2, 3)  # 2 where j is 2 and i is 0
    assert not facts.nonnegative(1 - quotient)


def test_the_square_of_what_has_no_least_value_has_no_largest() -> None:
    facts, n = Facts(), symbol("n")
    facts.declare(Dim("n", 0, None))
    quotient = floor_normal_form.floor_div(facts, 5 - n, 3)
    assert facts.interval(quotient * quotient)[1] is None


def test_a_product_leaves_a_negative_factor_all_its_values() -> None:
    facts, x, m = Facts(), symbol("x"), symbol("m")
    facts.declare(Dim("m", 1, 5))
    facts.declare(Dim("x", -9, 0))
    facts.assume_nonnegative(-m * x - 6)
    assert facts.interval(x)[1] in (-2, -1, 0)  # 3 * 2 is 6, and 5 * 1 is less


def test_inequalities_are_proved_without_divisions_and_definitions() -> None:
    """The class that proves them stands below the one that has quotients."""
    system = Inequalities(low={"x": 2}, high={"x": None})
    assert system.nonnegative(symbol("x") - 2)
    assert not system.nonnegative(symbol("x") - 3)
