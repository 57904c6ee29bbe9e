"""Integer polynomials in named symbols: extents and coordinates are made of them.

An `Extent` is an ``int`` or a `Poly`.  A constant is always an ``int``, so concrete shapes stay Python integers.  A
`Poly` maps monomials (sorted tuples of names, with repetition) to non-zero integer coefficients.  Nothing here factors
or solves; the one division is `exact_quotient`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from math import gcd
from operator import index
from typing import Any

from symlayout.errors import ShapeError, shown

Monomial = tuple[str, ...]

MAX_PRODUCTS = 50_000  # most products of terms in one multiplication: bounds the time of an answer


class Poly:
    """A polynomial with integer coefficients that is not a constant.

    >>> h, w = symbol("h"), symbol("w")
    >>> (h + 1) * (w - 2)
    h*w - 2*h + w - 2
    >>> (h + 1) - h
    1
    """

    __slots__ = ("_form", "_hash", "_names", "_text", "terms")

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._hash = 0
        self._names: frozenset[str] | None = None
        self._form: frozenset[tuple[Monomial, int]] | None = None
        self._text = ""

    def __reduce__(self) -> tuple[type[Poly], tuple[dict[Monomial, int]]]:
        return Poly, (self.terms,)  # without the cached hash: another process hashes otherwise

    @property
    def names(self) -> frozenset[str]:
        """The names of the symbols that occur."""
        if self._names is None:
            self._names = frozenset([name for monomial in self.terms for name in monomial])
        return self._names

    @property
    def form(self) -> frozenset[tuple[Monomial, int]]:
        """The terms without the constant."""
        if self._form is None:
            self._form = frozenset([item for item in self.terms.items() if item[0]])
        return self._form

    def __add__(self, other: Extent) -> Extent:
        if isinstance(other, int):
            if not other:
                return self
            terms = dict(self.terms)
            constant = terms.get((), 0) + other
            if constant:
                terms[()] = constant
            else:
                del terms[()]
            return Poly(terms)
        if not isinstance(other, Poly):
            return _foreign(other)
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return collapse(terms)

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly({monomial: -coefficient for monomial, coefficient in self.terms.items()})

    def __sub__(self, other: Extent) -> Extent:
        if isinstance(other, int):
            return self + -other
        if not isinstance(other, Poly):
            return _foreign(other)
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) - coefficient
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return collapse(terms)

    def __rsub__(self, other: Extent) -> Extent:
        return -self + other

    def __mul__(self, other: Extent) -> Extent:
        if isinstance(other, int):
            if other == 1:
                return self
            if not other:
                return 0
            return Poly({monomial: coefficient * other for monomial, coefficient in self.terms.items()})
        if not isinstance(other, Poly):
            return _foreign(other)
        if len(self.terms) * len(other.terms) > MAX_PRODUCTS:
            raise ShapeError(
                f"a product of {len(self.terms)} by {len(other.terms)} terms exceeds {MAX_PRODUCTS} in all\n"
                "  help: name the factors as dims of their own, or raise symlayout.algebra.polynomial.MAX_PRODUCTS",
                "budget",
            )
        terms: dict[Monomial, int] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = tuple(sorted(left + right)) if left and right else left + right
                total = terms.get(monomial, 0) + a * b
                if total:
                    terms[monomial] = total
                else:
                    del terms[monomial]
        return collapse(terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: Extent) -> Extent:
        return _floor(self, other)

    def __rfloordiv__(self, other: Extent) -> Extent:
        return _floor(other, self)

    def __mod__(self, other: Extent) -> Extent:
        quotient = _floor(self, other)
        return quotient if quotient is NotImplemented else self - other * quotient

    def __rmod__(self, other: Extent) -> Extent:
        quotient = _floor(other, self)
        return quotient if quotient is NotImplemented else other - self * quotient

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return text(self)


Extent = int | Poly

DIVIDED: ContextVar[Callable[[Extent, Extent], Extent] | None] = ContextVar("DIVIDED", default=None)
"""What ``//`` of extents is, where a declaration may divide them: a system of facts has the symbol of the floor."""


def _floor(numerator: Extent, denominator: Extent) -> Extent:
    divided = DIVIDED.get()
    if divided is None or not isinstance(numerator, int | Poly) or not isinstance(denominator, int | Poly):
        return NotImplemented  # type: ignore[no-any-return]
    return divided(numerator, denominator)


@lru_cache(maxsize=4096)  # one object per name: its hash and text are computed once
def symbol(name: str) -> Poly:
    """Return the polynomial that is the symbol *name*."""
    return Poly({(name,): 1})


