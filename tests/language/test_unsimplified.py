"""A literal keeps what a declaration wrote: nothing is simplified."""

from __future__ import annotations

from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import symbol
from symlayout.language.to_text import spell
from symlayout.language.unsimplified import Literal, literal


def facts() -> Facts:
    made = Facts()
    made.declare(Dim("N", 0))
    return made


def test_floors_and_remainders_stay_as_they_are_written() -> None:
    f = facts()
    n = literal(symbol("N"), f)
    assert isinstance(n, Literal)
    assert spell((2 * n + 1).e) == spell((1 + n * 2).e) == "2*N + 1"
    assert spell((4 * n // 2).e) == "4*N//2"
    assert spell((4 * n % 2).e) == "4*N % 2"
    assert spell((3 - n).e) == spell((-1 * n + 3).e)


def test_a_division_by_1_leaves_nothing() -> None:
    n = literal(symbol("N"), facts())
    assert n // 1 is n
    assert spell((n % 1).e) == "0"


def test_a_literal_is_its_own_literal() -> None:
    f = facts()
    n = literal(5, f)
    assert literal(n, f) is n
