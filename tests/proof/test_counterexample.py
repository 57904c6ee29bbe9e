"""A witness is a point at which the two sides differ, the first in the order of sizes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof import counterexample
from symlayout.proof.counterexample import Witness, WitnessSearch

X = sl.tensor("N", name="x")


def search(left: sl.Tensor, right: sl.Tensor, budget: int = 100) -> tuple[Witness | None, int, bool]:
    facts = left.facts.fork()
    facts.merge(right.facts)
    return WitnessSearch(left, right, facts, None).run(budget)


def test_a_flip_differs_first_at_two_elements() -> None:
    witness, _, _ = search(sl.flip(X), X)
    assert witness is not None
    assert [(d.name, n) for d, n in witness.dims.items()] == [("N", 2)]
    x = np.arange(2)
    assert sl.interpret(sl.flip(X), x)[witness.coord] != sl.interpret(X, x)[witness.coord]
    assert str(witness) == "N = 2: at (0,) the sides read x[1] and x[0]"


def test_the_elements_of_a_witness_differ_for_the_inputs_that_it_has() -> None:
    x = sl.tensor("10", "float32", "data")
    pairs = [(a, b) for a in range(10) for b in range(10) if a != b]
    models = [SimpleNamespace(inputs={"x": x}, outputs={"y": sl.take(x, [k])}, tensors={}) for k in range(10)]
    for a, b in pairs:  # some elements of the first draw are equal
        witness = sl.verify(models[a], models[b]).witness
        assert witness is not None
        (drawn,) = witness.inputs.values()
        assert drawn[a] != drawn[b]


def test_shapes_that_differ_have_no_coordinate() -> None:
    witness, _, _ = search(sl.pad(X, (0, 1)), X)
    assert witness is not None
    assert witness.coord is None
    assert "the shapes are" in str(witness)


def test_sides_that_are_equal_have_no_witness_and_the_budget_ends_the_search() -> None:
    witness, searched, whole = search(sl.flip(sl.flip(X)), X, budget=7)
    assert (witness, searched <= 7, whole) == (None, True, False)


def test_one_size_is_compared_as_a_whole() -> None:
    x = sl.tensor((3,), name="x")
    assert search(sl.roll(x, 3), x) == (None, 1, True)


def test_a_search_goes_on_with_what_its_budget_leaves() -> None:
    n, m = sl.dims("n m")
    x = sl.tensor((n, m), name="x")
    left, right = sl.flip(x, 0), sl.flip(sl.flip(sl.flip(x, 0), 1), 1)
    facts = left.facts.fork()
    facts.merge(right.facts)
    search = WitnessSearch(left, right, facts, None)
    assert search.run(4) == (None, 4, False)
    assert search.run(4) == (None, 4, False)
    assert search.run(9) == (None, 9, False)


def test_a_claim_that_needs_values_told_apart_needs_few_points() -> None:
    x = sl.tensor("n", name="x")
    proof = sl.prove_equal(sl.concatenate(sl.array_split(x, 3)), x)
    assert proof.verdict is sl.Verdict.PROVED
    assert 0 < proof.searched <= 100


def test_constants_that_differ_far_from_the_first_ones_are_told_apart_at_large_sizes() -> None:
    x = sl.tensor("N, S", dtype="float32", name="x")
    table = np.linspace(0, 1, 128, dtype=np.float32)
    other = table.copy()
    other[50] += 1
    sides = [sl.onnx.add(x, sl.constant(t)[: x.shape[1]]) for t in (table, other)]
    proof = sl.prove_equal(*sides, budget=20)
    assert proof.verdict is sl.Verdict.REFUTED
    assert proof.witness is not None
    assert proof.witness.coord == (0, 50)
    sizes = {str(symbol): n for symbol, n in proof.witness.dims.items()}
    assert 51 <= sizes["S"] <= 128
    arrays = np.zeros((sizes["N"], sizes["S"]), np.float32)
    made = [sl.interpret(t, arrays) for t in sides]
    assert made[0][0, 50] != made[1][0, 50]


def test_places_that_no_table_has_do_not_end_the_search() -> None:
    places = sl.tensor("N", dtype="int64", name="places")
    rows = sl.tensor("2, 3", dtype="float32", name="rows")
    one, other = sl.onnx.gather(rows, places), sl.onnx.gather(sl.flip(rows, 0), places)
    assert sl.prove_equal(one, other).verdict is sl.Verdict.REFUTED
    assert sl.prove_equal(one, sl.onnx.gather(sl.flip(sl.flip(rows, 0), 0), places)).verdict is sl.Verdict.PROVED


def test_a_scale_counts_between_scores_that_saturate_and_scores_that_vanish() -> None:
    q, k = (sl.tensor(shape, dtype="float32", name=name) for shape, name in (("S, 64", "q"), ("T, 64", "k")))
    scores = sl.onnx.mat_mul(q, sl.transpose(k))
    sides = [sl.onnx.softmax(sl.onnx.mul(scores, np.float32(scale))) for scale in (0.125, 0.25)]
    assert sl.prove_equal(*sides).verdict is sl.Verdict.REFUTED


def test_a_point_that_takes_long_is_evaluated_for_one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sl.tensor((4, 8), dtype="float32", name="x")
    w = sl.tensor((8, 8), dtype="float32", name="w")
    left, right = sl.onnx.mat_mul(x, w), sl.transpose(sl.onnx.mat_mul(sl.transpose(w), sl.transpose(x)))
    draws: list[int] = []
    evaluate = WitnessSearch._computed_apart

    def counted(self: WitnessSearch, left: sl.Tensor, right: sl.Tensor, dims: Any, draw: int, *reading: Any) -> Any:
        draws.append(draw)
        return evaluate(self, left, right, dims, draw, *reading)

    monkeypatch.setattr(WitnessSearch, "_computed_apart", counted)
    assert search(left, right)[0] is None
    assert len(draws) > 3
    draws.clear()
    monkeypatch.setattr(counterexample, "_MOST_DRAWN", 4 * 8 * 8)
    assert search(left, right)[0] is None
    assert len(draws) == 1


V = sl.tensor("N", dtype="float32", name="v")
op: Any = sl.onnx


def constant(value: float) -> sl.Tensor:
    return sl.constant(np.float32(value))


SPECIALLY_APART: list[tuple[Any, Any, tuple[str, ...]]] = [
    (op.leaky_relu(V, alpha=0.0), op.leaky_relu(V, alpha=-0.0), ("signed-zero",)),
    (op.elu(V, alpha=0.0), op.elu(V, alpha=-0.0), ("signed-zero",)),
    (op.add(V, constant(0)), V, ("signed-zero",)),  # at -0.0
    (op.sub(constant(0), V), op.neg(V), ("signed-zero",)),  # at 0.0
    (op.relu(V), op.leaky_relu(V, alpha=0.0), ()),
    (op.sub(V, V), op.mul(V, constant(0)), ("real",)),  # at numbers below 0
    (op.where(op.equal(V, V), V, constant(1)), V, ()),  # at NaN
    (op.reciprocal(op.reciprocal(V)), op.neg(op.reciprocal(op.neg(op.reciprocal(op.abs(V))))), ()),
]


@pytest.mark.parametrize(("left", "right", "laws"), SPECIALLY_APART)
def test_a_difference_of_a_sign_of_zero_or_at_a_special_value_is_found(left: Any, right: Any, laws: Any) -> None:
    proof = sl.prove_equal(left, right, budget=30)
    assert (proof.verdict, proof.witness is not None) == (sl.Verdict.REFUTED, True)
    assert proof.witness is not None
    if laws:
        assert (f"under the law {laws[0]} both are equal" in str(proof)) == (
            sl.prove_equal(left, right, laws=laws, budget=30).verdict is sl.Verdict.PROVED
        )


def test_a_sign_that_is_open_refutes_nothing() -> None:
    zeros = op.mul(V, constant(0))  # 0.0 and -0.0 meet in the maxima
    for left, right in (
        (op.max(zeros, op.neg(zeros)), op.abs(zeros)),
        (op.relu(op.neg(op.abs(zeros))), op.neg(op.abs(zeros))),
        (op.where(op.equal(V, V), constant(-0.0), constant(-0.0)), op.neg(op.abs(zeros))),
        (op.softplus(op.add(V, constant(0))), op.softplus(V)),
        (op.tanh(op.add(V, constant(0))), op.tanh(V)),
    ):
        proof = sl.prove_equal(left, right, budget=30)
        if proof.verdict is sl.Verdict.REFUTED:  # at NaN and infinities, which are no zeros
            assert proof.witness is not None
            assert not all(side[1] == 0 for side in (proof.witness.left, proof.witness.right))


def test_a_granted_law_explains_special_differences() -> None:
    left, right = op.add(op.leaky_relu(V, alpha=0.0), V), op.add(op.leaky_relu(V, alpha=-0.0), V)
    for laws in (("signed-zero",), ("real", "signed-zero")):
        assert sl.prove_equal(left, right, laws=laws, budget=30).verdict is not sl.Verdict.REFUTED


def test_a_sign_is_seen_behind_a_product_of_matrices() -> None:
    a, w = sl.tensor("N, 4", dtype="float32", name="a"), sl.tensor("4, 3", dtype="float32", name="w")
    sides = [op.leaky_relu(op.mat_mul(a, w), alpha=alpha) for alpha in (0.0, -0.0)]
    assert sl.prove_equal(*sides, budget=30).verdict is sl.Verdict.REFUTED
    assert sl.prove_equal(*(op.softmax(s) for s in sides), budget=30).verdict is not sl.Verdict.REFUTED


@pytest.mark.parametrize("name", list("abcdefghijklmnop"))
def test_a_witness_has_finite_values_where_there_are_some(name: str) -> None:
    """Runtimes reach an infinity by other ways, and then have NaN; zeros are among the elements that are drawn."""
    x, y = sl.tensor("N", name="x", dtype=np.float32), sl.tensor("N", name=name + "_", dtype=np.float32)
    witness = sl.prove_equal(sl.onnx.div(x, y), sl.onnx.div(x, sl.onnx.neg(y))).witness
    assert witness is not None
    assert witness.is_finite


def test_a_difference_of_infinities_only_is_a_witness() -> None:
    x = sl.tensor("N", name="x", dtype=np.float32)
    zero = sl.onnx.sub(x, x)
    proof = sl.prove_equal(sl.onnx.div(x, zero), sl.onnx.neg(sl.onnx.div(x, zero)))
    assert proof.witness is not None
    assert not proof.witness.is_finite


@pytest.mark.parametrize("by", [0.0, -0.0])
def test_a_pad_times_infinity_is_no_witness(by: float) -> None:
    """Between the elements of a transposed convolution there are zeros, which runtimes do not multiply."""
    x, w = (sl.tensor(text, name=name, dtype=np.float32) for text, name in (("1, 1, N", "x"), ("1, 1, 1", "w")))
    given = {"dilations": [2], "pads": [1, 1], "strides": [3]}
    sides = [sl.op("onnx:ConvTranspose")(x, k, **given) for k in (w, sl.onnx.div(w, np.float32(by)))]
    assert sl.prove_equal(*sides, budget=30).verdict is sl.Verdict.UNKNOWN