def integer_or_extent(value: Any) -> Extent:
    """Return a value that a declaration computes with, as an int or a polynomial.

    Raises
    ------
    ShapeError
        ``attr_dtype``: it is neither, such as a dim that was not made an extent.

    Examples
    --------
    >>> integer_or_extent(3), integer_or_extent(symbol("N"))
    (3, N)
    """
    if isinstance(value, int | Poly):
        return value
    try:
        return index(value)
    except TypeError:
        raise _no_extent(value) from None


def _foreign(other: Any) -> Any:
    """Return `NotImplemented` for an operand of a class that may compute with polynomials; refuse SymPy's."""
    if hasattr(other, "free_symbols"):
        raise _no_extent(other)
    return NotImplemented


def _no_extent(value: Any) -> ShapeError:
    return ShapeError(
        f"a declaration computes with {shown(value)}, which is neither an integer, an extent nor a coordinate\n"
        "  help: x.extent(value), with x the declaration's operand, makes an extent of a dim or an expression of dims",
        "attr_dtype",
    )


def collapse(terms: dict[Monomial, int]) -> Extent:
    """Return *terms* as an `Extent`; no coefficient is zero."""
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Poly(terms)


def terms_of(e: Extent) -> Mapping[Monomial, int]:
    """Return the coefficients of *e* by monomial; the monomial of the constant is ``()``."""
    return e.terms if isinstance(e, Poly) else {(): e} if e else {}


def names_of(e: Extent) -> frozenset[str]:
    """Return the symbols that *e* mentions."""
    return e.names if isinstance(e, Poly) else frozenset()


def product(factors: Iterable[Extent]) -> Extent:
    """Return the product of *factors*; 1 if there are none."""
    result: Extent = 1
    for factor in factors:
        result = factor * result
    return result


def content(terms: Mapping[Monomial, int]) -> int:
    """Return the greatest common divisor of the coefficients; 0 if there are none."""
    return gcd(*terms.values())


def factored(e: Poly, name: str) -> tuple[Extent, Extent]:
    """Return ``(c, rest)`` with ``e = c*name + rest``, where *c* may mention *name*, and *rest* does not."""
    inside, outside = {}, {}
    for monomial, c in e.terms.items():
        if name in monomial:
            at = monomial.index(name)
            inside[monomial[:at] + monomial[at + 1 :]] = c
        else:
            outside[monomial] = c
    return collapse(inside), collapse(outside)


def coefficient_of(e: Poly, name: str) -> tuple[Extent, Extent] | None:
    """Return ``(c, rest)`` with ``e = c*name + rest``, where neither mentions *name*; None if *e* is not linear in it.

    >>> coefficient_of(symbol("b") * symbol("q") + 3, "q")
    (b, 3)
    """
    linear: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, value in e.terms.items():
        if name not in monomial:
            rest[monomial] = value
            continue
        at = monomial.index(name)
        other = monomial[:at] + monomial[at + 1 :]
        if name in other:
            return None
        linear[other] = value
    return collapse(linear), collapse(rest)


def substitute(e: Extent, values: Mapping[str, Extent]) -> Extent:
    """Return *e* with each name replaced by its entry of *values*; all names are replaced simultaneously.

    >>> substitute(symbol("h") * 2 + 1, {"h": symbol("g") - 1})
    2*g - 1
    """
    if isinstance(e, int) or e.names.isdisjoint(values):
        return e
    result: Extent = 0
    kept = dict(e.terms)
    for monomial, coefficient in e.terms.items():
        term: Extent = coefficient
        rest = monomial
        for name in monomial:
            if name in values:
                term = values[name] * term
                at = rest.index(name)
                rest = rest[:at] + rest[at + 1 :]
        if rest is not monomial:
            del kept[monomial]
            result = result + (term * Poly({rest: 1}) if rest else term)
    return result + collapse(kept) if kept else result


def evaluate(e: Extent, values: Mapping[str, int]) -> int:
    """Return the exact integer value of *e* at *values*, which contains every name of *e*."""
    if isinstance(e, int):
        return e
    total = 0
    for monomial, coefficient in e.terms.items():
        for name in monomial:
            coefficient *= values[name]
        total += coefficient
    return total


