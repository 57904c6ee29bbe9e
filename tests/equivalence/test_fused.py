"""onnxruntime's fused operations are those of the standard that they stand for."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.frontends import microsoft

X, W = sl.tensor("N, C, H, W", "float32", "x"), sl.tensor("M, C, 3, 3", "float32", "w")
A, B = sl.tensor("G, M, K", "float32", "a"), sl.tensor("G, K, N", "float32", "b")
F, G = sl.tensor("M, K", "float32", "f"), sl.tensor("K, N", "float32", "g")
Z = sl.tensor("N, M, H, W", "float32", "z")


@pytest.mark.parametrize(
    ("fused", "plain"),
    [
        (
            microsoft.fused_conv(X, W, activation="LeakyRelu", activation_params=[0.25], pads=[1, 1, 1, 1]),
            sl.op("onnx:LeakyRelu")(sl.op("onnx:Conv")(X, W, pads=[1, 1, 1, 1]), alpha=0.25),
        ),
        (
            microsoft.fused_conv(X, W, None, Z, activation="Relu", pads=[1, 1, 1, 1]),
            sl.op("onnx:Relu")(sl.op("onnx:Add")(sl.op("onnx:Conv")(X, W, pads=[1, 1, 1, 1]), Z)),
        ),
        (microsoft.fused_gemm(F, G, activation="Tanh"), sl.op("onnx:Tanh")(sl.op("onnx:Gemm")(F, G))),
        (
            sl.op("microsoft:FusedMatMul")(sl.transpose(A, (0, 2, 1)), B, transA=1),
            sl.op("onnx:MatMul")(A, B),
        ),
        (
            sl.op("microsoft:FusedMatMul")(sl.transpose(A, (1, 0, 2)), B, transBatchA=1),
            sl.op("onnx:MatMul")(A, B),
        ),
    ],
)
def test_a_fused_operation_is_its_parts(fused: Any, plain: Any) -> None:
    assert sl.prove_equal(fused, plain).verdict is sl.Verdict.PROVED


def test_another_parameter_is_another_function() -> None:
    one = microsoft.fused_conv(X, W, activation="LeakyRelu", activation_params=[0.25])
    other = microsoft.fused_conv(X, W, activation="LeakyRelu", activation_params=[0.5])
    assert sl.prove_equal(one, other).verdict is sl.Verdict.REFUTED
    with pytest.raises(sl.ShapeError) as error:
        microsoft.fused_conv(X, W, activation="Magic")
    assert error.value.kind == "bad_mode"
    with pytest.raises(sl.ShapeError) as error:
        microsoft.fused_conv(X, W, activation="Relu", activation_params=[1.0])
    assert error.value.kind == "length_mismatch"
