"""Exact values of attributes: what a user or a model gives, as Python ints, dims and expressions.

An attribute may be anything that holds integers: ints, NumPy scalars and arrays of any integer type,
lists and tuples, dims and expressions.  ``None`` is a value that is not known; `fill` makes a fresh dim
of it.  Floats and bools are refused, not rounded.  Ranges are not checked here: they belong to the ops.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from symlayout.errors import ShapeError
from symlayout.facts import Facts
from symlayout.symbols import fresh, to_extent


def scalar(name: str, value: Any, low: int) -> Any:
    """Return one integer, dim or expression; ``None`` gives a fresh dim that is at least *low*.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if *value* is a list, ``attr_dtype`` if it is not an integer.
    """
    value = _plain(name, value)
    if _is_list(value):
        raise ShapeError(f"{name} is one integer, got a list of {len(value)}", "length_mismatch")
    return fill(name, [_integer(name, value)], low)[0]


def vector(name: str, value: Any, length: int | None = None) -> list[Any]:
    """Return a list of integers, dims, expressions and ``None``.

    Parameters
    ----------
    name : str
        The attribute, for messages.
    value : Any
        A flat sequence or a 1-D array; ``None`` stands for *length* unknown values.
    length : int or None
        How many values there must be; None accepts any number.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if *value* is nested, no list, or of another length; ``attr_dtype`` if
        an element is not an integer.
    """
    value = _plain(name, value)
    if value is None and length is not None:
        return [None] * length
    if not _is_list(value):
        raise ShapeError(f"{name} is a list of integers, got {value!r:.80}", "length_mismatch")
    if length is not None and len(value) != length:
        raise ShapeError(
            f"{name} has {len(value)} values, the tensor has rank {length}\n"
            "  help: give one value per axis, the batch included",
            "length_mismatch",
        )
    return [_integer(f"{name}[{i}]", _plain(name, v)) for i, v in enumerate(value)]


def pairs(name: str, value: Any, length: int | None) -> list[list[Any]]:
    """Return a list of ``[begin, end]``, as `vector` does for a list.

    ``None`` stands for *length* unknown pairs, and as an element for one unknown pair.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if *value* is not a list of pairs, ``attr_dtype`` if an element is not an integer.
    """
    value = _plain(name, value)
    if value is None and length is not None:
        value = [None] * length
    if not _is_list(value):
        raise ShapeError(f"{name} is a list of [begin, end], got {value!r:.80}", "length_mismatch")
    found = []
    for i, pair in enumerate(value):
        where = f"{name}[{i}]"
        pair = _plain(where, pair)
        if pair is not None and not (_is_list(pair) and len(pair) == 2):
            raise ShapeError(f"{where} is a pair [begin, end], got {pair!r:.80}", "length_mismatch")
        found.append(vector(where, pair, 2))
    return found


def fill(name: str, values: Sequence[Any], low: int) -> list[Any]:
    """Return *values* with a fresh dim, at least *low* and named after *name*, for each ``None``."""
    return [fresh(name, low) if value is None else value for value in values]


def fill_pairs(name: str, values: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return *values* with a fresh dim that is at least 0 for each ``None``."""
    return [fill(name, pair, 0) for pair in values]


def at_least(value: Any, low: int) -> bool:
    """Return whether ``value >= low`` is proved for all values that the dims in it may take."""
    facts = Facts()
    return facts.nonnegative(to_extent(value, facts) - low)


def _plain(name: str, value: Any) -> Any:
    """Return an array as nested lists of Python ints, and anything else as it is."""
    if not hasattr(value, "__array__"):
        return value
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind not in "iuO":
        raise ShapeError(f"{name} has element type {array.dtype}, not an integer type", "attr_dtype")
    return array.tolist()


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _integer(name: str, value: Any) -> Any:
    """Return *value* as an exact integer; dims, expressions and ``None`` pass."""
    if value is None:
        return None
    if _is_list(value):
        raise ShapeError(f"{name} is one integer, got a list of {len(value)}", "length_mismatch")
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            if hasattr(value, "free_symbols"):  # an expression: the op says whether it is an integer
                return value
    raise ShapeError(f"{name} is {value!r:.80}, not an integer", "attr_dtype")
