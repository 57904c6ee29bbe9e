"""ONNX's products of matrices: of integers and quantised values they are exact, then scaled and rounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute import contractions, reductions, scalars
from symlayout.compute.demands import demanding, spread
from symlayout.compute.elementwise import common_dtype, elementwise
from symlayout.compute.whole import beside
from symlayout.errors import LEFT_OUT, ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.types import cast_to, quantize_linear
from symlayout.frontends.onnx.windows import conv, with_conv_attributes
from symlayout.frontends.rank import require_rank
from symlayout.ops.axes import expand_dims, squeeze
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body

_INT32 = np.dtype(np.int32)


@operator("MatMul", example=("B, M, K; K, N", "", "(B, M, N)"), kinds="rank, size_mismatch, overflow")
def mat_mul(A: Tensor, B: Tensor) -> Tensor:
    """Return the matrix product of *A* and *B*, whose first axes are broadcast together."""
    common_dtype("MatMul", (A, B))
    return contractions.matmul(A, B)


@operator(
    "Gemm",
    example=("M, K; N, K; N", "transB=1", "(M, N)"),
    kinds="rank, size_mismatch, attr_dtype",
    about={"transA": "Whether *A* is transposed.", "transB": "Whether *B* is transposed."},
)
def gemm(
    A: Tensor,
    B: Tensor,
    C: Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: Any = 0,
    transB: Any = 0,
) -> Tensor:
    """Return ``alpha * A @ B + beta * C``."""
    for x in (A, B):
        require_rank("Gemm", x, 2, 2)
    a, b = (transpose(x) if attributes.flag(n, t) else x for x, n, t in ((A, "transA", transA), (B, "transB", transB)))
    made = scaled(contractions.matmul(a, b), alpha)
    if C is None:
        return made
    if beta == 0:  # C is not read, and fits all the same
        return beside([made, spread(C, made.shape)])
    return apply("Add", made, spread(scaled(C, beta), made.shape))


def scaled(x: Tensor, factor: float) -> Tensor:
    """Return *x* times a number."""
    if factor == 1:
        return x
    return elementwise(Body("scaled", scalars.scaled, (("factor", float(factor)),)), x, dtype=x.dtype)


@operator(
    "Einsum",
    example=("B, I, K; B, K, J", 'equation="bik,bkj->bij"', "(B, I, J)"),
    kinds="rank, size_mismatch, bad_format",
    about={"equation": "Letters for the axes of each input, and of the result after ``->``."},
)
def einsum(*Inputs: Tensor, equation: str) -> Tensor:
    """Return a sum of products, written as an equation of axes."""
    common_dtype("Einsum", Inputs)
    return _einsum(equation, Inputs)


def _einsum(equation: str, xs: Sequence[Tensor]) -> Tensor:
    text = "".join(equation.split())
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(xs):
        raise ShapeError(f"equation {shown(equation)} has {len(terms)} terms for {len(xs)} inputs", "length_mismatch")
    labels = [_labels(term, x.rank, equation) for term, x in zip(terms, xs, strict=True)]
    dots = max((sum(1 for label in each if label[0] == ".") for each in labels), default=0)
    if arrow:
        output = _labels(right, len(right.replace("...", "")) + dots, equation)
    else:
        every = [label for each in labels for label in each]
        single = sorted(label for label in set(every) if every.count(label) == 1 and label[0] != ".")
        output = [*(f".{k}" for k in range(dots - 1, -1, -1)), *single]
    unknown = set(output) - {label for each in labels for label in each}
    if unknown or len(set(output)) < len(output):
        raise ShapeError(f"equation {shown(equation)} has a result that no input has", "bad_format")
    if not all(len(set(each)) == len(each) for each in labels) and any(x.rank == 0 for x in xs):
        raise ShapeError(f"equation {shown(equation)} repeats an index", "bad_format")
    if len(xs) == 1 and len(set(labels[0])) == len(labels[0]):
        return _einsum_of_one(xs[0], labels[0], output)
    return contractions.einsum(*xs, tuple(map(tuple, labels)), tuple(output))


def _einsum_of_one(x: Tensor, labels: Sequence[str], output: Sequence[str]) -> Tensor:
    """Return a transpose, or a sum over the axes that the result lacks."""
    over = [k for k, label in enumerate(labels) if label not in output]
    if over:
        x = reductions.reduced(x, over, reductions.total, keepdims=False)
    kept = [label for label in labels if label in output]
    return transpose(x, [kept.index(label) for label in output])


def _labels(term: str, rank: int, equation: str) -> list[str]:
    """Return a label for each axis; the axes of ``...`` are numbered from the last one."""
    before, dots, after = term.partition("...")
    if not (before + after).isalpha() and before + after:
        raise ShapeError(f"equation {shown(equation)} has a term {shown(term)} that is no letters", "bad_format")
    free = rank - len(before) - len(after)
    if free < 0 or (free and not dots):
        raise ShapeError(f"equation {shown(equation)}: term {shown(term)} has other axes than rank {rank}", "rank")
    return [*before, *(f".{k}" for k in range(free - 1, -1, -1)), *after]


def _shifted(x: Tensor, zero: Tensor | None) -> Tensor:
    """Return *x* minus its zero point, in int32."""
    wide = cast_to(x, _INT32)
    return wide if zero is None else apply("Sub", wide, cast_to(zero, _INT32))


def _of_layer(x: Tensor, x_point: Tensor | None, w: Tensor, w_point: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return images and kernels minus their zero points: one number for the images, one for each kernel or for all."""
    for point in (x_point, w_point):
        if point is not None:
            require_rank("a zero point", point, 0, 1)
    if x_point is not None and x_point.rank:
        x_point = squeeze(demanding(x_point, "{} zero points of images, not {}", [(x_point.shape[0], 1)]), 0)
    if w_point is not None and w_point.rank and w.rank:
        w_point = spread(expand_dims(w_point, list(range(1, w.rank))) if w.rank > 1 else w_point, w.shape)
    return _shifted(x, x_point), _shifted(w, w_point)


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
    images, kernels = _of_layer(x, x_zero_point, w, w_zero_point)
    made: Tensor = conv(images, kernels, **window)
    return made


