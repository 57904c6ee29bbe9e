"""Values that differ at one size are not equal, and nobody tries to prove that they are."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.attempts import FIRST_EFFORT
from symlayout.proof.cases.sampled_values import SampledValues
from symlayout.proof.congruence import Congruence
from symlayout.proof.decide_equal import attempt
from symlayout.tensors.chain import Tensor

X = sl.tensor("N, 6", dtype="float32", name="x")
RNG = np.random.default_rng(0)


def weights(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def samples(left: Tensor, right: Tensor) -> SampledValues:
    facts = left.facts.fork()
    facts.merge(right.facts)
    return SampledValues(facts, ([left], [right]))


def blocks(weights: list[np.ndarray], last: np.ndarray) -> list[Tensor]:
    """Return the sums along a residual stream, whose values have one shape and one function."""
    stream = [X]
    for w in [*weights, last]:
        stream.append(sl.onnx.add(stream[-1], sl.onnx.mat_mul(sl.onnx.relu(stream[-1]), w)))
    return stream[1:]


def test_values_of_one_function_are_told_apart_and_equal_ones_are_not() -> None:
    ws = [weights(6, 6) for _ in range(3)]
    one, other = blocks(ws, ws[0]), blocks(ws, ws[0])
    seen = samples(one[-1], other[-1])
    assert [[seen.differ(a, b, (0, 1)) for b in other] for a in one] == [[i != k for k in range(4)] for i in range(4)]


def test_a_transposed_value_is_compared_without_the_places_of_its_elements() -> None:
    y = sl.onnx.relu(X)
    z = sl.onnx.relu(sl.transpose(X))
    seen = samples(y, z)
    assert not seen.differ(y, z, (1, 0))
    assert seen.differ(y, sl.onnx.exp(X), (0, 1)) is False  # it is part of no side
    w = sl.onnx.exp(sl.transpose(X))
    assert samples(y, w).differ(y, w, (1, 0))


@pytest.mark.parametrize("scale", [1 + 1e-6, 1 + 1e-4])
def test_rounding_does_not_tell_values_apart(scale: float) -> None:
    w = weights(6, 6)
    a, b = sl.onnx.mat_mul(X, w), sl.onnx.mat_mul(X, (w * scale).astype(np.float32))
    assert not samples(a, b).differ(a, b, (0, 1))


def test_what_rounding_amplifies_does_not_tell_values_apart() -> None:
    ones = np.full((6, 6), 1 / 6, np.float32)
    mean = sl.onnx.mat_mul(X, ones)
    a = sl.onnx.mul(sl.onnx.sub(sl.onnx.mat_mul(mean, ones), mean), np.float32(1e6))  # the mean of equal numbers is one
    b = sl.onnx.mul(sl.onnx.sub(mean, mean), np.float32(1e6))
    assert not samples(a, b).differ(a, b, (0, 1))


def test_nothing_is_known_of_what_cannot_be_evaluated() -> None:
    opaque = sl.compute(sl.Body("opaque"), [X], batch=2)
    y = sl.onnx.relu(opaque)
    z = sl.onnx.exp(X)
    assert not samples(y, z).differ(y, z, (0, 1))
    infinite = sl.onnx.log(sl.onnx.mul(X, np.float32(0)))
    assert not samples(infinite, z).differ(infinite, z, (0, 1))


def test_sizes_are_found_that_meet_the_requirements() -> None:
    y = sl.onnx.relu(sl.reshape(sl.tensor("N, M", dtype="float32", name="x"), (-1, 8)))
    z = sl.onnx.exp(sl.reshape(sl.tensor("N, M", dtype="float32", name="x"), (-1, 8)))
    assert samples(y, z).differ(y, z, (0, 1))


def seen_apart(y: Tensor, step: int, *, most: int) -> bool:
    """Return whether ``y[k]`` and ``y[k + step]`` are told apart for ``0 <= k <= most``."""
    seen = samples(y, y)
    seen.differ(y, y, (0,))
    facts = y.facts.fork()
    k = facts.add_digit("#7", most + 1)
    return seen.differ_at(y, y, (k,), (k + step,), facts)


def test_elements_are_told_apart_where_the_facts_hold_and_nowhere_else() -> None:
    x = sl.tensor("6", dtype="float32", name="x")
    again = sl.onnx.exp(sl.concatenate([x[:3], x[:2], x[5:]], 0))  # elements 3 and 4 are 0 and 1 again
    assert not seen_apart(again, 0, most=5)
    assert not seen_apart(again, 3, most=1)
    assert seen_apart(again, 3, most=2)
    assert seen_apart(again, 1, most=4)
    assert not seen_apart(again, 6, most=4)  # there are no such elements


def test_elements_that_rounding_changes_are_not_told_apart() -> None:
    x = sl.tensor("N, 6", dtype="float32", name="x")
    large = sl.onnx.mul(x, np.float32(1e6))
    noise = sl.onnx.sub(sl.onnx.add(x, np.float32(1e6)), np.float32(1e6))
    for y, z, apart in ((large, sl.onnx.mul(x, np.float32(1e6 + 1)), False), (noise, sl.onnx.exp(x), True)):
        seen = samples(y, z)
        assert not seen.differ_at(y, z, (0, 0), (0, 0), y.facts)  # nothing was evaluated yet
        seen.differ(y, z, (0, 1))
        assert seen.differ_at(y, z, (0, 0), (0, 0), y.facts) == apart


def windowed_attention(*, scaled_query: bool) -> Tensor:
    """Return the weights of attention within windows of a rolled image, as in a Swin Transformer."""
    rng = np.random.default_rng(1)
    w, b = rng.standard_normal((8, 24)).astype(np.float32), rng.standard_normal(24).astype(np.float32)
    rolled = sl.roll(sl.tensor("N, 8, 8, 8", dtype="float32", name="x"), (-2, -2), (1, 2))
    windows = sl.transpose(sl.reshape(rolled, (-1, 2, 4, 2, 4, 8)), (0, 1, 3, 2, 4, 5))
    joined = sl.onnx.add(sl.onnx.mat_mul(sl.reshape(windows, (-1, 16, 8)), w), b)
    heads = sl.transpose(sl.reshape(joined, (-1, 16, 3, 2, 4)), (2, 0, 3, 1, 4))
    query, key = heads[0], sl.transpose(heads[1], (0, 1, 3, 2))
    scale = np.float32(0.35)
    made: Tensor
    if scaled_query:
        made = sl.onnx.mat_mul(sl.onnx.mul(query, scale), key)
    else:
        made = sl.onnx.mul(sl.onnx.mat_mul(query, key), scale)
    return made


@pytest.mark.slow
def test_parts_of_one_value_are_told_apart_by_their_elements() -> None:
    left, right = windowed_attention(scaled_query=True), windowed_attention(scaled_query=False)
    spent = []
    for seen in (samples(left, right), None):
        facts = left.facts.fork()
        facts.merge(right.facts)
        known = Congruence(facts, 40_000, frozenset({"fold-batchnorm", "real", "reassociate"}), samples=seen)
        start = facts.effort
        assert not isinstance(attempt(left, right, facts, known, finite=False), str)
        spent.append(facts.effort - start)
    assert 3 * spent[0] < spent[1], spent


@pytest.mark.slow
def test_a_claim_that_fails_takes_less_work_where_values_are_told_apart() -> None:
    ws = [weights(6, 6) for _ in range(6)]
    left, right = blocks(ws, weights(6, 6))[-1], blocks(ws[:2] + ws[3:], weights(6, 6))[-1]
    spent = []
    for seen in (samples(left, right), None):
        facts = left.facts.fork()
        facts.merge(right.facts)
        known = Congruence(facts, FIRST_EFFORT, frozenset({"reassociate", "fold-batchnorm"}), samples=seen)
        assert isinstance(attempt(left, right, facts, known, finite=False), str)
        spent.append(facts.effort)
    assert 3 * spent[0] < spent[1]


@pytest.mark.slow
def test_the_first_pair_that_differs_is_told_apart_before_it_has_visited_all_goals() -> None:
    deep = X
    for _ in range(3):  # values stay small
        bounded = sl.onnx.erf(deep)
        deep = sl.onnx.mul(
            sl.onnx.mul(sl.onnx.add(deep, bounded), sl.onnx.add(bounded, deep)), sl.constant(np.float32(0.1))
        )
    left, right = sl.onnx.mul(deep, sl.onnx.erf(deep)), sl.onnx.add(deep, sl.onnx.erf(deep))
    spent = []
    for seen in (samples(left, right), None):
        known = Congruence(left.facts, FIRST_EFFORT, frozenset({"reassociate"}), samples=seen)
        assert isinstance(attempt(left, right, left.facts, known, finite=False), str)
        spent.append(known.spent)
    assert 2 * spent[0] < spent[1], spent
