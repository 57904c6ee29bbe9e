"""Read attributes of users and models exactly, as Python ints, dims and expressions.

An attribute may be anything that holds integers: ints, NumPy scalars and arrays of any integer type,
lists and tuples, dims and expressions.  ``None`` is an unknown value; `fill` makes a fresh dim
of it.  Floats and bools are refused, not rounded.  The ops check ranges.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Collection, Sequence
from typing import Any

from symlayout.algebra.facts import INT64_MAX
from symlayout.errors import ShapeError, shown
from symlayout.frontends.registry import NotDeclaredError
from symlayout.language.sympy_bridge import fresh, whole
from symlayout.tensors.chain import Tensor

MAX_VALUES = 1 << 16


def scalar(name: str, value: Any, low: int) -> Any:
    """Return one integer, dim or expression; ``None`` gives a fresh dim that is at least *low*.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if *value* is a list, ``attr_dtype`` if it is not an integer.
    """
    if _is_short(value):
        return value
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
    most = MAX_VALUES if length is None else length
    if type(value) in (list, tuple) and (length or 0) <= len(value) <= most and _are_short(value):
        return list(value)
    value = _plain(name, value)
    if value is None and length is not None:
        return [None] * length
    if not _is_list(value):
        raise ShapeError(f"{name} is a list of integers, got {shown(value)}", "length_mismatch")
    if length is None and len(value) > MAX_VALUES:
        raise ShapeError(f"{name} has more than {MAX_VALUES} values", "length_mismatch")
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
        raise ShapeError(f"{name} is a list of [begin, end], got {shown(value)}", "length_mismatch")
    found = []
    for i, pair in enumerate(value):
        where = f"{name}[{i}]"
        pair = _plain(where, pair)
        if pair is not None and not (_is_list(pair) and len(pair) == 2):
            raise ShapeError(f"{where} is a pair [begin, end], got {shown(pair)}", "length_mismatch")
        found.append(vector(where, pair, 2))
    return found


def fill(name: str, values: Sequence[Any], low: int) -> list[Any]:
    """Return *values* with a fresh dim, at least *low* and named after *name*, for each ``None``."""
    return [fresh(name, low) if value is None else value for value in values]


def fill_pairs(name: str, values: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return *values* with a fresh dim that is at least 0 for each ``None``."""
    return [fill(name, pair, 0) for pair in values]


def listed(name: str, value: Any, length: int | None = None) -> list[Any]:
    """Return the list that `vector` returns; a single value becomes a list of one."""
    value = _plain(name, value)
    return vector(name, value if value is None or _is_list(value) else [value], length)


def each(name: str, value: Any, length: int) -> list[Any]:
    """Return a list of *length*, as `vector` does; a single value is repeated."""
    value = _plain(name, value)
    return vector(name, value if value is None or _is_list(value) else [value] * length, length)


def constants(name: str, value: Any) -> list[int]:
    """Return a list of known ints, such as axes; a single value becomes a list of one.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if one is unknown or symbolic, and what `vector` raises.
    """
    found = listed(name, value)
    for i, v in enumerate(found):
        if not isinstance(v, int):
            raise ShapeError(f"{name}[{i}] is {v}, it has to be a known integer", "attr_dtype")
    return found


def constant(name: str, value: Any) -> int:
    """Return one int, as `constants` does; ``length_mismatch`` if it is a list."""
    value = _plain(name, value)
    if _is_list(value):
        raise ShapeError(f"{name} is one integer, got a list of {len(value)}", "length_mismatch")
    return constants(name, [value])[0]


