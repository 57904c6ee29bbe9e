"""Exact values of attributes: what a user or a model gives, as Python ints, dims and expressions.

An attribute may be anything that holds integers: ints, NumPy scalars and arrays of any integer type,
lists and tuples, dims and expressions.  ``None`` is a value that is not known; `fill` makes a fresh dim
of it.  Floats and bools are refused, not rounded.  Ranges are not checked here: they belong to the ops.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import Any

from symlayout.errors import InconclusiveError, ShapeError
from symlayout.facts import Facts
from symlayout.symbols import fresh, to_extent
from symlayout.tensor import Tensor

_INT64 = 2**63


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


def listed(name: str, value: Any, length: int | None = None) -> list[Any]:
    """Return what `vector` does; one value stands for a list of one."""
    value = _plain(name, value)
    return vector(name, value if value is None or _is_list(value) else [value], length)


def constants(name: str, value: Any) -> list[int]:
    """Return a list of ints that the rank of the result depends on, such as axes; one value is a list of one.

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


def flag(name: str, value: Any) -> bool:
    """Return a truth value, which may be written as 0 or 1; ``attr_dtype`` for anything else."""
    value = _plain(name, value) if not isinstance(value, bool) else value
    if value not in (0, 1) or isinstance(value, float):
        raise ShapeError(f"{name} is {value!r:.80}, neither true nor false", "attr_dtype")
    return bool(value)


def choice(name: str, value: Any, known: Collection[str]) -> str:
    """Return a mode, which has to be one of *known*, to the letter; ``bad_mode`` otherwise."""
    if not isinstance(value, str) or value not in known:
        raise ShapeError(f"{name} is {value!r:.80}, none of {', '.join(map(repr, known))}", "bad_mode")
    return value


def fill_value(name: str, value: Any) -> Any:
    """Return the one value that is put where nothing is read; None is 0, ``length_mismatch`` for a list."""
    if _is_list(value) or getattr(value, "ndim", 0) > 0:
        raise ShapeError(f"{name} is one value, got {value!r:.80}", "length_mismatch")
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


def distinct(name: str, value: Any, rank: int) -> list[int]:
    """Return axes as `axes` does; ``bad_axis`` if one is repeated."""
    found = axes(name, value, rank)
    if len(found) < len(listed(name, value)):
        raise ShapeError(f"{name} is {value}, which repeats an axis", "bad_axis")
    return found


def permutation(name: str, value: Any) -> list[int]:
    """Return the axes of a permutation where a framework has no negative ones: ``bad_axis`` for these."""
    found = constants(name, value)
    if any(axis < 0 for axis in found):
        raise ShapeError(f"{name} is {found}: axes count from 0 here", "bad_axis")
    return found


def index(x: Tensor, start: Any, stop: Any, step: Any, axes: Any) -> tuple[slice, ...]:
    """Return slices as ONNX and OpenVINO have them, as a NumPy index.

    They differ in one case: with a negative step a start before the first element is the first element,
    where NumPy's slice is empty.  An unknown start or stop is a dim that lies in range.

    Parameters
    ----------
    start, stop : sequence of int
        One per axis that is sliced.
    step : sequence of int, optional
        None is 1 for all.
    axes : sequence of int, optional
        None is the first ones.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if there are not as many of one as of another, or more than axes; ``bad_axis`` for
        an axis out of range or repeated, or a step of 0; ``attr_dtype``.
    InconclusiveError
        If it is not known whether a start lies before the first element.
    """
    first, last = fill("start", vector("start", start), 0), fill("stop", vector("stop", stop), 0)
    steps = [1] * len(first) if step is None else constants("step", vector("step", step))
    along = list(range(len(first))) if axes is None else constants("axes", vector("axes", axes))
    lengths = [len(first), len(last), len(steps), len(along)]
    if len(set(lengths)) > 1 or len(first) > x.rank:
        raise ShapeError(
            f"start, stop, step and axes have {lengths} values for rank {x.rank}, not one per axis", "length_mismatch"
        )
    places = distinct("axes", along, x.rank)
    key = [slice(None)] * x.rank
    for axis, a, b, s in zip(places, first, last, steps, strict=True):
        if s < 0 and isinstance(a, int) and a < 0:
            a = _not_before_the_first(x, axis, a)
        key[axis] = slice_of(a, b, s)
    return tuple(key)


def slice_of(start: Any, stop: Any, step: int) -> slice:
    """Return a slice without the bounds that lie outside every axis, on the side of their end."""
    return slice(_unless_outside(start, -step), _unless_outside(stop, step), step)


def added_and_taken(widths: Sequence[Sequence[Any]]) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return what pads add, and what negative ones take away, as widths <= 0; empty if they take nothing."""
    taken = [[min(e, 0) if isinstance(e, int) else 0 for e in pair] for pair in widths]
    added = [[max(e, 0) if isinstance(e, int) else e for e in pair] for pair in widths]
    return added, taken if any(e for pair in taken for e in pair) else []


def check_repeated(x: Tensor, widths: Sequence[Sequence[Any]], spare: int) -> None:
    """Raise ``size_mismatch`` if a known width exceeds a known extent less *spare*: more than one reflection."""
    for axis, (n, pair) in enumerate(zip(x.extents, widths, strict=True)):
        for width in pair:
            if isinstance(n, int) and isinstance(width, int) and width > max(n - spare, 0):
                rule = f"axis {axis}: {width} elements are added, it has {max(n - spare, 0)} to repeat"
                raise ShapeError(rule, "size_mismatch")


def copied_axes(name: str, shape: Sequence[Any], rank: int) -> list[int]:
    """Return where a shape has a 0, which copies the extent of that axis; ``bad_axis`` if there is none."""
    copied = [k for k, n in enumerate(shape) if isinstance(n, int) and n == 0]
    if copied and copied[-1] >= rank:
        raise ShapeError(f"{name}[{copied[-1]}] is 0, which copies an axis, the tensor has rank {rank}", "bad_axis")
    return copied


def broadcast_shape(x: Tensor, name: str, value: Any) -> list[Any]:
    """Return the shape of *x* broadcast with another one, where either may have an extent of 1.

    Extents that are not known to be 1 have to be equal, which `broadcast_to` demands.
    """
    target = fill(name, vector(name, value), 0)
    missing = x.rank - len(target)
    target = [1] * missing + target
    kept = [None] * (len(target) - x.rank) + list(x.shape)
    return [n if t == 1 and n is not None else t for t, n in zip(target, kept, strict=True)]


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


def _not_before_the_first(x: Tensor, axis: int, start: int) -> int:
    """Return a start that counts from the end, or 0 where it is known to lie before the first element."""
    n = x.extents[axis]
    if x.facts.nonnegative(n + start) or start == -1:  # of an empty axis all slices are empty
        return start
    if x.facts.nonnegative(-start - n):
        return 0
    raise InconclusiveError(f"axis {axis} of extent {x.facts.spell(n)} has {-start} elements or more")


def _unless_outside(bound: Any, side: int) -> Any:
    """Return a bound, or None if it lies outside every axis on the *side* of its end: extents fit int64."""
    if not isinstance(bound, int):
        return bound
    return None if (bound <= -_INT64 and side < 0) or (bound >= _INT64 - 1 and side > 0) else bound
