"""Damaged and hostile files of StableHLO: refused with a typed error, or read as something else, never worse."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import FormatError, MissingPackageError, SymlayoutError
from symlayout.models.formats.stablehlo import mlir_module, mlir_process
from symlayout.models.formats.stablehlo.mlir_module import dense_elements, type_of
from symlayout.models.formats.stablehlo.operations import OPERATIONS, attributes_of
from symlayout.models.formats.stablehlo.regions import fold_names, outputs_of
from symlayout.models.formats.stablehlo.signature import Signature
from symlayout.models.formats.stablehlo.sizes import decided, is_of_sizes
from tests.models.stablehlo.parsed import FOLDER, as_parsed, entries, needs_jaxlib, operations

SOURCE = FOLDER / "dense.jax"


def function(name: str, text: str, kind: str = "3xf32") -> str:
    return f"func.func {name}(%a: tensor<{kind}>) -> tensor<{kind}> {{\n{text}\n}}\n"


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install symlayout\[jax\]"):
        sl.read_model(FOLDER / "dense.mlir")


def test_a_parser_that_ends_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MLIR's parser ends by a signal on some files: a script in its place does so."""
    script = tmp_path / "ends.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setattr(mlir_process, "__file__", str(script))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    with pytest.raises(FormatError, match="ended with status -11"):
        sl.read_model(FOLDER / "dense.mlir")
    script.write_text("import sys\nopen(sys.argv[2] + '/error.txt', 'w').write('line 3: no such thing')\n")
    with pytest.raises(FormatError, match="line 3: no such thing"):
        sl.read_model(FOLDER / "dense.mlir")


def test_artefacts_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "m.jax"
    data = SOURCE.read_bytes()
    for damaged in (b"", b"\0" * 64, data[:40], data[: len(data) // 2], b"\xff" * 300):
        path.write_bytes(damaged)
        with pytest.raises(FormatError):
            sl.read_model(path)


@needs_jaxlib
@pytest.mark.slow
def test_damaged_artefacts_are_refused_or_read(tmp_path: Path) -> None:
    random.seed(5)
    path, data = tmp_path / "m.jax", SOURCE.read_bytes()
    for _ in range(8):
        damaged = bytearray(data)
        for _ in range(4):
            damaged[random.randrange(len(data))] = random.randrange(256)
        path.write_bytes(bytes(damaged))
        try:
            sl.read_model(path)
        except SymlayoutError:
            continue


@needs_jaxlib
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no function main"),
        (function("@main", " return"), "no module of StableHLO"),
        (function("@main", " return %a : tensor<99999999999999999999xf32>", "99999999999999999999xf32"), "dimension"),
        ("module attributes {a = " + "[" * 200_000 + "]" * 200_000 + "} {}", "no module of StableHLO"),
        (function("private @f", " return %a : tensor<3xf32>"), "no function main"),
        (function("@main", " cf.br ^b\n^b:\n return %a : tensor<3xf32>"), "branches"),
    ],
)
def test_texts_are_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(text)
    with pytest.raises(FormatError, match=why):
        sl.read_model(path)


@needs_jaxlib
@pytest.mark.slow
def test_large_constants_are_not_made(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    kind = "tensor<1000000x1000000xbf16>"
    path.write_text(
        f"func.func @main() -> {kind} {{\n %c = stablehlo.constant dense<1.5> : {kind}\n return %c : {kind}\n}}"
    )
    assert [t.shape for t in sl.read_model(path).outputs.values()] == [(1000000, 1000000)]


def test_functions_that_call_themselves_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: dict[str, Any]) -> None:
        for function in module["functions"]:
            for op in function["blocks"][0]["operations"]:
                if op["name"] == "func.call":
                    op["attributes"]["callee"] = {"symbol": "main"}

    as_parsed(monkeypatch, change)
    with pytest.raises(FormatError, match="calls itself"):
        sl.read_model(FOLDER / "dense.mlir")


def test_calls_within_calls_are_counted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: dict[str, Any]) -> None:
        (main,) = [f for f in module["functions"] if f["attributes"]["sym_name"] == "main"]
        call = next(op for op in main["blocks"][0]["operations"] if op["name"] == "func.call")
        for k in range(40):
            twice = json.loads(json.dumps(main))
            twice["attributes"]["sym_name"] = f"f{k}"
            ops = twice["blocks"][0]["operations"]
            ops[:-1] = [{**call, "attributes": {"callee": {"symbol": f"f{k + 1}"}}}] * 2
            module["functions"].append(twice)
        call["attributes"]["callee"] = {"symbol": "f0"}

    as_parsed(monkeypatch, change)
    with pytest.raises(FormatError, match="more than 100000 operations"):
        sl.read_model(FOLDER / "dense.mlir")


