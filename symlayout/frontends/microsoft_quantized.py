"""onnxruntime's operations on quantized elements and images (domain ``com.microsoft``).

onnxruntime rounds their values in a way of its own.  So each is a function that nothing is known of bit for bit, beside
the formula of its page: the law ``"requantize"`` takes it for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.compute.whole import as_runtimes_round
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.common import concat
from symlayout.frontends.onnx.elementwise import apply, where
from symlayout.frontends.onnx.normalization import softmax, softmax_11
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.products import one_number, q_linear_conv
from symlayout.frontends.onnx.types import dequantize_linear, quantize_linear
from symlayout.frontends.onnx.windows import (
    average_pool,
    global_average_pool,
    max_pool,
    with_attributes_of,
    with_conv_attributes,
)
from symlayout.frontends.rank import require_rank
from symlayout.ops.axes import moveaxis
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant

_SIZES = "rank, size_mismatch, bad_axis"
_FLOAT, _INT32 = np.dtype(np.float32), np.dtype(np.int32)
_OPSET_OF_ONE_AXIS = 13  # since then Softmax is along one axis
Map = Callable[[Tensor], Any]

_POINTS = {
    "channels_last": "Whether the channels are the last axis.",
    **{f"{of}_scale": "The scale of a tensor." for of in "abxyzABCXY"},
    **{f"{of}_zero_point": "What stands for 0 in a tensor." for of in "abxyzABCXY"},
    "A": "A quantized tensor.",
    "B": "A quantized tensor.",
    "X": "A quantized tensor.",
    "Y": "A quantized tensor.",
}


# ---------------------------------------------------------------------- the formula of a page, and its value


def _value(
    name: str,
    xs: Sequence[tuple[Tensor | None, Tensor | None, Tensor | None]],
    result: tuple[Tensor | None, Tensor | None],
    real: Callable[..., Tensor],
    *beside: Tensor,
    pointwise: bool = True,
    **given: Any,
) -> Tensor:
    """Return a quantized function of quantized tensors, which onnxruntime rounds.

    Parameters
    ----------
    xs : sequence of tuple
        Each tensor with its scale and zero point; None for the latter is 0.
    result : tuple
        The scale and the zero point of the result.
    real : function
        Takes the values of the tensors, and returns what is quantized.
    *beside : Tensor
        Other operands of that function.
    pointwise : bool
        Whether it is a function of single elements.
    **given
        What else it depends on.
    """
    read: list[Tensor] = []
    values = []
    scale, zero = result
    points = [x for *_, x in xs] + [zero]
    for x, own, point in xs:
        if x is None or own is None or scale is None:
            raise ShapeError(f"{name} needs an operand that is left out", "attr_missing")
        numbers = [one_number(p) for p in (own, point) if p is not None]
        values.append(dequantize_linear(x, *numbers))
        read += [x, *numbers]
    assert scale is not None
    dtype = read[0].dtype
    if zero is None and dtype is not None:
        zero = constant(np.zeros((), dtype), "zero")
    numbers = [one_number(p) for p in (scale, zero) if p is not None]
    made = quantize_linear(real(*values), *numbers)
    attributes_ = [*given.items(), ("zeros", tuple(p is not None for p in points))]
    return as_runtimes_round(name, made, [*read, *numbers, *beside], attributes_, pointwise=pointwise)


def _in_nchw(x: Tensor, last: bool, function: Map) -> Any:
    """Return a function of images, whose channels are the last axis if *last*, as those of the result are then."""
    if not last:
        return function(x)
    require_rank("an image", x, 3)
    return moveaxis(function(moveaxis(x, -1, 1)), 1, -1)


# ---------------------------------------------------------------------- single elements


_PAIR = "N, C; (); (); C; (); (); ()"


@operator("microsoft:QLinearAdd", example=(_PAIR, "", "(N, C)"), kinds=_SIZES, about=_POINTS)
def q_linear_add(
    A: Tensor,
    A_scale: Tensor,
    A_zero_point: Tensor | None = None,
    B: Tensor | None = None,
    B_scale: Tensor | None = None,
    B_zero_point: Tensor | None = None,
    C_scale: Tensor | None = None,
    C_zero_point: Tensor | None = None,
) -> Tensor:
    """Return the quantized sum of *A* and *B*."""
    xs = [(A, A_scale, A_zero_point), (B, B_scale, B_zero_point)]
    return _value("q_linear_add", xs, (C_scale, C_zero_point), lambda a, b: apply("Add", a, b))


@operator("microsoft:QLinearMul", example=(_PAIR, "", "(N, C)"), kinds=_SIZES, about=_POINTS)
def q_linear_mul(
    A: Tensor,
    A_scale: Tensor,
    A_zero_point: Tensor | None = None,
    B: Tensor | None = None,
    B_scale: Tensor | None = None,
    B_zero_point: Tensor | None = None,
    C_scale: Tensor | None = None,
    C_zero_point: Tensor | None = None,
) -> Tensor:
    """Return the quantized product of the elements of *A* and *B*."""
    xs = [(A, A_scale, A_zero_point), (B, B_scale, B_zero_point)]
    return _value("q_linear_mul", xs, (C_scale, C_zero_point), lambda a, b: apply("Mul", a, b))


@operator("microsoft:QLinearSigmoid", example=("N, C; (); (); ()", "", "(N, C)"), kinds=_SIZES, about=_POINTS)
def q_linear_sigmoid(
    X: Tensor,
    X_scale: Tensor,
    X_zero_point: Tensor | None = None,
    Y_scale: Tensor | None = None,
    Y_zero_point: Tensor | None = None,
) -> Tensor:
    """Return the quantized sigmoid of *X*."""
    x, result = (X, X_scale, X_zero_point), (Y_scale, Y_zero_point)
    return _value("q_linear_sigmoid", [x], result, lambda v: apply("Sigmoid", v))


@operator("microsoft:QLinearLeakyRelu", example=("N, C; (); (); ()", "", "(N, C)"), kinds=_SIZES, about=_POINTS)
def q_linear_leaky_relu(
    X: Tensor,
    X_scale: Tensor,
    X_zero_point: Tensor | None = None,
    Y_scale: Tensor | None = None,
    Y_zero_point: Tensor | None = None,
    alpha: float = 0.01,
) -> Tensor:
    """Return *X* where it is positive, else *alpha* times it, quantized."""
    x, result, factor = (X, X_scale, X_zero_point), (Y_scale, Y_zero_point), float(alpha)
    return _value("q_linear_leaky_relu", [x], result, lambda v: apply("LeakyRelu", v, alpha=factor), alpha=factor)


@operator(
    "microsoft:QLinearWhere",
    example=("N, C; N, C; (); (); N, C; (); (); (); ()", "", "(N, C)"),
    kinds=_SIZES,
    about=_POINTS | {"condition": "Where *X* is read, else *Y*."},
)
def q_linear_where(
    condition: Tensor,
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    Y: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    z_scale: Tensor,
    z_zero_point: Tensor,
) -> Tensor:
    """Return *X* where the condition holds, else *Y*, quantized with the scale of the result."""
    xs = [(X, x_scale, x_zero_point), (Y, y_scale, y_zero_point)]
    return _value("q_linear_where", xs, (z_scale, z_zero_point), lambda x, y: where(condition, x, y), condition)


@operator(
    "microsoft:QLinearConcat",
    example=("(); (); N, C; (); (); N, D; (); ()", "axis=1", "(N, C + D)"),
    kinds=f"{_SIZES}, length_mismatch, attr_missing",
    about={
        "Y_scale": "The scale of the result.",
        "Y_zero_point": "What stands for 0 in it.",
        "inputs": "Quantized tensors, each with its scale and zero point after it.",
    },
)
def q_linear_concat(Y_scale: Tensor, Y_zero_point: Tensor, *inputs: Tensor, axis: Any = None) -> Tensor:
    """Return quantized tensors one after the other along *axis*, each quantized with the scale of the result."""
    if axis is None:
        raise ShapeError("axis is missing", "attr_missing")
    if not inputs or len(inputs) % 3:
        raise ShapeError(f"there are {len(inputs)} tensors, scales and zero points", "length_mismatch")
    xs = [(inputs[k], inputs[k + 1], inputs[k + 2]) for k in range(0, len(inputs), 3)]
    parts = [_value("q_linear_concat", [x], (Y_scale, Y_zero_point), lambda v: v) for x in xs]
    joined: Tensor = concat(parts, axis=axis)
    return joined


# ---------------------------------------------------------------------- windows and fibres


@operator(
    "microsoft:QLinearAveragePool",
    example=("N, C, 2*h, 2*w; (); (); ()", "kernel_shape=(2, 2), strides=(2, 2)", "(N, C, h, w)"),
    kinds=f"{_SIZES}, length_mismatch, attr_missing",
    about=_POINTS,
)
@with_attributes_of(average_pool, "X", "dilations")
def q_linear_average_pool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    y_scale: Tensor | None = None,
    y_zero_point: Tensor | None = None,
    channels_last: Any = 0,
    **window: Any,
) -> Tensor:
    """Return the quantized mean of each window; scales and zero points have no axes."""
    for point in (x_scale, x_zero_point, y_scale, y_zero_point):
        if point is not None:
            require_rank("a scale", point, 0, 0)
    last = attributes.flag("channels_last", channels_last)
    given = {name: _frozen(value) for name, value in window.items()}
    return _value(
        "q_linear_average_pool",
        [(X, x_scale, x_zero_point)],
        (y_scale, y_zero_point),
        lambda x: _in_nchw(x, last, lambda v: average_pool(v, **window)),
        pointwise=False,
        channels_last=last,
        **given,
    )


def _frozen(value: Any) -> Any:
    return tuple(np.asarray(value).tolist()) if isinstance(value, (list, tuple, np.ndarray)) else value


@operator(
    "microsoft:QLinearGlobalAveragePool",
    example=("N, C, H, W; (); (); (); ()", "", "(N, C, 1, 1)"),
    kinds=_SIZES,
    about=_POINTS,
)
def q_linear_global_average_pool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    channels_last: Any = 0,
) -> Tensor:
    """Return the quantized mean over the spatial axes."""
    last = attributes.flag("channels_last", channels_last)
    x, result = (X, x_scale, x_zero_point), (y_scale, y_zero_point)
    return _value(
        "q_linear_global_average_pool",
        [x],
        result,
        lambda v: _in_nchw(v, last, global_average_pool),
        pointwise=False,
        channels_last=last,
    )


@operator(
    "microsoft:QLinearSoftmax",
    example=("N, C; (); (); (); ()", "opset=13", "(N, C)"),
    kinds=f"{_SIZES}, attr_missing",
    about=_POINTS | {"opset": "The version of the standard whose Softmax is meant."},
)
def q_linear_softmax(
    X: Tensor,
    X_scale: Tensor,
    x_zero_point: Tensor | None = None,
    y_scale: Tensor | None = None,
    y_zero_point: Tensor | None = None,
    axis: Any = -1,
    opset: Any = None,
) -> Tensor:
    """Return the quantized softmax of *X* along *axis*, or along all axes from it on before version 13."""
    if opset is None or y_zero_point is None:
        raise ShapeError("QLinearSoftmax needs opset and y_zero_point", "attr_missing")
    old = attributes.constant("opset", opset) < _OPSET_OF_ONE_AXIS
    function, along = (
        softmax_11 if old else softmax,
        attributes.axis("axis", axis, require_rank("QLinearSoftmax", X, 1)),
    )
    return _value(
        "q_linear_softmax",
        [(X, X_scale, x_zero_point)],
        (y_scale, y_zero_point),
        lambda x: function(x, along),
        pointwise=False,
        axis=along,
        old=old,
    )


@operator(
    "microsoft:NhwcMaxPool",
    example=("N, 2*h, 2*w, C", "kernel_shape=(2, 2), strides=(2, 2)", "(N, h, w, C)"),
    kinds=f"{_SIZES}, length_mismatch",
    about={"x": "Quantized images whose channels are the last axis."},
)
@with_attributes_of(max_pool, "X", "storage_order", "outputs")
def nhwc_max_pool(x: Tensor, **window: Any) -> Tensor:
    """Return the maximum of each window."""
    made: Tensor = _in_nchw(x, True, lambda v: max_pool(v, **window))
    return made


@operator(
    "microsoft:QLinearConv",
    example=("N, H, W, C; (); (); M, C, 1, 1; (); (); (); ()", "channels_last=1", "(N, H, W, M)"),
    kinds=f"{_SIZES}, length_mismatch",
    about=_POINTS,
)
@with_conv_attributes
def q_linear_conv_of_any_layout(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    B: Tensor | None = None,
    channels_last: Any = 0,
    **window: Any,
) -> Tensor:
    """Return the convolution of quantized tensors, plus the bias *B* in int32, quantized."""
    rest = (x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B)
    made: Tensor = _in_nchw(
        x, attributes.flag("channels_last", channels_last), lambda v: q_linear_conv(v, *rest, **window)
    )
    return made


# ---------------------------------------------------------------------- casts


@operator("microsoft:QuantizeLinear", example=("N, C; C; C", "axis=1", "(N, C)"), kinds="attr_dtype, bad_axis, rank")
def quantize_linear_of_more_types(
    x: Tensor, y_scale: Tensor, y_zero_point: Tensor | None = None, axis: Any = 1
) -> Tensor:
    """Return the standard's QuantizeLinear, which onnxruntime has for more types before the standard had them."""
    made: Tensor = quantize_linear(x, y_scale, y_zero_point, axis)
    return made


@operator("microsoft:DequantizeLinear", example=("N, C; C", "axis=1", "(N, C)"), kinds="attr_dtype, bad_axis, rank")
def dequantize_linear_of_more_types(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None = None, axis: Any = 1
) -> Tensor:
    """Return the standard's DequantizeLinear, which onnxruntime has for more types before the standard had them."""
    made: Tensor = dequantize_linear(x, x_scale, x_zero_point, axis)
    return made
