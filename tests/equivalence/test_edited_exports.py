"""Exports that are edited by hand in one place: a proof that holds for the edit too would prove what is false.

Each edit keeps the file valid, and changes what some output is for some size and input.  All laws are granted, so that
nothing but the edit stands in the way of a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, NodeProto, helper, load, numpy_helper, save

import symlayout as sl

EXPORTS = Path(__file__).parent.parent / "models" / "exported"
LAWS = ("reassociate", "real", "reciprocal", "fold-batchnorm")
Edit = Callable[[GraphProto, NodeProto], None]


@cache
def export(name: str) -> tuple[ModelProto, Any]:
    path = EXPORTS / f"{name}_dynamic.onnx"
    return load(path), sl.read_model(path)


def attribute(name: str, change: Callable[[Any], Any], default: Any = None) -> Edit:
    """Return the edit that changes an attribute, which has a *default* if the file does not state it."""

    def edit(graph: GraphProto, node: NodeProto) -> None:
        stated = [a for a in node.attribute if a.name == name]
        value = helper.get_attribute_value(stated[0]) if stated else default
        for a in stated:
            node.attribute.remove(a)
        node.attribute.append(helper.make_attribute(name, change(value)))

    return edit


def operand(place: int, change: Callable[[Any], Any]) -> Edit:
    """Return the edit that changes a constant that a node reads."""

    def edit(graph: GraphProto, node: NodeProto) -> None:
        known = {i.name: i for i in graph.initializer}
        known |= {n.output[0]: n.attribute[0].t for n in graph.node if n.op_type == "Constant"}
        before = numpy_helper.to_array(known[node.input[place]])
        after = np.asarray(change(before.copy()), before.dtype)
        assert after.shape == before.shape
        assert (after != before).any()
        graph.initializer.append(numpy_helper.from_array(after, "edited"))
        node.input[place] = "edited"

    return edit


def operation(name: str) -> Edit:
    def edit(graph: GraphProto, node: NodeProto) -> None:
        node.op_type = name

    return edit


def exchanged(graph: GraphProto, node: NodeProto) -> None:
    node.input[0], node.input[1] = node.input[1], node.input[0]


def branches(graph: GraphProto, node: NodeProto) -> None:
    node.input[1], node.input[2] = node.input[2], node.input[1]


def in_body(op: str, edit: Edit) -> Edit:
    """Return the edit of the first operation *op* in the body of a loop."""

    def of_body(graph: GraphProto, node: NodeProto) -> None:
        (body,) = (a.g for a in node.attribute if a.name == "body")
        edit(body, next(inner for inner in body.node if inner.op_type == op))

    return of_body


def more(by: float, place: int = -1) -> Callable[[Any], Any]:
    def change(x: Any) -> Any:
        x.flat[place] += by
        return x

    return change


def last_two(axes: Any) -> list[int]:
    return [*axes[:-2], axes[-1], axes[-2]]


EDITS: list[tuple[str, str, int, str, Edit]] = [
    ("unet", "Concat", 0, "another order", exchanged),
    ("unet", "Conv", 1, "pads at the other end", attribute("pads", lambda p: [p[0] + 1, p[1], p[2] - 1, p[3]])),
    ("unet", "Conv", 1, "a weight", operand(1, more(0.5))),
    ("unet", "Conv", 0, "kernels from right to left", operand(1, lambda w: w[..., ::-1])),
    ("unet", "Relu", 1, "another function", operation("Sigmoid")),
    ("unet", "Resize", 0, "another mode", attribute("mode", lambda m: "linear" if m == b"nearest" else "nearest")),
    ("gru", "GRU", 0, "one direction", attribute("direction", lambda d: "reverse")),
    ("gru", "GRU", 1, "a weight", operand(1, more(0.5))),
    ("gru", "GRU", 0, "another reset", attribute("linear_before_reset", lambda v: 1 - v, 0)),
    ("gru", "Transpose", 3, "two axes", attribute("perm", last_two)),
    ("lstm", "LSTM", 1, "a recurrent weight", operand(2, more(0.5))),
    ("lstm", "LSTM", 1, "the other direction", attribute("direction", lambda d: "reverse", "forward")),
    (
        "space_to_depth_stem",
        "Transpose",
        0,
        "two axes",
        attribute("perm", lambda p: [p[0], p[3], p[5], p[1], *p[2::2]]),
    ),
    ("space_to_depth_stem", "Conv", 0, "a weight", operand(1, more(0.5))),
    ("mobilenet", "Clip", 0, "another bound", operand(2, lambda x: x - 1)),
    ("mobilenet", "HardSwish", 1, "another function", operation("HardSigmoid")),
    ("mobilenet", "Gemm", 0, "half the bias", attribute("beta", lambda b: b / 2, 1.0)),
    ("mobilenet", "Add", 0, "another operation", operation("Mul")),
    ("convnext", "LayerNormalization", 0, "another epsilon", attribute("epsilon", lambda e: e + 0.1, 1e-5)),
    ("convnext", "LayerNormalization", 0, "a summand", operand(2, more(0.5))),
    ("convnext", "Erf", 0, "another function", operation("Tanh")),
    ("convnext", "Conv", 1, "pads at the other end", attribute("pads", lambda p: [p[0] + 1, p[1], p[2] - 1, p[3]])),
    ("convnext", "MatMul", 1, "a weight", operand(1, more(0.5))),
    ("swin", "Softmax", 0, "another axis", attribute("axis", lambda a: -2, -1)),
    ("swin", "Pow", 0, "another exponent", operand(1, lambda x: x + 1)),
    ("swin", "Transpose", 2, "two axes", attribute("perm", last_two)),
    ("xcit", "Div", 0, "operands", exchanged),
    ("xcit", "Softmax", 0, "another axis", attribute("axis", lambda a: -2, -1)),
    ("xcit", "Clip", 0, "another bound", operand(1, lambda x: x + 1)),
    ("deeplab", "Conv", 3, "other dilations", attribute("dilations", lambda d: [n + 1 for n in d])),
    ("deeplab", "Concat", 0, "another order", exchanged),
    ("keras_separable", "Sigmoid", 2, "another function", operation("Tanh")),
    ("keras_separable", "Pad", 0, "pads from the last axis on", operand(1, lambda p: p[::-1])),
    ("keras_recurrent", "Loop", 0, "operands in the body", in_body("MatMul", exchanged)),
    ("keras_attention", "Softmax", 0, "another axis", attribute("axis", lambda a: -2, -1)),
    ("keras_attention", "Gather", 0, "a word", operand(0, more(1.0))),
    ("bert", "Sub", 0, "operands", exchanged),
    ("bert", "Gather", 1, "a word", operand(0, more(1.0))),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "op", "number", "what", "edit"), EDITS, ids=lambda x: x if isinstance(x, str) else "")
def test_an_edited_export_is_not_proved_to_be_the_export(
    name: str, op: str, number: int, what: str, edit: Edit, tmp_path: Path
) -> None:
    before, read = export(name)
    edited = ModelProto()
    edited.CopyFrom(before)
    edit(edited.graph, [node for node in edited.graph.node if node.op_type == op][number])
    save(edited, tmp_path / "edited.onnx")
    try:
        found = sl.verify(read, tmp_path / "edited.onnx", laws=LAWS, run=False, budget=60)
    except sl.SymlayoutError:  # the file is refused, or no size is valid for both
        return
    assert found.verdict is not sl.Verdict.PROVED


def test_exports_are_edited_in_more_ways_than_one() -> None:
    assert len(EDITS) > 30
    assert len({name for name, *_ in EDITS}) >= 8
