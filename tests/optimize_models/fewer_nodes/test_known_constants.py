"""Values that are constants become initializers, where all runtimes compute the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from tests.optimize_models.fewer_nodes.node_models import constant, ops, optimized

HEAD = '<ir_version: 8, opset_import: ["": 17]>'


def test_what_a_static_shape_says_is_a_constant(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,16,3] x) => (float[N,16,3] y) <int64[1] at = {{1}}, float[1] half = {{0.5}}> {{
        s = Shape(x)
        n = Gather(s, at)
        f = Cast<to = 1>(n)
        q = Sqrt(f)
        p = Pow(f, half)
        d = Div(q, p)
        y = Mul(x, d)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 16, 3)}])
    assert ops(o) == ["Mul"]
    assert constant(o, "d") == [1.0]


@pytest.mark.parametrize("op", ["Exp", "Cos", "Log", "Tanh"])
def test_what_runtimes_round_in_their_own_way_is_computed(tmp_path: Path, op: str) -> None:
    text = f"""{HEAD} g (float[N,3] x) => (float[N,3] y) <float[3] c = {{0.1, 0.2, 0.7}}, float one = {{0.3}}> {{
        a = Add(c, c)
        e = {op}(a)
        f = {op}(one)
        h = Neg(f)
        b = Add(x, e)
        y = Mul(b, h)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 3)}])
    assert ops(o) == [op, op, "Neg", "Add", "Mul"]
    assert "a" in {t.name for t in o.source.graph.initializer}


@pytest.mark.parametrize(("base", "exponent", "is_folded"), [(8, -0.5, True), (6, -0.5, False), (0.1, 3, False)])
def test_a_power_is_folded_where_it_is_far_from_a_tie(
    tmp_path: Path, base: float, exponent: float, is_folded: bool
) -> None:
    text = f"""{HEAD} g (float[N,3] x) => (float[N,3] y) <float b = {{{base}}}, float e = {{{float(exponent)}}}> {{
        p = Pow(b, e)
        y = Mul(x, p)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 3)}])
    assert ops(o) == (["Mul"] if is_folded else ["Pow", "Mul"])


def test_an_activation_behind_a_computed_constant_has_a_known_shape(tmp_path: Path) -> None:
    """That a constant's last bits depend on the runtime says nothing of the shape of what it is multiplied with."""
    text = f"""{HEAD} g (float[N,4] x) => (float[N,4] y) <float one = {{0.3}}, int64[1] at = {{1}}> {{
        e = Exp(one)
        a = Mul(x, e)
        s = Shape(a)
        n = Gather(s, at)
        f = Cast<to = 1>(n)
        y = Div(a, f)
    }}"""
    assert ops(optimized(tmp_path, text, [{"x": (2, 4)}])) == ["Exp", "Mul", "Div"]


def test_copies_of_weights_are_read_from_the_weights(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,2] x) => (float[N,2] y, float[2] z) <float[2] w = {{1.5, 2.5}}> {{
        a = Identity(w)
        b = Identity(a)
        z = Identity(b)
        c = Mul(x, a)
        y = Add(c, b)
    }}"""
    o = optimized(tmp_path, text, [{"x": (3, 2)}])
    assert sorted(ops(o)) == ["Add", "Identity", "Mul"]


def test_an_initial_value_of_an_input_is_no_constant(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,2] x, float[2] w) => (float[N,2] y) <float[2] w = {{1.5, 2.5}}> {{
        a = Identity(w)
        b = Neg(a)
        y = Mul(x, b)
    }}"""
    o = optimized(tmp_path, text, [{"x": (3, 2)}, {"x": (3, 2), "w": (2,)}])
    assert "Neg" in ops(o)


def test_a_small_constant_does_not_become_a_large_one(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,200,200] x) => (float[N,200,200] y) <int64[2] n = {{200, 200}}, float v = {{0.5}}> {{
        m = Expand(v, n)
        y = MatMul(x, m)
    }}"""
    o = optimized(tmp_path, text)
    assert ops(o) in (["Expand", "MatMul"], ["ConstantOfShape", "MatMul"])
    assert sum(t.ByteSize() for t in o.source.graph.initializer) < 1000


def test_a_large_constant_may_take_the_place_of_one_that_goes(tmp_path: Path) -> None:
    path = tmp_path / "before.onnx"
    weights = np.arange(20000, dtype=np.float32).reshape(100, 200)
    text = """<ir_version: 8, opset_import: ["": 17]> g (float[N,200] x) => (float[N,100] y) {
        w = Transpose(v)
        y = MatMul(x, w)
    }"""
    for is_shared in (False, True):
        made = onnx.parser.parse_model(text)
        made.graph.initializer.append(onnx.numpy_helper.from_array(weights, "v"))
        if is_shared:
            made.graph.node.append(onnx.helper.make_node("Exp", ["v"], ["e"]))
            made.graph.output.append(onnx.helper.make_tensor_value_info("e", 1, [100, 200]))
        onnx.save(made, path)
        o = sl.optimize(path, laws=["reassociate"])
        assert ("Transpose" in ops(o)) is is_shared
        assert sum(len(t.raw_data) for t in o.source.graph.initializer) == weights.nbytes


def test_before_initializers_were_free_constants_stay_nodes(tmp_path: Path) -> None:
    text = """<ir_version: 3, opset_import: ["": 9]> g (float[N,2] x) => (float[N,2] y) {
        a = Constant<value = float[2] {1.5, 2.5}>()
        b = Neg(a)
        y = Mul(x, b)
    }"""
    assert ops(optimized(tmp_path, text)) == ["Constant", "Neg", "Mul"]
