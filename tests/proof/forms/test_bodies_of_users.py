"""Functions that users declare are compared by what they compute: nothing of them is lost in a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.laws import LAWS

op: Any = sl.onnx
X, Y = (sl.tensor("N", "float32", name=name) for name in "xy")
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a conversion to integers": lambda x, y: x.astype(np.int8).astype(np.float32) * y,
    "a conversion to a narrow type": lambda x, y: x.astype(np.float16).astype(np.float32) * y,
    "an element that is compared with 0": lambda x, y: np.where(x == 0, np.float32(5), x) * y,
    "an element that is not 0": lambda x, y: np.where(x != 0, x, np.float32(5)) * y,
    "the larger element": lambda x, y: x if np.isscalar(x) and x else x * y + 0 * (x == 0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_does_more_than_a_product_is_no_product(name: str) -> None:
    mine = sl.compute(sl.Body("mine", FUNCTIONS[name]), [X, Y], batch=1, dtype="float32")
    for laws in ((), LAWS):
        assert sl.prove_equal(mine, op.mul(X, Y), laws=laws, budget=5).verdict is not sl.Verdict.PROVED
    same = sl.compute(sl.Body("other", lambda x, y: x * y), [X, Y], batch=1, dtype="float32")
    assert sl.prove_equal(same, op.mul(X, Y)).verdict is sl.Verdict.PROVED


def test_a_formula_says_at_which_special_values_it_parts() -> None:
    """Of an infinite x and of y = 0, x * (y + 1) is infinite, and x * y + x is NaN."""
    spread = sl.compute(sl.Body("Spread", lambda x, y: x * (y + 1)), [X, Y], batch=1, dtype="float32")
    chain = op.add(op.mul(X, Y), X)
    values = np.array([np.inf], np.float32), np.array([0], np.float32)
    with np.errstate(all="ignore"):
        found = [float(sl.interpret(t, *values)[0]) for t in (spread, chain)]
    assert (found[0], np.isnan(found[1])) == (np.inf, True)
    proof = sl.prove_equal(spread, chain)
    assert (proof.verdict, proof.formulas, proof.laws) == (sl.Verdict.PROVED, ("Spread",), ())
    assert "equal by formula: Spread (rounding may differ)" in proof.explain()
    assert "Spread: part at" in proof.explain()
    assert "inf, 0.0: inf and nan" in proof.explain()


def test_a_formula_that_parts_nowhere_says_so() -> None:
    one = sl.constant(np.float32(1))
    proof = sl.prove_equal(op.softsign(X), op.div(X, op.add(one, op.abs(X))))
    assert (proof.verdict, proof.formulas) == (sl.Verdict.PROVED, ("Softsign",))
    assert "part at" not in proof.explain()
