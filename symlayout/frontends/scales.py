"""Extents and places that runtimes compute with floats: those that are the same in all of them.

The standards say ``floor(n * scale)``, in real numbers.  onnxruntime multiplies in float32, `onnx.reference` in
float64, and OpenVINO adds an epsilon to the scale: of 10 elements, scaled by float32(0.7), they keep 7, 6 and 7.  All
agree, for extents below 2**24 / `MAX_ODD`, if *scale* is a short dyadic fraction.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

MAX_ODD = 1 << 8  # the odd part of a factor whose products are exact
MAX_DENOMINATOR = 1 << 10
_NEAR = Fraction(1, 1 << 18)  # more than what roundings and epsilons add to a factor, relative to it or to 1
_MOST_PLACES = 1 << 16  # that are computed to compare them


def is_dyadic(n: Fraction) -> bool:
    """Return whether products of extents with *n* are exact in float32.

    >>> is_dyadic(Fraction(3, 2)), is_dyadic(Fraction(0.7))
    (True, False)
    """
    odd = abs(n.numerator)
    while odd and odd % 2 == 0:
        odd //= 2
    return odd < MAX_ODD and n.denominator & (n.denominator - 1) == 0 and n.denominator <= MAX_DENOMINATOR


def scaled(n: Any, factor: float | np.floating[Any]) -> Any:
    """Return ``floor(n * factor)``; None if it is not the same in all runtimes.

    >>> from symlayout.language.sympy_bridge import dim
    >>> scaled(9, 0.7), scaled(10, np.float32(0.7)), scaled(dim("H"), 1.5)
    (6, None, floor(3*H/2))
    """
    exact = Fraction(float(factor))
    if is_dyadic(exact):
        return n * exact.numerator // exact.denominator
    return _floor_near(n * exact, n * _above_1(exact)) if isinstance(n, int) else None


def rounded(n: Any, ratio: Fraction) -> Any:
    """Return ``floor(n * ratio + 1/2)``; None if it is not the same in all runtimes."""
    if not isinstance(n, int):
        return None
    value, size = n * ratio + Fraction(1, 2), n * _above_1(ratio)
    if is_dyadic(ratio):
        return math.floor(value)
    below = _floor_near(value - size * _NEAR, size)
    return below if below == math.floor(value) else None


def _above_1(factor: Fraction) -> Fraction:
    return factor if factor > 1 else Fraction(1)


def _floor_near(value: Fraction, size: Any) -> int | None:
    """Return the floor of a number that runtimes have a little too large, but not below an integer that it reaches."""
    low = math.floor(value)
    return low if low + 1 - value > size * _NEAR else None


def same_places(n: Any, extent: Any, scale: Fraction, mode: str) -> bool:
    """Return whether all runtimes read the same nearest elements of *n*, for *extent* results.

    They compute ``o / scale`` in float32, or ``(o + 1/2) / scale`` if *mode* is ``"half_pixel"``, where the scale has
    no rounding of one half.
    """
    if is_dyadic(scale):
        return True
    if not isinstance(n, int) or not isinstance(extent, int) or not extent <= _MOST_PLACES:
        return False
    half = int(mode == "half_pixel")
    o = np.arange(extent, dtype=np.int64)
    exact = (2 * o + half) * scale.denominator // (2 * scale.numerator)
    factor = np.float32(scale.numerator) / np.float32(scale.denominator)
    place = (o.astype(np.float32) + np.float32(half / 2)) / factor
    if not half:
        return bool(np.array_equal(np.floor(place), exact))
    return bool(np.array_equal(np.ceil(place - np.float32(1)), exact))
