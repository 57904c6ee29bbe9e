"""Compare operators with onnxruntime: ``python -m tests.onnx_nodes.against_onnxruntime --cases 2000``.

Each case draws an operator, a version of the standard, attributes, element types and shapes; some extents are 0 or 1.
Both sides get the same model.  Where onnxruntime computes, shape, element type and values agree; a kernel that
onnxruntime lacks, inputs that it refuses, and differences that are known are counted.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from tests.onnx_nodes.draw_nodes import DRAWS, Case
from tests.onnx_nodes.random_nodes import Array, count_outcomes, numbered

NO_VALUE = ("NonMaxSuppression",)  # in models: how many boxes there are depends on data


def model_of(case: Case) -> Any:
    """Return the model of a case."""
    onnx = importlib.import_module("onnx")
    helper, kind = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype
    names = ["" if a is None else f"x{k}" for k, a in enumerate(case.inputs)]
    inputs, constants = [], []
    for k, (name, a) in enumerate(zip(names, case.inputs, strict=True)):
        if a is None:
            continue
        if k in case.constants:
            constants.append(onnx.numpy_helper.from_array(a, name))
        else:
            inputs.append(helper.make_tensor_value_info(name, kind(a.dtype), a.shape))
    results = [f"y{k}" for k in range(case.outputs)]
    node = helper.make_node(case.op, names, results, **case.attributes)
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name=r) for r in results], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.version)], ir_version=10)


def theirs(model: Any, case: Case) -> list[Array] | None:
    """Return what onnxruntime computes; None if it refuses."""
    runtime = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    given = {f"x{k}": a for k, a in enumerate(case.inputs) if a is not None and k not in case.constants}
    try:
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return [np.asarray(a) for a in session.run(None, given)]
    except Exception:  # each of its errors is a refusal
        return None


def difference(case: Case, expected: list[Array], model: Any) -> str:
    """Return what differs between our outputs and *expected*; an empty text if nothing does."""
    given = {f"x{k}": a for k, a in enumerate(case.inputs) if a is not None and k not in case.constants}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        try:
            outputs = sl.read_model(path).outputs
        except sl.SymlayoutError as error:
            return f"refused: {str(error).splitlines()[0]}"
    for name, array in zip((f"y{k}" for k in range(case.outputs)), expected, strict=True):
        y = outputs[name]
        if y.rank != array.ndim:
            return f"rank {y.rank}, expected {array.ndim}"
        own = {x.name: given[x.name] for x in y.arguments()}
        free = [(n, m) for n, m in zip(y.shape, array.shape, strict=True) if not isinstance(n, int)]
        dims = {n: m for n, m in free if getattr(n, "is_Symbol", False)}
        shape = tuple(y.subs(dims).shape) if dims else y.shape
        if shape != array.shape:
            return f"shape {shape}, expected {array.shape}"
        if y.dtype is not None and y.dtype != array.dtype:
            return f"element type {y.dtype}, expected {array.dtype}"
        if any(v.body is not None and v.body.function is None for v in y.graph()):
            return "no value"
        try:
            made = sl.interpret(y, dims=dims or None, **own)
        except sl.SymlayoutError as error:
            return f"not computed: {str(error).splitlines()[0]}"
        if made.dtype != array.dtype:
            return f"element type {made.dtype}, expected {array.dtype}"
        loose = 1e-2 if array.dtype.itemsize == 2 else 2e-4
        kind = np.float64 if array.dtype.kind == "f" or array.dtype.name == "bfloat16" else array.dtype
        if not np.allclose(made.astype(kind), array.astype(kind), rtol=loose, atol=loose, equal_nan=True):
            return "values differ"
    return ""


def _is_too_wide(case: Case, found: str) -> bool:
    return case.op.endswith("Pool") and "does not fit" in found


def _is_cropped(case: Case, found: str) -> bool:
    """Return whether windows lie further apart than they reach, with pads that are computed."""
    kernels = case.inputs[1] if case.op == "Conv" else None
    spatial = case.attributes.get("kernel_shape", ()) if kernels is None else kernels.shape[2:]
    strides = case.attributes.get("strides", ())
    return str(case.attributes.get("auto_pad")).startswith("SAME") and any(map(int.__lt__, spatial, strides))


def _is_beyond_int32(case: Case, found: str) -> bool:
    x = case.inputs[0]
    limit = 2.0**31
    return case.op == "ReduceProd" and x is not None and x.dtype == np.int32 and bool(
        np.prod(np.maximum(np.abs(x.astype(float)), 1)) >= limit)  # fmt: skip


DIFFERENCES: dict[str, tuple[Callable[[Case, str], bool], str, str, str]] = {
    "a pool whose window is larger than the input with its pads": (
        _is_too_wide, "refused; for symbolic extents a requirement",
        "an extent of 0, or of 1 where the division of negative numbers rounds toward zero",
        "the reference evaluator: 0",
    ),
    "`auto_pad` SAME where the stride is greater than the window": (
        _is_cropped, "no pads", "some operators drop elements before the first window",
        "-",
    ),
    "`ReduceProd` of int32 whose product needs more bits": (
        _is_beyond_int32, "the product modulo 2^32", "-2147483648", "the reference evaluator: modulo 2^32",
    ),
}  # fmt: skip
"""Where onnxruntime computes something else, and that is known: which case, ours, theirs, and what others do."""


def cases(count: int, first: int = 0, op: str | None = None) -> Iterator[tuple[int, Case]]:
    """Yield numbered cases, from each drawer in turn."""
    return numbered(DRAWS, count, first, op)


def outcome(case: Case) -> tuple[str, str]:
    """Return the outcome of a case, and a text if the sides differ."""
    model = model_of(case)
    expected = theirs(model, case)
    if expected is None:
        return "refused by onnxruntime", ""
    found = difference(case, expected, model)
    if found == "no value" and case.op in NO_VALUE:
        return "shape only", ""
    known = [what for what, (holds, *_) in DIFFERENCES.items() if found and holds(case, found)]
    if known:
        return f"known: {known[0]}", ""
    return "different" if found else "equal", found


if __name__ == "__main__":
    sys.exit(count_outcomes("tests.onnx_nodes.against_onnxruntime", sys.argv[1:], cases, outcome))
