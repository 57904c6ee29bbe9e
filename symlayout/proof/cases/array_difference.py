"""Whether two computed arrays differ by more than rounding explains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.compute.fixed_kinds import where_finite

Array = np.ndarray[Any, Any]
_NOISE = 100  # times what rounding of the inputs changes a side by
_PLAIN = 5  # times what is taken for rounding: the sides differ, whatever laws are granted


@dataclass(frozen=True, slots=True)
class ArrayDifference:
    """Where two computed arrays differ by more than rounding explains.

    Attributes
    ----------
    coord : tuple of int or None
        The coordinate; None if the shapes differ.
    left, right : object
        The two elements there, or the two shapes.
    is_plain : bool
        Whether they differ by more than rounding in another order ever explains.
    """

    coord: tuple[int, ...] | None
    left: Any
    right: Any
    is_plain: bool = True


def difference_of(a: Array, b: Array, again: Callable[[], Array | None]) -> ArrayDifference | None:
    """Return where *a* and *b* differ; None if rounding may explain it.

    *again* returns what *a* becomes if its inputs are `stirred`.  If that has another shape, or cannot be computed,
    rounding may explain everything.
    """
    differs = a.shape != b.shape or ~_near(a, b)
    if not np.any(differs):
        return None
    if a.dtype.kind == "f" or a.shape != b.shape:  # by more than the side itself moves with its inputs?
        moved = again()
        if moved is None or moved.shape != a.shape:
            return None
        if a.shape != b.shape:
            return ArrayDifference(None, a.shape, b.shape)
        with np.errstate(invalid="ignore"):  # infinities explain no difference
            noise = np.abs(moved.astype(np.float64) - a)
            differs &= ~(np.abs(a.astype(np.float64) - b) <= _NOISE * noise)
    apart = np.flatnonzero(differs)
    if not apart.size:
        return None
    plain = np.flatnonzero(differs & ~_near(a, b, _PLAIN))
    places = plain if plain.size else apart
    finite = places[where_finite(a.flat[places]) & where_finite(b.flat[places])]
    coord = tuple(int(c) for c in np.unravel_index((finite if finite.size else places)[0], a.shape))
    return ArrayDifference(coord, a[coord].item(), b[coord].item(), is_plain=bool(plain.size))


def _near(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], times: float = 1.0) -> np.ndarray[Any, Any]:
    """Return where two values are equal, or as near as the same sum in another order, or so many *times* as far."""
    if a.dtype.kind != "c" and not is_float(a.dtype):
        return np.asarray(a == b)
    x, y = (np.asarray(t, np.complex128 if t.dtype.kind == "c" else np.float64) for t in (a, b))
    size = max(np.abs(x[np.isfinite(x)]).max(initial=0), np.abs(y[np.isfinite(y)]).max(initial=0))
    rounding = (0.05 if a.dtype.itemsize < 4 else 1e-3) * times
    return np.isclose(x, y, rtol=rounding, atol=rounding * 1e-2 * size, equal_nan=True)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether elements are floats, those of ml_dtypes too."""
    return dtype.kind == "f" or (dtype.kind == "V" and dtype.names is None)  # a type of ml_dtypes is V
