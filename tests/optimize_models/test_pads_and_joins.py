"""Pads before a convolution become its own; values are joined where the least is left to move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.optimize_models.fold_moves import fold_pads, fold_repeats
from symlayout.optimize_models.joins.join_elsewhere import join_elsewhere
from tests.optimize_models.test_optimize_model import Shape, floats, ops, optimized
from tests.support.onnx_writer import model, node, tensor, value_info

WIDTHS = [0, 0, 0, 1, 0, 0, 2, 3]
SHAPES: list[Shape] = [(2, 8, 4, 6), ("N", 8, 4, 6), ("N", 8, "H", "W")]
ZERO, MINUS_ZERO, ONE = (numpy_helper.from_array(np.float32(v), "v") for v in (0.0, -0.0, 1.0))


@pytest.mark.parametrize(("shape", "opset"), [(("N", 4, 8, 6), 20), (("N", 4, "H", "W"), 17)], ids=str)
def test_pads_of_convolutions_add_up(tmp_path: Path, shape: tuple[int | str, ...], opset: int) -> None:
    nodes = [
        node("Relu", "x", "a"),
        node("Pad", "a, p, v", "b"),
        node("Conv", "b, w", "c", pads=[1, 0, 1, 0], strides=[2, 1]),
        node("Conv", "b, w", "d", auto_pad="VALID", strides=[2, 1], dilations=[1, 1]),
        node("Concat", "c, c", "e", axis=1),
        node("ReduceMax", "d", "f", keepdims=1),
        node("Sub", "e, f", "y"),
    ]
    given = [tensor(WIDTHS, name="p"), ZERO, floats("w", 2, 4, 3, 3)]
    o = optimized(tmp_path, nodes, shape, given, opset=opset)
    assert ops(o) == ["Relu", "Conv", "Conv", "Concat", "ReduceMax", "Sub"]
    pads = [helper.get_attribute_value(a) for n in o.source.graph.node for a in n.attribute if a.name == "pads"]
    assert pads == [[1, 1, 3, 3], [0, 1, 2, 3]]


def test_pads_of_named_axes_and_of_older_operations(tmp_path: Path) -> None:
    named = [node("Relu", "x", "a"), node("Pad", "a, p, , n", "b"), node("Conv", "b, w", "y")]
    given = [tensor([1, 2], name="p"), tensor([-1], name="n"), floats("w", 2, 4, 3, 3)]
    assert ops(optimized(tmp_path, named, ("N", 4, 8, 6), given)) == ["Relu", "Conv"]
    old = [node("Relu", "x", "a"), node("Pad", "a", "b", pads=WIDTHS), node("Conv", "b, w", "y")]
    assert ops(optimized(tmp_path, old, ("N", 4, 8, 6), [floats("w", 2, 4, 3, 3)], opset=9)) == ["Relu", "Conv"]


@pytest.mark.parametrize(
    ("widths", "value", "attributes", "reader"),
    [
        (WIDTHS, ONE, {}, "Conv"),
        (WIDTHS, MINUS_ZERO, {}, "Conv"),
        ([0, 1, 0, 0, 0, 1, 0, 0], ZERO, {}, "Conv"),
        ([0, 0, -1, 0, 0, 0, 0, 0], ZERO, {}, "Conv"),
        (WIDTHS, ZERO, {"mode": "edge"}, "Conv"),
        (WIDTHS, ZERO, {}, "Relu"),
    ],
    ids=["one", "minus zero", "channels", "crop", "edge", "relu"],
)
def test_other_pads_stay(
    tmp_path: Path, widths: list[int], value: object, attributes: dict[str, str], reader: str
) -> None:
    channels = 4 + widths[1] + widths[5]
    last = node("Conv", "b, w", "y") if reader == "Conv" else node(reader, "b", "y")
    nodes = [node("Relu", "x", "a"), node("Pad", "a, p, v", "b", **attributes), last]
    given = [tensor(widths, name="p"), value, *([floats("w", 2, channels, 3, 3)] if reader == "Conv" else [])]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 4, 8, 6))], constants=given))
    assert fold_pads(sl.read_model(path))[1] == []


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


@pytest.mark.slow
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


@pytest.mark.parametrize("shape", [(2, 3, 8, 5), ("N", 3, "H", 5)], ids=str)
@pytest.mark.parametrize("op", ["Div", "MatMul"])
def test_what_broadcasts_needs_no_repeats(tmp_path: Path, shape: Shape, op: str) -> None:
    axis = 3 if op == "Div" else 1
    nodes = [
        node("Relu", "x", "a"),
        node("ReduceMax", "x, axis", "m", keepdims=1),
        node("Shape", "x", "sizes"),
        node("Expand", "m, sizes", "b"),
        *([node("Transpose", "b", "c", perm=[0, 1, 3, 2])] if op == "MatMul" else []),
        node(op, "a, c" if op == "MatMul" else "a, b", "y"),
    ]
    o = optimized(tmp_path, nodes, shape, [tensor([axis], name="axis")])
    assert "Expand" not in ops(o)


@pytest.mark.parametrize(("last", "opset"), [("m, b", 17), ("b, b", 17), ("x, b", 7)])
def test_repeats_that_are_needed_stay(tmp_path: Path, last: str, opset: int) -> None:
    nodes = [
        node("ReduceMax", "x", "m", keepdims=1, axes=[1]),
        node("Tile", "m, times", "b"),
        node("Mul", last, "y"),
    ]
    path = tmp_path / "m.onnx"
    given = [tensor([1, 3, 1], name="times")]
    path.write_bytes(model(nodes, [value_info("x", ("N", 3, 4))], constants=given, opset=opset))
    assert fold_repeats(sl.read_model(path))[1] == []


def test_states_of_recurrent_layers_do_not_broadcast(tmp_path: Path) -> None:
    nodes = [
        node("ReduceMax", "x", "m", keepdims=1, axes=[0, 2]),
        node("Tile", "m, times", "h"),
        node("GRU", "x, w, r, , , h", "y", hidden_size=4),
    ]
    path = tmp_path / "m.onnx"
    given = [tensor([1, 1, 4], name="times"), floats("w", 1, 12, 4), floats("r", 1, 12, 4)]
    path.write_bytes(model(nodes, [value_info("x", ("T", 2, 4))], constants=given, opset=17))
    assert fold_repeats(sl.read_model(path))[1] == []
