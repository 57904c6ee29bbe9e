"""What nodes demand of sizes and elements, in claims that attacks made."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import parser

import symlayout as sl
from symlayout.tensors.declaration import Places

PROVED, REFUTED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.REFUTED, sl.Verdict.UNKNOWN
ATTENTION = (
    "float[d2,d3,d4,d8] q, float[d2,d3,d6,d8] k, float[d2,d3,d6,d8] v, float[d4,d18] m, float[d2,d3,d12,d8] a, "
    "float[d2,d3,d12,d8] b"
)


def read(folder: Path, inputs: str, nodes: str, outputs: str = "y", opset: int = 23) -> sl.Model:
    text = f'<ir_version: 10, opset_import: ["" : {opset}]> g ({inputs}) => ({outputs}) {{ {nodes} }}'
    path = folder / f"{len(list(folder.iterdir()))}.onnx"
    path.write_bytes(parser.parse_model(text).SerializeToString())
    return sl.read_model(path)


def test_what_is_demanded_beyond_the_standard_implies_no_other_demand(tmp_path: Path) -> None:
    shape = "r, s, t = Attention (q, k, v, m, a, b) y = Shape (r)"
    before = read(tmp_path, ATTENTION, shape, "float y")
    after = read(tmp_path, ATTENTION, f"{shape} dead = MatMul (b, k)", "float y")
    found = sl.verify(before, after, run=False)
    assert found.verdict is REFUTED
    at = {str(symbol): n for symbol, n in found.witness.dims.items()} if found.witness else {}
    assert at["d8"] != at["d6"]
    assert at["d18"] == at["d12"] + at["d6"]
    assert sl.verify(after, before, run=False).verdict is PROVED


def test_a_demand_about_a_maximum_that_only_one_model_has_is_named(tmp_path: Path) -> None:
    image = "s = Constant <value_ints = [3, 4, 5]> () b = Constant <value_ints = [1, 1, 5]> ()"
    before = read(tmp_path, "float[A,B,C] x", f"{image} y = Col2Im (x, s, b)", "float y")
    cut = "f = Constant <value_ints = [-1]> () e = Constant <value_ints = [-100]> () a = Constant <value_ints = [1]> ()"
    flip = f"{cut} r = Slice (x, f, e, a, f) t = Slice (r, f, e, a, f) y = Col2Im (t, s, b)"
    found = sl.verify(before, read(tmp_path, "float[A,B,C] x", f"{image} {flip}", "float y"), run=False, budget=0)
    assert found.verdict is not PROVED


@pytest.mark.parametrize("bounds", ["x, z", "x, , z"])
def test_a_bound_of_clip_is_one_number(tmp_path: Path, bounds: str) -> None:
    node = f"y = Clip ({bounds})".replace(", ,", ', "",')
    with pytest.raises(sl.ShapeError, match="takes rank 1, the tensor has rank 2"):
        read(tmp_path, "float[N] x, float[N,C] z", node, "float y")
    assert [str(r) for r in read(tmp_path, "float[N] x, float[M] z", node, "float y").requires] == ["Eq(M, 1)"]
    assert not read(tmp_path, "float[N] x, float z", node, "float y").requires


def test_a_ratio_of_dropout_is_one_number(tmp_path: Path) -> None:
    with pytest.raises(sl.ShapeError, match="ratio takes rank 0"):
        read(tmp_path, "float[N] x, float[N] r", "y = Dropout (x, r)", "float y")


def test_a_ratio_of_dropout_may_be_outside(tmp_path: Path) -> None:
    inputs = "float[N] x, float r"
    plain = read(tmp_path, inputs, "y = Shape (x)", "int64 y")
    drops = read(tmp_path, inputs, "d = Dropout (x, r) y = Shape (d)", "int64 y")
    assert sl.verify(drops, plain, run=False).verdict is PROVED
    assert sl.verify(plain, drops, run=False).verdict is UNKNOWN  # valid at a ratio of 2 only before
    with pytest.raises(sl.ShapeError, match="not from 0 to 1"):
        read(tmp_path, "float[N] x", "r = Constant <value_float = 2.0> () y = Dropout (x, r)", "float y")


@pytest.mark.parametrize("op", ["Max", "Min", "Sum", "Mean"])
def test_operands_of_one_shape_until_opset_7(tmp_path: Path, op: str) -> None:
    inputs, node = "float[N,C] x, float[M,C] z", f"y = {op} (x, z, x)"
    old, new = (read(tmp_path, inputs, node, "float y", opset) for opset in (7, 8))
    assert [str(r) for r in old.requires] == ["Eq(M, N)"]
    assert len(new.requires) == 1
    assert "M - 1" in str(new.requires[0])
    same = [read(tmp_path, "float[N,C] x, float[N,C] z", node, "float y", opset) for opset in (7, 8)]
    assert sl.verify(*same, run=False).verdict is PROVED
    assert sl.verify(new, old, run=False).verdict is REFUTED
    with pytest.raises(sl.ShapeError, match="rank"):
        read(tmp_path, "float[N,C] x, float[C] z", node, "float y", 7)


OPEN_RATIOS = {
    "without": "y = Relu (x)",
    "dead": "d = Dropout (x, r) y = Relu (x)",
    "one": "d = Dropout (x, r) y = Relu (d)",
    "moved": "t = Transpose (x) d = Dropout (t, r) e = Relu (d) y = Transpose (e)",
    "other": "d = Dropout (x, q) y = Relu (d)",
    "both": "d = Dropout (x, r) e = Dropout (d, q) y = Relu (e)",
    "halved": "h = Add (r, r) d = Dropout (x, h) y = Relu (d)",
    "mask": "d, m = Dropout (x, r) f = CastLike (m, x) e = Mul (f, f) y = Relu (x)",
}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        *[(one, one, PROVED) for one in OPEN_RATIOS],
        *[
            (one, other, PROVED)
            for one, other in (("one", "moved"), ("moved", "one"), ("one", "dead"), ("dead", "one"))
        ],
        *[(one, "without", PROVED) for one in OPEN_RATIOS],
        *[("without", one, UNKNOWN) for one in OPEN_RATIOS if one != "without"],
        ("both", "one", PROVED),
        ("both", "other", PROVED),
        ("one", "both", UNKNOWN),
        ("one", "other", UNKNOWN),
        ("one", "halved", UNKNOWN),
        ("one", "mask", PROVED),
        ("mask", "one", PROVED),
    ],
)
def test_dropout_demands_an_open_ratio_and_changes_nothing(
    tmp_path: Path, before: str, after: str, verdict: sl.Verdict
) -> None:
    inputs = "float[N,C] x, float r, float q"
    sides = [read(tmp_path, inputs, OPEN_RATIOS[name], "float y") for name in (before, after)]
    found = sl.verify(*sides, run=False)
    assert found.verdict is verdict
    if verdict is PROVED:
        assert sl.check(found.certificate, before=sides[0], after=sides[1])


def test_an_open_ratio_of_a_witness_is_from_0_to_below_1(tmp_path: Path) -> None:
    inputs = "float[N] x, float r"
    before, after = (read(tmp_path, inputs, f"d = Dropout (x, r) y = {op} (d)", "float y") for op in ("Relu", "Neg"))
    witness = sl.verify(before, after, run=False).witness
    assert witness is not None
    assert 0 <= witness.inputs["r"] < 1
    edges = Places(0, limits=(0, 1), below=True)
    assert [edges.refuses(np.array(r)) for r in (-0.5, 0.0, 0.75, 1.0, np.nan)] == [True, False, False, True, True]


def test_an_extent_of_an_attribute_is_not_negative(tmp_path: Path) -> None:
    inputs, op = "float[1,C,H,W] x, float[R,4] boxes, int64[R] i", "RoiAlign <output_width = -1>"
    for opset in (10, 16):
        with pytest.raises(sl.ShapeError, match="output_width"):
            read(tmp_path, inputs, f"y = {op} (x, boxes, i)", "float y", opset)


def test_a_float_of_8_bits_saturates_in_its_own_type(tmp_path: Path) -> None:
    x = sl.tensor("N", "float8_e5m2", name="x")
    given = np.array([np.inf, 1], ml_dtypes.float8_e5m2)
    assert sl.interpret(sl.onnx.cast(x, to=19), given).astype(float).tolist() == [57344, 1]
    assert sl.interpret(sl.onnx.cast(x, to=19, saturate=0), given).astype(float).tolist() == [np.inf, 1]
    assert sl.prove_equal(sl.onnx.cast(x, to=1), sl.onnx.cast(sl.onnx.cast(x, to=19), to=1)).verdict is not PROVED


@pytest.mark.parametrize("op", ["Div", "Mod"])
def test_a_witness_divides_by_no_0(tmp_path: Path, op: str) -> None:
    inputs = "uint8[N] x, uint8[N] y"
    before = read(tmp_path, inputs, f"z = {op} (x, y)", "uint8 z")
    split = f"z = {op} (x, y) c = Constant <value_ints = [1, 2]> () p, q = Split <axis = 0> (x, c)"
    for other in ("z = Add (x, y)", split):
        witness = sl.verify(before, read(tmp_path, inputs, other, "uint8 z"), run=False).witness
        assert witness is not None
        assert np.all(witness.inputs["y"])


def test_places_of_a_witness_are_in_range_where_only_a_shape_is_read(tmp_path: Path) -> None:
    inputs = "float[B,C,H,W] x, float[R,4] boxes, int64[R] x2"
    shapes = [
        read(tmp_path, inputs, f"r = RoiAlign <output_width = {w}> (x, boxes, x2) y = Shape (r)", "int64 y", 10)
        for w in (2, 3)
    ]
    witness = sl.verify(*shapes, run=False).witness
    assert witness is not None
    assert np.all(witness.inputs["x2"] >= 0)
