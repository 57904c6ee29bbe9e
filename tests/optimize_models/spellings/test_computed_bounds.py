"""Slices with symbolic bounds are one slice, whose bounds the graph computes where no constants are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy
from onnx import NodeProto

import symlayout as sl
from symlayout.optimize_models.spellings.computed_bounds import Bounds, node_count_of, places_of
from tests.optimize_models.run_both import Shape, constants, ops, optimized_and_run
from tests.support.onnx_writer import node

GIVEN = constants(zero=[0], one=[1], two=[2], three=[3], end=[np.iinfo(np.int64).max])
X = ("N", "H", "W")


def extent(x: str, axis: int, name: str) -> NodeProto:
    return node("Shape", x, name, start=axis, end=axis + 1)


CASES: dict[str, tuple[list[NodeProto], dict[str, Shape], int]] = {
    "a crop of each axis": (
        [extent("r", 0, "h"), extent("r", 1, "w"), node("Slice", "x, zero, h, one", "p"),
         node("Slice", "p, zero, w, two", "q")],
        {"x": X, "r": ("h", "w")},
        1,
    ),
    "the second half of each axis": (
        [extent("x", 1, "h"), extent("x", 2, "w"), node("Div", "h, two", "h2"), node("Div", "w, two", "w2"),
         node("Slice", "x, h2, end, one", "p"), node("Slice", "p, w2, end, two", "q")],
        {"x": X},
        1,
    ),
    "a computed end counts from the end": (
        [extent("x", 1, "h"), node("Sub", "h, two", "e"), node("Slice", "x, one, e, one", "p"),
         node("Slice", "p, one, end, one", "q")],
        {"x": X},
        1,
    ),
    "a half, and a part of it": (
        [extent("x", 1, "h"), node("Div", "h, two", "h2"), node("Slice", "x, h2, end, one", "p"),
         node("Slice", "p, three, end, one", "q")],
        {"x": X},
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_slices_with_symbolic_bounds_merge(tmp_path: Path, case: str) -> None:
    nodes, inputs, count = CASES[case]
    o = optimized_and_run(tmp_path, [*nodes, node("Relu", "q", "y")], inputs, GIVEN)
    assert ops(o).count("Slice") == count


def test_a_negative_bound_that_may_count_from_the_end_is_not_cut_off(tmp_path: Path) -> None:
    """With one or two rows less it makes no difference, with three it does: of two rows, the end -1 keeps one."""
    nodes = [
        extent("x", 1, "h"),
        node("Sub", "h, three", "e"),
        node("Slice", "x, zero, e, one", "p"),
        node("Slice", "p, zero, end, two", "q"),
        node("Relu", "q", "y"),
    ]
    optimized_and_run(tmp_path, nodes, {"x": X}, GIVEN, runs=20)
    (H,) = sl.dims("H")
    x = sl.tensor((H,), "float32", "x")
    cut = [sl.op("onnx:Slice")(x, [0], [H - k]) for k in (1, 2, 3)]
    assert [str(t.shape) for t in cut[:2]] == ["(Max(0, H - 1),)", "(Max(0, H - 2),)"]
    assert [tuple(t.subs({"H": 2}).shape) for t in cut] == [(1,), (0,), (1,)]


def test_bounds_are_expressions_in_the_dims_of_inputs() -> None:
    n, h = sl.dims("n h")
    x = sl.tensor((n, h), "float32", "x")
    places = places_of({"x": x, "z": sl.tensor((h, 2), "float32", "z")})
    assert places == {n: ("x", 0), h: ("x", 1)}
    bounds = Bounds(x[:, h // 2 :][1:], places, 20)
    assert [bounds.start(0), bounds.start(1)] == [1, h // 2]
    assert bounds.computed(bounds.start(1)) == h // 2
    assert bounds.computed(sl.dims("k m")[0]) is None


def test_nodes_that_compute_a_bound() -> None:
    n, h = sl.dims("n h")
    places = places_of({"x": sl.tensor((n, h), "float32", "x")})
    bounds = [(h, 2), (h + 1, 3), (h // 2, 3), (h // 2 + n, 6), (h - h // 2, 7), (h**2, None), (sympy.Max(0, h - 2), 4)]
    for bound, count in bounds:
        assert node_count_of(bound, places, 20) == count
    assert node_count_of(sympy.Max(0, h - 2), places, 11) is None  # extremes of integers are newer
