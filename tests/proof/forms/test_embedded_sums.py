"""Branches of convolutions that are added are one convolution, where the kernel is the sum of theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.forms import embedded_sums

PROVED = sl.Verdict.PROVED
LAWS = ("reassociate", "real", "reciprocal", "fold-batchnorm")
X = sl.tensor("N, 4, H, W", "float32", "x")
DRAW = np.random.default_rng(0)
SQUARE, POINT = (DRAW.standard_normal((4, 4, k, k)).astype(np.float32) for k in (3, 1))
BIASES = DRAW.standard_normal((2, 4)).astype(np.float32)
MIDDLE = np.zeros((4, 4, 3, 3), np.float32)
MIDDLE[:, :, 1, 1] = np.eye(4)


def ringed(kernel: Any) -> Any:
    return np.pad(kernel, ((0, 0), (0, 0), (1, 1), (1, 1)))


def conv(x: sl.Tensor, kernel: Any, *bias: Any, **given: Any) -> sl.Tensor:
    pads = [kernel.shape[2] // 2] * 4
    made: sl.Tensor = sl.onnx.conv(x, kernel, *bias, pads=pads, **given)
    return made


def branches(x: sl.Tensor, *, identity: bool = True, bias: bool = False, **given: Any) -> sl.Tensor:
    own = ([BIASES[0]], [BIASES[1]]) if bias else ([], [])
    made = sl.onnx.add(conv(x, SQUARE, *own[0], **given), conv(x, POINT, *own[1], **given))
    whole: sl.Tensor = sl.onnx.add(made, x) if identity else made
    return whole


MERGED = SQUARE + ringed(POINT)
TRUE = {
    "two kernels": (branches(X, identity=False), conv(X, MERGED)),
    "and the identity": (branches(X), conv(X, MERGED + MIDDLE)),
    "and biases": (branches(X, bias=True), conv(X, MERGED + MIDDLE, BIASES[0] + BIASES[1])),
    "after a relu": (branches(sl.onnx.relu(X), bias=True), conv(sl.onnx.relu(X), MERGED + MIDDLE, BIASES.sum(0))),
    "with strides": (branches(X, identity=False, strides=[2, 2]), conv(X, MERGED, strides=[2, 2])),
    "one size": (sl.onnx.add(conv(X, SQUARE), conv(X, SQUARE[::-1].copy())), conv(X, SQUARE + SQUARE[::-1])),
}
ELSEWHERE = SQUARE.copy()
ELSEWHERE[:, :, :1, :1] += POINT
OTHER = MERGED + MIDDLE
OTHER[1, 2, 0, 0] += 0.01
FALSE = {
    "kernel at a corner": (branches(X, identity=False), conv(X, ELSEWHERE)),
    "no identity": (branches(X), conv(X, MERGED)),
    "channels exchanged": (branches(X), conv(X, MERGED + MIDDLE[::-1])),
    "another element": (branches(X), conv(X, OTHER)),
    "another bias": (branches(X, bias=True), conv(X, MERGED + MIDDLE, BIASES[0] - BIASES[1])),
    "point of another image": (branches(X, identity=False), conv(X, SQUARE + ringed(POINT[::-1]))),
}


def results(sides: tuple[sl.Tensor, sl.Tensor]) -> list[np.ndarray[Any, Any]]:
    x = np.random.default_rng(1).standard_normal((2, 4, 5, 6)).astype(np.float32)
    return [sl.interpret(t, x) for t in sides]


@pytest.mark.parametrize("sides", TRUE.values(), ids=TRUE)
def test_branches_are_one_convolution_under_a_law(sides: tuple[sl.Tensor, sl.Tensor]) -> None:
    proof = sl.prove_equal(*sides, laws=LAWS)
    assert proof.verdict is PROVED
    assert "fold-batchnorm" in proof.laws
    one, other = results(sides)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    assert sl.prove_equal(*sides, budget=20).verdict is not PROVED


@pytest.mark.parametrize("sides", FALSE.values(), ids=FALSE)
def test_another_kernel_is_not_that_of_the_branches(sides: tuple[sl.Tensor, sl.Tensor]) -> None:
    assert sl.prove_equal(*sides, laws=LAWS, budget=50).verdict is not PROVED
    one, other = results(sides)
    assert not np.allclose(one, other, rtol=1e-4, atol=1e-4)


def test_a_selection_is_one_at_its_place_alone() -> None:
    chosen = embedded_sums._selection((("a", 1), ("b", "m")), {"a": 3, "b": 2, "m": 2})
    assert chosen.names == ("a", "b", "m")
    expected = np.zeros((3, 2, 2))
    expected[1] = np.eye(2)
    np.testing.assert_array_equal(chosen.array, expected)


def attention(scale_of_scores: float) -> tuple[sl.Tensor, sl.Tensor]:
    q, k, v = (sl.tensor(f"N, 4, {t}, 8", "float32", name) for t, name in (("S", "q"), ("T", "k"), ("T", "v")))
    scores = sl.onnx.mul(sl.onnx.mat_mul(q, sl.transpose(k, (0, 1, 3, 2))), np.float32(scale_of_scores))
    return sl.onnx.attention(q, k, v), sl.onnx.mat_mul(sl.onnx.softmax(scores), v)


def test_a_scale_is_its_root_on_both_sides_under_a_law() -> None:
    proof = sl.prove_equal(*attention(8**-0.5), laws=LAWS)
    assert proof.verdict is PROVED
    assert proof.laws == ("real", "reassociate")
    assert sl.prove_equal(*attention(8**-0.5), budget=20).verdict is not PROVED
    assert sl.prove_equal(*attention(8**-0.5 * (1 + 4e-7)), laws=LAWS, budget=20).verdict is not PROVED
    assert sl.prove_equal(*attention(0.25), laws=LAWS, budget=50).verdict is sl.Verdict.REFUTED
