"""ONNX's elementwise operators: one row each.  Inputs are broadcast together, also when extents are symbolic."""

from __future__ import annotations

import inspect
from builtins import sum as sum_of
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symlayout.compute import scalars, trace
from symlayout.compute.elementwise import common_dtype, divisors, elementwise
from symlayout.errors import ShapeError
from symlayout.frontends.onnx.operator import operator, snake_case
from symlayout.frontends.rank import require_number, require_shape
from symlayout.ops.reshape import reshape
from symlayout.tensors.attribute_key import kept_by_attributes
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.declaration import Body, Places
from symlayout.tensors.element_types import end_of_type


@dataclass(frozen=True, slots=True)
class _Row:
    """An elementwise operator.

    Attributes
    ----------
    function : callable
        What it computes of single elements.
    inputs : str
        The names of the inputs.
    attributes : dict
        Names of attributes, with the defaults of the standard.
    symmetric : bool
        Whether the inputs may change places.
    dtype : type or None
        The element type of the result; None is that of the inputs.
    mixed : bool
        Whether the inputs may have several types.
    allowed : dict or None
        The values that the standard knows for attributes.
    divides : bool
        Whether the first input is divided by the second one.
    """

    function: Callable[..., Any]
    inputs: str = "X"
    attributes: dict[str, Any] = field(default_factory=dict)
    symmetric: bool = False
    dtype: Any = None
    mixed: bool = False
    allowed: dict[str, tuple[Any, ...]] | None = None
    divides: bool = False


ROWS: dict[str, _Row] = {
    "Abs": _Row(np.abs),
    "Acos": _Row(np.arccos, "input"),
    "Acosh": _Row(np.arccosh, "input"),
    "Add": _Row(np.add, "A B", symmetric=True),
    "And": _Row(np.logical_and, "A B", symmetric=True, dtype=bool),
    "Asin": _Row(np.arcsin, "input"),
    "Asinh": _Row(np.arcsinh, "input"),
    "Atan": _Row(np.arctan, "input"),
    "Atanh": _Row(np.arctanh, "input"),
    "BitShift": _Row(scalars.shift, "X Y", {"direction": ""}, allowed={"direction": ("LEFT", "RIGHT")}),
    "BitwiseAnd": _Row(np.bitwise_and, "A B", symmetric=True),
    "BitwiseNot": _Row(np.bitwise_not),
    "BitwiseOr": _Row(np.bitwise_or, "A B", symmetric=True),
    "BitwiseXor": _Row(np.bitwise_xor, "A B", symmetric=True),
    "Ceil": _Row(np.ceil),
    "Celu": _Row(scalars.celu, "X", {"alpha": 1.0}),
    "Cos": _Row(np.cos, "input"),
    "Cosh": _Row(np.cosh, "input"),
    "Div": _Row(scalars.divide, "A B", divides=True),
    "Elu": _Row(scalars.elu, "X", {"alpha": 1.0}),
    "Equal": _Row(np.equal, "A B", symmetric=True, dtype=bool),
    "Erf": _Row(scalars.erf, "input"),
    "Exp": _Row(np.exp, "input"),
    "Floor": _Row(np.floor),
    "Gelu": _Row(scalars.gelu, "X", {"approximate": "none"}, allowed={"approximate": ("none", "tanh")}),
    "Greater": _Row(np.greater, "A B", dtype=bool),
    "GreaterOrEqual": _Row(np.greater_equal, "A B", dtype=bool),
    "HardSigmoid": _Row(scalars.hard_sigmoid, "X", {"alpha": 0.2, "beta": 0.5}),
    "HardSwish": _Row(scalars.hard_swish),
    "IsInf": _Row(scalars.is_infinite, "X", {"detect_negative": 1, "detect_positive": 1}, dtype=bool),
    "IsNaN": _Row(scalars.is_nan, dtype=bool),
    "LeakyRelu": _Row(scalars.leaky_relu, "X", {"alpha": 0.01}),
    "Less": _Row(np.less, "A B", dtype=bool),
    "LessOrEqual": _Row(np.less_equal, "A B", dtype=bool),
    "Log": _Row(np.log, "input"),
    "Mish": _Row(scalars.mish),
    "Mod": _Row(scalars.modulo, "A B", {"fmod": 0}, allowed={"fmod": (0, 1)}, divides=True),
    "Mul": _Row(np.multiply, "A B", symmetric=True),
    "Neg": _Row(np.negative),
    "Not": _Row(np.logical_not, dtype=bool),
    "Or": _Row(np.logical_or, "A B", symmetric=True, dtype=bool),
    "PRelu": _Row(scalars.prelu, "X slope"),
    "Pow": _Row(scalars.power, "X Y", mixed=True),
    "Reciprocal": _Row(scalars.reciprocal),
    "Relu": _Row(scalars.relu),
    "Round": _Row(np.rint),
    "Selu": _Row(scalars.selu, "X", {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875}),
    "Shrink": _Row(scalars.shrink, "input", {"bias": 0.0, "lambd": 0.5}),
    "Sigmoid": _Row(scalars.sigmoid),
    "Sign": _Row(scalars.sign, "input"),
    "Sin": _Row(np.sin, "input"),
    "Sinh": _Row(np.sinh, "input"),
    "Softplus": _Row(scalars.softplus),
    "Softsign": _Row(scalars.softsign, "input"),
    "Sqrt": _Row(np.sqrt),
    "Sub": _Row(np.subtract, "A B"),
    "Swish": _Row(scalars.swish, "X", {"alpha": 1.0}),
    "Tan": _Row(np.tan, "input"),
    "Tanh": _Row(np.tanh, "input"),
    "ThresholdedRelu": _Row(scalars.thresholded_relu, "X", {"alpha": 1.0}),
    "Xor": _Row(np.logical_xor, "A B", symmetric=True, dtype=bool),
}
_ABOUT = {
    "bias": "How far values move towards 0.",
    "detect_negative": "Whether negative infinity counts.",
    "detect_positive": "Whether positive infinity counts.",
    "fmod": "Whether the remainder has the sign of the dividend.",
    "gamma": "The scale.",
    "lambd": "How far from 0 values begin to count.",
}


