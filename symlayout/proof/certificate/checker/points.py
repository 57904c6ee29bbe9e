"""The rule that evaluates a goal at all points of a box of digits.  Only this rule uses arrays, of 64-bit integers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Monomial, Polynomial, Refused, Terms

MAX_POINTS = 1_000_000  # most points of a box
MAX_STORED = 16_000_000  # most values of floors and entries to store for one box
_MAX_INT = 1 << 62  # bound of the values of a polynomial
_POINTS_PER_OPERATION = 500  # evaluating so many points takes as long as one operation on a term

Values = dict[str, Any]


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
        if max(abs(low), abs(high)) >= _MAX_INT:
            raise Refused(f"{name} may be too large for 64 bits")
        values[name] = np.arange(low, high + 1).reshape([-1 if k == axis else 1 for k in range(len(digits))])
    for name, argument, function in functions:
        e, value = known.read(argument), known.read([[1, name]])
        if type(function) is list:
            values[name] = _entries(known, function, e, value, _at(e, values, count))
        else:
            known.need(known.number(function - 1))
            known.need_floor(e, known.number(function), value)
            values[name] = _at(e, values, count) // function
    g, allowed = known.read(goal), np.array(True)
    for fact in map(known.read, facts):
        known.need(fact)
        allowed = allowed & (_at(fact, values, count) >= 0)
    apart: dict[Monomial, Terms] = {}
    for monomial, c in g.terms.items():
        outside = tuple(name for name in monomial if name not in values)
        apart.setdefault(outside, {})[tuple(name for name in monomial if name in values)] = c
    for outside, terms in apart.items():
        for name in outside:
            known.need(known.read([[1, name]]))
        if not np.all((_at(Polynomial(terms, known.work), values, count) >= 0) | ~allowed):
            raise Refused(f"{g} >= 0 fails at a point")
    known.nonnegative.add(g)


def _entries(known: Known, table: list[int], place: Polynomial, value: Polynomial, places: Any) -> Any:
    """Return the entries at *places*: before the first entry it is the first, and after the last it is the last."""
    known.work.spend(len(table))
    if known.entries.get((tuple(table), place)) != value:
        raise Refused(f"{value} is not known to be the entry of a table at {place}")
    if max(map(abs, table)) >= _MAX_INT:
        raise Refused("an entry of a table may be too large for 64 bits")
    return np.array(table, np.int64)[np.clip(places, 0, len(table) - 1)]


def _at(e: Polynomial, values: Values, count: int) -> Any:
    """Return the values of a polynomial at the *count* points of a box."""
    if not e.names <= values.keys():
        raise Refused(f"{e} has symbols from outside the box")
    e.work.spend(1 + sum(1 + len(monomial) for monomial in e.terms) * count // _POINTS_PER_OPERATION)
    largest = {name: max(1, abs(int(values[name].min())), abs(int(values[name].max()))) for name in e.names}
    if sum(abs(c) * prod(largest[name] for name in monomial) for monomial, c in e.terms.items()) >= _MAX_INT:
        raise Refused(f"{e} may be too large for 64 bits")
    terms = (prod((values[name] for name in m), start=np.int64(c)) for m, c in e.terms.items())
    return sum(terms, start=np.int64(0))
