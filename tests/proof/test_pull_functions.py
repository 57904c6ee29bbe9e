"""Functions are pulled out of movement, and certificates of proofs that need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute.elementwise import broadcast_jointly
from symlayout.proof.pull_functions import moved, pulled

x = sl.tensor("N>=2, H>=2", name="x")
y = sl.tensor("N>=2, H>=2", name="y")
o = sl.onnx

MOVED: dict[str, Callable[[], sl.Tensor]] = {
    "a slice of a function": lambda: o.relu(x)[1:],
    "a flip of a function of two tensors": lambda: sl.flip(o.sub(x, y), 0),
    "a part of joined functions": lambda: sl.concatenate([o.relu(x), o.relu(y)])[1:],
    "rows of sums": lambda: o.reduce_sum(x, axes=[1], keepdims=0)[1:],
    "a pad of a slice of a function": lambda: sl.pad(o.exp(x)[1:], 1),
    "a function of a slice of a function": lambda: o.relu(o.neg(x)[1:, ::-1])[:, 1:],
    "joined sums of rows": lambda: sl.concatenate([o.reduce_sum(x, axes=[1]), o.reduce_sum(o.neg(y), axes=[1])])[1:],
    "rows of a product": lambda: o.mat_mul(x, sl.tensor("H>=2, K", name="w"))[1:],
}


@pytest.mark.parametrize("make", MOVED.values(), ids=MOVED.keys())
def test_a_pulled_function_computes_the_same(make: Callable[[], sl.Tensor]) -> None:
    t = make()
    (new,), old = pulled([t])
    assert old, "nothing was pulled out"
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {}
    for leaf in t.bind({"N": 3, "H": 4, "K": 2}).arguments():
        arrays[leaf.name] = rng.integers(-9, 9, [int(n) for n in leaf.shape])
    assert np.array_equal(sl.interpret(new, **arrays), sl.interpret(t, **arrays))
    assert new.shape == t.shape


@pytest.mark.parametrize("make", MOVED.values(), ids=MOVED.keys())
def test_the_claim_that_functions_and_movement_change_places_has_a_certificate(make: Callable[[], sl.Tensor]) -> None:
    t = make()
    (new,), _ = pulled([t])
    proof = sl.prove_equal(new, t)
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)


def test_sums_over_boxes_of_other_extents_stay_apart() -> None:
    for other, is_joined in (("N>=2, K", True), ("N>=2, H>=2", False)):
        sums = [o.reduce_sum(t, axes=[1], keepdims=0) for t in (x, sl.tensor(other, name="z"))]
        assert (pulled([sl.concatenate(sums)])[0][0].name == "concatenate") is is_joined


Function = Callable[[sl.Tensor], sl.Tensor]


@pytest.mark.parametrize(
    "function",
    [lambda t: o.relu(o.exp(t)), lambda t: o.reduce_sum(o.neg(t), axes=[1]), lambda t: o.exp(o.exp(o.neg(t)))],
)
def test_functions_of_functions_of_joined_tensors(function: Function) -> None:
    left = function(sl.concatenate([x, y]))
    proof = sl.prove_equal(left, sl.concatenate([function(x), function(y)]))
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)
    assert sl.prove_equal(left, sl.concatenate([function(y), function(x)])).verdict is sl.Verdict.REFUTED
    assert sl.prove_equal(left, sl.concatenate([function(x), function(o.abs(y))])).verdict is sl.Verdict.REFUTED


def test_a_function_stays_within_a_pad() -> None:
    t = sl.pad(o.exp(x), 1)
    assert pulled([t])[0][0] is t


@pytest.mark.slow
def test_chains_of_many_functions_are_left_as_they_are() -> None:
    t: sl.Tensor = x
    for _ in range(9):  # doubles the functions at each step
        t = o.add(o.relu(t)[1:], o.relu(t)[:-1])
    (new,), old = pulled([t])
    assert new is t
    assert not old


def test_a_convolution_is_pulled_out_of_the_windows_of_a_pool() -> None:
    image, weights = sl.tensor("1, 2, 6, 6", "float32", "image"), sl.tensor("3, 2, 3, 3", "float32", "weights")
    t = o.maxpool(o.conv(image, weights), kernel_shape=[2, 2], strides=[2, 2])
    (new,), old = pulled([t])
    assert set(old.values()) & {leaf.key for leaf in t.inputs[0].leaves()}
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype("float32") for shape in ((1, 2, 6, 6), (3, 2, 3, 3))]
    assert np.array_equal(sl.interpret(new, *arrays), sl.interpret(t, *arrays))


def test_a_deep_chain_is_walked_without_recursion() -> None:
    t = x
    for _ in range(600):
        t = o.softmax(sl.transpose(t), axis=0)
    (same,), old = pulled([t])
    assert same is t
    assert not old


def test_a_product_whose_bias_gives_only_its_extents_has_a_certificate_as_rows() -> None:
    """A tool writes a product of a batch and a bias as one product of all rows."""
    t, w, b = sl.tensor("N, S, K", name="t"), sl.tensor("K, M", name="w"), sl.tensor("M", name="b")
    (n, s, k), (_, m) = t.shape, w.shape
    left = o.add(b, o.mat_mul(t, w))
    rows = o.add(o.mat_mul(sl.reshape(t, (n * s, k)), w), b)
    proof = sl.prove_equal(left, sl.reshape(rows, (n, s, m)))
    assert proof.verdict is sl.Verdict.PROVED
    assert proof.certificate is not None
    assert sl.check(proof.certificate, before=left, after=sl.reshape(rows, (n, s, m)))
    assert sl.prove_equal(
        left, sl.reshape(o.add(o.mat_mul(sl.reshape(t, (n * s, k)), w), o.neg(b)), (n, s, m))
    ).verdict is (sl.Verdict.REFUTED)


def test_a_computed_leaf_that_reads_what_is_moved_stays_as_it_is() -> None:
    """It gives only an extent, and has no further axes where the values do."""
    whole = sl.tensor("N, 4", name="whole")
    chosen = sl.compute(sl.Body("first", lambda a, axes: a[..., 0], over=True), [whole], batch=1)
    turned = sl.flip(chosen)
    t = broadcast_jointly([sl.expand_dims(turned, 1), sl.expand_dims(o.relu(turned), 1)], 0)
    made = moved(t, {chosen.key: whole}, 1)
    assert [str(n) for n in made.shape] == ["N", "1", "4"]
    assert str(made.index_map) == "(i0, i1, i2) -> whole(N - i0 - 1, i2)"