@kept_by_attributes
def _body(name: str, attributes: tuple[tuple[str, Any], ...], places: tuple[Places, ...]) -> Body:
    row = ROWS[name]
    return Body(name, row.function, attributes, symmetric=row.symmetric, places=places)


def apply(name: str, *xs: Tensor, **attributes: Any) -> Tensor:
    """Return the elementwise operator *name* of tensors.

    >>> import symlayout as sl
    >>> apply("Add", sl.tensor("N, 1", name="x"), sl.tensor("C", name="y")).shape
    (N, C)
    """
    row = ROWS[name]
    common = xs[0].dtype if row.mixed or len(xs) == 1 else common_dtype(name, xs)
    given = {key: type(default)(attributes.get(key, default)) for key, default in row.attributes.items()}
    places = divisors(xs[1], common) if row.divides else ()
    return elementwise(_body(name, tuple(given.items()), places), *xs, dtype=row.dtype or common)


def _registered(name: str, row: _Row) -> Callable[..., Tensor]:
    inputs = row.inputs.split()
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(i, kind, annotation="Tensor") for i in inputs]
    parameters += [
        inspect.Parameter(a, kind, default=d, annotation=type(d).__name__) for a, d in row.attributes.items()
    ]
    signature = inspect.Signature(parameters, return_annotation="Tensor")

    def applied(*args: Any, **kwargs: Any) -> Tensor:
        if kwargs or len(args) != len(inputs):
            given = dict(signature.bind(*args, **kwargs).arguments)
            args = tuple(given.pop(i) for i in inputs)
            kwargs = given
        return apply(name, *args, **kwargs)

    applied.__name__ = applied.__qualname__ = snake_case(name)
    applied.__doc__ = f"Return {name} of each element{' of the inputs, broadcast together' if inputs[1:] else ''}."
    applied.__signature__ = signature  # type: ignore[attr-defined]
    shapes = "N, 1; C" if inputs[1:] else "N, C"
    given = 'direction="LEFT"' if "direction" in row.attributes else ""
    example = (shapes, given, "(N, C)")
    return operator(name, example=example, about=_ABOUT, allowed=row.allowed, any_rank=True)(applied)


globals().update({snake_case(name): _registered(name, row) for name, row in ROWS.items()})


def several(name: str, function: Callable[..., Any], xs: Sequence[Tensor]) -> Tensor:
    """Return what a function of two elements makes of several tensors, from the first to the last."""
    dtype = common_dtype(name, xs)
    made = xs[0]
    for x in xs[1:]:
        made = elementwise(Body(name, function, symmetric=True), made, x, dtype=dtype)
    return made


@operator("Max", example=("N, 1; C", "", "(N, C)"), any_rank=True)
def max(*data_0: Tensor) -> Tensor:
    """Return the largest of the elements of tensors, broadcast together."""
    return several("Max", trace.larger, data_0)


@operator("Min", example=("N, 1; C", "", "(N, C)"), any_rank=True)
def min(*data_0: Tensor) -> Tensor:
    """Return the smallest of the elements of tensors, broadcast together."""
    return several("Min", trace.smaller, data_0)


@operator("Sum", example=("N, 1; C", "", "(N, C)"), any_rank=True)
def sum(*data_0: Tensor) -> Tensor:
    """Return the sum of the elements of tensors, broadcast together."""
    return several("Add", np.add, data_0)


