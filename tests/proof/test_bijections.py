"""Boxes that correspond by a bijection which only the views show: a roll, a shuffle, another order of joined digits."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.bijections import bijections
from symlayout.proof.certificate.check_computed import refusal_of_computed
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.tensors.apply_operation import operand_of

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


@pytest.mark.slow
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


@pytest.mark.sample(5)
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


whole = sl.tensor((N, K), "int64", name="i")
image = sl.tensor((N, C, H + 4, W + 4), "float32", name="p")


def _pooled(t: sl.Tensor, *kernel: int) -> sl.Tensor:
    made: sl.Tensor = op.max_pool(t, kernel_shape=kernel)
    return made


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (op.reduce_max(sl.tile(whole, (1, 2)), axes=[1]), op.reduce_max(whole, axes=[1])),
        (op.reduce_min(sl.repeat(sl.roll(whole, 1, 1), 3, axis=1), axes=[1]), op.reduce_min(whole, axes=[1])),
        (_pooled(_pooled(image, 3, 3), 3, 3), _pooled(image, 5, 5)),
    ],
)
def test_a_maximum_does_not_count_its_terms(left: sl.Tensor, right: sl.Tensor) -> None:
    for sides in ((left, right), (right, left)):
        proof = sl.prove_equal(*sides)
        assert proof.verdict is sl.Verdict.PROVED
        assert sl.check(proof.certificate)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (op.reduce_sum(sl.tile(whole, (1, 2)), axes=[1]), op.reduce_sum(whole, axes=[1])),
        (op.reduce_max(sl.tile(whole, (1, 2))[:, 1:-1], axes=[1]), op.reduce_max(whole[:, 1:], axes=[1])),
        (_pooled(_pooled(image, 3, 3), 3, 2), _pooled(image, 5, 5)[..., :-1]),
    ],
)
def test_a_sum_counts_its_terms_and_a_maximum_has_all(left: sl.Tensor, right: sl.Tensor) -> None:
    for sides in ((left, right), (right, left)):
        assert sl.prove_equal(*sides, laws=LAWS).verdict is not sl.Verdict.PROVED


halves = [sl.tensor((N, e), "float32", name=name) for e, name in ((K, "first"), (M, "second"))]
factors = [sl.tensor((e, 3), "float32", name=name) for e, name in ((K, "top"), (M, "bottom"))]
even = sl.tensor((N, 2 * K), "float32", name="e")
picture = sl.tensor((N, C, 2 * H, 2 * W), "float32", name="y")
pixels = sl.tensor((M, 4 * C, 1, 1), "float32", name="o")


def _two_rolls(shift: Any = -2) -> Sides:
    right = sl.roll(matrix, shift, 0)
    product = op.mul(sl.roll(whole, M, 1), sl.roll(whole, M + 1, 1))
    if shift == -2:
        right = op.reduce_max(sl.roll(product, 2, 1), axes=[1])
        return op.reduce_max(product, axes=[1]), right
    return op.reduce_max(product, axes=[1]), op.reduce_max(op.mul(whole, whole), axes=[1])


def _rolled_rows(shift: int = 1) -> Sides:
    t = sl.tensor((N, K, M), "float32", name="t")
    rolled = sl.concatenate([t[:, :, shift:], t[:, :, :1]], 2)
    return op.reduce_sum(rolled, axes=[1, 2]), op.reduce_sum(sl.reshape(t, (N, 1, K * M)), axes=[1, 2])


def _swapped(turned: int = -1) -> Sides:
    left = op.matmul(sl.concatenate(halves, 1), sl.concatenate(factors, 0))
    return left, op.matmul(sl.concatenate(halves[::-1], 1), sl.concatenate(factors[::turned], 0))


def _moved_half(start: Any = K) -> Sides:
    left = op.reduce_sum(sl.concatenate([even[:, start:], even[:, :K]], 1), axes=[1], keepdims=0)
    return left, op.reduce_sum(even, axes=[1], keepdims=0)


def _evens_and_odds(second: int = 1) -> Sides:
    parts = [op.reduce_max(even[:, k::2], axes=[1], keepdims=0) for k in (0, second)]
    return op.max(*parts), op.reduce_max(even, axes=[1], keepdims=0)


def _focus(order: tuple[int, ...] = (0, 3, 2, 1)) -> Sides:
    parts = [picture[:, :, i::2, j::2] for j in (0, 1) for i in (0, 1)]
    kernels = sl.transpose(sl.reshape(pixels, (M, 2, 2, C)), order)
    return op.conv(sl.concatenate(parts, 1), pixels), op.conv(picture, kernels, strides=(2, 2))


@pytest.mark.sample(4)
@pytest.mark.parametrize("claim", [_swapped, _moved_half, _evens_and_odds, _focus, _two_rolls, _rolled_rows])
def test_terms_of_parts_that_are_joined_stand_elsewhere(claim: Callable[[], Sides]) -> None:
    left, right = claim()
    for sides in ((left, right), (right, left)):
        proof = sl.prove_equal(*sides, laws=LAWS)
        assert proof.verdict is sl.Verdict.PROVED
        assert sl.check(proof.certificate)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "claim",
    [
        lambda: _swapped(1),
        lambda: _moved_half(0),
        lambda: _evens_and_odds(0),
        lambda: _focus((0, 3, 1, 2)),
        lambda: _two_rolls(1),
        lambda: _rolled_rows(0),
    ],
)
def test_terms_of_parts_that_are_joined_in_another_way_are_others(claim: Callable[[], Sides]) -> None:
    left, right = claim()
    for sides in ((left, right), (right, left)):
        assert sl.prove_equal(*sides, laws=LAWS).verdict is sl.Verdict.REFUTED


def test_a_guess_names_the_place_of_each_term() -> None:
    sides = [op.reduce_sum(t, axes=[1], keepdims=0) for t in (sl.roll(vector, 1, 1), vector)]
    found, back = bijections(sides[0], sides[1], (0,), False, operand_of("joint", sides).facts)
    assert (found.back, back.back) == (False, True)
    assert sl.prove_equal(back.tensor, sl.roll(back.box, -1, 0)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(found.tensor, sl.roll(found.box, 1, 0)).verdict is sl.Verdict.PROVED
    assert found.inverse is not None
    assert [sl.prove_equal(*claim).verdict for claim in found.claims()] == [sl.Verdict.PROVED] * 2


@pytest.mark.sample(4)
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
    sides = {"": left}, {"": right}, operand_of("joint", (left, right)).facts
    assert refusal_of_computed(certificate, *sides) == ""
    forged = copy.deepcopy(certificate)
    forge(next(pair for pair in forged["pairs"] if "bijection" in pair))
    assert refusal_of_computed(sealed(forged), *sides) not in (
        "",
        "the seal does not match: the certificate was altered",
    )


def _pieces(x: sl.Tensor) -> sl.Tensor:
    """Return every second row and column, joined: the rows within a block change first."""
    return sl.concatenate([x[:, :, i::2, k::2] for i, k in ((0, 0), (1, 0), (0, 1), (1, 1))], 1)


def _channels_shuffled(x: sl.Tensor) -> sl.Tensor:
    n, _, h, w = x.shape
    return sl.reshape(sl.transpose(sl.reshape(x, (n, 2, 2, 3, h, w)), (0, 2, 1, 3, 4, 5)), (n, 12, h, w))


@pytest.mark.parametrize("pads", [0, 1])
@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 1, 2, 3), (3, 1, 2, 0)])
def test_weights_in_the_order_of_the_channels(pieces: bool, order: tuple[int, ...], pads: int) -> None:
    """Constants say nothing of places, and where a picture is padded, only elements inside it do."""
    kernel = np.random.default_rng(0).normal(size=(5, 12, 3, 3)).astype(np.float32)
    ordered = kernel.reshape(5, 4, 3, 3, 3)[:, order].reshape(kernel.shape).copy()
    if pieces:
        picture = sl.tensor((N, 3, 2 * H, 2 * W), "float32", name="x")
        sides = _pieces(picture), op.space_to_depth(picture, blocksize=2)
    else:
        picture = sl.tensor((N, 12, H, W), "float32", name="x")
        sides = _channels_shuffled(picture), picture
    left, right = (
        op.conv(side, sl.constant(w), pads=[pads] * 4) for side, w in zip(sides, (kernel, ordered), strict=True)
    )
    expected = sl.Verdict.PROVED if order == (0, 2, 1, 3) else sl.Verdict.REFUTED
    proof = sl.prove_equal(left, right, laws=LAWS)
    assert proof.verdict is expected
    if expected is sl.Verdict.PROVED:
        assert sl.prove_equal(left, right).verdict is sl.Verdict.UNKNOWN
