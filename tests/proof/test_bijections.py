"""Boxes that correspond by a bijection which only the views show: a roll, a shuffle, another order of joined digits."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.certificate.computed import refusal_of_computed, sealed
from symlayout.tensors.chain import joint_facts

N, C, H, W, G, K, M = sl.dims("N C H W G K M", min=1)
LAWS = ("reassociate",)
op: Any = sl.onnx
x = sl.tensor((N, C, H, W), "float32", name="x")
vector = sl.tensor((N, K), "float32", name="v")
matrix = sl.tensor((K, M), "float32", name="m")
weights = sl.tensor((C * H * W, M), "float32", name="w")
groups = sl.tensor((N, G * C, H), "float32", name="g")
blocks = sl.tensor((N, G * H, G * W, C), "float32", name="b")
Sides = tuple[sl.Tensor, sl.Tensor]


def _rolled_sum(axis: int = 1) -> Sides:
    return op.reduce_sum(sl.roll(vector, M, axis), axes=[1], keepdims=0), op.reduce_sum(vector, axes=[1], keepdims=0)


def _rolled_maximum(reduced: int = 2) -> Sides:
    square = sl.tensor((N, H, H), "float32", name="s")
    rolled = sl.roll(square, 2, 2)
    return op.reduce_max(rolled, axes=[reduced], keepdims=0), op.reduce_max(square, axes=[reduced], keepdims=0)


def _rolled_product(shift: int = 3) -> Sides:
    return op.matmul(sl.roll(vector, 3, 1), sl.roll(matrix, shift, 0)), op.matmul(vector, matrix)


def _flattened(order: tuple[int, ...] = (1, 2, 0, 3)) -> Sides:
    split = sl.transpose(sl.reshape(weights, (C, H, W, M)), order)
    last = sl.reshape(sl.transpose(x, (0, 2, 3, 1)), (N, H * W * C))
    return op.gemm(sl.reshape(x, (N, C * H * W)), weights), op.gemm(last, sl.reshape(split, (H * W * C, M)))


def _shuffled(by: Any = G) -> Sides:
    right = groups if by is G else groups[:, ::-1][:, 1:]
    left = sl.channel_shuffle(groups, G, axis=1)
    return op.reduce_max(left, axes=[1], keepdims=0), op.reduce_max(right, axes=[1], keepdims=0)


def _blocked(axes: tuple[int, ...] = (1, 2, 3)) -> Sides:
    left = op.reduce_max(sl.space_to_depth(blocks, G), axes=[1, 2, 3], keepdims=0)
    right = op.reduce_max(blocks, axes=axes, keepdims=0)
    return left, right if len(axes) == 3 else op.reduce_min(right, axes=[1], keepdims=0)


def _softmax(shift: int = 1) -> Sides:
    return op.softmax(sl.roll(vector, 1, 1), axis=1), sl.roll(op.softmax(vector, axis=1), shift, 1)


def _softmax_shuffled(by: Any = G) -> Sides:
    left = op.softmax(sl.channel_shuffle(groups, G, axis=1), axis=1)
    return left, sl.channel_shuffle(op.softmax(groups, axis=1), by, axis=1)


def _through_functions(shift: int = 2) -> Sides:
    left = op.mul(op.exp(sl.roll(vector, 2, 1)), sl.roll(op.relu(vector), shift, 1))
    right = op.mul(op.exp(vector), op.relu(vector))
    return op.reduce_sum(left, axes=[1], keepdims=0), op.reduce_sum(right, axes=[1], keepdims=0)


def _twice_rolled(shift: int = 1) -> Sides:
    t = sl.tensor((N, C, C), "float32", name="t")
    left = op.reduce_l2(sl.roll(t, (1, 2), (1, 2)), axes=[1, 2], keepdims=0)
    return left, op.reduce_l2(t if shift else t[:, 1:], axes=[1, 2], keepdims=0)


@pytest.mark.parametrize(
    ("claim", "laws"),
    [
        (_rolled_sum, LAWS),
        (_rolled_maximum, ()),
        (_rolled_product, LAWS),
        (_flattened, LAWS),
        (_shuffled, ()),
        (_blocked, ()),
        (_softmax, LAWS),
        (_softmax_shuffled, LAWS),
        (_twice_rolled, LAWS),
    ],
)
def test_terms_that_stand_elsewhere(claim: Callable[[], Sides], laws: tuple[str, ...]) -> None:
    left, right = claim()
    for sides in ((left, right), (right, left)):
        proof = sl.prove_equal(*sides, laws=laws)
        assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, laws)
        assert sl.check(proof.certificate)
    if laws:
        assert sl.prove_equal(left, right).verdict is not sl.Verdict.PROVED


def test_terms_are_followed_through_functions_of_elements() -> None:
    left, right = _through_functions()
    assert sl.prove_equal(left, right, laws=LAWS).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize(
    "claim",
    [
        lambda: _rolled_maximum(1),
        lambda: _rolled_product(2),
        lambda: _flattened((2, 1, 0, 3)),
        lambda: _shuffled(None),
        lambda: _blocked((2, 3)),
        lambda: _softmax(2),
        lambda: _softmax_shuffled(C),
        lambda: _through_functions(1),
        lambda: _twice_rolled(0),
    ],
)
def test_terms_that_are_others(claim: Callable[[], Sides]) -> None:
    left, right = claim()
    for sides in ((left, right), (right, left)):
        assert sl.prove_equal(*sides, laws=LAWS).verdict is sl.Verdict.REFUTED


def test_terms_that_are_read_twice_are_no_bijection() -> None:
    square = sl.tensor((N, 2 * K), "int64", name="s")
    left = op.reduce_max(sl.roll(square[:, :K], 1, 1), axes=[1], keepdims=0)
    right = op.reduce_max(sl.tile(square[:, :K], (1, 2)), axes=[1], keepdims=0)
    assert sl.prove_equal(left, right).verdict is not sl.Verdict.REFUTED  # true of maxima, which the sums are not
    sums = [op.reduce_sum(t.inputs[0], axes=[1], keepdims=0) for t in (left, right)]
    assert sl.prove_equal(*sums, laws=LAWS).verdict is sl.Verdict.REFUTED


@pytest.mark.parametrize(
    "forge",
    [
        lambda pair: pair["bijection"].__setitem__("number", 7),
        lambda pair: pair["bijection"]["is_one"].reverse(),
        lambda pair: pair["bijection"]["is_one"].pop(),
        lambda pair: pair["bijection"]["is_one"].__setitem__(0, None),
        lambda pair: pair.pop("bijection"),
        lambda pair: pair.__setitem__("law", ""),
        lambda pair: pair["box"].__setitem__(2, not pair["box"][2]),
    ],
)
def test_a_forged_bijection_is_refused(forge: Callable[[Any], None]) -> None:
    left, right = _flattened()
    certificate = sl.prove_equal(left, right, laws=LAWS).certificate
    assert certificate is not None
    sides = {"": left}, {"": right}, joint_facts((left, right))
    assert refusal_of_computed(certificate, *sides) == ""
    forged = copy.deepcopy(certificate)
    forge(next(pair for pair in forged["pairs"] if "bijection" in pair))
    assert refusal_of_computed(sealed(forged), *sides) not in (
        "",
        "the seal does not match: the certificate was altered",
    )
