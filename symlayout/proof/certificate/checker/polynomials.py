"""Integer polynomials with a budget of work: the arithmetic of the checker.

A polynomial is a sum of terms.  A term is a coefficient and a monomial, which is a sorted tuple of names.  Each
operation counts the terms and names that it visits (`Work`).  So the check of any certificate takes a bounded time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Monomial = tuple[str, ...]
Terms = dict[Monomial, int]

MAX_DEGREE = 200  # most factors of a monomial; repeated substitution could double it without end
MAX_BITS = 2000  # most bits of a coefficient
_ONE: Terms = {(): 1}
_SHOWN = 12  # most terms of a polynomial in a message


class Refused(Exception):
    """The reason why a certificate does not prove its claim."""


class Work:
    """A counter of operations on terms, with a limit."""

    def __init__(self, most: int) -> None:
        self.done, self.most = 0, most

    def spend(self, operations: int) -> None:
        """Count *operations*; refuse the certificate if the count exceeds the limit."""
        self.done += operations
        if self.done > self.most:
            raise Refused(f"the check takes more than {self.most} operations on terms")


class Polynomial:
    """The sum of ``coefficient * product of names`` over *terms*; no coefficient is 0."""

    __slots__ = ("_hash", "_names", "terms", "work")

    def __init__(self, terms: Terms, work: Work) -> None:
        self.terms, self.work = terms, work
        self._hash: int | None = None
        self._names: frozenset[str] | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names in the polynomial."""
        if self._names is None:
            self._names = frozenset([name for monomial in self.terms for name in monomial])
        return self._names

    @property
    def constant(self) -> int | None:
        """The value of a constant polynomial; None for other polynomials."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __add__(self, other: Polynomial | int) -> Polynomial:
        return self._plus(other, 1)

    def __neg__(self) -> Polynomial:
        self.work.spend(len(self.terms))
        return Polynomial({monomial: -c for monomial, c in self.terms.items()}, self.work)

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self._plus(other, -1)

    def __rsub__(self, other: int) -> Polynomial:
        return -self + other

    def _plus(self, other: Polynomial | int, sign: int) -> Polynomial:
        """Return this polynomial plus *sign* times the other."""
        other = constant(other, self.work) if isinstance(other, int) else other
        if not other.terms:
            return self
        total = dict(self.terms)
        self.work.spend(len(total))
        _add(total, other.terms, self.work, sign)
        return Polynomial(total, self.work)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        factor = constant(other, self.work) if isinstance(other, int) else other
        if factor.terms == _ONE:
            return self
        if self.terms == _ONE:
            return factor
        total: Terms = {}
        for left, a in self.terms.items():
            spent = 0
            for right, b in factor.terms.items():
                _check_size(left, right, a, b)
                monomial = tuple(sorted(left + right)) if left and right else left or right
                spent += 1 + len(monomial)
                if c := total.get(monomial, 0) + a * b:
                    total[monomial] = c
                else:
                    del total[monomial]
            self.work.spend(spent)
        return Polynomial(total, self.work)

    def substitute(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """Return this polynomial with each name replaced by its entry of *values*, simultaneously."""
        self.work.spend(1)
        if self.names.isdisjoint(values):
            return self
        total: Terms = {}
        for monomial, coefficient in self.terms.items():
            kept = tuple([name for name in monomial if name not in values])
            if len(kept) == len(monomial):
                _add(total, {monomial: coefficient}, self.work)
                continue
            term = Polynomial({kept: coefficient}, self.work)
            for name in monomial:
                if name in values:
                    term = term * values[name]
            _add(total, term.terms, self.work)
        return Polynomial(total, self.work)

    def replace(self, factor: Monomial, value: Polynomial, times: int) -> Polynomial:
        """Return this polynomial with *times* the *factor* replaced by *value*, once in each term that it divides.

        Of a coefficient, the largest multiple of *times* with its sign and at most its size is replaced.
        """
        self.work.spend(len(self.terms))
        kept, cofactors = dict(self.terms), dict[Monomial, int]()
        for monomial, coefficient in self.terms.items():
            count = abs(coefficient) // times * (1 if coefficient > 0 else -1)
            if count and (rest := _without(monomial, factor)) is not None:
                cofactors[rest] = count
                kept[monomial] -= count * times
        if not cofactors:
            return self
        rests = Polynomial({m: c for m, c in kept.items() if c}, self.work)
        return rests + Polynomial(cofactors, self.work) * value

    def __repr__(self) -> str:
        return written(self.terms)


def constant(value: int, work: Work) -> Polynomial:
    """Return the polynomial that is the integer *value*."""
    return Polynomial({(): value} if value else {}, work)


def decode(data: Any, work: Work) -> Polynomial:
    """Return the polynomial of *data*: an int, or a list of terms ``[coefficient, name, ...]``.

    `schema` has checked this form.  `Refused` is raised if a coefficient is 0 or a monomial occurs twice.
    """
    if isinstance(data, int):
        return constant(data, work)
    terms: Terms = {}
    for coefficient, *names in data:
        work.spend(1 + len(names))
        monomial = tuple(sorted(names))
        if not coefficient or monomial in terms:
            raise Refused(f"{data!r:.200} is not a polynomial")
        _check_size(monomial, (), coefficient, 1)
        terms[monomial] = coefficient
    return Polynomial(terms, work)


def written(terms: Mapping[Monomial, int]) -> str:
    """Return terms as text, highest degree first, for messages."""
    parts = []
    for monomial, c in sorted(terms.items(), key=lambda term: (-len(term[0]), term[0]))[:_SHOWN]:
        size = [str(abs(c))] if abs(c) != 1 or not monomial else []
        parts += ["-" if c < 0 else "+", "*".join((*size, *monomial))]
    text = " ".join(parts + ["..."] * (len(terms) > _SHOWN)) or "+ 0"
    return text.removeprefix("+ ") if text[0] == "+" else "-" + text[2:]


def _add(total: Terms, terms: Terms, work: Work, sign: int = 1) -> None:
    """Add *terms*, times *sign*, to *total*."""
    work.spend(len(terms) + sum(map(len, terms)))
    for monomial, coefficient in terms.items():
        if c := total.get(monomial, 0) + sign * coefficient:
            total[monomial] = c
        else:
            del total[monomial]


def _check_size(left: Monomial, right: Monomial, a: int, b: int) -> None:
    """Refuse a product of two terms with a degree or a coefficient beyond the limits."""
    if len(left) + len(right) > MAX_DEGREE:
        raise Refused(f"a polynomial has a degree beyond {MAX_DEGREE}")
    if a.bit_length() + b.bit_length() > MAX_BITS:
        raise Refused(f"a coefficient has more than {MAX_BITS} bits")


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """Return ``monomial / factor``, or None if *factor* does not divide *monomial*."""
    rest = list(monomial)
    for name in factor:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest)
