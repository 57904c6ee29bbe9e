"""ONNX's own node tests of the operations that we have, as its package makes them, run through our frontend."""

from __future__ import annotations

import importlib
import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import is_joint, names

OPS = [name.partition(":")[2] for name in names() if name.startswith("onnx:")]
OTHER_TYPES = {"test_identity_opt", "test_identity_sequence"}  # of an optional and of a sequence of tensors


def cases() -> dict[str, Any]:
    """Return the node tests by name; none where ONNX is not installed."""
    try:
        node = importlib.import_module("onnx.backend.test.case.node")
    except ImportError:
        return {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the tests of other operations divide by zero as they are made
        found = node.collect_testcases(None)  # of all operations: it can be asked once only
    return {case.name: case for case in found if case.model.graph.node[0].op_type in OPS}


CASES = cases()


def test_onnx_has_node_tests_of_each_operation() -> None:
    pytest.importorskip("onnx", reason="its node tests come with the package")
    assert {case.model.graph.node[0].op_type for case in CASES.values()} == set(OPS)
    assert set(CASES) >= OTHER_TYPES


@pytest.mark.skipif(not CASES, reason="onnx, whose package makes the node tests, is not installed")
@pytest.mark.parametrize("name", sorted(set(CASES) - OTHER_TYPES))
def test_node(name: str) -> None:
    case = CASES[name]
    (node,) = case.model.graph.node
    op = f"onnx:{node.op_type}"
    for given, expected in case.data_sets:
        arrays = dict(zip((name for name in node.input if name), given, strict=True))
        inputs: list[Any] = [arrays.get(name) for name in node.input]
        known = list(inspect.signature(sl.op(op)).parameters)
        count = len(inputs) if is_joint(op) else 1
        attributes = {
            **dict(zip(known[count:], inputs[count:], strict=False)),
            **{attribute.name: value(attribute) for attribute in node.attribute},
        }
        if op == "onnx:Split" and attributes.get("split") is None:
            attributes["num_outputs"] = len(node.output)  # the older operation reads it from the graph
        leaves = [sl.tensor(x.shape, name=f"x{k}") for k, x in enumerate(inputs[:count])]
        made = sl.op(op)(leaves if is_joint(op) else leaves[0], **attributes)
        results = made if isinstance(made, list) else [made]
        for y, array in zip(results, expected, strict=True):
            found = sl.interpret(y, **{x.name: inputs[int(x.name[1:])] for x in y.leaves()})
            assert y.shape == found.shape == array.shape
            assert found.dtype == array.dtype
            assert found.tobytes() == np.ascontiguousarray(array).tobytes()


def value(attribute: Any) -> Any:
    """Return the value of an attribute of a node, text as `str`."""
    found = importlib.import_module("onnx.helper").get_attribute_value(attribute)
    return found.decode() if isinstance(found, bytes) else found
