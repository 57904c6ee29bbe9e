"""The inputs of chains: named tensors with a shape, which take arrays when the chain is computed."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

from symlayout import facade
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, symbol
from symlayout.errors import FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.group_patterns import has_group
from symlayout.language.parse import evaluate, names_of, parse_shape
from symlayout.tensors.chain import ASSUMED, EMPTY, Tensor
from symlayout.tensors.declaration import Operand, as_list
from symlayout.tensors.element_types import element_type

if TYPE_CHECKING:
    import numpy as np

_UNNAMED = itertools.count()
_PROCESS = os.urandom(8).hex()  # with the process id, tells unnamed leaves of different processes apart


def tensor(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Return a leaf: a named input with a shape and, if given, an element type.

    Parameters
    ----------
    shape : sequence or str
        Each entry is an int, a dim, an expression, ``None`` or ``-1`` (an unknown extent, which becomes a new dim), or
        ``(lo, hi)`` (a new dim with these bounds; *hi* None is unbounded).  A string such as ``"N, 2*h, 2*w, C"``
        names dims >= 0.  In a string, ``*S`` stands for any number of axes (`symlayout.any_rank.AnyRankTensor`).
    dtype : dtype_like, optional
        The element type; None accepts arrays of any fixed-size type.
    name : str, optional
        The name of the leaf.  Leaves with the same name are the same input.

    Raises
    ------
    ShapeError
        ``unknown_rank`` if *shape* is None, ``infeasible`` for a negative extent or an empty interval, ``dim_conflict``
        if two dims share a name, ``overflow`` beyond int64, ``attr_dtype`` for an entry that is not an integer.
    FormatError
        The string is not a shape, or *name* is not an identifier.

    Examples
    --------
    >>> tensor("N, 2*h", name="x")
    Tensor(x: (N, 2*h))
    """
    if shape is None:
        raise ShapeError(
            "the rank is unknown\n  help: give one entry for each axis; None is an unknown extent",
            "unknown_rank",
        )
    if name is not None and not (isinstance(name, str) and name.isidentifier()):
        raise FormatError(f"tensor name {shown(name)} is not an identifier")
    if isinstance(shape, str) and has_group(shape):
        return facade.any_rank_tensor(shape, dtype, name)  # type: ignore[no-any-return]
    label = name or "x"
    facts = Facts()
    if isinstance(shape, str):
        entries = _parsed(shape)
    else:
        entries = as_list(shape) if not hasattr(shape, "free_symbols") else [shape]
    extents = tuple(_entry(entry, axis, label, facts) for axis, entry in enumerate(entries))
    operand = Operand((extents,), facts, f"tensor {label}")
    for axis, e in enumerate(extents):
        operand.require(e, "infeasible", "extent {} of axis {} is negative", e, axis)
    operand.check_countable(extents)
    facts = operand.facts
    leaf = Tensor(
        label,
        _dtype(dtype),
        tuple(facts.reduce(e) for e in extents),
        facts,
        key=name or unnamed_key("x"),
    )
    assumed = ASSUMED.get()
    return leaf if assumed is None else assumed(leaf, ())


def unnamed_key(label: str) -> str:
    """Return a key for a leaf without a name, which no other leaf of any process has."""
    return f"{label}.{next(_UNNAMED)}.{os.getpid()}.{_PROCESS}"


def _entry(entry: Any, axis: int, label: str, facts: Facts) -> Extent:
    if entry is None or (type(entry) is int and entry == -1):
        return _interval(0, None, axis, label, facts)
    if isinstance(entry, (tuple, list)):
        if len(entry) != 2:
            raise ShapeError(f"axis {axis}: {shown(entry)} is not an interval (lo, hi)", "length_mismatch")
        low = sympy_bridge.to_extent(entry[0], facts, f"axis {axis}")
        high = None if entry[1] is None else sympy_bridge.to_extent(entry[1], facts, f"axis {axis}")
        if not isinstance(low, int) or not (high is None or isinstance(high, int)):
            raise ShapeError(f"axis {axis}: the bounds of an interval are integers", "attr_dtype")
        return _interval(low, high, axis, label, facts)
    return sympy_bridge.to_extent(entry, facts, f"axis {axis}")


def empty_source(dtype: Any = None) -> Tensor:
    """Return the leaf that constants read: it has no elements and takes no array, so every read gives the fill."""
    return Tensor("empty", _dtype(dtype), (0,), Facts(), key=EMPTY)


def _interval(low: int, high: int | None, axis: int, label: str, facts: Facts) -> Extent:
    if low < 0:
        raise ShapeError(f"axis {axis}: lower bound {low} is negative", "infeasible")
    if low == high:
        return low  # a number instead of a dim
    dim = Dim(f"{label}.{axis}", low, high)
    facts.declare(dim)
    return symbol(dim.name)


def _parsed(text: str) -> list[Any]:
    entries = parse_shape(text)
    named = {name: sympy_bridge.dim(name, *limits) for name, limits in names_of(*entries).items()}
    return [evaluate(entry, named) for entry in entries]


def _dtype(dtype: Any) -> np.dtype[Any] | None:
    if dtype is None:
        return None
    return element_type(dtype)
