"""ONNX's products of integers, and of quantised values: the integer product is exact, then scaled and rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute import contractions
from symlayout.compute.demands import demanding
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.types import cast_to, quantize_linear
from symlayout.frontends.onnx.windows import conv, with_conv_attributes
from symlayout.ops.axes import expand_dims, squeeze
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
    rows = None if a_zero_point is None else _of_rows(_one(a_zero_point), A)
    columns = None if b_zero_point is None else _of_columns(b_zero_point, B)
    return contractions.matmul(_shifted(A, rows), _shifted(B, columns))


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


def _of_rows(point: Tensor, x: Tensor) -> Tensor:
    """Return a scale or zero point of *x*, of which a vector has one for each row: a vector *x* is one row."""
    point = _of_columns(point, x)
    return expand_dims(point, -1) if point.rank == 1 else point


def _of_columns(point: Tensor, x: Tensor) -> Tensor:
    """Return a scale or zero point of *x*, of which a vector has one for each column: a vector *x* is one column.

    One number has no axes, so that the product has no more axes than it has by itself.
    """
    if point.rank > max(x.rank, 1):
        raise ShapeError(f"a zero point has rank {point.rank}, what it is for has rank {x.rank}", "rank")
    return squeeze(point, 0) if point.rank == 1 and (x.rank == 1 or point.shape == (1,)) else point


def _one(p: Tensor) -> Tensor:
    """Return a scale or zero point that is one number where its shape is not known: runtimes have none for each row."""
    return demanding(p, "{} numbers, not {}", [(n, 1) for n in p.shape if not isinstance(n, int)], kind=LEFT_OUT)


def _like(zero: Tensor, scale: Tensor) -> Tensor:
    """Return zero points of which there are as many as scales."""
    if zero.rank != scale.rank:
        return demanding(zero, "{} zero points or scales, not {}", [(n, 1) for n in (*zero.shape, *scale.shape)])
    return demanding(zero, "{} zero points, {} scales", list(zip(zero.shape, scale.shape, strict=True)))


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
    a_scale, y_scale = _one(a_scale), _one(y_scale)
    a_zero_point, b_zero_point, y_zero_point = (
        _like(zero, scale)
        for zero, scale in ((a_zero_point, a_scale), (b_zero_point, b_scale), (y_zero_point, y_scale))
    )
    made = contractions.matmul(_shifted(a, _of_rows(a_zero_point, a)), _shifted(b, _of_columns(b_zero_point, b)))
    scales = _of_rows(a_scale, a), _of_columns(b_scale, b)
    return _rescaled(made, scales, *(squeeze(p, 0) if p.shape == (1,) else p for p in (y_scale, y_zero_point)))


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
