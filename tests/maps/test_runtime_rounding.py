"""Which constants depend on the runtime that computes them, and by how much."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.maps.interpreter import interpret
from symlayout.maps.runtime_rounding import depends_on_runtime, has_fractions, largest_of, rounding_of, share_of

X = sl.constant(np.linspace(0.1, 0.9, 9, dtype=np.float32))


@pytest.mark.parametrize(
    ("op", "expected"), [("Sqrt", False), ("Neg", False), ("Exp", True), ("Erf", True), ("Tanh", True)]
)
def test_what_ieee_754_rounds_is_alike_everywhere(op: str, expected: bool) -> None:
    assert depends_on_runtime(sl.op(f"onnx:{op}")(X)) is expected
    assert depends_on_runtime(sl.onnx.add(sl.op(f"onnx:{op}")(X), X)) is expected


def test_a_sum_of_several_terms_depends_on_their_order() -> None:
    assert depends_on_runtime(sl.onnx.reduce_sum(X, axes=[0]))


def test_integers_do_not_depend_on_it() -> None:
    total = sl.onnx.reduce_sum(sl.constant(np.arange(9)), axes=[0])
    assert not depends_on_runtime(total)
    assert not has_fractions(total.dtype)
    assert has_fractions(np.dtype("f2"))
    assert has_fractions(None)


def test_the_rounding_is_a_few_last_bits() -> None:
    y = sl.op("onnx:Exp")(X)
    array = interpret(y)
    step = float(np.spacing(np.float32(array.max())))
    assert step < rounding_of(y, array) < 100 * step
    assert rounding_of(sl.constant(np.arange(3)), np.arange(3)) == 0


def test_a_rounding_is_a_share_of_the_largest_finite_element() -> None:
    values = np.array([1.0, -4.0, np.inf])
    assert largest_of(values) == 4
    assert share_of(values, 0.5) == 0.125
    assert share_of(np.zeros(2), 0.5) == share_of(values, 0.0) == 0
