"""Chains with symbols in their attributes, decided by enumeration.  Nothing of symlayout is imported.

An expression is an int, the name of a dim, or ``(operator, left, right)``.  A chain is the shape of its
input and steps ``(name, attributes)``, all in expressions.  `run` puts numbers for the dims and applies the
operations to the numbers 1, 2, 3, ... of the input's elements, by NumPy's own reshape, transpose and pad: the
result says for each coordinate which element is read, and a fill is 0 or below.  `Invalid` means that the
chain has no meaning for these numbers, by the rules of the operations' specifications.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Expression = Any
Step = tuple[str, Mapping[str, Any]]
Grid = np.ndarray[Any, np.dtype[np.int64]]


class Invalid(Exception):
    """The chain has no meaning for these numbers."""


@dataclass(frozen=True, slots=True)
class Dim:
    """A dim and the values that it can have."""

    name: str
    min: int = 0
    max: int | None = None
    multiple_of: int = 1

    def values(self, most: int) -> list[int]:
        """Return the values up to *most*."""
        top = most if self.max is None else min(most, self.max)
        return [v for v in range(self.min, top + 1) if v % self.multiple_of == 0]


@dataclass(frozen=True, slots=True)
class Chain:
    """The shape of the input, and the steps."""

    shape: tuple[Expression, ...]
    steps: tuple[Step, ...] = ()

    def names(self) -> list[str]:
        """Return the dims in order of use."""
        found: dict[str, None] = {}
        for e in (*self.shape, *(value for _, attributes in self.steps for value in attributes.values())):
            _collect(e, found)
        return list(found)


def exact(a: int, b: int) -> int:
    """Return ``a / b``, which is an integer."""
    if b < 1 or a % b:
        raise Invalid
    return a // b


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": Fraction,  # b/b cancels, so only the whole expression has to be an integer
}


def value(e: Expression, dims: Mapping[str, int]) -> Any:
    """Return an expression, or a list or slice of them, with numbers for the dims."""
    if isinstance(e, str):
        return dims[e]
    if isinstance(e, tuple):
        number = Fraction(_rational(e, dims))
        return exact(number.numerator, number.denominator)
    if isinstance(e, list):
        return [value(item, dims) for item in e]
    if isinstance(e, slice):
        return slice(value(e.start, dims), value(e.stop, dims), e.step)
    return e


def _rational(e: Expression, dims: Mapping[str, int]) -> Any:
    if isinstance(e, tuple):
        return OPERATORS[e[0]](_rational(e[1], dims), _rational(e[2], dims))
    return dims[e] if isinstance(e, str) else e


def _collect(e: Expression, found: dict[str, None]) -> None:
    if isinstance(e, str):
        found[e] = None
    elif isinstance(e, tuple):
        _collect(e[1], found)
        _collect(e[2], found)
    elif isinstance(e, list):
        for item in e:
            _collect(item, found)
    elif isinstance(e, slice):
        _collect(e.start, found)
        _collect(e.stop, found)


def run(chain: Chain, dims: Mapping[str, int]) -> Grid:
    """Return which element each coordinate reads, numbered from 1.

    Raises
    ------
    Invalid
        The chain has no meaning for *dims*.
    """
    shape = [value(e, dims) for e in chain.shape]
    if min(shape, default=0) < 0:
        raise Invalid
    grid = np.arange(1, math.prod(shape) + 1, dtype=np.int64).reshape(shape)
    for name, attributes in chain.steps:
        given = {k: v if k in PLAIN else value(v, dims) for k, v in attributes.items()}
        if name == "reshape" and any(
            n < 0 and e != -1 for n, e in zip(given["shape"], attributes["shape"], strict=True)
        ):
            raise Invalid  # only a -1 that is written as such stands for what remains
        if not _fits(grid.ndim, given):
            raise Invalid
        grid = OPERATIONS[name](grid, **given)
    return grid


def _fits(rank: int, given: Mapping[str, Any]) -> bool:
    """Return whether the attributes are for an array of this rank."""
    axis = given.get("axis", [])
    return (
        len(given.get("axes", range(rank))) == rank
        and len(given.get("pad_width", range(rank))) in (1, rank)
        and all(a < rank for a in (axis if isinstance(axis, list) else [axis]))
        and len(given.get("block_shape", ())) < max(rank, 1)
        and sum(k is not None for k in given.get("key", ())) <= rank
        and ("block_size" not in given or rank > 1)
    )


def _transpose(x: Grid, axes: Sequence[int]) -> Grid:
    return x.transpose(axes)


def _flip(x: Grid, axis: Sequence[int]) -> Grid:
    flipped: Grid = np.flip(x, tuple(axis))
    return flipped


def _reshape(x: Grid, shape: Sequence[int]) -> Grid:
    others = math.prod(n for n in shape if n != -1)
    if min(shape, default=0) < -1 or (-1 in shape and (others == 0 or x.size % others)):
        raise Invalid
    if -1 not in shape and others != x.size:
        raise Invalid
    return x.reshape(shape)


def _pad(x: Grid, pad_width: Sequence[Sequence[int]], constant_values: int = 0) -> Grid:
    if len(pad_width) == 1:  # one pair stands for all axes
        pad_width = [*pad_width] * x.ndim
    if any(n + begin + end < 0 for n, (begin, end) in zip(x.shape, pad_width, strict=True)):
        raise Invalid
    if not pad_width:  # np.pad has no rank 0
        return x
    whole = np.pad(x, [[max(n, 0) for n in pair] for pair in pad_width], constant_values=constant_values)
    return whole[tuple(slice(max(-b, 0), n - max(-e, 0)) for n, (b, e) in zip(whole.shape, pad_width, strict=True))]


def _getitem(x: Grid, key: Sequence[Any]) -> Grid:
    picked: Grid = x[tuple(key)]
    return picked


def _slice(x: Grid, axis: int, start: int, stop: int, step: int) -> Grid:
    """Slice with bounds that have to lie in range and in order."""
    n = x.shape[axis]
    inside = 0 <= start <= stop <= n if step > 0 else -1 <= stop <= start < n
    if not inside:
        raise Invalid
    taken: Grid = np.take(x, np.arange(start, stop, step), axis)
    return taken


def _space_to_batch(x: Grid, block_shape: Sequence[int], paddings: Sequence[Sequence[int]]) -> Grid:
    m = len(block_shape)
    if min(block_shape, default=1) < 1 or any(n < 0 for pair in paddings for n in pair):
        raise Invalid
    x = np.pad(x, [(0, 0), *paddings, *[(0, 0)] * (x.ndim - m - 1)])
    batch, space, rest = x.shape[0], x.shape[1 : m + 1], x.shape[m + 1 :]
    cells = [exact(n, b) for n, b in zip(space, block_shape, strict=True)]
    split = x.reshape([batch, *itertools.chain.from_iterable(zip(cells, block_shape, strict=True)), *rest])
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, split.ndim)]
    return split.transpose(order).reshape([batch * math.prod(block_shape), *cells, *rest])


def _batch_to_space(x: Grid, block_shape: Sequence[int], crops: Sequence[Sequence[int]]) -> Grid:
    m = len(block_shape)
    if min(block_shape, default=1) < 1 or any(n < 0 for pair in crops for n in pair):
        raise Invalid
    batch, cells, rest = exact(x.shape[0], math.prod(block_shape)), x.shape[1 : m + 1], x.shape[m + 1 :]
    split = x.reshape([*block_shape, batch, *cells, *rest])
    pairs = itertools.chain.from_iterable((m + 1 + k, k) for k in range(m))
    space = [n * b for n, b in zip(cells, block_shape, strict=True)]
    whole = split.transpose([m, *pairs, *range(2 * m + 1, split.ndim)]).reshape([batch, *space, *rest])
    if any(n < begin + end for n, (begin, end) in zip(space, crops, strict=True)):
        raise Invalid
    return whole[(slice(None), *(slice(b, n - e) for n, (b, e) in zip(space, crops, strict=True)))]


def _space_to_depth(x: Grid, block_size: int, mode: str = "blocks_first") -> Grid:
    if block_size < 1:
        raise Invalid
    n, c, *space = x.shape
    m = len(space)
    cells = [exact(extent, block_size) for extent in space]
    split = x.reshape([n, c, *itertools.chain.from_iterable((cell, block_size) for cell in cells)])
    blocks = range(3, 2 * m + 2, 2)
    depth = [*blocks, 1] if mode == "blocks_first" else [1, *blocks]
    return split.transpose([0, *depth, *range(2, 2 * m + 2, 2)]).reshape([n, c * block_size**m, *cells])


def _depth_to_space(x: Grid, block_size: int, mode: str = "blocks_first") -> Grid:
    if block_size < 1:
        raise Invalid
    n, c, *cells = x.shape
    m = len(cells)
    kept = exact(c, block_size**m)
    first = mode == "blocks_first"
    depth = [*[block_size] * m, kept] if first else [kept, *[block_size] * m]
    split = x.reshape([n, *depth, *cells])
    blocks = range(1, m + 1) if first else range(2, m + 2)
    pairs = itertools.chain.from_iterable((m + 2 + k, block) for k, block in enumerate(blocks))
    whole = split.transpose([0, m + 1 if first else 1, *pairs])
    return whole.reshape([n, kept, *(cell * block_size for cell in cells)])


OPERATIONS: dict[str, Callable[..., Grid]] = {
    "transpose": _transpose,
    "flip": _flip,
    "reshape": _reshape,
    "pad": _pad,
    "getitem": _getitem,
    "slice": _slice,
    "space_to_batch": _space_to_batch,
    "batch_to_space": _batch_to_space,
    "space_to_depth": _space_to_depth,
    "depth_to_space": _depth_to_space,
}
PLAIN = {"axes", "axis", "mode", "key", "constant_values"}  # attributes that are never expressions


def points(dims: Sequence[Dim], most: int) -> Iterator[dict[str, int]]:
    """Yield the values of *dims* up to *most*, by their sum, then in lexicographic order."""
    names = [d.name for d in dims]
    for values in sorted(itertools.product(*(d.values(most) for d in dims)), key=lambda v: (sum(v), v)):
        yield dict(zip(names, values, strict=True))


@dataclass(frozen=True, slots=True)
class Difference:
    """Numbers for the dims where two chains differ, and the first coordinate; None if the shapes differ."""

    dims: dict[str, int]
    coord: tuple[int, ...] | None
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many points are valid for both chains, and the first where they differ."""

    valid: int
    difference: Difference | None


