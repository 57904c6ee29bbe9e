"""onnxruntime's operations of images: each is the chain of the standard's operations that tools make it of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.microsoft_images import first, last

X = sl.tensor("N, 8, H, W", "float32", name="x")
W = sl.tensor("M, 8, 3, 3", "float32", name="w")
SQUARE = sl.tensor("8, 8, 3, 3", "float32", name="w")
B, G, C = (sl.tensor(shape, "float32", name=name) for shape, name in (("M", "b"), ("8", "g"), ("8", "c")))
S = sl.tensor("N, 8, H, W", "float32", name="s")
V = sl.tensor("N, 8", "float32", name="v")
TOKENS, MORE = (sl.tensor("N, T, 2*d", "float32", name=name) for name in ("t", "u"))
WIDE = sl.tensor("2*d", "float32", name="wide")
MATRIX = sl.tensor("2*d, E", "float32", name="m")
END = sl.tensor("E", "float32", name="end")
NHWC, BACK = (0, 2, 3, 1), (0, 3, 1, 2)
op = sl.op


def silu(x: sl.Tensor) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.mul(x, sl.onnx.sigmoid(x))
    return made


def normalized(x: sl.Tensor, groups: int = 4) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.group_normalization(x, G, C, num_groups=groups, epsilon=1e-5)
    return made


def halves_of_gelu(order: tuple[int, int] = (0, 1)) -> sl.Tensor:
    total = sl.onnx.add(TOKENS, WIDE)
    parts = sl.onnx.split(total, num_outputs=2, axis=2)
    made: sl.Tensor = sl.onnx.mul(parts[order[0]], sl.onnx.gelu(parts[order[1]]))
    return made


SAME: dict[str, Callable[[], tuple[sl.Tensor, sl.Tensor]]] = {
    "NhwcConv": lambda: (
        sl.transpose(op("microsoft:NhwcConv")(last(X), last(W), B, pads=[1, 1, 1, 1]), BACK),
        sl.onnx.conv(X, W, B, pads=[1, 1, 1, 1]),
    ),
    "NhwcFusedConv": lambda: (
        op("microsoft:NhwcFusedConv")(last(X), SQUARE, None, last(S), activation="Relu", pads=[1, 1, 1, 1]),
        last(sl.onnx.relu(sl.onnx.add(sl.onnx.conv(X, SQUARE, pads=[1, 1, 1, 1]), S))),
    ),
    "GroupNorm": lambda: (
        op("microsoft:GroupNorm")(last(X), G, C, groups=4, activation=1),
        last(silu(normalized(X))),
    ),
    "GroupNorm, channels first": lambda: (
        op("microsoft:GroupNorm")(X, G, C, groups=4, activation=0, channels_last=0),
        normalized(X),
    ),
    "SkipGroupNorm": lambda: (
        op("microsoft:SkipGroupNorm")(last(X), G, C, last(S), C, groups=4, activation=0, outputs=2)[0],
        last(normalized(sl.onnx.add(sl.onnx.add(X, S), sl.expand_dims(C, (1, 2))))),
    ),
    "SkipGroupNorm, one number": lambda: (
        op("microsoft:SkipGroupNorm")(last(X), G, C, V, groups=4, activation=0, outputs=2)[1],
        last(sl.onnx.add(X, sl.expand_dims(V, (2, 3)))),
    ),
    "BiasAdd": lambda: (
        op("microsoft:BiasAdd")(TOKENS, WIDE, MORE),
        sl.onnx.add(sl.onnx.add(TOKENS, WIDE), MORE),
    ),
    "BiasSplitGelu": lambda: (op("microsoft:BiasSplitGelu")(TOKENS, WIDE), halves_of_gelu()),
    "BiasSoftmax": lambda: (
        op("microsoft:BiasSoftmax")(X, sl.tensor("N, 1, 1, W", "float32", name="k"), axis=3, is_inner_broadcast=1),
        sl.onnx.softmax(sl.onnx.add(X, sl.tensor("N, 1, 1, W", "float32", name="k")), axis=3),
    ),
    "GemmFastGelu": lambda: (
        op("microsoft:GemmFastGelu")(TOKENS, MATRIX, END),
        sl.onnx.gelu(sl.onnx.add(sl.onnx.mat_mul(TOKENS, MATRIX), END), approximate="tanh"),
    ),
}
DIFFERENT: dict[str, Callable[[], tuple[sl.Tensor, sl.Tensor]]] = {
    "kernels with channels first": lambda: (
        op("microsoft:NhwcConv")(last(X), sl.tensor("8, 8, 8, 8", "float32", name="w")),
        last(sl.onnx.conv(X, sl.tensor("8, 8, 8, 8", "float32", name="w"))),
    ),
    "kernels with channels last": lambda: (
        op("microsoft:NhwcFusedConv")(last(X), sl.tensor("8, 8, 8, 8", "float32", name="w")),
        last(sl.onnx.conv(X, sl.transpose(sl.tensor("8, 8, 8, 8", "float32", name="w"), BACK))),
    ),
    "other groups": lambda: (op("microsoft:GroupNorm")(last(X), G, C, groups=2, activation=0), last(normalized(X))),
    "the other half": lambda: (op("microsoft:BiasSplitGelu")(TOKENS, WIDE), halves_of_gelu((1, 0))),
}


@pytest.mark.parametrize("name", SAME)
def test_an_operation_is_the_chain_that_it_is_made_of(name: str) -> None:
    left, right = SAME[name]()
    assert sl.prove_equal(left, right, laws=["reassociate"]).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_layout_group_or_half_is_refuted(name: str) -> None:
    left, right = DIFFERENT[name]()
    assert sl.prove_equal(left, right).verdict is sl.Verdict.REFUTED


def test_channels_stand_last_or_after_the_first_axis() -> None:
    assert sl.prove_equal(last(X), sl.transpose(X, NHWC)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(first(X), sl.transpose(X, BACK)).verdict is sl.Verdict.PROVED
    with pytest.raises(sl.ShapeError) as found:
        first(X[0, 0])
    assert found.value.kind == "rank"


def test_what_does_not_fit_is_refused() -> None:
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: op("microsoft:GroupNorm")(last(X), G, C, groups=4), "attr_missing"),
        (lambda: op("microsoft:GroupNorm")(last(X), G, C, groups=4, activation=2), "attr_range"),
        (lambda: op("microsoft:GroupNorm")(TOKENS, G, C, groups=4, activation=0), "rank"),
        (lambda: op("microsoft:BiasSplitGelu")(sl.tensor("N, T, 3"), sl.tensor("3", name="b")), "non_divisible"),
        (lambda: op("microsoft:BiasAdd")(X[0], sl.tensor("W, 2", "float32", name="b"), X[0]), "rank"),
        (lambda: op("microsoft:NhwcConv")(sl.tensor("N, C"), W), "rank"),
    ]
    for call, kind in calls:
        with pytest.raises(sl.ShapeError) as found:
            call()
        assert found.value.kind == kind


def test_images_of_another_type_than_their_factors_are_known_by_their_shape() -> None:
    half = sl.tensor("N, H, W, 8", "float16", name="h")
    with pytest.raises(sl.ShapeError, match="another type") as found:
        op("microsoft:GroupNorm")(half, G, C, groups=4, activation=0)
    assert found.value.result == (np.dtype("float16"), half.shape)  # type: ignore[attr-defined]
