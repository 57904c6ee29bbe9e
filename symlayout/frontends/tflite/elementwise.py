"""TensorFlow Lite's elementwise operations: each is a function of ONNX's, with an activation after some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute.elementwise import common_dtype, divisors, elementwise
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.function_rows import FunctionRow, squared_difference
from symlayout.frontends.onnx.elementwise import apply, clip
from symlayout.frontends.onnx.elementwise import max as largest
from symlayout.frontends.onnx.elementwise import min as smallest
from symlayout.frontends.onnx.elementwise import where as chosen
from symlayout.frontends.onnx.operator import as_tensor, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body

ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
ABOUT = {
    "alpha": "The slope where the input is negative.",
    "approximate": "Whether the formula with the hyperbolic tangent is meant.",
    "fused_activation_function": "What is applied to the result, as the schema spells it.",
}
_BINARY = "size_mismatch, bad_mode, not_declared, overflow"


def _between(x: Tensor, low: float, high: float) -> Tensor:
    limits = [as_tensor("RELU", name, end, x) for name, end in (("min", low), ("max", high))]
    return clip(x, *limits)


def activated(x: Tensor, activation: str) -> Tensor:
    """Return *x* after a fused activation.

    Raises
    ------
    NotDeclaredError
        The activation is ``"SIGN_BIT"``.
    """
    kind = attributes.choice("fused_activation_function", activation, ACTIVATIONS)
    if kind == "NONE":
        return x
    if kind == "SIGN_BIT":
        raise NotDeclaredError("SIGN_BIT has no declaration")
    if kind in ("RELU", "TANH"):
        return apply(kind.capitalize(), x)
    return _between(x, *((0, 6) if kind == "RELU6" else (-1, 1)))


_FUSED = {"fused_activation_function": "NONE"}


def _with_activation(name: str) -> Callable[..., Tensor]:
    return lambda a, b, fused_activation_function: activated(apply(name, a, b), fused_activation_function)


def _floor_divided(a: Tensor, b: Tensor) -> Tensor:
    dtype = common_dtype("FLOOR_DIV", (a, b))
    if dtype is not None and dtype.kind in "iu":
        body = Body("floor_divide", np.floor_divide, places=divisors(b, dtype))
        return elementwise(body, a, b, dtype=dtype)
    return apply("Floor", apply("Div", a, b))


def _floor_remainder(a: Tensor, b: Tensor) -> Tensor:
    dtype = common_dtype("FLOOR_MOD", (a, b))
    if dtype is not None and dtype.kind not in "iu":
        raise NotDeclaredError("FLOOR_MOD of floats, whose zeros have signs of their own")
    return apply("Mod", a, b)


def _gelu(x: Tensor, approximate: Any) -> Tensor:
    return apply("Gelu", x, approximate="tanh" if attributes.flag("approximate", approximate) else "none")


def _not_equal(a: Tensor, b: Tensor) -> Tensor:
    return apply("Not", apply("Equal", a, b))


def _selected(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return elements of *a* or *b*; a condition of rank 1 is one for each slice of axis 0."""
    if condition.rank == 1 and a.rank > 1:
        condition = expand_dims(condition, list(range(1, a.rank)))
    return chosen(condition, a, b)


