"""What nodes demand of sizes and elements, in claims that attacks made."""

from __future__ import annotations

import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import helper, parser

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


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_images_without_elements_are_left_out_where_pads_are_computed(tmp_path: Path, mode: str) -> None:
    inputs = "float[N,C,H,W] x, float[M,C,3,3] w"
    dead = read(tmp_path, inputs, f'd = Conv <auto_pad = "{mode}"> (x, w) y = Relu (x)', "float y")
    found = sl.verify(read(tmp_path, inputs, "y = Relu (x)", "float y"), dead, run=False)
    assert found.verdict is PROVED
    assert {"H >= 1", "W >= 1"} <= {str(r) for r in found.assumed}


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


WINDOWS = {
    "Conv": ("float[1,1,5,5] x, float[1,1,3,3] w", "x, w", "", "kernel_shape strides dilations pads"),
    "ConvTranspose": (
        "float[1,1,5,5] x, float[1,1,3,3] w", "x, w", "output_shape = [5, 5]",
        "kernel_shape strides dilations pads output_padding",
    ),
    "DeformConv": (
        "float[1,1,3,3] x, float[1,1,2,2] w, float[1,8,2,2] o", "x, w, o", "", "kernel_shape strides dilations pads",
    ),
    "ConvInteger": ("uint8[1,1,5,5] x, uint8[1,1,3,3] w", "x, w", "", "kernel_shape strides dilations pads"),
    "QLinearConv": (
        "uint8[1,1,5,5] x, float s, uint8 z, uint8[1,1,3,3] w", "x, s, z, w, s, z, s, z", "",
        "kernel_shape strides dilations pads",
    ),
    "MaxPool": ("float[1,1,5,5] x", "x", "kernel_shape = [2, 2]", "strides dilations pads"),
    "AveragePool": ("float[1,1,5,5] x", "x", "kernel_shape = [2, 2]", "strides dilations pads"),
    "LpPool": ("float[1,1,5,5] x", "x", "kernel_shape = [2, 2]", "strides dilations pads"),
    "MaxUnpool": ("float[1,1,2,2] x, int64[1,1,2,2] i", "x, i", "kernel_shape = [2, 2]", "strides"),
    "Col2Im": ("float[1,4,4] x, int64[2] i, int64[2] b", "x, i, b", "", "strides dilations"),
}  # fmt: skip


@pytest.mark.parametrize(("op", "name"), [(op, name) for op, row in WINDOWS.items() for name in row[3].split()])
def test_each_number_of_a_window_is_checked(tmp_path: Path, op: str, name: str) -> None:
    inputs, operands, others, _ = WINDOWS[op]
    known = "i = Constant <value_ints = [5, 5]> () b = Constant <value_ints = [2, 2]> ()" if op == "Col2Im" else ""
    inputs = inputs.split(", int64[2]")[0]
    count, low = (4, -1) if name == "pads" else (2, -1 if name == "output_padding" else 0)
    for wrong in ([1] * (count - 1), [1] * (count + 1), [1] * (count - 1) + [low], [-1] * count):
        node = f"{known} r = {op} <{', '.join(filter(None, (others, f'{name} = {wrong}')))}> ({operands}) y = Shape (r)"
        with pytest.raises(sl.ShapeError) as caught:
            read(tmp_path, inputs, node, "int64 y", 22)
        assert caught.value.kind in ("length_mismatch", "block_lt_1", "attr_range")


def test_a_zero_point_of_a_convolution_does_not_stretch_it(tmp_path: Path) -> None:
    node = "y = ConvInteger <pads = [1, 1, 1, 1]> (x, v, p, w)"
    with pytest.raises(sl.ShapeError, match="a zero point takes rank"):
        read(tmp_path, "uint8[1,1,3,3] x, uint8[2,1,2,2] w, uint8[2] v, uint8 p", node, "int32 y", 10)
    inputs = "uint8[1,2,9,9] x, uint8[M,2,3,3] w, uint8[A] p, uint8[B] q, float s, float[B] t, uint8 z"
    layers = "y = ConvInteger (x, w, p, q)", "y = QLinearConv (x, s, p, w, t, q, s, z)"
    for layer, dtype in zip(layers, ("int32", "uint8"), strict=True):
        requires = read(tmp_path, inputs, layer, f"{dtype} y", 10).requires
        assert "Eq(A, 1)" in map(str, requires)
        assert any("B - 1" in str(r) for r in requires)


def test_half_of_a_transform_of_complex_numbers_is_left_out(tmp_path: Path) -> None:
    of_all, half = (
        read(tmp_path, "float[B,N,P] x", f"y = DFT <axis = 1, onesided = {k}> (x)", "float y", 19) for k in (0, 1)
    )
    witness = sl.verify(of_all, half, run=False).witness
    assert witness is not None
    assert {str(symbol): n for symbol, n in witness.dims.items()}["P"] == 1
    node = "y = DFT <axis = 1, onesided = {}> (x)"
    one = [read(tmp_path, "float[1,1,2] x", node.format(k), "float[1,1,2] y", 19) for k in (0, 1)]
    assert sl.verify(*one, run=False).verdict is UNKNOWN