def test_what_has_no_row_is_opaque(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: dict[str, Any]) -> None:
        operations(module, "exponential")[0]["name"] = "stablehlo.unheard"

    as_parsed(monkeypatch, change)
    (y,) = sl.read_model(FOLDER / "dense.mlir").outputs.values()
    assert [str(n) for n in y.shape] == ["b", "3"]
    assert "stablehlo:unheard" in {t.body.name for t in y.graph() if t.body is not None}


def test_another_attribute_makes_an_operation_opaque(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: dict[str, Any]) -> None:
        operations(module, "dot_general")[0]["attributes"]["rounds_somehow"] = True

    as_parsed(monkeypatch, change)
    (y,) = sl.read_model(FOLDER / "dense.mlir").outputs.values()
    assert "stablehlo:dot_general" in {t.body.name for t in y.graph() if t.body is not None}


def test_an_assertion_that_never_holds_is_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: dict[str, Any]) -> None:
        compare = operations(module, "compare")[0]
        compare["attributes"]["comparison_direction"] = {"text": "#stablehlo<comparison_direction LT>"}

    as_parsed(monkeypatch, change)
    with pytest.raises(SymlayoutError):
        sl.read_model(FOLDER / "dense.mlir")


def test_types_of_mlir() -> None:
    assert type_of("tensor<f32>").extents == ()
    assert type_of("tensor<?x2xcomplex<f32>>").dtype == np.complex64
    assert type_of("!stablehlo.token").extents is None
    assert type_of("tensor<*xf32>").extents is None
    assert type_of("tensor<3xi3>").dtype is None
    for text in ("tensor<9223372036854775808xf32>", f"tensor<{'1x' * 70}f32>"):
        with pytest.raises(FormatError):
            type_of(text)


def test_elements_as_text() -> None:
    single = np.dtype(np.float32)
    made = dense_elements("dense<[[1.0, 0xFF800000]]> : tensor<1x2xf32>", (1, 2), single)
    assert made is not None
    assert made.tolist() == [[1.0, -np.inf]]
    splat = dense_elements("dense<2.5> : tensor<3xf32>", (3,), single)
    assert splat is not None
    assert splat.tolist() == [2.5] * 3
    assert dense_elements('dense<"0x0000803F"> : tensor<1xf32>', (1,), single) == [1.0]
    pair = dense_elements("dense<(1.0,-2.0)> : tensor<complex<f32>>", (), np.dtype(np.complex64))
    assert pair is not None
    assert pair.item() == 1 - 2j
    for text in ("dense<[1.0, x]> : tensor<2xf32>", "dense<[1.0, 2.0]> : tensor<2x2xf32>", "sparse<1>"):
        assert dense_elements(text, (2, 2), single) is None


def test_regions_have_names() -> None:
    module, elements = entries("best")
    read = mlir_module._Reader(np.frombuffer(elements, np.uint8)).module(module)
    found = [
        fold_names(op.regions[0][0])
        for function in read.functions.values()
        for op in function.block.operations
        if op.name == "stablehlo.reduce"
    ]
    assert (("maximum",) in found, ("add",) in found, None in found) == (True, True, True)
    (extreme,) = [
        op
        for function in read.functions.values()
        for op in function.block.operations
        if op.name == "stablehlo.reduce" and len(op.results) == 2
    ]
    assert outputs_of(extreme.regions[0][0]) is not None


def test_dimension_numbers_of_another_form_are_refused() -> None:
    row = OPERATIONS["stablehlo.gather"]
    with pytest.raises(FormatError):
        attributes_of({"dimension_numbers": {"text": "#other<1>"}}, row, "here")


def test_a_signature_that_does_not_fit_is_left_out() -> None:
    kind = type_of("tensor<?x3xf32>")
    for text in ("b", "b, 4", "2, 3", "b, c", "b; 3", "mod(b, 2), 3", "b, 3" * 40_000):
        leaf = Signature(("x",), {0: text}).leaf(0, kind, "x")
        assert [str(n) for n in leaf.shape] == ["x.0", "3"], text
    assert [str(n) for n in Signature(("x",), {0: "2*b + 1, 3"}).leaf(0, kind, "x").shape] == ["2*b + 1", "3"]


def test_a_known_truth_decides() -> None:
    no, x = np.array(False), sl.tensor("N", name="x")
    assert decided("and", [x, no]) is no
    assert decided("or", [x, no]) is None
    assert decided("select", [no, x, no]) is no
    assert not is_of_sizes([x, no])
