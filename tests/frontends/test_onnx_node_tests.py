"""ONNX's own tests of the operations that move elements, run as its package makes or keeps them through our frontend.

These are the node tests, and the models among the others ("simple", and what PyTorch exported) that have no other
operation.  Each runs with the shapes known, and again with none of the extents known before the operation.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import is_joint, names
from symlayout.frontends.onnx import blocks, bounds, shapes

MOVEMENT = {blocks.__name__, bounds.__name__, shapes.__name__, "symlayout.frontends.common"}
OPS = {
    name.partition(":")[2]
    for name in names()
    if name.startswith("onnx:") and "-" not in name and inspect.unwrap(sl.op(name)).__module__ in MOVEMENT
}
OTHER_TYPES = {"test_identity_opt", "test_identity_sequence"}  # of an optional and of a sequence of tensors
KINDS = ("simple", "pytorch-operator", "pytorch-converted")
EXPANDED = {"clip"}  # modules of other operations, whose tests are also written in operations of ours
RENAMED = {"value": "constant_value"}  # an attribute of the older Pad
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Model:
    """A graph, and arrays that its inputs and outputs may be."""

    graph: Any
    data: list[tuple[list[Array], list[Array]]]


def node_tests() -> dict[str, Model]:
    """Return the node tests by name; none where ONNX is not installed.

    Only the modules of our operations are imported: making the tests of all operations takes seconds.
    """
    try:
        node = importlib.import_module("onnx.backend.test.case.node")
    except ImportError:
        return {}
    modules = {op.lower() for op in OPS} | EXPANDED
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the tests of some operations divide by zero as they are made
        for module in sorted(modules & {module.name for module in pkgutil.iter_modules(node.__path__)}):
            importlib.import_module(f"{node.__name__}.{module}")
    found = node._NodeTestCases  # what `collect_testcases` returns, after it has imported all modules
    return {case.name: Model(case.model.graph, case.data_sets) for case in found if ours(case.model.graph)}


def model_tests() -> dict[str, Model]:
    """Return the tests that are kept as files by name; none where ONNX is not installed."""
    try:
        onnx: Any = importlib.import_module("onnx")
        loader: Any = importlib.import_module("onnx.backend.test.loader")
        helper: Any = importlib.import_module("onnx.numpy_helper")
    except ImportError:
        return {}

    def arrays(folder: Path, what: str) -> list[Array]:
        files = sorted(folder.glob(f"{what}_*.pb"), key=lambda file: int(file.stem.partition("_")[2]))
        return [helper.to_array(onnx.TensorProto.FromString(file.read_bytes())) for file in files]

    found = {}
    for case in (case for kind in KINDS for case in loader.load_model_tests(kind=kind)):
        graph = onnx.load(Path(case.model_dir) / "model.onnx").graph
        if ours(graph):
            sets = sorted(Path(case.model_dir).glob("test_data_set_*"))
            found[case.name] = Model(graph, [(arrays(each, "input"), arrays(each, "output")) for each in sets])
    return found


def ours(graph: Any) -> bool:
    """Return whether a graph has operations of the catalogue, and no others but constants."""
    ops = {node.op_type for node in graph.node} - {"Constant"}
    return bool(ops) and ops <= OPS


NODE_TESTS = node_tests()
MODEL_TESTS = {name: model for name, model in model_tests().items() if name not in NODE_TESTS}
TESTS = {**NODE_TESTS, **MODEL_TESTS}


def test_onnx_has_node_tests_of_each_operation() -> None:
    pytest.importorskip("onnx", reason="its node tests come with the package")
    assert {node.op_type for model in NODE_TESTS.values() for node in model.graph.node} == OPS
    assert set(NODE_TESTS) >= OTHER_TYPES


def test_onnx_keeps_models_of_our_operations() -> None:
    pytest.importorskip("onnx", reason="its models come with the package")
    assert {"test_expand_shape_model1", "test_PixelShuffle", "test_operator_permute2"} <= set(MODEL_TESTS)


KNOWN = sorted(set(TESTS) - OTHER_TYPES)


@pytest.mark.skipif(not TESTS, reason="onnx, whose package has the tests, is not installed")
@pytest.mark.parametrize("name", KNOWN)
def test_known_shapes(name: str) -> None:
    check(TESTS[name], late=False)


@pytest.mark.skipif(not TESTS, reason="onnx, whose package has the tests, is not installed")
@pytest.mark.parametrize("name", KNOWN)
def test_unknown_extents(name: str) -> None:
    check(TESTS[name], late=True)


def check(model: Model, *, late: bool) -> None:
    """Assert that a graph gives the outputs that are kept with it."""
    known = {initializer.name for initializer in model.graph.initializer}
    for given, expected in model.data:
        arrays = dict(zip((i.name for i in model.graph.input if i.name not in known), given, strict=True))
        values, leaves = computed(model.graph, arrays, late=late)
        for output, array in zip(model.graph.output, expected, strict=True):
            y = values[output.name]
            found = sl.interpret(y, **{x.name: leaves[x.name] for x in y.leaves()})
            assert found.shape == array.shape
            assert late or y.shape == array.shape
            assert found.dtype == array.dtype
            assert found.tobytes() == np.ascontiguousarray(array).tobytes()


def computed(graph: Any, arrays: Mapping[str, Array], *, late: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of a graph by name, and the arrays of the leaves that were made for its inputs."""
    to_array = importlib.import_module("onnx.numpy_helper").to_array
    values: dict[str, Any] = {i.name: to_array(i) for i in graph.initializer} | dict(arrays)
    leaves: dict[str, Any] = {}

    def data(name: str) -> sl.Tensor:
        """Return a value as a tensor: a leaf if it is an array."""
        if isinstance(x := values[name], sl.Tensor):
            return x
        label = f"x{len(leaves)}"
        leaves[label] = x
        made: sl.Tensor = values.setdefault(
            f"{name} as a leaf", sl.tensor((None,) * x.ndim if late else x.shape, name=label)
        )
        return made

    for node in graph.node:
        settings = {RENAMED.get(a.name, a.name): value(a) for a in node.attribute}
        if node.op_type == "Constant":
            values[node.output[0]] = to_array(settings["value" if "value" in settings else "constant_value"])
            continue
        op = f"onnx:{node.op_type}"
        parameters = list(inspect.signature(sl.op(op)).parameters)
        count = len(node.input) if is_joint(op) else 1
        tensors = [data(name) for name in node.input[:count]]
        inputs = {p: values[name] for p, name in zip(parameters[1:], node.input[count:], strict=False) if name}
        if op == "onnx:Split" and "split" not in inputs | settings:
            settings["num_outputs"] = len(node.output)  # the older operation reads it from the graph
        made = sl.op(op)(tensors if is_joint(op) else tensors[0], **inputs, **settings)
        values.update(zip(node.output, made if isinstance(made, list) else [made], strict=True))
    return values, leaves


def value(attribute: Any) -> Any:
    """Return the value of an attribute of a node, text as `str`."""
    found = importlib.import_module("onnx.helper").get_attribute_value(attribute)
    return found.decode() if isinstance(found, bytes) else found
