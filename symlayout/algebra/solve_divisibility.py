"""Solve divisibility and equations by substitution, so that they do not restrict the symbols that remain.

``2 | H`` becomes ``H = 2*g`` with a new symbol ``g``.  A divisibility that no symbol solves (``b | H*W``) becomes a
rewrite of one monomial.
"""

from __future__ import annotations

from math import gcd
from typing import Any, NamedTuple, Self

from symlayout.algebra.defined_symbols import Derived
from symlayout.algebra.fact_store import Rule, drop, parenthesised
from symlayout.algebra.intervals import Interval, positive_part
from symlayout.algebra.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    collapse,
    exact_quotient,
    names_of,
    symbol,
    terms_of,
)


class Fraction(NamedTuple):
    """A fraction ``numerator / denominator`` with a denominator >= 1.

    ``value`` and ``modulus`` are the same fraction in the user's dims and in lowest terms; ``name`` names its symbol.
    """

    numerator: Extent
    denominator: Extent
    value: Extent
    modulus: Extent
    name: str


class Divisions(Derived):
    """A system that solves divisibility and equations for one of their symbols."""

    __slots__ = ()

    def _solve_constant(self, n: Extent, d: int, asked: Fraction | None = None) -> Extent | None:
        """Add ``d | n``, solved for one symbol of *n* if possible; return ``n/d``, or None if *d* never divides *n*."""
        rest: dict[Monomial, int] = {m: r for m, c in terms_of(n).items() if (r := c % d)}
        constant = rest.pop((), 0)
        if not rest:
            return None if constant else exact_quotient(n, d)
        common = gcd(d, *rest.values())
        if constant % common:
            return None
        modulus = d // common
        if constant:
            rest[()] = constant
        # newest symbol first: more expressions mention the older ones
        for name in [*reversed(self.low)]:  # a quotient that is of no use stays
            unit = rest.get((name,), 0) // common
            if not unit or gcd(unit, modulus) != 1 or any(name in m and len(m) > 1 for m in rest):
                continue
            inverse = pow(unit, -1, modulus)
            others = {m: r for m, c in rest.items() if m != (name,) and (r := c // common * inverse % modulus)}
            shift = collapse(others)
            value = self._quotient(symbol(name) + shift, modulus, asked) * modulus - shift
            if self.is_made_of(value, name):
                continue
            self.eliminate(name, value)
            return exact_quotient(self.reduce(n), d)
        return self._keep_equation(n, d)

    def _solve_symbolic(self, n: Extent, d: Poly, asked: Fraction) -> Extent | None:
        """Add ``d | n``, solved for one symbol that occurs only in *n* if possible; return ``n/d`` as above."""
        n, reduced = self.lowest_terms(n, d)
        if isinstance(reduced, int):
            return exact_quotient(n, reduced) or self._solve_constant(n, reduced)
        d = reduced
        whole: Extent = 0
        rest: Extent = n
        if isinstance(n, Poly):
            whole, rest = _split_multiples(n, d)
            used = names_of(d)
            for name in [*reversed(self.low)]:
                if name in used or not isinstance(rest, Poly) or (name,) not in rest.terms:
                    continue
                split = coefficient_of(rest, name)
                if split is not None and split[0] in (1, -1):
                    shift = split[1] * split[0]
                    t = self._quotient(symbol(name) + shift, d, asked)
                    if self.is_made_of(value := d * t - shift, name):
                        continue
                    self.eliminate(name, value)
                    return whole + t * split[0]
        if isinstance(rest, int) and rest < 0:  # name the quotient 2/b, not (-2)/b
            kept = self._keep_equation(-rest, d)
            return None if kept is None else whole - kept
        kept = self._keep_equation(rest, d)
        return None if kept is None else whole + kept

    def exact_by_quotients(self, n: Extent, d: Extent) -> Extent | None:
        """Return ``n/d`` in known quotients by factors of *d*, as ``(2*N*W - c)/c`` is ``(2*N/c)*W - 1``, or None."""
        if isinstance(d, int):  # such a division is solved for a symbol of its numerator
            return None
        whole, rest = self._split_exactly(n, d)
        return self.reduce(whole) if rest == 0 else None

    def split_by_quotients(self, n: Extent, d: Extent) -> tuple[Extent, Extent]:
        """Return ``(whole, rest)`` with ``n = d*whole + rest``, by the known exact quotients by *d* or factors of it.

        ``H*W`` is ``b*c`` times ``(H/b)*(W/c)``, where these are known.
        """
        whole: Extent = 0
        rest = n
        for name, (top, bottom) in self.quotients.items() if rest != 0 else ():
            divisor, part = self.reduce(bottom), self.reduce(top)
            if divisor != 1 and part != 0 and (others := exact_quotient(d, divisor)) is not None:
                factor, without = _split_multiples(rest, part)
                more, kept = self._split_exactly(factor, others) if factor != 0 else (factor, factor)
                if more != 0:
                    whole, rest = whole + more * symbol(name), without + kept * part
        return whole, rest

    def _split_exactly(self, n: Extent, d: Extent) -> tuple[Extent, Extent]:
        """Return ``(whole, rest)`` with ``n = d*whole + rest``, by polynomial division and `split_by_quotients`."""
        whole, rest = _split_multiples(n, d)
        more, rest = self.split_by_quotients(rest, d)
        return whole + more, rest

    def _keep_equation(self, n: Extent, d: Extent) -> Extent | None:
        """Add ``n == d*t`` for a new symbol ``t``, as a rewrite of one monomial, and return ``t``."""
        low, high = self.interval(n)
        if low == high == 0:
            return 0
        t = self._quotient(n, d)
        equation = self.reduce(d * t - n)
        self.learn(equation)
        self.learn(-equation)
        if isinstance(n, int):
            self._learn_divisor(n, d)
        elif low is not None and low > 0:  # n > 0, so its divisor d is at most n
            self.learn(n - d)
        self._rewrite_zero(equation)
        return t

    def _learn_divisor(self, n: int, d: Extent) -> None:
        """Add bounds that follow from *d* dividing the constant *n*.

        *d* also divides the greatest common divisor of *n* and all other constants that it is known to divide.
        """
        multiples = self._constants_divided_by(d)
        common = gcd(n, *multiples.values())
        self.learn(common - d)
        for name, top in multiples.items():  # d <= common, so |top/d| >= |top/common|
            gap = symbol(name) * common - top
            self.learn(gap if top > 0 else -gap)

    def _constants_divided_by(self, d: Extent) -> dict[str, int]:
        """Return the constants that *d* is known to divide, by the symbols of the quotients."""
        return {
            name: top
            for name, (top, bottom) in self.quotients.items()
            if isinstance(top, int) and self.reduce(bottom) == d and name in self.low
        }

    def _rewrite_zero(self, equation: Extent) -> None:
        """Add a rule from ``equation == 0`` that replaces one of its terms.

        This is a product with the coefficient 1 or -1; the newest quotient is replaced last.  A system that is `turned`
        rather replaces a multiple than the newest quotient: ``2*C`` by ``b*t``, so that ``b`` divides what is written,
        where others replace ``b*t``, so that the bounds of ``C`` are those of what is written.  Of several terms it
        takes one that is a sum of others, whose bounds say more than those of a difference.
        """
        newest = [name for name in self.quotients][-1:]

        def order(term: tuple[Monomial, int]) -> tuple[Any, ...]:
            monomial, c = term
            falling = sum(c * other > 0 for other in terms_of(equation).values()) if abs(c) > 1 else 0
            return not any(n in newest for n in monomial), -abs(c), -falling, len(monomial), monomial

        terms = sorted([(m, c) for m, c in terms_of(equation).items() if len(m) > (abs(c) == 1)], key=order)
        usual = [t for t in terms if abs(t[1]) == 1][-1:]
        for monomial, c in [t for t in terms if t not in usual][-1:] or usual if self.turned else usual:
            rule = Rule(monomial, collapse({monomial: abs(c)}) - equation * (1 if c > 0 else -1), abs(c))
            if (
                not rule.loops()
                and monomial not in [r.monomial for r in self.rules]
                and not any(self.is_made_of(rule.value, name) for name in monomial)
            ):
                if rule.times > 1:
                    self._learn_range(rule)
                self.rewrite(rule)
                return
        self.equations.append(equation)

    def turn(self) -> Self | None:
        """Return a copy that is `turned`; None if it has the same rules."""
        copy = self.fork()
        copy.turned, copy.rules, copy.equations = True, [], []
        for equation in (*[rule.equation for rule in self.rules], *self.equations):
            copy._rewrite_zero(equation)
        return None if copy.rules == self.rules else copy

    def _learn_range(self, rule: Rule) -> None:
        """Add that the value of a rule is within the bounds of what it replaces, unless its own bounds say so."""
        (low, high), (least, most) = self.interval(collapse({rule.monomial: rule.times})), self.interval(rule.value)
        if low is not None and (least is None or least < low):
            self.learn(rule.value - low)
        if high is not None and (most is None or most > high):
            self.learn(high - rule.value)

    def _unit_symbol(self, e: Extent) -> tuple[str, Extent] | None:
        """Return ``(name, value)`` so that ``e == 0`` says ``name == value``, for the newest such name; else None."""
        if not isinstance(e, Poly):
            return None
        for name in reversed(self.low):
            split = coefficient_of(e, name) if (name,) in e.terms and name not in self.floors else None
            if split is not None and split[0] in (1, -1) and not self.is_made_of(split[1], name):
                return name, -split[1] * split[0]
        return None

    def _fraction(self, numerator: Extent, denominator: Extent) -> Fraction:
        """Return ``numerator / denominator`` with its form in the user's dims."""
        top, below = self.to_user(numerator)
        bottom, above = self.to_user(denominator)
        n, d = self.lowest_terms(top * above, bottom * below)
        return Fraction(numerator, denominator, n, d, f"{parenthesised(n)}/{parenthesised(d)}")

    def _quotient(self, numerator: Extent, denominator: Extent, asked: Fraction | None = None) -> Extent:
        """Return the symbol for the exact quotient ``numerator / denominator``, or its value if it has been solved.

        *asked* may pass the `Fraction` of these two, to compute it only once.
        """
        if asked is None or asked[:2] != (numerator, denominator):
            asked = self._fraction(numerator, denominator)
        _, _, n, d, name = asked
        if name not in self.quotients:
            self.quotients[name] = (n, d)
            self._samples = None
            self.low[name], self.high[name] = _quotient_interval(self.interval(numerator), self.interval(denominator))
            self.check_interval(name)
        return self.reduce(symbol(name))

    def without_factors(self, e: Poly) -> tuple[Extent, bool]:
        """Divide ``e == 0`` by common factors that are >= 1; return it, and False if divisibility shows ``e != 0``."""
        terms = e.terms
        for name in sorted(set.intersection(*(set(m) for m in terms))):
            if (self.low.get(name) or 0) >= 1:
                terms = {drop(m, name): c for m, c in terms.items()}
        without = collapse(dict(terms))
        return primitive_equation(without) if isinstance(without, Poly) else (without, without == 0)


def _split_multiples(n: Extent, d: Extent) -> tuple[Extent, Extent]:
    """Return ``(whole, rest)`` with ``n = d*whole + rest``; a *d* of one term is divided out term by term."""
    if (exact := exact_quotient(n, d)) is not None:
        return exact, 0
    if len(terms_of(d)) > 1:
        return 0, n
    whole: Extent = 0
    rest: Extent = 0
    for monomial, coefficient in terms_of(n).items():
        term = collapse({monomial: coefficient})
        quotient = exact_quotient(term, d)
        whole, rest = (whole, term + rest) if quotient is None else (quotient + whole, rest)
    return whole, rest


def evident_floor(n: Extent, d: Extent) -> Extent | None:
    """Return ``floor(n/d)`` if *d* divides all of *n* but a constant, as in ``(4*g + 2)/4``; else None."""
    return exact_quotient(n - terms_of(n).get((), 0) % d, d) if isinstance(d, int) else None


def primitive_equation(e: Poly) -> tuple[Extent, bool]:
    """Divide ``e == 0`` by the common factor of its coefficients; return it, and whether that divides the constant."""
    common = gcd(*(c for m, c in e.terms.items() if m))
    constant = e.terms.get((), 0)
    if constant % common:
        return e, False
    return collapse({m: c // common for m, c in e.terms.items()}), True


def _quotient_interval(n: Interval, d: Interval) -> Interval:
    """Return the bounds of ``n/d`` for integer quotients and ``d >= 1``."""
    n_low, n_high = n
    d_low, d_high = positive_part(d)
    if n_low is None:
        low = None
    elif n_low >= 0:
        low = (1 if n_low else 0) if d_high is None else -(-n_low // d_high)
    else:
        low = -(-n_low // d_low)
    if n_high is None:
        high = None
    elif n_high >= 0:
        high = n_high // d_low
    else:
        high = -1 if d_high is None else n_high // d_high
    return low, high
