"""The signs of joined parts go into the smaller factor of the product after them, and the parts are moved at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from symlayout.models.read_model import read_model
from symlayout.optimize_models.joins.negated_parts import negate_factors
from symlayout.optimize_models.optimize_model import OptimizedModel
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.products.test_split_products import CHANNELS, by_heads, optimized
from tests.optimize_models.products.test_split_products import SHAPES as JOINT_SHAPES
from tests.optimize_models.spellings.dilation_spellings import Parts

HEADS, WIDTH = 2, 8
SHAPES: dict[str, list[int | str]] = {
    "static": [2, 3, HEADS, WIDTH],
    "dynamic batch": ["N", 3, HEADS, WIDTH],
    "all dynamic": ["N", "S", HEADS, WIDTH],
}
_END = (1 << 63) - 1


def by_halves(n: Parts, x: str) -> str:
    axis = n.integers(3)
    bounds = (0, WIDTH // 2), (WIDTH // 2, _END)
    first, second = (n("Slice", x, n.integers(a), n.integers(b), axis) for a, b in bounds)
    return n("Concat", n("Neg", second), first, axis=-1)


def by_turned_halves(n: Parts, x: str) -> str:
    """Return the halves after a Transpose, negated before they are cut."""
    x, axis = n.turn(x, 0, 2, 1, 3), n.integers(3)
    second = n("Slice", n("Neg", x), n.integers(WIDTH // 2), n.integers(_END), axis)
    joined = n("Concat", second, n("Slice", x, n.integers(0), n.integers(WIDTH // 2), axis), axis=3)
    return n.turn(joined, 0, 2, 1, 3)


def by_pairs(n: Parts, x: str) -> str:
    """Return neighbours that change places, as GPT-J has them."""
    axes = n.integers(3), n.integers(2)
    odd, even = (n("Slice", x, n.integers(k), n.integers(_END), *axes) for k in (1, 0))
    parts = (n("Unsqueeze", v, n.integers(4)) for v in (n("Neg", odd), even))
    return n("Reshape", n("Concat", *parts, axis=-1), n.integers(0, 0, HEADS, WIDTH))


WAYS: dict[str, Callable[[Parts, str], str]] = {
    "halves": by_halves,
    "turned halves": by_turned_halves,
    "pairs": by_pairs,
}


def rotary(way: str, kind: str, factor: tuple[int, ...] = (WIDTH,)) -> onnx.ModelProto:
    n = Parts(opset=17)
    x = n("Relu", "x")
    y = n("Add", n("Mul", x, n.weights(WIDTH)), n("Mul", WAYS[way](n, x), n("Sin", n.weights(*factor))))
    return n.model(SHAPES[kind], y, 4)


def partly_rotary(kind: str) -> onnx.ModelProto:
    """Return queries and keys of one product, which stand together for each head: their first columns are turned."""
    n = Parts(opset=17)
    joint = n.dense(n("Relu", "x"), CHANNELS, 3 * CHANNELS)
    sin, cos, axis = n("Sin", n.weights(WIDTH // 2)), n("Cos", n.weights(WIDTH // 2)), n.integers(3)

    def embedded(x: str) -> str:
        half = WIDTH // 2
        head, rest = (n("Slice", x, n.integers(a), n.integers(b), axis) for a, b in ((0, half), (half, _END)))
        bounds = (0, half // 2), (half // 2, half)
        first, second = (n("Slice", head, n.integers(a), n.integers(b), axis) for a, b in bounds)
        turned = n("Concat", n("Neg", second), first, axis=-1)
        return n("Concat", n("Add", n("Mul", head, cos), n("Mul", turned, sin)), rest, axis=-1)

    q, k, v = by_heads(n, joint)
    weights = n("Softmax", n("MatMul", embedded(q), n.turn(embedded(k), 0, 1, 3, 2)), axis=-1)
    y = n.turn(n("MatMul", weights, v), 0, 2, 1, 3)
    return n.model(JOINT_SHAPES[kind], n("Reshape", y, n.integers(0, 0, CHANNELS)), 3)


def are_moved(o: OptimizedModel) -> list[str]:
    return [n.op_type for n in o.source.graph.node if n.op_type in ("Slice", "Concat", "Transpose", "Gather", "Neg")]


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_parts_of_a_rotary_embedding_are_one_slice(tmp_path: Path, way: str, kind: str) -> None:
    o = optimized(tmp_path, rotary(way, kind))
    assert are_moved(o) == ["Slice"]
    changes = [each for c in o.report.changes if c.rule == "signs" for each in c.rewritten]
    assert [proof.verdict.name for each in changes for proof in each.proofs] == ["PROVED"]
    x = np.random.default_rng(0).normal(size=(2, 3, HEADS, WIDTH)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()


def test_signs_stay_where_the_factor_is_as_large(tmp_path: Path) -> None:
    o = optimized(tmp_path, rotary("halves", "static", factor=(2, 3, HEADS, WIDTH)))
    assert sorted(are_moved(o)) == ["Concat", "Neg", "Slice", "Slice"]
    assert negate_factors(read_model(tmp_path / "before.onnx"))[1] == []


def test_parts_that_are_read_elsewhere_stay(tmp_path: Path) -> None:
    n = Parts(opset=17)
    x = n("Relu", "x")
    joined = by_halves(n, x)
    y = n("Add", joined, n("Mul", joined, n("Sin", n.weights(WIDTH))))
    o = optimized(tmp_path, n.model(SHAPES["static"], y, 4))
    assert sorted(are_moved(o)) == ["Concat", "Neg", "Slice", "Slice"]


@pytest.mark.parametrize("kind", JOINT_SHAPES)
def test_parts_of_heads_that_stand_together_are_turned_in_one_run(tmp_path: Path, kind: str) -> None:
    """The first columns of a head begin where the last ones of the head before it end (GPT-NeoX)."""
    o = optimized(tmp_path, partly_rotary(kind))
    assert "Neg" not in are_moved(o)
    signs = [each for c in o.report.changes if c.rule == "signs" for each in c.rewritten]
    assert len(signs) == 2