def exact_quotient(numerator: Extent, denominator: Extent) -> Extent | None:
    """Return the polynomial ``q`` with ``numerator == denominator * q``, or None if none exists.

    The method is long division in graded lexicographic order, which is complete for a single divisor
    (Cox, Little, O'Shea, Ideals, Varieties, and Algorithms, section 2.3).

    >>> h = symbol("h")
    >>> exact_quotient(h * h - 1, h + 1)
    h - 1
    >>> exact_quotient(h, 2) is None
    True
    """
    if denominator == 1:
        return numerator
    if denominator == 0:
        return None
    if isinstance(denominator, int):
        if isinstance(numerator, int):
            return None if numerator % denominator else numerator // denominator
        for coefficient in numerator.terms.values():
            if coefficient % denominator:
                return None
        return Poly({m: c // denominator for m, c in numerator.terms.items()})
    if isinstance(numerator, int):
        return None if numerator else 0
    if not denominator.names <= numerator.names:  # a product mentions every symbol of its factors
        return None
    lead = max(denominator.terms, key=_grade)
    scale = denominator.terms[lead]
    quotient: Extent = 0
    rest: Extent = numerator
    while isinstance(rest, Poly):
        top = max(rest.terms, key=_grade)
        cofactor = without(top, lead)
        if cofactor is None or rest.terms[top] % scale:
            return None
        term = collapse({cofactor: rest.terms[top] // scale})
        quotient = term + quotient
        rest = rest - denominator * term
    return None if rest else quotient


def _grade(monomial: Monomial) -> tuple[int, Monomial]:
    # Degree first, then sorted tuples of equal length lexicographically.  The lexicographic part orders names the
    # other way round than textbooks do (later names are greater); this is a monomial order all the same.
    return len(monomial), monomial


def without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """Return ``monomial / divisor``, or None if *divisor* does not divide *monomial*."""
    rest = list(monomial)
    for name in divisor:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest)


def replace_monomial(e: Extent, monomial: Monomial, value: Extent, times: int = 1) -> Extent:
    """Return *e* with *times* the *monomial* replaced by *value*, once in each term that *monomial* divides.

    A term keeps less than *times* of it.

    >>> h, w, q = symbol("h"), symbol("w"), symbol("q")
    >>> replace_monomial(h * w * 3 + h, ("h", "w"), q * 2)
    h + 6*q
    >>> replace_monomial(h * w * 3 + h, ("h",), q, times=2)
    h*w + q*w + h
    """
    kept: dict[Monomial, int] = {}
    cofactors: dict[Monomial, int] = {}
    for term, coefficient in terms_of(e).items():
        cofactor = without(term, monomial) if abs(coefficient) >= times else None
        if cofactor is None:
            kept[term] = coefficient
        else:
            rest = coefficient % times if coefficient > 0 else -(-coefficient % times)
            cofactors[cofactor] = (coefficient - rest) // times
            if rest:
                kept[term] = rest
    return collapse(kept) + value * collapse(cofactors) if cofactors else e


def encode(e: Extent) -> Any:
    """Return *e* as JSON: an int, or a list of terms ``[coefficient, name, ...]``.

    >>> encode(symbol("h") * symbol("w") - 2)
    [[-2], [1, 'h', 'w']]
    """
    return e if isinstance(e, int) else [[c, *m] for m, c in sorted(e.terms.items())]


def text(e: Extent, spell: Callable[[str], str] | None = None) -> str:
    """Return *e* as text, highest degree first; *spell* turns names into text.

    >>> text(1 + symbol("h") * symbol("h") - symbol("w") * 2)
    'h**2 - 2*w + 1'
    """
    if isinstance(e, int):
        return str(e)
    if spell is None:
        e._text = e._text or _written(e)
        return e._text
    return _written(e, spell)


def _written(e: Poly, spell: Callable[[str], str] | None = None) -> str:
    terms = sorted(e.terms.items(), key=by_degree) if len(e.terms) > 1 else list(e.terms.items())
    if terms[0][1] < 0:  # print 4 - h, not -h + 4
        first = next((k for k, (_, coefficient) in enumerate(terms) if coefficient > 0), 0)
        terms.insert(0, terms.pop(first))
    parts: list[str] = []
    for monomial, coefficient in terms:
        size = abs(coefficient)
        names = monomial if spell is None else [spell(name) for name in monomial]
        if len(names) > 1:
            powers = ((name, names.count(name)) for name in dict.fromkeys(names))
            written = "*".join([f"{name}**{power}" if power > 1 else name for name, power in powers])
        else:
            written = names[0] if names else ""
        if size != 1 or not names:
            written = f"{size}*{written}" if names else str(size)
        parts.append(f"- {written}" if coefficient < 0 else f"+ {written}")
    joined = " ".join(parts)
    return joined[2:] if joined[0] == "+" else "-" + joined[2:]


def by_degree(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    """Return the sort key of a term: highest degree first, then by names."""
    return -len(term[0]), term[0]
