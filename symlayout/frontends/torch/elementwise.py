"""PyTorch's elementwise operations: each is a function of ONNX's, on operands of one type."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symlayout.compute.elementwise import divisors, elementwise
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply, several
from symlayout.frontends.onnx.elementwise import where as chosen
from symlayout.frontends.onnx.operator import as_tensor, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.torch.promotion import kind_of, number, operands, to_floats, typed
from symlayout.ops.axes import expand_dims
from symlayout.ops.broadcast import broadcast_to
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body

ABOUT = {
    "alpha": "The factor of the second operand, or a coefficient of the formula.",
    "approximate": '``"none"`` or ``"tanh"``.',
    "beta": "A coefficient of the formula.",
    "dtype": "The element type of the result, by NumPy's name.",
    "eps": "What is added, or the least distance from 0 and 1.",
    "exponent": "The exponent: a tensor or a number.",
    "input_scale": "The factor within the exponent.",
    "lambd": "How far from 0 values begin to count.",
    "mask": "Truth values.",
    "max": "The largest value: a tensor or a number.",
    "max_val": "The largest value.",
    "min": "The least value: a tensor or a number.",
    "min_val": "The least value.",
    "negative_slope": "The slope where the input is negative.",
    "other": "The second operand: a tensor or a number.",
    "rounding_mode": 'None, ``"trunc"`` or ``"floor"``.',
    "scale": "A factor.",
    "threshold": "Where the line begins.",
    "value": "A number.",
    "weight": "The weight: a tensor or a number.",
}
KINDS = "size_mismatch, attr_dtype, bad_mode, not_declared, overflow"
_ANY = "Tensor | Any"


def is_whole(x: Tensor) -> bool:
    """Return whether a tensor has integers or truth values."""
    return x.dtype is not None and kind_of(x.dtype) < 2


def _floats(function: str, **given: Any) -> Callable[[Tensor], Tensor]:
    return lambda input: apply(function, to_floats(function, input), **given)


def _of_type(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda input, other: function(*operands(name, input, other))


def _rounded(function: str) -> Callable[[Tensor], Tensor]:
    return lambda input: input if is_whole(input) else apply(function, input)


def truncated(x: Tensor) -> Tensor:
    """Return numbers rounded towards 0."""
    if is_whole(x):
        return x
    below = apply("Less", x, number("trunc", 0, x.dtype or np.dtype(np.float32)))
    return chosen(below, apply("Ceil", x), apply("Floor", x))


def _between(x: Tensor, low: Any, high: Any) -> Tensor:
    """Return *x*, not below *low* and not above *high*; None is no limit."""
    limits = [e for e in (low, high) if e is not None]
    if not limits:
        raise ShapeError("clamp has neither min nor max", "attr_missing")
    x, *ends = operands("clamp", x, *limits)
    if low is not None:
        x = several("Max", _larger(), [x, ends.pop(0)])
    return several("Min", _smaller(), [x, ends.pop(0)]) if high is not None else x


def _larger() -> Callable[..., Any]:
    from symlayout.compute.trace import larger

    return larger


def _smaller() -> Callable[..., Any]:
    from symlayout.compute.trace import smaller

    return smaller


def _divided(input: Any, other: Any, rounding_mode: Any) -> Tensor:
    if rounding_mode is None:
        return apply("Div", *operands("div", input, other, floats=True))
    mode = attributes.choice("rounding_mode", rounding_mode, ("trunc", "floor"))
    a, b = operands("div", input, other)
    if mode == "trunc":
        return truncated(apply("Div", a, b))
    body = Body("floor_divide", np.floor_divide, places=divisors(b, a.dtype))  # of floats too, by a remainder
    return elementwise(body, a, b, dtype=a.dtype)


def _remainder(input: Any, other: Any) -> Tensor:
    a, b = operands("remainder", input, other)
    if a.dtype is not None and not is_whole(a):
        raise NotDeclaredError("remainder of floats, whose zeros have signs of their own")
    return apply("Mod", a, b)


def _power(input: Any, exponent: Any) -> Tensor:
    a, b = operands("pow", input, exponent)
    if is_whole(a) and (b.values is None or (b.values < 0).any()):
        raise NotDeclaredError("a power of integers whose exponent may be negative")
    return apply("Pow", a, b)


def _times(x: Tensor, factor: Any) -> Tensor:
    return x if factor == 1 else apply("Mul", *operands("mul", x, factor, dtype=x.dtype))


def _sum(input: Any, other: Any, alpha: Any) -> Tensor:
    a, b = operands("add", input, other)
    if a.dtype == np.bool_:
        return apply("Or", a, b)
    return apply("Add", a, _times(b, alpha))


def _difference(input: Any, other: Any, alpha: Any) -> Tensor:
    a, b = operands("sub", input, other)
    return apply("Sub", a, _times(b, alpha))


def _product(input: Any, other: Any) -> Tensor:
    a, b = operands("mul", input, other)
    return apply("And" if a.dtype == np.bool_ else "Mul", a, b)


def _truths(function: str) -> Callable[..., Tensor]:
    return lambda *xs: apply(function, *(cast_to(as_tensor(function, "an operand", x), np.dtype(bool)) for x in xs))


def _bitwise(function: str, logical: str) -> Callable[..., Tensor]:
    def applied(*xs: Any) -> Tensor:
        made = operands(function, *xs)
        return apply(logical if made[0].dtype == np.bool_ else function, *made)

    return applied


def _elu(input: Tensor, alpha: Any, scale: Any, input_scale: Any) -> Tensor:
    if input_scale != 1:
        raise NotDeclaredError("elu with a factor within the exponent")
    if (alpha, scale) == (1.6732632423543772, 1.0507009873554805):
        return apply("Selu", input)
    return _times(apply("Elu", input, alpha=float(alpha)), scale)


def _softplus(input: Tensor, beta: Any, threshold: Any) -> Tensor:
    if beta != 1 or threshold != 20:
        raise NotDeclaredError("softplus with other coefficients than 1 and 20")
    return apply("Softplus", input)


def _threshold(input: Tensor, threshold: Any, value: Any) -> Tensor:
    x, limit, other = operands("threshold", input, threshold, value, dtype=input.dtype)
    return chosen(apply("Greater", x, limit), x, other)


def _hard_shrink(input: Tensor, lambd: Any) -> Tensor:
    low, high, zero = (number("hardshrink", e, input.dtype or np.dtype(np.float32)) for e in (-lambd, lambd, 0.0))
    inside = apply("And", apply("GreaterOrEqual", input, low), apply("LessOrEqual", input, high))
    return chosen(inside, zero, input)


def _prelu(input: Tensor, weight: Tensor) -> Tensor:
    if weight.rank == 1 and input.rank > 2:
        weight = expand_dims(weight, list(range(1, input.rank - 1)))
    return apply("PRelu", *operands("prelu", input, weight))


def _selected(condition: Tensor, input: Any, other: Any) -> Tensor:
    if not isinstance(input, Tensor) and not isinstance(other, Tensor) and not hasattr(input, "__array__"):
        dtype = np.result_type(
            *(np.dtype(np.float32) if isinstance(e, float) else np.asarray(e) for e in (input, other))
        )
        ends = [number("where", e, dtype) for e in (input, other)]
    else:
        ends = operands("where", input, other)
    return chosen(cast_to(condition, np.dtype(bool)), *ends)


def _filled(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    filler = operands("masked_fill", input, value, dtype=input.dtype)[1]
    return chosen(cast_to(mask, np.dtype(bool)), filler, input)


def _added_product(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any, function: str) -> Tensor:
    x, a, b = operands("addcmul", input, tensor1, tensor2)
    return apply("Add", x, _times(apply(function, a, b), value))


def _lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    a, b, w = operands("lerp", input, end, weight)
    return apply("Add", a, apply("Mul", w, apply("Sub", b, a)))


def _log_of(base: float) -> Callable[[Tensor], Tensor]:
    def applied(input: Tensor) -> Tensor:
        made = apply("Log", to_floats("log", input))
        return apply("Div", made, number("log", math.log(base), made.dtype or np.dtype(np.float32)))

    return applied


def _one(x: Tensor) -> Tensor:
    return number("one", 1.0, x.dtype or np.dtype(np.float32))


def _log1p(input: Tensor) -> Tensor:
    x = to_floats("log1p", input)
    return apply("Log", apply("Add", x, _one(x)))


def _expm1(input: Tensor) -> Tensor:
    x = to_floats("expm1", input)
    return apply("Sub", apply("Exp", x), _one(x))


def _copied(input: Tensor, src: Tensor) -> Tensor:
    return broadcast_to(cast_to(src, input.dtype), input.shape)


def _filled_with(input: Tensor, value: Any) -> Tensor:
    filler = operands("fill", input, value, dtype=input.dtype)[1]
    if filler.rank:
        raise ShapeError(f"fill has a value of rank {filler.rank}", "rank")
    return broadcast_to(filler, input.shape)


def _logit(input: Tensor, eps: Any) -> Tensor:
    x = to_floats("logit", input)
    if eps is not None:
        x = _between(x, float(eps), 1 - float(eps))
    return apply("Log", apply("Div", x, apply("Sub", _one(x), x)))


@dataclass(frozen=True, slots=True)
class _Row:
    """An operation.

    Attributes
    ----------
    function : callable
        What makes the result of the inputs and the attributes.
    inputs : str
        The names of the inputs; those with a mark may be numbers.
    attributes : dict
        Names of attributes, with torch's defaults; ``...`` is none.
    given : str
        The attributes of the example.
    """

    function: Callable[..., Tensor]
    inputs: str = "input"
    attributes: dict[str, Any] = field(default_factory=dict)
    given: str = ""


_FLOATS = {
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh",
    "atanh": "Atanh", "tanh": "Tanh", "erf": "Erf", "sigmoid": "Sigmoid",
}  # fmt: skip
_SAME = {
    "relu": "Relu", "sign": "Sign", "silu": "Swish", "mish": "Mish", "softsign": "Softsign", "selu": "Selu",
    "neg": "Neg", "abs": "Abs",
}  # fmt: skip
_COMPARISONS = {"eq": "Equal", "lt": "Less", "gt": "Greater", "le": "LessOrEqual", "ge": "GreaterOrEqual"}

ROWS: dict[str, _Row] = {
    **{name: _Row(_floats(function)) for name, function in _FLOATS.items()},
    **{name: _Row(lambda input, f=function: apply(f, input)) for name, function in _SAME.items()},
    **{
        name: _Row(_of_type(name, lambda a, b, f=function: apply(f, a, b)), "input other?")
        for name, function in _COMPARISONS.items()
    },
    **{name: _Row(_rounded(name.capitalize())) for name in ("ceil", "floor", "round")},
    "add": _Row(_sum, "input other?", {"alpha": 1}),
    "addcdiv": _Row(lambda **k: _added_product(function="Div", **k), "input tensor1 tensor2", {"value": 1}),
    "addcmul": _Row(lambda **k: _added_product(function="Mul", **k), "input tensor1 tensor2", {"value": 1}),
    "bitwise_and": _Row(lambda input, other: _bitwise("BitwiseAnd", "And")(input, other), "input other?"),
    "bitwise_not": _Row(lambda input: _bitwise("BitwiseNot", "Not")(input)),
    "bitwise_or": _Row(lambda input, other: _bitwise("BitwiseOr", "Or")(input, other), "input other?"),
    "bitwise_xor": _Row(lambda input, other: _bitwise("BitwiseXor", "Xor")(input, other), "input other?"),
    "celu": _Row(lambda input, alpha: apply("Celu", input, alpha=float(alpha)), "input", {"alpha": 1.0}),
    "clamp": _Row(lambda input, min, max: _between(input, min, max), "input", {"min": None, "max": None}, "min=0.0"),
    "clamp_max": _Row(lambda input, max: _between(input, None, max), "input", {"max": ...}, "max=6.0"),
    "clamp_min": _Row(lambda input, min: _between(input, min, None), "input", {"min": ...}, "min=0.0"),
    "copy": _Row(_copied, "input src"),
    "div": _Row(_divided, "input other?", {"rounding_mode": None}),
    "elu": _Row(_elu, "input", {"alpha": 1.0, "scale": 1.0, "input_scale": 1.0}),
    "expm1": _Row(_expm1),
    "fill": _Row(_filled_with, "input", {"value": ...}, "value=2.0"),
    "floor_divide": _Row(lambda input, other: _divided(input, other, "floor"), "input other?"),
    "fmod": _Row(_of_type("fmod", lambda a, b: apply("Mod", a, b, fmod=1)), "input other?"),
    "gelu": _Row(
        lambda input, approximate: apply("Gelu", input, approximate=attributes.choice(
            "approximate", approximate, ("none", "tanh"))), "input", {"approximate": "none"},
    ),
    "hardshrink": _Row(_hard_shrink, "input", {"lambd": 0.5}),
    "hardsigmoid": _Row(lambda input: apply("HardSigmoid", input, alpha=1 / 6, beta=0.5)),
    "hardswish": _Row(lambda input: apply("HardSwish", input)),
    "hardtanh": _Row(lambda input, min_val, max_val: _between(input, min_val, max_val), "input",
                     {"min_val": -1.0, "max_val": 1.0}),
    "isinf": _Row(lambda input: apply("IsInf", to_floats("isinf", input))),
    "isnan": _Row(lambda input: apply("IsNaN", to_floats("isnan", input))),
    "leaky_relu": _Row(
        lambda input, negative_slope: apply("LeakyRelu", input, alpha=float(negative_slope)), "input",
        {"negative_slope": 0.01},
    ),
    "lerp": _Row(_lerp, "input end", {"weight": ...}, "weight=0.5"),
    "log10": _Row(_log_of(10)),
    "log1p": _Row(_log1p),
    "log2": _Row(_log_of(2)),
    "log_sigmoid": _Row(lambda input: apply("Log", apply("Sigmoid", input))),
    "logical_and": _Row(lambda input, other: _truths("And")(input, other), "input other"),
    "logical_not": _Row(lambda input: _truths("Not")(input)),
    "logical_or": _Row(lambda input, other: _truths("Or")(input, other), "input other"),
    "logical_xor": _Row(lambda input, other: _truths("Xor")(input, other), "input other"),
    "logit": _Row(_logit, "input", {"eps": None}),
    "masked_fill": _Row(_filled, "input mask", {"value": ...}, "value=0.0"),
    "maximum": _Row(_of_type("maximum", lambda a, b: several("Max", _larger(), [a, b])), "input other"),
    "minimum": _Row(_of_type("minimum", lambda a, b: several("Min", _smaller(), [a, b])), "input other"),
    "mul": _Row(_product, "input other?"),
    "ne": _Row(_of_type("ne", lambda a, b: apply("Not", apply("Equal", a, b))), "input other?"),
    "pow": _Row(_power, "input? exponent?"),
    "prelu": _Row(_prelu, "input weight"),
    "relu6": _Row(lambda input: _between(input, 0, 6)),
    "remainder": _Row(_remainder, "input other?"),
    "rsqrt": _Row(lambda input: apply("Reciprocal", apply("Sqrt", to_floats("rsqrt", input)))),
    "rsub": _Row(lambda input, other, alpha: _difference(other, input, alpha), "input other?", {"alpha": 1}),
    "softplus": _Row(_softplus, "input", {"beta": 1, "threshold": 20}),
    "softshrink": _Row(
        lambda input, lambd: apply("Shrink", input, lambd=float(lambd), bias=float(lambd)), "input", {"lambd": 0.5}
    ),
    "square": _Row(lambda input: apply("Mul", input, input)),
    "sub": _Row(_difference, "input other?", {"alpha": 1}),
    "threshold": _Row(_threshold, "input", {"threshold": ..., "value": ...}, "threshold=0.5, value=0.0"),
    "trunc": _Row(lambda input: truncated(input)),
    "where": _Row(_selected, "condition input? other?"),
}  # fmt: skip


def _registered(name: str, row: _Row) -> Callable[..., Tensor]:
    inputs = [text.rstrip("?") for text in row.inputs.split()]
    marked = [text.endswith("?") for text in row.inputs.split()]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(i, kind, annotation=_ANY if either else "Tensor")
        for i, either in zip(inputs, marked, strict=True)
    ]
    for a, d in row.attributes.items():
        annotation = _ANY if d is ... or a in ("min", "max", "value", "weight") else "Any"
        parameters.append(inspect.Parameter(a, kind, default=inspect.Parameter.empty if d is ... else d,
                                            annotation=annotation))  # fmt: skip
    signature = inspect.Signature(parameters, return_annotation="Tensor")

    def applied(*args: Any, **kwargs: Any) -> Tensor:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = dict(bound.arguments)
        for key in values:
            array = values[key]
            if hasattr(array, "__array__") and not isinstance(array, Tensor):
                values[key] = as_tensor(name, key, array)
        return row.function(**values)

    applied.__module__ = __name__
    applied.__name__ = applied.__qualname__ = name
    together = ", or of elements that are broadcast together" if inputs[1:] else ""
    applied.__doc__ = f"Return {name} of each element{together}."
    applied.__signature__ = signature  # type: ignore[attr-defined]
    shapes = {1: "N, C", 2: "N, 1; C", 3: "N, C; N, C; N, C"}[len(inputs)]
    if name in ("copy", "prelu"):
        shapes = "N, C; C"
    if name in ("maximum", "minimum"):
        shapes = "N, C; N, 1"
    return operator(f"torch:{name}", example=(shapes, row.given, "(N, C)"), kinds=KINDS, about=ABOUT)(applied)


FUNCTIONS: dict[str, Callable[..., Tensor]] = {name: _registered(name, row) for name, row in ROWS.items()}
globals().update(FUNCTIONS)


@operator("torch:to", example=("N, C", 'dtype="int32"', "(N, C)"), kinds="attr_dtype", about=ABOUT)
def to(input: Tensor, dtype: Any = None) -> Tensor:
    """Return *input* in another element type."""
    return typed(input, dtype)


@operator("torch:type_as", example=("N, C; 3", "", "(N, C)"), kinds="attr_dtype", about=ABOUT)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Return *input* in the element type of *other*."""
    return cast_to(input, other.dtype)
