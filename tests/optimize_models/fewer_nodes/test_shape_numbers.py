"""Numbers of shapes that no constant states are computed as whole vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.optimize_models.fewer_nodes.node_models import ops, optimized

HEAD = '<ir_version: 8, opset_import: ["": 17]>'


WINDOWS = f"""{HEAD} g (float[N,H,W,8] x) => (float[A,4,4,8] y, float[N,H,W,8] z)
    <int64 i0 = {{0}}, int64 i1 = {{1}}, int64 i2 = {{2}}, int64 i3 = {{3}}, int64 four = {{4}}, int64[1] axes = {{0}},
     int64[1] f = {{4}}, int64[4] flat = {{-1, 4, 4, 8}}> {{
    s0 = Shape(x)
    n = Gather(s0, i0)
    s1 = Shape(x)
    h = Gather(s1, i1)
    s2 = Shape(x)
    w = Gather(s2, i2)
    s3 = Shape(x)
    c = Gather(s3, i3)
    hq = Div(h, four)
    hr = Cast<to = 7>(hq)
    wq = Div(w, four)
    wr = Cast<to = 7>(wq)
    nu = Unsqueeze(n, axes)
    hu = Unsqueeze(hr, axes)
    wu = Unsqueeze(wr, axes)
    cu = Unsqueeze(c, axes)
    t = Concat<axis = 0>(nu, hu, f, wu, f, cu)
    r = Reshape(x, t)
    e = Exp(r)
    v = Transpose<perm = [0, 1, 3, 2, 4, 5]>(e)
    y = Reshape(v, flat)
    nu2 = Unsqueeze(n, axes)
    hu2 = Unsqueeze(h, axes)
    wu2 = Unsqueeze(w, axes)
    cu2 = Unsqueeze(c, axes)
    t2 = Concat<axis = 0>(nu2, hu2, wu2, cu2)
    z = Reshape(r, t2)
}}"""


def test_the_numbers_of_a_target_are_computed_as_one_vector(tmp_path: Path) -> None:
    o = optimized(tmp_path, WINDOWS, [{"x": (2, 8, 12, 8)}, {"x": (0, 8, 12, 8)}, {"x": (1, 0, 4, 8)}])
    shapes = [op for op in ops(o) if op not in ("Exp", "Reshape", "Transpose", "Identity")]
    assert shapes == ["Shape", "Concat", "Gather", "Div"]


@pytest.mark.parametrize("shape", ["float[N,6,W]", "float[N,H,W]"])
def test_a_number_that_is_read_as_a_scalar_is_gathered_as_one(tmp_path: Path, shape: str) -> None:
    text = f"""{HEAD} g ({shape} x) => ({shape} y)
        <int64[1] a = {{2}}, int64[1] two = {{2}}, int64[1] axes = {{0}}, int64 zero = {{0}}, int64 one = {{1}}> {{
        s = Shape(x)
        w = Gather(s, a)
        k = Mul(w, two)
        h = Div(k, two)
        q = Squeeze(h, axes)
        r = Range(zero, q, one)
        f = Cast<to = 1>(r)
        y = Add(x, f)
    }}"""
    o = optimized(tmp_path, text, [{"x": (2, 6, 3)}, {"x": (2, 6, 0)}])
    assert ops(o) == ["Shape", "Gather", "Range", "Cast", "Add"]
