"""Sequences of known length are their elements; others are opaque."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto

import symlayout as sl
from symlayout.models.model import Model
from symlayout.models.onnx_nodes.sequences import SEQUENCES
from tests.support.onnx_writer import model, node, tensor, value_info

X = value_info("x", ("N", 4))


def read(folder: Path, data: bytes) -> Model:
    (folder / "model.onnx").write_bytes(data)
    return sl.read_model(folder / "model.onnx")


def test_sequences_of_known_length_are_their_elements(tmp_path: Path) -> None:
    nodes = [node("SplitToSequence", "x, parts", "s", axis=1), node("SequenceAt", "s, one", "y"),
             node("ConcatFromSequence", "s", "z", axis=0)]  # fmt: skip
    constants = (tensor([2, 2], name="parts"), tensor([1], [], "one"))
    m = read(tmp_path, model(nodes, [value_info("x", ("N", 4))], constants=constants, outputs=("y", "z")))
    assert str(m.outputs["y"].shape) == "(N, 2)"
    assert str(m.outputs["z"].shape) == "(2*N, 2)"
    assert str(m.tensors["s"]) == "sequence"


@pytest.mark.parametrize(("place", "shapes"), [(None, "NM"), (0, "MN"), (1, "NM"), (-1, "MN")], ids=str)
def test_a_value_is_inserted_where_the_node_says(place: int | None, shapes: str, tmp_path: Path) -> None:
    nodes: list[NodeProto] = [
        node("SequenceConstruct", "x", "one"),
        node("SequenceInsert", "one, z" if place is None else "one, z, place", "two"),
        node("SequenceAt", "two, first", "a"), node("SequenceAt", "two, last", "b"),
        node("SequenceLength", "two", "n"),
    ]  # fmt: skip
    constants = [tensor([0], [], "first"), tensor([-1], [], "last")]
    constants += [] if place is None else [tensor([place], [], "place")]
    data = model(nodes, [X, value_info("z", ("M", 4))], constants=tuple(constants), outputs=("a", "b", "n"))
    m = read(tmp_path, data)
    assert "".join(str(m.outputs[name].shape[0]) for name in "ab") == shapes
    assert sl.interpret(m.outputs["n"]).item() == 2


def test_a_sequence_without_elements_takes_one(tmp_path: Path) -> None:
    nodes = [node("SequenceEmpty", "", "none"), node("SequenceInsert", "none, x", "s"), node("SequenceAt", "s, k", "y")]
    m = read(tmp_path, model(nodes, [X], constants=(tensor([0], [], "k"),)))
    assert m.outputs["y"] is m.inputs["x"]


def test_rows_are_elements_without_their_axis(tmp_path: Path) -> None:
    nodes = [node("SplitToSequence", "x", "s", axis=1, keepdims=0), node("SequenceAt", "s, k", "y"),
             node("ConcatFromSequence", "s", "z", axis=0, new_axis=1)]  # fmt: skip
    m = read(tmp_path, model(nodes, [X], constants=(tensor([3], [], "k"),), outputs=("y", "z")))
    assert str(m.outputs["y"].shape) == "(N,)"
    assert sl.prove_equal(m.outputs["z"], sl.transpose(m.inputs["x"])).verdict is sl.Verdict.PROVED
    assert set(SEQUENCES) >= {n.op_type for n in nodes}


def test_a_sequence_of_unknown_length_is_opaque(tmp_path: Path) -> None:
    nodes = [node("SplitToSequence", "x", "s", axis=0), node("SequenceAt", "s, k", "y")]
    m = read(tmp_path, model(nodes, [X], constants=(tensor([0], [], "k"),)))
    assert (m.outputs["y"].rank, m.outputs["y"].dtype) == (2, np.float32)
    assert m.outputs["y"].body is not None
