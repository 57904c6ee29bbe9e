"""Fold a coordinate of the normal form into a short expression, as a person would write it.

The normal form has ``n - d*floor(n/d)`` for a remainder, ``floor((n + d - 1)/d)`` for a quotient rounded up,
and ``a - max(0, a - b)`` for a minimum.  Here they become ``n % d``, ``ceil_div(n, d)`` and ``min(a, b)``.  The
result is a tree that `to_text` writes as text, `latex` as LaTeX and `sympy_bridge` as SymPy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from symlayout.algebra.facts import Facts
from symlayout.algebra.piecewise_linear import piecewise_linear
from symlayout.algebra.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    collapse,
    exact_quotient,
    names_of,
    substitute,
    symbol,
    terms_of,
)
from symlayout.algebra.table import Table
from symlayout_codegen.values import Value

# First characters of symbols that exist only while a sum is folded.
_REMAINDER = "%"
_CEILING = "^"


class Apply(Value):
    """An operation on sums: *form* is ``//`` (floor), ``%``, ``/`` (exact), ``ceil_div``, ``min``, ``max`` or ``[]``.

    The form ``[]`` is the entry of *table* at the one part.
    """

    form: str
    parts: tuple[Sum, ...]
    table: Table | None = None


class Sum(Value):
    """A sum of terms, each a coefficient and its factors in the order in which they are written."""

    terms: tuple[tuple[int, tuple[Factor, ...]], ...]

    def __add__(self, other: Sum) -> Sum:
        return collected((*self.terms, *other.terms))

    def __mul__(self, other: Sum) -> Sum:
        return collected((a * b, left + right) for a, left in self.terms for b, right in other.terms)

    def __neg__(self) -> Sum:
        return Sum(tuple((-c, factors) for c, factors in self.terms))


def collected(terms: Iterable[tuple[int, tuple[Factor, ...]]]) -> Sum:
    """Return the sum of *terms*, with one term for equal factors, in the order of first occurrence."""
    total: dict[tuple[Factor, ...], int] = {}
    for coefficient, factors in terms:
        total[factors] = total.get(factors, 0) + coefficient
    return Sum(tuple((c, factors) for factors, c in total.items() if c))


Factor = str | Apply


def number(n: int) -> Sum:
    """Return the integer *n* as a sum."""
    return Sum(((n, ()),) if n else ())


def atom(factor: Factor) -> Sum:
    """Return one factor as a sum."""
    return Sum(((1, (factor,)),))


def canonical(e: Sum) -> Sum:
    """Return a sum with terms and factors in a canonical order, so that equal sums compare equal."""

    def within(f: Factor) -> Factor:
        return f if isinstance(f, str) else Apply(f.form, tuple(map(canonical, f.parts)), f.table)

    return Sum(tuple(sorted(((c, tuple(sorted(map(within, factors), key=repr))) for c, factors in e.terms), key=repr)))


def fold(e: Extent, facts: Facts, names: Mapping[str, str]) -> Sum:
    """Return *e* folded: each digit by its name in *names*, everything else in the user's dims."""
    folded, remainders = fold_remainders(_join_digits(facts.reduce(e), facts), facts)
    groups: dict[Monomial, dict[Monomial, int]] = {}
    for monomial, c in terms_of(folded).items():
        fixed = tuple(n for n in monomial if _is_fixed(n, facts))
        varying = tuple(n for n in monomial if not _is_fixed(n, facts))
        groups.setdefault(varying, {})[fixed] = c
    total = Sum(())
    for varying, terms in groups.items():
        factors = tuple(_varying(n, remainders, facts, names) for n in varying)
        total = total + Sum(((1, factors),)) * fold_fixed(collapse(terms), facts)
    return total


def _is_fixed(name: str, facts: Facts) -> bool:
    """Return whether a symbol depends on dims only, and on no digit."""
    if (d := facts.definitions.get(name)) is not None:
        return all(_is_fixed(n, facts) for n in names_of(d.left) | names_of(d.right))
    return name in facts.dims or name in facts.quotients


def _varying(
    name: str, remainders: Mapping[str, tuple[Extent, Extent]], facts: Facts, names: Mapping[str, str]
) -> Factor:
    if name in remainders:
        n, d = remainders[name]
        return Apply("%", (fold(_nearest(n, d), facts, names), fold(d, facts, names)))
    if name in facts.floors:
        n, d = facts.floors[name]
        return Apply("//", (fold(n, facts, names), fold(d, facts, names)))
    if name in facts.entries:
        table, at = facts.entries[name]
        return Apply("[]", (fold(at, facts, names),), table)
    if (part := _part(name, facts)) is not None:
        form, n, d = part
        return Apply(form, (fold(_nearest(n, d) if form == _REMAINDER else n, facts, names), fold(d, facts, names)))
    return names.get(name, name)


