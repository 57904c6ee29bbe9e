"""Where sizes decide what a node means, it is read by cases; sizes that are left out are named by a requirement.

The expected shapes are those of onnxruntime 1.32 with optimisation off; None stands for an error of its.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
from onnx import numpy_helper, parser

import symlayout as sl
from symlayout.errors import LEFT_OUT

Sizes = dict[str, int]
PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED


def read(folder: Path, text: str, name: str = "model", **constants: np.ndarray[Any, Any]) -> sl.Model:
    made = parser.parse_model('<ir_version: 9, opset_import: ["" : 20]>\n' + text)
    made.graph.initializer.extend(numpy_helper.from_array(array, key) for key, array in constants.items())
    path = folder / f"{name}.onnx"
    path.write_bytes(made.SerializeToString())
    return sl.read_model(path)


def table(rows: int) -> np.ndarray[Any, Any]:
    return np.arange(2 * rows, dtype=np.float32).reshape(1, rows, 2)


POSITIONS = """g (float[N, S] x) => (float[a, b, c] y) <int64[1] zero = {0}, int64[1] axis = {1}>
{ s = Shape<start=1, end=2>(x)  p = Slice(table, zero, s, axis)  y = Relu(p) }"""


def test_a_table_that_is_cut_at_a_length_has_no_more_rows_than_it_has(tmp_path: Path) -> None:
    ten, twenty = (read(tmp_path, POSITIONS, f"m{rows}", table=table(rows)) for rows in (10, 20))
    y = ten.outputs["y"]
    assert (str(y.shape), y.requires) == ("(1, Min(10, S), 2)", ())
    verdicts = {sl.verify(*pair).verdict for pair in ((ten, twenty), (twenty, ten))}
    assert verdicts == {REFUTED}
    witness = sl.verify(ten, twenty).witness
    assert witness is not None
    assert witness.dims[sl.dim("S")] == 11
    assert sl.verify(ten, ten).verdict is PROVED


def test_positions_that_are_added_are_as_many_as_the_table_has(tmp_path: Path) -> None:
    """The broadcast of Add refuses longer inputs, not the Slice."""
    text = POSITIONS.replace("float[N, S] x", "float[N, S, 2] x").replace("Relu(p)", "Add(x, p)")
    y = read(tmp_path, text, table=table(10)).outputs["y"]
    assert (str(y.shape), str(y.requires)) == ("(N, S, 2)", "(S <= 10,)")


CROP = """g (float[N, S] x) => (float[a, b] y) <int64[1] zero = {0}, int64[1] axis = {0}, int64[1] last = {1}>
{ s = Shape<start=1, end=2>(x)  p = Slice(table, zero, s, axis)  n = Shape(p)  c = Slice(x, zero, n, last)
  y = Relu(c) }"""


def test_a_crop_to_the_length_of_a_table_stays(tmp_path: Path) -> None:
    crop = read(tmp_path, CROP, "crop", table=np.zeros(10, np.float32))
    relu = read(tmp_path, "g (float[N, S] x) => (float[a, b] y) { y = Relu(x) }", "relu")
    assert sl.verify(crop, relu).verdict is REFUTED
    assert str(sl.optimize(crop).outputs["y"].shape) == "(N, Min(10, S))"


RESHAPES: dict[str, tuple[str, str, list[Sizes], list[Sizes]]] = {
    "a computed 0 copies": (
        "g (float[N, C] x) => (float[a, b] y) <int64[1] rest = {-1}> {"
        " s = Shape<start=1, end=2>(x)  t = Concat<axis=0>(s, rest)  y = Reshape(x, t) }",
        "(C, N)",
        [{"N": 2, "C": 3}, {"N": 0, "C": 3}],
        [{"N": 2, "C": 0}],  # (2, 0)
    ),
    "the copied extent is 0 too": (
        "g (float[N, C] x) => (float[a, b] y) <int64[1] one = {1}> {"
        " s = Shape<start=0, end=1>(x)  u = Shape<start=1, end=2>(x)  n = Mul(s, one)"
        " t = Concat<axis=0>(n, u)  y = Reshape(x, t) }",
        "(N, C)",
        [{"N": 0, "C": 0}, {"N": 0, "C": 2}, {"N": 2, "C": 0}],
        [],
    ),
    "a product of two extents": (
        "g (float[N, C] x) => (float[a] y) {"
        " s = Shape<start=0, end=1>(x)  u = Shape<start=1, end=2>(x)  t = Mul(s, u)  y = Reshape(x, t) }",
        "(C*N,)",
        [{"N": 0, "C": 2}, {"N": 2, "C": 3}],
        [{"N": 0, "C": 0}],  # (0,)
    ),
}


@pytest.mark.parametrize("name", RESHAPES)
def test_sizes_where_a_0_would_copy_an_extent_are_left_out(name: str, tmp_path: Path) -> None:
    text, shape, inside, outside = RESHAPES[name]
    y = read(tmp_path, text).outputs["y"]
    assert str(y.shape) == shape
    for sizes in inside:
        assert y.subs(sizes).requires == ()
    for sizes in outside:
        with pytest.raises(sl.ShapeError) as caught:
            sl.interpret(y, np.zeros(tuple(sizes.values()), np.float32))
        assert caught.value.kind == LEFT_OUT


@pytest.mark.parametrize(
    ("widths", "values"),
    [
        ((-1, 2), [[9], [9, 9], [2, 9, 9]]),
        ((-3, 4), [[9], [9, 9], [9, 9, 9]]),
        ((2, -1), [[9], [9, 9], [9, 9, 1]]),
        ((-2, 2), [[], [9], [9, 9]]),
        ((-1, 0), [None, [], [2]]),
        ((-1, -1), [None, None, []]),
    ],
)
def test_what_is_taken_at_one_end_may_be_added_at_the_other(widths: tuple[int, int], values: list[Any]) -> None:
    """Also by OpenVINO 2026.3, where it does not crash."""
    y = sl.onnx.pad(sl.tensor("N", "float32", name="x"), widths, 9.0)
    z = sl.openvino.pad(sl.tensor("N", "float32", name="x"), widths[:1], widths[1:], 9.0, pad_mode="constant")
    for n, expected in enumerate(values):
        for t in (y, z):
            if expected is None:
                with pytest.raises(sl.ShapeError, match="taken from"):
                    sl.interpret(t, np.arange(n, dtype=np.float32) + 1)
            else:
                assert sl.interpret(t, np.arange(n, dtype=np.float32) + 1).tolist() == expected


def test_a_constant_of_two_is_expanded_to_one_or_two(tmp_path: Path) -> None:
    text = "g (float[B] x) => (float[a] y) <float[2] z = {0, 0}> { s = Shape(x)  y = Expand(z, s) }"
    y = read(tmp_path, text).outputs["y"]
    assert (y.shape, str(y.requires)) == ((2,), "(Eq((B - 2)*(B - 1), 0),)")
    for b, accepted in enumerate((False, True, True, False)):
        if accepted:
            assert y.subs({"B": b}).shape == (2,)
        else:
            with pytest.raises(sl.ShapeError):
                y.subs({"B": b})


def test_the_rank_of_a_squeeze_of_what_may_be_1_is_not_known(tmp_path: Path) -> None:
    model = read(tmp_path, "g (float[N, C] x) => (float y) { s = Squeeze(x)  y = ReduceSum<keepdims=0>(s) }")
    assert model.tensors["s"].rank is None
    assert model.outputs["y"].shape == ()
