"""What a chain reads at a coordinate is what NumPy reads there, or the sign that decides it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, symbol
from symlayout.proof.cases.read_element import OpenSign, SideRead, read_element
from symlayout.tensors.chain import Tensor

ROOM = 10**6  # goals, more than any read here visits
FIRST, SECOND = symbol("#0"), symbol("#1")


def at(y: Tensor, coords: tuple[Extent, ...], facts: Facts, **given: Any) -> SideRead:
    return read_element(y, coords, facts, side=0, limit=facts.effort + ROOM, shown=True, **given)


def with_digits(y: Tensor) -> Facts:
    """Return the facts of a tensor, with one digit for each of its axes."""
    facts = y.facts.fork()
    facts.splits = {}
    facts.meet(list(y.extents))
    for axis, extent in enumerate(y.extents):
        facts.add_digit(f"#{axis}", facts.reduce(extent))
    return facts


def test_a_chain_reads_what_numpy_reads() -> None:
    x = sl.tensor("4, 6", name="x")
    y = sl.transpose(sl.reshape(sl.flip(x, 1), (3, 8)))
    read = at(y, (SECOND, FIRST), with_digits(sl.transpose(y)))
    places = np.arange(24).reshape(4, 6)[:, ::-1].reshape(3, 8)
    assert read.leaf is x
    assert [case for case, _ in read.path] == [0, 0, 0]
    facts = with_digits(sl.transpose(y))
    for i in range(3):
        for j in range(8):
            row, column = (evaluate(facts.reduce(c), {"#0": i, "#1": j}) for c in at(y, (j, i), facts).coords)
            assert 6 * row + column == places[i, j]


def test_outside_of_the_source_the_fill_is_read_and_the_path_says_where() -> None:
    x = sl.tensor("H", name="x")
    y = sl.pad(x, ((2, 0),), constant_values=7)
    assert at(y, (1,), with_digits(y)) == SideRead(None, (), 7, ((0, (0, "below")),))


def test_a_source_without_an_element_is_not_read() -> None:
    y = sl.pad(sl.tensor("0, 3", name="x"), ((0, 1), (0, 0)), constant_values=7)
    assert at(y, (0, FIRST), with_digits(y)).path == ((0, (0, "empty")),)


def test_the_sign_that_decides_between_source_and_fill_is_asked_for() -> None:
    y = sl.pad(sl.tensor("H", name="x"), ((2, 0),))
    with pytest.raises(OpenSign) as caught:
        at(y, (FIRST,), with_digits(y))
    assert caught.value.value == FIRST - 2


def test_a_branch_that_reads_inside_learns_where_the_coordinate_is() -> None:
    y = sl.pad(sl.tensor("H", name="x"), ((2, 0),))
    facts = with_digits(y)
    assert at(y, (FIRST,), facts, inside=True).coords == (FIRST - 2,)
    assert facts.nonnegative(FIRST - 2)


def test_the_sign_that_decides_between_two_cases_is_asked_for() -> None:
    y = sl.concatenate([sl.tensor("3", name="x"), sl.tensor((sl.dim("H", min=2),), name="z")])
    with pytest.raises(OpenSign) as caught:
        at(y, (FIRST,), with_digits(y))
    assert caught.value.value in (2 - FIRST, FIRST - 3)
    assert at(y, (4,), with_digits(y)).coords == (1,)


def test_the_limit_of_goals_is_an_error() -> None:
    y = sl.flip(sl.tensor("H", name="x"))
    facts = with_digits(y)
    facts.spend(2)
    with pytest.raises(sl.InconclusiveError, match="within the budget of goals"):
        read_element(y, (FIRST,), facts, side=0, limit=facts.effort - 1, shown=True)
