"""The normal form: coordinates as polynomials in digits, with floor division that stays exact.

A coordinate is ``c_1*d_1 + ... + c_0`` over digits ``0 <= d < extent`` and over floors ``floor(e/k)``.  A remainder
``e % k`` is written ``e - k*floor(e/k)``, so that ``k*(e//k) + e%k`` cancels to *e*.

`floor_div` divides the terms that are multiples of the divisor.  For the rest it tries, in this order: a proof that the
rest is a remainder; a factor of the divisor, by ``floor(e/(g*k)) = floor(floor(e/g)/k)``; a new symbol for the floor.
Radices may be symbols.  `Facts` proves the side condition of each rule when the rule is applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.derivation import Derivation, Division, Factor
from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    collapse,
    exact_quotient,
    integer_or_extent,
    names_of,
    symbol,
    terms_of,
    without,
)
from symlayout.algebra.table import Table
from symlayout.errors import InconclusiveError


def floor_div(facts: Facts, e: Extent, k: Extent) -> Extent:
    """Return ``floor(e / k)``, for ``k >= 1``, in normal form.

    Raises
    ------
    InconclusiveError
        ``k >= 1`` is not proved.
    """
    e, k = facts.reduce(e), facts.reduce(k)
    if not (k >= 1 if isinstance(k, int) else facts.positive(k)):
        raise InconclusiveError(f"{facts.spell(k)} >= 1", [facts.describe(k)])
    quotient = facts.quotient_of(e, k)
    return _floor(facts, e, k).quotient if quotient is None else quotient


def floor_mod(facts: Facts, e: Extent, k: Extent) -> Extent:
    """Return ``e - k*floor(e / k)``, for ``k >= 1``, in normal form."""
    return facts.reduce(e - k * floor_div(facts, e, k))


def _floor(facts: Facts, e: Extent, k: Extent) -> Division:
    found = _floor_by_rule(facts, e, k)
    quotient = facts.reduce(found.quotient)  # the rules may have split digits of e
    facts.note_quotient(e, k, quotient, found[1:])
    return Division(quotient, *found[1:])


def _floor_by_rule(facts: Facts, e: Extent, k: Extent) -> Division:
    """Return the quotient by the first rule that applies.

    Where one says ``floor(e/k)`` by another quotient ``q``, the reasons are those of ``q``, in a sum.
    """
    if k == 1:
        return Division(e, 0, 0)
    if isinstance(e, int) and isinstance(k, int):
        return Division(e // k, e % k, k - 1 - e % k)
    whole, rest = _divide_terms(e, k)
    if isinstance(rest, int) and isinstance(k, int):  # nothing is left to decide, so no sample is needed
        return Division(whole + rest // k, rest % k, k - 1 - rest % k)
    if facts.rules and not isinstance(k, int):  # the rest of what is known to be divisible is solved for a symbol
        more, rest = facts.split_by_quotients(rest, k)
        whole = facts.reduce(whole + more)
    for quotient in _candidates(facts, rest, k):  # accepted if quotient*k <= rest < (quotient + 1)*k
        below = rest - quotient * k
        if (least := facts.derive(below)) is not None and (most := facts.derive(k - 1 - below)) is not None:
            return Division(whole + quotient, least, most)
    # k = g*m where g divides a term: floor(rest/(g*m)) = floor(floor(rest/g)/m)
    if (factors := _factors(facts, rest, k)) and (found := _by_factors(facts, whole, rest, *factors)) is not None:
        return found
    # floor(max(a, b)/k) = max(floor(a/k), floor(b/k)), but not for a maximum of k, which comes into rest again
    if (
        not names_of(e).isdisjoint(facts.definitions)
        and facts.either(e) is not None
        and not any(is_digital(name, facts) for name in names_of(rest))  # loops have no maxima of digits
        and (pair := next(facts.either_of(rest, 1, k), None)) is not None
    ):
        return Division(whole + facts.maximum(*(_floor(facts, e, k).quotient for e in pair)))
    names = sorted(_variables(facts, rest))
    if len(names) == 1 and (split := coefficient_of(rest, names[0]) if isinstance(rest, Poly) else None):
        c, constant = split
        if c == 1 and names[0] in facts.floors:
            return _of_floor(facts, whole, names[0], constant, k)
    if facts.splits is not None and names and isinstance(rest, Poly) and _split(facts, rest, k):
        return _floor(facts, facts.reduce(e), facts.reduce(k))
    if names and isinstance(rest, Poly) and _leads_negative(rest, names):
        negated = _floor(facts, k - 1 - rest, k)  # floor(-e/k) = -floor((e + k - 1)/k)
        return Division(whole - negated.quotient, negated.above, negated.below)
    if not names and isinstance(rest, int) and isinstance(k, int):
        return Division(whole + rest // k, rest % k, k - 1 - rest % k)
    return Division(whole + facts.add_floor(rest, k))


def _by_factors(facts: Facts, whole: Extent, rest: Extent, g: Extent, m: Extent) -> Division | None:
    """Return ``whole + floor(rest/(g*m))``, which is ``whole + floor(floor(rest/g)/m)``.

    None if `_of_floor` would lead back: a fact says ``floor(rest/g)`` by a floor that was made of the same division.
    """
    part = _floor(facts, rest, g)
    if _is_of(facts, part.quotient, rest, g):
        return None
    last = _floor(facts, part.quotient, m)
    part_below, part_above = part.ends(rest, g)
    last_below, last_above = last.ends(part.quotient, m)
    q, k = last.quotient, g * m
    size: Factor = g if isinstance(g, int) else Derivation(g, ((1, facts.derive(g - 1) or g - 1), (1, 1)))
    below = Derivation(rest - k * q, ((1, part_below), (size, last_below)))  # (rest - g*p) + g*(p - m*q)
    above = Derivation(k * q + k - 1 - rest, ((1, part_above), (size, last_above)))
    return Division(whole + q, below, above)


def _is_of(facts: Facts, e: Extent, n: Extent, d: Extent) -> bool:
    """Return whether *e* is the symbol of a floor ``floor(t/d)``, plus *c*, where ``t + c*d`` is *n*."""
    name = next(iter(names), "") if len(names := names_of(e) & facts.floors.keys()) == 1 else ""
    if not name or not isinstance(c := e - symbol(name), int):
        return False
    top, bottom = facts.floors[name]
    return bool(facts.reduce(bottom) == d and facts.reduce(top + c * bottom) == n)


def _of_floor(facts: Facts, whole: Extent, name: str, c: Extent, k: Extent) -> Division:
    """Return ``whole + floor((f + c)/k)`` of a floor ``f = floor(n/d)``: ``floor((n + c*d)/(d*k))``."""
    n, d = facts.floors[name]
    f = symbol(name)
    top, bottom = facts.reduce(n + c * d), facts.reduce(d * k)
    found = _floor(facts, top, bottom)
    q, (below, above) = found.quotient, found.ends(top, bottom)
    return Division(  # d*(f + c - k*q) + d - 1 = (d*f + d - 1 - n) + (n + c*d - d*k*q)
        whole + q,
        Derivation(f + c - k * q, ((1, d * f + d - 1 - n), (1, below)), d),
        Derivation(k * q + k - 1 - f - c, ((1, n - d * f), (1, above)), d),
    )


def _candidates(facts: Facts, rest: Extent, k: Extent) -> Iterator[Extent]:
    """Yield guesses of ``floor(rest / k)``: its one value at all samples, a floor of the same dims, or from a fact."""
    if not (isinstance(k, int) and facts.moves_freely(rest)):
        seen = facts.floors_at_samples(rest, k)
        if len(seen) != 1:
            yield from () if seen else (0, 1, -1)
        else:
            yield from seen
    if isinstance(rest, Poly):
        for name, (n, d) in facts.floors.items():
            if d != k or is_digital(name, facts):
                continue
            q, near, opposite = symbol(name), _multiple_and_number(rest - n, k), _multiple_and_number(-1 - rest - n, k)
            if near is not None and isinstance(k, int):
                yield from (q + near[0], q + near[0] + 1)
            if opposite is not None and opposite[1] == 0:
                yield -1 - opposite[0] - q  # floor((-1 - n)/k) = -1 - floor(n/k)
        for fact in facts.known:
            if any(name in facts.bounded for name in fact.names & rest.names):
                suggested = exact_quotient(rest - fact, k)
                if suggested is not None and suggested not in (0, 1, -1):
                    yield suggested


def _multiple_and_number(e: Extent, k: Extent) -> tuple[Extent, int] | None:
    """Return ``(s, number)`` with ``e = k*s + number``, if *k* divides all else; for an int *k* with ``number < k``."""
    number = terms_of(e).get((), 0)
    number = number % k if isinstance(k, int) else number
    whole = exact_quotient(e - number, k)
    return None if whole is None else (whole, number)


def _divide_terms(e: Extent, k: Extent) -> tuple[Extent, Extent]:
    """Return ``(whole, rest)`` with ``e = k*whole + rest``; each term of *e* is divided by itself."""
    if isinstance(k, int):
        wholes: dict[Monomial, int] = {}
        rests: dict[Monomial, int] = {}
        for m, c in terms_of(e).items():
            times = c // k if c >= 0 or not m else -(-c // k)
            if times:
                wholes[m] = times
            if remainder := c - times * k:
                rests[m] = remainder
        return collapse(wholes), collapse(rests)
    if len(k.terms) == 1:
        ((factor, unit),) = k.terms.items()
        taken: dict[Monomial, int] = {}
        left: dict[Monomial, int] = {}
        for monomial, c in terms_of(e).items():
            cofactor = None if c % unit else without(monomial, factor)
            if cofactor is None:
                left[monomial] = c
            else:
                taken[cofactor] = c // unit
        return collapse(taken), collapse(left)
    whole: Extent = 0
    rest: Extent = 0
    lead = max(k.terms, key=lambda m: (len(m), m))
    scale = k.terms[lead]
    current = e
    for _ in range(4 * (len(terms_of(e)) + len(k.terms)) + 16):
        if current == 0:
            return whole, rest
        terms = terms_of(current)
        top = max(terms, key=lambda m: (len(m), m))
        term = collapse({top: terms[top]})
        quotient = exact_quotient(term, collapse({lead: scale}))
        if quotient is None:
            rest, current = term + rest, current - term
        else:
            whole, current = quotient + whole, current - quotient * k
    return whole, rest + current


def is_digital(name: str, facts: Facts) -> bool:
    """Return whether a symbol is a digit, a floor of digits, or the entry of a table at a place that digits give."""
    if name not in facts.floors and name not in facts.entries:
        return name[0] == DIGIT
    return any(n[0] == DIGIT for n in _parts(name, facts, with_divisors=False))


def digits_of(name: str, facts: Facts) -> frozenset[str]:
    """Return the digits that a symbol depends on: itself, or those in a floor or in the place of a table's entry."""
    return frozenset(n for n in _parts(name, facts, with_divisors=True) if n[0] == DIGIT)


