"""The node tests that the package onnx brings, run through our operators.

A graph runs node by node.  What is computed of constants alone is computed at once, as shapes are in models.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.frontends import find, is_joint, names

Array = np.ndarray[Any, Any]
OPS = {name.partition(":")[2] for name in names() if name.startswith("onnx:") and "-" not in name}
ROUNDED = {  # chains of 16-bit operators, beyond the tolerance of their tests by one or two units of the last place
    f"test_attention_{name}{form}"
    for name in ("3d_causal_bf16", "4d_attn_mask_causal_bf16", "4d_causal_bf16", "4d_causal_fp16",
                 "4d_causal_padded_kv_bf16", "4d_padded_kv_bf16")
    for form in ("", "_expanded")
}  # fmt: skip
UNITS = {"float16": 2**-9, "bfloat16": 2**-6}  # two units of the last place, relatively
CONSTANT = {"shape"}  # inputs of tests that have to be constants
EXCLUDED = {
    "ImageDecoder": "it decodes image files, whose pixels only their libraries say",
    "ai.onnx.preview.FlexAttention": "its attributes are graphs; its expanded tests run",
}
RENAMED = {"Pad": {"value": "constant_value"}}


@dataclass
class Run:
    """The values of a graph, and what its inputs are.

    Attributes
    ----------
    values : dict
        Tensors and arrays by name.
    arrays : dict
        The arrays of the leaves by their names.
    """

    values: dict[str, Any]
    arrays: dict[str, Array] = field(default_factory=dict)


def is_installed() -> bool:
    """Return whether the package is."""
    try:
        importlib.import_module("onnx")
    except ImportError:
        return False
    return True


def modules() -> list[str]:
    """Return the names of the modules of tests, most of them that of an operator in lower case."""
    node = importlib.import_module("onnx.backend.test.case.node")
    return sorted(m.name for m in pkgutil.iter_modules(node.__path__) if not m.ispkg)


@cache
def cases(module: str) -> tuple[Any, ...]:
    """Return the tests that a module makes; making those of all modules takes seconds."""
    node = importlib.import_module("onnx.backend.test.case.node")
    known = {case.name for case in node._NodeTestCases}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        made = importlib.import_module(f"{node.__name__}.{module}")
    found = [case for case in node._NodeTestCases if case.name not in known]
    if not found:  # the module was imported before
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            before, taken = len(node._NodeTestCases), node._existing_names.copy()
            node._existing_names.clear()  # the module refuses to make a test twice
            importlib.reload(made)
            node._existing_names.update(taken)
            found = node._NodeTestCases[before:]
            del node._NodeTestCases[before:]
    return tuple({case.name: case for case in found}.values())


def operators(case: Any) -> set[str]:
    """Return the names of the operators of a test; those of other domains with their domain."""
    return {operator(node) for node in nodes(case)}


def operator(node: Any) -> str:
    """Return the name of a node's operator; one of another domain with its domain."""
    return node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"


def nodes(case: Any) -> Sequence[Any]:
    """Return the nodes of a test."""
    found: Sequence[Any] = case.model.graph.node
    return found


def has_tensors_only(case: Any) -> bool:
    """Return whether the inputs and outputs of a test are tensors: no sequences, no optional values."""
    graph = case.model.graph
    return all(value.type.WhichOneof("value") == "tensor_type" for value in (*graph.input, *graph.output))


def as_array(value: Any) -> Array:
    """Return an array of a test; texts as texts of one length."""
    if hasattr(value, "raw_data"):
        value = importlib.import_module("onnx.numpy_helper").to_array(value)
    array = np.asarray(value)
    return array.astype(str) if array.dtype.kind == "O" else array


def data_sets(case: Any) -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
    """Yield the inputs and the outputs of a test by name."""
    graph = case.model.graph
    for given, expected in case.data_sets:
        yield (
            {i.name: as_array(a) for i, a in zip(graph.input, given, strict=True)},
            {o.name: as_array(a) for o, a in zip(graph.output, expected, strict=True)},
        )


def run(case: Any, given: Mapping[str, Array], *, late: bool = False) -> Run:
    """Return the values of a test's graph; with *late*, no extent is known before the arrays come."""
    helper = importlib.import_module("onnx.numpy_helper")
    made = Run({i.name: helper.to_array(i) for i in case.model.graph.initializer} | dict(given))
    leaves: dict[str, sl.Tensor] = {}

    def tensor(name: str) -> Any:
        if name not in given or name in CONSTANT or name not in made.values or isinstance(made.values[name], sl.Tensor):
            return made.values[name]
        if name not in leaves:
            array, label = given[name], f"x{len(leaves)}"
            dtype = None if array.dtype.kind == "U" else array.dtype
            leaves[name] = sl.tensor((None,) * array.ndim if late else array.shape, dtype, label)
            made.arrays[label] = array
        return leaves[name]

    for node in nodes(case):
        op = f"onnx:{operator(node)}"
        parameters = inspect.signature(find(op)).parameters
        annotations = [str(p.annotation) for p in parameters.values()]
        spread = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters.values())
        inputs = []
        for k, name in enumerate(node.input):
            takes = spread or is_joint(op) or "Tensor" in annotations[k]
            inputs.append(None if not name else tensor(name) if takes else made.values[name])
        settings = {RENAMED.get(node.op_type, {}).get(a.name, a.name): attribute(a) for a in node.attribute}
        if "outputs" in parameters:
            settings["outputs"] = len(node.output)
        if node.op_type == "Split" and len(inputs) < 2 and "num_outputs" not in settings:
            settings["num_outputs"] = len(node.output)  # the older operation reads it from the graph
        result = find(op)(inputs, **settings) if is_joint(op) else find(op)(*inputs, **settings)
        for name, value in zip(node.output, result if isinstance(result, list) else [result], strict=False):
            made.values[name] = constant(value)
    return made


