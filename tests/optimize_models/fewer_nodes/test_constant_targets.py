"""Targets of reshapes and broadcasts are constants where these are right for all sizes."""

from __future__ import annotations

from pathlib import Path

from tests.optimize_models.fewer_nodes.node_models import constant, ops, optimized

HEAD = '<ir_version: 8, opset_import: ["": 17]>'


def test_a_target_that_copies_extents_is_a_constant(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,S,8] x) => (float[N,S,2,4] y)
        <int64[1] a = {{0}}, int64[1] b = {{1}}, int64[2] heads = {{2, 4}}> {{
        s = Shape(x)
        n = Gather(s, a)
        m = Gather(s, b)
        t = Concat<axis = 0>(n, m, heads)
        y = Reshape(x, t)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 3, 8)}, {"x": (0, 3, 8)}, {"x": (2, 0, 8)}])
    assert ops(o) == ["Reshape"]
    assert constant(o, o.source.graph.node[0].input[1]) == [0, 0, 2, 4]


def test_a_constant_that_refuses_empty_values_is_not_used(tmp_path: Path) -> None:
    """``[0, -1, 8]`` would not say what the second extent is where the first one is 0."""
    text = f"""{HEAD} g (float[N,H,W,8] x) => (float[N,K,8] y)
        <int64[1] a = {{0}}, int64[1] b = {{1}}, int64[1] c = {{2}}, int64[1] eight = {{8}}> {{
        s = Shape(x)
        n = Gather(s, a)
        h = Gather(s, b)
        w = Gather(s, c)
        k = Mul(h, w)
        t = Concat<axis = 0>(n, k, eight)
        y = Reshape(x, t)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 3, 5, 8)}, {"x": (0, 3, 5, 8)}, {"x": (2, 0, 5, 8)}])
    assert ops(o)[-1] == "Reshape"
    assert len(ops(o)) <= 6


def test_a_broadcast_to_extents_that_are_there_has_a_constant_target(tmp_path: Path) -> None:
    text = f"""{HEAD} g (float[N,1,4] x) => (float[N,6,4] y)
        <int64[1] a = {{0}}, int64[2] rest = {{6, 4}}> {{
        s = Shape(x)
        n = Gather(s, a)
        t = Concat<axis = 0>(n, rest)
        e = Expand(x, t)
        y = Softmax<axis = 1>(e)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 1, 4)}, {"x": (0, 1, 4)}, {"x": (1, 1, 4)}])
    assert "Shape" not in ops(o)
