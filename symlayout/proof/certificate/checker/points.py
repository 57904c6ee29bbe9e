"""The rule that evaluates a goal at all points of a box of digits."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from symlayout.proof.certificate.checker.box_values import MAX_INT, Values, values_at
from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Monomial, Polynomial, Refused, Terms

MAX_POINTS = 1_000_000  # most points of a box
MAX_STORED = 16_000_000  # most values of floors and entries to store for one box


def points(known: Known, goal: Any, digits: list[Any], functions: list[Any], facts: list[Any]) -> None:
    """``g >= 0``, evaluated at all points of a box of digits at which the facts hold.

    *g* is a sum of products of a monomial of outside symbols and a polynomial in digits and functions of them; every
    such polynomial must be >= 0 at all points.  A function is a floor, given by its denominator, or the entry of a
    table.  Known before: integer bounds of the digits, the functions, and that outside symbols and facts are >= 0.
    """
    count = prod(max(high - low + 1, 0) for _, low, high in digits)
    if not 0 < count <= MAX_POINTS or count * len(functions) > MAX_STORED:
        raise Refused(f"a box has {count} points, and {len(functions)} functions of them")
    values: Values = {}
    for axis, (name, low, high) in enumerate(digits):
        known.need(known.read([[1, name]]) - low)
        known.need(high - known.read([[1, name]]))
        if max(abs(low), abs(high)) >= MAX_INT:
            raise Refused(f"{name} may be too large for 64 bits")
        values[name] = np.arange(low, high + 1).reshape([-1 if k == axis else 1 for k in range(len(digits))])
    for name, argument, function in functions:
        e, value = known.read(argument), known.read([[1, name]])
        if type(function) is list:
            values[name] = _entries(known, function, e, value, values_at(e, values, count))
        else:
            known.need(known.number(function - 1))
            known.need_floor(e, known.number(function), value)
            values[name] = values_at(e, values, count) // function
    g, allowed = known.read(goal), np.array(True)
    for fact in map(known.read, facts):
        known.need(fact)
        allowed = allowed & (values_at(fact, values, count) >= 0)
    apart: dict[Monomial, Terms] = {}
    for monomial, c in g.terms.items():
        outside = tuple(name for name in monomial if name not in values)
        apart.setdefault(outside, {})[tuple(name for name in monomial if name in values)] = c
    for outside, terms in apart.items():
        for name in outside:
            known.need(known.read([[1, name]]))
        if not np.all((values_at(Polynomial(terms, known.work), values, count) >= 0) | ~allowed):
            raise Refused(f"{g} >= 0 fails at a point")
    known.nonnegative.add(g)


def _entries(known: Known, table: list[int], place: Polynomial, value: Polynomial, places: Any) -> Any:
    """Return the entries at *places*: before the first entry it is the first, and after the last it is the last."""
    known.work.spend(len(table))
    if known.entries.get((tuple(table), place)) != value:
        raise Refused(f"{value} is not known to be the entry of a table at {place}")
    if max(map(abs, table)) >= MAX_INT:
        raise Refused("an entry of a table may be too large for 64 bits")
    return np.array(table, np.int64)[np.clip(places, 0, len(table) - 1)]
