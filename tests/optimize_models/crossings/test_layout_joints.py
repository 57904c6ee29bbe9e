"""Movement whose own Transpose makes, or takes, the other layout of a value costs nothing more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from symlayout.models.read_model import read_model
from symlayout.optimize_models.crossings.layout_joints import add_joints, drop_joints
from symlayout.optimize_models.movement_cost import Movement
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.spell_movement import Speller
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.products.test_split_products import optimized
from tests.optimize_models.spellings.dilation_spellings import Parts

CHANNELS, HEADS = 8, 2
SHAPES: dict[str, list[int | str]] = {
    "static": [2, CHANNELS, 4, 6],
    "dynamic batch": ["N", CHANNELS, 4, 6],
    "all dynamic": ["N", CHANNELS, "H", "W"],
}


def given(n: Parts) -> str:
    """Return what heads are joined to, added to rows of a picture that becomes a picture again."""
    picture = n("Relu", "x")
    flat = n("Reshape", picture, n.integers(0, CHANNELS, -1))
    rows = n.turn(flat, 0, 2, 1)
    columns = n("Reshape", n("MatMul", rows, n.weights(CHANNELS, CHANNELS)), n.integers(0, -1, HEADS, 4))
    heads = n.turn(columns, 0, 2, 1, 3)
    made = n("MatMul", n("MatMul", heads, n.turn(heads, 0, 1, 3, 2)), heads)
    joined = n("Reshape", n.turn(made, 0, 2, 1, 3), n.integers(0, -1, CHANNELS))
    return n("Sqrt", n.turn(n("Abs", n("Add", rows, joined)), 0, 2, 1))


def taken(n: Parts) -> str:
    """Return heads that are cut of the sum of rows, which is a picture too."""
    flat = n("Reshape", n("Relu", "x"), n.integers(0, CHANNELS, -1))
    rows = n("Abs", n("Add", n.turn(flat, 0, 2, 1), n.turn(n("Exp", flat), 0, 2, 1)))
    heads = n.turn(n("Reshape", rows, n.integers(0, -1, HEADS, CHANNELS // HEADS)), 0, 2, 1, 3)
    return n("Softmax", heads, axis=-1)


NETWORKS: dict[str, tuple[Callable[[Parts], str], int, int]] = {"given": (given, 4, 3), "taken": (taken, 1, 4)}
"""Each network, the most transposes of the result, and its rank."""


def network(name: str, kind: str) -> onnx.ModelProto:
    make, _, rank = NETWORKS[name]
    n = Parts(opset=18)
    y = make(n)
    return n.model(SHAPES[kind], y, rank)


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_transpose_beside_a_value_makes_its_other_layout(tmp_path: Path, name: str, kind: str) -> None:
    o = optimized(tmp_path, network(name, kind))
    assert o.report.after.transposes <= NETWORKS[name][1]
    x = np.random.default_rng(0).normal(size=(2, CHANNELS, 4, 6)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()


@pytest.mark.parametrize("name", NETWORKS)
def test_joints_that_keep_all_axes_leave_the_graph_as_it_was(tmp_path: Path, name: str) -> None:
    onnx.save(network(name, "all dynamic"), tmp_path / "m.onnx")
    m = read_model(tmp_path / "m.onnx")
    graph = EditedGraph(m.source)
    joints = add_joints(graph, Movement(m), (0, 2, 1), Speller(graph.opset))
    assert joints
    assert len(graph.nodes) == len(m.source.graph.node) + len(joints)
    drop_joints(graph, joints)
    assert graph.finish().SerializeToString() == m.source.SerializeToString()
