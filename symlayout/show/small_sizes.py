"""Choose small dims that satisfy a tensor's requirements, for pictures, traces and measurements."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from math import prod
from typing import Any

from symlayout.algebra.polynomial import Extent, evaluate, names_of
from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.tensors.bind_dims import check_known
from symlayout.tensors.chain import Tensor

MAX_CELLS = 512  # elements of the output and of each leaf in a small example
_READABLE_CELLS = 80  # elements that a picture shows well
_TRIES = 2000  # choices of values that are tried
_SEARCH_STEPS = 6  # the next value of a dim is at most this far from the last
_LARGEST_EXTENT = 4  # a dim of an input's extent is not increased beyond this value
_LARGEST_OTHER = 2  # another dim, such as a block or a pad, is not increased beyond this value
_PREFERRED = (2, 1, 3, 4, 6, 8, 5, 9, 7, 10, 12, 16, 24, 0)  # values, best first
LEAST = (1, 2, 3, 4, 6, 8, 5, 9, 7, 10, 12, 16, 24, 0)  # the same values for examples as small as possible

Example = tuple[Tensor, dict[str, int]]


def small(
    t: Tensor,
    fits: Callable[[Tensor], bool] | None = None,
    preferred: Sequence[int] = _PREFERRED,
    tries: int = _TRIES,
    suits: Callable[[Mapping[str, int]], bool] | None = None,
) -> Example:
    """Return *t* with all dims bound to small values that satisfy its requirements, and the values.

    An example whose output and leaves have between 1 and `MAX_CELLS` elements is preferred to any other.

    Parameters
    ----------
    fits : function, optional
        A further condition on the bound tensor.
    preferred : sequence of int
        The values to try, best first.
    tries : int
        How many choices of values are tried.
    suits : function, optional
        A further condition on the values of the symbols of *t*, which takes less time than one on the bound tensor.

    Raises
    ------
    InconclusiveError
        No such values were found in so many tries.
    """
    if not t.facts.dims:
        if fits is not None and not fits(t):
            raise InconclusiveError("the fixed shape is such an example")
        return t, {}
    fallback = None
    evaluated = t.facts.evaluation()
    shapes = [t.extents, *(leaf.extents for leaf in t.leaves())]
    mentioned = {name for shape in shapes for e in shape for name in names_of(e)}
    for values in itertools.islice(candidates(t, preferred), tries):
        known = evaluated(values)  # cheaper than running the declarations again
        if t.facts.failing(known) is not None or not (suits is None or suits(known)):
            continue
        if fallback is not None and not _is_small(shapes, mentioned, known):
            continue  # it would not be taken, so the declarations need not run
        bound = _bound(t, values)
        if bound is None or not (fits is None or fits(bound)):
            continue
        if 0 not in bound.shape and _within(bound, MAX_CELLS):
            return bound, values
        fallback = fallback or (bound, values)
    if fallback is not None:
        return fallback
    raise InconclusiveError("some small dims satisfy the chain", list(t.facts.dims))


def with_sizes(t: Tensor, dims: Mapping[Any, Any] | None) -> Example:
    """Return *t* with the given dims bound to integers, and their values by name.

    Names that are not dims of *t* are refused.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if a value is not an integer, ``unknown_dim`` for another name; other kinds if the sizes do not
        meet the requirements of *t*.
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
    check_known(values, t.facts.dims)
    return t.subs(values), values


def illustrative_sizes(t: Tensor) -> Example:
    """Return *t* bound to values that illustrate its map, and the values.

    The search starts from the smallest values that `small` finds.  It increases the dims in turn as long as the
    output and the leaves have at most `_READABLE_CELLS` elements.
    """
    best, values = small(t, preferred=LEAST)
    extents = {name for leaf in t.leaves() for e in leaf.extents for name in names_of(e)}
    growing = bool(values) and 0 not in best.shape
    while growing:
        growing = False
        for dim in t.facts.dims.values():
            largest = _LARGEST_EXTENT if dim.name in extents else _LARGEST_OTHER
            for value in range(values[dim.name] + 1, min(values[dim.name] + _SEARCH_STEPS, largest + 1)):
                wider = values | {dim.name: value}
                bound = _bound(t, wider) if dim.allows(value) else None
                if bound is None:
                    continue
                if _within(bound, _READABLE_CELLS) and _changes(bound, best):
                    best, values, growing = bound, wider, True
                break
    return best, values


def candidates(t: Tensor, preferred: Sequence[int]) -> Iterator[dict[str, int]]:
    """Yield choices of values for the dims, those of preferred values first."""
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
    if t.facts.failing(t.facts.values(values)) is not None:  # cheaper than running the declarations again
        return None
    try:
        return t.subs(values)
    except ShapeError:
        return None


def _shapes(t: Tensor) -> list[tuple[int, ...]]:
    return [part.shape for part in (t, *t.leaves())]


def _is_small(shapes: Sequence[Sequence[Extent]], mentioned: Set[str], known: Mapping[str, int]) -> bool:
    """Return whether the first shape has an element, and none has more than `MAX_CELLS`.

    It is True if the symbols that are *known* do not tell: the shapes have those that are *mentioned*.
    """
    if not mentioned <= known.keys():
        return True
    output, *leaves = (prod(e if isinstance(e, int) else evaluate(e, known) for e in shape) for shape in shapes)
    return 0 < output <= MAX_CELLS and all(leaf <= MAX_CELLS for leaf in leaves)


def _within(t: Tensor, cells: int) -> bool:
    return all(prod(shape) <= cells for shape in _shapes(t))


def _changes(t: Tensor, other: Tensor) -> bool:
    """Return whether the output or a leaf has another shape: a dim that changes no shape stays small."""
    return _shapes(t) != _shapes(other)
