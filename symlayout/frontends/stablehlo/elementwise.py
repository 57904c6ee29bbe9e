"""StableHLO's elementwise operations: most are functions of ONNX's, of operands that have one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute import scalars
from symlayout.compute.elementwise import common_dtype, elementwise
from symlayout.frontends import attributes
from symlayout.frontends.function_rows import FunctionRow
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.elementwise import max as largest
from symlayout.frontends.onnx.elementwise import min as smallest
from symlayout.frontends.onnx.elementwise import where as chosen
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.rank import require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body

ABOUT = {
    "compare_type": 'How numbers are compared: ``"TOTALORDER"`` has no declaration for floats.',
    "comparison_direction": '``"EQ"``, ``"NE"``, ``"GE"``, ``"GT"``, ``"LE"`` or ``"LT"``.',
    "max": "The largest value: of the shape of the operand, or a number.",
    "min": "The least value: of the shape of the operand, or a number.",
    "on_false": "What is returned elsewhere.",
    "on_true": "What is returned where the predicate holds.",
    "pred": "Truth values of the same shape, or one.",
    "to": "The element type of the result, by NumPy's name.",
}
KINDS = "rank, size_mismatch, attr_dtype, bad_mode, not_declared, overflow"


def _is_truth(x: Tensor) -> bool:
    return x.dtype is not None and x.dtype.kind == "b"


def _of_one_shape(first: Tensor, *others: Tensor) -> list[Tensor]:
    return [first, *(require_shape("an operand", x, first.shape) for x in others)]


_OF_REALS = frozenset(("Abs", "Sigmoid", "Sign", "Erf"))  # as they are declared


def _function(name: str) -> Callable[..., Tensor]:
    def applied(*xs: Tensor) -> Tensor:
        if name in _OF_REALS and any(x.dtype is not None and x.dtype.kind == "c" for x in xs):
            raise NotDeclaredError(f"{name} of complex numbers")
        return apply(name, *_of_one_shape(*xs))

    return applied


def _bits(logical: str, bitwise: str) -> Callable[..., Tensor]:
    return lambda *xs: apply(logical if _is_truth(xs[0]) else bitwise, *_of_one_shape(*xs))


def _own(function: Callable[..., Any], *given: tuple[str, Any], dtype: Any = None) -> Callable[..., Tensor]:
    def applied(*xs: Tensor) -> Tensor:
        common = common_dtype(function.__name__, xs)
        if common is not None and common.kind == "c" and function not in (scalars.log1p, scalars.expm1):
            raise NotDeclaredError(f"{function.__name__} of complex numbers")
        return elementwise(Body(function.__name__, function, given), *_of_one_shape(*xs), dtype=dtype or common)

    return applied


def _whole(name: str) -> Callable[..., Tensor]:
    return lambda x: x if x.dtype is not None and x.dtype.kind in "iub" else apply(name, x)


def _sum(a: Tensor, b: Tensor) -> Tensor:
    return apply("Or" if _is_truth(a) else "Add", *_of_one_shape(a, b))


def _product(a: Tensor, b: Tensor) -> Tensor:
    return apply("And" if _is_truth(a) else "Mul", *_of_one_shape(a, b))


def _power(a: Tensor, b: Tensor) -> Tensor:
    if a.dtype is not None and a.dtype.kind in "iu" and (b.values is None or (b.values < 0).any()):
        raise NotDeclaredError("a power of integers whose exponent may be negative")
    return apply("Pow", *_of_one_shape(a, b))


def _remainder(a: Tensor, b: Tensor) -> Tensor:
    return apply("Mod", *_of_one_shape(a, b), fmod=1)


def _compared(a: Tensor, b: Tensor, comparison_direction: Any, compare_type: Any) -> Tensor:
    names = {"EQ": "Equal", "NE": "Equal", "GE": "GreaterOrEqual", "GT": "Greater", "LE": "LessOrEqual", "LT": "Less"}
    name = attributes.choice("comparison_direction", comparison_direction, names)
    kind = attributes.choice("compare_type", compare_type, ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"))
    if kind == "TOTALORDER" and (a.dtype is None or a.dtype.kind not in "iub"):
        raise NotDeclaredError("a total order of floats, whose zeros and NaNs have places of their own")
    if a.dtype is not None and a.dtype.kind == "c" and name != "Equal":
        raise NotDeclaredError("an order of complex numbers")
    made = apply(names[name], *_of_one_shape(a, b))
    return apply("Not", made) if name == "NE" else made


def _clamped(min: Tensor, operand: Tensor, max: Tensor) -> Tensor:
    low, high = (x if x.rank == 0 else require_shape("a limit", x, operand.shape) for x in (min, max))
    made: Tensor = smallest(largest(operand, low), high)
    return made


def _selected(pred: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    a, b = _of_one_shape(on_true, on_false)
    where = pred if pred.rank == 0 else require_shape("the predicate", pred, on_true.shape)
    made: Tensor = chosen(where, a, b)
    return made


def _rsqrt(x: Tensor) -> Tensor:
    return apply("Reciprocal", apply("Sqrt", x))


def _complex(lhs: Tensor, rhs: Tensor) -> Tensor:
    common = common_dtype("complex", (lhs, rhs))
    wide = np.dtype(np.complex128 if common == np.float64 else np.complex64)
    return elementwise(Body("complex", scalars.complex_number), *_of_one_shape(lhs, rhs), dtype=wide)


def _part(function: Callable[..., Any]) -> Callable[..., Tensor]:
    def applied(x: Tensor) -> Tensor:
        half = None if x.dtype is None else np.dtype(f"f{x.dtype.itemsize // 2}") if x.dtype.kind == "c" else x.dtype
        return elementwise(Body(function.__name__, function), x, dtype=half)

    return applied


def _converted(operand: Tensor, to: Any) -> Tensor:
    dtype = np.dtype(to)
    if operand.dtype is not None and operand.dtype.kind == "c" and dtype.kind != "c":
        raise NotDeclaredError("complex numbers as others")
    return cast_to(operand, dtype)


_UNARY = {
    "abs": "Abs", "cosine": "Cos", "exponential": "Exp", "log": "Log", "logistic": "Sigmoid", "negate": "Neg",
    "sign": "Sign", "sine": "Sin", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh", "chlo.acos": "Acos",
    "chlo.acosh": "Acosh", "chlo.asin": "Asin", "chlo.asinh": "Asinh", "chlo.atan": "Atan", "chlo.atanh": "Atanh",
    "chlo.cosh": "Cosh", "chlo.erf": "Erf", "chlo.sinh": "Sinh", "chlo.tan": "Tan",
}  # fmt: skip

ROWS: dict[str, FunctionRow] = {
    **{name: FunctionRow(_function(function), "operand") for name, function in _UNARY.items()},
    "add": FunctionRow(_sum, "lhs rhs"),
    "and": FunctionRow(_bits("And", "BitwiseAnd"), "lhs rhs"),
    "atan2": FunctionRow(_own(scalars.angle_of), "lhs rhs"),
    "cbrt": FunctionRow(_own(scalars.cube_root), "operand"),
    "ceil": FunctionRow(_whole("Ceil"), "operand"),
    "complex": FunctionRow(_complex, "lhs rhs"),
    "imag": FunctionRow(_part(scalars.imaginary_part), "operand"),
    "real": FunctionRow(_part(scalars.real_part), "operand"),
    "clamp": FunctionRow(_clamped, "min operand max"),
    "compare": FunctionRow(_compared, "lhs rhs", {"comparison_direction": ..., "compare_type": "NOTYPE"}),
    "convert": FunctionRow(_converted, "operand", {"to": ...}),
    "count_leading_zeros": FunctionRow(_own(scalars.leading_zeros), "operand"),
    "divide": FunctionRow(_function("Div"), "lhs rhs"),
    "exponential_minus_one": FunctionRow(_own(scalars.expm1), "operand"),
    "floor": FunctionRow(_whole("Floor"), "operand"),
    "is_finite": FunctionRow(_own(scalars.is_finite, dtype=np.dtype(bool)), "x"),
    "log_plus_one": FunctionRow(_own(scalars.log1p), "operand"),
    "maximum": FunctionRow(lambda a, b: largest(*_of_one_shape(a, b)), "lhs rhs"),
    "minimum": FunctionRow(lambda a, b: smallest(*_of_one_shape(a, b)), "lhs rhs"),
    "multiply": FunctionRow(_product, "lhs rhs"),
    "not": FunctionRow(_bits("Not", "BitwiseNot"), "operand"),
    "or": FunctionRow(_bits("Or", "BitwiseOr"), "lhs rhs"),
    "popcnt": FunctionRow(_own(scalars.number_of_ones), "operand"),
    "power": FunctionRow(_power, "lhs rhs"),
    "remainder": FunctionRow(_remainder, "lhs rhs"),
    "round_nearest_afz": FunctionRow(_own(scalars.rounded_away), "operand"),
    "round_nearest_even": FunctionRow(_whole("Round"), "operand"),
    "rsqrt": FunctionRow(_rsqrt, "operand"),
    "select": FunctionRow(_selected, "pred on_true on_false"),
    "shift_left": FunctionRow(_own(scalars.shifted, ("left", True), ("signed", True)), "lhs rhs"),
    "shift_right_arithmetic": FunctionRow(_own(scalars.shifted, ("left", False), ("signed", True)), "lhs rhs"),
    "shift_right_logical": FunctionRow(_own(scalars.shifted, ("left", False), ("signed", False)), "lhs rhs"),
    "subtract": FunctionRow(_function("Sub"), "lhs rhs"),
    "xor": FunctionRow(_bits("Xor", "BitwiseXor"), "lhs rhs"),
    "chlo.square": FunctionRow(lambda x: _product(x, x), "operand"),
}
_GIVEN = {"compare": 'comparison_direction="LT"', "convert": 'to="int32"'}


def _registered(name: str, row: FunctionRow) -> Callable[..., Tensor]:
    about = f"Return {name.rpartition('.')[2]} of each element."
    shapes = "; ".join(["N, C"] * len(row.inputs.split()))
    made = row.as_function(__name__, name.rpartition(".")[2], about, {})
    example = (shapes, _GIVEN.get(name, ""), "(N, C)")
    return operator(f"stablehlo:{name}", example=example, kinds=KINDS, about=ABOUT)(made)


FUNCTIONS: dict[str, Callable[..., Tensor]] = {name: _registered(name, row) for name, row in ROWS.items()}
globals().update({name.replace("chlo.", "chlo_"): function for name, function in FUNCTIONS.items()})


@operator("stablehlo:bitcast_convert", example=("N, C", 'to="int32"', "(N, C)"), kinds=KINDS, about=ABOUT)
def bitcast_convert(operand: Tensor, to: Any) -> Tensor:
    """Return the bits of *operand* as elements of another type of the same size."""
    from symlayout.compute.quantization import bits

    dtype = np.dtype(to)
    given = dtype if operand.dtype is None else operand.dtype
    if given.itemsize != dtype.itemsize or "b" in (dtype.kind, given.kind):
        raise NotDeclaredError(f"elements of {given} as elements of {dtype}, which have another size")
    if operand.dtype == dtype:
        return operand
    return elementwise(Body("bits", bits, (("to", dtype),)), operand, dtype=dtype)
