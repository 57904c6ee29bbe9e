"""Element types that change: casts, quantisation and its inverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute.elementwise import elementwise
from symlayout.compute.scalars import is_narrow
from symlayout.compute.trace import elements
from symlayout.errors import ShapeError
from symlayout.ops.axes import expand_dims
from symlayout.ops.resize import resize_nearest
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body

Array = np.ndarray[Any, Any]
_INTEGER_RANGES = {"uint4": (0, 15), "int4": (-8, 7), "uint2": (0, 3), "int2": (-2, 1)}


def is_float8(dtype: Any) -> bool:
    """Return whether elements are floats of 8 bits; None is a type that is not known."""
    return dtype is not None and bool(dtype.name.startswith("float8"))


def _largest(dtype: Any) -> float:
    """Return the largest finite value of a type of 8 bits: that of the pattern before infinity or NaN."""
    patterns = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float32)
    return float(np.max(patterns[np.isfinite(patterns)]))


def cast(x: Array, to: Any, saturate: bool = True, round_mode: str = "up") -> Array:
    """Return elements in another type; those too large for a float of 8 bits become its largest if *saturate*."""
    if x.dtype.kind in "SUO" and to.kind not in "SU":
        return elements(x.astype(np.float64) if to.kind in "fV" else x.astype(to)).astype(to)
    if to.kind in "SU":
        return elements(x.astype(np.float32).astype(to) if x.dtype.name == "bfloat16" else x.astype(to))
    if to.name == "float8_e8m0fnu":
        return _power_of_two(x.astype(np.float32), to, saturate, round_mode)
    if is_float8(to):
        v = x.astype(np.float32)
        if saturate:
            top = _largest(to)
            return np.clip(v, -top, top).astype(to)
        return v.astype(to)
    if to.name in _INTEGER_RANGES and x.dtype.kind in "fV" and not x.dtype.name.startswith(("int", "uint")):
        return np.rint(x.astype(np.float32)).astype(np.int32).astype(to)
    if to.kind == "b":
        return elements(x.astype(np.float32) != 0 if x.dtype.kind == "V" else x.astype(to))
    return x.astype(to)


def _power_of_two(x: Array, to: Any, saturate: bool, round_mode: str) -> Array:
    """Return the power of two that is next to *x*: ``"up"``, ``"down"`` or ``"nearest"``."""
    bits = x.view(np.uint32)
    exponent = ((bits >> 23) & 0xFF).astype(np.int32)
    part = bits & 0x7FFFFF
    if round_mode == "up":
        exponent = exponent + (part > 0)
    elif round_mode == "nearest":
        exponent = exponent + (part >= 0x400000)
    top = 254 if saturate else 255
    exponent = np.where(np.isnan(x), 255, np.minimum(exponent, np.where(np.isinf(x), top, top)))
    return exponent.astype(np.uint8).view(to)


def bits(x: Array, to: Any) -> Array:
    """Return the same bits as elements of another type."""
    return elements(np.ascontiguousarray(x).view(to).reshape(x.shape))


def quantized(x: Array, scale: Array, *zero: Array, to: Any, saturate: bool = True, precision: Any = None) -> Array:
    """Return ``x / scale``, rounded half to even, plus the zero point, within the range of the type *to*."""
    if precision is not None:
        v = x.astype(precision) / scale.astype(precision)
    else:
        v = x / scale if x.dtype == scale.dtype else x.astype(np.float32) / scale.astype(np.float32)
    if to.kind in "iu" or to.name in _INTEGER_RANGES:
        low, high = _INTEGER_RANGES.get(to.name) or (np.iinfo(to).min, np.iinfo(to).max)
        whole = np.rint(v.astype(np.float32) if is_narrow(v.dtype) else v)
        if zero:
            whole = whole + zero[0].astype(whole.dtype)
        return elements(np.clip(whole, low, high).astype(np.int32).astype(to))
    if zero and not is_float8(to):
        v = v + zero[0].astype(v.dtype)
    return cast(v, to, saturate)


def dequantized(x: Array, scale: Array, *zero: Array, to: Any = None) -> Array:
    """Return ``(x - zero) * scale`` in the type *to*, or in that of the scale."""
    v = x.astype(np.float32)
    if zero and not is_float8(x.dtype):
        v = v - zero[0].astype(np.float32)
    return elements(v * scale.astype(np.float32)).astype(scale.dtype if to is None else to)


def as_real(x: Array) -> Array:
    """Return integers in float32, as a number of a form is one."""
    return x.astype(np.float32)


def looked_up(x: Array, table: tuple[float, ...]) -> Array:
    """Return the number of a table that each code stands for, in float32."""
    return elements(np.take(np.asarray(table, np.float32), x))


def spread_along(p: Tensor, x: Tensor, axis: int, block: int) -> Tensor:
    """Return parameters of quantisation as a tensor that is broadcast with *x*.

    They are one for all elements, one for each coordinate of *axis*, or one for each *block* of it.

    Raises
    ------
    ShapeError
        ``rank`` if they are neither.
    """
    if p.rank == 0 or (p.rank == 1 and p.extents == (1,)):
        return p
    if block:
        if p.rank != x.rank:
            raise ShapeError(f"the parameters of blocks have rank {p.rank}, not {x.rank}", "rank")
        spread = resize_nearest(p, scale=block, axes=axis)
        if spread.extents[axis] != x.extents[axis]:  # the last block has fewer elements
            spread = getitem(spread, (*(slice(None),) * axis, slice(0, x.shape[axis])), bounds="exact")
        return spread
    if p.rank != 1:
        raise ShapeError(f"the parameters of an axis have rank {p.rank}, not 1", "rank")
    return expand_dims(p, list(range(1, x.rank - axis))) if axis < x.rank - 1 else p


def per_channel(
    function: Callable[..., Any], x: Tensor, parameters: list[Tensor], axis: int, block: int, given: Any, dtype: Any
) -> Tensor:
    """Return an elementwise function of *x* and of parameters of quantisation."""
    body = Body(function.__name__, function, given)
    return elementwise(body, x, *(spread_along(p, x, axis, block) for p in parameters), dtype=dtype)


def rounded_to_uint8(x: Array) -> Array:
    """Return elements rounded half to even, from 0 to 255."""
    return elements(np.clip(np.rint(np.nan_to_num(x)), 0, 255).astype(np.uint8))


def to_text(x: Array) -> Array:
    """Return elements as texts, as C++ writes them."""
    return np.asarray([_text(v) for v in x.reshape(-1).tolist()], np.dtype("U32")).reshape(x.shape)


def _text(value: Any) -> str:
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if abs(value) == np.inf:
            return "INF" if value > 0 else "-INF"
    return str(value)
