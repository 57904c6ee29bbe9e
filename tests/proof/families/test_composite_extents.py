"""Claims that are true for every extent, about extents that are sums, products, quotients, maxima and minima."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sympy import Max, Min, ceiling, floor

import symlayout as sl

B, C = sl.dims("b c", min=1)
H, W, N, M, P = sl.dims("H W N M p")
EXTENTS: dict[str, Any] = {
    str(e): e
    for e in (
        *(H, 2 * H, 6 * H, H + 1, 2 * H + 1, H * W, 2 * H * W, H + W, 2 * H + 3 * W, H**2, H * (H + 1), H * W + H),
        *(B * H, 2 * B * H, C * H, B * C * H, B * B, C * (H + W), 4 * H - 2 * W),
        *(ceiling(H / 2), 2 * ceiling(H / 2), floor((H + 1) / 3), Min(H, W), Max(H, W), Max(0, H - 3)),
        *(sl.dim("E", multiple_of=2), sl.dim("F", multiple_of=4), 12),
    )
}
SIDES = tuple[sl.Tensor, sl.Tensor]
T = sl.Tensor


def blocks(x: T, size: Any) -> T:
    return sl.reshape(x, (x.shape[0] / size, size))


def swapped(x: T, groups: Any) -> T:
    return sl.reshape(sl.transpose(sl.reshape(x, (groups, x.shape[0] / groups))), x.shape)


def in_blocks(x: T, pads: Any) -> T:
    return sl.space_to_batch(sl.expand_dims(x, 0), [B], [pads])


def flat(x: T, e: Any) -> T:
    return sl.reshape(x, (e,))


CLAIMS: dict[str, Callable[[T, Any], SIDES]] = {
    "two shuffles": lambda x, e: (sl.channel_shuffle(sl.channel_shuffle(x, B, 0), e / B, 0), x),
    "four shuffles": lambda x, e: (
        sl.channel_shuffle(swapped(swapped(sl.channel_shuffle(x, 2, 0), B), e / B), e / 2, 0),
        x,
    ),
    "two transposes": lambda x, e: (swapped(swapped(x, B), e / B), x),
    "blocks of space": lambda x, e: (sl.batch_to_space(in_blocks(x, [0, 0]), [B], [[0, 0]])[0], x),
    "padded blocks of space": lambda x, e: (sl.batch_to_space(in_blocks(x, [1, P]), [B], [[1, P]])[0], x),
    "packed": lambda x, e: (sl.unpack(sl.pack(x, 0, B), 0, e), x),
    "packed by 4": lambda x, e: (sl.unpack(sl.pack(x, 0, 4), 0, e), x),
    "rolled back": lambda x, e: (sl.roll(sl.roll(x, N, 0), -N, 0), x),
    "rolled twice": lambda x, e: (sl.roll(sl.roll(x, N, 0), M, 0), sl.roll(x, N + M, 0)),
    "rolled and flipped": lambda x, e: (sl.flip(sl.roll(x, N, 0), 0), sl.roll(sl.flip(x, 0), -N, 0)),
    "tiled and cut": lambda x, e: (sl.tile(x, (B,))[:e], x),
    "tiled twice": lambda x, e: (sl.tile(sl.tile(x, (B,)), (C,)), sl.tile(x, (B * C,))),
    "tiled by reshape": lambda x, e: (flat(sl.broadcast_to(sl.expand_dims(x, 0), (B, e)), B * e), sl.tile(x, (B,))),
    "repeated and strided": lambda x, e: (sl.repeat(x, B, 0)[::B], x),
    "repeated twice": lambda x, e: (sl.repeat(sl.repeat(x, B, 0), C, 0), sl.repeat(x, B * C, 0)),
    "padded and cut": lambda x, e: (sl.pad(x, ((N, M),))[N : N + e], x),
    "padded and flipped": lambda x, e: (sl.flip(sl.pad(x, ((N, M),)), 0), sl.pad(sl.flip(x, 0), ((M, N),))),
    "padded by itself": lambda x, e: (sl.pad(x, ((e, e),), mode="wrap"), sl.tile(x, (3,))),
    "cut in halves": lambda x, e: (sl.concatenate([x[: e // 2], x[e // 2 :]], 0), x),
    "cut in thirds": lambda x, e: (sl.concatenate(sl.array_split(x, 3), 0), x),
    "halves swapped": lambda x, e: (sl.concatenate(sl.split(x, 2)[::-1], 0), sl.roll(x, e / 2, 0)),
    "even and odd": lambda x, e: (flat(sl.stack([blocks(x, 2)[:, 0], blocks(x, 2)[:, 1]], 1), e), x),
    "strided": lambda x, e: (sl.stack([x[0::2], x[1::2]], 0), sl.transpose(blocks(x, 2))),
    "windows": lambda x, e: (sl.window(x, [B], axis=[0], strides=[B]), blocks(x, B)),
    "blocks flipped": lambda x, e: (
        sl.flip(flat(sl.flip(blocks(x, B), 1), e), 0),
        flat(sl.flip(blocks(x, B), 0), e),
    ),
}


def claims(e: Any) -> Iterator[tuple[str, T, T]]:
    x = sl.tensor((e,), name="x")
    for name, make in CLAIMS.items():
        try:
            yield name, *make(x, x.shape[0])
        except sl.ShapeError:  # 12 is no multiple of each b, 2*H + 1 none of 2
            assert e == 12 or "even" in name or "strided" in name or "halves" in name or "shuffles" in name


@pytest.mark.sample(2)
@pytest.mark.parametrize("e", EXTENTS.values(), ids=EXTENTS)
def test_what_is_true_of_every_extent_is_proved(e: Any) -> None:
    made = list(claims(e))
    assert len(made) >= 20
    for number, (name, left, right) in enumerate(made):
        proof = sl.prove_equal(left, right, budget=20)
        assert proof.verdict is sl.Verdict.PROVED, (name, str(proof))
        if number % 5 == 0:
            assert sl.check(proof.certificate), name


@pytest.mark.sample(5)
@pytest.mark.parametrize("e", EXTENTS.values(), ids=EXTENTS)
def test_what_is_false_of_some_size_is_not_proved(e: Any) -> None:
    for name, left, right in claims(e):
        assert sl.prove_equal(left, sl.flip(right, 0), budget=40).verdict is not sl.Verdict.PROVED, name
