"""Values of one shape are joined along the axis that leaves the least to move."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import NodeProto, TensorProto

import symlayout as sl
from symlayout.optimize_models.join_elsewhere import join_elsewhere
from tests.optimize_models.test_optimize_model import Shape, ops, optimized
from tests.support.onnx_writer import model, node, tensor, value_info

SHAPES: list[Shape] = [(2, 8, 4, 6), ("N", 8, 4, 6), ("N", 8, "H", "W")]


def shuffled(shape: Shape, perm: list[int]) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return a channel shuffle after a Concat of two values, and its constants."""
    nodes = [
        node("Relu", "x", "a"),
        node("Sigmoid", "x", "b"),
        node("Concat", "a, b", "c", axis=1),
        node("Shape", "c", "sizes"),
        node("Split", "sizes, ones", "n, k, h, w"),
        node("Concat", "n, two, rest, h, w", "wide", axis=0),
        node("Reshape", "c, wide", "d"),
        node("Transpose", "d", "e", perm=perm),
        node("Concat", "n, k, h, w", "narrow", axis=0),
        node("Reshape", "e, narrow", "f"),
        node("Softmax", "f", "y", axis=1),
    ]
    given = {"ones": [1, 1, 1, 1], "two": [2], "rest": [8]}
    return nodes, [tensor(values, name=name) for name, values in given.items()]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_channel_shuffle_of_joined_values_is_how_they_are_joined(tmp_path: Path, shape: Shape) -> None:
    nodes, given = shuffled(shape, [0, 2, 1, 3, 4])
    o = optimized(tmp_path, nodes, shape, given)
    assert o.report.after.transposes == 0
    assert 2 * o.report.after.typical() == o.report.before.typical()
    assert ops(o)[-1] == "Softmax"


def test_values_that_are_read_elsewhere_stay_joined(tmp_path: Path) -> None:
    nodes, given = shuffled(SHAPES[1], [0, 2, 1, 3, 4])
    nodes[-1:] = [node("Add", "c, f", "y")]
    o = optimized(tmp_path, nodes, SHAPES[1], given)
    assert o.report.after.transposes == 1


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Relu", "x", "a"), node("Concat", "a, x", "b", axis=1), node("Relu", "b", "y")],
        [node("Concat", "x, x", "b", axis=1), node("Transpose", "b", "y", perm=[0, 1, 3, 2])],
        [
            node("Slice", "x, zero, two, axis", "a"),
            node("Concat", "a, x", "b", axis=1),
            node("Transpose", "b", "y", perm=[1, 0, 2, 3]),
        ],
    ],
    ids=["not moved after", "inside the parts", "parts of two shapes"],
)
def test_other_joins_stay(tmp_path: Path, nodes: list[NodeProto]) -> None:
    path = tmp_path / "m.onnx"
    given = [tensor([0], name="zero"), tensor([2], name="two"), tensor([1], name="axis")]
    path.write_bytes(model(nodes, [value_info("x", ("N", 8, 4, 6))], constants=given))
    assert join_elsewhere(sl.read_model(path))[1] == []
