"""Choose small sizes that satisfy a tensor, for pictures, walks and measurements."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from symlayout.algebra.polynomial import names_of
from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.tensors.chain import Tensor

MAX_CELLS = 512  # of each tensor of a small example
_PLEASANT = 80  # as many as a picture shows well
_TRIES = 2000
_STEPS = 6  # how far the next value of a dim is looked for
_LARGEST = 4  # extent of an input that could as well be smaller
_LARGEST_OTHER = 2  # block, pad, ... that could as well be smaller
_PREFERRED = (2, 1, 3, 4, 6, 8, 5, 9, 7, 10, 12, 16, 24, 0)
LEAST = (1, 2, 3, 4, 6, 8, 5, 9, 7, 10, 12, 16, 24, 0)

Example = tuple[Tensor, dict[str, int]]


def small(t: Tensor, fits: Callable[[Tensor], bool] | None = None, preferred: Sequence[int] = _PREFERRED) -> Example:
    """Return *t* with all of its dims bound to small values that satisfy it, and the values.

    Parameters
    ----------
    fits : function, optional
        What the bound tensor has to be besides.  By default it is preferred that it and its inputs have elements,
        but at most `MAX_CELLS` of them.
    preferred : sequence of int
        The values that are tried, best first.

    Raises
    ------
    InconclusiveError
        No such values were found within the budget.
    """
    if not t.facts.dims:
        if fits is not None and not fits(t):
            raise InconclusiveError("the fixed shape is such an example")
        return t, {}
    second = None
    for values in itertools.islice(candidates(t, preferred), _TRIES):
        bound = _bound(t, values)
        if bound is None or not (fits is None or fits(bound)):
            continue
        if 0 not in bound.shape and _within(bound, MAX_CELLS):
            return bound, values
        second = second or (bound, values)
    if second is not None:
        return second
    raise InconclusiveError("some small dims satisfy the chain", list(t.facts.dims))


def with_sizes(t: Tensor, dims: Mapping[Any, Any] | None) -> Example:
    """Return *t* with the given dims bound to integers, and their values by name; names that it has not are left out.

    Raises
    ------
    ShapeError
        ``attr_dtype`` for a value that is no integer; or the sizes do not satisfy *t*.
    """
    values: dict[str, int] = {}
    if dims is not None and not isinstance(dims, Mapping):
        raise TypeError(f"dims is a mapping from dims to integers, not {type(dims).__name__}")
    for key, value in (dims or {}).items():
        name = str(key)
        try:
            values[name] = operator.index(value)
        except TypeError:
            raise ShapeError(f"the size {name} = {shown(value)} is not an integer", "attr_dtype") from None
    return t.subs(values), {name: value for name, value in values.items() if name in t.facts.dims}


def telling(t: Tensor) -> Example:
    """Return *t* bound to values that show what it does: from the least on, the dims are increased in turn.

    This goes on as long as all shapes are pleasant to look at.  See `small`.
    """
    best, values = small(t, preferred=LEAST)
    extents = {name for leaf in t.leaves() for e in leaf.extents for name in names_of(e)}
    growing = bool(values) and 0 not in best.shape
    while growing:
        growing = False
        for dim in t.facts.dims.values():
            largest = _LARGEST if dim.name in extents else _LARGEST_OTHER
            for value in range(values[dim.name] + 1, min(values[dim.name] + _STEPS, largest + 1)):
                wider = values | {dim.name: value}
                bound = _bound(t, wider) if dim.allows(value) else None
                if bound is None:
                    continue
                if _within(bound, _PLEASANT) and _changes(bound, best):
                    best, values, growing = bound, wider, True
                break
    return best, values


def candidates(t: Tensor, preferred: Sequence[int]) -> Iterator[dict[str, int]]:
    """Yield values for the dims, the preferred ones first."""
    choices = []
    for dim in t.facts.dims.values():
        first = dim.nearest()
        near = [first + k * dim.multiple_of for k in (0, 1, 2, -1)]
        choices.append([v for v in dict.fromkeys((*preferred, *near)) if dim.allows(v)])
    for width in range(1, max(map(len, choices)) + 1):
        for values in itertools.product(*(choice[:width] for choice in choices)):
            newest = any(len(c) >= width and v == c[width - 1] for v, c in zip(values, choices, strict=True))
            if newest:
                yield dict(zip(t.facts.dims, values, strict=True))


def _bound(t: Tensor, values: Mapping[str, int]) -> Tensor | None:
    try:
        return t.subs(values)
    except ShapeError:
        return None


def _shapes(t: Tensor) -> list[tuple[int, ...]]:
    return [part.shape for part in (t, *t.leaves())]


def _within(t: Tensor, cells: int) -> bool:
    return all(prod(shape) <= cells for shape in _shapes(t))


def _changes(t: Tensor, other: Tensor) -> bool:
    """Return whether a shape differs: a dim that is only a shift or a bound is left as small as it is."""
    return _shapes(t) != _shapes(other)
