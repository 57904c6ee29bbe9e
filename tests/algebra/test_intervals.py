"""An interval holds at every point, and inequalities move the bounds of symbols."""

from __future__ import annotations

import itertools

import pytest

from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.intervals import Intervals, positive_part
from symlayout.algebra.polynomial import Extent, evaluate, symbol
from symlayout.errors import ShapeError

X, Y = symbol("x"), symbol("y")
EXPRESSIONS: list[Extent] = [X, 3 * X - 2 * Y, X * Y, X * Y - X, 5 - X * X, (X - 2) * (Y + 1)]


def facts_of(*known: Extent) -> Facts:
    facts = Facts()
    facts.declare(Dim("x", 1, 5))
    facts.declare(Dim("y", 0, 4))
    for e in known:
        facts.learn(e)
    facts.tighten()
    return facts


@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_values_are_inside_the_interval(e: Extent) -> None:
    facts = facts_of()
    assert isinstance(facts, Intervals)
    low, high = facts.interval(e)
    values = [evaluate(e, {"x": x, "y": y}) for x, y in itertools.product(range(1, 6), range(5))]
    assert low is not None
    assert high is not None
    assert low <= min(values) <= max(values) <= high
    assert (facts.least(e) or 0) <= min(values)


def test_an_inequality_tightens_both_its_symbols() -> None:
    facts = facts_of(Y - X - 1)  # x < y
    assert facts.interval(X) == (1, 3)
    assert facts.interval(Y) == (2, 4)


def test_inequalities_that_leave_nothing_are_an_error() -> None:
    with pytest.raises(ShapeError):
        facts_of(Y - X - 9)


def test_a_divisor_counts_from_1() -> None:
    assert positive_part((None, None)) == (1, None)
    assert positive_part((-3, 7)) == (1, 7)
    assert positive_part((2, 7)) == (2, 7)
