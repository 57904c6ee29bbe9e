"""Regions as functions of the model with a C kernel each: what they compute, in C and in onnxruntime."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

import symlayout as sl
from symlayout.errors import FormatError
from symlayout.optimize_models.kernel_functions import DOMAIN, kernels_of
from symlayout.optimize_models.optimize_model import OptimizedModel
from tests.equivalence.unoptimized_onnxruntime import outputs

ROLL = """<ir_version: 8, opset_import: ["": 17]>
roll (float[N,H,W,3] x) => (float[N,A,B,C,D,E] y) <
    int64[1] one = {1}, int64[1] two = {2}, int64[1] from = {0}, int64[1] last = {9223372036854775807},
    int64[1] axis = {1}, int64[1] three = {3}
> {
    e = Exp(x)
    b = Slice(e, one, last, axis)
    a = Slice(e, from, one, axis)
    r = Concat<axis = 1>(b, a)
    s = Shape(e)
    n = Slice(s, from, one, from)
    h = Slice(s, one, two, from)
    w = Slice(s, two, three, from)
    hh = Div(h, two)
    ww = Div(w, two)
    t = Concat<axis = 0>(n, hh, two, ww, two, three)
    v = Reshape(r, t)
    u = Transpose<perm = [0, 1, 3, 2, 4, 5]>(v)
    y = Exp(u)
}"""
"""Windows of a picture that is rolled by one row, as in Swin; the sizes are computed."""
PADDED = """<ir_version: 6, opset_import: ["": 13]>
padded (int32[K,3] x, int32[K,3] z) => (int32[4,A] y) <
    int64[4] pads = {0, 0, 0, 1}, int32 value = {7}
> {
    e = Abs(x)
    f = Abs(z)
    p = Pad(e, pads, value)
    q = Pad(f, pads, value)
    c = Concat<axis = 0>(p, q)
    t = Transpose<perm = [1, 0]>(c)
    y = Neg(t)
}"""
"""Two inputs, a fill, and an extent that is twice a dim; its version of the format has no functions."""
SINGLE = """<ir_version: 8, opset_import: ["": 17]>
single (float[N,M] x) => (float[M,N] y) {
    e = Exp(x)
    t = Transpose(e)
    y = Exp(t)
}"""
SIZES: dict[str, list[tuple[tuple[int, ...], ...]]] = {
    "roll": [((2, 4, 6, 3),), ((1, 2, 2, 3),), ((0, 4, 4, 3),)],
    "padded": [((2, 3), (2, 3)), ((10, 3), (10, 3)), ((0, 3), (0, 3))],
}
REFUSED: dict[str, tuple[tuple[int, ...], ...]] = {"roll": ((2, 5, 6, 3),), "padded": ((4, 3), (2, 3))}
TEXTS = {"roll": ROLL, "padded": PADDED}
NAMES = sorted(TEXTS)


def made(name: str, folder: Path) -> tuple[OptimizedModel, Path, Path]:
    """Return a model with kernels, and its file before and after."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    model = parser.parse_model(TEXTS[name])
    for value in model.graph.input:
        if value.type.tensor_type.shape.dim[0].dim_param == "K":
            value.type.tensor_type.shape.dim[0].dim_param = "2*k"
    onnx.save(model, before)
    o = sl.optimize(before, kernels=True)
    o.save(after)
    return o, before, after


def written(files: dict[str, str], folder: Path) -> Path:
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, "ascii")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_one_function_takes_the_place_of_a_region(name: str, tmp_path: Path) -> None:
    o, before, after = made(name, tmp_path)
    assert sum(node.domain == DOMAIN for node in o.source.graph.node) == 1
    assert sl.verify(before, after).verdict is sl.Verdict.PROVED
    assert o.report.after.typical() < o.report.before.typical()
    (change,) = [c for c in o.report.changes if c.rule == "kernel"]
    assert change.accepted
    assert all(p.verdict is sl.Verdict.PROVED for each in change.rewritten for p in each.proofs)
    onnx.checker.check_model(onnx.load(after), full_check=True)
    again = sl.optimize(after, kernels=True)
    assert again.source.SerializeToString() == after.read_bytes()
    assert again.kernel_files() == o.kernel_files()
    assert sl.optimize(after).source.SerializeToString() == after.read_bytes()


@pytest.mark.slow
def test_kernels_are_off_by_default_and_single_operations_stay(tmp_path: Path) -> None:
    before = tmp_path / "before.onnx"
    onnx.save(parser.parse_model(ROLL), before)
    assert not sl.optimize(before).source.functions
    onnx.save(parser.parse_model(SINGLE), before)
    o = sl.optimize(before, kernels=True)
    assert not o.source.functions
    assert o.kernel_files() == {}