def _part(name: str, facts: Facts) -> tuple[str, Extent, Extent] | None:
    """Return the form and its two operands that a digit is, if it is a part of another digit that was split."""
    for digit, (shift, radix, high, low) in (facts.splits or {}).items():
        if name not in (high, low):
            continue
        form, n, d = _part(digit, facts) or ("", symbol(digit), 1)
        if name == high:  # (n//d + s)//k = (n + d*s)//(d*k)
            return ("//", n + d * shift, d * radix) if form != _REMAINDER else ("//", symbol(digit) + shift, radix)
        if form == _REMAINDER and exact_quotient(d, radix) is not None:  # (n%d + s) % k = (n + s) % k
            return _REMAINDER, n + shift, radix
        return _REMAINDER, symbol(digit) + shift, radix
    return None


def _join_digits(e: Extent, facts: Facts) -> Extent:
    """Return *e* in whole digits where it has the parts of one as they make it."""
    for digit, (shift, radix, high, low) in reversed((facts.splits or {}).items()):
        split = coefficient_of(e, low) if isinstance(e, Poly) else None
        if split is not None:
            whole = e - split[0] * (radix * symbol(high) + symbol(low) - shift - symbol(digit))
            e = e if names_of(whole) & {high, low} else whole
    return e


def _nearest(n: Extent, d: Extent) -> Extent:
    """Return *n* plus a multiple of *d*, so that its constant is as near to 0 as possible."""
    if not isinstance(d, int):
        return n
    constant = terms_of(n).get((), 0)
    residue = constant % d
    return n - constant + (residue if 2 * residue <= d else residue - d)


def fold_remainders(
    e: Extent, facts: Facts, *, defined: bool = False
) -> tuple[Extent, dict[str, tuple[Extent, Extent]]]:
    """Return *e* with symbols for ``n % d`` in place of ``n - d*floor(n/d)`` where that is shorter.

    The second result has the ``(n, d)`` of each new symbol.  These are remainders of digits, or of dims if *defined*.
    """
    remainders: dict[str, tuple[Extent, Extent]] = {}
    for name in reversed(facts.bounded):
        if not isinstance(e, Poly) or name not in facts.floors or name not in names_of(e):
            continue
        if (name in facts.definitions) != defined:
            continue
        ways = [*(q[:2] for q in facts.coarsens(e, name)), facts.floors[name]]
        if defined:
            ways.append((facts.definitions[name].left, facts.definitions[name].right))
        for n, d in ways:
            split = coefficient_of(e, name)
            factor = 0 if split is None else _times(-split[0], d)
            rest = e - factor * (n - d * symbol(name))
            others = [(rest, n, factor)]
            if defined:  # n % d = d - 1 - (-1 - n) % d
                others.append((rest + factor * (d - 1), -1 - n, -factor))
            candidate, n, factor = min(others, key=lambda other: len(terms_of(other[0])))
            if factor != 0 and len(terms_of(candidate)) + defined < len(e.terms):
                remainder = f"{_REMAINDER}{name}"
                remainders[remainder] = (n, d)
                e = candidate + factor * symbol(remainder)
                break
    return e, remainders


def _times(c: Extent, d: Extent) -> Extent:
    """Return ``c/d`` if it is exact, else the exact quotients of the terms of *c* that *d* divides."""
    whole = exact_quotient(c, d)
    if whole is not None:
        return whole
    parts = (exact_quotient(collapse({m: k}), d) for m, k in terms_of(c).items())
    return sum((part for part in parts if part is not None), 0)


# ---------------------------------------------------------------------- dims


