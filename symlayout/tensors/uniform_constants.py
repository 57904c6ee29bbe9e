"""Constants whose elements are all one: which element that is, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.tensors.chain import Tensor


def uniform(a: np.ndarray[Any, Any]) -> Any:
    """Return the common value of all elements of *a*, equal bit for bit; None if they differ.

    >>> print(uniform(np.array([2, 2])), uniform(np.array([0.0, -0.0])))
    2 None
    """
    if not a.size:
        return None
    bits = as_bits(a)
    return a.reshape(-1)[0] if bool((bits == bits.reshape(-1)[0]).all()) else None


def as_bits(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return floats as integers with the same bits: then equal NaNs compare equal, and 0 and -0 do not."""
    a = a.astype(a.dtype.newbyteorder("="), copy=False)
    return a.view(f"u{a.itemsize}") if a.dtype.kind in "fV" and a.itemsize in (1, 2, 4, 8) else a


def everywhere(views: Sequence[Tensor]) -> Any:
    """Return the element that all views read everywhere, a constant; None if there is no such."""
    found = [_constant(view) for view in views]
    first = found[0]
    same = first is not None and all(x is not None and x.tobytes() == first.tobytes() for x in found)
    return first if same else None


def _constant(view: Tensor) -> Any:
    while view.declared is not None:
        if len(view.declared.cases) != 1 or view.declared.cases[0].fill is not None:
            return None
        view = view.inputs[view.declared.cases[0].source]
    return None if view.values is None else uniform(view.values)
