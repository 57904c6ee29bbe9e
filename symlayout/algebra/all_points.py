"""Proofs by all points: where a goal's digits have integers as ends, each of their values is looked at.

A goal is a sum of products of symbols from outside the box, which are >= 0, and of polynomials in the digits and floors
of the box.  It is >= 0 where each of those polynomials is, at all points that the facts about the box allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.fact_store import DIGIT, System
from symlayout.algebra.polynomial import Extent, Monomial, Poly, names_of, terms_of
from symlayout.budgets import limits

_LARGEST = 1 << 62  # what a sum of 64-bit terms may come to

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Points:
    """All values of digits, with the floors that they determine, where facts about them hold.

    Attributes
    ----------
    digits : a name, the least and the greatest value of each.
    floors : a name, numerator and denominator of each, after those that it is made of.
    facts : what is >= 0.
    """

    digits: tuple[tuple[str, int, int], ...]
    floors: tuple[tuple[str, Extent, int], ...]
    facts: tuple[Poly, ...]

    @property
    def count(self) -> int:
        """How many points there are, those that the facts exclude included."""
        return prod(high - low + 1 for _, low, high in self.digits)

    def hold(self, e: Poly) -> bool:
        """Return whether each polynomial that *e* has beside symbols from outside is >= 0 at all points."""
        values: dict[str, Array] = {}
        for axis, (name, low, high) in enumerate(self.digits):
            values[name] = np.arange(low, high + 1).reshape([-1 if k == axis else 1 for k in range(len(self.digits))])
        for name, numerator, denominator in self.floors:
            n = _evaluated(dict(terms_of(numerator)), values)
            if n is None:
                return False
            values[name] = n // denominator
        apart: dict[Monomial, dict[Monomial, int]] = {}
        for monomial, c in e.terms.items():
            outside = tuple(name for name in monomial if name not in values)
            apart.setdefault(outside, {})[tuple(name for name in monomial if name in values)] = c
        facts = [_evaluated(fact.terms, values) for fact in self.facts]
        excluded = np.logical_or.reduce(np.broadcast_arrays(False, *(f < 0 for f in facts if f is not None)))
        parts = [_evaluated(terms, values) for terms in apart.values()]
        return all(part is not None and bool(np.all((part >= 0) | excluded)) for part in parts)


def points_of(system: System, e: Poly) -> Points | None:
    """Return the points that decide *e*: None if it has no floor, or one of a digit whose ends are no integers."""
    inside: set[str] = set()
    todo = [name for name in e.names if name in system.floors or name[0] == DIGIT]
    while todo:
        name = todo.pop()
        if name in inside:
            continue
        if name in system.floors:
            numerator, denominator = system.floors[name]
            if not isinstance(denominator, int):
                return None
            todo += names_of(numerator)
        elif name[0] != DIGIT or not (isinstance(system.low[name], int) and isinstance(system.high[name], int)):
            return None
        inside.add(name)
    outside = e.names - inside
    if not inside & system.floors.keys() or any((system.low.get(name) or -1) < 0 for name in outside):
        return None
    digits: list[tuple[str, int, int]] = []
    floors: list[tuple[str, Extent, int]] = []
    for name in (name for name in system.bounded if name in inside):
        if name in system.floors:
            floors.append((name, *system.floors[name]))  # type: ignore[arg-type]
        else:
            digits.append((name, system.low[name], system.high[name]))  # type: ignore[arg-type]
    facts = tuple(fact for fact in system.known if fact.names <= inside)
    points = Points(tuple(digits), tuple(floors), facts)
    return points if points.count <= limits.points else None


def _evaluated(terms: Mapping[Monomial, int], values: Mapping[str, Array]) -> Array | None:
    """Return a polynomial at all points; None if 64 bits may be too few."""
    largest = {name: max(abs(int(v.min())), abs(int(v.max()))) for name, v in values.items()}
    if sum(abs(c) * prod(largest[name] for name in monomial) for monomial, c in terms.items()) >= _LARGEST:
        return None
    total: Array = np.zeros((), np.int64)
    for monomial, c in terms.items():
        total = total + prod((values[name] for name in monomial), start=np.int64(c))
    return total
