"""A system of facts that logs all facts it gets and all its conclusions, as steps of a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

from symlayout.algebra.fact_store import DIGIT, Dim, Requirement
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import floor_div
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    encode,
    exact_quotient,
    names_of,
    substitute,
    symbol,
)
from symlayout.proof.cases.case_tree import Path
from symlayout.proof.certificate.checker.readings import SIDES
from symlayout.proof.certificate.claim import Claim
from symlayout.proof.certificate.logged_equations import SolvingNotes


class Recorder(SolvingNotes):
    """A system of facts that logs everything it does."""

    __slots__ = ()

    def introduce(self, claim: Claim, part: Facts | None = None) -> None:
        """Add the claim's dims, assumptions and symbols, in the order in which the proof has met them.

        With *part*, the facts of one operation, only what these have.
        """
        has = claim.facts if part is None else part
        dims = [dim for dim in claim.facts.dims.values() if dim.name in has.dims]
        symbols = [n for n in claim.symbols if part is None or n in part.quotients or n in part.definitions]
        values: dict[str, Extent] = {}

        def declare_until(*expressions: Extent) -> None:
            """Declare the dims that expressions are made of, and those before them."""
            used = claim.dims_of(expressions)
            while any(dim.name in used for dim in dims):
                self.declare(dims.pop(0))

        def translated(e: Extent) -> Extent:
            for name in sorted(names_of(e)):
                if name in claim.symbols and name not in values:
                    form, a, b = claim.symbols[name]
                    values[name] = self.mean(name, form, translated(a), translated(b))
            return self.reduce(substitute(e, {name: self.reduce(v) for name, v in values.items()}))

        for number, r in enumerate(claim.facts.requirements):
            if part is not None and not any(r.states(other) for other in part.requirements):
                continue
            declare_until(r.value, r.modulus)
            value = translated(r.value)
            if r.relation == "divides":
                self.divide_by(number, value, translated(r.modulus), r)
                continue
            self.note("assume", number)
            if r.relation == "nonnegative":
                self.assume_given(value)
                self.divide_given(value, translated(r.modulus), r)
            else:
                self.require_zero(value, r.kind, r.where)
        for dim in dims:
            self.declare(dim)
        for name in symbols:
            value = translated(symbol(name))
            if name not in self.low and value != symbol(name):
                self.solved[name] = value

    def declare(self, dim: Dim) -> None:
        """Declare a dim, as `Facts.declare` does, and log it."""
        if dim.name not in self.dims:
            self.note("dim", dim.name)
            if dim.multiple_of != 1:
                self._dividing += ((symbol(dim.name), dim.multiple_of, "?" + dim.name),)
        super().declare(dim)

    def divide_by(self, number: int, numerator: Extent, denominator: Extent, r: Requirement) -> None:
        """Add assumption *number* of the claim, *r*: the denominator divides the numerator.

        It is solved as the prover's system solved it, if that division is in symbols that this system has too.
        """
        n, d = self.reduce(numerator), self.reduce(denominator)
        if self.exact_by_quotients(n, d) is not None:
            return
        self.note("assume", number)
        self._dividing += ((n, d, f"?{number}"),)
        if r.solving is not None and all(names_of(e) <= self.low.keys() | self.solved.keys() for e in r.solving):
            top, bottom = (self.reduce(e) for e in r.solving)
            if self.reduce(top * d - n * bottom) == 0 and self.positive(bottom):
                n, d = top, bottom
        self.divide(n, d, r.kind)

    def about(self, number: int) -> Recorder:
        """Return a fork that logs the proof that operation *number* of the claim is a map."""
        copy = self.fork()
        copy.context.known.place = number
        return copy

    def assume_given(self, e: Extent) -> None:
        """Add ``e >= 0``, an assumption of the claim, divided by the common factor of its coefficients."""
        e = self.reduce(e)
        if isinstance(e, Poly) and (common := gcd(*(c for m, c in e.terms.items() if m))) > 1:
            rest = e.terms.get((), 0) % common
            whole = exact_quotient(e - rest, common) or 0  # common*whole + common - 1 = e + (common - 1 - rest)
            self._combine(whole, common, [[encode(e), 1], [common - 1 - rest, 1]])
            e = whole
        self.assume_nonnegative(e)

    def divide_given(self, value: Extent, modulus: Extent, r: Requirement) -> None:
        """Add ``value/modulus >= 0`` for the assumption *r* that ``value >= 0``, in the symbols of the prover."""
        if r.solving is None or modulus == 1 or not names_of(r.solving[0]) <= self.low.keys() | self.solved.keys():
            return
        e, d = self.reduce(r.solving[0]), self.reduce(modulus)
        rest = self.reduce(d * e - value)
        if isinstance(e, Poly) and e not in self.known and isinstance(rest, int) and rest >= 0 and self.positive(d):
            given = [self.show(self.reduce(value)), rest, self.show(d - 1)]  # d*e + d - 1 is their sum
            self._combine(e, d, [[encode(part), 1] for part in given])
            self.assume_nonnegative(e)

    def require_zero(self, e: Extent, kind: str, where: str = "", *, rule: str | Callable[[], str] = "") -> None:
        """Add an equation, as `Facts.require_zero` does; the equation is an assumption of the claim."""
        e = self.reduce(e)
        if isinstance(e, Poly):
            self._without_factor(e)
        super().require_zero(e, kind, where, rule=rule)

    def learn(self, e: Extent, where: str = "") -> None:
        """Store a fact, as `Intervals.learn` does, and log it."""
        if isinstance(e, Poly) and e not in self.known and not self.holds_at_lows(e):
            self.show(e)
        super().learn(e, where)

    def suppose(self, e: Extent) -> None:
        """Add the case of a split, as `Facts.suppose` does; the checker adds it too."""
        self.context.suppose(self.reduce(e))
        super().suppose(e)

    def excludes(self, e: Extent) -> bool:
        """Return whether a fact is refuted, as `Facts.excludes` does, and log the refutation."""
        e = self.reduce(e)
        if isinstance(e, int):  # the checker needs no step for constants
            return e < 0
        if not super().excludes(e):
            return False
        self._log_refuted(e)
        return True

    def refutes(self, e: Poly) -> bool:
        """Return whether bounds refute a fact, as `Intervals.refutes` does, and log the refutation if it has one."""
        if not super().refutes(e) or (not self.context.holds(-1 - e) and self.reason(-1 - e) is None):
            return False
        self._log_refuted(e)
        return True

    def _log_refuted(self, e: Extent) -> None:
        """Log that the fact ``e >= 0`` is false, since ``-1 - e >= 0``."""
        self.note("combine", -1, 1, [[encode(e), 1], [encode(self.show(-1 - e)), 1]], [])

    def assume_factors(self, factors: Sequence[Extent], others: Sequence[Extent]) -> None:
        """Add that factors are >= 1, as `Facts.assume_factors` does, and log the proof."""
        factors, others = [self.reduce(e) for e in factors], [self.reduce(e) for e in others]
        unknown = [k for k, e in enumerate(factors) if not self.positive(e)]
        if unknown:
            total = self._show_product(others, 1)
            for k in unknown:
                if isinstance(total, int) and total < 0:  # a product of what is >= 1 is 0: no point is left
                    break
                e, rest = factors[k], self._show_product([*factors[:k], *factors[k + 1 :]], 0)
                if not self.context.holds(self.reduce(e - 1)):
                    absurd = ["combine", -1, 1, [[encode(total), 1], [encode(self.reduce(-e)), encode(rest)]], []]
                    self.note("cases", encode(self.reduce(e - 1)), encode(self.reduce(e - 1)), [], [absurd])
        super().assume_factors(factors, others)

    def _show_product(self, factors: Sequence[Extent], least: int) -> Extent:
        """Log why a product is >= *least*, given that each factor is; return the product less *least* (0 or 1)."""
        total: Extent = 1
        for e in factors:
            before = self.show(total - least)
            if least == 0:
                total = self.reduce(total * e)
                products = [[encode(before), encode(self.show(e))]]
            else:  # a*b - 1 = (a - 1)*(b - 1) + (a - 1) + (b - 1)
                total = self.reduce(total * e)
                a, b = encode(before), encode(self.show(e - 1))
                products = [[a, b], [a, 1], [b, 1]]
            if not self.context.holds(self.reduce(total - least)):
                self._combine(self.reduce(total - least), 1, products)
            if isinstance(total, int) and total < least:
                break
        return self.reduce(total - least)

    def assume_inside(self, coords: Sequence[Extent], extents: Sequence[Extent], place: Any) -> None:
        """Add that a coordinate is inside, as `Facts.assume_inside` does; the checker evaluates it itself."""
        side, path = place
        self.context.known.inside = SIDES[side]
        self.note("inside", SIDES[side], data_of(path))
        super().assume_inside(coords, extents, place)

    def assume_inhabited(self, coords: Sequence[Extent], extents: Sequence[Extent], taken: Any = None) -> None:
        """Add that extents are >= 1, as `Facts.assume_inhabited` does, and log the proof."""
        ends = [end for c, e in zip(coords, extents, strict=True) for end in (c, e - 1 - c)]
        if taken is not None and any(self.derive(self.reduce(end)) is None for end in ends):
            side, path = taken
            self.note("inside", SIDES[side], data_of(path))
        for c, e in zip(coords, extents, strict=True):
            goal = self.reduce(e - 1)
            if not self.context.holds(goal):
                products = [[encode(self.show(c)), 1], [encode(self.show(e - 1 - c)), 1]]
                self._combine(goal, 1, products)
        super().assume_inhabited(coords, extents, taken)

    def vanishes(self, e: Extent) -> bool:
        """Return whether ``e == 0`` is proved, as `Facts.vanishes` does, and log the proof."""
        if not super().vanishes(e):
            return False
        self.show_zero(e)
        return True

    def rest_on(self, e: Extent) -> None:
        """Log the proof of ``e >= 0`` (see `Facts.rest_on`)."""
        self.show(e)

    def mean(self, name: str, form: str, a: Extent, b: Extent) -> Extent:
        """Return the value of a symbol of the claim, and log that its definition determines the value."""
        a, b = self.reduce(a), self.reduce(b)
        if form == "max":
            value = self.reduce(self.maximum(a, b))
            for side in (a, b):
                self.show(value - side)
        else:
            if form == "//":
                value = floor_div(self, a, b)
            elif name in self.quotients:  # named before its numerator was solved, which changes the name
                value = self.reduce(symbol(name))
                self._show_multiple(self.reduce(b * value - a))
            elif (multiple := self.exact_by_quotients(a, b)) is not None:
                value = multiple
                self._show_multiple(self.reduce(b * value - a))
            else:
                value = self.divide(a, b, "non_divisible")
            self.show(b - 1)
        self.note("mean", name, encode(value))
        return value

    def _show_multiple(self, e: Extent) -> None:
        """Write down that ``e == 0`` where *e* is a multiple of what says that a quotient is one."""
        for s in [] if self.context.vanishes(e) else self._solving:
            zero = self.reduce(s.denominator * s.quotient - s.numerator)
            if zero != 0 and (factor := exact_quotient(e, zero)) is not None:
                self._show_quotient(s)
                self.note("equation", encode(e), 1, [[encode(factor), encode(zero)]])
                return

    def meet(self, extents: Sequence[Extent]) -> None:
        """Add that the output has an element, as `Facts.meet` does; the checker adds the digits of its coordinate."""
        self.note("point")
        for axis, e in enumerate(extents):
            i = symbol(f"{DIGIT}{axis}")
            ends = [[encode(i), 1], [encode(self.context.reduce(e - 1 - i)), 1]]
            if not self.context.holds(self.reduce(e - 1)):
                self._combine(self.reduce(e - 1), 1, ends)
        super().meet(extents)
        for axis, e in enumerate(extents):
            if self.reduce(e) == 1:
                self.note("equal", encode(symbol(f"{DIGIT}{axis}")))
                self.note("solve", f"{DIGIT}{axis}", 0)


def data_of(path: Path) -> list[Any]:
    """Return the path of a read as data."""
    return [[number, None if outside is None else list(outside)] for number, outside in path]
