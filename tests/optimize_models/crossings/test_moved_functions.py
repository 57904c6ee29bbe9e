"""Functions of single elements are computed before movement that cancels behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.models.read_model import read_model
from symlayout.optimize_models.crossings.moved_functions import move_functions
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.spell_movement import Speller
from tests.optimize_models.test_optimize_model import optimized
from tests.support.onnx_writer import model, node, value_info

WINDOWS = {"apart": [-1, 2, 7, 2, 7, 3], "flat": [-1, 7, 7, 3], "again": [-1, 2, 2, 7, 7, 3], "image": [-1, 14, 14, 3]}
IMAGE = ("N", 14, 14, 3)
AXES = [0, 1, 3, 2, 4, 5]


def constants(**values: Any) -> list[onnx.TensorProto]:
    return [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]


def ops(o: sl.OptimizedModel) -> list[str]:
    return [n.op_type for n in o.source.graph.node]


def windows(x: str, name: str) -> list[onnx.NodeProto]:
    """Take windows of 7 by 7 out of an image."""
    return [
        node("Reshape", f"{x}, apart", f"{name}_a"),
        node("Transpose", f"{name}_a", f"{name}_t", perm=AXES),
        node("Reshape", f"{name}_t, flat", name),
    ]


def put_back(x: str, y: str) -> list[onnx.NodeProto]:
    return [
        node("Reshape", f"{x}, again", "p"),
        node("Transpose", "p", "q", perm=AXES),
        node("Reshape", "q, image", y),
    ]


def test_windows_are_not_taken_out_for_functions_of_elements(tmp_path: Path) -> None:
    nodes = [
        *windows("x", "w"),
        node("Mul", "w, half", "h"),
        node("Erf", "h", "e"),
        node("Add", "e, half", "f"),
        node("Mul", "w, f", "g"),
        *put_back("g", "y"),
    ]
    given = {name: np.array(shape) for name, shape in WINDOWS.items()}
    o = optimized(tmp_path, nodes, IMAGE, constants(half=np.float32(0.5), **given))
    assert ops(o) == ["Mul", "Erf", "Add", "Mul"]
    assert o.report.after.total == 0


def test_two_operands_that_are_moved_alike(tmp_path: Path) -> None:
    nodes = [
        node("Sigmoid", "x", "s"),
        *windows("x", "v"),
        *windows("s", "w"),
        node("Mul", "v, w", "g"),
        *put_back("g", "y"),
    ]
    o = optimized(tmp_path, nodes, IMAGE, constants(**{k: np.array(v) for k, v in WINDOWS.items()}))
    assert sorted(ops(o)) == ["Mul", "Sigmoid"]


@pytest.mark.parametrize("op", ["Relu", "Neg", "Exp"])
def test_an_axis_that_is_put_in_and_taken_out(tmp_path: Path, op: str) -> None:
    nodes = [node("Unsqueeze", "x, one", "a"), node(op, "a", "b"), node("Squeeze", "b, one", "y")]
    o = optimized(tmp_path, nodes, ("N", 3), constants(one=np.array([1])))
    assert ops(o) == [op]


def test_of_operands_that_are_moved_unlike_one_is_moved(tmp_path: Path) -> None:
    other = [
        node("Reshape", "x, apart", "o_a"),
        node("Transpose", "o_a", "o_t", perm=[0, 3, 1, 2, 4, 5]),
        node("Reshape", "o_t, flat", "o"),
    ]
    nodes = [*windows("x", "w"), *other, node("Add", "w, o", "g"), *put_back("g", "y")]
    o = optimized(tmp_path, nodes, IMAGE, constants(**{k: np.array(v) for k, v in WINDOWS.items()}))
    assert o.report.after.transposes == 1


def test_a_function_of_rows_stays(tmp_path: Path) -> None:
    nodes = [*windows("x", "w"), node("Softmax", "w", "g", axis=1), *put_back("g", "y")]
    o = optimized(tmp_path, nodes, IMAGE, constants(**{k: np.array(v) for k, v in WINDOWS.items()}))
    assert o.report.after.transposes == 2


def test_a_function_that_is_read_in_windows_too_stays(tmp_path: Path) -> None:
    nodes = [*windows("x", "w"), node("Relu", "w", "g"), *put_back("g", "b"), node("Softmax", "g", "s"),
             node("ReduceSum", "s", "t", keepdims=0), node("Add", "b, t", "y")]  # fmt: skip
    o = optimized(tmp_path, nodes, IMAGE, constants(**{k: np.array(v) for k, v in WINDOWS.items()}))
    assert o.report.after.transposes == 2


def moved(folder: Path, op: str, kept: set[str]) -> tuple[list[str], list[str]]:
    """Return the operations, and the values that are made in another way."""
    nodes = [node("Unsqueeze", "x, one", "a"), node(op, "a", "b"), node("Squeeze", "b, one", "y")]
    path = folder / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 3))], constants=constants(one=np.array([1]))))
    read = read_model(path)
    made, changes = move_functions(read, kept, Speller(EditedGraph(read.source).opset))
    return [n.op_type for n in made.graph.node], [change.value for change in changes]


def test_a_value_that_is_kept_is_made_where_it_was(tmp_path: Path) -> None:
    assert moved(tmp_path, "Relu", set()) == (["Relu", "Identity"], ["y"])
    assert moved(tmp_path, "Relu", {"y"}) == (["Unsqueeze", "Relu", "Squeeze"], [])
