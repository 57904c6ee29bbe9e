"""Floors, maxima and minima are symbols whose values are what their definitions say."""

from __future__ import annotations

import itertools

import pytest

from symlayout import limits
from symlayout.algebra.defined_symbols import Derived
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, evaluate, symbol
from symlayout.errors import InconclusiveError

X, Y = symbol("x"), symbol("y")


def facts() -> Facts:
    made = Facts()
    made.declare(Dim("x", 0, 6))
    made.declare(Dim("y", 1, 4))
    return made


def test_defined_symbols_have_the_values_of_their_definitions() -> None:
    f = facts()
    assert isinstance(f, Derived)
    floor, most, least = f.add_floor(X + 1, Y), f.maximum(X, Y), f.minimum(X, Y)
    for x, y in itertools.product(range(7), range(1, 5)):
        values = f.values({"x": x, "y": y})
        assert evaluate(floor, values) == (x + 1) // y
        assert evaluate(most, values) == max(x, y)
        assert evaluate(least, values) == min(x, y)


def test_what_is_known_to_be_larger_is_the_maximum() -> None:
    f = facts()
    assert f.maximum(X + Y, X) == X + Y
    assert f.minimum(X + Y, X) == X


def test_the_same_quotient_is_the_same_symbol() -> None:
    f = facts()
    assert f.add_floor(X, Y) == f.add_floor(X, Y) != f.add_floor(X + 1, Y)


def test_quotients_nested_beyond_the_limit_are_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "nesting", 3)
    f = facts()
    e: Extent = X
    for _ in range(3):
        e = f.add_floor(e + 1, Y)
    with pytest.raises(InconclusiveError, match="it has 4 quotients within each other"):
        f.add_floor(e + 1, Y)


def test_quotients_that_are_too_long_when_written_out_are_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "written_names", 60)
    f = facts()
    e: Extent = X
    for _ in range(4):
        e = f.add_floor(e * e + 1, Y)  # each has the one before twice
    with pytest.raises(InconclusiveError, match="it has 94 names when written out"):
        f.add_floor(e * e + 1, Y)
