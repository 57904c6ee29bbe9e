"""Proofs by evaluation at all points, for goals whose digits have integers as bounds.

The points are all values of the digits; they determine the values of the floors and the entries of tables.  A goal is
a sum of products: one factor is made of other symbols, which are >= 0; the other is a polynomial in the digits, floors
and entries.  The goal is >= 0 if each of those polynomials is >= 0 at all points that the facts allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.fact_store import DIGIT, System
from symlayout.algebra.polynomial import Extent, Monomial, Poly, names_of, terms_of
from symlayout.algebra.table import Table
from symlayout.budgets import limits
from symlayout_codegen.values import Value

_LARGEST = 1 << 62  # larger sums might overflow 64 bits

Array = np.ndarray[Any, Any]


class Points(Value):
    """All values of some digits at which the facts hold, with the values of functions of these digits.

    Attributes
    ----------
    digits : name, least and greatest value of each digit.
    functions : name, argument, and the denominator of a floor or the table of an entry; a function comes after those
        that its argument mentions.
    facts : polynomials in the digits and functions that are >= 0.
    """

    digits: tuple[tuple[str, int, int], ...]
    functions: tuple[tuple[str, Extent, int | Table], ...]
    facts: tuple[Poly, ...]

    @property
    def count(self) -> int:
        """The number of points, including those that the facts exclude."""
        return prod(high - low + 1 for _, low, high in self.digits)

    def hold(self, e: Poly) -> bool:
        """Return whether ``e >= 0`` at all points: whether each polynomial factor is >= 0 there (see the module)."""
        values: dict[str, Array] = {}
        for axis, (name, low, high) in enumerate(self.digits):
            values[name] = np.arange(low, high + 1).reshape([-1 if k == axis else 1 for k in range(len(self.digits))])
        for name, argument, function in self.functions:
            n = _evaluated(dict(terms_of(argument)), values)
            if n is None:
                return False
            values[name] = function[n] if isinstance(function, Table) else n // function
        apart: dict[Monomial, dict[Monomial, int]] = {}
        for monomial, c in e.terms.items():
            outside = tuple(name for name in monomial if name not in values)
            apart.setdefault(outside, {})[tuple(name for name in monomial if name in values)] = c
        facts = [_evaluated(fact.terms, values) for fact in self.facts]
        excluded = np.logical_or.reduce(np.broadcast_arrays(False, *(f < 0 for f in facts if f is not None)))
        parts = [_evaluated(terms, values) for terms in apart.values()]
        return all(part is not None and bool(np.all((part >= 0) | excluded)) for part in parts)


def points_of(system: System, e: Poly) -> Points | None:
    """Return the points that decide ``e >= 0``, or None.

    None is returned if *e* has no floor and no entry of a table, if a digit has a symbolic bound, if another symbol may
    be negative, or if there are more than ``limits.points`` points.
    """
    inside: dict[str, tuple[Extent, int | Table] | None] = {}
    todo = [name for name in e.names if name in system.floors or name in system.entries or name[0] == DIGIT]
    while todo:
        name = todo.pop()
        if name in inside:
            continue
        if name in system.floors:
            numerator, denominator = system.floors[name]
            if not isinstance(denominator, int):
                return None
            inside[name] = numerator, denominator
            todo += names_of(numerator)
        elif name in system.entries:
            (place,) = system.terms_within(name)
            inside[name] = place, system.entries[name][0]
            todo += names_of(place)
        elif name[0] != DIGIT or not (isinstance(system.low[name], int) and isinstance(system.high[name], int)):
            return None
        else:
            inside[name] = None
    outside = e.names - inside.keys()
    if not any(inside.values()) or any((system.low.get(name) or -1) < 0 for name in outside):
        return None
    digits: list[tuple[str, int, int]] = []
    functions: list[tuple[str, Extent, int | Table]] = []
    for name in (name for name in system.bounded if name in inside):
        if (function := inside[name]) is not None:
            functions.append((name, *function))
        else:
            digits.append((name, system.low[name], system.high[name]))  # type: ignore[arg-type]
    facts = tuple(fact for fact in system.known if fact.names <= inside.keys())
    points = Points(tuple(digits), tuple(functions), facts)
    return points if points.count <= limits.points else None


def _evaluated(terms: Mapping[Monomial, int], values: Mapping[str, Array]) -> Array | None:
    """Return the values of a polynomial at all points; None if they might overflow 64 bits."""
    largest = {name: max(abs(int(v.min())), abs(int(v.max()))) for name, v in values.items()}
    if sum(abs(c) * prod(largest[name] for name in monomial) for monomial, c in terms.items()) >= _LARGEST:
        return None
    total: Array = np.zeros((), np.int64)
    for monomial, c in terms.items():
        total = total + prod((values[name] for name in monomial), start=np.int64(c))
    return total
