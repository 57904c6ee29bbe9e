"""OpenVINO's operations that compute: shapes and values are openvino's, and functions are those of ONNX."""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import names
from symlayout.frontends.openvino import along_axes, elementwise, indexing, layers, resampling, windows
from symlayout.frontends.openvino.element_types import of_name
from tests.models.openvino_files import GOOD, write
from tests.openvino_nodes import against_openvino as peer
from tests.openvino_nodes.record import FILE, read

ROWS = json.loads(FILE.read_text(encoding="utf-8"))
ov: Any = sl.openvino
onnx: Any = sl.onnx
N, C, H, W, M = sl.dims("N C H W M", min=1)


def x(*shape: Any, name: str = "x") -> sl.Tensor:
    return sl.tensor(shape, "float32", name=name)


@pytest.mark.parametrize("row", ROWS, ids=[row["case"].partition(" (")[0] for row in ROWS])
def test_a_recorded_model_has_the_shape_and_the_value_of_openvino(tmp_path: Path, row: dict[str, Any]) -> None:
    outputs = sl.read_model(write(tmp_path, row["xml"], base64.b64decode(row["bin"]))).outputs
    inputs = {name: read(array) for name, array in row["inputs"].items()}
    for k, array in enumerate(read(o) for o in row["outputs"]):
        y = outputs[f"y{k}"]
        assert (tuple(y.shape), y.dtype) == (array.shape, array.dtype), row["case"]
        given: dict[str, Any] = {leaf.name: inputs[leaf.name] for leaf in y.arguments()}
        np.testing.assert_allclose(sl.interpret(y, **given), array, rtol=2e-4, atol=2e-4, err_msg=row["case"])


def test_the_recorded_models_have_each_operation_of_the_draws() -> None:
    drawn = {case.op for _, case in peer.cases(3000)}
    assert {row["case"].partition(",")[0] for row in ROWS} >= drawn


@pytest.mark.skipif(importlib.util.find_spec("openvino") is None, reason="openvino is not installed")
def test_random_nodes_have_the_shapes_types_and_values_of_openvino() -> None:
    for number, case in peer.cases(45):
        model = peer.model_of(case)
        expected = None if model is None else peer.theirs(model, case)
        if expected is not None:
            assert peer.difference(case, expected, model) == "", f"{number}: {case}"


_PLAIN = {"strides": [1, 1], "pads_begin": [1, 0], "pads_end": [1, 0], "dilations": [1, 1]}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            lambda: ov.convolution(x(N, C, H, W), x(M, C, 3, 3, name="w"), **_PLAIN),
            lambda: onnx.conv(x(N, C, H, W), x(M, C, 3, 3, name="w"), pads=[1, 0, 1, 0]),
        ),
        (
            lambda: ov.group_convolution(x(N, 4 * C, H), x(4, M, C, 3, name="w"), 1, 0, 0, 1),
            lambda: onnx.conv(x(N, 4 * C, H), sl.reshape(x(4, M, C, 3, name="w"), (4 * M, C, 3)), group=4),
        ),
        (
            lambda: ov.matmul(x(N, H, W), x(M, W, name="y"), transpose_b=True),
            lambda: onnx.matmul(x(N, H, W), sl.transpose(x(M, W, name="y"))),
        ),
        (lambda: ov.clamp(x(N, C), min=0, max=6), lambda: onnx.clip(x(N, C), 0, 6)),
        (lambda: ov.softmax(x(N, C), axis=1), lambda: onnx.softmax(x(N, C))),
        (
            lambda: ov.reduce_mean(x(N, C, H), [-1], keep_dims=True),
            lambda: onnx.reduce_mean(x(N, C, H), axes=[2]),
        ),
        (
            lambda: ov.interpolate(x(N, C, H), [2], [2], mode="linear_onnx", shape_calculation_mode="scales"),
            lambda: onnx.resize(x(N, C, H), scales=[1, 1, 2], mode="linear"),
        ),
        (lambda: ov.swish(x(N)), lambda: onnx.swish(x(N))),
    ],
    ids=["conv", "groups", "matmul", "clamp", "softmax", "mean", "interpolate", "swish"],
)  # fmt: skip
def test_an_operation_is_proved_equal_to_that_of_onnx(left: Any, right: Any) -> None:
    assert sl.prove_equal(left(), right()).verdict is sl.Verdict.PROVED


def test_a_mode_without_a_declaration_is_opaque_in_a_model_and_an_error_in_a_call(tmp_path: Path) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        ov.add(x(N), x(N, name="y"), auto_broadcast="pdpd")
    assert caught.value.kind == "not_declared"
    start, end = GOOD.index('<layer id="4"'), GOOD.index("</layer>", GOOD.index('<layer id="4"')) + len("</layer>")
    layer = """<layer id="4" name="sum" type="Add" version="opset1"><data auto_broadcast="MODE" />
      <input><port id="0" /><port id="1" /></input>
      <output><port id="4" precision="FP32" names="out"><dim>10</dim><dim>2</dim></port></output></layer>"""
    other = GOOD[:start] + layer + GOOD[end:]
    for port in (1, 2, 3):
        line = f'<edge from-layer="{port}" from-port="0" to-layer="4" to-port="{port}" />'
        other = other.replace(
            line, '<edge from-layer="0" from-port="0" to-layer="4" to-port="1" />' if port == 1 else ""
        )
    for mode, declared in (("numpy", True), ("pdpd", False)):
        (y,) = sl.load(write(tmp_path, other.replace("MODE", mode))).values()
        assert y.body is not None
        assert (y.body.function is not None) is declared
        assert y.shape == (10, 2)


def test_every_family_of_operations_is_in_the_catalogue() -> None:
    modules = (along_axes, elementwise, indexing, layers, resampling, windows)
    assert modules == sl.openvino.MODULES
    found = {sl.op(name).__module__ for name in names() if name.startswith("openvino:")}
    assert found >= {module.__name__ for module in modules}


@pytest.mark.parametrize(("name", "kind"), [("bf16", "not_declared"), ("f33", "attr_dtype"), (7, "attr_dtype")])
def test_an_element_type_that_numpy_lacks_is_told_apart_from_none(name: Any, kind: str) -> None:
    assert of_name("destination_type", "f16") == np.float16
    with pytest.raises(sl.ShapeError) as caught:
        of_name("destination_type", name)
    assert caught.value.kind == kind
