"""The functions of which the standard fixes at each operand whether the value is NaN, an infinity, or a zero of a sign.

Other functions may have a zero of either sign, as a maximum of 0.0 and -0.0 and a sum that starts from 0 do, or treat
NaN as a runtime likes.  Their values are only relied on where they and their operands are finite, and they are not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.compute import scalars, trace
from symlayout.tensors.declaration import Body

Array = np.ndarray[Any, Any]


def _nowhere(*_: Array) -> bool:
    return False


def _at_divisors_0(x: Array, y: Array) -> bool:
    return x.dtype.kind in "iu" and bool(np.any(y == 0))


def _where_zeros_meet(x: Array, y: Array) -> bool:
    """Return whether zeros of unlike signs meet, or a NaN something else."""
    zeros = (x == 0) & (y == 0) & (_signs(x) != _signs(y))
    return bool(np.any(zeros | _is_nan(x) | _is_nan(y)))


def _at_minus_0(x: Array) -> bool:
    return bool(np.any(((x == 0) & _signs(x)) | _is_nan(x)))


def _where_minus_0_is_chosen(x: Array, y: Array, condition: Array) -> bool:
    """Return whether a zero is chosen that onnxruntime, which adds both choices, makes 0.0."""
    chosen = np.where(condition, x, y)
    return chosen.dtype.kind in "fV" and _at_minus_0(chosen)


def _signs(x: Array) -> Array:
    return np.asarray(np.signbit(x.astype(np.float64)))


def _is_nan(x: Array) -> Array:
    return np.asarray(np.isnan(x.astype(np.float64)))


OPEN: dict[Callable[..., Any], Callable[..., bool]] = {
    **dict.fromkeys(
        (
            np.abs, np.add, np.ceil, np.equal, np.floor, np.greater, np.greater_equal, np.less, np.less_equal,
            np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.multiply, np.negative, np.rint, np.sqrt,
            np.subtract, scalars.elu, scalars.is_infinite, scalars.is_nan, scalars.leaky_relu, scalars.prelu,
            scalars.reciprocal, scalars.sign, scalars.thresholded_relu,
        ),
        _nowhere,
    ),
    scalars.divide: _at_divisors_0,
    scalars.relu: _at_minus_0,
    scalars.select: _where_minus_0_is_chosen,
    trace.larger: _where_zeros_meet,
    trace.smaller: _where_zeros_meet,
}  # fmt: skip
"""For each such function, whether the standard leaves something open at some of these operands."""

ROUNDED = frozenset({scalars.elu})
"""Those of these functions whose finite values are not the same floats in all runtimes."""


def is_open(body: Body, operands: Sequence[Array], value: Array) -> bool:
    """Return whether the standard leaves open what kind of value, such as a zero of which sign, *body* has here.

    >>> zeros = np.array([0.0]), np.array([-0.0])
    >>> is_open(Body("sum", np.add), zeros, np.array([0.0])), is_open(Body("max", trace.larger), zeros, np.array([0.0]))
    (False, True)
    """
    rule = None if body.function is None else OPEN.get(body.function)
    if rule is not None:
        return rule(*operands)
    floats = [a.astype(np.float64) for a in (*operands, value) if a.dtype.kind in "fV" and a.dtype.names is None]
    is_finite = all(bool(np.isfinite(a).all()) for a in floats)
    return not is_finite or (value.dtype.kind not in "biu" and not np.all(value != 0))


def kind(x: Array) -> Array:
    """Return a number for NaN, for each infinity and zero, and for what is none of these.

    >>> kind(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1, -1])).tolist()
    [4, 12, 2, 10, 1, 1, 0, 0]
    """
    special = np.isnan(x) * 1 + np.isinf(x) * 2 + (x == 0) * 4
    return np.asarray(special + np.where((special > 1) & np.signbit(x), 8, 0))


def are_other_kinds(a: Array, b: Array) -> Array:
    """Return where one of two is an infinity or NaN that the other is not, or both are zeros of unlike signs."""
    kinds = [kind(t.astype(np.float64)) for t in (a, b)]
    is_rounding = (np.minimum(*kinds) == 0) & np.isfinite(a.astype(np.float64)) & np.isfinite(b.astype(np.float64))
    return np.asarray((kinds[0] != kinds[1]) & ~is_rounding)


def where_finite(a: Array) -> Array:
    """Return which elements are neither infinite nor NaN; types of ml_dtypes are V."""
    if a.dtype.kind in "fc":
        return np.isfinite(a)
    is_float = a.dtype.kind == "V" and a.dtype.names is None
    return np.isfinite(a.astype(np.float64)) if is_float else np.ones(a.shape, bool)
