"""Constants that a tool computes from others may be rounded in another way: the law fold-batchnorm allows that much."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto
from onnx.numpy_helper import from_array

import symlayout as sl
from symlayout.proof.cases.compare_constants import near_elements
from tests.support.onnx_writer import model, node, value_info

FOLD = ("fold-batchnorm",)
W = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
X = sl.tensor("N, 8", dtype="float32", name="x")


def product(w: np.ndarray, rounding: float) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.mat_mul(X, sl.constant(w, rounding=rounding))
    return made


def test_constants_within_the_rounding_are_equal_under_the_law_only() -> None:
    near = np.nextafter(W, np.float32(9))
    proof = sl.prove_equal(product(W, 1e-5), product(near, 0), laws=FOLD)
    assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, FOLD)
    without = sl.prove_equal(product(W, 1e-5), product(near, 0), budget=10)
    assert without.verdict is sl.Verdict.UNKNOWN
    assert "the law fold-batchnorm holds" in without.obligation


def recurrent(weight: sl.Tensor) -> sl.Tensor:
    sequence, recurrence = sl.tensor("S, B, 8", dtype="float32", name="s"), sl.tensor((1, 8, 8), "float32", name="r")
    made: sl.Tensor = sl.op("onnx:RNN")(sequence, sl.reshape(weight, (1, 8, 8)), recurrence, hidden_size=8)[0]
    return made


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(recurrent, id="an operation without a declaration"),
        pytest.param(lambda weight: sl.onnx.pow(X, sl.reshape(weight, (64,))[:8]), id="an exponent"),
        pytest.param(lambda weight: sl.concatenate([X, weight], axis=0), id="movement"),
    ],
)
def test_constants_within_the_rounding_are_equal_where_no_formula_compares_them(
    read: Callable[[sl.Tensor], sl.Tensor],
) -> None:
    near = np.nextafter(W, np.float32(9))
    proof = sl.prove_equal(read(sl.constant(W, rounding=1e-5)), read(sl.constant(near)), laws=FOLD)
    assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, FOLD)
    proof = sl.prove_equal(read(sl.constant(W, rounding=1e-9)), read(sl.constant(near)), laws=FOLD, budget=10)
    assert proof.verdict is not sl.Verdict.PROVED


@pytest.mark.parametrize(("rounding", "factor"), [(0, 1 + 2**-22), (1e-5, 1 + 2**-10)])
def test_constants_that_are_not_computed_or_further_apart_are_not_equal(rounding: float, factor: float) -> None:
    proof = sl.prove_equal(product(W, rounding), product(W * np.float32(factor), 0), laws=FOLD, budget=10)
    assert proof.verdict is not sl.Verdict.PROVED


def test_infinities_and_other_types_are_not_near() -> None:
    x, facts = np.array([np.inf, 1], np.float32), X.facts
    assert not near_elements(x, x, [0], [0], facts, 1.0)
    assert near_elements(x, x, [1], [1], facts, 0.0)
    assert not near_elements(x, x.astype(np.float64), [1], [1], facts, 1.0)
    assert not near_elements(np.array([1]), np.array([1]), [0], [0], facts, 1.0)


def written(path: Path, w: np.ndarray, *nodes: NodeProto) -> Path:
    constants = [from_array(W, "w"), from_array(w, "folded")]
    path.write_bytes(model(nodes, [value_info("x", ("N", 8))], outputs=("y",), constants=constants))
    return path


def test_a_reader_notes_how_far_what_it_computes_may_be_off(tmp_path: Path) -> None:
    folded = (W.astype(np.float64) @ W).astype(np.float32)
    before = written(
        tmp_path / "before.onnx",
        W,
        node("MatMul", "w, w", "p"),
        node("Transpose", "p", "t", perm=[1, 0]),
        node("MatMul", "x, t", "y"),
    )
    found = sl.read_model(before).tensors["t"]
    assert found.values is not None
    assert 0 < found.rounding < 1e-3
    assert np.abs(found.values - folded.T).max() <= found.rounding
    for change, verdict in ((0, sl.Verdict.PROVED), (1e-2, sl.Verdict.REFUTED)):
        after = written(tmp_path / "after.onnx", folded.T + np.float32(change), node("MatMul", "x, folded", "y"))
        assert sl.verify(before, after, laws=FOLD, budget=20, run=False).verdict is verdict
    exact = written(tmp_path / "exact.onnx", W, node("Neg", "w", "p"), node("MatMul", "x, p", "y"))
    assert sl.read_model(exact).tensors["p"].rounding == 0


def test_a_constant_that_is_too_large_for_a_shape_is_computed_too(tmp_path: Path) -> None:
    path = tmp_path / "gather.onnx"
    index = np.arange(64 * 100).reshape(64, 100) % 8
    constants = [from_array(W, "w"), from_array(index, "index")]
    nodes = [node("Gather", "w, index", "g", axis=0), node("Add", "x, g", "y")]
    path.write_bytes(model(nodes, [value_info("x", ("N", 100, 8))], outputs=("y",), constants=constants))
    found = sl.read_model(path).tensors["g"]
    assert found.values is not None
    assert (found.values == W[index]).all()
