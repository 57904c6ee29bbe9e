"""Local functions of a model, of the model's operation set and of another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper, save

import symlayout as sl
from symlayout import Verdict


def _calling(path: Path, op: str, *, opset: int, model: int = 17, name: str = "F", domain: str = "own") -> Path:
    """Write a model that calls a function of one operation of the version *opset*."""
    node = helper.make_node(op, ["a", "a"] if op == "Add" else ["a"], ["b"])
    function = helper.make_function(domain, name, ["a"], ["b"], [node], [helper.make_opsetid("", opset)])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node(name, ["x"], ["y"], domain=domain)], "graph", [x], [y])
    opsets = [helper.make_opsetid("", model), helper.make_opsetid(domain, 1)]
    save(helper.make_model(graph, functions=[function], opset_imports=opsets), path)
    return path


def test_a_function_of_the_operation_set_of_the_model_is_inlined(tmp_path: Path) -> None:
    model = sl.read_model(_calling(tmp_path / "m.onnx", "Softmax", opset=17))
    assert [node.op_type for node in model.nodes] == ["Softmax"]


@pytest.mark.parametrize(("name", "domain"), [("F", "own"), ("Gelu", "com.microsoft")])
def test_functions_of_another_operation_set_are_equal_to_themselves_only(
    name: str, domain: str, tmp_path: Path
) -> None:
    one, other = (_calling(tmp_path / f"{op}.onnx", op, opset=11, name=name, domain=domain) for op in ("Relu", "Neg"))
    assert sl.verify(one, one, run=False).verdict is Verdict.PROVED
    assert sl.verify(one, other, run=False).verdict is Verdict.UNKNOWN


def test_versions_tell_functions_apart(tmp_path: Path) -> None:
    """Softmax takes one axis since version 13, and all axes from one on before."""
    old, new = (_calling(tmp_path / f"{version}.onnx", "Softmax", opset=version) for version in (11, 17))
    assert sl.verify(old, new, run=False).verdict is Verdict.UNKNOWN


def test_a_function_that_draws_is_not_equal_to_itself(tmp_path: Path) -> None:
    path = _calling(tmp_path / "m.onnx", "Bernoulli", opset=15)
    assert sl.verify(path, path, run=False).verdict is not Verdict.PROVED


def test_a_model_with_a_function_of_another_operation_set_is_optimized(tmp_path: Path) -> None:
    path = _calling(tmp_path / "m.onnx", "Relu", opset=11)
    sl.optimize(path).save(tmp_path / "out.onnx")
    assert sl.verify(path, tmp_path / "out.onnx", run=False).verdict is Verdict.PROVED