class Bound(ctypes.Structure):
    """One row of the table of kernels: see `symlayout_moves_bound.h`."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("inputs", ctypes.c_int32), ("dims", ctypes.c_int32),
        ("ranks", ctypes.POINTER(ctypes.c_int32)), ("types", ctypes.POINTER(ctypes.c_int32)),
        ("bind", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
        ("call", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
    )  # fmt: skip


def called(row: Any, arrays: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | int:
    """Return what a kernel makes of arrays whose shapes tell its dims, or the status that it returns."""
    shapes = [np.array(a.shape, np.int64) for a in arrays]
    pointers = (ctypes.c_void_p * len(arrays))(*(s.ctypes.data for s in shapes))
    data = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    dims, shape = np.zeros(row.dims + 1, np.int64), np.zeros(row.ranks[row.inputs], np.int64)
    if status := int(row.bind(pointers, dims.ctypes.data, shape.ctypes.data)):
        return status
    out = np.empty(shape, arrays[0].dtype)
    status = int(row.call(dims.ctypes.data, data, out.ctypes.data))
    return status or out


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_c_computes_what_the_interpreter_does(name: str, tmp_path: Path) -> None:
    o, *_ = made(name, tmp_path)
    (kernel,) = kernels_of(o)
    folder = written(o.kernel_files(), tmp_path / "c")
    warnings = ["all", "extra", "conversion", "sign-conversion", "shadow", "pedantic", "error"]
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", *(f"-W{w}" for w in warnings)]
    sources = [file.name for file in folder.glob("*.c")]
    subprocess.run([os.environ.get("CC", "gcc"), *flags, *sources, "-o", "moves.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "moves.so"))
    assert ctypes.c_int32.in_dll(library, "symlayout_moves_count").value == 1
    row = Bound.in_dll(library, "symlayout_moves_bound")
    assert row.name.decode() == kernel.name
    random = np.random.default_rng(0)
    dtype = np.dtype(kernel.tensor.dtype)
    for shapes in SIZES[name]:
        arrays = [random.integers(0, 99, shape).astype(dtype) for shape in shapes]
        expected = sl.interpret(kernel.tensor, *(arrays[k] for k in kernel.arguments))
        np.testing.assert_array_equal(called(row, arrays), expected)
    assert isinstance(called(row, [np.zeros(shape, dtype) for shape in REFUSED[name]]), int)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_runs_the_bodies_without_the_kernels(name: str, tmp_path: Path) -> None:
    _, before, after = made(name, tmp_path)
    random = np.random.default_rng(1)
    for shapes in SIZES[name]:
        arrays = {key: _array(random, shape, name) for key, shape in zip("xz", shapes, strict=False)}
        np.testing.assert_array_equal(outputs(before, arrays)[0], outputs(after, arrays)[0])


def _array(random: np.random.Generator, shape: tuple[int, ...], name: str) -> np.ndarray[Any, Any]:
    return random.integers(0, 9, shape).astype(np.float32 if name == "roll" else np.int32)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_runs_the_kernels(name: str, tmp_path: Path) -> None:
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    header = os.environ.get("ONNXRUNTIME_INCLUDE_DIR")
    if header is None or not shutil.which("cmake"):
        pytest.skip("ONNXRUNTIME_INCLUDE_DIR does not say where onnxruntime_c_api.h is, or there is no cmake")
    o, before, after = made(name, tmp_path)
    source = written(o.kernel_files(), tmp_path / "c") / "onnxruntime"
    flags = ["-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Werror", f"-DONNXRUNTIME_INCLUDE_DIR={header}"]
    subprocess.run(["cmake", "-S", source, "-B", tmp_path / "build", *flags], check=True)
    subprocess.run(["cmake", "--build", tmp_path / "build"], check=True)
    (library,) = (tmp_path / "build").glob("*symlayout_moves_onnxruntime.*")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "profile")
    options.register_custom_ops_library(str(library))
    session = ort.InferenceSession(str(after), options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(2)
    for shapes in SIZES[name]:
        arrays = {key: _array(random, shape, name) for key, shape in zip("xz", shapes, strict=False)}
        np.testing.assert_array_equal(session.run(None, arrays)[0], outputs(before, arrays)[0])
    events = json.loads(Path(session.end_profiling()).read_text())
    ran = {e["args"]["op_name"] for e in events if "op_name" in e.get("args", {})}
    assert {kernel.name for kernel in kernels_of(o)} <= ran
    assert "Concat" not in ran


def test_a_function_that_is_changed_has_no_kernel(tmp_path: Path) -> None:
    o, *_ = made("padded", tmp_path)
    for node in o.source.functions[0].node:
        if node.op_type == "Concat":
            node.input[0], node.input[1] = node.input[1], node.input[0]
    onnx.save(o.source, tmp_path / "changed.onnx")
    with pytest.raises(FormatError, match="not one that symlayout wrote"):
        sl.optimize(tmp_path / "changed.onnx").kernel_files()
    assert sl.verify(tmp_path / "before.onnx", tmp_path / "changed.onnx").verdict is sl.Verdict.REFUTED


@pytest.mark.slow
def test_the_command_writes_the_files(tmp_path: Path) -> None:
    onnx.save(parser.parse_model(PADDED), tmp_path / "before.onnx")
    words = [sys.executable, "-m", "symlayout", "optimize", "before.onnx", "-o", "after.onnx", "--kernels", "kernels"]
    done = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True)
    (name,) = [f.name for f in onnx.load(tmp_path / "after.onnx").functions]
    assert f"wrote kernels/{name}.c" in done.stdout
    text = (tmp_path / "kernels" / f"{name}.c").read_text()
    assert "Regenerate: symlayout optimize before.onnx -o after.onnx --kernels kernels" in text
    assert "requires" in text or "source" in text
    assert (tmp_path / "kernels" / "onnxruntime" / "CMakeLists.txt").exists()
