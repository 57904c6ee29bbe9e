"""The facts of a system as constraints: inequalities between all of its symbols."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, inf

from symlayout.algebra.fact_store import DIGIT, drop
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, collapse, names_of, symbol, without
from symlayout.algebra.search.box_bounds import (
    Bound,
    Box,
    Sides,
    SlopedExpression,
    ceil_of,
    floor_of,
    form_of,
    sides_of,
)
from symlayout_codegen.values import Value

_MOST_TERMS = 24  # of a constraint that shrinks boxes


class Constraint(Value):
    """The inequality ``e >= 0``, which holds wherever ``given >= 0``.

    Each split writes *e* as ``c*s + rest`` for one symbol *s* of it, and holds *s*, *c* and ``-rest``.  *c* may mention
    *s* again.  A long *e* has no splits: it is only checked at points.
    """

    e: Poly
    splits: tuple[tuple[str, Extent, SlopedExpression], ...]
    given: SlopedExpression | None = None


class Constraints:
    """All constraints of a system, and the symbols that each of them ties together.

    Solved symbols take part too: some have bounds that do not follow from the values which replace them.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.names = [name for name in (*facts.low, *facts.solved) if name[0] != DIGIT]
        self.definitions = {name: facts.definitions[name] for name in self.names if name in facts.definitions}
        found: list[tuple[Extent, Extent | None]] = [(e, None) for e in facts.known]
        equations = [symbol(name) - value for name, value in facts.solved.items()]
        equations += [bottom * symbol(name) - top for name, (top, bottom) in facts.quotients.items()]
        equations += [r.value for r in facts.requirements if r.relation == "zero"]
        found += [(e, None) for equation in equations for e in (equation, -equation)]
        for name, d in self.definitions.items():
            if d.form == "floor":
                remainder = d.left - d.right * symbol(name)
                found += [(remainder, None), (d.right - 1 - remainder, None)]
            else:
                for one, other in ((d.left, d.right), (d.right, d.left)):
                    found += [(symbol(name) - one, None), (one - symbol(name), one - other)]
        known = frozenset(self.names)
        polynomials = [(e, given) for e, given in dict.fromkeys(found) if isinstance(e, Poly) and e.names <= known]
        self.all = [_split(e, given) for e, given in polynomials]
        self.ties = [s.e.names if s.given is None else s.e.names | names_of(s.given.e) for s in self.all]

    def tied(self, names: frozenset[str]) -> frozenset[str]:
        """Return *names* and all symbols that constraints tie to them, directly or through other symbols."""
        while True:
            more = names.union(*(tie for tie in self.ties if not names.isdisjoint(tie)))
            if more == names:
                return names
            names = more

    def sides(self, name: str) -> Sides:
        """Return the bounds of a symbol."""
        facts = self.facts
        low, high = facts.low.get(name), facts.high.get(name)
        if name in facts.dims and name in facts.solved:
            low, high = facts.dims[name].min, facts.dims[name].max
        return -inf if low is None else low, high if isinstance(high, int) else inf


class Below(Value):
    """A lower bound of an expression: ``form/divisor``, wherever all of *given* are >= 0."""

    form: SlopedExpression
    divisor: Extent = 1  # >= 1
    given: tuple[SlopedExpression, ...] = ()

    def least(self, box: Box) -> Bound:
        """Return a lower bound of the expression in a box: an integer, or ``-inf``."""
        if any(g.least(box) < 0 for g in self.given):
            return -inf
        least = self.form.least(box)
        if self.divisor == 1 or least == -inf:
            return least
        low, high = sides_of(self.divisor, box)
        return ceil_of(least, high) if least > 0 else -floor_of(-least, max(low, 1))


def _split(e: Poly, given: Extent | None) -> Constraint:
    splits = []
    for name in sorted(e.names) if len(e.terms) <= _MOST_TERMS else ():
        c = {drop(m, name): k for m, k in e.terms.items() if name in m}
        rest = {m: -k for m, k in e.terms.items() if name not in m}
        splits.append((name, collapse(c), form_of(collapse(rest))))
    return Constraint(e, tuple(splits), None if given is None else form_of(given))


def cancelling(e: Poly, s: Poly) -> Iterator[tuple[Extent, Extent]]:
    """Yield ``(scale, factor)``, one term each, so that a term of ``scale*e`` cancels one of ``factor*s``."""
    for one, c in s.terms.items():
        for other, value in e.terms.items():
            if one and other and value * c > 0:
                common = gcd(value, c)
                if (rest := without(other, one)) is not None:
                    yield abs(c) // common, collapse({rest: abs(value) // common})
                elif (rest := without(one, other)) is not None:
                    yield collapse({rest: abs(c) // common}), abs(value) // common
