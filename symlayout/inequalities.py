"""Proofs of ``e >= 0``.

Sound and not complete: symbols are shifted to their bounds, digits and floors moved to the end that
their coefficient's sign names, and multiples of known facts subtracted.  A goal that is negative at
one of a few feasible sample points is given up at once; samples never prove anything.

A proof is a `Derivation`: all its rules but one are an identity of polynomials.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import NamedTuple, Union

from symlayout.intervals import Interval, Intervals, holds_at, positive_part
from symlayout.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    collapse,
    evaluate,
    exact_quotient,
    names_of,
    substitute,
    symbol,
    text,
)
from symlayout.system import DIGIT, Definition, drop, parenthesised, short

_SEARCH_STEPS = 200  # goals one proof may visit before it gives up
_SAMPLES = 4  # feasible points kept
_SAMPLE_TRIALS = 24
_SAMPLE_STEPS = 8  # values tried per symbol in one trial


class Derivation(NamedTuple):
    """Why ``goal >= 0``: ``scale*goal + scale - 1`` is the sum of *products* of what is >= 0, and ``scale >= 1``.

    A factor is a derivation, or a polynomial that is a known fact or holds at the lower bounds of its
    symbols.  Without products the goal does itself.  With *maximum*, the name of a ``max(0, e)``, the two
    products hold derivations of the goal where the maximum is 0 and where it is *e*.
    """

    goal: Extent
    products: tuple[tuple[Factor, Factor], ...] = ()
    scale: Extent = 1
    maximum: str = ""


Factor = Union[Extent, Derivation]  # noqa: UP007 - Derivation is not defined above


class Quotient(NamedTuple):
    """A symbol ``q = floor(numerator/step)``, and why: ``below`` is ``numerator - step*q >= 0``, ``above`` the rest."""

    numerator: Extent
    step: Extent
    below: Factor
    above: Factor


class _Bound(NamedTuple):
    """``scale*goal + scale - 1 = bound + the sum of products``: the goal follows from ``bound >= 0``."""

    bound: Extent
    products: tuple[tuple[Factor, Factor], ...]
    scale: Extent = 1


class Inequalities(Intervals):
    """A system that proves inequalities, and has floors, maxima and minima as symbols."""

    __slots__ = ()

    # ------------------------------------------------------------------ questions

    def positive(self, e: Extent) -> bool:
        """Return whether ``e >= 1`` is proved."""
        return self.nonnegative(e - 1)

    def nonnegative(self, e: Extent) -> bool:
        """Return whether ``e >= 0`` is proved; False says nothing about its truth."""
        if isinstance(e, int):
            return e >= 0
        return self.derive(e) is not None

    def derive(self, e: Extent) -> Derivation | None:
        """Return why ``e >= 0``, or None if no proof is found."""
        e = self.reduce(e)
        if isinstance(e, int):
            return Derivation(e) if e >= 0 else None
        try:
            known: Derivation | None = self._proofs[e]
            return known
        except KeyError:
            proof = Derivation(e) if self.holds_at_lows(e) else self._by_one_fact(e)
            if proof is None and not self._fails_at_bounds(e):
                proof = self._search(e)
            self._proofs[e] = proof
            return proof

    def _fails_at_bounds(self, e: Poly) -> bool:
        """Return whether *e* is a sum of multiples of symbols with nothing but bounds, and so negative somewhere."""
        for monomial in e.terms:
            if len(monomial) > 1:
                return False
            for name in monomial:
                if name in self.definitions or name in self.bounded:
                    return False
        for fact in self.known:
            if not fact.names.isdisjoint(e.names) and not self._is_definition(fact):
                return False
        if any(name in e.names for monomial, _ in self.rules for name in monomial):
            return False
        least = self.interval(e)[0]
        return least is None or least < 0

    def _is_definition(self, fact: Poly) -> bool:
        """Return whether *fact* says ``max(0, s) >= s``, which leaves the symbols of *s* as free as they are."""
        for name in fact.names:
            if (d := self.definitions.get(name)) is not None and d.form == "max":
                return fact == symbol(name) - self.reduce(d.right)
        return False

    def _search(self, e: Poly) -> Derivation | None:
        """Search for a proof, with few facts first."""
        attempts = (self._prove, 0), (self._by_facts_first, 2), (self._prove, 1), (self._prove, 3)
        for number, (attempt, facts) in enumerate(attempts):
            self._steps = 0
            proof = attempt(e, facts)
            self._effort[0] += self._steps
            if proof is not None or (number == 0 and self._steps == 0):  # refuted at a sample
                return proof
        return None

    def _by_one_fact(self, e: Poly) -> Derivation | None:
        """Return why *e*, which is a known fact about the same digits and floors and more, is >= 0."""
        best, constant = self._best.get(e.form), e.terms.get((), 0)
        if best is not None and best + constant >= 0:
            return Derivation(e, ((1, e - (best + constant)), (1, best + constant)))
        moving = e.names.intersection(self.bounded)
        for fact in self.known if moving else ():
            if moving <= fact.names and self.holds_at_lows(e - fact):
                return Derivation(e, ((1, fact), (1, e - fact)))
        return None

    def _by_facts_first(self, e: Extent, most: int) -> Derivation | None:
        """Return why ``e >= 0`` by *most* facts and bounds, the facts first: the search would come to them last."""
        for bound in self._without_facts(e) if isinstance(e, Poly) and self._steps < _SEARCH_STEPS else ():
            proof = self._prove(bound.bound, 0)
            if proof is None and most > 1:
                proof = self._by_facts_first(self.reduce(bound.bound), most - 1)
            if proof is not None:
                return Derivation(e, ((1, proof), *bound.products), bound.scale)
        return None

    def sign(self, e: Extent) -> int:
        """Return 1 if ``e >= 0`` is proved, -1 if ``e <= 0`` is, 0 if neither."""
        return 1 if self.nonnegative(e) else -1 if self.nonnegative(-e) else 0

    # ------------------------------------------------------------------ the search

    def _prove(self, e: Extent, depth: int) -> Derivation | None:
        if self.rules:  # products with a denominator may have made what a rule rewrites
            e = self.reduce(e)
        if isinstance(e, int):
            return Derivation(e) if e >= 0 else None
        if self._refuted(e):
            return None
        self._steps += 1
        if self._steps > _SEARCH_STEPS:
            return None
        for least in (1, 0):  # a factor that may be 0 decides nothing if the rest is negative
            primitive = self._primitive(e, least)
            if primitive is None:
                continue
            reduced, products = primitive
            if (proof := self._prove(reduced, depth)) is not None:
                return Derivation(e, ((products[0], proof), (products[1], 1)))
            if least == 1:
                return None
        names = names_of(e)
        candidates = self._movable(e, names)
        if not candidates:
            if self.holds_at_lows(e):
                return Derivation(e)
            if (proof := self._holds_at_highs(e, depth)) is not None:
                return proof
        for name in candidates:
            for bound in self._lower_bounds(e, name, depth):
                if (proof := self._prove(bound.bound, depth)) is not None:
                    return Derivation(e, ((1, proof), *bound.products), bound.scale)
        if (cases := self._either(e, depth)) is not None:
            return cases
        if depth > 0:
            for bound in self._without_facts(e):
                if (proof := self._prove(bound.bound, depth - 1)) is not None:
                    return Derivation(e, ((1, proof), *bound.products), bound.scale)
        return None

    def either(self, e: Extent) -> tuple[Extent, Extent] | None:
        """Return ``(c, s + c)`` where *e* is ``max(0, s) + c``; else None."""
        if isinstance(e, Poly):
            for name in sorted(e.names & self.definitions.keys()):
                split = coefficient_of(e, name)
                if self.definitions[name].form == "max" and split is not None and split[0] == 1:
                    return split[1], self.reduce(split[1] + self.definitions[name].right)
        return None

    def _either(self, e: Poly, depth: int) -> Derivation | None:
        """Prove both values of *e* where it mentions a ``max(0, s)``, which is 0 or *s*."""
        name = next((n for n in sorted(e.names & self.definitions.keys()) if self.definitions[n].form == "max"), None)
        if name is None:
            return None
        zero = self._prove(substitute(e, {name: 0}), depth)
        if zero is None:
            return None
        other = self._prove(self.reduce(substitute(e, {name: self.reduce(self.definitions[name].right)})), depth)
        return None if other is None else Derivation(e, ((1, zero), (1, other)), maximum=name)

    def _without_facts(self, e: Poly) -> Iterator[_Bound]:
        """Yield goals that imply ``e >= 0`` together with one known fact each."""
        for fact in self.known:
            if fact.names.isdisjoint(e.names):
                continue
            for factor in _ratios(e, fact):
                if self.holds_at_lows(factor):
                    yield _Bound(e - factor * fact, ((factor, fact),))
            for scale in _ratios(fact, e):
                # scale*e > -scale says e >= 0, since e is an integer
                if scale != 1 and self.holds_at_lows(scale - 1):
                    yield _Bound(scale * e + (scale - 1) - fact, ((1, fact),), scale)

    def _primitive(self, e: Poly, least: int) -> tuple[Extent, tuple[Extent, Extent]] | None:
        """Return ``(g, (m, r))`` with ``e = m*g + r`` and *m*, *r* >= 0, or None if *e* has no common factor.

        The factors are symbols that are >= *least* and the greatest common divisor of what is left.
        """
        terms = e.terms
        shared: Monomial = ()
        for name in sorted(set.intersection(*(set(m) for m in terms))):
            if (low := self.low.get(name)) is not None and low >= least:
                terms = {drop(m, name): c for m, c in terms.items()}
                shared = (*shared, name)
        common = gcd(*(c for m, c in terms.items() if m)) if any(terms) else 1
        if common <= 1 and not shared:
            return None
        rest = 0
        if common > 1:
            rest = terms.get((), 0) % common
            terms = {m: c // common for m, c in terms.items()}
            if () in terms and not terms[()]:
                del terms[()]
        return collapse(terms), (collapse({shared: common}), collapse({shared: rest}) if rest else 0)

    def _movable(self, e: Poly, names: frozenset[str]) -> list[str]:
        """Return the digits and floors to move to an end: floors of other floors in *e*, and the newest."""
        present = [name for name in reversed(self.bounded) if name in names]
        if len(present) < 2:
            return present
        nested = [name for name in present if name in self.floors and self._coarsens_exactly(e, name)]
        return list(dict.fromkeys((*nested, present[0])))

    def _coarsens_exactly(self, e: Poly, name: str) -> bool:
        split = coefficient_of(e, name)
        return split is not None and any(exact_quotient(split[0], f.step) is not None for f in self.coarsens(e, name))

    def _holds_at_highs(self, e: Poly, depth: int) -> Derivation | None:
        """Move one symbol whose coefficient is <= 0 to its upper bound."""
        for name in sorted(names_of(e)):
            high = self.high.get(name)
            if high is None:
                continue
            split = coefficient_of(e, name)
            if split is not None and self.holds_at_lows(-split[0]):
                proof = self._prove(split[1] + split[0] * high, depth)
                return None if proof is None else Derivation(e, ((1, proof), (-split[0], high - symbol(name))))
        return None

    def _lower_bounds(self, e: Poly, name: str, depth: int) -> list[_Bound]:
        """Return lower bounds of *e* without the digit or floor *name*, best first."""
        split = coefficient_of(e, name)
        if split is None:
            return []
        c, rest = split
        rising = self._sign_known(c, depth)
        size = rising or self._sign_known(-c, depth)  # of the absolute value of c
        if size is None:
            return []
        bounds: list[_Bound] = []
        if name in self.floors:
            bounds = [_moved(c, rest, size, form, bool(rising)) for form in (*self.coarsens(e, name), self._form(name))]
            if (part := _remainder_apart(c, rest, name, self._form(name))) is not None:
                bounds.append(part)
        end = self.low[name] if rising else self.high[name]
        if end is not None:
            bounds.append(_Bound(rest + c * end, ((size, symbol(name) - end if rising else end - symbol(name)),)))
        return bounds

    def _sign_known(self, c: Extent, depth: int) -> Factor | None:
        """Return why ``c >= 0``, or None."""
        if isinstance(c, int) or depth:
            return self._prove(c, depth)
        return c if self.holds_at_lows(c) else None

    def _form(self, name: str) -> Quotient:
        """Return the definition of a floor."""
        n, d = self.floors[name]
        q = symbol(name)
        return Quotient(n, d, n - d * q, d * q + d - 1 - n)

    def coarsens(self, e: Poly, name: str) -> list[Quotient]:
        """Return each ``name = floor(n/m)`` where *n* is a finer floor that *e* mentions."""
        if name not in self.floors:
            return []
        numerator, denominator = self.floors[name]
        found = []
        for other in sorted(names_of(e)):
            if other == name or other not in self.floors:
                continue
            finer, step = self.floors[other]
            m = exact_quotient(denominator, step)
            shift = None if m is None else exact_quotient(numerator - finer, step)
            if m is None or shift is None:
                continue
            n, q = symbol(other) + shift, symbol(name)
            whole, part = self._form(name), self._form(other)
            below = Derivation(n - m * q, ((1, part.above), (1, whole.below)), step)
            above = Derivation(m * q + m - 1 - n, ((1, whole.above), (1, part.below)), step)
            found.append(Quotient(n, m, below, above))
        return found

    # ------------------------------------------------------------------ samples

    def _refuted(self, e: Poly) -> bool:
        """Return whether ``e < 0`` at a sample, so that no proof can exist."""
        return any(e.names <= sample.keys() and not holds_at(e, sample) for sample in self._points())

    def floors_at_samples(self, numerator: Extent, denominator: Extent) -> set[int]:
        """Return the values of ``floor(numerator / denominator)`` at the samples; none if there is no sample."""
        names = names_of(numerator) | names_of(denominator)
        points = [sample for sample in self._points() if names <= sample.keys()]
        divisors = [evaluate(denominator, sample) for sample in points]
        return {evaluate(numerator, p) // d for p, d in zip(points, divisors, strict=True) if d > 0}

    def _points(self) -> list[dict[str, int]]:
        """Return the samples, which are found when they are first needed."""
        if self._samples is None:
            self._samples = []
            for trial in range(_SAMPLE_TRIALS):
                if len(self._samples) < _SAMPLES and (sample := self._sample(trial)) is not None:
                    self._samples.append(sample)
        return self._samples

    def _sample(self, trial: int) -> dict[str, int] | None:
        """Return values of all symbols that satisfy the facts, or None; another attempt per *trial*.

        Symbols get values in their order; where a fact fails, the last that has another value to try takes it.
        """
        order = list(self.low)
        due = self._due(order)
        values: dict[str, int] = {}
        left: list[Iterator[int]] = []  # what the symbols so far, and the next, have left to try
        for _ in range(_SAMPLE_STEPS * len(order)):
            if len(values) == len(order):
                break
            name = order[len(values)]
            if len(left) == len(values):
                left.append(iter(self._sample_values(name, trial, len(values), values)))
            value = next(left[-1], None)
            if value is not None:
                values[name] = value
                if any(not holds_at(e, values) for e in due.get(name, ())):
                    del values[name]
            elif values:
                left.pop()
                values.popitem()
            else:
                return None
        return values if len(values) == len(order) else None

    def _due(self, order: list[str]) -> dict[str, list[Poly]]:
        """Return what is >= 0, by the last symbol that it mentions."""
        place = {name: k for k, name in enumerate(order)}
        equations = [collapse({m: 1}) - value for m, value in self.rules]
        due: dict[str, list[Poly]] = {}
        for e in (*self.known, *equations, *(-e for e in equations)):
            if isinstance(e, Poly) and e.names <= place.keys():
                due.setdefault(order[max(place[name] for name in e.names)], []).append(e)
        return due

    def _sample_by_rule(self, name: str, values: dict[str, int]) -> int | None:
        """Return the value that an equation ``name * others = value`` leaves, if it leaves one."""
        for monomial, value in self.rules:
            if name in monomial and names_of(value) <= values.keys():
                rest = drop(monomial, name)
                if set(rest) <= values.keys() and (factor := evaluate(collapse({rest: 1}), values)):
                    quotient, remainder = divmod(evaluate(value, values), factor)
                    return None if remainder else quotient
        return None

    def _sample_values(self, name: str, trial: int, place: int, values: dict[str, int]) -> list[int]:
        """Return what to try for a symbol, where those before it have the given values."""
        try:
            if name in self.floors:
                numerator, denominator = (evaluate(e, values) for e in self.floors[name])
                return [numerator // denominator] if denominator > 0 else []
            if (d := self.definitions.get(name)) is not None:
                return [max(0, evaluate(self.reduce(d.right), values))]
            low, top = self.low[name], self.high[name]
            high = None if top is None else evaluate(top, values)
            if (solved := self._sample_by_rule(name, values)) is not None:
                inside = low is None or low <= solved
                return [solved] if inside and (high is None or solved <= high) else []
        except KeyError:  # made of a symbol that comes later
            return []
        first = -3 if low is None else low
        if high is not None and high < first:
            return []
        if name[0] == DIGIT and high is not None:
            ends = (0, high, high // 2, min(1, high))
            return list(dict.fromkeys(ends[trial % 4 :] + ends[: trial % 4]))
        tried: list[int] = []
        for attempt in (trial, trial + 3, trial + 7):  # one is far from the small constants of facts
            few = attempt if attempt < 2 else (7 * place + 5 * attempt + place * attempt) % (1 + 2 * attempt)
            value = first + (1000 + 37 * place if attempt == 2 else few)
            tried.append(value if high is None else min(value, high))
        return list(dict.fromkeys(tried))

    # ------------------------------------------------------------------ derived symbols

    def add_digit(self, name: str, extent: Extent) -> Poly:
        """Add a digit ``0 <= name < extent`` and return it; the extent is taken to be >= 1."""
        self.low[name], self.high[name] = 0, extent - 1
        self.bounded.append(name)
        self._extend_samples(name)
        return symbol(name)

    def add_floor(self, numerator: Extent, denominator: Extent) -> Extent:
        """Return ``floor(numerator / denominator)`` as a symbol, or what that was solved to, for a denominator >= 1."""
        name = short(f"({parenthesised(numerator)}//{parenthesised(denominator)})")
        if name in self.solved:
            return self.reduce(symbol(name))
        if name not in self.low:
            low, high = _floor_interval(self.interval(numerator), self.interval(denominator))
            if low is None and self.nonnegative(numerator):
                low = 0
            self.low[name], self.high[name] = (
                low,
                self._floor_high(numerator, denominator) if high is None else high,
            )
            self.floors[name] = (numerator, denominator)
            self.bounded.append(name)
            self._define(name, "floor", numerator, denominator)
            self._extend_samples(name)
        return symbol(name)

    def _floor_high(self, numerator: Extent, denominator: Extent) -> Extent | None:
        """Return the largest value of a floor as a polynomial, where the digits' ends divide exactly."""
        top = numerator
        for name in reversed(self.bounded):
            if not isinstance(top, Poly) or name not in top.names:
                continue
            split, high = coefficient_of(top, name), self.high[name]
            if split is None or high is None or name in self.floors or not self.nonnegative(split[0]):
                return None
            top = split[1] + split[0] * high
        quotient = exact_quotient(self.reduce(top + 1), denominator)
        return None if quotient is None else quotient - 1

    def _extend_samples(self, name: str) -> None:
        if self._samples is None:
            return
        extended = []
        for trial, sample in enumerate(self._samples):
            for value in self._sample_values(name, trial, len(sample), sample)[:1]:
                sample[name] = value
                extended.append(sample)
        self._samples = extended

    def maximum(self, a: Extent, b: Extent) -> Extent:
        """Return the larger of two extents: one of them if that is proved, else ``b + max(0, a - b)``."""
        return b + self._excess(a - b)

    def minimum(self, a: Extent, b: Extent) -> Extent:
        """Return the smaller of two extents: one of them if that is proved, else ``a - max(0, a - b)``."""
        return a - self._excess(a - b)

    def _excess(self, e: Extent) -> Extent:
        """Return ``max(0, e)``: 0 or *e* if that is proved, else in terms of one symbol."""
        e = self.reduce(e)
        if isinstance(e, int):
            return max(0, e)
        lead = max((m for m in e.terms if m), key=lambda m: (len(m), m))
        if e.terms[lead] < 0:  # max(0, e) = e + max(0, -e)
            return e + self._excess(-e)
        for inner in sorted(e.names & self.definitions.keys()):
            d, split = self.definitions[inner], coefficient_of(e, inner)
            if d.form == "max" and split is not None and split[0] == 1 and self.nonnegative(-split[1]):
                return self._excess(self.reduce(d.right) + split[1])  # max(0, max(0, s) - k) = max(0, s - k)
        if self.nonnegative(e):
            return e
        if self.nonnegative(-e):
            return 0
        name = short(f"max(0, {text(e)})")
        if name in self.solved:
            return self.reduce(symbol(name))
        if name not in self.low:
            most = self.interval(e)[1]
            self.low[name], self.high[name] = 0, None if most is None else max(0, most)
            self._define(name, "max", 0, e)
            self._extend_samples(name)
            self.learn(symbol(name) - e)
        return symbol(name)

    def _define(self, name: str, form: str, left: Extent, right: Extent) -> None:
        if any(n[0] == DIGIT for n in names_of(left) | names_of(right)):
            return  # a coordinate: not part of any shape
        (top, below), (bottom, above) = self.to_user(left), self.to_user(right)
        if form == "floor":
            top, bottom = self.lowest_terms(top * above, bottom * below)
        elif below != 1 or above != 1:  # a fraction has no place here: keep its symbol
            top, bottom = left, right
        self.definitions[name] = Definition(form, top, bottom)