def _parts(name: str, facts: Facts, *, with_divisors: bool) -> Iterator[str]:
    """Yield the symbols that a symbol is made of, through floors and tables: itself, if it is neither."""
    todo, seen = [name], {name}  # each once: floors of floors share their parts
    while todo:
        name = todo.pop()
        if name in facts.entries:
            inner = names_of(facts.entries[name][1])
        elif name in facts.floors:
            numerator, divisor = facts.floors[name]
            inner = names_of(numerator) | names_of(divisor) if with_divisors else names_of(numerator)
        else:
            yield name
            continue
        todo += inner - seen
        seen |= inner


def _variables(facts: Facts, e: Extent) -> set[str]:
    """Return the digits, floors and entries of tables in *e*: the symbols that vary between elements."""
    if not facts.bounded:
        return set()
    return {name for name in names_of(e) if name[0] == DIGIT or name in facts.floors or name in facts.entries}


def _factors(facts: Facts, e: Extent, k: Extent) -> tuple[Extent, Extent] | None:
    """Return ``(g, m)`` with ``k = g*m``, where ``g`` is the coefficient of a digit and neither is 1; else None.

    A number that divides *k* and all terms but the constant comes first.  Several integer coefficients also offer
    their greatest common divisor with *k*.  The shortest ``g`` is returned.
    """
    found: list[tuple[Extent, Extent]] = []
    integers: list[int] = []
    if not isinstance(e, Poly):
        return None
    if isinstance(k, int) and 1 < (common := gcd(k, *(c for m, c in e.terms.items() if m))) < k:
        return common, k // common
    for name in sorted(_variables(facts, e)):
        split = coefficient_of(e, name)
        if split is None:
            continue
        c = split[0]
        if isinstance(c, int):
            c = abs(c)
            integers.append(c)
        elif not facts.positive(c):
            if not facts.positive(-c):
                continue
            c = -c
        if c not in (1, k) and (m := exact_quotient(k, c)) is not None:
            found.append((c, m))
    if len(integers) > 1 and isinstance(k, int) and 1 < (common := gcd(*integers, k)) < k:
        found.append((common, k // common))
    return min(found, key=lambda gm: (len(terms_of(gm[0])), sum(map(len, terms_of(gm[0]))), str(gm[0])), default=None)


def _split(facts: Facts, e: Poly, k: Extent) -> bool:
    """Split digits of *e* so that parts of it become multiples of *k*; return whether a digit was split."""
    digits = [name for name in facts.bounded if name[0] == DIGIT and name in e.names]
    parts = {name: part for name in digits if (part := coefficient_of(e, name)) is not None}
    if len(digits) == 1 and all(
        c == 1 and not any(is_digital(n, facts) for n in names_of(rest)) for c, rest in parts.values()
    ):
        done = [facts.split_digit(name, rest, k) for name, (_, rest) in parts.items()]
    elif _is_number(facts, {name: c for name, (c, _) in parts.items()}):  # a split gains nothing
        return False
    else:
        done = [
            facts.split_digit(name, 0, radix)
            for name, (c, _) in parts.items()
            if (radix := k // gcd(c, k) if isinstance(k, int) and isinstance(c, int) else k if c in (1, -1) else 1) != 1
            and not facts.nonnegative(radix - 1 - symbol(name))
        ]
    if any(done):
        renew(facts)
    return any(done)


def _is_number(facts: Facts, steps: Mapping[str, Extent]) -> bool:
    """Return whether digits with these coefficients form a mixed-radix number."""
    span: Extent = 1
    left = dict(steps)
    while left:
        name = next((name for name, c in left.items() if c == span), None)
        high = None if name is None else facts.high[name]
        if name is None or high is None:
            return False
        span = span * (high + 1)
        del left[name]
    return True


def _leads_negative(e: Poly, names: list[str]) -> bool:
    for name in names:
        split = coefficient_of(e, name)
        if split is not None:
            return isinstance(split[0], int) and split[0] < 0
    return False


class Coordinate(Arithmetic):
    """A coordinate in normal form; declarations compute with its operators."""

    __slots__ = ("e", "facts")

    def __init__(self, e: Extent, facts: Facts) -> None:
        self.e, self.facts = e, facts

    def __add__(self, other: Any) -> Coordinate:
        return Coordinate(self.e + extent_of(other), self.facts)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Coordinate:
        return Coordinate(self.e - extent_of(other), self.facts)

    def __rsub__(self, other: Any) -> Coordinate:
        return Coordinate(extent_of(other) - self.e, self.facts)

    def __mul__(self, other: Any) -> Coordinate:
        return Coordinate(self.e * extent_of(other), self.facts)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Coordinate:
        return Coordinate(floor_div(self.facts, self.e, extent_of(other)), self.facts)

    def __mod__(self, other: Any) -> Coordinate:
        return Coordinate(floor_mod(self.facts, self.e, extent_of(other)), self.facts)

    def entry_of(self, table: Table) -> Coordinate:
        """Return the entry of *table* at this coordinate."""
        return Coordinate(self.facts.add_entry(table, self.e), self.facts)

    def __repr__(self) -> str:
        return repr(self.e)


def extent_of(value: Any) -> Extent:
    """Return the expression of a coordinate; an extent is returned as it is."""
    return value.e if isinstance(value, Coordinate) else integer_or_extent(value)


def renew(facts: Facts) -> None:
    """Divide again where later facts help: ``floor((H + 1)/2)`` becomes ``g`` once ``H = 2*g`` is known."""
    for name in list(facts.floors):
        if name[0] == DIGIT or name in facts.solved or name not in facts.floors:
            continue
        n, d = facts.floors[name]
        value = _floor(facts, facts.reduce(n), facts.reduce(d)).quotient
        if name in facts.solved or name not in facts.floors:  # the division split a digit, which has renewed the floors
            continue
        if value != symbol(name) and not facts.is_made_of(value, name):
            facts.replace_floor(name, value)
        elif value != symbol(name):
            facts.note_quotient(*facts.floors[name], symbol(name))


def digit_name(axis: int) -> str:
    """Return the name of the digit that is the coordinate on an output axis."""
    return f"{DIGIT}{axis}"


def axis_digits(extents: tuple[Extent, ...], facts: Facts) -> list[Extent]:
    """Add a digit to *facts* for each output axis, and return the coordinates; on an axis of extent 1 it is 0."""
    return [0 if e == 1 else facts.add_digit(digit_name(k), e) for k, e in enumerate(extents)]
