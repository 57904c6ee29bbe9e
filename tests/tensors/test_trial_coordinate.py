"""A coordinate without a value: it asks that what it is divided by is at least 1, and nothing else."""

from __future__ import annotations

import pytest

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import symbol
from symlayout.tensors.declaration import Declared, Operand, index_map
from symlayout.tensors.trial_coordinate import TrialCoordinate


def test_only_divisors_are_required() -> None:
    operand = Operand((), Facts(), "an operation")
    operand.facts.declare(sl.dim("m").record)
    i, m = TrialCoordinate(operand), symbol("m")
    for e in (i + m, m - i, 3 * i, -i, i**2, i // 2, i % i, 5 % i, m // i):
        assert isinstance(e, TrialCoordinate)
    assert operand.facts.requirements == []
    divmod(i + 1, m)
    assert [str(r) for r in operand.facts.requirements] == ["m - 1 >= 0"]
    with pytest.raises(sl.ShapeError, match="the divisor 0 is not positive"):
        i % 0


def test_a_declared_extent_is_not_negative() -> None:
    @sl.operation
    def shorter(x: Operand, by: object) -> Declared:
        (n,) = x.shape
        return index_map((n - x.extent(by, "by"),), lambda i: (i,))

    assert [str(r) for r in shorter(sl.tensor("N"), 3).requires] == ["N >= 3"]
    with pytest.raises(sl.ShapeError, match="extent -1 of axis 0 is negative"):
        shorter(sl.tensor((2,)), 3)
    with pytest.raises(sl.ShapeError, match="extent -2 of axis 0 is negative"):
        shorter(sl.tensor("N"), 3).subs({"N": 1})


def test_a_declaration_that_divides_by_0_is_a_typed_error() -> None:
    @sl.operation
    def few(x: Operand, m: object) -> Declared:
        return index_map((1 % x.extent(m, "m"),), lambda i: (i,))

    assert [str(r) for r in few(sl.tensor("N"), sl.dim("m")).requires] == ["m >= 1"]
    with pytest.raises(sl.ShapeError, match="the declaration divides by 0") as caught:
        few(sl.tensor("N"), 0)
    assert caught.value.kind == "non_divisible"
