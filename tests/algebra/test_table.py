"""Tables: their values at integers, arrays and coordinates, and what the algebra knows of their entries."""

from __future__ import annotations

import numpy as np
import pytest

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import Coordinate, is_digital
from symlayout.algebra.polynomial import Poly, names_of
from symlayout.algebra.table import Table
from symlayout.errors import InconclusiveError

ODD = Table([7, 1, 5, 3])


def test_a_table_has_its_end_values_beyond_its_ends() -> None:
    assert [ODD[k] for k in range(-2, 6)] == [7, 7, 7, 1, 5, 3, 3, 3]
    assert ODD[np.arange(-2, 6)].tolist() == [7, 7, 7, 1, 5, 3, 3, 3]
    assert (ODD.low, ODD.high) == (1, 7)


def test_tables_are_equal_by_their_entries() -> None:
    assert Table((7, 1, 5, 3)) == ODD
    assert hash(Table((7, 1, 5, 3))) == hash(ODD)
    assert Table([7, 1, 5, 4]) != ODD
    assert (repr(ODD), repr(Table(range(9)))) == ("[7, 1, 5, 3]", "[0, 1, 2, ...]")


def test_an_entry_is_a_symbol_between_the_ends_of_its_table() -> None:
    facts = Facts()
    d = facts.add_digit("#0", 4)
    e = ODD[Coordinate(d, facts)].e
    assert isinstance(e, Poly)
    assert facts.interval(e) == (1, 7)
    assert facts.nonnegative(e - 1)
    assert not facts.nonnegative(e - 2)
    (name,) = names_of(e)
    assert is_digital(name, facts)


def test_equal_places_have_one_entry_and_others_have_their_own() -> None:
    facts = Facts()
    d = facts.add_digit("#0", 8)
    e = facts.add_entry(ODD, d + 1)
    assert facts.add_entry(Table([7, 1, 5, 3]), d + 1) == e
    assert facts.add_entry(ODD, d) != e
    assert facts.add_entry(Table([7, 1, 5, 2]), d + 1) != e
    facts.eliminate("#0", facts.add_digit("#1", 8) + 2)
    assert facts.add_entry(ODD, facts.reduce(d) + 1) == e
    assert facts.add_entry(ODD, 2) == 5
    assert facts.add_entry(Table([4, 4]), d) == 4


def test_a_fork_keeps_its_entries_to_itself_until_they_are_adopted() -> None:
    facts = Facts()
    d = facts.add_digit("#0", 4)
    fork = facts.fork()
    (name,) = names_of(fork.add_entry(ODD, d))
    assert name not in facts.entries
    facts.adopt(fork)
    assert facts.entries[name] == (ODD, d)


def test_an_evaluator_without_tables_says_so() -> None:
    with pytest.raises(InconclusiveError, match=r"without the table \[7, 1, 5, 3\]"):
        ODD[Arithmetic()]
