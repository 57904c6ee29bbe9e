"""The law `half`: a model in half precision is the model that it came from, up to the rounding of casts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.forms.half_precision import half_types, without_half

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED
HALF = ("half",)
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}


def model(path: Path, kind: str = "float32", wrong: str = "", *, casts: bool = True) -> Path:
    """Write a small network with weights of a kind; with casts at both ends unless these are of its kind, too."""
    random = np.random.default_rng(0)
    weights = {
        "gain": random.normal(size=8),
        "first": random.normal(scale=0.3, size=(8, 8)),
        "bias": random.normal(size=8),
        "second": random.normal(scale=0.3, size=(8, 4)),
    }
    if wrong == "order":
        weights["first"] = weights["first"][::-1]
    if wrong == "scale":
        weights["first"] = weights["first"] * 1.01
    if wrong == "axis":
        weights["first"] = weights["first"].T
    dtype = onnx.helper.tensor_dtype_to_np_dtype(TYPES[kind])
    constants = [numpy_helper.from_array(v.astype(np.float32).astype(dtype), name) for name, v in weights.items()]
    inner = casts and kind != "float32"
    nodes = [helper.make_node("Cast", ["x"], ["x_half"], to=TYPES[kind])] if inner else []
    nodes += [
        helper.make_node("LayerNormalization", ["x_half" if inner else "x", "gain"], ["n"]),
        helper.make_node("MatMul", ["n", "first"], ["m"]),
        helper.make_node("Add", ["m", "bias"], ["a"]),
        helper.make_node("Gelu" if wrong == "function" else "Relu", ["a"], ["r"]),
        helper.make_node("MatMul", ["r", "second"], ["o"]),
        helper.make_node("Softmax", ["o"], ["y_half" if inner else "y"], axis=1 if wrong == "softmax" else -1),
    ]
    nodes += [helper.make_node("Cast", ["y_half"], ["y"], to=TensorProto.FLOAT)] if inner else []
    end = TensorProto.FLOAT if casts else TYPES[kind]
    ends = [helper.make_tensor_value_info(name, end, shape) for name, shape in (("x", ["N", "S", 8]), ("y", None))]
    graph = helper.make_graph(nodes, "half", ends[:1], ends[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


@pytest.mark.parametrize(("first", "second", "verdict"), [(7e4, 8e4, "UNKNOWN"), (6.5e4, 6.5001e4, "PROVED")])
def test_constants_that_half_precision_does_not_hold_stay_what_they_are(
    first: float, second: float, verdict: str
) -> None:
    x = sl.tensor("N", dtype="float32", name="x")
    there = sl.onnx.cast(sl.onnx.cast(x, to=TensorProto.FLOAT16), to=TensorProto.FLOAT)
    sides = [sl.onnx.mul(t, np.float32(number)) for t, number in ((x, first), (there, second))]
    found = sl.prove_equal(*sides, laws=HALF).verdict
    assert (found is PROVED) is (verdict == "PROVED")


@pytest.mark.parametrize(("kind", "casts"), [("float16", True), ("float16", False), ("bfloat16", True)])
def test_a_model_in_half_precision_is_the_one_it_came_from(kind: str, casts: bool, tmp_path: Path) -> None:
    before, after = model(tmp_path / "before.onnx"), model(tmp_path / "after.onnx", kind, casts=casts)
    assert sl.verify(before, after).verdict is REFUTED  # not bit for bit
    found = sl.verify(before, after, laws=HALF)
    assert found.verdict is PROVED
    assert found.laws == HALF
    assert 0 < found.differences["y"][1] < (5e-3 if kind == "float16" else 5e-2)
    assert "at sampled inputs, y differs by" in str(found)


def test_its_certificate_is_checked(tmp_path: Path) -> None:
    before, after = model(tmp_path / "before.onnx"), model(tmp_path / "after.onnx", "float16")
    certificate = json.loads(json.dumps(sl.verify(before, after, laws=HALF).certificate))
    assert sl.check(certificate, before=before, after=after)
    assert not sl.check({**certificate, "laws": []}, before=before, after=after)


@pytest.mark.parametrize("wrong", ["order", "scale", "axis", "function", "softmax"])
def test_mistakes_that_keep_shapes_are_refuted(wrong: str, tmp_path: Path) -> None:
    before, after = model(tmp_path / "before.onnx"), model(tmp_path / "after.onnx", "float16", wrong)
    assert sl.verify(before, after, laws=HALF).verdict is REFUTED


def test_onnxruntime_differs_by_the_measured_order(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    files = model(tmp_path / "before.onnx"), model(tmp_path / "after.onnx", "float16")
    x = np.random.default_rng(1).normal(size=(2, 3, 8)).astype(np.float32)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    one, other = (
        runtime.InferenceSession(str(path), options, ["CPUExecutionProvider"]).run(None, {"x": x})[0] for path in files
    )
    assert 0 < np.abs(one - other).max() < 5e-3


def test_float32_models_gain_nothing_by_the_law(tmp_path: Path) -> None:
    before = model(tmp_path / "before.onnx")
    changed = onnx.load(before)
    for t in changed.graph.initializer:
        array: Any = numpy_helper.to_array(t)
        t.CopyFrom(numpy_helper.from_array(np.nextafter(array, np.float32(9)), t.name))
    onnx.save(changed, tmp_path / "after.onnx")
    found = sl.verify(before, tmp_path / "after.onnx", laws=HALF, budget=50, run=False, advise=False)
    assert found.verdict is not PROVED


def test_values_in_half_precision_become_single() -> None:
    x = sl.tensor("N", dtype="float16", name="x")
    y = sl.onnx.cast(sl.onnx.add(x, np.float16(0.1)), to=TensorProto.FLOAT)
    assert half_types([y]) == {np.dtype(np.float16)}
    ((made,),) = [side.values() for side in without_half([{"y": y}])]
    assert not half_types([made])
    assert [node.body.name for node in made.graph() if node.body] == ["Add"]
