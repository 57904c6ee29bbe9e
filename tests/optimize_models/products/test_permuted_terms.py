"""Channels stay in the order in which they are moved most cheaply, if a law lets their sums follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto

import symlayout as sl
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.products.permuted_terms import permute_terms
from symlayout.optimize_models.spellings.spell_movement import Speller
from tests.optimize_models.run_both import constants, ops, optimized_and_run
from tests.support.onnx_writer import node

PICTURE = ("N", 3, "H", "W")
PIECES = [(0, 0), (1, 0), (0, 1), (1, 1)]
LAWS = ["reassociate"]


def weights(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def focus(pads: int) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the stem of YOLOv5: four strided slices, joined, and a convolution."""
    nodes = [node("Slice", f"x, at{i}{j}, end, axes, steps", f"s{i}{j}") for i, j in PIECES]
    nodes += [
        node("Concat", ", ".join(f"s{i}{j}" for i, j in PIECES), "c", axis=1),
        node("Conv", "c, w, b", "y", pads=[pads] * 4),
    ]
    starts = {f"at{i}{j}": [i, j] for i, j in PIECES}
    return nodes, constants(
        w=weights(4, 12, 3, 3), b=weights(4), end=[np.iinfo(np.int64).max] * 2, axes=[2, 3], steps=[2, 2], **starts
    )


@pytest.mark.parametrize(("pads", "shape"), [(0, PICTURE), (1, ("N", 3, 8, 6))])
def test_a_focus_stem_is_one_operation(tmp_path: Path, pads: int, shape: tuple[int | str, ...]) -> None:
    """With pads, onnxruntime runs a picture of one pixel, whose pieces no standard joins; so the sizes are fixed."""
    nodes, given = focus(pads)
    o = optimized_and_run(tmp_path, nodes, {"x": shape}, given, laws=LAWS, rtol=1e-4, steps=2, special=False)
    assert ops(o) == ["SpaceToDepth", "Conv"]
    assert o.report.laws == ("reassociate",)


def test_without_the_law_the_order_stays(tmp_path: Path) -> None:
    nodes, given = focus(0)
    o = optimized_and_run(tmp_path, nodes, {"x": PICTURE}, given, steps=2)
    assert "SpaceToDepth" not in ops(o)
    assert o.report.laws == ()


SHUFFLE = [node("Reshape", "x, apart", "a"), node("Transpose", "a", "b", perm=[0, 2, 1, 3, 4]),
           node("Reshape", "b, whole", "c")]  # fmt: skip
GROUPS: dict[str, Any] = {"apart": [0, 4, 3, 5, 6], "whole": [0, 12, 5, 6]}


def test_a_shuffle_of_channels_goes_into_the_weights(tmp_path: Path) -> None:
    given = constants(w=weights(2, 12, 1, 1), **GROUPS)
    nodes = [*SHUFFLE, node("Conv", "c, w", "y")]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 12, 5, 6)}, given, laws=LAWS, rtol=1e-4, special=False)
    assert ops(o) == ["Conv"]


@pytest.mark.parametrize(
    ("last", "w"),
    [(node("Conv", "c, w", "y", group=3), weights(3, 4, 1, 1)), (node("Mul", "c, w", "y"), weights(12, 1, 1))],
    ids=["groups of channels", "no sum"],
)
def test_other_operations_keep_their_channels(tmp_path: Path, last: NodeProto, w: np.ndarray[Any, Any]) -> None:
    o = optimized_and_run(tmp_path, [*SHUFFLE, last], {"x": ("N", 12, 5, 6)}, constants(w=w, **GROUPS), laws=LAWS)
    assert not [c for c in o.report.changes if c.rule == "terms"]


def test_weights_as_wide_as_the_channels_are_turned_along_the_axis_of_the_sum(tmp_path: Path) -> None:
    given = constants(w=weights(12, 12, 1, 1), **GROUPS)
    nodes = [*SHUFFLE, node("Conv", "c, w", "y")]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 12, 5, 6)}, given, laws=LAWS, rtol=1e-4, special=False)
    assert ops(o) == ["Conv"]


def test_channels_that_another_node_reads_stay(tmp_path: Path) -> None:
    given = constants(w=weights(2, 12, 1, 1), **GROUPS)
    nodes = [*SHUFFLE, node("Conv", "c, w", "y"), node("Relu", "c", "z")]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 12, 5, 6)}, given, outputs=("y", "z"), laws=LAWS, rtol=1e-4,
                          special=False)  # fmt: skip
    assert o.report.after.transposes == 1


def test_a_kept_value_stays(tmp_path: Path) -> None:
    nodes, given = focus(0)
    optimized_and_run(tmp_path, nodes, {"x": PICTURE}, given, steps=2, runs=6)
    model = sl.read_model(tmp_path / "before.onnx")
    speller = Speller(EditedGraph(model.source).opset)
    assert [c.value for c in permute_terms(model, set(), speller)[1]] == ["y"]
    assert permute_terms(model, {"y"}, speller)[1] == []