ROWS: dict[str, FunctionRow] = {
    "ABS": FunctionRow("Abs"),
    "CEIL": FunctionRow("Ceil"),
    "COS": FunctionRow("Cos"),
    "ELU": FunctionRow(lambda x: apply("Elu", x, alpha=1.0)),
    "EXP": FunctionRow("Exp"),
    "FLOOR": FunctionRow("Floor"),
    "GELU": FunctionRow(_gelu, "x", {"approximate": False}),
    "HARD_SWISH": FunctionRow("HardSwish"),
    "LEAKY_RELU": FunctionRow("LeakyRelu", "x", {"alpha": 0.0}),
    "LOG": FunctionRow("Log"),
    "LOGICAL_NOT": FunctionRow("Not"),
    "LOGISTIC": FunctionRow("Sigmoid"),
    "NEG": FunctionRow("Neg"),
    "RELU": FunctionRow("Relu"),
    "RELU6": FunctionRow(lambda x: _between(x, 0, 6)),
    "RELU_0_TO_1": FunctionRow(lambda x: _between(x, 0, 1)),
    "RELU_N1_TO_1": FunctionRow(lambda x: _between(x, -1, 1)),
    "ROUND": FunctionRow("Round"),
    "RSQRT": FunctionRow(lambda x: apply("Reciprocal", apply("Sqrt", x))),
    "SIGN": FunctionRow("Sign"),
    "SIN": FunctionRow("Sin"),
    "SQRT": FunctionRow("Sqrt"),
    "SQUARE": FunctionRow(lambda x: apply("Mul", x, x)),
    "TANH": FunctionRow("Tanh"),
    "ADD": FunctionRow(_with_activation("Add"), "a b", _FUSED),
    "DIV": FunctionRow(_with_activation("Div"), "a b", _FUSED),
    "EQUAL": FunctionRow("Equal", "a b"),
    "FLOOR_DIV": FunctionRow(_floor_divided, "a b"),
    "FLOOR_MOD": FunctionRow(_floor_remainder, "a b"),
    "GREATER": FunctionRow("Greater", "a b"),
    "GREATER_EQUAL": FunctionRow("GreaterOrEqual", "a b"),
    "LESS": FunctionRow("Less", "a b"),
    "LESS_EQUAL": FunctionRow("LessOrEqual", "a b"),
    "LOGICAL_AND": FunctionRow("And", "a b"),
    "LOGICAL_OR": FunctionRow("Or", "a b"),
    "MAXIMUM": FunctionRow(lambda a, b: largest(a, b), "a b"),
    "MINIMUM": FunctionRow(lambda a, b: smallest(a, b), "a b"),
    "MUL": FunctionRow(_with_activation("Mul"), "a b", _FUSED),
    "NOT_EQUAL": FunctionRow(_not_equal, "a b"),
    "POW": FunctionRow("Pow", "a b"),
    "PRELU": FunctionRow("PRelu", "x alpha"),
    "SQUARED_DIFFERENCE": FunctionRow(squared_difference, "a b"),
    "SUB": FunctionRow(_with_activation("Sub"), "a b", _FUSED),
    "SELECT": FunctionRow(_selected, "condition a b"),
    "SELECT_V2": FunctionRow(chosen, "condition a b"),
}


def _registered(name: str, row: FunctionRow) -> Callable[..., Tensor]:
    about = f"Return {name} of each element, or of elements that are broadcast together."
    shapes = {1: "N, C", 2: "N, 1; C", 3: "N, C; N, C; N, C"}[len(row.inputs.split())]
    made = row.as_function(__name__, name.lower(), about, {})
    return operator(f"tflite:{name}", example=(shapes, "", "(N, C)"), kinds=_BINARY, about=ABOUT)(made)


globals().update({name.lower(): _registered(name, row) for name, row in ROWS.items()})


@operator("tflite:ADD_N", example=("N, C; N, C", "", "(N, C)"), kinds="length_mismatch, size_mismatch, overflow")
def add_n(*inputs: Tensor) -> Tensor:
    """Return the sum of all inputs, added in their order."""
    if not inputs:
        raise ShapeError("ADD_N takes one tensor or more, there is none", "length_mismatch")
    total, *rest = inputs
    for x in rest:
        total = apply("Add", total, x)
    return total


@operator(
    "tflite:CAST", example=("N, C", 'to="int32"', "(N, C)"), kinds="attr_dtype, not_declared",
    about={"to": "The element type of the result, by NumPy's name."},
)  # fmt: skip
def cast(x: Tensor, to: Any) -> Tensor:
    """Return *x* in another element type."""
    return cast_to(x, np.dtype(to))
