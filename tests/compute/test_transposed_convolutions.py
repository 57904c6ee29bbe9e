"""Transposed convolutions: values beside the definition by scattering, and what they are equal to for all sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl

N, C, H, W, M = sl.dims("N C H W M", min=1)
S, T = sl.dims("s t", min=1)
op: Any = sl.onnx
x = sl.tensor((N, C, H, W), "float32", name="x")
LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
Sides = tuple[sl.Tensor, sl.Tensor]
Array = np.ndarray[Any, Any]


def _scattered(
    a: Array, k: Array, group: int, strides: list[int], dilations: list[int], pads: list[int], extra: list[int]
) -> Array:
    """Return the transposed convolution by its definition: each element of *a* adds a kernel to the result."""
    n, c, *extents = a.shape
    each, *kernel = k.shape[1:]
    whole = [
        (e - 1) * s + (size - 1) * d + 1 for e, s, size, d in zip(extents, strides, kernel, dilations, strict=True)
    ]
    room = np.zeros([n, group * each, *(e + more for e, more in zip(whole, extra, strict=True))], a.dtype)
    for place in np.ndindex(*extents):
        for tap in np.ndindex(*kernel):
            at = tuple(p * s + t * d for p, s, t, d in zip(place, strides, tap, dilations, strict=True))
            for g in range(group):
                some = slice(g * c // group, (g + 1) * c // group)
                terms = a[(slice(None), some, *place)] @ k[(some, slice(None), *tap)]
                room[(slice(None), slice(g * each, (g + 1) * each), *at)] += terms
    rank = len(extents)
    cut = [slice(b, e - end) for b, end, e in zip(pads[:rank], pads[rank:], room.shape[2:], strict=True)]
    return room[(slice(None), slice(None), *cut)]


@pytest.mark.parametrize("seed", range(60))
def test_values_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank, group = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    strides, dilations = rng.integers(1, 4, rank).tolist(), rng.integers(1, 3, rank).tolist()
    extents, kernel = rng.integers(1, 5, rank).tolist(), rng.integers(1, 6, rank).tolist()
    extra = [int(rng.integers(0, s)) for s in strides]
    c, each = group * int(rng.integers(1, 3)), int(rng.integers(1, 3))
    whole = [(e - 1) * s + (k - 1) * d + 1 for e, s, k, d in zip(extents, strides, kernel, dilations, strict=True)]
    pads = [int(rng.integers(0, (size + 1) // 2)) for size in whole] * 2
    a = rng.integers(-9, 10, (2, c, *extents)).astype(np.float32)
    k = rng.integers(-9, 10, (c, each, *kernel)).astype(np.float32)
    given = {"strides": strides, "dilations": dilations, "pads": pads, "output_padding": extra, "group": group}
    made = op.conv_transpose(sl.tensor(a.shape, "float32", name="a"), sl.tensor(k.shape, "float32", name="k"), **given)
    expected = _scattered(a, k, group, strides, dilations, pads, extra)
    assert made.shape == expected.shape
    assert np.array_equal(sl.interpret(made, a=a, k=k), expected)
    names = ["N", "C", "H", "W"][: 2 + rank]
    free = sl.tensor(sl.dims(" ".join(names)), "float32", name="a") if group == 1 else None
    if free is not None:  # the same with symbolic extents
        kernels = sl.tensor((free.shape[1], each, *kernel), "float32", name="k")
        assert np.array_equal(sl.interpret(op.conv_transpose(free, kernels, **given), a=a, k=k), expected)


def test_elements_that_no_kernel_meets_are_no_terms() -> None:
    a, k = np.ones((1, 1, 2), np.float32), np.array([[[np.inf, 1]]], np.float32)
    made = op.conv_transpose(
        sl.tensor(a.shape, "float32", name="a"), sl.tensor(k.shape, "float32", name="k"), strides=[2]
    )
    assert sl.interpret(made, a=a, k=k).tolist() == [[[np.inf, 1, np.inf, 1]]]


def _shuffled(order: tuple[int, ...] = (1, 2, 3, 0), block: Any = S) -> Sides:
    w = sl.tensor((C, M, block, block), "float32", name="w")
    kernels = sl.reshape(sl.transpose(w, order), (M * block * block, C, 1, 1))
    left = op.conv_transpose(x, w, strides=(block, block))
    return left, op.depth_to_space(op.conv(x, kernels), blocksize=block, mode="CRD")


def _product(order: tuple[int, ...] = (0, 3, 1, 4, 2, 5)) -> Sides:
    w = sl.tensor((C, M, S, T), "float32", name="w")
    flat = op.matmul(sl.transpose(x, LAST), sl.reshape(w, (C, M * S * T)))
    rows = sl.transpose(sl.reshape(flat, (N, H, W, M, S, T)), order)
    return op.conv_transpose(x, w, strides=(S, T)), sl.reshape(rows, (N, M, H * S, W * T))


def _grouped(turned: int = 1) -> Sides:
    images, w = sl.tensor((N, 2 * C, H), "float32", name="i"), sl.tensor((2 * C, M, S + 1), "float32", name="w")
    halves = zip(sl.split(images, 2, 1), sl.split(w, 2, 0), strict=True)
    parts = [op.conv_transpose(i, k, strides=(S,)) for i, k in halves]
    return op.conv_transpose(images, w, strides=(S,), group=2), sl.concatenate(parts[::turned], 1)


def _turned(kernel: int = 1) -> Sides:
    w = sl.tensor((C, M, 3, 3), "float32", name="w")
    turned = sl.transpose(sl.flip(w, (2, 3)) if kernel else w, (1, 0, 2, 3))
    return op.conv_transpose(x, w, pads=(1, 1, 1, 1)), op.conv(x, turned, pads=(1, 1, 1, 1))


@pytest.mark.parametrize("claim", [_shuffled, lambda: _shuffled(block=3), _product, _grouped, _turned])
def test_what_it_is_for_all_sizes(claim: Callable[[], Sides]) -> None:
    proof = sl.prove_equal(*claim())
    assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, ())
    assert sl.check(proof.certificate)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "claim",
    [
        lambda: _shuffled((1, 3, 2, 0)),
        lambda: _shuffled((1, 3, 2, 0), 3),
        lambda: _product((0, 3, 1, 5, 2, 4)),
        lambda: _grouped(-1),
        lambda: _turned(0),
    ],
)
def test_what_it_is_not(claim: Callable[[], Sides]) -> None:
    assert sl.prove_equal(*claim(), laws=("reassociate",)).verdict is sl.Verdict.REFUTED
