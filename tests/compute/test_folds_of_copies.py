"""Folds of equal terms, as in the pads around an image, and parts of values that are read behind functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute.reductions import JOINS, greatest, product, total
from symlayout.proof.fills.copies_of_terms import fold_of_copies

N, C, P, Q, W = sl.dims("N C P Q W", min=1)
Z = sl.dim("Z")
op: Any = sl.onnx
x = sl.tensor((N, C, W), "float32", name="x")
parts = [sl.tensor((N, C, e, W), "float32", name=name) for e, name in ((P, "a"), (Q, "b"))]
PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED
Function = Callable[[sl.Tensor], sl.Tensor]


def _padded(t: sl.Tensor, value: float) -> sl.Tensor:
    return sl.pad(t, [(0, 0), (1, 2), *[(0, 0)] * (t.rank - 2)], constant_values=value)


def _around(t: sl.Tensor, name: str, inner: float, outer: float) -> sl.Proof:
    def reduce(t: sl.Tensor) -> sl.Tensor:
        made: sl.Tensor = getattr(op, name)(t, axes=[2], keepdims=0)
        return made

    return sl.prove_equal(reduce(_padded(t, inner)), _padded(reduce(t), outer))


@pytest.mark.parametrize(
    ("name", "value"),
    [("reduce_sum", 0.0), ("reduce_prod", 1.0), ("reduce_prod", 0.0), ("reduce_max", 3.5), ("reduce_min", -2.0)],
)
def test_a_fold_of_a_padded_tensor_is_the_padded_fold(name: str, value: float) -> None:
    assert _around(x, name, value, value).verdict is PROVED
    assert _around(x, name, value, value + 1).verdict is REFUTED


@pytest.mark.parametrize("value", [1.0, -1.0, 0.5])
def test_a_sum_of_other_terms_depends_on_their_number(value: float) -> None:
    assert _around(x, "reduce_sum", value, value).verdict is REFUTED


def test_a_fold_of_no_term_is_its_own_start() -> None:
    t = sl.tensor((N, C, Z), "float32", name="t")
    assert _around(t, "reduce_sum", 0.0, 0.0).verdict is PROVED
    assert _around(t, "reduce_max", 0.0, 0.0).verdict is REFUTED


@pytest.mark.parametrize("term", [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.25])
@pytest.mark.parametrize("function", [total, product, greatest])
def test_what_a_fold_makes_of_copies_it_makes_of_all_numbers_of_them(function: Any, term: float) -> None:
    body = sl.Body("fold", function, over=True, commutative=True, joins=JOINS[function])
    found = fold_of_copies(body, np.float32(term))
    made = [function(np.full(n, term, np.float32), axes=(-1,)) for n in range(8)]
    if found is not None:
        assert {np.asarray(v).tobytes() for v in made[1:]} == {found.value.tobytes()}
        assert found.of_none == (np.asarray(made[0]).tobytes() == found.value.tobytes())
    else:
        assert len({np.asarray(v).tobytes() for v in made[1:]}) > 1


def _joined(t: sl.Tensor) -> sl.Tensor:
    return sl.reshape(t, (N * C, *t.shape[2:]))


@pytest.mark.parametrize(
    "function",
    [
        lambda t: op.softmax(t, axis=3),
        lambda t: op.cum_sum(t, axis=3),
        lambda t: op.abs(op.log_softmax(t, axis=3)),
    ],
)
def test_functions_of_vectors_are_read_in_parts_behind_functions_of_elements(function: Function) -> None:
    left = op.abs(function(sl.concatenate(parts, 2)))
    right = op.abs(sl.concatenate([function(t) for t in parts], 2))
    turned = op.abs(sl.concatenate([function(sl.flip(t, 3)) for t in parts], 2))
    assert sl.prove_equal(left, right).verdict is PROVED
    assert sl.prove_equal(_joined(left), _joined(right)).verdict is PROVED
    assert sl.prove_equal(left, turned, laws=("reassociate",)).verdict is REFUTED