def compare(left: Chain, right: Chain, dims: Sequence[Dim], most: int, until: int | None = None) -> Outcome:
    """Compare two chains at all points up to *most*, or up to the first difference.

    With *until*, points whose sum is larger are left out.
    """
    valid = 0
    for point in points(dims, most):
        if until is not None and sum(point.values()) > until:
            break
        found = difference(left, right, point)
        valid += found is not Invalid
        if isinstance(found, Difference):
            return Outcome(valid, found)
    return Outcome(valid, None)


def difference(left: Chain, right: Chain, point: Mapping[str, int]) -> Difference | type[Invalid] | None:
    """Return where two chains differ at one point; `Invalid` if one of them has no meaning there."""
    try:
        a, b = run(left, point), run(right, point)
    except Invalid:
        return Invalid
    if a.shape != b.shape:
        return Difference(dict(point), None, a.shape, b.shape)
    places = np.argwhere(a != b)
    if not len(places):
        return None
    coord = tuple(int(c) for c in places[0])
    shape = [value(e, point) for e in left.shape]
    return Difference(dict(point), coord, *(read(int(grid[coord]), shape) for grid in (a, b)))


def read(number: int, shape: Sequence[int]) -> tuple[str, Any]:
    """Return what an element of the result is: a coordinate of the input, or a fill."""
    if number <= 0:
        return "fill", number
    return "x", tuple(int(c) for c in np.unravel_index(number - 1, shape))
