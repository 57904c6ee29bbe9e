"""Extents that depend on data are one in two models if one function of equal operands brings them in."""

from __future__ import annotations

from pathlib import Path

from onnx import NodeProto

import symlayout as sl
from tests.support.onnx_writer import model, node, tensor, value_info


def written(path: Path, *nodes: NodeProto) -> Path:
    constants = (tensor([0], name="zero"), tensor([-1], name="all"))
    path.write_bytes(model(nodes, [value_info("x", ("N", 4))], constants=constants))
    return path


def test_an_extent_that_data_determine_is_followed_through_another_graph(tmp_path: Path) -> None:
    tail = [
        node("Transpose", "found", "places", perm=[1, 0]),
        node("GatherND", "x, places", "picked"),
        node("Shape", "picked", "count"),
        node("Concat", "count, all", "target", axis=0),
        node("Reshape", "picked, target", "column"),
    ]
    before = written(
        tmp_path / "before.onnx",
        node("Relu", "x", "r"),
        node("Transpose", "r", "t", perm=[1, 0]),
        node("Transpose", "t", "u", perm=[1, 0]),
        node("NonZero", "u", "found"),
        *tail,
        node("Neg", "column", "y"),
    )
    after = written(
        tmp_path / "after.onnx",
        node("Relu", "x", "r"),
        node("NonZero", "r", "found"),
        *tail,
        node("Neg", "column", "y"),
    )
    other = written(tmp_path / "other.onnx", node("NonZero", "x", "found"), *tail, node("Neg", "column", "y"))
    assert sl.verify(before, after).verdict is sl.Verdict.PROVED
    assert sl.verify(after, before).verdict is sl.Verdict.PROVED
    assert sl.verify(before, other, run=False).verdict is sl.Verdict.UNKNOWN
    assert sl.verify(before, other).verdict is sl.Verdict.REFUTED


def test_the_first_of_two_extents_is_not_the_second(tmp_path: Path) -> None:
    paths = []
    for k, first in enumerate(("x", "r")):
        second = "r" if first == "x" else "x"
        nodes = [
            node("Relu", "x", "r"),
            node("NonZero", first, "a"),
            node("NonZero", second, "b"),
            node("Concat", "a, b", "both", axis=1),
            node("Neg", "both", "y"),
        ]
        paths.append(written(tmp_path / f"{k}.onnx", *nodes))
    assert sl.verify(paths[0], paths[0]).verdict is sl.Verdict.PROVED
    assert sl.verify(paths[0], paths[1]).verdict is not sl.Verdict.PROVED


def test_an_extent_that_data_determine_stays_when_dims_get_values(tmp_path: Path) -> None:
    nodes = [
        node("NonZero", "x", "found"),
        node("Shape", "found", "size"),
        node("Transpose", "found", "rows", perm=[1, 0]),
        node("Slice", "size, one, two", "count"),
        node("Concat", "count, all", "target", axis=0),
        node("Reshape", "rows, target", "y"),
    ]
    path = tmp_path / "model.onnx"
    constants = (tensor([1], name="one"), tensor([2], name="two"), tensor([-1], name="all"))
    path.write_bytes(model(nodes, [value_info("x", ("N", 4))], constants=constants))
    found = sl.read_model(path).outputs["y"]
    bound = found.subs({"N": 2})
    assert bound.shape == found.shape
    assert (found.bounds()[0], bound.bounds()[0]) == ((1, None), (1, 8))