def _moved(c: Extent, rest: Extent, size: Factor, q: Quotient, rising: bool) -> _Bound:
    """Return a lower bound of ``c*q + rest`` from ``q = (n - r)/m`` with ``0 <= r <= m - 1``."""
    end = q.above if rising else q.below
    exact = exact_quotient(c, q.step)
    if exact is None:  # m*(c*q + rest) > -m is enough, since both are integers
        bound = q.step * rest + c * q.numerator + q.step - 1
        return _Bound(bound - c * (q.step - 1) if rising else bound, ((size, end),), q.step)
    # |c| = m*x >= 0 and m >= 1 say that x >= 0
    x = exact if rising else -exact
    factor: Factor = x if isinstance(x, int) else Derivation(x, ((1, size), (1, q.step - 1)), q.step)
    bound = rest + exact * q.numerator
    return _Bound(bound - exact * (q.step - 1) if rising else bound, ((factor, end),))


def _remainder_apart(c: Extent, rest: Extent, floor: str, q: Quotient) -> _Bound | None:
    """Return a lower bound of ``c*q + rest`` without as much of the remainder ``n - m*q`` as *rest* has of *n*."""
    if not isinstance(rest, Poly) or not isinstance(q.numerator, Poly):
        return None
    for name in sorted(n for n in q.numerator.names if n[0] == DIGIT):
        of, share = coefficient_of(q.numerator, name), coefficient_of(rest, name)
        times = None if of is None or share is None else exact_quotient(share[0], of[0])
        if not isinstance(times, int) or times == 0 or c + times * q.step == 0:
            continue
        value = symbol(floor)
        whole = c * value + rest
        if times > 0:  # the remainder is at least 0, and at most m - 1
            return _Bound(whole - times * (q.numerator - q.step * value), ((times, q.below),))
        return _Bound(whole + times * (q.step * value + q.step - 1 - q.numerator), ((-times, q.above),))
    return None


def _floor_interval(n: Interval, d: Interval) -> Interval:
    """Return the bounds of ``floor(n/d)``, for ``d >= 1``."""
    d_low, d_high = positive_part(d)
    low = high = None
    if n[0] is not None:
        low = n[0] // d_low if n[0] < 0 else 0 if d_high is None else n[0] // d_high
    if n[1] is not None:
        high = n[1] // d_low if n[1] >= 0 else -1 if d_high is None else n[1] // d_high
    return low, high


def _ratios(e: Poly, divisor: Poly) -> list[Extent]:
    """Return the one-term factors ``m`` for which ``e - m*divisor`` loses a term of *e*."""
    found: dict[Extent, None] = {}
    for monomial, coefficient in divisor.terms.items():
        if not monomial:
            continue
        for term, value in e.terms.items():
            if value * coefficient > 0 and value % coefficient == 0:
                rest = exact_quotient(collapse({term: value}), collapse({monomial: coefficient}))
                if rest is not None:
                    found[rest] = None
    return list(found)
