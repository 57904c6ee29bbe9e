"""Local functions of a model, of the model's operation set and of another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, ValueInfoProto, helper, load, save

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
def test_a_function_of_another_operation_set_is_what_its_body_computes(name: str, domain: str, tmp_path: Path) -> None:
    one, other = (_calling(tmp_path / f"{op}.onnx", op, opset=11, name=name, domain=domain) for op in ("Relu", "Neg"))
    plain = _calling(tmp_path / "plain.onnx", "Relu", opset=17)
    assert sl.verify(one, plain, run=False).verdict is Verdict.PROVED
    assert sl.verify(one, other, run=False).verdict is Verdict.REFUTED


def test_a_body_has_the_operations_of_its_own_version(tmp_path: Path) -> None:
    """Softmax takes one axis since version 13, and all axes from one on before."""
    old, new = (_calling(tmp_path / f"{version}.onnx", "Softmax", opset=version) for version in (11, 17))
    assert [node.version for path in (old, new) for node in sl.read_model(path).nodes] == [11, 17]
    assert sl.verify(old, new, run=False).verdict is not Verdict.PROVED
    assert sl.verify(old, old, run=False).verdict is Verdict.PROVED


def test_a_subgraph_of_a_body_has_the_version_of_the_body(tmp_path: Path) -> None:
    """The axes of Unsqueeze are an attribute before version 13."""
    sides = {
        side: helper.make_graph(
            [helper.make_node("Unsqueeze", ["a"], [side], axes=[0])], side, [], [ValueInfoProto(name=side)]
        )
        for side in ("then_branch", "else_branch")
    }
    truth = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    body = [truth, helper.make_node("If", ["c"], ["b"], **sides)]
    function = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", 11)])
    graph = helper.make_graph(
        [helper.make_node("F", ["x"], ["y"], domain="own")],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [ValueInfoProto(name="y")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    path = tmp_path / "m.onnx"
    save(helper.make_model(graph, functions=[function], opset_imports=opsets), path)
    assert str(sl.read_model(path).outputs["y"].shape) == "(1, N, 3)"
    assert sl.verify(path, path, run=False).verdict is Verdict.PROVED


def test_a_model_may_leave_the_operation_set_to_its_functions(tmp_path: Path) -> None:
    path = _calling(tmp_path / "m.onnx", "Softmax", opset=12)
    model = load(path)
    del model.opset_import[0]
    save(model, path)
    assert [node.version for node in sl.read_model(path).nodes] == [12]


def test_a_function_of_an_unknown_version_is_refused(tmp_path: Path) -> None:
    path = _calling(tmp_path / "m.onnx", "Relu", opset=99)
    with pytest.raises(sl.FormatError, match="function 'F' is of opset 99, which is not known"):
        sl.read_model(path)


def test_a_function_that_draws_is_not_equal_to_itself(tmp_path: Path) -> None:
    path = _calling(tmp_path / "m.onnx", "Bernoulli", opset=15)
    assert sl.verify(path, path, run=False).verdict is not Verdict.PROVED


def test_a_model_with_a_function_of_another_operation_set_is_optimized(tmp_path: Path) -> None:
    path = _calling(tmp_path / "m.onnx", "Relu", opset=11)
    sl.optimize(path).save(tmp_path / "out.onnx")
    assert sl.verify(path, tmp_path / "out.onnx", run=False).verdict is Verdict.PROVED
