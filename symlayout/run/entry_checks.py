"""The prelude of a kernel: the locals that it computes on entry, and the preconditions that it checks.

An extent, a polynomial in solved symbols, becomes an expression of the backend in the kernel's parameters.  A defined
symbol (a quotient, a floor, a maximum) becomes a local of the prelude when it is first needed.
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
    """The names of one kernel, and the steps that compute and check their values.

    Attributes
    ----------
    steps : locals and preconditions, in order of evaluation.
    positive, nonnegative : expressions whose sign is proved wherever the kernel evaluates them.
    """

    def __init__(self, facts: Facts) -> None:
        self.steps: list[Local | Precondition] = []
        self.positive: set[Expr] = set()
        self.nonnegative: set[Expr] = set()
        self._entry = facts  # facts on entry
        self._facts = facts  # facts where the kernel computes; signs are proved from these
        self._definitions = facts  # facts that define every symbol in use
        self._identifiers: dict[str, str] = {}
        self._made: dict[Extent, Expr] = {}  # the expressions of extents, whose signs are proved from the same facts

    def use_facts(self, facts: Facts, definitions: Facts) -> None:
        """From now on, prove signs from *facts*, which hold in all loops, and look up symbols in *definitions*."""
        self._facts, self._definitions = facts, definitions
        self._made.clear()

    def check_requirements(self) -> None:
        """Add preconditions for the bounds of the dims and for the requirements."""
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

    def check_multiple(self, e: Extent, divisor: int) -> None:
        """Add a precondition that *divisor* divides the extent *e*, unless that is known."""
        if exact_quotient(self._facts.reduce(e), divisor) is None:
            rule = f"({self._facts.spell(e)}) % {divisor} == 0"
            self._check(FloorMod(self.expr(e), IntLiteral(divisor)), "==", "non_divisible", rule)

    def _check(self, value: Expr, relation: str, kind: str, rule: str) -> None:
        self.steps.append(Precondition(value, relation, kind, rule))

    def local(self, name: str, value: Expr) -> Expr:
        """Add a local for *value*, named after *name*, and return it; a literal is returned as it is."""
        if isinstance(value, IntLiteral):
            return value
        identifier = self.identifier(name)
        self.steps.append(Local(identifier, value))
        return NamedInt(identifier)

    def expr(self, e: Extent) -> Expr:
        """Return an extent as an expression of the backend; record its sign if it is proved."""
        if (known := self._made.get(e)) is None:
            known = self._made[e] = self._expr(e)
        return known

    def _expr(self, e: Extent) -> Expr:
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
        """Return the name of a symbol in the kernel; a defined symbol first becomes a local."""
        if name in self._identifiers:
            return NamedInt(self._identifiers[name])
        if name in self._definitions.quotients:
            top, bottom = self._definitions.quotients[name]
            return self.local(name, FloorDiv(self.expr(top), self.at_least_1(bottom)))
        if name in self._definitions.definitions:
            return self.local(name, self._definition(self._definitions.definitions[name]))
        if is_digital(name, self._definitions):
            raise InconclusiveError(f"{self._definitions.spell(symbol(name))} is the same for all loops")
        return NamedInt(self.identifier(name))

    def _definition(self, d: Definition) -> Expr:
        left = self.expr(d.left)
        if d.form == "floor":
            return FloorDiv(left, self.at_least_1(d.right))
        return Maximum(left, self.expr(d.right))

    def at_least_1(self, e: Extent) -> Expr:
        """Return *e*, or 1 where *e* is not positive: there, an array is empty and nothing is divided."""
        made = self.expr(e)
        return made if self._entry.positive(e) else Maximum(made, IntLiteral(1))

    def identifier(self, name: str) -> str:
        """Return the C identifier of a symbol.  Each symbol has one identifier."""
        if name not in self._identifiers:
            plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "v"
            if name in self._definitions.quotients or name in self._definitions.definitions:
                plain = plain if len(plain) <= 16 else "v"
                plain = re.sub(r"^(\d)", r"v\1", plain)
            taken = set(self._identifiers.values())
            self._identifiers[name] = next(
                c for c in (plain, *(f"{plain}_{k}" for k in range(len(taken) + 1))) if c not in taken
            )
        return self._identifiers[name]
