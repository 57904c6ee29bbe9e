"""What is computed twice, in two orders of the axes, is computed once and transposed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symlayout.models.read_model import read_model
from symlayout.optimize_models.fewer_nodes.other_layouts import transpose_computed
from tests.optimize_models.test_optimize_model import optimized
from tests.support.onnx_writer import model, node, value_info

TURNED = node("Transpose", "x", "t", perm=[0, 2, 1])


def ops(o: Any) -> list[str]:
    return sorted(n.op_type for n in o.source.graph.node)


def test_a_chain_that_is_computed_in_two_layouts(tmp_path: Path) -> None:
    nodes = [
        TURNED,
        node("Sigmoid", "x", "a"),
        node("Mul", "x, a", "u"),
        node("Sigmoid", "t", "b"),
        node("Mul", "b, t", "v"),
        node("MatMul", "u, v", "y"),
    ]
    o = optimized(tmp_path, nodes, ("N", "C", 5))
    assert ops(o) == ["MatMul", "Mul", "Sigmoid", "Transpose"]


@pytest.mark.parametrize("other", ["Tanh", "Neg"])
def test_other_functions_stay(tmp_path: Path, other: str) -> None:
    nodes = [TURNED, node("Sigmoid", "x", "a"), node(other, "t", "b"), node("MatMul", "a, b", "y")]
    assert ops(optimized(tmp_path, nodes, ("N", "C", 5))) == sorted(["MatMul", "Sigmoid", other, "Transpose"])


def test_nothing_is_transposed_that_was_not_before(tmp_path: Path) -> None:
    """The transposed input is read elsewhere, too: one more Transpose would take its place for nothing."""
    nodes = [
        TURNED,
        node("Sigmoid", "x", "a"),
        node("Sigmoid", "t", "b"),
        node("Softmax", "t", "s", axis=1),
        node("Add", "b, s", "c"),
        node("MatMul", "a, c", "y"),
    ]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", "C", 5))]))
    assert transpose_computed(read_model(path))[1] == []
