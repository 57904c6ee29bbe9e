"""What is known of a result stays known where some of what shapes it is read at run time.

The shapes were run in onnxruntime 1.32 at several sizes: what is known here is what it prints.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("onnx")

from onnx import parser

import symlayout as sl
from symlayout.deadlines import question
from symlayout.models.opaque import OutputType, UnknownExtent
from symlayout.models.open_shapes import open_shapes
from tests.models.shapes.test_by_cases import read

ROWS = {
    "some scales": (
        "float[N, 3, H, W] x, float[1] s",
        "<float[2] ones = {1, 1}> { t = Concat<axis=0>(ones, s, s)  y = Resize(x, , t) }",
        "(N, 3, ?, ?)",
    ),
    "some sizes": (
        "float[N, 3, H, W] x, int64[2] s",
        "{ n = Shape<end=2>(x)  t = Concat<axis=0>(n, s)  y = Resize(x, , , t) }",
        "(N, 3, ?, ?)",
    ),
    "a scale whose products differ": (
        "float[N, 3, H, 9] x",
        "<float[4] t = {1, 1, 0.7, 0.7}> { y = Resize(x, , t) }",
        "(N, 3, ?, 6)",
    ),
    "a scale without a declaration": (
        "float[1, 3, 10, 9] x",
        '<float[4] t = {1, 1, 0.7, 0.7}> { y = Resize<mode="nearest", antialias=1>(x, , t) }',
        "(?, ?, ?, ?)",
    ),
    "sizes without a declaration": (
        "float[1, 3, 10, W] x",
        '<int64[4] t = {1, 3, 7, 6}> { y = Resize<mode="nearest", antialias=1>(x, , , t) }',
        "(1, 3, 7, 6)",
    ),
    "one pad of eight": (
        "float[N, 3, H, W] x, int64[1] s",
        "<int64[7] p = {0, 0, 1, 1, 0, 0, 1}> { t = Concat<axis=0>(p, s)  y = Pad(x, t) }",
        "(N, 3, H + 2, ?)",
    ),
    "the end of a slice": (
        "float[N, 3, H, W] x, int64[1] s",
        "<int64[1] z = {0}, int64[1] a = {2}> { y = Slice(x, z, s, a) }",
        "(N, 3, ?, W)",
    ),
    "the start of a slice": (
        "float[N, 8] x, int64[1] s",
        "<int64[1] z = {9}, int64[1] a = {1}> { y = Slice(x, s, z, a) }",
        "(N, ? <= 8)",
    ),
    "the largest ones": ("float[N, 9, W] x, int64[1] s", "{ y, i = TopK<axis=1>(x, s) }", "(N, ? <= 9, W)"),
    "a grid of a known rank": ("float[N, 2, 3] x, int64[4] s", "{ y = AffineGrid(x, s) }", "(N, ?, ?, 2)"),
    "a grid of an image's size": (
        "float[N, 2, 3] x, float[N, C, H, W] i",
        "{ s = Shape(i)  y = AffineGrid(x, s) }",
        "(N, H, W, 2)",
    ),
    "a crop or pad": ("float[N, C, H, W] x, int64[2] s", "{ y = CenterCropPad<axes=[2, 3]>(x, s) }", "(N, C, ?, ?)"),
    "regions": (
        "float[N, C, H, W] x, float[R, 4] r, int64[R] b",
        "{ y = RoiAlign<output_height=7, output_width=3>(x, r, b) }",
        "(R, C, 7, 3)",
    ),
    "a convolution with unknown kernels": (
        "float[N, 3, H, W] x, float[16, 3, p, q] w",
        "{ y = Conv<kernel_shape=[3, 3], pads=[1, 1, 1, 1]>(x, w) }",
        "(N, 16, H, W)",
    ),
    "some repeats": (
        "float[N, C] x, int64[1] s",
        "<int64[1] r = {3}> { t = Concat<axis=0>(r, s)  y = Tile(x, t) }",
        "(3*N, ?)",
    ),
    "a shape from which one size is missing": (
        "float[N, C] x, int64[1] s",
        "{ n = Shape<end=1>(x)  t = Concat<axis=0>(n, s)  y = Reshape(x, t) }",
        "(N, ?)",
    ),
    "a depth": ("float[N, C] x, int64 s, float[2] v", "{ y = OneHot<axis=1>(x, s, v) }", "(N, ?, C)"),
}


def shape_of(y: sl.Tensor) -> str:
    """Return a shape with ``?`` for an extent that depends on data, and its largest value where it is a number."""
    entries = []
    for e, (low, high) in zip(y.shape, y.bounds(), strict=True):
        known = all("." not in s.name for s in getattr(e, "free_symbols", ()))
        entries.append(str(e) if known else "?" if high is None else f"? <= {high}")
        assert known or low == 0, "a bound that nothing proves"
    return f"({', '.join(entries)})"


@pytest.mark.parametrize("name", ROWS)
def test_what_does_not_depend_on_data_is_known(name: str, tmp_path: Path) -> None:
    inputs, graph, shape = ROWS[name]
    text = f"g ({inputs}) => (float y) {graph}"
    model = read(tmp_path, text)
    assert shape_of(model.outputs["y"]) == shape
    assert sl.verify(model, read(tmp_path, text, "again")).verdict is not sl.Verdict.REFUTED


@pytest.mark.parametrize("name", ["a scale whose products differ", "one pad of eight", "the end of a slice"])
def test_an_extent_that_is_not_known_is_the_same_in_equal_models(name: str, tmp_path: Path) -> None:
    inputs, graph, _ = ROWS[name]
    text = f"g ({inputs}) => (float y) {graph}"
    assert sl.verify(read(tmp_path, text), read(tmp_path, text, "again")).verdict is sl.Verdict.PROVED


def test_an_operation_that_is_not_known_demands_what_it_demands_of_sizes(tmp_path: Path) -> None:
    """The kernels have the extents that the attribute states."""
    inputs, graph, _ = ROWS["a convolution with unknown kernels"]
    y = read(tmp_path, f"g ({inputs}) => (float y) {graph}").outputs["y"]
    assert [str(r) for r in y.requires] == ["Eq(p, 3)", "Eq(q, 3)", "H >= 1", "W >= 1"]


def test_extents_of_given_dims_are_known_beside_others() -> None:
    n, k = sl.dims("N k")
    x = sl.tensor((n, 4), dtype="float32", name="x")
    (made,) = open_shapes([sl.tile(x, (1, k))], [x], {"N"}).types
    assert made is not None
    assert made.shape is not None
    assert made.shape[0] != made.shape[1]
    assert isinstance(made.shape[1], UnknownExtent)
    (other,) = open_shapes([sl.tile(x, (1, k))], [x], {"N"}).merged([OutputType(made.dtype, (UnknownExtent(), 8))])
    assert other is not None
    assert other.shape == (made.shape[0], 8)


@pytest.mark.parametrize(
    "graph",
    [
        "(float[N, 9] x, int64[1] s) => (float y, int64 z) { y, z = TopK(x, s) }",
        "(float[N] x) => (float y, int64 z) { y, a, b, z = Unique(x) }",
    ],
)
def test_outputs_that_share_an_extent_have_one_dim_for_it(graph: str, tmp_path: Path) -> None:
    """What is added to one of them needs no stretching of the other."""
    outputs = read(tmp_path, f"g {graph}").outputs
    assert outputs["y"].shape[-1] == outputs["z"].shape[-1]


def test_an_extent_is_at_most_what_a_row_says_of_it() -> None:
    n, k = sl.dims("N k")
    x = sl.tensor((n, 4), dtype="float32", name="x")
    types = open_shapes([sl.tile(x, (1, k)), sl.tile(x, (1, k))], [x], {"N"})
    one, two = types.types
    assert one is not None
    assert one == two
    (other, _) = types.merged([OutputType(None, (9, UnknownExtent(0, (12,)))), None])
    assert other is not None
    assert other.shape is not None
    assert other.shape[1] == UnknownExtent(0, (12,))


def test_the_dims_of_an_operand_that_is_left_out_are_no_bound(tmp_path: Path) -> None:
    """A damaged file gives OneHot a depth of rank 2, whose extent depends on data."""
    nodes = "{ d = OneHot<axis=1>(x, s, v)  y = OneHot<axis=1>(x, d, v) }"
    y = read(tmp_path, f"g (int64[3] x, float s, float[2] v) => (float y) {nodes}").tensors["y"]
    assert isinstance(y, sl.Tensor)
    assert shape_of(y) == "(3, ?)"


# The standard's numbers are real ones.  Runtimes compute them in float32 or float64, and add epsilons.
NUMBERS_THAT_DIFFER = {
    "scales": (20, "float[1, 3, 10, 9] x", "<float[4] t = {1, 1, 0.7, 1}> { y = Resize(x, , t) }", (6, 7)),
    "scales of version 10": (10, "float[1, 3, 10, 9] x", "<float[4] t = {1, 1, 0.7, 1}> { y = Resize(x, t) }", (6, 7)),
    "scales of Upsample": (9, "float[1, 3, 10, 9] x", "<float[4] t = {1, 1, 2.3, 1}> { y = Upsample(x, t) }", (22, 23)),
    "a range": (
        20,
        "float x",
        "<float a = {0}, float e = {7}, float d = {0.7}> { r = Range(a, e, d)  y = Add(r, x) }",
        (0, None),
    ),
}


@pytest.mark.parametrize("name", NUMBERS_THAT_DIFFER)
def test_a_number_that_runtimes_compute_differently_is_not_known(name: str, tmp_path: Path) -> None:
    """The shape inference of the package onnx says 6 for floor(10 * 0.7): onnxruntime has 7."""
    opset, inputs, graph, between = NUMBERS_THAT_DIFFER[name]
    made = parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]>\ng ({inputs}) => (float y) {graph}')
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    y = sl.read_model(path).outputs["y"]
    assert isinstance(y, sl.Tensor)
    assert y.bounds()[-2 if y.rank > 1 else 0] == between
    assert y.shape[-1] == 9 or y.rank == 1


RANGES: dict[str, tuple[str, str, str, str, list[float]]] = {  # type, start, limit, delta: what all runtimes have
    "whole numbers": ("float", "0", "4", "1", [0, 1, 2, 3]),
    "dyadic numbers": ("float", "1", "3", "0.75", [1, 1.75, 2.5]),
    "downwards": ("double", "1", "-1", "-0.5", [1, 0.5, 0, -0.5]),
    "integers": ("int32", "10", "4", "-4", [10, 6]),
    "empty": ("int64", "4", "4", "3", []),
}


@pytest.mark.parametrize("name", RANGES)
def test_a_range_of_exact_numbers_is_a_constant(name: str, tmp_path: Path) -> None:
    kind, start, limit, delta, elements = RANGES[name]
    ends = f"<{kind} a = {{{start}}}, {kind} e = {{{limit}}}, {kind} d = {{{delta}}}>"
    same = ", ".join(map(str, elements))
    model = read(tmp_path, f"g ({kind} x) => ({kind}[n] y) {ends} {{ r = Range(a, e, d)  y = Add(r, x) }}")
    listed = f"<{kind}[{len(elements)}] r = {{{same}}}> {{ y = Add(r, x) }}"
    other = read(tmp_path, f"g ({kind} x) => ({kind}[n] y) {listed}", "listed")
    assert sl.verify(model, other).verdict is sl.Verdict.PROVED


def test_a_range_by_steps_of_nothing_is_refused(tmp_path: Path) -> None:
    ends = "<int64 a = {0}, int64 e = {4}, int64 d = {0}>"
    with pytest.raises(sl.ShapeError, match="delta is 0"):
        read(tmp_path, f"g (int64 x) => (int64[n] y) {ends} {{ r = Range(a, e, d)  y = Add(r, x) }}")


def test_the_bounds_of_an_extent_are_searched_within_the_goals_of_reading() -> None:
    n, k = sl.dim("N", min=1), sl.dim("k", min=1)
    t = sl.tensor((n, n * k - n - k + 4), dtype="float32", name="x")
    found = []
    for goals in (1, 100_000):
        with question(goals):
            found.append(open_shapes([t], [], {"N"}).types[0])
    assert found[0] == OutputType(t.dtype, (n, UnknownExtent(place=(0, 1))))
    assert found[1] == OutputType(t.dtype, (n, UnknownExtent(3, place=(0, 1))))
