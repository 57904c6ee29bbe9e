"""im2col and repeat_kv get one spelling each, whatever operations they are written with; what broadcasts needs none."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.fold_moves import split_repeats
from symlayout.optimize_models.spellings.spell_windows import WINDOWS
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.compare import compare
from tests.optimize_models.products.test_split_products import optimized
from tests.optimize_models.spellings.dilation_spellings import Parts
from tests.optimize_models.spellings.repeated_spellings import (
    IM2COL,
    PLACES,
    REPEAT_KV,
    REPEATS,
    SHAPES,
    columns,
    network,
)
from tests.optimize_models.test_spellings import MOVES

FAMILIES: dict[str, tuple[dict[str, Any], int, list[str], Callable[[Any], Any]]] = {
    "im2col": (IM2COL, 3, ["Slice"] * len(PLACES) + ["Concat"], columns),
    "repeat_kv": (REPEAT_KV, 4, ["Expand"], lambda x: x.repeat(REPEATS, 1)),
}
"""The spellings, the rank of the result, what moves elements afterwards, and the result by NumPy."""
TABLE = [(family, way, kind) for family, (ways, *_) in FAMILIES.items() for way in ways for kind in SHAPES]
KEPT = {(way, kind): [op] for way, op in (("gather", "Gather"), ("tile", "Tile")) for kind in SHAPES}
KEPT |= {("tile of rows", kind): ["Tile"] for kind in ("static", "dynamic batch")}  # where the targets are constants
"""Spellings that stay, since they move as many bytes in as few nodes."""
SAMPLE = [
    ("im2col", "windows, first", "all dynamic"),
    ("im2col", "rows first", "dynamic batch"),
    ("im2col", "windows of channels last", "static"),
    ("repeat_kv", "tile of whole heads", "all dynamic"),
    ("repeat_kv", "gather", "dynamic batch"),
    ("repeat_kv", "expand, channels last", "static"),
]


def check(folder: Path, family: str, way: str, kind: str) -> None:
    ways, rank, wanted, by_numpy = FAMILIES[family]
    path = folder / "before.onnx"
    onnx.save(network(ways[way], SHAPES[kind], rank), path)
    o = sl.optimize(path)
    o.save(folder / "after.onnx")
    onnx.checker.check_model(onnx.load(folder / "after.onnx"))
    assert sl.verify(path, folder / "after.onnx").verdict is sl.Verdict.PROVED
    moved = [n for n in o.source.graph.node if n.op_type in MOVES and o.tensors[n.output[0]].dtype == "f4"]
    assert [n.op_type for n in moved] == KEPT.get((way, kind), wanted)
    again = sl.optimize(folder / "after.onnx")
    assert again.source.SerializeToString() == (folder / "after.onnx").read_bytes()
    sizes = (3, 4, 5, 7) if kind == "all dynamic" else (2, 4, 8, 6)
    x = np.random.default_rng(0).uniform(0, 1, sizes).astype(np.float32)
    np.testing.assert_allclose(sl.interpret(o.outputs["y"], x), np.exp(by_numpy(x)), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "way", "kind"), SAMPLE)
def test_a_spelling_becomes_the_cheapest_one(tmp_path: Path, family: str, way: str, kind: str) -> None:
    check(tmp_path, family, way, kind)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "way", "kind"), TABLE)
def test_every_spelling_becomes_the_cheapest_one(tmp_path: Path, family: str, way: str, kind: str) -> None:
    check(tmp_path, family, way, kind)
    for sizes in ((1, 4, 3, 3), (3, 4, 4, 9)) if kind == "all dynamic" else ((2, 4, 8, 6),):
        x = np.random.default_rng(1).normal(size=sizes).astype(np.float32)
        before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
        np.testing.assert_array_equal(before, after)


def test_each_family_has_twelve_spellings() -> None:
    assert [len(ways) for ways, *_ in FAMILIES.values()] == [12, 12]
    assert len(set(itertools.chain(IM2COL, REPEAT_KV))) == 24
    assert WINDOWS not in MOVES


GROUPS, TIMES, WIDTH = 2, 3, 4
HEADS = GROUPS * TIMES
HEAD_SHAPES: dict[str, list[int | str]] = {
    "static": [2, HEADS, 5, WIDTH],
    "dynamic batch": ["N", HEADS, 5, WIDTH],
    "all dynamic": ["N", HEADS, "L", WIDTH],
}


def repeated(n: Parts, x: str, times: int = TIMES, axis: int = 2) -> str:
    """Return a value whose elements along axis 1 are repeated; whole rounds of them if *axis* is 1."""
    wide = [1] * 5
    wide[axis] = times
    return n(
        "Reshape", n("Expand", n("Unsqueeze", x, n.integers(axis)), n.integers(*wide)), n.integers(0, HEADS, -1, WIDTH)
    )


def grouped(kind: str, axis: int = 2, mask: tuple[int, ...] = (1,), last: str = "MatMul") -> onnx.ModelProto:
    """Return attention of heads, of which three read the same keys and values."""
    n = Parts(opset=18)
    k, v = (
        repeated(n, n(op, n("Slice", "x", n.integers(0), n.integers(GROUPS), n.integers(1))), axis=axis)
        for op in ("Relu", "Abs")
    )
    scores = n("Add", n("MatMul", n("Exp", "x"), n.turn(k, 0, 1, 3, 2)), n.weights(*mask))
    y = n("MatMul", n("Softmax", scores, axis=-1), v) if last == "MatMul" else n("Concat", scores, v, axis=-1)
    return n.model(HEAD_SHAPES[kind], n("Sigmoid", y), 4)


def moved(o: sl.Model) -> list[str]:
    assert o.source is not None
    return [n.op_type for n in o.source.graph.node if n.op_type in ("Expand", "Tile", "Resize", "Transpose")]


@pytest.mark.sample(1)
@pytest.mark.parametrize("mask", [(1,), (HEADS, 1, 1)])
@pytest.mark.parametrize("kind", HEAD_SHAPES)
def test_groups_of_heads_read_keys_and_values_once(tmp_path: Path, kind: str, mask: tuple[int, ...]) -> None:
    o = optimized(tmp_path, grouped(kind, mask=mask))
    assert moved(o) == ["Transpose"]
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    sizes, equal = compare(tmp_path / "before.onnx", tmp_path / "after.onnx", 0)
    assert sizes == equal > 0


def test_an_elementwise_operation_reads_them_once_too(tmp_path: Path) -> None:
    n = Parts(opset=18)
    k = repeated(n, n("Relu", n("Slice", "x", n.integers(0), n.integers(GROUPS), n.integers(1))))
    y = n("Add", n("Mul", k, n("Exp", "x")), n.weights(1, HEADS, 1, WIDTH))
    assert moved(optimized(tmp_path, n.model(HEAD_SHAPES["dynamic batch"], n("Sigmoid", y), 4))) == []


def test_repeats_of_whole_rounds_stay(tmp_path: Path) -> None:
    onnx.save(grouped("dynamic batch", axis=1), tmp_path / "m.onnx")
    assert split_repeats(sl.read_model(tmp_path / "m.onnx"))[1] == []


def test_as_many_repeats_as_a_dim_stay(tmp_path: Path) -> None:
    """How often an element is repeated is no number, so that no constant cuts the axis in two."""
    n = Parts(opset=18)
    x = n("Unsqueeze", n("Relu", "x"), n.integers(2))
    times = n("Concat", n.integers(1, 1), n("Shape", "x", start=0, end=1), n.integers(1), axis=0)
    y = n("Reshape", n("Expand", x, times), n.integers(0, -1, WIDTH))
    onnx.save(n.model(["N", "S", WIDTH], n("Mul", y, n.weights(1)), 3), tmp_path / "m.onnx")
    assert split_repeats(sl.read_model(tmp_path / "m.onnx"))[1] == []


@pytest.mark.parametrize("reader", ["Softmax", "Concat", "rows"])
def test_repeats_that_something_else_reads_stay(tmp_path: Path, reader: str) -> None:
    """What does not broadcast, what moves, and rows of a product, which its sums run over."""
    n = Parts(opset=18)
    k = repeated(n, n("Relu", n("Slice", "x", n.integers(0), n.integers(GROUPS), n.integers(1))))
    q = n("Exp", "x")
    if reader == "rows":
        y = n("MatMul", n.turn(k, 0, 2, 1, 3), n.turn(q, 0, 2, 3, 1))
    else:
        y = n("Softmax", k, axis=1) if reader == "Softmax" else n("Concat", k, q, axis=1)
    onnx.save(n.model(HEAD_SHAPES["dynamic batch"], n("Sigmoid", y), 4), tmp_path / "m.onnx")
    assert split_repeats(sl.read_model(tmp_path / "m.onnx"))[1] == []


def test_a_repeat_that_is_an_output_stays(tmp_path: Path) -> None:
    made = grouped("static")
    value = next(n.output[0] for n in made.graph.node if n.op_type == "Reshape")
    made.graph.output.append(onnx.helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, [2, HEADS, 5, WIDTH]))
    onnx.save(made, tmp_path / "m.onnx")
    changes = split_repeats(sl.read_model(tmp_path / "m.onnx"))[1]
    assert value not in [each.value for each in changes]


def test_a_shift_on_the_way_to_windows_is_one_gather(tmp_path: Path) -> None:
    """The slices and the Concat of a shift end in no value that is read: windows are made of it."""
    n = Parts(opset=18)
    x = n("Relu", "x")
    parts = [n("Slice", x, n.integers(a), n.integers(b), n.integers(1)) for a, b in ((2, 8), (0, 2))]
    shifted = n("Concat", *parts, axis=1)
    windows = n(
        "Reshape", n.turn(n("Reshape", shifted, n.integers(0, 2, 4, 2, 4, 3)), 0, 1, 3, 2, 4, 5), n.integers(-1, 16, 3)
    )
    o = optimized(tmp_path, n.model(["N", 8, 8, 3], n("Sigmoid", windows), 3))
    moves = [m.op_type for m in o.source.graph.node if m.op_type in ("Slice", "Concat", "Gather", "Transpose")]
    assert moves == ["Gather", "Transpose"]
