"""Compare two chains by brute force: at all points of their dims, element by element."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.brute import Chain, Dim, Invalid, run, value


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
