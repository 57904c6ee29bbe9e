"""Functions of single elements in NumPy, which the bodies of elementwise operations name.

Types of 16 bits or fewer are computed in float32 and rounded once.  Functions of NumPy do so themselves.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute.trace import elements

Array = np.ndarray[Any, Any]

_CLEAR = 0.4  # units in the last place from a float at which another one is not mistaken for it
_NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def is_narrow(dtype: Any) -> bool:
    """Return whether *dtype* is a float type of 16 bits or fewer."""
    return dtype.name in _NARROW


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function compute narrow floats in float32; the result has the type of the first operand.

    >>> widened(np.square)(np.float16([3]))
    array([9.], dtype=float16)
    """

    @functools.wraps(function)
    def computed(*arrays: Array, **attributes: Any) -> Array:
        dtype = arrays[0].dtype
        if not is_narrow(dtype):
            return elements(function(*arrays, **attributes))
        wide = (a.astype(np.float32) if is_narrow(a.dtype) else a for a in arrays)
        return elements(function(*wide, **attributes)).astype(dtype)

    return computed


def divide(x: Array, y: Array) -> Array:
    """Return the quotient; that of integers is cut towards 0, and is 0 where the divisor is 0."""
    if x.dtype.kind not in "iu":
        return elements(np.divide(x, y))
    quotient = np.floor_divide(x, y)
    cut = (quotient < 0) & (quotient * y != x)
    return elements(quotient + cut.astype(x.dtype))


def modulo(x: Array, y: Array, fmod: int = 0) -> Array:
    """Return the remainder: with the sign of the divisor, or as C's ``fmod`` with that of the dividend."""
    return elements(np.fmod(x, y) if fmod else np.mod(x, y))


def is_power_rounded_alike(x: Array, y: Array) -> bool:
    """Return whether every library that is off by less than 0.6 units in the last place computes these powers alike.

    A cube may be computed as a product that is rounded twice.

    Examples
    --------
    >>> x = np.float32([8, 6])
    >>> [is_power_rounded_alike(each, np.float32(-0.5)) for each in x]
    [True, False]
    """
    if x.dtype != np.float32 or y.dtype.kind not in "fiu" or np.any(y == 3):
        return False
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
        rounded = exact.astype(np.float32)
        off = np.abs(exact - rounded) / np.spacing(np.abs(rounded))
    least = np.finfo(np.float32).tiny
    return bool(np.all(np.isfinite(rounded) & (np.abs(rounded) >= least) & (off < _CLEAR)))


def _to_the(x: Array, y: Array) -> Array:
    """Return ``x ** y``; NumPy takes a single exponent 0.5 for a root, which is another number at -0.0 and -inf.

    >>> _to_the(np.array([-0.0, -np.inf]), np.array(0.5))
    array([ 0., inf])
    """
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):  # a body is traced
        return elements(np.power(x, y))
    shape = np.broadcast_shapes(x.shape, y.shape)
    each = np.empty(shape or (1,), y.dtype)
    each[...] = y
    return np.asarray(np.power(np.broadcast_to(x, each.shape), each)).reshape(shape)


def power(x: Array, y: Array) -> Array:
    """Return ``x ** y`` in the type of *x*; a square is rounded correctly."""
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        return elements(np.power(x.astype(np.int64), np.maximum(y, 0)) * (y >= 0)).astype(x.dtype)
    if is_narrow(x.dtype) or x.dtype == np.float32:  # NumPy's own may be another float than the next one
        return elements(_to_the(x.astype(np.float64), y.astype(np.float64))).astype(x.dtype)
    if x.dtype == np.float64:  # so may that of a square
        return np.where(y == 2, x * x, _to_the(x, y))
    return elements(_to_the(x.astype(np.result_type(x, np.float32)), y)).astype(x.dtype)


def shift(x: Array, y: Array, direction: str) -> Array:
    """Return the bits of *x* shifted by *y* to the ``"LEFT"`` or to the ``"RIGHT"``."""
    return elements(np.left_shift(x, y) if direction == "LEFT" else np.right_shift(x, y))


def select(x: Array, y: Array, condition: Array) -> Array:
    """Return *x* where the condition holds, else *y*."""
    return np.where(condition, x, y)


def relu(x: Array) -> Array:
    """Return the larger of *x* and 0; that of -0.0 is 0.0."""
    return elements(np.maximum(x, x.dtype.type(0)) + x.dtype.type(0))


@widened
def leaky_relu(x: Array, alpha: float = 0.01) -> Array:
    """Return *x*, times *alpha* where it is negative."""
    return np.where(x < 0, x * x.dtype.type(alpha), x)