def test_heads_are_stated_for_inputs_of_rank_3_since_version_25(tmp_path: Path) -> None:
    inputs, node = "float[1,2,3,4] q", "y = Attention <q_num_heads = 2, kv_num_heads = 2> (q, q, q)"
    assert not read(tmp_path, inputs, node, "float y", 24).requires
    with pytest.raises(sl.ShapeError, match="rank 4"):
        read(tmp_path, inputs, node, "float y", 25)
    assert not read(tmp_path, "float[1,3,8] q", node, "float y", 25).requires


def test_positions_of_a_rotary_embedding_are_not_below_0(tmp_path: Path) -> None:
    inputs = "float[B,2,S,8] x, float[9,4] c, float[9,4] s, int64[B,S] p"
    turned = read(tmp_path, inputs, "y = RotaryEmbedding (x, c, s, p)", "float y")
    gathered = "f = Gather (c, p) g = Gather (s, p) y = RotaryEmbedding (x, f, g)"
    unbound = read(tmp_path, inputs, gathered, "float y")
    assert sl.verify(turned, unbound, run=False).verdict is PROVED
    assert sl.verify(unbound, turned, run=False).verdict is not PROVED
    witness = sl.verify(turned, read(tmp_path, inputs, "y = Neg (x)", "float y"), run=False).witness
    assert witness is not None
    assert np.all(witness.inputs["p"] >= 0)
    known = "p = Constant <value = int64[1,2] {0, -1}> () y = RotaryEmbedding (x, c, s, p)"
    with pytest.raises(sl.ShapeError, match="below 0"):
        read(tmp_path, "float[1,2,2,8] x, float[9,4] c, float[9,4] s", known, "float y")


@pytest.mark.parametrize("lengths", [(-1, 2, 0), (1, 0, 0), (2, 1, 0), (1, 2, -1)])
def test_lengths_of_sequences_of_terms_are_in_order(tmp_path: Path, lengths: tuple[int, int, int]) -> None:
    shared = 'mode = "TF", ngram_counts = [0, 1], ngram_indexes = [0, 1], pool_int64s = [2, 5, 4]'
    names = "min_gram_length", "max_gram_length", "max_skip_count"
    given = ", ".join(f"{name} = {n}" for name, n in zip(names, lengths, strict=True))
    with pytest.raises(sl.ShapeError) as caught:
        read(tmp_path, "int64[6] x", f"y = TfIdfVectorizer <{shared}, {given}> (x)", "float y", 9)
    assert caught.value.kind == "attr_range"


@pytest.mark.parametrize("op", ["RNN", "GRU", "LSTM"])
def test_a_limit_that_is_no_number_above_0_has_no_known_value(tmp_path: Path, op: str) -> None:
    rows = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    layers = []
    for clip in (math.nan, 0.0, None):
        x, w = (helper.make_tensor_value_info(n, 1, (2, 1, 1) if n == "x" else (1, rows, 1)) for n in "xw")
        node = helper.make_node(op, ["x", "w", "w"], ["y"], hidden_size=1, **({} if clip is None else {"clip": clip}))
        y = helper.make_tensor_value_info("y", 1, (2, 1, 1, 1))
        made = helper.make_model(
            helper.make_graph([node], "g", [x, w], [y]), opset_imports=[helper.make_opsetid("", 22)], ir_version=10
        )
        path = tmp_path / f"{clip}.onnx"
        path.write_bytes(made.SerializeToString())
        layers.append(sl.read_model(path))
    for layer in layers[:2]:
        assert sl.verify(layer, layers[2], run=False).verdict is UNKNOWN


@pytest.mark.parametrize("opset", [12, 13, 18])
def test_nothing_is_said_of_the_mean_of_nothing(tmp_path: Path, opset: int) -> None:
    """The standard has it undefined: onnxruntime computes 0, and the reference evaluator NaN."""
    by_input = "a = Constant <value_ints = [0]> () y = ReduceMean (x, a)"
    mean = by_input if opset >= 18 else "y = ReduceMean <axes = [0]> (x)"
    model = read(tmp_path, "float[N,3] x", mean, "float[a,3] y", opset)
    assert [str(r) for r in model.requires] == ["N >= 1"]
    found = sl.verify(model, model)
    assert found.verdict is PROVED
    assert [str(r) for r in found.assumed] == ["N >= 1"]
    empty = read(tmp_path, "float[0,3] x", mean, "float[1,3] y", opset)
    for value in ("z", "n"):
        zeros = f"s = Constant <value_ints = [1, 3]> () z = ConstantOfShape (s) n = Div (z, z) y = Identity ({value})"
        other = read(tmp_path, "float[0,3] x", zeros, "float[1,3] y", opset)
        assert sl.verify(empty, other, run=False).verdict is UNKNOWN


def test_only_the_axes_that_a_mean_is_taken_over_have_to_have_elements(tmp_path: Path) -> None:
    nodes = "a = Constant <value_ints = [1]> () y = ReduceMean <keepdims = 0> (x, a)"
    assert [str(r) for r in read(tmp_path, "float[N,C,H] x", nodes, "float[N,H] y").requires] == ["C >= 1"]
    assert not read(tmp_path, "float[N,3,H] x", nodes, "float[N,H] y").requires