def number(name: str, value: Any) -> float:
    """Return one number, which may be written as text; ``attr_dtype`` for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"{name} is {shown(value)}, no number", "attr_dtype") from None


def flag(name: str, value: Any) -> bool:
    """Return a truth value, which may be written as 0 or 1; ``attr_dtype`` for anything else.

    Standards do not say what other numbers mean, and runtimes differ: in a model, they make an operation opaque.
    """
    if type(value) in (bool, int) and value in (0, 1):
        return bool(value)
    value = _plain(name, value)
    if value not in (0, 1) or isinstance(value, float):
        raise NotDeclaredError(f"{name} is {shown(value)}, neither true nor false", "attr_dtype")
    return bool(value)


def choice(name: str, value: Any, known: Collection[str]) -> str:
    """Return a mode, which must be exactly one of *known*; ``bad_mode`` otherwise."""
    if not isinstance(value, str) or value not in known:
        raise ShapeError(f"{name} is {shown(value)}, none of {', '.join(map(repr, known))}", "bad_mode")
    return value


def fill_value(name: str, value: Any) -> Any:
    """Return the value of a fill; None is 0, ``length_mismatch`` for a list."""
    if _is_list(value) or getattr(value, "ndim", 0) > 0:
        raise ShapeError(f"{name} is one value, got {shown(value)}", "length_mismatch")
    return 0 if value is None else value


def axes(name: str, value: Any, rank: int) -> list[int]:
    """Return axes as ``0 <= axis < rank``, each once; negative ones count from the end.

    Raises
    ------
    ShapeError
        ``bad_axis`` outside ``[-rank, rank)``, and what `constants` raises.
    """
    found = constants(name, value)
    for axis in found:
        if not -rank <= axis < rank:
            raise ShapeError(f"{name} has {axis}, out of range for rank {rank}", "bad_axis")
    return list(dict.fromkeys(axis % rank for axis in found))


def axis(name: str, value: Any, rank: int) -> int:
    """Return one axis, as `axes` does; ``bad_axis`` if it is a list with none or several."""
    if len(listed(name, value)) != 1:
        raise ShapeError(f"{name} is one axis, got {shown(value)}", "bad_axis")
    return axes(name, value, rank)[0]


def distinct(name: str, value: Any, rank: int) -> list[int]:
    """Return axes as `axes` does; ``bad_axis`` if an axis is repeated."""
    found = axes(name, value, rank)
    if len(found) < len(listed(name, value)):
        raise ShapeError(f"{name} is {value}, which repeats an axis", "bad_axis")
    return found


def permutation(name: str, value: Any) -> list[int]:
    """Return the axes of a permutation; ``bad_axis`` for negative ones, which the framework does not have."""
    found = constants(name, value)
    if any(axis < 0 for axis in found):
        raise ShapeError(f"{name} is {found}: axes count from 0 here", "bad_axis")
    return found


def copied_axes(name: str, shape: Sequence[Any], rank: int) -> list[int]:
    """Return the positions of 0 in a shape, which copy extents; ``bad_axis`` if there is no extent to copy."""
    copied = [k for k, n in enumerate(shape) if isinstance(n, int) and n == 0]
    if copied and copied[-1] >= rank:
        raise ShapeError(f"{name}[{copied[-1]}] is 0, which copies an axis, the tensor has rank {rank}", "bad_axis")
    return copied


def copying(target: Sequence[Any], data: Tensor) -> tuple[int, ...]:
    """Return the entries of a target in which 0 copies an extent that may be 0, and are not that extent."""
    copied = itertools.chain(data.shape, itertools.repeat(None))
    pairs = enumerate(zip(target, copied, strict=False))
    return tuple(k for k, (e, n) in pairs if not isinstance(e, int) and e != n)


def _plain(name: str, value: Any) -> Any:
    """Return an array as nested lists of Python ints, and anything else unchanged."""
    if not hasattr(value, "__array__"):
        return value
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind not in "iuO":
        raise ShapeError(f"{name} has element type {array.dtype}, not an integer type", "attr_dtype")
    return array.tolist()


def _is_short(value: Any) -> bool:
    """Return whether *value* is a Python int that `whole` accepts, as most are."""
    return type(value) is int and -INT64_MAX <= value <= INT64_MAX


def _are_short(values: Sequence[Any]) -> bool:
    """Return whether `_is_short` holds for all of *values*."""
    return all([type(value) is int and -INT64_MAX <= value <= INT64_MAX for value in values])


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
            return whole(operator.index(value), name)
        except TypeError:
            if hasattr(value, "free_symbols"):  # an expression: the op checks that it is an integer
                return value
    raise ShapeError(f"{name} is {shown(value)}, not an integer", "attr_dtype")
