"""Branches and loops keep of a shape what all branches and passes share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.models.load_onnx import OnnxEvaluation
from symlayout.models.model import Model, ModelNode, Value
from symlayout.models.onnx_nodes.control_flow import CONTROL_FLOW, MAX_LOOP_PASSES
from tests.support.onnx_writer import FLOAT, INT64, model, node, tensor, value_info

X = value_info("x", ("N", "C", "H", "W"))


def read(folder: Path, data: bytes) -> Model:
    (folder / "model.onnx").write_bytes(data)
    return sl.read_model(folder / "model.onnx")


def graph(name: str, nodes: list[NodeProto], outputs: list[str], inputs: list[tuple[str, int]] = []) -> object:  # noqa: B006
    return helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(n, t, None) for n, t in inputs],
        [helper.make_tensor_value_info(n, FLOAT, None) for n in outputs],
    )  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
def test_branches_are_joined_unless_the_condition_is_known(tmp_path: Path, known: bool) -> None:
    then = graph("then", [node("Transpose", "x", "a", perm=[0, 1, 2, 3])], ["a"])
    otherwise = graph("else", [node("Transpose", "x", "b", perm=[0, 1, 3, 2])], ["b"])
    made = node("If", "c", "y", then_branch=then, else_branch=otherwise)
    condition = numpy_helper.from_array(np.array(False), "c")
    inputs = [X] if known else [X, helper.make_tensor_value_info("c", 9, [])]
    m = read(tmp_path, model([made], inputs, constants=(condition,) if known else ()))
    shape = m.outputs["y"].shape
    assert [str(n) for n in shape[:2]] == ["N", "C"]
    assert ([str(n) for n in shape[2:]] == ["W", "H"]) is known
    if not known:
        assert {str(n) for n in shape[2:]}.isdisjoint({"H", "W"})


def test_what_a_loop_keeps_is_kept(tmp_path: Path) -> None:
    body = graph(
        "body",
        [node("Identity", "c0", "c1"), node("Transpose", "a0", "a1", perm=[0, 1]),
         node("Concat", "b0, b0", "b1", axis=0), node("Identity", "a0", "row")],
        ["c1", "a1", "b1", "row"],
        [("i", INT64), ("c0", 9), ("a0", FLOAT), ("b0", FLOAT)],
    )  # fmt: skip
    made = node("Loop", "trips, , x, x", "y, z, rows", body=body)
    m = read(tmp_path, model([made], [value_info("x", ("N", 4))], constants=(tensor([5], [], "trips"),),
                             outputs=("y", "z", "rows")))  # fmt: skip
    y, z, rows = m.outputs.values()
    assert str(y.shape) == "(N, 4)"
    assert z.shape[1] == 4
    assert str(z.shape[0]) != "N"
    assert str(rows.shape[1:]) == "(N, 4)"
    assert rows.bounds()[0] == (0, 5)


def test_a_loop_that_changes_a_further_extent_at_each_pass_ends_without_a_shape(tmp_path: Path) -> None:
    """Each pass turns the axes once more, so that the extents that stay are fewer each time."""
    rank = MAX_LOOP_PASSES + 2
    body = graph(
        "body",
        [node("Identity", "c0", "c1"), node("Slice", "a0, one, last, first", "cut"),
         node("Transpose", "cut", "a1", perm=[*range(1, rank), 0])],
        ["c1", "a1"],
        [("i", INT64), ("c0", 9), ("a0", FLOAT)],
    )  # fmt: skip
    constants = (tensor([5], [], "trips"), tensor([1], name="one"), tensor([9], name="last"), tensor([0], name="first"))
    made = node("Loop", "trips, , x", "y", body=body)
    m = read(tmp_path, model([made], [value_info("x", tuple("abcdef"[:rank]))], constants=constants))
    y = m.outputs["y"]
    assert not {str(n) for n in y.shape} & set("abcdef")


def test_loops_in_loops_take_no_passes_that_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[ModelNode] = []
    inside = OnnxEvaluation.inside

    def noted(self: OnnxEvaluation, at: ModelNode, *rest: Any) -> list[Value]:
        passed.append(at)
        return inside(self, at, *rest)

    monkeypatch.setattr(OnnxEvaluation, "inside", noted)

    def nested(depth: int) -> NodeProto:
        v, u, w = f"v{depth}", f"u{depth}", f"w{depth}"
        within = node("Identity", v, u) if not depth else nested(depth - 1)
        nodes = [within, node("Concat", f"{u}, {v}", w, axis=0), node("Identity", f"c{depth}", f"d{depth}")]
        inputs = [(f"i{depth}", INT64), (f"c{depth}", TensorProto.BOOL), (v, FLOAT)]
        body = helper.make_graph(
            nodes, "body", [helper.make_tensor_value_info(name, kind, None) for name, kind in inputs],
            [value_info(f"d{depth}", (), TensorProto.BOOL), value_info(w, None)],
        )  # fmt: skip
        around = f"v{depth + 1}", f"u{depth + 1}"
        return node("Loop", f"m, , {around[0]}", around[1], body=body)

    depth = 14
    data = model([nested(depth)], [value_info("m", (), INT64), value_info(f"v{depth + 1}", ("N", "C"))],
                 (f"u{depth + 1}",))  # fmt: skip
    m = read(tmp_path, data)
    (made,) = m.outputs.values()
    assert made.rank == 2
    assert len(passed) < 30 * depth


def test_a_scan_adds_a_row_for_each_row_that_it_reads(tmp_path: Path) -> None:
    body = graph(
        "body", [node("Add", "sum, row", "next"), node("Identity", "next", "out")], ["next", "out"],
        [("sum", FLOAT), ("row", FLOAT)],
    )  # fmt: skip
    made = node("Scan", "start, x", "last, all", body=body, num_scan_inputs=1)
    inputs = [value_info("start", ("C",)), value_info("x", ("N", "C"))]
    m = read(tmp_path, model([made], inputs, outputs=("last", "all")))
    assert str(m.outputs["last"].shape) == "(C,)"
    assert str(m.outputs["all"].shape) == "(N, C)"


def test_the_body_of_a_scan_returns_all_that_is_carried(tmp_path: Path) -> None:
    body = graph("body", [node("Add", "sum, row", "next")], [], [("sum", FLOAT), ("row", FLOAT)])
    made = node("Scan", "start, x", "last", body=body, num_scan_inputs=1)
    with pytest.raises(sl.FormatError, match="the body of the scan does not fit its inputs"):
        read(tmp_path, model([made], [value_info("start", ("C",)), value_info("x", ("N", "C"))], outputs=("last",)))


@pytest.mark.parametrize("op", CONTROL_FLOW)
def test_a_node_without_its_body_is_no_raw_error(op: str, tmp_path: Path) -> None:
    data = model([node(op, "c", "y")], [helper.make_tensor_value_info("c", 9, [])])
    with pytest.raises((sl.FormatError, sl.ShapeError), match=f"in: node .*{op}"):
        read(tmp_path, data)
