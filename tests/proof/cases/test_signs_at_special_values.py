"""A sign that is turned is the sign bit alone: of each elementwise operator, at special values.

The cases are made from the table of operators.  What is proved without a law is evaluated with NumPy.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.onnx import elementwise
from symlayout.frontends.onnx.operator import snake_case
from symlayout.proof.cases.turned_signs import multiplies
from tests.attack.rules import same_bits, specials

pytest.importorskip("ml_dtypes")
op: Any = sl.onnx
FLOATS = ("float32", "float16", "bfloat16", "float64")
ONE = {name: row for name, row in elementwise.ROWS.items() if len(row.inputs.split()) == 1}
TWO = {name: row for name, row in elementwise.ROWS.items() if len(row.inputs.split()) == 2}
FACTORS = (1.0, -1.0, 0.0, -0.0, 2.0, np.inf, np.nan)


def proved(left: Any, right: Any) -> bool:
    try:
        found = sl.prove_equal(left, right, budget=0)
    except sl.SymlayoutError:
        return False
    return found.verdict is sl.Verdict.PROVED and not found.formulas


def values(t: Any, **arrays: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(sl.interpret(t, **arrays))


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_an_operand_or_its_negative_has_its_bits(dtype: str) -> None:
    turned = set()
    x = sl.tensor("N", dtype, name="x")
    data = specials(dtype)
    for name, row in elementwise.ROWS.items():
        function = getattr(op, snake_case(name))
        constants = [()] if name in ONE else [(c,) for c in FACTORS] if name in TWO else []
        for given, first in itertools.product(constants, (True, False)):
            others = [sl.constant(np.array(c, dtype)) for c in given]
            if "direction" in row.attributes:
                continue
            try:
                with np.errstate(all="ignore"):
                    made = function(*(x, *others) if first else (*others, x))
            except (sl.SymlayoutError, TypeError):
                continue
            for right in (x, op.neg(x)):
                if made.dtype == right.dtype and proved(made, right):
                    turned.add(name)
                    assert same_bits(values(made, x=data), values(right, x=data)), (name, given, first)
    assert {"Neg"} | ({"Mul", "Div"} if dtype != "bfloat16" else set()) <= turned


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_product_takes_the_sign_of_either_factor(dtype: str) -> None:
    """Also of functions that are no products: what is proved of them has to hold."""
    held = set()
    x, y = (sl.tensor("N", dtype, name=name) for name in "xy")
    a, b = (t.ravel() for t in np.meshgrid(specials(dtype), specials(dtype)))
    for name, row in TWO.items():
        function = getattr(op, snake_case(name))
        if "direction" in row.attributes or name.startswith("Bit"):
            continue
        try:
            plain = function(x, y)
            forms = [function(op.neg(x), y), function(x, op.neg(y)), function(y, op.neg(x))]
            forms += [op.neg(plain)] if plain.dtype == x.dtype else []
        except sl.SymlayoutError:
            continue
        for left, right in itertools.combinations([*forms, plain], 2):
            if left.dtype == right.dtype and proved(left, right):
                held.add(name)
                assert same_bits(values(left, x=a, y=b), values(right, x=a, y=b)), (name, left, right)
        assert (name in ("Mul", "Div")) == multiplies(plain.body)
    assert {"Mul", "Div"} <= held or dtype == "bfloat16"
