"""Spellings that models use, over extents that are constants, products and rounded sizes: equal for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sympy import ceiling, sympify

import symlayout as sl

B, C, G = sl.dims("b c g", min=1)
H, N, S, W, K = sl.dims("H N s W K")
T = sl.Tensor
SIDES = tuple[T, T]
EXTENTS: dict[str, tuple[Any, Any, Any]] = {
    "symbols": (H, W, K),
    "multiples": (2 * H, 3 * W, 4 * K),
    "products": (H * W, H, K * W),
    "constants": (12, 24, 36),
    "constant rows": (H, 24, 36),
    "rounded": (2 * ceiling(H / 2), 4 * ceiling(W / 4), 8 * ceiling(K / 8)),
    "halves": (ceiling(H / 2), ceiling(W / 3), 4 * ceiling(K / 4)),
    "equal": (H, H, H),
}


def split_rows(x: T, b: Any, c: Any) -> T:
    n, h, w, k = x.shape
    return sl.reshape(sl.transpose(sl.reshape(x, (n, h / b, b, w / c, c, k)), (0, 1, 3, 2, 4, 5)), (-1, b, c, k))


def join_rows(windows: T, x: T, b: Any, c: Any) -> T:
    n, h, w, k = x.shape
    parts = sl.reshape(windows, (n, h / b, w / c, b, c, k))
    return sl.reshape(sl.transpose(parts, (0, 1, 3, 2, 4, 5)), x.shape)


def channels_first(x: T) -> T:
    return sl.transpose(x, (0, 3, 1, 2))


def blocks_of_space(x: T) -> SIDES:
    y = channels_first(x)
    return sl.depth_to_space(sl.space_to_depth(y, B), B), y


def space_to_depth(x: T) -> SIDES:
    y = channels_first(x)
    n, k, h, w = y.shape
    parts = sl.transpose(sl.reshape(y, (n, k, h / B, B, w / B, B)), (0, 3, 5, 1, 2, 4))
    return sl.reshape(parts, (n, B * B * k, h / B, w / B)), sl.space_to_depth(y, B)


def pixel_shuffle(x: T) -> SIDES:
    y = channels_first(x)
    n, k, h, w = y.shape
    parts = sl.transpose(sl.reshape(y, (n, k / (B * B), B, B, h, w)), (0, 1, 4, 2, 5, 3))
    return sl.reshape(parts, (n, k / (B * B), h * B, w * B)), sl.depth_to_space(y, B, mode="depth_first")


def windows(x: T) -> SIDES:
    return join_rows(split_rows(x, B, C), x, B, C), x


def shifted_windows(x: T) -> SIDES:
    shifted = sl.roll(x, (-S, -S), (1, 2))
    return sl.roll(join_rows(split_rows(shifted, B, B), x, B, B), (S, S), (1, 2)), x


def heads(x: T) -> SIDES:
    n, h, w, k = x.shape
    apart = sl.transpose(sl.reshape(sl.reshape(x, (n, h * w, k)), (n, h * w, G, k / G)), (0, 2, 1, 3))
    return sl.reshape(sl.transpose(apart, (0, 2, 1, 3)), x.shape), x


def queries(x: T) -> SIDES:
    n, h, w, k = x.shape
    rows = sl.reshape(x, (n, h * w, k))
    apart = sl.transpose(sl.reshape(rows, (n, h * w, 3, G, k / (3 * G))), (2, 0, 3, 1, 4))
    part = sl.reshape(sl.split(rows, 3, axis=2)[1], (n, h * w, G, k / (3 * G)))
    return apart[1], sl.transpose(part, (0, 2, 1, 3))


def channel_shuffle(x: T) -> SIDES:
    n, h, w, k = x.shape
    spelled = sl.reshape(sl.swapaxes(sl.reshape(x, (n, h, w, G, k / G)), 3, 4), x.shape)
    return sl.transpose(sl.channel_shuffle(channels_first(x), G, 1), (0, 2, 3, 1)), spelled


def focus(x: T) -> SIDES:
    n, h, w, k = map(sympify, x.shape)
    parts = sl.transpose(sl.reshape(x, (n, h / 2, 2, w / 2, 2, k)), (0, 1, 3, 4, 2, 5))
    slices = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
    return sl.concatenate(slices, 3), sl.reshape(parts, (n, h / 2, w / 2, 4 * k))


def packed(x: T) -> SIDES:
    n, h, w, k = x.shape
    padded = sl.pad(x, ((0, 0), (0, 0), (0, 0), (0, -k % B)))
    return sl.pack(x, 3, B), sl.reshape(padded, (n, h, w, (k + -k % B) / B, B))


def rolled_blocks(x: T) -> SIDES:
    n, h, w, k = x.shape
    return sl.reshape(sl.roll(sl.reshape(x, (n, h / B, B, w, k)), S, 1), x.shape), sl.roll(x, S * B, 1)


CLAIMS: list[Callable[[T], SIDES]] = [
    *(blocks_of_space, space_to_depth, pixel_shuffle, windows, shifted_windows),
    *(heads, queries, channel_shuffle, focus, packed, rolled_blocks),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("extents", EXTENTS.values(), ids=EXTENTS)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_spellings_are_equal_for_all_sizes(claim: Callable[[T], SIDES], extents: tuple[Any, Any, Any]) -> None:
    left, right = claim(sl.tensor((N, *extents), name="x"))
    proof = sl.prove_equal(left, right, budget=20)
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)
    assert sl.prove_equal(left, sl.flip(right, 1), budget=60).verdict is not sl.Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize("claim", [space_to_depth, pixel_shuffle, shifted_windows, blocks_of_space])
@pytest.mark.parametrize("number", [12, 16, 30])
def test_a_block_that_divides_numbers_is_told_apart_by_its_values(claim: Callable[[T], SIDES], number: int) -> None:
    """A certificate has a case for each divisor, and for the numbers between them, which contradict the division."""
    left, right = claim(sl.tensor((N, number, 2 * number, 36), name="x"))
    proof = sl.prove_equal(left, right, budget=20)
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)
    assert sl.prove_equal(left, sl.flip(right, 1), budget=60).verdict is sl.Verdict.REFUTED
