"""Nodes that no output needs are read, and what they demand of the sizes is a demand of the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from onnx import NodeProto, TensorProto, ValueInfoProto, helper

import symlayout as sl
from tests.support.onnx_writer import model, node, tensor, value_info

RELU = node("Relu", "x", "y")


def read(
    folder: Path, *nodes: NodeProto, inputs: Sequence[ValueInfoProto] = (), constants: Sequence[TensorProto] = ()
) -> sl.Model:
    path = folder / "m.onnx"
    given = [value_info("x", ("N", "C")), value_info("z", ("K", "M")), *inputs]
    path.write_bytes(model(nodes, given, constants=constants))
    return sl.read_model(path)


@pytest.mark.parametrize(
    ("nodes", "requires"),
    [
        ([], []),
        ([node("MatMul", "x, z", "unused")], ["Eq(C, K)"]),
        ([node("MatMul", "x, z", "p"), node("Shape", "p", "unused")], ["Eq(C, K)"]),
        ([node("Reshape", "x, pairs", "unused")], ["Eq(Mod(C*N, 2), 0)"]),
        ([node("Concat", "x, z", "unused", axis=0), node("Concat", "x, z", "too", axis=1)], ["Eq(M, C)", "Eq(K, N)"]),
    ],
)
def test_what_unused_nodes_demand_is_a_demand_of_the_model(
    tmp_path: Path, nodes: list[NodeProto], requires: list[str]
) -> None:
    found = read(tmp_path, *nodes, RELU, constants=[tensor([2, -1], name="pairs")])
    assert [str(r) for r in found.requires] == requires
    assert [n.op_type for n in found.nodes] == ["Relu"]
    assert list(found.unused) == [found.producer(name) for n in found.unused for name in n.outputs]
    assert all(name in found.tensors for n in nodes for name in n.output)


def test_a_value_that_only_gives_its_shape_demands_too(tmp_path: Path) -> None:
    nodes = [node("MatMul", "x, z", "p"), node("Shape", "p", "y")]
    found = read(tmp_path, *nodes)
    assert [str(r) for r in found.requires] == ["Eq(C, K)"]
    assert found.outputs["y"].requires == ()


@pytest.mark.parametrize(("given", "requires"), [(True, ["Eq(C, K)"]), (False, [])])
def test_what_a_branch_demands_counts_only_where_it_is_always_taken(
    tmp_path: Path, given: bool, requires: list[str]
) -> None:
    out = [value_info("out", None)]
    product = helper.make_graph([node("MatMul", "x, z", "p"), node("Relu", "x", "out")], "product", [], out)
    plain = helper.make_graph([node("Relu", "x", "out")], "plain", [], out)
    constants = [helper.make_tensor("c", TensorProto.BOOL, [], [True])] if given else []
    inputs = [] if given else [value_info("c", (), TensorProto.BOOL)]
    choice = node("If", "c", "y", then_branch=product, else_branch=plain)
    found = read(tmp_path, choice, inputs=inputs, constants=constants)
    assert [str(r) for r in found.requires] == requires


def test_a_node_that_reads_what_is_not_there_is_refused_although_nobody_needs_it(tmp_path: Path) -> None:
    with pytest.raises(sl.FormatError, match="'nothing' is read and not defined"):
        read(tmp_path, node("Relu", "nothing", "unused"), RELU)
