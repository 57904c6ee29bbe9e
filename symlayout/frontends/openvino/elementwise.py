"""OpenVINO's elementwise operations: each is a function of ONNX's, with its own names and attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.compute import scalars
from symlayout.compute.elementwise import common_dtype, divisors, elementwise
from symlayout.frontends import attributes
from symlayout.frontends.function_rows import FunctionRow, squared_difference
from symlayout.frontends.onnx.elementwise import apply, clip, where
from symlayout.frontends.onnx.elementwise import max as largest
from symlayout.frontends.onnx.elementwise import min as smallest
from symlayout.frontends.onnx.operator import as_tensor, operator, snake_case
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.openvino.element_types import of_name
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body

ABOUT = {
    "auto_broadcast": '``"numpy"`` or ``"none"``: how extents of 1 are repeated.',
    "approximation_mode": '``"ERF"`` or ``"TANH"``.',
    "detect_negative": "Whether negative infinity counts.",
    "detect_positive": "Whether positive infinity counts.",
    "mode": '``"half_to_even"`` or ``"half_away_from_zero"``.',
    "m_pythondiv": "Whether quotients of integers are rounded down, not towards 0.",
    "min": "The least value.",
    "max": "The largest value.",
    "lambda_": "The scale.",
}


def _mapped(body: Body) -> Callable[..., Tensor]:
    return lambda *xs: elementwise(body, *xs, dtype=common_dtype(body.name, xs))


def _divided(a: Tensor, b: Tensor, m_pythondiv: Any) -> Tensor:
    integers = a.dtype is not None and a.dtype.kind in "iu"
    if not integers or not attributes.flag("m_pythondiv", m_pythondiv):
        return apply("Div", a, b)
    return _mapped(Body("floor_divide", np.floor_divide, places=divisors(b, a.dtype)))(a, b)


def _rounded(x: Tensor, mode: str) -> Tensor:
    even = attributes.choice("mode", mode, ("half_to_even", "half_away_from_zero")) == "half_to_even"
    return apply("Round", x) if even else _mapped(Body("rounded_away", scalars.rounded_away))(x)


def _gelu(x: Tensor, approximation_mode: str) -> Tensor:
    mode = attributes.choice("approximation_mode", str(approximation_mode).upper(), ("ERF", "TANH"))
    return apply("Gelu", x, approximate="tanh" if mode == "TANH" else "none")


def _finite(x: Tensor) -> Tensor:
    return apply("Not", apply("Or", apply("IsInf", x), apply("IsNaN", x)))


def _infinite(x: Tensor, detect_negative: Any, detect_positive: Any) -> Tensor:
    flags = {"detect_negative": detect_negative, "detect_positive": detect_positive}
    return apply("IsInf", x, **{k: int(attributes.flag(k, v)) for k, v in flags.items()})


def _clamped(x: Tensor, min: float, max: float) -> Tensor:
    low, high = attributes.number("min", min), attributes.number("max", max)
    if x.dtype is not None and x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        low = math.ceil(low) if low > limits.min else limits.min
        high = math.floor(high) if high < limits.max else limits.max
    return clip(x, as_tensor("Clamp", "min", low, x), as_tensor("Clamp", "max", high, x))


ROWS: dict[str, FunctionRow] = {
    "Abs-1": FunctionRow("Abs", "data"),
    "Acos-1": FunctionRow("Acos", "data"),
    "Acosh-3": FunctionRow("Acosh", "data"),
    "Asin-1": FunctionRow("Asin", "data"),
    "Asinh-3": FunctionRow("Asinh", "data"),
    "Atan-1": FunctionRow("Atan", "data"),
    "Atanh-3": FunctionRow("Atanh", "data"),
    "BitwiseNot-13": FunctionRow("BitwiseNot", "data"),
    "Ceiling-1": FunctionRow("Ceil", "data"),
    "Clamp-1": FunctionRow(_clamped, "data", {"min": ..., "max": ...}),
    "Cos-1": FunctionRow("Cos", "data"),
    "Cosh-1": FunctionRow("Cosh", "data"),
    "Elu-1": FunctionRow("Elu", "data", {"alpha": ...}),
    "Erf-1": FunctionRow("Erf", "data"),
    "Exp-1": FunctionRow("Exp", "data"),
    "Floor-1": FunctionRow("Floor", "data"),
    "Gelu-2": FunctionRow("Gelu", "data"),
    "Gelu-7": FunctionRow(_gelu, "data", {"approximation_mode": "ERF"}),
    "HSigmoid-5": FunctionRow(lambda x: apply("HardSigmoid", x, alpha=1 / 6, beta=0.5), "data"),
    "HSwish-4": FunctionRow("HardSwish", "data"),
    "IsFinite-10": FunctionRow(_finite, "data"),
    "IsInf-10": FunctionRow(_infinite, "data", {"detect_negative": True, "detect_positive": True}),
    "IsNaN-10": FunctionRow("IsNaN", "data"),
    "Log-1": FunctionRow("Log", "data"),
    "LogicalNot-1": FunctionRow("Not", "data"),
    "Mish-4": FunctionRow("Mish", "data"),
    "Negative-1": FunctionRow("Neg", "data"),
    "ReLU-1": FunctionRow("Relu", "data"),
    "Round-5": FunctionRow(_rounded, "data", {"mode": "half_to_even"}),
    "Sigmoid-1": FunctionRow("Sigmoid", "data"),
    "Sign-1": FunctionRow("Sign", "data"),
    "Sin-1": FunctionRow("Sin", "data"),
    "Sinh-1": FunctionRow("Sinh", "data"),
    "SoftPlus-4": FunctionRow("Softplus", "data"),
    "SoftSign-9": FunctionRow("Softsign", "data"),
    "Sqrt-1": FunctionRow("Sqrt", "data"),
    "Tan-1": FunctionRow("Tan", "data"),
    "Tanh-1": FunctionRow("Tanh", "data"),
    "Add-1": FunctionRow("Add", "a b"),
    "BitwiseAnd-13": FunctionRow("BitwiseAnd", "a b"),
    "BitwiseOr-13": FunctionRow("BitwiseOr", "a b"),
    "BitwiseXor-13": FunctionRow("BitwiseXor", "a b"),
    "Divide-1": FunctionRow(_divided, "a b", {"m_pythondiv": True}),
    "Equal-1": FunctionRow("Equal", "a b"),
    "FloorMod-1": FunctionRow("Mod", "a b"),
    "Greater-1": FunctionRow("Greater", "a b"),
    "GreaterEqual-1": FunctionRow("GreaterOrEqual", "a b"),
    "Less-1": FunctionRow("Less", "a b"),
    "LessEqual-1": FunctionRow("LessOrEqual", "a b"),
    "LogicalAnd-1": FunctionRow("And", "a b"),
    "LogicalOr-1": FunctionRow("Or", "a b"),
    "LogicalXor-1": FunctionRow("Xor", "a b"),
    "Maximum-1": FunctionRow(largest, "a b"),
    "Minimum-1": FunctionRow(smallest, "a b"),
    "Mod-1": FunctionRow(lambda a, b: apply("Mod", a, b, fmod=1), "a b"),
    "Multiply-1": FunctionRow("Mul", "a b"),
    "NotEqual-1": FunctionRow(lambda a, b: apply("Not", apply("Equal", a, b)), "a b"),
    "Power-1": FunctionRow("Pow", "a b"),
    "SquaredDifference-1": FunctionRow(squared_difference, "a b"),
    "Subtract-1": FunctionRow("Sub", "a b"),
}


def require_broadcast(mode: Any) -> None:
    """Check the attribute ``auto_broadcast``.

    Raises
    ------
    ShapeError
        ``bad_mode`` for another text, ``not_declared`` for the rule of PaddlePaddle.
    """
    if attributes.choice("auto_broadcast", mode, ("numpy", "none", "pdpd")) == "pdpd":
        raise NotDeclaredError("auto_broadcast is 'pdpd', the rule of PaddlePaddle")


def _registered(name: str, row: FunctionRow) -> Callable[..., Tensor]:
    several = " " in row.inputs
    about = f"Return {name} of each element{' of the inputs, broadcast together' if several else ''}."
    checks = {"auto_broadcast": ("numpy", require_broadcast)} if several else {}
    made = row.as_function(__name__, snake_case(name), about, checks)
    texts = {"min": "min=0, max=6", "alpha": "alpha=1.0"}
    given = next((texts[a] for a, d in row.attributes.items() if d is ...), "")
    kinds = "size_mismatch, bad_mode, not_declared, overflow" if several else "attr_dtype, bad_mode"
    example = ("N, 1; C" if several else "N, C", given, "(N, C)")
    return operator(f"openvino:{name}", example=example, kinds=kinds, about=ABOUT)(made)


globals().update({snake_case(name): _registered(name, row) for name, row in ROWS.items()})


@operator("openvino:HardSigmoid-1", example=("N, C", "alpha=0.2, beta=0.5", "(N, C)"), kinds="attr_dtype")
def hard_sigmoid(data: Tensor, alpha: Any, beta: Any) -> Tensor:
    """Return ``alpha * data + beta`` between 0 and 1."""
    return apply("HardSigmoid", data, alpha=_number(alpha), beta=_number(beta))


@operator(
    "openvino:Selu-1",
    example=("N, C", "alpha=1.67, lambda_=1.05", "(N, C)"),
    kinds="attr_dtype",
    about={"lambda_": "The scale."},
)
def selu(data: Tensor, alpha: Any, lambda_: Any) -> Tensor:
    """Return *lambda_* times *data*, or times ``alpha * (exp(data) - 1)`` where it is negative."""
    return apply("Selu", data, alpha=_number(alpha), gamma=_number(lambda_))


@operator("openvino:Swish-4", example=("N, C", "", "(N, C)"), kinds="attr_dtype")
def swish(data: Tensor, beta: Any = None) -> Tensor:
    """Return ``data * sigmoid(beta * data)``."""
    return apply("Swish", data, alpha=1.0 if beta is None else _number(beta))


def _number(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


@operator("openvino:PReLU-1", example=("N, C, H; C", "", "(N, C, H)"), about={"slope": "One for each channel."})
def prelu(data: Tensor, slope: Tensor) -> Tensor:
    """Return *data*, times *slope* where it is negative."""
    if slope.rank == 1 and data.rank > 2 and slope.shape[0] != 1:
        slope = expand_dims(slope, list(range(1, data.rank - 1)))
    return apply("PRelu", data, slope)


@operator(
    "openvino:Select-1",
    example=("N, 1; C; 1", "", "(N, C)"),
    kinds="size_mismatch, bad_mode, not_declared, overflow",
    about=ABOUT,
)
def select(cond: Tensor, then: Tensor, else_: Tensor, auto_broadcast: str = "numpy") -> Tensor:
    """Return elements of *then* where the condition holds, else of *else_*."""
    require_broadcast(auto_broadcast)
    return where(cond, then, else_)


def scaled_levels(x: Tensor, limits: Sequence[Tensor], levels: int) -> Tensor:
    """Return *x* rounded to levels between two limits, which become two other limits."""
    body = Body("quantized_levels", scalars.quantized_levels, (("levels", levels),))
    return elementwise(body, x, *limits, dtype=x.dtype)


@operator(
    "openvino:FakeQuantize-1",
    example=("N, C; 1; 1; 1; 1", "levels=256", "(N, C)"),
    kinds="size_mismatch, bad_mode, not_declared, attr_dtype",
    about={**ABOUT, "levels": "The number of levels."},
)
def fake_quantize(
    data: Tensor,
    input_low: Tensor,
    input_high: Tensor,
    output_low: Tensor,
    output_high: Tensor,
    levels: Any,
    auto_broadcast: str = "numpy",
) -> Tensor:
    """Return *data* rounded to levels between the limits of the input, as levels between those of the output."""
    require_broadcast(auto_broadcast)
    limits = (input_low, input_high, output_low, output_high)
    return scaled_levels(data, limits, attributes.constant("levels", levels))


@operator(
    "openvino:Convert-1",
    example=("N, C", 'destination_type="f16"', "(N, C)"),
    kinds="attr_dtype, not_declared",
    about={"destination_type": 'The element type, such as ``"f32"``.'},
)
def convert(data: Tensor, destination_type: Any) -> Tensor:
    """Return *data* in another element type."""
    return cast_to(data, of_name("destination_type", destination_type))


@operator("openvino:ConvertLike-1", example=("N, C; 1", "", "(N, C)"), kinds="attr_dtype")
def convert_like(data: Tensor, like: Tensor) -> Tensor:
    """Return *data* in the element type of *like*."""
    return data if like.dtype is None else cast_to(data, like.dtype)
