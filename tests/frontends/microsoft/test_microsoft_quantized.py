"""Quantized tensors of onnxruntime: what it computes is a function of the operands, and not of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.microsoft_products import mat_mul_integer_to_float
from symlayout.frontends.microsoft_quantized import q_linear_add, q_linear_mul

PROVED = sl.Verdict.PROVED
A, B = (sl.tensor("N, C", "uint8", name=name) for name in "ab")


def numbers(name: str) -> tuple[sl.Tensor, sl.Tensor]:
    return sl.tensor("()", "float32", name=f"{name}_scale"), sl.tensor("()", "uint8", name=f"{name}_zero")


@pytest.mark.parametrize("operation", [q_linear_add, q_linear_mul])
def test_a_function_of_single_elements_is_moved_with_its_operands(operation: Any) -> None:
    def made(a: sl.Tensor, b: sl.Tensor, result: str = "c") -> sl.Tensor:
        value: sl.Tensor = operation(a, *numbers("a"), b, *numbers("b"), *numbers(result))
        return value

    y = made(A, B)
    assert (str(y.shape), y.dtype) == ("(N, C)", np.dtype("uint8"))
    turned = sl.transpose(A, (1, 0)), sl.transpose(B, (1, 0))
    assert sl.prove_equal(sl.transpose(y, (1, 0)), made(*turned)).verdict is PROVED
    assert sl.prove_equal(y, made(B, A)).verdict is not PROVED
    assert sl.prove_equal(y, made(A, B, "d")).verdict is not PROVED


def test_a_sum_is_not_the_product() -> None:
    given = (A, *numbers("a"), B, *numbers("b"), *numbers("c"))
    assert sl.prove_equal(q_linear_add(*given), q_linear_mul(*given)).verdict is not PROVED


def test_a_product_of_levels_is_real() -> None:
    b = sl.tensor("C, M", "uint8", name="m")
    (a_scale, a_zero), (b_scale, b_zero) = numbers("a"), numbers("b")
    made = mat_mul_integer_to_float(A, b, a_scale, b_scale, a_zero, b_zero)
    assert (str(made.shape), made.dtype) == ("(N, M)", np.dtype("float32"))
    other = mat_mul_integer_to_float(A, b, b_scale, a_scale, a_zero, b_zero)
    assert sl.prove_equal(made, other).verdict is not PROVED


def test_operands_that_do_not_fit_are_refused() -> None:
    with pytest.raises(sl.ShapeError) as found:
        q_linear_add(A, *numbers("a"), None, *numbers("b"), *numbers("c"))
    assert found.value.kind == "attr_missing"
    with pytest.raises(sl.ShapeError) as found:
        mat_mul_integer_to_float(A[0], B, numbers("a")[0], numbers("b")[0])
    assert found.value.kind == "rank"