def constant(value: sl.Tensor) -> sl.Tensor | Array:
    """Return the elements of a value that no input changes; other values as they are."""
    if value.arguments() or any(node.body is not None and node.body.random for node in value.graph()):
        return value
    if not all(isinstance(n, int) for n in value.shape):
        return value
    return sl.interpret(value)


def attribute(a: Any) -> Any:
    """Return the value of an attribute of a node, text as `str`."""
    found = importlib.import_module("onnx.helper").get_attribute_value(a)
    if hasattr(found, "raw_data"):
        return importlib.import_module("onnx.numpy_helper").to_array(found)
    if isinstance(found, list) and found and isinstance(found[0], bytes):
        return [text.decode() for text in found]
    return found.decode() if isinstance(found, bytes) else found


def shape_of(value: Any, expected: tuple[int, ...]) -> tuple[tuple[Any, ...], dict[str, int]]:
    """Return the shape of a value, and what extents that depend on data are if it is *expected*."""
    if not isinstance(value, sl.Tensor):
        return value.shape, {}
    known = {s.name for x in value.arguments() for n in x.shape for s in getattr(n, "free_symbols", ())}
    dims = {
        n.name: m
        for n, m in zip(value.shape, expected, strict=False)
        if getattr(n, "is_Symbol", False) and n.name not in known
    }
    return (value.subs(dims) if dims else value).shape, dims


def compare(case: Any, found: Array, expected: Array) -> None:
    """Assert that an array is as expected, within the tolerance that the test states."""
    assert found.shape == expected.shape
    if expected.dtype.kind in "USb":
        assert (found == expected).all()
        return
    assert found.dtype == expected.dtype
    kind: Any = complex if expected.dtype.kind == "c" else np.float64
    if case.name in ROUNDED:
        near = np.allclose(found.astype(kind), expected.astype(kind), rtol=case.rtol, atol=case.atol)
        assert not near, f"{case.name} is within its tolerance now: take it out of ROUNDED"
    rtol = UNITS[expected.dtype.name] if case.name in ROUNDED else case.rtol
    np.testing.assert_allclose(found.astype(kind), expected.astype(kind), rtol=rtol, atol=case.atol)


def check(case: Any, *, late: bool = False) -> bool:
    """Assert that a test passes: shapes in any case, values of operators that are declared; return whether all are."""
    declared = True
    for given, expected in data_sets(case):
        made = run(case, given, late=late)
        dims: dict[str, int] = {}
        for name, array in expected.items():
            dims.update(shape_of(made.values[name], array.shape)[1])
        for name, array in expected.items():
            value = made.values[name]
            shape, _ = shape_of(value, array.shape)
            assert late or shape == array.shape, f"{name} has shape {shape}, expected {array.shape}"
            if isinstance(value, sl.Tensor):
                bodies = [node.body for node in value.graph() if node.body is not None]
                if any(body.function is None or body.random for body in bodies):
                    declared = False
                    continue
                inputs = {x.name: made.arrays[x.name] for x in value.arguments()}
                own = {dim: n for dim, n in dims.items() if dim in value.facts.dims}
                value = sl.interpret(value, dims=own or None, **inputs)
            compare(case, value, array)
    return declared


def check_model(case: Any) -> bool:
    """Assert that a whole model has outputs of the expected shapes, and values where all are declared; return if so."""
    declared = True
    for given, expected in data_sets(case):
        outputs = _read(case, given).outputs
        for name, array in expected.items():
            y = outputs[name]
            assert y.rank == array.ndim, f"{name} has rank {y.rank}, not {array.ndim}"
            for n, m, (low, high) in zip(y.shape, array.shape, y.bounds(), strict=True):
                assert n == m or (not isinstance(n, int) and low <= m and (high is None or m <= high))
            if any(body.function is None or body.random for body in (v.body for v in y.graph()) if body is not None):
                declared = False
            else:
                arrays: dict[str, Any] = {x.name: given[x.name] for x in y.arguments()}
                compare(case, sl.interpret(y, **arrays), array)
    return declared


def _read(case: Any, given: Mapping[str, Array]) -> Any:
    """Return the model of a test, read from a file; the sizes among its inputs are constants."""
    model = type(case.model).FromString(case.model.SerializeToString())
    for x in [x for x in model.graph.input if x.name in CONSTANT | {"size"}]:
        model.graph.input.remove(x)
        model.graph.initializer.append(importlib.import_module("onnx.numpy_helper").from_array(given[x.name], x.name))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return sl.read_model(path)


def outcome(case: Any, *, late: bool = False) -> str:
    """Return what a test shows: "value", "rounded", "shape", "model", or why it does not run."""
    if not has_tensors_only(case):
        return "sequences and optional values: inputs and outputs of models are tensors"
    if others := operators(case) - OPS:
        name = min(others)
        if name in EXCLUDED:
            return f"{name}: {EXCLUDED[name]}"
        return "value" if check_model(case) else "model"
    declared = check(case, late=late)
    return "rounded" if case.name in ROUNDED else "value" if declared else "shape"
