"""Constants that runtimes compute: whose last bits depend on the runtime, and how far runtimes may be apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute import quantization, scalars
from symlayout.errors import SymlayoutError
from symlayout.maps.evaluate_bodies import stirred
from symlayout.maps.interpreter import interpret
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant

_WHOLE = "biuUSO"  # kinds of elements that are not rounded
_ROUNDED_ALIKE = frozenset(
    {
        *(np.abs, np.add, np.ceil, np.floor, np.multiply, np.negative, np.rint, np.sqrt, np.subtract),
        *(quantization.cast, scalars.divide, scalars.select),
    }
)
"""Functions whose results in floats have the same bits in all runtimes: IEEE 754 rounds them in one way."""


def has_fractions(dtype: np.dtype[Any] | None) -> bool:
    """Return whether elements of a type may be rounded; those of an unknown type may be."""
    return dtype is None or dtype.kind not in _WHOLE


def depends_on_runtime(t: Tensor) -> bool:
    """Return whether runtimes may compute other last bits of a value than NumPy does."""
    for x in t.graph():
        if x.body is None or not has_fractions(x.dtype) or x.body.function in _ROUNDED_ALIKE:
            continue
        if x.body.function is not scalars.power or not scalars.is_power_rounded_alike(*map(interpret, x.inputs)):
            return True
    return False


def rounding_of(t: Tensor, array: np.ndarray[Any, Any]) -> float:
    """Return how far another runtime may be from what NumPy computes: as a change of the last bits of constants is."""
    if array.dtype.kind != "f" or not array.size:
        return 0.0
    moved = {leaf.key: constant(stirred(leaf.values)) for leaf in t.graph() if leaf.values is not None}
    try:
        other = interpret(t.replace(moved))
    except SymlayoutError:  # such as for the end of a range
        return 0.0
    if other.shape != array.shape:
        return 0.0
    with np.errstate(invalid="ignore"):
        apart = np.abs(other.astype(np.float64) - array)
    return float(apart.max()) if np.isfinite(apart).all() else 0.0


def share_of(value: np.ndarray[Any, Any], rounding: float) -> float:
    """Return what part of the largest element *rounding* is."""
    return rounding / size if rounding and (size := largest_of(value)) else 0.0


def largest_of(value: np.ndarray[Any, Any]) -> float:
    """Return the size of the largest element that is finite."""
    array = np.abs(value.astype(np.float64))
    return float(array[np.isfinite(array)].max(initial=0.0))