@operator("Mean", example=("N, 1; C", "", "(N, C)"), any_rank=True)
def mean(*data_0: Tensor) -> Tensor:
    """Return the mean of the elements of tensors, broadcast together."""
    total = several("Add", np.add, data_0)
    return elementwise(Body("scaled", scalars.scaled, (("factor", 1 / len(data_0)),)), total, dtype=total.dtype)


def _of_one_shape(xs: Sequence[Tensor]) -> list[Tensor]:
    """Return tensors that have the shape of the first one."""
    return [xs[0], *(require_shape("an operand", x, xs[0].shape) for x in xs[1:])]


@operator("Max-6", example=("N, C; N, C", "", "(N, C)"), kinds="rank, size_mismatch")
def max_6(*data_0: Tensor) -> Tensor:
    """Return the largest of the elements of tensors of one shape, as until opset 7."""
    return max(*_of_one_shape(data_0))


@operator("Min-6", example=("N, C; N, C", "", "(N, C)"), kinds="rank, size_mismatch")
def min_6(*data_0: Tensor) -> Tensor:
    """Return the smallest of the elements of tensors of one shape, as until opset 7."""
    return min(*_of_one_shape(data_0))


@operator("Sum-6", example=("N, C; N, C", "", "(N, C)"), kinds="rank, size_mismatch")
def sum_6(*data_0: Tensor) -> Tensor:
    """Return the sum of tensors of one shape, as until opset 7."""
    return sum(*_of_one_shape(data_0))


@operator("Mean-6", example=("N, C; N, C", "", "(N, C)"), kinds="rank, size_mismatch")
def mean_6(*data_0: Tensor) -> Tensor:
    """Return the mean of tensors of one shape, as until opset 7."""
    return mean(*_of_one_shape(data_0))


@operator(
    "Clip",
    example=("N, C", "min=0, max=6", "(N, C)"),
    kinds="rank, size_mismatch",
    about={"min": "The least value.", "max": "The largest."},
    any_rank=True,
)
def clip(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """Return *input* between a least and a largest value: the last numbers of its type, where one is left out."""
    dtype = input.dtype
    min, max = (
        reshape(require_number(name, bound), ()) if isinstance(bound, Tensor) and bound.rank else bound
        for name, bound in (("min", min), ("max", max))
    )
    if dtype is not None and dtype.kind not in "iub":  # an infinity is outside
        min, max = (
            constant(np.asarray(end_of_type(dtype, lowest=lowest, finite=True), dtype)) if bound is None else bound
            for bound, lowest in ((min, True), (max, False))
        )
    if min is not None:
        input = elementwise(Body("Max", trace.larger, symmetric=True), input, min, dtype=dtype)
    if max is not None:
        input = elementwise(Body("Min", trace.smaller, symmetric=True), input, max, dtype=dtype)
    return input


@operator(
    "Mod-10", "Mod-13", example=("N, 1; C", "", "(N, C)"), kinds="attr_range", about=_ABOUT, allowed={"fmod": (0, 1)}
)
def mod_13(A: Tensor, B: Tensor, fmod: int = 0) -> Tensor:
    """Return the remainder of each element, as until opset 27: that of floats has the sign of the dividend."""
    if A.dtype is not None and A.dtype.kind not in "iu" and not fmod:
        raise ShapeError("fmod is 0, for floats it has to be 1", "attr_range")
    return apply("Mod", A, B, fmod=fmod)


@operator("Where", example=("N, 1; C; 1", "", "(N, C)"), any_rank=True)
def where(condition: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    """Return elements of *X* where the condition holds, else of *Y*."""
    return elementwise(Body("Where", scalars.select), X, Y, condition, dtype=common_dtype("Where", (X, Y)))


@operator("SwiGLU", example=("N, C; N, C", "", "(N, C)"), kinds="rank, size_mismatch", any_rank=True)
def swi_glu(A: Tensor, B: Tensor, alpha: float = 1.0) -> Tensor:
    """Return the swish of *A* times *B*, which has the same shape."""
    if isinstance(A, Tensor) and isinstance(B, Tensor):
        B, A = _of_one_shape([B, A])
    return apply("Mul", apply("Swish", A, alpha=alpha), B)


@operator("StringConcat", example=("N, 1; C", "", "(N, C)"))
def string_concat(X: Tensor, Y: Tensor) -> Tensor:
    """Return texts of *X* followed by texts of *Y*, broadcast together."""
    known = [x.dtype for x in (X, Y) if x.dtype is not None]
    width = sum_of(dtype.itemsize // 4 for dtype in known) if len(known) == 2 else 0
    return elementwise(Body("joined_text", scalars.joined_text), X, Y, dtype=np.dtype(f"U{width}") if width else None)
