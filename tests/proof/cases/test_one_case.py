"""An operation is shown to be a map: at each coordinate exactly one case holds, and it reads inside its source."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.declare import Case, Declared, Operand, index_map
from symlayout.proof.cases.case_tree import Chosen, Split, Tree
from symlayout.proof.cases.one_case import show_map
from symlayout.tensors.apply_operation import operation
from symlayout.tensors.chain import Tensor


def leaves(tree: Tree) -> list[int]:
    """Return the numbers of the cases that hold in the branches."""
    if isinstance(tree, Split):
        return [*leaves(tree.yes), *leaves(tree.no)]
    return [tree.number] if isinstance(tree, Chosen) else []


def shown(y: Tensor) -> Tree:
    return show_map(y, y.facts.fork(), effort=1000)


def test_two_parts_that_are_joined_are_two_cases() -> None:
    y = sl.concatenate([sl.tensor("H", name="x"), sl.tensor("W", name="z")])
    tree = shown(y)
    assert isinstance(tree, Split)
    assert sorted(set(leaves(tree))) == [0, 1]


@operation
def shifted(x: Operand, by: int) -> Declared:
    """Return *x* read *by* places later, which is outside of it at the end."""
    return index_map(x.shape, lambda i: [i + by])


@operation
def covered(x: Operand, first: int, second: int) -> Declared:
    """Return *x* in two cases: those below *first*, and those from *second* on."""

    def case(value: Any, extent: Any) -> Case:
        return Case(lambda i: [i], where=lambda i: [(value(i), extent)])

    n = x.shape[0]
    return Declared(x.shape, (case(lambda i: i, first), case(lambda i: i - second, n - second)))


def test_a_read_outside_of_the_source_is_not_shown() -> None:
    x = sl.tensor((sl.dim("H", min=1),), name="x")
    assert leaves(shown(shifted(x, 0))) == [0]
    with pytest.raises(sl.InconclusiveError, match="shifted reads inside its input"):
        shown(shifted(x, 1))


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 2)], ids=["no case holds", "two cases hold"])
def test_cases_that_leave_a_gap_or_overlap_are_not_shown(first: int, second: int) -> None:
    x = sl.tensor((sl.dim("H", min=5),), name="x")
    assert sorted(set(leaves(shown(covered(x, 2, 2))))) == [0, 1]
    with pytest.raises(sl.InconclusiveError, match="one case of covered holds, and no other"):
        shown(covered(x, first, second))
