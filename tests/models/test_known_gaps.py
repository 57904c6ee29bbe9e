"""Shapes that other tools do not find, rebuilt from what is public about them.

onnx-shape-inference (justinchuby) lists gaps of its own; ONNX#8175 asks for exact division; TensorRT#2487 is Swin.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import NodeProto

from tests.models.onnx_files import ZERO, constants, extent_nodes, joined, loaded
from tests.support.onnx_writer import node, tensor, value_info


def floats(name: str, *values: float) -> NodeProto:
    return node("Constant", "", name, value_floats=list(map(float, values)))


def ints(name: str, *values: int) -> NodeProto:
    return node("Constant", "", name, value_ints=list(values))


GAPS = {
    "floor round trip: pooled by 2, resized by 2, halved again": (
        [
            node("MaxPool", "x", "p", kernel_shape=[2, 2], strides=[2, 2]), floats("up", 1, 1, 2, 2),
            node("Resize", "p, , up", "r"), node("MaxPool", "r", "q", kernel_shape=[2, 2], strides=[2, 2]),
            node("Sub", "p, q", "y"),
        ],
        ("b", 3, "h", "w"), "(b, 3, floor(h/2), floor(w/2))",
    ),
    "Reshape [0, 0, 2, -1], then [0, 0, -1]": (
        [ints("a", 0, 0, 2, -1), node("Reshape", "x, a", "r"), ints("z", 0, 0, -1), node("Reshape", "r, z", "y")],
        ("a", "b", "c"), "(a, b, c)",
    ),
    "Reshape to heads, transpose, and back": (
        [
            ints("a", 0, 0, 4, -1), node("Reshape", "x, a", "r"), node("Transpose", "r", "t", perm=[0, 2, 1, 3]),
            node("Transpose", "t", "u", perm=[0, 2, 1, 3]), ints("z", 0, 0, -1), node("Reshape", "u, z", "y"),
        ],
        ("b", "s", "d"), "(b, s, d)",
    ),
    "Resize, then Tile": (
        [
            floats("up", 1, 1, 0.5, 2), node("Resize", "x, , up", "r"), ints("n", 1, 1, 3, 2),
            node("Tile", "r, n", "y"),
        ],
        ("b", 3, "h", "w"), "(b, 3, 3*floor(h/2), 4*w)",
    ),
    "Flatten, then unflattened by the extents": (
        [
            *extent_nodes(b=0, h=2, w=3), node("Flatten", "x", "f", axis=1), *joined("s", "b", "3", "h", "w"),
            node("Reshape", "f, s", "y"),
        ],
        ("b", 3, "h", "w"), "(b, 3, h, w)",
    ),
    "Split in two, then Concat": (
        [node("Split", "x", "l, r", axis=1, num_outputs=2), node("Concat", "r, l", "y", axis=1)],
        ("b", "2*c"), "(b, 2*c)",
    ),
    "Pad, then Slice off what was padded": (
        [
            ints("p", 0, 1, 0, 2), node("Pad", "x, p", "q"), ints("s", 1), ints("e", -2), ints("axis", 1),
            node("Slice", "q, s, e, axis", "y"),
        ],
        ("b", "c"), "(b, c)",
    ),
    "padded to a multiple of 4, as windows": (
        [
            *extent_nodes(n=1), node("Neg", "n", "m"), node("Mod", "m, four", "p"), *joined("q", "0", "0", "0", "p"),
            node("Pad", "x, q", "r"), ints("s", 0, -1, 4), node("Reshape", "r, s", "y"),
        ],
        ("b", "n"), "(b, ceiling(n/4), 4)",
    ),
    "ONNX#8175: a product divided by its factor is the other one": (
        [
            *extent_nodes(b=0, n=1), node("Mul", "b, n", "m"), node("Div", "m, n", "q"), *joined("s", "q", "n"),
            node("Expand", "x, s", "y"),
        ],
        ("b", "n"), "(b, n)",
    ),
    "ONNX#8175: by a factor that is a sum": (
        [
            *extent_nodes(b=0, n=1), node("Add", "n, four", "k"), node("Mul", "b, k", "m"), node("Div", "m, k", "q"),
            *joined("s", "q", "n"), node("Expand", "x, s", "y"),
        ],
        ("b", "n"), "(b, n)",
    ),
    "TensorRT#2487: Swin's windows, and back to the batch by the count of windows": (
        [
            *extent_nodes(b=0, h=1, w=2), node("Div", "h, four", "i"), node("Div", "w, four", "j"),
            *joined("s", "b", "i", "4", "j", "4", "8"), node("Reshape", "x, s", "r"),
            node("Transpose", "r", "t", perm=[0, 1, 3, 2, 4, 5]), ints("win", -1, 16, 8),
            node("Reshape", "t, win", "v"),
            node("Shape", "v", "vs"), node("Gather", "vs, first", "count", axis=0), node("Mul", "i, j", "ij"),
            node("Div", "count, ij", "batch"), *joined("back", "batch", "ij", "16", "8"),
            node("Reshape", "v, back", "y"),
        ],
        ("b", "h", "w", 8), "(b, h*w/16, 16, 8)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GAPS)
def test_a_shape_that_other_tools_lose_is_known(tmp_path: Path, case: str) -> None:
    nodes, shape, expected = GAPS[case]
    given = (*ZERO, *constants(four=4, first=0))
    used = {name for n in nodes for name in n.input}
    given = tuple(c for c in given if c.name in used)
    y = loaded(tmp_path, *nodes, constants=given, x=value_info("x", shape))
    assert str(y.shape) == expected


def test_sizes_that_are_no_windows_are_refused_by_the_requirements(tmp_path: Path) -> None:
    nodes, shape, _ = GAPS["TensorRT#2487: Swin's windows, and back to the batch by the count of windows"]
    given = (*ZERO, tensor([4], [], "four"), tensor([0], [], "first"))
    y = loaded(tmp_path, *nodes, constants=given, x=value_info("x", shape))
    assert {str(r) for r in y.requires} >= {"Eq(Mod(h, 4), 0)", "Eq(Mod(w, 4), 0)"}