def _of_rows(point: Tensor, x: Tensor) -> Tensor:
    """Return a scale or zero point of *x*, of which a vector has one for each row: a vector *x* is one row."""
    point = _fitting(point, x)
    return spread(expand_dims(point, -1), x.shape) if point.rank == 1 else spread(point, x.shape)


def _of_columns(point: Tensor, x: Tensor) -> Tensor:
    """Return a scale or zero point of *x*, of which a vector has one for each column: a vector *x* is one column."""
    return spread(_fitting(point, x), x.shape)


def _fitting(point: Tensor, x: Tensor) -> Tensor:
    """Return a scale or zero point of at most the rank of *x*.

    One number has no axes, so that the product has no more axes than it has by itself.
    """
    if point.rank > max(x.rank, 1):
        raise ShapeError(f"a zero point has rank {point.rank}, what it is for has rank {x.rank}", "rank")
    return squeeze(point, 0) if point.rank == 1 and (x.rank == 1 or point.shape == (1,)) else point


def _one(p: Tensor) -> Tensor:
    """Return a scale or zero point that is one number where its shape is not known: runtimes have none for each row."""
    return demanding(p, "{} numbers, not {}", [(n, 1) for n in p.shape if not isinstance(n, int)], kind=LEFT_OUT)


def one_number(x: Tensor) -> Tensor:
    """Return a scale or a zero point without axes: it is one number, or has one axis with one."""
    return reshape(demanding(x, "{} numbers, not {}", [(x.shape[0], 1)]), ()) if require_rank("a scale", x, 0, 1) else x


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
    x_scale, y_scale, y_zero_point = (one_number(p) for p in (x_scale, y_scale, y_zero_point))
    images, kernels = _of_layer(x, x_zero_point, w, w_zero_point)
    made = conv(images, kernels, B, **window)
    scales = expand_dims(w_scale, list(range(1, x.rank - 1))) if w_scale.extents not in ((), (1,)) else w_scale
    return _rescaled(made, (x_scale, scales), y_scale, y_zero_point)
