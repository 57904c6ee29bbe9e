"""Transposes go before a repeat whose number the model computes, and are one with the movement there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from symlayout.models.read_model import read_model
from symlayout.optimize_models.movement_regions import respell_regions
from tests.optimize_models.test_optimize_model import optimized
from tests.support.onnx_writer import model, node, value_info

HEADS, ROWS, WIDTH = 2, 6, 4
NUMBERS = {
    "heads": [1, ROWS, HEADS, WIDTH],
    "joined": [HEADS, ROWS, WIDTH],
    "first": [0],
    "ones": [1, 1],
    "wide": [1, HEADS, ROWS, WIDTH],
}


def constants(*names: str) -> list[onnx.TensorProto]:
    return [onnx.numpy_helper.from_array(np.array(NUMBERS[name]), name) for name in names]


@pytest.mark.parametrize("op", ["Tile", "Expand"])
def test_heads_of_a_table_are_transposed_before_they_are_repeated(tmp_path: Path, op: str) -> None:
    """As in the disentangled attention of DeBERTa: one Transpose of the table makes heads and turns them."""
    numbers = "n, ones" if op == "Tile" else "n, wide"
    repeat = [node("Concat", numbers, "r", axis=0), node(op, "c, r", "d")]
    if op == "Tile":
        heads = [node("Reshape", "t, joined", "c")]
        turn = [node("Transpose", "d", "e", perm=[0, 2, 1])]
    else:
        heads = [node("Unsqueeze", "t, first", "c")]
        turn = [node("Transpose", "d", "e", perm=[0, 1, 2, 4, 3])]
    nodes = [
        node("Shape", "x", "n", start=0, end=1),
        node("ReduceMax", "x, first", "a"),
        node("Reshape", "a, heads", "b"),
        node("Transpose", "b", "t", perm=[0, 2, 1, 3]),
        *heads,
        *repeat,
        *turn,
        node("Exp", "e", "y"),
    ]
    read = {name for each in nodes for name in each.input} & NUMBERS.keys()
    o = optimized(tmp_path, nodes, ("N", ROWS, HEADS * WIDTH), constants(*sorted(read)))
    assert o.report.after.transposes == 1
    assert o.report.after.typical() < o.report.before.typical()


def test_two_transposes_before_a_repeat_by_a_size_become_one(tmp_path: Path) -> None:
    nodes = [
        node("Shape", "x", "n", start=0, end=1),
        node("Concat", "n, ones", "r", axis=0),
        node("Relu", "x", "a"),
        node("Transpose", "a", "b", perm=[0, 2, 1]),
        node("Transpose", "b", "c", perm=[1, 0, 2]),
        node("Tile", "c, r", "d"),
        node("Exp", "d", "y"),
    ]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 3, 5))], constants=constants("ones")))
    source, changes = respell_regions(read_model(path))
    assert [n.op_type for n in source.graph.node].count("Transpose") == 1
    assert [change.value for change in changes] == ["c"]
    assert all(proof.verdict.value == "proved" for change in changes for proof in change.proofs)
