"""What StableHLO's modules compute with sizes: comparisons, signs and remainders of numbers that have expressions.

JAX writes the quotient of two sizes with the operations for integers of any sign.  Where the signs are known, a
comparison is true or false, and a choice by it is one of its sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.errors import InconclusiveError, SymlayoutError
from symlayout.models.arithmetic.shape_arithmetic import ShapeNodes
from symlayout.models.formats.pt2_expressions import SizeGuard
from symlayout.models.model import Value

SIGNS = {"EQ": "==", "NE": "!=", "GE": ">=", "GT": ">", "LE": "<=", "LT": "<"}
Array = np.ndarray[Any, Any]
_MOST = 64  # elements


def is_of_sizes(inputs: Sequence[Value | None]) -> bool:
    """Return whether all operands are few numbers of known values, some of which are expressions in dims."""
    arrays = [v for v in inputs if isinstance(v, np.ndarray)]
    return (
        len(arrays) == len(inputs) and any(v.dtype == object for v in arrays) and all(v.size <= _MOST for v in arrays)
    )


def compared(shapes: ShapeNodes, direction: str, a: Array, b: Array) -> Array | None:
    """Return the truth of a comparison of each two numbers; None if one is not decided."""
    return _each(lambda x, y: _truth(shapes, direction, x, y), a, b)


def _truth(shapes: ShapeNodes, direction: str, a: Any, b: Any) -> bool | None:
    if isinstance(a, bool | np.bool_) or isinstance(b, bool | np.bool_):
        if not isinstance(a, bool | np.bool_) or not isinstance(b, bool | np.bool_):
            return None
        a, b = int(a), int(b)
    if direction in ("EQ", "NE"):
        equal = a == b or (isinstance(a - b, int) and a - b == 0)
        apart = not equal and (shapes.at_least(a - b, 1) or shapes.at_least(b - a, 1))
        return None if not (equal or apart) else equal == (direction == "EQ")
    if direction in ("LE", "LT"):
        a, b, direction = b, a, {"LE": "GE", "LT": "GT"}[direction]
    least = int(direction == "GT")
    if shapes.at_least(a - b, least):
        return True
    return False if shapes.at_least(b - a, 1 - least) else None


def sign(shapes: ShapeNodes, a: Array) -> Array | None:
    """Return the signs of numbers; None if one is not known."""
    return _each(lambda x: 1 if shapes.at_least(x, 1) else 0 if x == 0 else -1 if shapes.at_least(-x, 1) else None, a)


def remainder(shapes: ShapeNodes, a: Array, b: Array) -> Array | None:
    """Return remainders with the signs of the dividends; None unless no number is negative and divisors are not 0."""

    def one(x: Any, y: Any) -> Any:
        if not (shapes.at_least(x, 0) and shapes.at_least(y, 1)):
            return None
        return shapes.compute("Mod", [np.array(x, object), np.array(y, object)], {}, "remainder")[0].item()

    return _each(one, a, b)


def _each(function: Callable[..., Any], *arrays: Array) -> Array | None:
    spread = np.broadcast_arrays(*(v.astype(object) for v in arrays))
    found = []
    for numbers in zip(*(v.reshape(-1) for v in spread), strict=True):
        try:
            made = function(*numbers)
        except (InconclusiveError, SymlayoutError):
            made = None
        if made is None:
            return None
        found.append(made)
    result = np.empty(len(found), object)
    result[:] = found
    shaped = result.reshape(spread[0].shape)
    return shaped.astype(bool) if found and all(isinstance(e, bool) for e in found) else shaped


def decided(name: str, inputs: Sequence[Value | None]) -> Value | None:
    """Return the result of ``and``, ``or`` or ``select`` that one known operand decides; None if none does."""
    if name == "select":
        (first, *sides) = inputs
        known = _known_truth(first)
        return None if known is None else sides[0 if known else 1]
    wanted = {"and": False, "or": True}.get(name)
    for value in inputs:
        if wanted is not None and _known_truth(value) is wanted:
            return value
    return None


def _known_truth(value: Value | None) -> bool | None:
    """Return the one truth that all elements have; None if they are not known, or differ."""
    if not isinstance(value, np.ndarray) or not value.size or value.size > _MOST:
        return None
    entries = value.reshape(-1).tolist()
    return entries[0] if all(type(e) is bool for e in entries) and len(set(entries)) == 1 else None


def guard_of(direction: str, a: Array, b: Array) -> SizeGuard | None:
    """Return the condition that a comparison of two numbers states; None for arrays."""
    return SizeGuard(a.item(), SIGNS[direction], b.item()) if a.size == b.size == 1 else None