def prelu(x: Array, slope: Array) -> Array:
    """Return *x*, times *slope* where it is negative."""
    return np.where(x < 0, x * slope, x)


def thresholded_relu(x: Array, alpha: float = 1.0) -> Array:
    """Return *x* where it exceeds *alpha*, else 0."""
    return np.where(x > x.dtype.type(alpha), x, x.dtype.type(0))


@widened
def elu(x: Array, alpha: float = 1.0) -> Array:
    """Return *x*, and ``alpha * (exp(x) - 1)`` where it is negative."""
    return np.where(x < 0, x.dtype.type(alpha) * (np.exp(np.minimum(x, 0)) - 1), x)


@widened
def celu(x: Array, alpha: float = 1.0) -> Array:
    """Return ``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``."""
    a = x.dtype.type(alpha)
    return elements(np.maximum(x, 0) + np.minimum(0, a * (np.exp(np.minimum(x, 0) / a) - 1)))


@widened
def selu(x: Array, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Array:
    """Return *gamma* times `elu`."""
    return elements(x.dtype.type(gamma) * np.where(x > 0, x, x.dtype.type(alpha) * (np.exp(np.minimum(x, 0)) - 1)))


@widened
def sigmoid(x: Array) -> Array:
    """Return ``1 / (1 + exp(-x))``, computed without overflow."""
    e = np.exp(-np.abs(x))
    return elements(np.where(x >= 0, 1, e) / (1 + e)).astype(x.dtype)


@widened
def hard_sigmoid(x: Array, alpha: float = 0.2, beta: float = 0.5) -> Array:
    """Return ``alpha * x + beta`` between 0 and 1."""
    return elements(np.clip(x * x.dtype.type(alpha) + x.dtype.type(beta), 0, 1))


@widened
def hard_swish(x: Array) -> Array:
    """Return ``x * hard_sigmoid(x)`` with slope 1/6."""
    return elements(x * np.clip(x * x.dtype.type(1 / 6) + x.dtype.type(0.5), 0, 1))


@widened
def swish(x: Array, alpha: float = 1.0) -> Array:
    """Return ``x * sigmoid(alpha * x)``."""
    return elements(x * sigmoid(x.dtype.type(alpha) * x))


@widened
def softplus(x: Array) -> Array:
    """Return ``log(1 + exp(x))``, computed without overflow."""
    return elements(np.logaddexp(x, x.dtype.type(0)))


@widened
def softsign(x: Array) -> Array:
    """Return ``x / (1 + |x|)``."""
    return elements(x / (1 + np.abs(x)))


@widened
def mish(x: Array) -> Array:
    """Return ``x * tanh(softplus(x))``."""
    return elements(x * np.tanh(softplus(x)))


@widened
def gelu(x: Array, approximate: str = "none") -> Array:
    """Return *x* times the normal distribution function, or times its approximation by ``"tanh"``."""
    t = x.dtype.type
    if approximate == "tanh":
        inner = t(math.sqrt(2 / math.pi)) * (x + t(0.044715) * x * x * x)
        return elements(t(0.5) * x * (1 + np.tanh(inner)))
    return elements(t(0.5) * x * (1 + erf(x / t(math.sqrt(2)))))


@widened
def erf(x: Array) -> Array:
    """Return the error function, computed in double precision."""
    return np.asarray(_ERF(x.astype(np.float64))).astype(x.dtype)


_ERF = np.frompyfunc(math.erf, 1, 1)


@widened
def shrink(x: Array, bias: float = 0.0, lambd: float = 0.5) -> Array:
    """Return *x* moved towards 0 by *bias*, and 0 where it is within *lambd* of 0.

    Integers are moved as real numbers, which are then rounded towards 0.
    """
    t = x.dtype.type if x.dtype.kind == "f" else np.float64
    return elements(np.where(x < -lambd, x + t(bias), np.where(x > lambd, x - t(bias), t(0))).astype(x.dtype))


@widened
def reciprocal(x: Array) -> Array:
    """Return ``1 / x``."""
    return elements(x.dtype.type(1) / x)


def sign(x: Array) -> Array:
    """Return -1, 0 or 1; that of NaN is NaN."""
    made = ((x > 0).astype(np.int8) - (x < 0).astype(np.int8)).astype(x.dtype)
    return elements(np.where(x == x, made, x))


def is_infinite(x: Array, detect_negative: int = 1, detect_positive: int = 1) -> Array:
    """Return whether *x* is an infinity of a sign that is detected."""
    if is_narrow(x.dtype):
        x = x.astype(np.float32)
    return elements(np.isinf(x) & (((x < 0) & bool(detect_negative)) | ((x > 0) & bool(detect_positive))))


def is_nan(x: Array) -> Array:
    """Return whether *x* is not a number."""
    return elements(x != x)


@widened
def rounded_away(x: Array) -> Array:
    """Return the nearest integer; of two, the one that is farther from 0."""
    cut = np.trunc(x)
    return elements(np.where(np.abs(x - cut) >= x.dtype.type(0.5), cut + np.sign(x), cut))


@widened
def quantized_levels(x: Array, low: Array, high: Array, bottom: Array, top: Array, levels: int) -> Array:
    """Return *x* rounded to one of *levels* between *low* and *high*, as the same level between *bottom* and *top*."""
    steps = x.dtype.type(levels - 1)
    number = np.rint((x - low) / (high - low) * steps)
    inside = number / steps * (top - bottom) + bottom
    return np.where(x <= np.minimum(low, high), bottom, np.where(x > np.maximum(low, high), top, inside))


def scaled(x: Array, factor: float) -> Array:
    """Return *x* times a number, in the type of *x*."""
    if x.dtype.kind in "iu":
        return elements(x * factor).astype(x.dtype)
    return elements(x * x.dtype.type(factor))


def joined_text(x: Array, y: Array) -> Array:
    """Return texts one after the other."""
    return elements(np.strings.add(x, y))


def shifted(x: Array, y: Array, left: bool, signed: bool) -> Array:
    """Return the bits of *x* moved by *y*; all of them go out where *y* is not below their number.

    *signed* says whether the bits that come in on the left are copies of the first one.

    >>> shifted(np.int8([-4, -4]), np.int8([1, 9]), False, False).tolist()
    [126, 0]
    """
    width = 8 * x.dtype.itemsize
    bits = x if left or signed == (x.dtype.kind == "i") else x.view(x.dtype.str.replace(*("iu", "ui")[signed]))
    distance = y.view(y.dtype.str.replace("i", "u"))
    inside = np.minimum(distance, width - 1).astype(bits.dtype)
    moved = np.left_shift(bits, inside) if left else np.right_shift(bits, inside)
    rest = bits.dtype.type(0) if left or not signed else np.right_shift(bits, bits.dtype.type(width - 1))
    return elements(np.where(distance < width, moved, rest).view(x.dtype))


def number_of_ones(x: Array) -> Array:
    """Return how many bits of *x* are 1.

    >>> number_of_ones(np.int8([-1, 6])).tolist()
    [8, 2]
    """
    unsigned = x.view(x.dtype.str.replace("i", "u"))
    one = unsigned.dtype.type(1)
    bits = [(unsigned >> unsigned.dtype.type(k)) & one for k in range(8 * x.dtype.itemsize)]
    return elements(np.sum(bits, axis=0)).astype(x.dtype)


def leading_zeros(x: Array) -> Array:
    """Return how many bits of *x* are 0 before the first one that is 1.

    >>> leading_zeros(np.int8([0, 1, -1])).tolist()
    [8, 7, 0]
    """
    unsigned = x.view(x.dtype.str.replace("i", "u"))
    small = [unsigned < unsigned.dtype.type(1 << k) for k in range(8 * x.dtype.itemsize)]
    return elements(np.sum(small, axis=0)).astype(x.dtype)


@widened
def log1p(x: Array) -> Array:
    """Return the logarithm of ``1 + x``, without the rounding of the sum."""
    return elements(np.log1p(x))


@widened
def expm1(x: Array) -> Array:
    """Return ``exp(x) - 1``, without the rounding of the difference."""
    return elements(np.expm1(x))


@widened
def cube_root(x: Array) -> Array:
    """Return the cube root, which has the sign of *x*."""
    return elements(np.cbrt(x))


@widened
def angle_of(y: Array, x: Array) -> Array:
    """Return the angle of the point (x, y), from -pi to pi."""
    return elements(np.arctan2(y, x))


def is_finite(x: Array) -> Array:
    """Return whether *x* is neither an infinity nor not a number."""
    return elements(np.isfinite(x))


def real_part(x: Array) -> Array:
    """Return the real part of a number."""
    return elements(np.real(x))


def imaginary_part(x: Array) -> Array:
    """Return the imaginary part of a number."""
    return elements(np.imag(x))


def complex_number(x: Array, y: Array) -> Array:
    """Return the complex number with these parts."""
    made = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.result_type(x.dtype, np.complex64))
    made.real, made.imag = x, y
    return made
