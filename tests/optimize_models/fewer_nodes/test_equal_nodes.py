"""What is computed twice is computed once; names of outputs, subgraphs and random numbers stay."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.fewer_nodes.equal_nodes import merge_equal
from symlayout.optimize_models.onnx_graph import EditedGraph
from tests.optimize_models.fewer_nodes.node_models import ops, optimized

HEAD = '<ir_version: 8, opset_import: ["": 17]>'


def test_equal_nodes_of_equal_operands_are_one(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,4] x) => (float[N,4] y)
        <float[1] a = {{2.0}}, float[1] b = {{2.0}}, float c = {{2.0}}> {{
        p = Mul(x, a)
        q = Mul(x, b)
        r = Mul(x, c)
        e = Exp(p)
        f = Exp(q)
        g = Exp(r)
        s = Add(e, f)
        y = Sub(s, g)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 4)}])
    assert sorted(ops(o)) == ["Add", "Exp", "Exp", "Mul", "Mul", "Sub"]  # c has another shape


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Softmax<axis = 0>(x)", "Softmax<axis = 1>(x)"),
        ("Sub(x, c)", "Sub(c, x)"),
        ("Add(x, c)", "Add(x, d)"),
        ("RandomNormalLike<seed = 1.0>(x)", "RandomNormalLike<seed = 1.0>(x)"),
    ],
    ids=["attribute", "order", "constant", "random"],
)
def test_other_nodes_stay(tmp_path: Path, first: str, second: str) -> None:
    text = f"""{HEAD} g (float[N,4] x) => (float[N,4] y, float[N,4] z) <float c = {{2.0}}, float d = {{-2.0}}> {{
        a = {first}
        b = {second}
        y = Relu(a)
        z = Exp(b)
    }}"""
    if "Random" not in first:
        assert len(ops(optimized(tmp_path, text, [{"x": (2, 4)}]))) == 4
    else:
        onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
        assert ops(sl.optimize(tmp_path / "m.onnx")).count("RandomNormalLike") == 2


def test_outputs_and_what_subgraphs_read_keep_their_names(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,4] x, bool k) => (float[N,4] y, float[N,4] z, float[N,4] v) {{
        y = Exp(x)
        z = Exp(x)
        a = Exp(x)
        v = If(k) <
            then_branch = t () => (float[N,4] p) {{ p = Neg(a) }},
            else_branch = e () => (float[N,4] q) {{ q = Abs(a) }}
        >
    }}"""
    o = optimized(tmp_path, text)
    assert sorted(ops(o)) == ["Exp", "Exp", "Exp", "If"]
    assert [v.name for v in o.source.graph.output] == ["y", "z", "v"]


def test_numbers_of_shapes_are_equal_whatever_computes_them(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,H] x, float[N] w) => (float[H,N] y, float[H,N] z)
        <int64 zero = {{0}}, int64[1] first = {{0}}, int64[1] second = {{1}}, int64[1] axes = {{0}}> {{
        s = Shape(x)
        n = Gather(s, zero)
        a = Unsqueeze(n, axes)
        h = Gather(s, second)
        t = Concat<axis = 0>(h, a)
        y = Reshape(x, t)
        s2 = Shape(w)
        b = Gather(s2, first)
        t2 = Concat<axis = 0>(h, b)
        r = Relu(x)
        z = Reshape(r, t2)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 3), "w": (2,)}, {"x": (4, 1), "w": (4,)}])
    assert ops(o).count("Reshape") == 2
    assert len(ops(o)) == 5  # Shape, Gather, two reshapes and the function


def test_a_value_is_proved_by_those_who_read_it_not_by_all_who_read_the_same(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,4] x) => (float[N,4] y) {{
        a = Exp(x)
        b = Exp(x)
        c = Exp(x)
        p = Neg(a)
        q = Abs(b)
        r = Relu(c)
        y = Sum(p, q, r)
    }}"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    m = sl.read_model(tmp_path / "m.onnx")
    changes = merge_equal(EditedGraph(m.source), m, frozenset())
    assert [(each.value, each.ends) for each in changes] == [("b", ("q",)), ("c", ("r",))]


def test_equal_values_that_trade_places_have_no_proof_that_says_otherwise(tmp_path: Path) -> None:
    """Two lengths are values of their own: a range of one is no function of the other, though they are equal."""
    text = f"""{HEAD} g (float[N,S] x) => (float[N,S] z)
        <int64 one = {{1}}, float zero = {{0.0}}, float step = {{1.0}}> {{
        s = Shape(x)
        a = Gather(s, one)
        b = Gather(s, one)
        length = Cast<to = 1>(a)
        length2 = Cast<to = 1>(b)
        r = Range(zero, length, step)
        r2 = Range(zero, length2, step)
        y = Add(x, r)
        z = Mul(y, r2)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 3)}, {"x": (1, 5)}])
    assert ops(o).count("Range") == 1
    (range_,) = [each for change in o.report.changes for each in change.rewritten if each.value == "r2"]
    assert "REFUTED" not in str(range_)
