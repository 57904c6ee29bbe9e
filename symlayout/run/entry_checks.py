"""What a kernel computes and checks on entry: dims, their preconditions, and what follows from them.

Here extents, which are polynomials in solved symbols, become expressions of the backend in the kernel's
parameters.  A symbol that is derived (a quotient, a ceiling, a maximum) becomes a local of the prelude
when it is first needed.
"""

from __future__ import annotations

import re

from symlayout.algebra.facts import Definition, Facts
from symlayout.algebra.floor_normal_form import is_digital
from symlayout.algebra.polynomial import Extent, by_degree, exact_quotient, symbol, terms_of
from symlayout.errors import InconclusiveError
from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, FloorMod, IntLiteral, Maximum, NamedInt, add, mul
from symlayout_codegen.ir.nest import Local, Precondition


class Prelude:
    """The names of one kernel, and the steps that make and check their values.

    Attributes
    ----------
    steps : locals and preconditions, in order of evaluation.
    positive, nonnegative : expressions of proved sign, wherever the kernel computes.
    """

    def __init__(self, facts: Facts) -> None:
        self.steps: list[Local | Precondition] = []
        self.positive: set[Expr] = set()
        self.nonnegative: set[Expr] = set()
        self._entry = facts  # what holds on entry
        self._facts = facts  # what holds where the kernel computes
        self._meaning = facts  # what the symbols stand for
        self._identifiers: dict[str, str] = {}

    def within(self, facts: Facts, meaning: Facts) -> None:
        """From now on prove signs from *facts*, which hold in all loops; *meaning* has every symbol's definition."""
        self._facts, self._meaning = facts, meaning

    def demand(self) -> None:
        """Check the bounds of the dims and the requirements."""
        for name, dim in self._entry.dims.items():
            value: Expr = NamedInt(self.identifier(name))
            if dim.min is not None:
                self._check(add(value, -dim.min), ">=", "infeasible", f"{name} >= {dim.min}")
            if dim.max is not None:
                self._check(add(dim.max, mul(-1, value)), ">=", "infeasible", f"{name} <= {dim.max}")
            if dim.multiple_of != 1:
                rule = f"{name} % {dim.multiple_of} == 0"
                self._check(FloorMod(value, IntLiteral(dim.multiple_of)), "==", "infeasible", rule)
        for r in self._entry.requirements:
            value = self.expr(r.value)
            if r.relation == "divides":
                self._check(FloorMod(value, self.expr(r.modulus)), "==", r.kind, str(r))
            else:
                self._check(value, ">=" if r.relation == "nonnegative" else "==", r.kind, str(r))

    def demand_multiple(self, e: Extent, of: int) -> None:
        """Check that *of* divides an extent, unless that is known."""
        if exact_quotient(self._facts.reduce(e), of) is None:
            rule = f"({self._facts.spell(e)}) % {of} == 0"
            self._check(FloorMod(self.expr(e), IntLiteral(of)), "==", "non_divisible", rule)

    def _check(self, value: Expr, relation: str, kind: str, rule: str) -> None:
        self.steps.append(Precondition(value, relation, kind, rule))

    def local(self, name: str, value: Expr) -> Expr:
        """Return *value* by a name of its own, close to *name*; a literal as it is."""
        if isinstance(value, IntLiteral):
            return value
        identifier = self.identifier(name)
        self.steps.append(Local(identifier, value))
        return NamedInt(identifier)

    def expr(self, e: Extent) -> Expr:
        """Return an extent as an expression of the backend, with its signs noted where proved."""
        top, bottom = self._facts.to_user(e)
        if bottom == 1 and len(terms_of(top)) <= len(terms_of(e)):
            e = top  # the user's dims are shorter to read than the solved ones
        made = add(*(mul(c, *(self._name(n) for n in m)) for m, c in sorted(terms_of(e).items(), key=by_degree)))
        if not isinstance(made, IntLiteral):
            if self._facts.positive(e):
                self.positive.add(made)
            if self._facts.nonnegative(e):
                self.nonnegative.add(made)
        return made

    def _name(self, name: str) -> Expr:
        """Return a symbol by its identifier; one that is derived becomes a local first."""
        if name in self._identifiers:
            return NamedInt(self._identifiers[name])
        if name in self._meaning.quotients:
            top, bottom = self._meaning.quotients[name]
            return self.local(name, FloorDiv(self.expr(top), self.divisor(bottom)))
        if name in self._meaning.definitions:
            return self.local(name, self._definition(self._meaning.definitions[name]))
        if is_digital(name, self._meaning):
            raise InconclusiveError(f"{self._meaning.spell(symbol(name))} is the same for all loops")
        return NamedInt(self.identifier(name))

    def _definition(self, d: Definition) -> Expr:
        left = self.expr(d.left)
        if d.form == "floor":
            return FloorDiv(left, self.divisor(d.right))
        return Maximum(left, self.expr(d.right))

    def divisor(self, e: Extent) -> Expr:
        """Return *e*, or 1 where it is not positive: where that can be, there is no coordinate that needs it."""
        made = self.expr(e)
        return made if self._entry.positive(e) else Maximum(made, IntLiteral(1))

    def identifier(self, name: str) -> str:
        """Return the name in C of a symbol; the same for the same symbol."""
        if name not in self._identifiers:
            plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "v"
            if name in self._meaning.quotients or name in self._meaning.definitions:
                plain = plain if len(plain) <= 16 else "v"
                plain = re.sub(r"^(\d)", r"v\1", plain)
            taken = set(self._identifiers.values())
            self._identifiers[name] = next(
                c for c in (plain, *(f"{plain}_{k}" for k in range(len(taken) + 1))) if c not in taken
            )
        return self._identifiers[name]
