"""Signs that are turned by negations and by factors of 1 and -1: elements are equal bit for bit if the signs agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.cases.turned_signs import multiplies

PROVED = sl.Verdict.PROVED
x, y = sl.tensor("N, 8", name="x", dtype="float32"), sl.tensor("N, 8", name="y", dtype="float32")
table = sl.tensor("8", name="t", dtype="float32")
add, sub, mul, div, neg, relu = (getattr(sl.onnx, op) for op in ("add", "sub", "mul", "div", "neg", "relu"))


def numbers(*values: float) -> Any:
    return sl.constant(np.array(values, np.float32))


def halves(v: Any, first: Any = neg) -> Any:
    """Return the halves of rows in the other order, the first of them negated."""
    return sl.concatenate([first(v[:, 4:]), v[:, :4]], 1)


SIGNS = numbers(-1, -1, -1, -1, 1, 1, 1, 1)
SWAPPED = halves(x, lambda v: v)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (halves(x), mul(SWAPPED, SIGNS)),
        (halves(relu(x)), mul(halves(relu(x), lambda v: v), SIGNS)),
        (mul(halves(x), table), mul(SWAPPED, mul(table, SIGNS))),
        (mul(table, halves(x)), mul(SWAPPED, mul(SIGNS, table))),
        (div(halves(x), table), div(SWAPPED, div(table, SIGNS))),
        (mul(x, numbers(1)), x),
        (div(neg(x), numbers(-1)), x),
        (neg(neg(x)), x),
        (mul(neg(x), neg(y)), mul(x, y)),
        (mul(neg(x), y), mul(x, neg(y))),
    ],
)
def test_signs_that_agree_are_proved(left: Any, right: Any) -> None:
    proof = sl.prove_equal(left, right)
    assert (proof.verdict, proof.laws) == (PROVED, ())


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (halves(x), mul(SWAPPED, numbers(-1, -1, -1, 1, 1, 1, 1, 1))),
        (mul(halves(x), table), mul(SWAPPED, mul(table, numbers(1, 1, 1, 1, -1, -1, -1, -1)))),
        (mul(halves(x), table), mul(x, mul(table, SIGNS))),
        (mul(neg(x), neg(y)), neg(mul(x, y))),
        (mul(x, numbers(2)), x),
        (mul(neg(x), y), mul(y, y)),
    ],
)
def test_signs_that_differ_are_refuted(left: Any, right: Any) -> None:
    assert sl.prove_equal(left, right).verdict is sl.Verdict.REFUTED


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (neg(x), sub(numbers(0), x)),
        (add(x, numbers(0)), x),
        (add(x, numbers(0)), mul(x, numbers(1))),
        (sub(x, numbers(-0.0)), div(x, numbers(1))),
    ],
)
def test_sums_with_zero_are_other_floats(left: Any, right: Any) -> None:
    """At 0 or -0 the signs of both sides differ."""
    at = np.array([[0.0, -0.0] * 4], np.float32)
    bits = [sl.interpret(t, at).tobytes() for t in (left, right)]
    assert bits[0] != bits[1]
    assert sl.prove_equal(left, right, budget=1).verdict is not PROVED
    assert sl.prove_equal(right, left, budget=1).verdict is not PROVED


def test_products_and_quotients_multiply() -> None:
    assert multiplies(mul(x, y).body)
    assert multiplies(div(x, y).body)
    assert not any(multiplies(t.body) for t in (add(x, y), sub(x, y), relu(x), sl.onnx.max(x, y)))
