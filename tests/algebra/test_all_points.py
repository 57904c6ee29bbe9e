"""All points of a box of digits decide a goal that has a floor."""

from __future__ import annotations

import pytest

from symlayout import limits
from symlayout.algebra.all_points import points_of
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import Poly, symbol


def a_digit_and_its_half() -> tuple[Facts, Poly]:
    """Return facts about a digit below 6, and what its half leaves: 0 or 1."""
    facts = Facts()
    digit = facts.add_digit(digit_name(0), 6)
    rest = digit - 2 * facts.add_floor(digit, 2)
    assert isinstance(rest, Poly)
    return facts, rest


def test_a_goal_holds_if_it_is_not_negative_at_every_point() -> None:
    facts, rest = a_digit_and_its_half()
    points = points_of(facts, rest)
    assert points is not None
    assert points.count == 6
    assert points.hold(rest)
    below, above = rest - 1, 1 - rest
    assert isinstance(below, Poly)
    assert isinstance(above, Poly)
    assert not points.hold(below)
    assert points.hold(above)


def test_a_goal_without_a_floor_is_not_a_matter_of_points() -> None:
    facts, _ = a_digit_and_its_half()
    assert points_of(facts, symbol(digit_name(0))) is None


def test_a_box_of_too_many_points_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, rest = a_digit_and_its_half()
    monkeypatch.setattr(limits, "points", 5)
    assert points_of(facts, rest) is None