def fold_fixed(e: Extent, facts: Facts) -> Sum:
    """Return *e* folded, in the user's dims.  *e* contains no digit."""
    top, bottom = facts.to_user(e)
    if bottom == 1:
        return _fold_polynomial(top, facts)
    whole: Extent = 0
    if isinstance(bottom, int):  # H/2 + 1 rather than (H + 2)/2
        whole = collapse({m: c // bottom for m, c in terms_of(top).items() if c % bottom == 0})
    rest = _fold_polynomial(top - whole * bottom, facts)
    negative = all(c < 0 for c, _ in rest.terms)
    quotient = atom(Apply("/", (-rest if negative else rest, _fold_polynomial(bottom, facts))))
    return (-quotient if negative else quotient) + _fold_polynomial(whole, facts)


def _fold_polynomial(e: Extent, facts: Facts) -> Sum:
    if (pieces := _of_pieces(e, facts)) is not None:
        return pieces
    if (pair := facts.extremes(e)) is not None:
        form, a, b = pair
        return atom(Apply(form, (fold_fixed(a, facts), fold_fixed(b, facts))))
    if (clamped := _clamped(e, facts)) is not None:
        sign, rest, k, name = clamped
        least = atom(Apply("min", (fold_fixed(k, facts), _fold_symbol(name, facts))))
        return (least if sign == 1 else -least) + fold_fixed(rest, facts)
    e, remainders = fold_remainders(e, facts, defined=True)
    for name in sorted(names_of(e) & facts.definitions.keys()):
        d = facts.definitions[name]
        if d.form == "floor" and terms_of(d.left).get((), 0) == -1:  # floor((n - 1)/d) + 1 = ceil(n/d)
            rounded_up = substitute(e, {name: symbol(_CEILING + name) - 1})
            e = rounded_up if len(terms_of(rounded_up)) < len(terms_of(e)) else e
    terms: list[tuple[int, tuple[Factor, ...]]] = []
    for monomial, c in terms_of(e).items():
        term = number(c)
        for name in monomial:
            parts = remainders.get(name)
            folded = None if parts is None else atom(Apply("%", tuple(fold_fixed(part, facts) for part in parts)))
            term = term * (folded or _fold_symbol(name, facts))
        terms += term.terms
    return collected(terms)


def _of_pieces(e: Extent, facts: Facts) -> Sum | None:
    """Return *e* as the least or the greatest of lines in one symbol, if it is such a function with several maxima."""
    if (found := piecewise_linear(facts, e)) is None:
        return None
    name, function = found
    low, high = (x if isinstance(x, int) else None for x in (facts.low[name], facts.high[name]))
    if len(function.within(low, high).kinks) < 2:
        return None
    signs = [f.where_nonnegative(low, high) == [(low, high)] for f in (function, function.times(-1))]
    if signs == [False, True]:  # -min(2, n) rather than max(-2, -n); what is 0 for all integers has both signs
        return None if (opposite := _of_pieces(-e, facts)) is None else -opposite
    if (extremes := function.extremes(low, high)) is None:
        return None
    lines = tuple(fold_fixed(line.slope * symbol(name) + line.constant, facts) for line in extremes.lines)
    inner = atom(Apply(extremes.form, lines)) if len(lines) > 1 else lines[0]
    if extremes.end is None:
        return inner
    return atom(Apply({"min": "max", "max": "min"}[extremes.form], (number(extremes.end), inner)))


def _clamped(e: Extent, facts: Facts) -> tuple[int, Extent, Extent, str] | None:
    """Return ``(sign, rest, k, m)`` if *e* is ``rest +- min(k, m)``, where *m* names a ``max(0, s)``; else None.

    The system stores the minimum as ``max(0, s) - max(0, s - k)``, for ``k >= 0``.
    """
    terms = terms_of(e)
    names = sorted(n for n in names_of(e) & facts.definitions.keys() if facts.definitions[n].form == "max")
    for m, less in itertools.permutations(names, 2):
        sign = terms.get((m,), 0)
        if sign in (1, -1) and terms.get((less,)) == -sign:
            k = facts.definitions[m].right - facts.definitions[less].right
            if facts.nonnegative(k):
                return sign, e - sign * (symbol(m) - symbol(less)), k, m
    return None


def _fold_symbol(name: str, facts: Facts) -> Sum:
    """Return a symbol folded: a dim as it is, any other symbol by its definition."""
    if name in facts.quotients:
        return fold_fixed(symbol(name), facts)
    if name[0] == _CEILING:
        d = facts.definitions[name[1:]]
        return atom(Apply("ceil_div", (fold_fixed(d.left + 1, facts), fold_fixed(d.right, facts))))
    if name not in facts.definitions:
        return atom(name)
    d = facts.definitions[name]
    if d.form != "floor":
        return atom(Apply(d.form, (fold_fixed(d.left, facts), fold_fixed(d.right, facts))))
    if isinstance(d.right, int) and terms_of(d.left).get((), 0) == d.right - 1:
        return atom(Apply("ceil_div", (fold_fixed(d.left - (d.right - 1), facts), number(d.right))))
    return atom(Apply("//", (fold_fixed(d.left, facts), fold_fixed(d.right, facts))))
