"""Where a function and the chain with its formula part: what is evaluated, and where nothing can be."""

from __future__ import annotations

from typing import Any

import numpy as np

import symlayout as sl
from symlayout.proof.forms.special_values import Formula, parts_at

op: Any = sl.onnx
X = sl.tensor("N, C", "float32", name="x")


def test_both_sides_are_evaluated_at_the_special_values_of_their_operand() -> None:
    floor = op.floor(X)
    added = op.add(floor, sl.constant(np.float32(0)))
    assert parts_at(Formula(floor, floor, ((X, X),))) == ()
    assert parts_at(Formula(floor, added, ((X, X),))) == ("-0.0: -0.0 and 0.0",)
    inner = op.add(op.relu(floor), sl.constant(np.float32(0)))  # of the relu alone, as an operand of both
    assert parts_at(Formula(op.relu(floor), inner, ((floor, floor),))) == ()


def test_sides_that_read_another_value_or_have_no_operand_are_not_evaluated() -> None:
    y = sl.tensor("N, C", "float32", name="y")
    assert parts_at(Formula(op.relu(X), op.add(X, y), ((X, X),))) is None
    assert parts_at(Formula(op.relu(X), op.relu(X), ())) is None
