"""TensorFlow Lite's elementwise operations: each is a function of ONNX's, with an activation after some."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symlayout.compute.elementwise import common_dtype, divisors, elementwise
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
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


@dataclass(frozen=True, slots=True)
class _Row:
    """An operation that is a function of ONNX's.

    Attributes
    ----------
    function : str or callable
        The name of ONNX's operator, or what returns the result of the inputs and the attributes.
    inputs : str
        The names of the inputs.
    attributes : dict
        Names of attributes, with the defaults of the schema.
    """

    function: str | Callable[..., Tensor]
    inputs: str = "x"
    attributes: dict[str, Any] = field(default_factory=dict)


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


def _squared_difference(a: Tensor, b: Tensor) -> Tensor:
    d = apply("Sub", a, b)
    return apply("Mul", d, d)


def _gelu(x: Tensor, approximate: Any) -> Tensor:
    return apply("Gelu", x, approximate="tanh" if attributes.flag("approximate", approximate) else "none")


def _not_equal(a: Tensor, b: Tensor) -> Tensor:
    return apply("Not", apply("Equal", a, b))


def _selected(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return elements of *a* or *b*; a condition of rank 1 is one for each slice of axis 0."""
    if condition.rank == 1 and a.rank > 1:
        condition = expand_dims(condition, list(range(1, a.rank)))
    return chosen(condition, a, b)


ROWS: dict[str, _Row] = {
    "ABS": _Row("Abs"),
    "CEIL": _Row("Ceil"),
    "COS": _Row("Cos"),
    "ELU": _Row(lambda x: apply("Elu", x, alpha=1.0)),
    "EXP": _Row("Exp"),
    "FLOOR": _Row("Floor"),
    "GELU": _Row(_gelu, "x", {"approximate": False}),
    "HARD_SWISH": _Row("HardSwish"),
    "LEAKY_RELU": _Row("LeakyRelu", "x", {"alpha": 0.0}),
    "LOG": _Row("Log"),
    "LOGICAL_NOT": _Row("Not"),
    "LOGISTIC": _Row("Sigmoid"),
    "NEG": _Row("Neg"),
    "RELU": _Row("Relu"),
    "RELU6": _Row(lambda x: _between(x, 0, 6)),
    "RELU_0_TO_1": _Row(lambda x: _between(x, 0, 1)),
    "RELU_N1_TO_1": _Row(lambda x: _between(x, -1, 1)),
    "ROUND": _Row("Round"),
    "RSQRT": _Row(lambda x: apply("Reciprocal", apply("Sqrt", x))),
    "SIGN": _Row("Sign"),
    "SIN": _Row("Sin"),
    "SQRT": _Row("Sqrt"),
    "SQUARE": _Row(lambda x: apply("Mul", x, x)),
    "TANH": _Row("Tanh"),
    "ADD": _Row(_with_activation("Add"), "a b", _FUSED),
    "DIV": _Row(_with_activation("Div"), "a b", _FUSED),
    "EQUAL": _Row("Equal", "a b"),
    "FLOOR_DIV": _Row(_floor_divided, "a b"),
    "FLOOR_MOD": _Row(_floor_remainder, "a b"),
    "GREATER": _Row("Greater", "a b"),
    "GREATER_EQUAL": _Row("GreaterOrEqual", "a b"),
    "LESS": _Row("Less", "a b"),
    "LESS_EQUAL": _Row("LessOrEqual", "a b"),
    "LOGICAL_AND": _Row("And", "a b"),
    "LOGICAL_OR": _Row("Or", "a b"),
    "MAXIMUM": _Row(lambda a, b: largest(a, b), "a b"),
    "MINIMUM": _Row(lambda a, b: smallest(a, b), "a b"),
    "MUL": _Row(_with_activation("Mul"), "a b", _FUSED),
    "NOT_EQUAL": _Row(_not_equal, "a b"),
    "POW": _Row("Pow", "a b"),
    "PRELU": _Row("PRelu", "x alpha"),
    "SQUARED_DIFFERENCE": _Row(_squared_difference, "a b"),
    "SUB": _Row(_with_activation("Sub"), "a b", _FUSED),
    "SELECT": _Row(_selected, "condition a b"),
    "SELECT_V2": _Row(chosen, "condition a b"),
}


def _registered(name: str, row: _Row) -> Callable[..., Tensor]:
    inputs = row.inputs.split()
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(i, kind, annotation="Tensor") for i in inputs]
    parameters += [inspect.Parameter(a, kind, default=d, annotation="Any") for a, d in row.attributes.items()]
    signature = inspect.Signature(parameters, return_annotation="Tensor")

    def applied(*args: Any, **kwargs: Any) -> Tensor:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = dict(bound.arguments)
        xs = [values.pop(i) for i in inputs]
        return apply(row.function, *xs, **values) if isinstance(row.function, str) else row.function(*xs, **values)

    applied.__name__ = applied.__qualname__ = name.lower()
    applied.__doc__ = f"Return {name} of each element, or of elements that are broadcast together."
    applied.__signature__ = signature  # type: ignore[attr-defined]
    shapes = {1: "N, C", 2: "N, 1; C", 3: "N, C; N, C; N, C"}[len(inputs)]
    return operator(f"tflite:{name}", example=(shapes, "", "(N, C)"), kinds=_BINARY, about=ABOUT)(applied)


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
