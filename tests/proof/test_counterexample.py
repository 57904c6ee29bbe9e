"""A witness is a point at which the two sides differ, the first in the order of sizes."""

from __future__ import annotations

import numpy as np

import symlayout as sl
from symlayout.proof.counterexample import Witness, WitnessSearch

X = sl.tensor("N", name="x")


def search(left: sl.Tensor, right: sl.Tensor, budget: int = 100) -> tuple[Witness | None, int, bool]:
    facts = left.facts.fork()
    facts.merge(right.facts)
    return WitnessSearch(left, right, facts, None).run(budget)


def test_a_flip_differs_first_at_two_elements() -> None:
    witness, _, _ = search(sl.flip(X), X)
    assert witness is not None
    assert [(d.name, n) for d, n in witness.dims.items()] == [("N", 2)]
    x = np.arange(2)
    assert sl.interpret(sl.flip(X), x)[witness.coord] != sl.interpret(X, x)[witness.coord]
    assert str(witness) == "N = 2: at (0,) the sides read x[1] and x[0]"


def test_shapes_that_differ_have_no_coordinate() -> None:
    witness, _, _ = search(sl.pad(X, (0, 1)), X)
    assert witness is not None
    assert witness.coord is None
    assert "the shapes are" in str(witness)


def test_sides_that_are_equal_have_no_witness_and_the_budget_ends_the_search() -> None:
    witness, searched, whole = search(sl.flip(sl.flip(X)), X, budget=7)
    assert (witness, searched <= 7, whole) == (None, True, False)


def test_one_size_is_compared_as_a_whole() -> None:
    x = sl.tensor((3,), name="x")
    assert search(sl.roll(x, 3), x) == (None, 1, True)


def test_a_search_goes_on_with_what_its_budget_leaves() -> None:
    n, m = sl.dims("n m")
    x = sl.tensor((n, m), name="x")
    left, right = sl.flip(x, 0), sl.flip(sl.flip(sl.flip(x, 0), 1), 1)
    facts = left.facts.fork()
    facts.merge(right.facts)
    search = WitnessSearch(left, right, facts, None)
    assert search.run(4) == (None, 4, False)
    assert search.run(4) == (None, 4, False)
    assert search.run(9) == (None, 9, False)


def test_a_claim_that_needs_values_told_apart_needs_few_points() -> None:
    x = sl.tensor("n", name="x")
    proof = sl.prove_equal(sl.concatenate(sl.array_split(x, 3)), x)
    assert proof.verdict is sl.Verdict.PROVED
    assert 0 < proof.searched <= 100
