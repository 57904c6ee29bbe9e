"""Shapes of networks that torch, tf2onnx and OpenVINO exported agree with executions by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import symlayout as sl
from tests.models import compare_openvino
from tests.models.compare_shapes import FOLDER, disagreements, is_known, shares
from tests.support.onnx_writer import model, node, tensor, value_info

FEW = ("espcn_dynamic", "focus_dynamic", "keras_unet_dynamic", "resnet_static")


def test_there_are_networks_of_many_kinds() -> None:
    paths = sorted(FOLDER.glob("*.onnx"))
    assert len(paths) >= 25
    assert max(path.stat().st_size for path in FOLDER.iterdir()) < 300_000
    assert len([path for path in paths if path.stem.startswith("keras_")]) == 12
    assert len(list(FOLDER.glob("*.xml"))) >= 20
    assert {path.stem.rpartition("_")[2] for path in paths} >= {"static", "batch", "dynamic", "dynamo"}


@pytest.mark.parametrize("name", FEW)
def test_shapes_are_those_of_an_execution(name: str) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime, which executes the models, is not installed")
    path = FOLDER / f"{name}.onnx"
    m = sl.read_model(path)
    points, wrong = disagreements(m, path)
    assert points == (1 if name.endswith("static") else 5)
    assert wrong == []


@pytest.mark.parametrize("name", ["mobilenet_v10", "resnet_static", "unet_dynamic"])
def test_shapes_of_an_ir_are_those_that_openvino_infers(name: str) -> None:
    pytest.importorskip("openvino", reason="openvino, which infers the shapes, is not installed")
    path = FOLDER / f"{name}.xml"
    m = sl.read_model(path)
    points, wrong = compare_openvino.disagreements(m, path)
    assert points == (1 if name.endswith("static") else 5)
    assert wrong == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.xml")), ids=lambda path: path.stem)
def test_each_dim_of_an_ir_is_known_in_the_dims_of_its_inputs(path: Path) -> None:
    m = sl.read_model(path)
    dims, known = shares(m)
    assert known == dims
    assert {name for node in m.nodes for name in node.outputs} <= m.tensors.keys()


def test_what_counts_as_known() -> None:
    n = sl.dim("N")
    assert is_known(3, set())
    assert is_known(2 * n, {"N"})
    assert not is_known(2 * n, set())


@pytest.mark.parametrize("name", ["keras_recurrent_batch", "keras_recurrent_dynamic"])
def test_how_often_a_loop_runs_is_known_where_it_is_bounded(name: str) -> None:
    m = sl.read_model(FOLDER / f"{name}.onnx")
    rows = next(t for t in m.tensors.values() if str(t.shape[:1]).startswith("(Loop"))
    names = {s.name for t in m.inputs.values() for e in t.shape for s in getattr(e, "free_symbols", ())}
    assert is_known(rows.shape[0], names, rows.facts)
    assert not is_known(rows.shape[0], names)
    assert is_known(rows.shape[0], set(), rows.facts) == (name == "keras_recurrent_batch")  # 9 steps, or a dim of them
    known, dims = shares(m)
    assert known == dims


def test_the_length_of_a_range_and_of_a_filled_value_are_known(tmp_path: Path) -> None:
    nodes = [node("Shape", "x", "s"), node("Gather", "s, one", "n"), node("Range", "zero, n, one", "r"),
             node("ConstantOfShape", "s", "f"), node("Concat", "f, f", "y", axis=0)]  # fmt: skip
    constants = (tensor([1], [], "one"), tensor([0], [], "zero"))
    data = model(nodes, [value_info("x", ("N", "S"))], outputs=("y", "r"), constants=constants)
    (tmp_path / "model.onnx").write_bytes(data)
    m = sl.read_model(tmp_path / "model.onnx")
    assert str(m.outputs["r"].shape) == "(S,)"
    assert str(m.outputs["y"].shape) == "(2*N, S)"
    assert sl.interpret(m.outputs["y"], dims={"N": 2, "S": 3}).tolist() == [[0.0] * 3] * 4
    assert sl.interpret(m.outputs["r"], dims={"S": 3}).tolist() == [0, 1, 2]
    assert shares(m) == (6, 6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_range_of_dims_has_the_element_type_of_its_ends(tmp_path: Path, dtype: Any) -> None:
    """Positions of pixels, as a detector's anchors have them: floats from 0 to an extent."""
    to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [node("Shape", "x", "s"), node("Gather", "s, at", "n"), node("Div", "n, two", "h"),
             node("Cast", "h", "limit", to=to), node("Range", "zero, limit, one", "r"),
             node("Reshape", "r, flat", "c"), node("Add", "c, c", "y")]  # fmt: skip
    constants = [tensor([1], [], "at"), tensor([2], [], "two"), tensor([-1], [1], "flat")]
    constants += [numpy_helper.from_array(np.array(n, dtype), name) for n, name in ((0, "zero"), (1, "one"))]
    data = model(nodes, [value_info("x", ("N", "S"))], outputs=("y", "r"), constants=constants)
    (tmp_path / "model.onnx").write_bytes(data)
    m = sl.read_model(tmp_path / "model.onnx")
    assert str(m.outputs["y"].shape) == "(floor(S/2),)"
    assert m.outputs["r"].dtype == m.outputs["y"].dtype == dtype
    found = sl.interpret(m.outputs["y"], dims={"S": 7})
    assert found.dtype == dtype
    assert found.tolist() == [0, 2, 4]
    assert shares(m)[0] == shares(m)[1]


def test_a_range_from_a_negative_zero_is_not_one_of_integers(tmp_path: Path) -> None:
    nodes = [node("Shape", "x", "s"), node("Gather", "s, at", "n"), node("Cast", "n", "limit", to=TensorProto.FLOAT),
             node("Range", "zero, limit, one", "y")]  # fmt: skip
    constants = [tensor([1], [], "at")]
    constants += [numpy_helper.from_array(np.array(n, np.float32), name) for n, name in ((-0.0, "zero"), (1, "one"))]
    (tmp_path / "model.onnx").write_bytes(model(nodes, [value_info("x", ("N", "S"))], constants=constants))
    assert str(sl.read_model(tmp_path / "model.onnx").outputs["y"].shape) != "(S,)"


def test_requirements_that_both_sides_have_are_stated_once() -> None:
    """A requirement of degree two is not proved by itself, so that it was stated again at each join."""
    target = sl.dims("p q r")
    x, y = (sl.broadcast_to(sl.tensor(f"{a}, {b}, k", name=a), target) for a, b in ("ab", "cd"))
    for _ in range(4):
        x = sl.concatenate([x, y], axis=1)
        y = sl.concatenate([y, x], axis=1)
    assert len(x.facts.requirements) == 10


def test_a_shape_is_joined_with_one_that_is_empty(tmp_path: Path) -> None:
    nodes = [node("Concat", "none, minus", "s", axis=0), node("Reshape", "x, s", "y")]
    constants = (tensor([], name="none"), tensor([-1], name="minus"))
    (tmp_path / "model.onnx").write_bytes(model(nodes, [value_info("x", ("N", "S"))], constants=constants))
    assert str(sl.load(tmp_path / "model.onnx")["y"].shape) == "(N*S,)"
