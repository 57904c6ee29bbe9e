"""Folds over boxes of other extents, whose terms are the same but for those that change nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.fills.covered_terms import may_be_covered
from symlayout.tensors.apply_operation import operand_of
from tests.compute.values import differ

N, C, H, W, M = sl.dims("N C H W M", min=1)
op: Any = sl.onnx
Sides = tuple[sl.Tensor, sl.Tensor]
LAW = ("reassociate",)
LAWS = ("real", "reassociate")  # a product of 0 with an infinite factor is NaN
x = sl.tensor((N, C, H + 4, W + 4), "float32", name="x")


def _pool(t: sl.Tensor, *size: int, pads: Sequence[int] = ()) -> sl.Tensor:
    return op.max_pool(t, kernel_shape=size, pads=pads or [k // 2 for k in (*size, *size)])  # type: ignore[no-any-return]


def _two(size: int = 5, pads: Sequence[int] = ()) -> Sides:
    return _pool(_pool(x, 3, 3), 3, 3), _pool(x, size, size, pads=pads)


def _three(size: int = 7) -> Sides:
    return _pool(_pool(_pool(x, 3, 3), 3, 3), 3, 3), _pool(x, size, size)


def _rows_and_columns(size: int = 3) -> Sides:
    return _pool(_pool(x, 1, 3), 3, 1), _pool(x, 3, size)


def _padded(reduce: Any = op.reduce_sum, value: float = 0.0) -> Sides:
    v = sl.tensor((N, H), "float32", name="v")
    return reduce(sl.pad(v, [(0, 0), (2, 3)], constant_values=value), axes=[1]), reduce(v, axes=[1])


def _kernel(low: int = 1) -> Sides:
    w = sl.tensor((M, C, 3, 3), "float32", name="w")
    wide = sl.pad(w, [(0, 0), (0, 0), (low, 2 - low), (1, 1)])
    return op.conv(x, w, pads=(1, 1, 1, 1)), op.conv(x, wide, pads=(2, 2, 2, 2))


def _channels(first: int = 0) -> Sides:
    w = sl.tensor((M, C + 3, 3, 3), "float32", name="w")
    return op.conv(sl.pad(x, [(0, 0), (0, 3), (0, 0), (0, 0)]), w), op.conv(x, w[:, first : C + first])


def _products(value: float = 0.0, dtype: str = "float32") -> Sides:
    a, b = sl.tensor((H, C), dtype, name="a"), sl.tensor((C, W), dtype, name="b")
    wide = sl.pad(a, [(0, 0), (1, 2)], constant_values=value), sl.pad(b, [(1, 2), (0, 0)], constant_values=value)
    return op.matmul(*wide), op.matmul(a, b)


TRUE: dict[str, tuple[Callable[[], Sides], tuple[str, ...]]] = {
    "two pools are a larger one": (_two, ()),
    "three pools are a larger one": (_three, ()),
    "pools of rows and of columns": (_rows_and_columns, ()),
    "a maximum of pads": (lambda: _padded(op.reduce_max, -np.inf), ()),
    "a minimum of pads": (lambda: _padded(op.reduce_min, np.inf), ()),
    "a product of pads": (lambda: _padded(op.reduce_prod, 1.0), LAW),
    "a sum of pads": (_padded, LAW),
    "a padded kernel": (_kernel, LAWS),
    "padded channels": (_channels, LAWS),
    "padded factors": (_products, LAWS),
    "padded factors of integers": (lambda: _products(dtype="int32"), ()),
}
FALSE: dict[str, Callable[[], Sides]] = {
    "two pools are one of 4": lambda: _two(4, (2, 2, 1, 1)),
    "two pools are one with other pads": lambda: _two(5, (1, 2, 3, 2)),
    "three pools are one of 9": lambda: _three(9),
    "pools of rows and of too many columns": lambda: _rows_and_columns(5),
    "a maximum of pads of 0": lambda: _padded(op.reduce_max, 0.0),
    "a sum of pads of 1": lambda: _padded(value=1.0),
    "a kernel that is padded on one side": lambda: _kernel(2),
    "padded channels, and the last kernels": lambda: _channels(3),
    "factors that are padded with 1": lambda: _products(1.0),
}


@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("turned", [False, True])
def test_a_true_claim_is_proved(name: str, turned: bool) -> None:
    sides, laws = TRUE[name]
    left, right = sides()[::-1] if turned else sides()
    proof = sl.prove_equal(left, right, laws=laws)
    assert proof.verdict is sl.Verdict.PROVED, proof.explain()
    assert proof.laws == laws


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [name for name, (_, laws) in TRUE.items() if laws])
def test_a_sum_of_floats_needs_the_law(name: str) -> None:
    assert sl.prove_equal(*TRUE[name][0]()).verdict is sl.Verdict.UNKNOWN


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_refuted(name: str) -> None:
    sides = FALSE[name]()
    proof = sl.prove_equal(*sides, laws=LAWS)
    assert proof.verdict is sl.Verdict.REFUTED
    assert proof.witness is not None
    assert differ(sides, proof.witness.dims, proof.witness.coord)


def test_a_term_that_a_sum_has_twice_counts_twice() -> None:
    """A maximum would not tell them apart."""
    v = sl.tensor((N, H), "float32", name="v")
    twice = sl.pad(sl.concatenate([v, v], 1), [(0, 0), (1, 0)])
    assert sl.prove_equal(op.reduce_sum(twice, axes=[1]), op.reduce_sum(v, axes=[1]), laws=LAW).verdict is (
        sl.Verdict.REFUTED
    )
    least = sl.pad(sl.concatenate([v, v], 1), [(0, 0), (1, 0)], constant_values=-np.inf)
    assert sl.prove_equal(op.reduce_max(least, axes=[1]), op.reduce_max(v, axes=[1])).verdict is sl.Verdict.PROVED


def test_only_folds_over_other_boxes_whose_fills_change_nothing_are_compared_by_their_terms() -> None:
    v = sl.tensor((N, H), "float32", name="v")

    def padded(value: float, reduce: Any = op.reduce_sum, more: int = 3) -> sl.Tensor:
        return reduce(sl.pad(v, [(0, 0), (2, more)], constant_values=value), axes=[1], keepdims=0)  # type: ignore[no-any-return]

    cases = (
        (padded(0.0), padded(0.0, more=1), True),
        (padded(0.0), padded(0.0), False),  # one box
        (padded(1.0), padded(0.0, more=1), False),
        (padded(-0.0), padded(0.0, more=1), False),
        (padded(0.0, op.reduce_mean), padded(0.0, op.reduce_mean, 1), False),  # which counts its terms
        (padded(0.0), padded(0.0, op.reduce_max, 1), False),
    )
    for a, b, may in cases:
        assert may_be_covered(a, b, operand_of("joint", (a, b)).facts) is may
