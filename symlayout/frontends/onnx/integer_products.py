"""ONNX's products of integers, and of quantised values: the integer product is exact, then scaled and rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute import contractions
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.types import cast_to, quantize_linear
from symlayout.frontends.onnx.windows import conv, with_conv_attributes
from symlayout.ops.axes import expand_dims
from symlayout.tensors.chain import Tensor

_INT32 = np.dtype(np.int32)


def _shifted(x: Tensor, zero: Tensor | None, axes: tuple[int, ...] = ()) -> Tensor:
    """Return *x* minus its zero point, in int32; a zero point for each row or channel gets the other *axes*."""
    wide = cast_to(x, _INT32)
    if zero is None:
        return wide
    point = cast_to(zero, _INT32)
    return apply("Sub", wide, expand_dims(point, axes) if axes and point.rank == 1 else point)


@operator("MatMulInteger", example=("M, K; K, N", "", "(M, N)"), kinds="rank, size_mismatch")
def mat_mul_integer(
    A: Tensor, B: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """Return the matrix product of *A* and *B* minus their zero points, in int32."""
    return contractions.matmul(_shifted(A, a_zero_point, (-1,)), _shifted(B, b_zero_point))


@operator("ConvInteger", example=("N, C, H; M, C, 3", "", "(N, M, H - 2)"), kinds="rank, size_mismatch")
@with_conv_attributes
def conv_integer(
    x: Tensor,
    w: Tensor,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    **window: Any,
) -> Tensor:
    """Return the convolution of *x* and *w* minus their zero points, in int32."""
    images, kernels = _shifted(x, x_zero_point), _shifted(w, w_zero_point, tuple(range(1, w.rank)))
    made: Tensor = conv(images, kernels, **window)
    return made


def _rescaled(y: Tensor, scales: tuple[Tensor, Tensor], y_scale: Tensor, y_zero_point: Tensor) -> Tensor:
    scale = apply("Mul", *(cast_to(s, np.dtype(np.float32)) for s in scales))
    real = apply("Mul", cast_to(y, np.dtype(np.float32)), scale)
    made: Tensor = quantize_linear(real, cast_to(y_scale, np.dtype(np.float32)), y_zero_point)
    return made


@operator("QLinearMatMul", example=("M, K; 1; 1; K, N; 1; 1; 1; 1", "", "(M, N)"), kinds="rank, size_mismatch")
def q_linear_mat_mul(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    """Return the matrix product of quantised tensors, quantised."""
    made = contractions.matmul(_shifted(a, a_zero_point, (-1,)), _shifted(b, b_zero_point))
    return _rescaled(made, (a_scale, b_scale), y_scale, y_zero_point)


@operator(
    "QLinearConv",
    example=("N, C, H; 1; 1; M, C, 1; 1; 1; 1; 1", "", "(N, M, H)"),
    kinds="rank, size_mismatch",
)
@with_conv_attributes
def q_linear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    B: Tensor | None = None,
    **window: Any,
) -> Tensor:
    """Return the convolution of quantised tensors, plus the bias *B* in int32, quantised."""
    images, kernels = _shifted(x, x_zero_point), _shifted(w, w_zero_point, tuple(range(1, w.rank)))
    made = conv(images, kernels, B, **window)
    scales = expand_dims(w_scale, list(range(1, x.rank - 1))) if w_scale.extents not in ((), (1,)) else w_scale
    return _rescaled(made, (x_scale, scales), y_scale, y_zero_point)
