"""im2col and repeat_kv get one spelling each, whatever operations they are written with."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.spell_windows import WINDOWS
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.repeated_spellings import IM2COL, PLACES, REPEAT_KV, REPEATS, SHAPES, columns, network
from tests.optimize_models.test_spellings import MOVES

FAMILIES: dict[str, tuple[dict[str, Any], int, list[str], Callable[[Any], Any]]] = {
    "im2col": (IM2COL, 3, ["Slice"] * len(PLACES) + ["Concat"], columns),
    "repeat_kv": (REPEAT_KV, 4, ["Expand"], lambda x: x.repeat(REPEATS, 1)),
}
"""The spellings, the rank of the result, what moves elements afterwards, and the result by NumPy."""
TABLE = [(family, way, kind) for family, (ways, *_) in FAMILIES.items() for way in ways for kind in SHAPES]
KEPT = {"gather": ["Gather"], "tile": ["Tile"]}
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
    assert [n.op_type for n in moved] == KEPT.get(way, wanted)
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
