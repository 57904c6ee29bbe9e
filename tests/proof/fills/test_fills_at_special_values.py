"""Fills of operands make the fill of the value bit for bit: of each elementwise operator, at special fills.

The cases are made from the table of operators.  The judge is NumPy: the padded value of the function beside the
function of the padded operand.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.onnx import elementwise
from symlayout.frontends.onnx.operator import snake_case
from symlayout.proof.fills.fills_of_operands import fills_of_operands
from symlayout.tensors.declaration import Fill
from tests.attack.rules import same_bits, specials

pytest.importorskip("ml_dtypes")
DTYPES = ("float32", "float16", "bfloat16", "float64", "int8", "int64", "uint8", "bool")
USED: dict[str, set[str]] = {}


def applied(name: str, dtype: str) -> Iterator[tuple[Any, int]]:
    """Yield an operator of one input and special constants, and the number of the input."""
    row = elementwise.ROWS[name]
    count = len(row.inputs.split())
    given = {"direction": "LEFT"} if "direction" in row.attributes else {}
    attributes: list[dict[str, Any]] = [given]
    if "alpha" in row.attributes:
        attributes += [{"alpha": float(a)} for a in (0.0, -0.0, 0.5, np.inf)]
    for free in range(count):
        x = sl.tensor((3,), dtype, name="x")
        choices = ([None] if k == free else specials(dtype) for k in range(count))
        for constants, values in itertools.product(itertools.islice(itertools.product(*choices), 20), attributes):
            operands = [x if c is None else sl.constant(np.full(3, c)) for c in constants]
            try:
                with np.errstate(all="ignore"):
                    yield getattr(sl.onnx, snake_case(name))(*operands, **values), free
            except (sl.SymlayoutError, TypeError, OverflowError):
                continue


@pytest.mark.parametrize("name", elementwise.ROWS)
def test_a_function_of_the_fills_that_are_found_is_the_fill(name: str) -> None:
    USED[name] = set()
    for dtype in DTYPES:
        x = specials(dtype)
        drawn = x[np.arange(3) % x.size]
        for value, free in applied(name, dtype):
            for fill in specials(value.dtype):
                found = fills_of_operands(value.body, [[v] for v in value.inputs], [Fill(fill.item())], value.dtype)
                if found is None:
                    continue
                (own,) = found[free].values()
                USED[name].add(dtype)
                padded = sl.pad(sl.tensor((3,), dtype, name="x"), 1, constant_values=own.value)
                operands = [padded if k == free else None for k in range(len(value.inputs))]
                for k, v in enumerate(value.inputs):
                    if k != free:
                        (leaf,) = v.leaves()
                        operands[k] = sl.constant(np.full(5, leaf.values.flat[0], leaf.values.dtype))
                inner = getattr(sl.onnx, snake_case(name))(*operands, **dict(value.body.attributes))
                with np.errstate(all="ignore"):
                    made = np.asarray(sl.interpret(inner, drawn))
                    outer = np.asarray(sl.interpret(sl.pad(value, 1, constant_values=fill.item()), drawn))
                assert same_bits(made, outer), (name, dtype, fill, own.value, value.body)


def test_fills_were_found_for_most_operators() -> None:
    for name in ("Relu", "Neg", "Mul"):
        test_a_function_of_the_fills_that_are_found_is_the_fill(name)
        assert {"float32", "bfloat16"} <= USED[name]
