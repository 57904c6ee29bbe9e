"""A system of facts that writes down how it solves equations and names quotients, in the rules of `check`."""

from __future__ import annotations

from math import gcd

from symlayout.algebra.nonnegative import Derivation
from symlayout.algebra.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    encode,
    exact_quotient,
    names_of,
    symbol,
    terms_of,
)
from symlayout.algebra.solve_divisibility import Fraction
from symlayout.proof.certificate.checker import Refused
from symlayout.proof.certificate.logged_inequalities import Notes


class SolvingNotes(Notes):
    """A system that writes down its substitutions."""

    __slots__ = ()

    def eliminate(self, name: str, value: Extent) -> None:
        """As `Intervals.eliminate`."""
        difference = self.reduce(symbol(name) - value)
        if not self.context.vanishes(difference) and name in self.context.maxima:
            other = self.reduce(self.context.maxima[name])
            if not self.context.holds(other) and not self.context.holds(symbol(name) - 1):
                self.show(other if value != 0 else -other)
            self.note("resolve", name)
        elif not self.context.vanishes(difference):
            self.show_zero(difference)
        self.note("solve", name, encode(value))
        super().eliminate(name, value)

    def _resolve(self, name: str, difference: Extent) -> None:
        if not self.context.vanishes(self.reduce(difference)):
            m, other = self.reduce(symbol(name)), self.reduce(self.context.maxima[name])
            if not self.context.holds(other) and not self.context.holds(self.reduce(m - 1)):
                self.show(-other if difference == m else other if self.nonnegative(other) else m - 1)
            self.note("resolve", name)
        if isinstance(difference, Poly):
            self._without_factor(difference)
        super()._resolve(name, difference)

    def _without_factor(self, e: Poly) -> None:
        """Write down ``e == 0`` without the common factor of its coefficients, or that it has no solution."""
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
        """As `Intervals.replace_floor`: a quotient is the only integer between its bounds."""
        n, d = self.floors[name]
        form, q = self._form(name), symbol(name)
        low, high = self.show(n - d * value), self.show(d * value + d - 1 - n)
        self._write(Derivation(q - value, ((1, form.above), (1, low)), d))
        self._write(Derivation(value - q, ((1, form.below), (1, high)), d))
        self.note("equal", encode(self.reduce(q - value)))
        super().replace_floor(name, value)

    def rewrite(self, monomial: Monomial, value: Extent) -> None:
        """As `Intervals.rewrite`."""
        self.note("rewrite", list(monomial), encode(value))
        super().rewrite(monomial, value)

    def raise_low(self, name: str, least: int, fact: Poly, where: str = "") -> None:
        """As `Intervals.raise_low`."""
        self._show_end(symbol(name) - least, name, fact)
        super().raise_low(name, least, fact, where)

    def lower_high(self, name: str, most: int, fact: Poly, where: str = "") -> None:
        """As `Intervals.lower_high`."""
        self._show_end(most - symbol(name), name, fact)
        super().lower_high(name, most, fact, where)

    def _show_end(self, goal: Extent, name: str, fact: Poly) -> None:
        """Write down why a bound of *name* follows from a fact ``c*name + rest >= 0``: otherwise it is negative."""
        split = coefficient_of(fact, name)
        if self.context.holds(goal) or split is None:
            return
        size = split[0] if isinstance(goal, Poly) and goal.terms[(name,)] > 0 else -split[0]
        # beyond the bound, where -1 - goal >= 0, the fact would be at most -1
        rest = self.show(-1 - fact - size * (-1 - goal))
        products = [[encode(fact), 1], [encode(self.show(size)), encode(-1 - goal)], [encode(rest), 1]]
        self.note("cases", encode(goal), encode(goal), [], [["combine", -1, 1, products, []]])

    def check_interval(self, name: str, where: str = "") -> None:
        """As `Intervals.check_interval`: bounds that leave nothing add up to a negative constant."""
        low, high = self.low[name], self.high[name]
        if low is not None and isinstance(high, int) and high < low:
            ends = self._write_fact(symbol(name) - low), self._write_fact(high - symbol(name))
            self.note("combine", high - low, 1, [[encode(e), 1] for e in ends], [])
        super().check_interval(name, where)

    def _define_split(self, name: str, shift: Extent, radix: Extent, least: int, most: Extent) -> None:
        bottom, top = self.low[name], self.high[name]
        if bottom is None or top is None:
            raise Refused(f"{name} has no ends")
        super()._define_split(name, shift, radix, least, most)
        digit, high, low = (symbol(n) for n in (name, f"{name}_0", f"{name}_1"))
        self.show(radix - 1)
        self.note("floor", *high.names, encode(digit + shift), encode(radix))
        rest = digit + shift - radix * high
        self.note("define", *low.names, encode(rest))
        for goal, end, part in (
            (high - least, digit - bottom, radix - 1 - rest),
            (most - high, top - digit, rest),
        ):  # scaled by the radix, what is left of the identity is an integer
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

    def _quotient(self, numerator: Extent, denominator: Extent, asked: Fraction | None = None) -> Extent:
        before = len(self.quotients)
        found = super()._quotient(numerator, denominator, asked)
        if len(self.quotients) > before:
            t = symbol(next(reversed(self.quotients)))
            self._note_quotient(t, numerator, denominator)
        return found

    def _note_quotient(self, t: Poly, numerator: Extent, denominator: Extent) -> None:
        """Write down that ``t = numerator/denominator`` is an integer, since ``u = n/d`` is one."""
        n, d, u, factor, rest, common = self._divided_before(numerator, denominator)
        (name,) = t.names
        value = symbol(u) * factor - rest
        equation = denominator * t - numerator
        self.note("define", name, encode(value))
        self.show(common - 1)
        given = [[encode(d), encode(t - value)], [encode(-factor), encode(n - d * symbol(u))]]
        self.note("equation", encode(equation), encode(common), given)
        self._solving.append((numerator, denominator, t))
        self.show(denominator - 1)
        for sign, bound in ((1, self.low[name]), (-1, self.high[name])):
            if isinstance(bound, int):  # d*(t - v) + d - 1 = (n - d*v + d - 1) + (d*t - n)
                goal = (t - bound) * sign
                rest = self.show((numerator - denominator * bound) * sign + denominator - 1)
                self._combine(goal, denominator, [[encode(rest), 1]], [[sign, encode(equation)]])

    def _divided_before(
        self, numerator: Extent, denominator: Extent
    ) -> tuple[Extent, Extent, str, int, Extent, Extent]:
        """Return ``(n, d, u, f, rest, common)``: from ``n = d*u`` follows ``numerator/denominator = f*u - rest``.

        *common* is ``d/denominator``.  The newest division is tried first, each in the symbols that are left.
        """
        for top, bottom, u in reversed(self._dividing):
            n, d = self.reduce(top), self.reduce(bottom)
            common = exact_quotient(d, denominator)
            if common is None:
                continue
            for f in (_bezout(n, numerator, denominator, common), -1):
                rest = exact_quotient(f * n - common * numerator, d)
                if rest is not None:
                    return n, d, u, f, rest, common
        raise Refused(f"({numerator})/({denominator}) does not follow from what divides what")

    def note_quotient(self, numerator: Extent, denominator: Extent, quotient: Extent) -> None:
        """As `System.note_quotient`: ``0 <= e - k*q <= k - 1``."""
        super().note_quotient(numerator, denominator, quotient)
        e, k, q = (self.reduce(part) for part in (numerator, denominator, quotient))
        if self.context.floors.get((e, k)) != q:
            below, above = self.reduce(e - k * q), self.reduce(k * q + k - 1 - e)
            if not (self.context.holds(below) and self.context.holds(above)):
                self._show_floor(e, k, q, below, above)
            before = self.context.floors.get((e, k))
            self.note("divide", encode(e), encode(k), encode(q))
            self._use_one_value(before, q)

    def _use_one_value(self, before: Extent | None, now: Extent) -> None:
        """Write *now*, which later facts make of a floor, for its symbol, so that both give the same."""
        (name, *others) = names_of(before or 0) or ("",)
        if not others and before == symbol(name) and name in self.floors and not self.is_made_of(now, name):
            self.replace_floor(name, now)

    def _show_floor(self, e: Extent, k: Extent, q: Extent, below: Extent, above: Extent) -> None:
        """Write down why ``0 <= e - k*q <= k - 1``."""
        for proofs in self._divided_twice(e, k, q):
            for proof in proofs:
                self._write(proof)
            if self.context.holds(below) and self.context.holds(above):
                return
        self.show(below)
        self.show(above)

    def _divided_twice(self, e: Extent, k: Extent, q: Extent) -> list[tuple[Derivation, Derivation]]:
        """Return how the quotient may follow from two that were shown: by the factors of *k*, or of a floor's."""
        found = []
        known = [(*pair, floor) for pair, floor in self.context.floors.items()]
        for e1, g, q1 in known:
            w, m = exact_quotient(self.reduce(e - e1), k), exact_quotient(k, g)
            if w is None or m is None or m == 1 or g == 1:
                continue
            # e1 - g*m*q2 = (e1 - g*q1) + g*(q1 - m*q2), and the other end alike
            if self.context.floors.get((q1, m)) == self.reduce(q - w):
                q2 = q - w
                ends = (e1 - g * q1, g * q1 + g - 1 - e1), (q1 - m * q2, m * q2 + m - 1 - q1)
                below = Derivation(e1 - g * m * q2, ((1, ends[0][0]), (g, ends[1][0])))
                above = Derivation(g * m * q2 + g * m - 1 - e1, ((1, ends[0][1]), (g, ends[1][1])))
                found.append((below, above))
        for name in sorted(names_of(e) & self.floors.keys()):
            n, d = self.floors[name]
            split = coefficient_of(e, name) if isinstance(e, Poly) else None
            if split is None or split[0] != 1:
                continue
            form, c = self._form(name), split[1]
            for e1, k1, q1 in known:
                w = None if k1 != self.reduce(d * k) else exact_quotient(self.reduce(n + c * d - e1), k1)
                if w is not None and self.reduce(q1 + w - q) == 0:
                    # d*(f + c - k*q) + d - 1 = (d*f + d - 1 - n) + (n + c*d - d*k*q)
                    whole = n + c * d
                    below = Derivation(e - k * q, ((1, form.above), (1, whole - k1 * q)), d)
                    above = Derivation(k * q + k - 1 - e, ((1, form.below), (1, k1 * q + k1 - 1 - whole)), d)
                    found.append((below, above))
        return found


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
