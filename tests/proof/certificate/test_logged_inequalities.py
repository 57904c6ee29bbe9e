"""A system that logs its derivations writes steps that the checker takes."""

from __future__ import annotations

import pytest

from symlayout.algebra.fact_store import Dim
from symlayout.algebra.polynomial import symbol
from symlayout.proof.certificate.checker import Refused
from symlayout.proof.certificate.ledger import Ledger
from symlayout.proof.certificate.logged_inequalities import Notes
from tests.support.certificates.recorded import Told

X, Y = symbol("x"), symbol("y")


def told() -> Told:
    facts = Told()
    facts.declare(Dim("x", 1))
    facts.declare(Dim("y", 0))
    facts.assume_nonnegative(X - 2 * Y)
    return facts


def test_steps_that_are_noted_are_checked_first() -> None:
    facts = told()
    assert isinstance(facts, Notes)
    before = len(facts.steps)
    with pytest.raises((Refused, KeyError)):
        facts.note("no such rule", 0)
    assert len(facts.steps) == before


def test_a_fork_has_its_own_steps_and_the_same_knowledge() -> None:
    facts = told()
    fork = facts.fork()
    assert fork.steps == []
    assert isinstance(fork.context, Ledger)
    assert fork.context is not facts.context
    shown = fork.show(3 * X - 6 * Y)
    assert fork.context.holds(shown)
