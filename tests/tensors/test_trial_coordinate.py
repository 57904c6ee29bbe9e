"""A coordinate without a value: it asks that what it is divided by is at least 1, and nothing else."""

from __future__ import annotations

import pytest

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import symbol
from symlayout.tensors.declaration import Operand
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
