"""Modules of StableHLO: values are those of JAX, equal files of ONNX are proved equal, changed ones are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.models.formats.stablehlo.load_stablehlo import read_stablehlo
from symlayout.models.known_dims import KnownDims
from tests.models.stablehlo.parsed import FOLDER, NAMES, Change, as_parsed, feeds, needs_jaxlib, operations

OPAQUE = {"recurrent": {"stablehlo:while"}}


def check_values(model: sl.Model, name: str) -> None:
    inputs, outputs = feeds(name)
    assert len(model.outputs) == len(outputs)
    for (title, y), expected in zip(model.outputs.items(), outputs, strict=True):
        opaque = {t.body.name for t in y.graph() if t.body is not None and t.body.function is None}
        assert opaque == OPAQUE.get(name, set()), title
        if opaque:
            continue
        leaves = {t.name for t in y.arguments()}
        made = sl.interpret(y, **{n: x for n, x in zip(model.inputs, inputs, strict=True) if n in leaves})
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype), title
        np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-5, err_msg=title)


@pytest.mark.parametrize("name", NAMES)
def test_values_of_a_text_are_those_of_jax(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    as_parsed(monkeypatch)
    check_values(sl.read_model(FOLDER / f"{name}.mlir"), name)


def test_a_count_along_an_axis_of_unknown_extent_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its shape was an attribute, whose dims no operand has, and it was opaque."""
    as_parsed(monkeypatch)
    model = sl.read_model(FOLDER / "best.mlir")
    (node,) = [node for node in model.nodes if node.op_type == "dynamic_iota"]
    assert "stablehlo:iota" not in {t.body.name for t in model.tensors[node.outputs[0]].graph() if t.body is not None}
    assert not model.partial


@needs_jaxlib
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_values_of_an_artefact_are_those_of_jax(name: str) -> None:
    check_values(sl.read_model(FOLDER / f"{name}.jax"), name)


@needs_jaxlib
@pytest.mark.slow
def test_the_text_and_the_artefact_are_one_model() -> None:
    found = sl.verify(FOLDER / "moved.mlir", FOLDER / "moved.jax", by_position=True)
    assert found.verdict is sl.Verdict.PROVED, found.explain()


def test_dims_have_the_names_of_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    as_parsed(monkeypatch)
    model = sl.read_model(FOLDER / "moved.mlir")
    assert [str(t.shape) for t in model.inputs.values()] == ["(b, 2*h, 2*w, 3)"]
    assert [str(t.shape) for t in model.outputs.values()] == ["(b, h + 1, w + 2, 15)"]
    assert model.inputs["arg0"].bounds()[:2] == [(1, None), (2, None)]
    assert sl.read_model(FOLDER / "moved.mlir", dims={"b": 3}).inputs["arg0"].shape[0] == 3
    assert model.format == "StableHLO"


def test_assertions_are_requirements_without_a_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: dict[str, Any]) -> None:
        for op in operations(module, "custom_call"):
            op["attributes"]["error_message"] = "no shapes"

    as_parsed(monkeypatch, change)
    model = read_stablehlo(FOLDER / "convolutional.mlir", KnownDims({}))
    assert [str(n) for n in model.inputs["arg0"].shape] == ["arg0.0", "arg0.1", "arg0.2", "2"]
    assert "arg0.0 >= 1" in [str(r) for r in model.requires]


def test_results_are_values_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their names were not those of any value, and ``symlayout show`` showed no shape."""
    as_parsed(monkeypatch)
    model = sl.read_model(FOLDER / "activated.mlir")
    assert list(model.outputs) == [f"result[{k}]" for k in range(6)]
    for name, y in model.outputs.items():
        assert model.tensors[name] is y
        assert model.producer(name) is not None


def test_a_result_may_be_an_input_or_stand_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: dict[str, Any]) -> None:
        (main,) = [f for f in module["functions"] if f["attributes"]["sym_name"] == "main"]
        block = main["blocks"][0]
        last = block["operations"][-1]
        last["operands"] = [*last["operands"] * 2, block["arguments"][0][0]]

    as_parsed(monkeypatch, change)
    model = sl.read_model(FOLDER / "dense.mlir")
    first, second, same = model.outputs.values()
    assert first is second
    assert same is model.inputs["arg0"]
    assert list(model.outputs) == ["result", "result_1", "result_2"]


def test_a_call_has_the_name_of_its_argument() -> None:
    pytest.importorskip("jaxlib", reason="jaxlib parses MLIR")
    assert list(sl.read_model(FOLDER / "embedded.jax").inputs) == ["ids"]


@pytest.mark.parametrize("name", ["attention", "dense", "moved", "transposed", "upsampled"])
def test_the_file_of_onnx_is_the_same_model(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    as_parsed(monkeypatch)
    found = sl.verify(FOLDER / f"{name}.mlir", FOLDER / f"{name}.onnx", by_position=True, run=False)
    assert found.verdict is sl.Verdict.PROVED, found.explain()


def _other_permutation(module: dict[str, Any]) -> None:
    operations(module, "transpose")[0]["attributes"]["permutation"] = [0, 1, 3, 4, 2, 5]


@pytest.mark.parametrize("change", [_other_permutation])
def test_a_changed_movement_is_refuted(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    as_parsed(monkeypatch, change)
    found = sl.verify(FOLDER / "moved.mlir", FOLDER / "moved.onnx", by_position=True, run=False)
    assert found.verdict is sl.Verdict.REFUTED, found.explain()


def test_the_reader_takes_a_path_and_known_dims(monkeypatch: pytest.MonkeyPatch) -> None:
    as_parsed(monkeypatch)
    model = read_stablehlo(Path(FOLDER / "dense.mlir"), KnownDims({"b": 4}))
    assert [str(t.shape) for t in model.outputs.values()] == ["(4, 3)"]
