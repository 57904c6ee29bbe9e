"""A system of facts that logs how it solves equations and defines quotients, as steps of a certificate."""

from __future__ import annotations

from itertools import zip_longest
from math import gcd
from typing import Any

from symlayout.algebra.derivation import Derivation
from symlayout.algebra.fact_store import Rule
from symlayout.algebra.interval_proofs import linear
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    collapse,
    encode,
    exact_quotient,
    factored,
    names_of,
    substitute,
    symbol,
    terms_of,
)
from symlayout.algebra.solve_divisibility import Fraction
from symlayout.algebra.table import Table
from symlayout.proof.certificate.checker import Refused
from symlayout.proof.certificate.logged_inequalities import Notes, Solving


class SolvingNotes(Notes):
    """A system that logs its substitutions."""

    __slots__ = ()

    def eliminate(self, name: str, value: Extent) -> None:
        """Replace a symbol, as `Intervals.eliminate` does, and log it."""
        difference = self.reduce(symbol(name) - value)
        if not self.context.vanishes(difference) and name in self.context.maxima:
            other = self.reduce(self.context.maxima[name])
            if not self.context.holds(other) and not self.context.holds(symbol(name) - 1):
                self.show(other if value != 0 else -other)
            self.note("resolve", name)
        elif not self.context.vanishes(difference):
            self.show_zero(difference)
        for end in self._ends.get(name, ()):
            e = self.reduce(substitute(end.goal, {name: value}))
            if isinstance(e, Poly) and e not in self.known and not self.holds_at_lows(e):  # it is learnt
                self._write(end)
        self.note("solve", name, encode(value))
        super().eliminate(name, value)

    def _resolve(self, name: str, difference: Extent) -> None:
        if not self.context.vanishes(self.reduce(difference)):
            m, other = self.reduce(symbol(name)), self.reduce(self.context.maxima[name])
            if not self.context.holds(other) and not self.context.holds(self.reduce(m - 1)):
                self.show(-other if difference == m else other if self.nonnegative(other) else m - 1)
            self.note("resolve", name)
        super()._resolve(name, difference)

    def _equate_primitive(self, e: Poly, where: str = "") -> None:
        self._without_factor(e)
        super()._equate_primitive(e, where)

    def _without_factor(self, e: Poly) -> None:
        """Log ``e == 0`` without the common factor of its coefficients, or that it has no solution."""
        primitive, whole = self.without_factors(e)
        if whole:
            if (common := exact_quotient(e, primitive) or 1) != 1:
                self.show(common - 1)
                self.note("equation", encode(primitive), encode(common), [[1, encode(e)]])
            return
        common = gcd(*(c for m, c in e.terms.items() if m))
        rest = e.terms.get((), 0) % common
        q = exact_quotient(e - rest, common) or 0  # e = common*q + rest, so that q >= 0 and q <= -1
        self._combine(q, common, [[encode(e), 1], [common - 1 - rest, 1]])
        self._combine(-1 - q, common, [[encode(-e), 1], [rest - 1, 1]])
        self._combine(-1, 1, [[encode(q), 1], [encode(-1 - q), 1]])

    def replace_floor(self, name: str, value: Extent) -> None:
        """Replace a floor, as `Intervals.replace_floor` does, and log why: only one integer is within its bounds."""
        n, d = self.floors[name]
        if not self.context.vanishes(self.reduce(symbol(name) - value)):
            self.show(n - d * value)
            self.show(d * value + d - 1 - n)
            self._show_equal(symbol(name), value, n, d)
        super().replace_floor(name, value)

    def rewrite(self, rule: Rule) -> None:
        """Rewrite by a rule, as `Intervals.rewrite` does, and log it."""
        self.note("rewrite", rule.times, list(rule.monomial), encode(rule.value))
        super().rewrite(rule)

    def raise_low(self, name: str, least: int, fact: Poly, where: str = "") -> None:
        """Raise a lower bound, as `Intervals.raise_low` does, and log its proof."""
        self._show_end(symbol(name) - least, name, fact)
        super().raise_low(name, least, fact, where)

    def lower_high(self, name: str, most: int, fact: Poly, where: str = "") -> None:
        """Lower an upper bound, as `Intervals.lower_high` does, and log its proof."""
        self._show_end(most - symbol(name), name, fact)
        super().lower_high(name, most, fact, where)

    def _show_end(self, goal: Extent, name: str, fact: Poly) -> None:
        """Log why a bound of *name* follows from a fact ``c*name + rest >= 0``, which fails beyond the bound."""
        if self.context.holds(goal):
            return
        c, others = coefficient_of(fact, name) or factored(fact, name)
        rising = isinstance(goal, Poly) and goal.terms[(name,)] > 0
        size = c if rising else -c
        # beyond the bound, where -1 - goal >= 0, the fact would be at most -1
        beyond = symbol(name) + (-1 - goal if rising else 1 + goal)
        assert isinstance(beyond, int)  # the value of the name that is nearest to the bound, and beyond it
        positive, rest = self._linear([(1, size)], 0), self._linear([(-1, others), (-beyond, c)], -1)
        products = [[encode(fact), 1], [encode(positive), encode(-1 - goal)], [encode(rest), 1]]
        self.note("cases", encode(goal), encode(goal), [], [["combine", -1, 1, products, []]])

    def _linear(self, parts: list[tuple[int, Extent]], constant: int, positive: Extent = 1) -> Extent:
        """Log that a sum of parts is >= 0, by the intervals of the parts, and return the sum."""
        proof = linear(self, parts, constant, positive)
        if proof is None:
            raise Refused(f"{sum((c * e for c, e in parts), constant)} >= 0 does not follow from intervals")
        return self._write(proof)

    def check_interval(self, name: str, where: str = "") -> None:
        """Check bounds, as `Intervals.check_interval` does; contradictory bounds add up to a negative constant."""
        low, high = self.low[name], self.high[name]
        if low is not None and isinstance(high, int) and high < low:
            ends = self._write_fact(symbol(name) - low), self._write_fact(high - symbol(name))
            self.note("combine", high - low, 1, [[encode(e), 1] for e in ends], [])
        super().check_interval(name, where)

    def _define_split(self, name: str, shift: Extent, radix: Extent, least: int, most: Extent) -> None:
        bottom, top = self.low[name], self.high[name]
        if bottom is None or top is None:
            raise Refused(f"{name} has no bounds")
        super()._define_split(name, shift, radix, least, most)
        digit, high, low = (symbol(n) for n in (name, f"{name}_0", f"{name}_1"))
        self.show(radix - 1)
        self.note("floor", *high.names, encode(digit + shift), encode(radix))
        rest = digit + shift - radix * high
        self.note("define", *low.names, encode(rest))
        for goal, end, part in (
            (high - least, digit - bottom, radix - 1 - rest),
            (most - high, top - digit, rest),
        ):  # scaled by the radix, the rest of the identity is an integer
            end = self._write_fact(self.reduce(end))
            left = self.reduce(radix * goal + radix - 1 - end - part)
            self._combine(goal, radix, [[encode(e), 1] for e in (end, part, left)])

    def _define(self, name: str, form: str, left: Extent, right: Extent) -> None:
        if form == "max":
            self.note("max", name, encode(right))
        else:
            self.show(right - 1)
            self.note("floor", name, encode(left), encode(right))
        super()._define(name, form, left, right)

    def take_entry(self, name: str, table: Table, at: Extent) -> None:
        """Add an entry of a table, as `Derived.take_entry` does, and log it."""
        self.note("entry", name, list(table.values), encode(at))
        super().take_entry(name, table, at)

    def _quotient(self, numerator: Extent, denominator: Extent, asked: Fraction | None = None) -> Extent:
        before = len(self.quotients)
        found = super()._quotient(numerator, denominator, asked)
        if len(self.quotients) > before:
            t = symbol(next(reversed(self.quotients)))
            self._note_quotient(t, numerator, denominator)
        return found

    def _learn_divisor(self, n: int, d: Extent) -> None:
        """Add bounds of a divisor, as `Divisions._learn_divisor` does, and log their proofs.

        The greatest common divisor of the constants ``d*t`` is a sum of multiples of them, and so ``d*m``.  Then
        ``m >= 1``, and ``d*m - d = d*(m - 1)``.
        """
        common, m = 0, collapse({})
        given: list[tuple[int, Extent]] = []
        for name, top in self._constants_divided_by(d).items():
            common, u, v = _combined(common, top)
            m = u * m + v * symbol(name)
            given = [(u * factor, zero) for factor, zero in given] + [(v, d * symbol(name) - top)]
        if common == gcd(common, n):
            zeros = [(factor, zero) for factor, e in given if factor and (zero := self.reduce(e)) != 0]
            plus, minus = ([[encode(sign * factor), encode(zero)] for factor, zero in zeros] for sign in (1, -1))
            self._combine(self.reduce(m - 1), d, [[common - 1, 1]], plus)
            self._combine(self.reduce(common - d), 1, [[encode(self.show(d)), encode(self.reduce(m - 1))]], minus)
            for name, top in self._constants_divided_by(d).items():
                t = symbol(name) if top > 0 else -symbol(name)
                zero = self.reduce(d * t - abs(top))
                products = [[encode(self.show(t)), encode(self.reduce(common - d))]]
                self._combine(self.reduce(t * common - abs(top)), 1, products, [[1, encode(zero)]] * (zero != 0))
        super()._learn_divisor(n, d)

    def _note_quotient(self, t: Poly, numerator: Extent, denominator: Extent) -> None:
        """Log that ``t = numerator/denominator`` is an integer, because ``u = n/d`` is an integer."""
        n, d, u, factor, rest, common = self._divided_before(numerator, denominator)
        (name,) = t.names
        value = symbol(u) * factor - rest
        equation = denominator * t - numerator
        self.note("define", name, encode(value))
        self.show(common - 1)
        given = (d, t - value), (-factor, n - d * symbol(u))
        self._solving.append(Solving(numerator, denominator, t, common, given))
        self._show_quotient(self._solving[-1])
        self.show(denominator - 1)
        for sign, bound in ((1, self.low[name]), (-1, self.high[name])):
            if isinstance(bound, int):  # d*(t - v) + d - 1 = (n - d*v + d - 1) + (d*t - n)
                goal = (t - bound) * sign
                rest = self._linear([(sign, numerator), (1 - sign * bound, denominator)], -1, denominator)
                self._combine(goal, denominator, [[encode(rest), 1]], [[sign, encode(equation)]])

    def _show_quotient(self, s: Solving) -> None:
        """Write down ``d*t - n == 0``, also where the rewriting by it has gone since."""
        given = [[encode(self.reduce(factor)), encode(self.reduce(zero))] for factor, zero in s.given]
        self.note("equation", encode(s.denominator * s.quotient - s.numerator), encode(self.reduce(s.common)), given)

    def _divided_before(
        self, numerator: Extent, denominator: Extent
    ) -> tuple[Extent, Extent, str, int, Extent, Extent]:
        """Return ``(n, d, u, f, rest, common)``: ``n = d*u`` implies ``numerator/denominator = f*u - rest``.

        *common* is ``d/denominator``.  The newest division is tried first; all are written in the symbols that remain.
        """
        for top, bottom, u in reversed(self._dividing):
            n, d = self.reduce(top), self.reduce(bottom)
            common = exact_quotient(d, denominator)
            if common is None:
                continue
            for f in (_bezout(n, numerator, denominator, common), -1):
                rest = exact_quotient(self.reduce(f * n - common * numerator), d)
                if rest is not None:
                    return n, d, u, f, rest, common
        raise Refused(f"no known division shows that ({numerator})/({denominator}) is exact")

    def note_quotient(self, numerator: Extent, denominator: Extent, quotient: Extent, why: Any = ()) -> None:
        """Cache a floor, as `System.note_quotient` does, and log ``0 <= e - k*q <= k - 1``."""
        super().note_quotient(numerator, denominator, quotient, why)
        e, k, q = (self.reduce(part) for part in (numerator, denominator, quotient))
        if self.context.floors.get((e, k)) != q:
            for goal, proof in zip_longest((e - k * q, k * q + k - 1 - e), why):
                if isinstance(proof, Derivation) and not self.context.holds(self.reduce(goal)):
                    self._write(proof)
                self.show(goal)
            before = self.context.floors.get((e, k))
            self.note("divide", encode(e), encode(k), encode(q))
            self._use_one_value(before, e, k, q)

    def _use_one_value(self, before: Extent | None, e: Extent, k: Extent, now: Extent) -> None:
        """Write *now*, which later facts make of ``floor(e/k)``, for the symbol that it was *before*.

        Then both give the same.
        """
        (name, *others) = names_of(before or 0) or ("",)
        if not others and before == symbol(name) and name in self.floors and not self.is_made_of(now, name):
            self._show_equal(symbol(name), now, e, k)
            self.replace_floor(name, now)

    def _show_equal(self, q: Extent, value: Extent, e: Extent, k: Extent) -> None:
        """Log that both are ``floor(e/k)``, the only integer between its bounds."""
        self._write(Derivation(q - value, ((1, k * q + k - 1 - e), (1, e - k * value)), k))
        self._write(Derivation(value - q, ((1, e - k * q), (1, k * value + k - 1 - e)), k))
        self.note("equal", encode(self.reduce(q - value)))


def _bezout(n: Extent, numerator: Extent, modulus: Extent, common: Extent) -> int:
    """Return *f* with ``f*n = common*numerator`` modulo ``common*modulus``, from one symbol of the numerator."""
    if not isinstance(n, Poly):
        return 1
    for monomial, coefficient in terms_of(numerator).items():
        if coefficient != 1 or len(monomial) != 1:
            continue
        split = coefficient_of(n, monomial[0])
        r = None if split is None else exact_quotient(split[0], common)
        if r in (1, -1):
            return int(r)  # type: ignore[arg-type]
        if isinstance(r, int) and isinstance(modulus, int):
            try:
                return pow(r, -1, modulus)
            except ValueError:
                continue
    return 1


def _combined(a: int, b: int) -> tuple[int, int, int]:
    """Return ``(g, u, v)`` with the greatest common divisor ``g = u*a + v*b``."""
    (g, u, v), (r, s, t) = (abs(a), 1 if a >= 0 else -1, 0), (abs(b), 0, 1 if b >= 0 else -1)
    while r:
        q = g // r
        (g, u, v), (r, s, t) = (r, s, t), (g - q * r, u - q * s, v - q * t)
    return g, u, v
