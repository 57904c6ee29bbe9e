"""What the parameters of operations are, by their signatures."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import symlayout as sl
from symlayout.errors import ShapeError
from symlayout.frontends.function_rows import FunctionRow
from symlayout.frontends.parameters import needed_tensors, takes_outputs, takes_tensors
from symlayout.frontends.registry import is_attribute_error


@pytest.mark.parametrize(
    ("title", "roles", "needed"),
    [
        ("onnx:Relu", [True], ["X"]),
        ("onnx:ScatterND", [True, True, True, False], ["data", "indices", "updates", ""]),
        ("onnx:Transpose", [True, False], ["data", ""]),
    ],
)
def test_tensors_are_told_from_attributes(title: str, roles: list[bool], needed: list[str]) -> None:
    found, rest = takes_tensors(title)
    assert (list(found), rest) == (roles, False)
    assert list(needed_tensors(title)) == needed


def test_further_inputs_are_tensors_where_the_operation_takes_any_number() -> None:
    assert takes_tensors("onnx:Max")[1]
    assert "" in needed_tensors("onnx:Max")


def test_some_operations_are_told_how_many_outputs_are_wanted() -> None:
    assert takes_outputs("onnx:Unique")
    assert not takes_outputs("onnx:Relu")


def test_an_attribute_that_an_operation_lacks_is_told_from_other_errors() -> None:
    x = sl.tensor("N, C, H, W", "float32")
    with pytest.raises(sl.ShapeError) as unknown:
        sl.onnx.relu(x, alpha=1)
    assert is_attribute_error(unknown.value)
    with pytest.raises(sl.ShapeError) as other:
        sl.onnx.space_to_depth(x, blocksize=0)
    assert not is_attribute_error(other.value)


def refused(mode: Any) -> None:
    if mode != "numpy":
        raise ShapeError(f"mode is {mode}", "bad_mode")


def test_a_row_is_a_function_with_a_signature() -> None:
    x = sl.tensor("N", "float32", "x")
    row = FunctionRow("Elu", "data", {"alpha": ...})
    made = row.as_function("a.module", "elu", "Return it.", {"mode": ("numpy", refused)})
    assert (made.__module__, made.__name__, made.__doc__) == ("a.module", "elu", "Return it.")
    parameters = inspect.signature(made).parameters
    assert [*parameters] == ["data", "alpha", "mode"]
    assert [p.default for p in parameters.values()] == [inspect.Parameter.empty, inspect.Parameter.empty, "numpy"]
    assert sl.prove_equal(made(x, alpha=1.0), sl.onnx.elu(x, alpha=1.0)).verdict is sl.Verdict.PROVED
    with pytest.raises(TypeError, match="alpha"):
        made(x)
    with pytest.raises(ShapeError, match="mode is pdpd"):
        made(x, 1.0, "pdpd")
