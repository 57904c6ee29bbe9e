"""What functions of single elements are where an operand is padded with 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.forms.padded_functions import has_each_element, is_finite, is_zero_of, polynomial

op: Any = sl.onnx
X, Y = (sl.tensor("N, C", "float32", name=name) for name in "xy")
READ = (None, None)


@pytest.mark.parametrize(
    ("value", "padded", "zero"),
    [
        (op.mul(X, Y), [0], True),
        (op.mul(X, Y), [1], True),
        (op.add(X, Y), [0], False),
        (op.add(X, Y), [0, 1], True),
        (op.sub(X, Y), [1], False),
    ],
)
def test_a_value_is_zero_if_padded_operands_make_it_so(value: sl.Tensor, padded: list[int], zero: bool) -> None:
    assert is_zero_of(value, padded, READ) is zero


def test_a_constant_beside_a_padded_operand_is_counted() -> None:
    assert is_zero_of(op.add(X, Y), [0], [None, 0.0])
    assert not is_zero_of(op.add(X, Y), [0], [None, 1.0])


def test_sums_and_products_are_polynomials_and_quotients_are_none() -> None:
    found = polynomial(op.mul(X, Y), READ)
    assert found is not None
    assert len(found.terms) == 1
    found = polynomial(op.add(X, Y), READ)
    assert found is not None
    assert len(found.terms) == 2
    assert polynomial(op.div(X, Y), READ) is None
    assert polynomial(op.exp(X), [None]) is None


def test_a_view_is_finite_if_it_reads_finite_constants_alone() -> None:
    finite = op.add(X, np.ones(3, np.float32)).inputs
    assert [is_finite(view) for view in finite] == [False, True]
    assert not is_finite(op.add(X, np.array([1, np.inf, 2], np.float32)).inputs[1])


def test_an_operand_that_is_repeated_has_not_each_element() -> None:
    value = op.add(X, sl.tensor("C", "float32", name="b"))
    assert has_each_element(X)
    assert not has_each_element(value.inputs[1])
