"""The cases of a decision cover every coordinate, and at each of them both sides read the same element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symlayout as sl
from symlayout.algebra.polynomial import evaluate, names_of
from symlayout.proof.cases.case_tree import Agreed, Masked, Split, Tree
from symlayout.proof.cases.compare_reads import ReadDecision
from symlayout.proof.compare_computed import Decision, Setting
from symlayout.proof.congruence import Congruence
from symlayout.tensors.chain import Tensor


def decision(left: Tensor, right: Tensor) -> ReadDecision:
    facts = left.facts.fork()
    setting = Setting(shown=True, finite=True, congruence=Congruence(facts, 10**5))
    return Decision((left, right), None, setting, 10**5)


def tree_of(left: Tensor, right: Tensor) -> Tree:
    facts = left.facts.fork()
    facts.merge(right.facts)
    facts.splits = {}
    return decision(left, right).decide(facts, None)


def leaf_at(tree: Tree, values: dict[str, int]) -> Tree:
    """Return the leaf of a tree of splits in whose branch a point lies."""
    while isinstance(tree, Split):
        tree = tree.yes if evaluate(tree.value, values) >= 0 else tree.no
    return tree


def test_each_point_lies_in_a_case_that_names_the_pieces_read_there() -> None:
    x, z = sl.tensor("3", name="x"), sl.tensor("4", name="z")
    left = sl.concatenate([x, z])
    right = sl.flip(sl.concatenate([sl.flip(z), sl.flip(x)]))
    tree = tree_of(left, right)
    assert isinstance(tree, Split)
    (digit,) = names_of(tree.value)
    for i in range(7):
        leaf = leaf_at(tree, {digit: i})
        assert isinstance(leaf, Agreed)
        assert [[case for case, _ in path] for path in leaf.paths] == [[int(i >= 3)], [0, int(i < 3), 0]]


def test_where_all_fills_are_equal_two_branches_suffice() -> None:
    x = sl.tensor("H, W", name="x")
    tree = tree_of(sl.pad(sl.flip(x, 0), ((1, 1), (0, 2))), sl.flip(sl.pad(x, ((1, 1), (0, 2))), 0))
    assert isinstance(tree, Masked)
    assert all(isinstance(side, Agreed) for side in (tree.left, tree.right))


def test_fills_of_other_bits_are_no_agreement() -> None:
    x = sl.tensor("H", dtype="float32", name="x")
    left, right = (sl.pad(x, ((1, 0),), constant_values=c) for c in (0.0, -0.0))
    facts = left.facts.fork()
    facts.splits = {}
    setting = Setting(shown=True, finite=True, congruence=Congruence(facts, 10**5))
    with pytest.raises(sl.InconclusiveError, match=r"the fills 0\.0 and -0\.0 are equal"):
        Decision((left, right), np.dtype(np.float32), setting, 10**5).decide(facts, None)


@pytest.mark.parametrize("sizes", list(itertools.product(range(1, 4), repeat=2)), ids=str)
def test_what_is_decided_is_what_numpy_says(sizes: tuple[int, int]) -> None:
    """A reshape of a transpose is the reshape only where one side has one element."""
    h, w = sizes
    x = sl.tensor(sizes, name="x")
    array = np.arange(h * w).reshape(sizes)
    equal = np.array_equal(array.T.reshape(-1), array.reshape(-1))
    left, right = sl.reshape(sl.transpose(x), (h * w,)), sl.reshape(x, (h * w,))
    if equal:
        tree_of(left, right)
    else:
        with pytest.raises(sl.InconclusiveError):
            tree_of(left, right)
