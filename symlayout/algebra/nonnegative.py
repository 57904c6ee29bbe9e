"""Proofs of ``e >= 0``.

The search is sound and not complete.  It shifts symbols to their bounds, replaces digits and floors by the bound that
makes the goal least, and subtracts multiples of known facts.  A proof is a `Derivation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from itertools import islice, product
from math import gcd, prod
from typing import NamedTuple

from symlayout.algebra.all_points import points_of
from symlayout.algebra.derivation import Derivation, Factor
from symlayout.algebra.fact_store import DIGIT, drop
from symlayout.algebra.linear_programs import least_by_facts
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
    without,
)
from symlayout.algebra.sample_points import Samples

_SEARCH_STEPS = 200  # a search gives up after so many goals
_POINTS = 5_000  # evaluating so many points costs as much as one goal
_SHORT = 8  # a goal costs one unit of effort, and one more for each so many terms
_MOST_PAIRS = 2_000  # most pairs of terms to compare for one fact and goal
_MOST_LINEAR = 2_000  # most terms of the facts that one linear program holds
_LINEAR_UPDATES = 100  # computing so many coefficients costs as much as one goal


class Quotient(NamedTuple):
    """A symbol ``q = floor(numerator/step)`` with its defining inequalities.

    ``below`` proves ``numerator - step*q >= 0``, and ``above`` proves ``step*q + step - 1 - numerator >= 0``.
    """

    numerator: Extent
    step: Extent
    below: Factor
    above: Factor


class _Bound(NamedTuple):
    """``scale*goal + scale - 1 = bound + the sum of products``: the goal follows from ``bound >= 0``."""

    bound: Extent
    products: tuple[tuple[Factor, Factor], ...]
    scale: Extent = 1


class Inequalities(Samples):
    """A system that proves inequalities."""

    __slots__ = ()

    # ------------------------------------------------------------------ questions

    def positive(self, e: Extent) -> bool:
        """Return whether ``e >= 1`` is proved; False says nothing about its truth."""
        return self.nonnegative(e - 1)

    def nonnegative(self, e: Extent) -> bool:
        """Return whether ``e >= 0`` is proved; False says nothing about its truth."""
        if isinstance(e, int):
            return e >= 0
        e = self.reduce(e)
        return self.holds_at_lows(e) or self._derive_reduced(e) is not None

    def derive(self, e: Extent) -> Derivation | None:
        """Return a proof of ``e >= 0``, or None if the search finds none."""
        e = self.reduce(e)
        return Derivation(e) if self.holds_at_lows(e) else self._derive_reduced(e)

    def _derive_reduced(self, e: Extent) -> Derivation | None:
        """Return a proof of ``e >= 0`` for a reduced *e* that is not evident, or None if the search finds none."""
        if isinstance(e, int) or (not self.known and self._fails_at_bounds(e)):
            return None
        try:
            known: Derivation | None = self._proofs[e]
            return known
        except KeyError:
            proof = self._by_one_fact(e)
            if proof is None and not self._fails_at_bounds(e):
                proof = self._search(e)
            self._proofs[e] = proof
            return proof

    def _fails_at_bounds(self, e: Poly) -> bool:
        """Return whether *e* is linear in symbols that only their bounds restrict, and is negative at a bound."""
        for monomial in e.terms:
            if len(monomial) > 1:
                return False
            for name in monomial:
                if name in self.definitions or name in self.bounded:
                    return False
        if self.known and not self._no_fact_mentions(e.names):
            return False
        for rule in self.rules:
            if not e.names.isdisjoint(rule.monomial):
                return False
        least = self.least(e)
        return least is None or least < 0

    def moves_freely(self, e: Extent) -> bool:
        """Return whether *e* takes all values ``c*n + rest`` for large *n*: then a quotient of it is no constant.

        That is so if *e* mentions a symbol once that is not bounded above, and that nothing else restricts.
        """
        if isinstance(e, int):
            return False
        for monomial in e.terms:
            if len(monomial) != 1 or self.high.get(name := monomial[0], 0) is not None:
                continue
            if name in self.definitions or name in self.floors or sum([name in m for m in e.terms]) > 1:
                continue
            equations = (*[rule.equation for rule in self.rules], *self.equations)
            if self._no_fact_mentions({name}) and all([name not in names_of(each) for each in equations]):
                return True
        return False

    def _no_fact_mentions(self, names: Set[str]) -> bool:
        """Return whether no known fact but the definition of a maximum mentions one of *names*."""
        for fact in islice(self.known, self._looked_at, None):  # facts are added at the end, one by one
            if not fact.names <= self._restricted and not self._is_definition(fact):
                self._restricted |= fact.names
        self._looked_at = len(self.known)
        return self._restricted.isdisjoint(names)

    def _is_definition(self, fact: Poly) -> bool:
        """Return whether *fact* is ``max(0, s) >= s``: it does not restrict the symbols of *s*."""
        for name in fact.names:
            if (d := self.definitions.get(name)) is not None and d.form == "max":
                return fact == symbol(name) - self.reduce(d.right)
        return False

    def _search(self, e: Poly) -> Derivation | None:
        """Search for a proof: first without facts, then with up to 3."""
        attempts = (
            (self._prove, 0),
            (self._at_all_points, 0),
            (self._by_linear_facts, 4),
            (self._by_facts_first, 2),
            (self._prove, 1),
            (self._prove, 3),
        )
        for number, (attempt, facts) in enumerate(attempts):
            self._steps = 0
            proof = attempt(e, facts)
            self.spend(self._steps * (1 + len(e.terms) // _SHORT))
            if proof is not None or (number == 0 and (self._steps == 0 or self._refute(e))):  # it fails at a sample
                return proof
        return None

    def _at_all_points(self, e: Poly, _: int) -> Derivation | None:
        """Prove ``e >= 0`` by evaluating it at all points, if they are finitely many."""
        points = points_of(self, e)
        if points is None:
            return None
        self._steps = 1 + points.count // _POINTS
        return Derivation(e, points=points) if points.hold(e) else None

    def _by_linear_facts(self, e: Extent, cases: int) -> Derivation | None:
        """Prove ``e >= 0`` by a sum of multiples of facts, each of them a sum of monomials; maxima take *cases*."""
        if isinstance(e, int):
            return Derivation(e) if e >= 0 else None
        if self._refuted(e):
            return None
        facts = self.facts_around(e)
        terms = [fact.terms for fact, _ in facts]
        lows = {m: low for part in (e.terms, *terms) for m in part if (low := self._low_of(m)) is not None}
        found = least_by_facts(e.terms, terms, lows, 0)
        self._steps += 1 + found.updates // _LINEAR_UPDATES
        if (best := found.best) is not None and best.least >= 0:
            used = [(times, *facts[number]) for number, times in best.factors]
            rest = best.scale * e + (best.scale - 1) - sum((times * fact for times, fact, _ in used), 0)
            return Derivation(e, ((1, rest), *((times, proof) for times, _, proof in used)), best.scale)
        if not cases:
            return None
        for d in dict.fromkeys(self.floors[name][1] for name in sorted(e.names & self.floors.keys())):
            if isinstance(d, Poly) and self.holds_at_lows(d - 1):  # d*e > -d is enough
                proof = self._by_linear_facts(self.reduce(d * e + d - 1), 0)
                if proof is not None:
                    return Derivation(e, ((1, proof),), d)
        return self._either(e, lambda part: self._by_linear_facts(part, cases - 1))

    def facts_around(self, e: Poly) -> list[tuple[Poly, Factor]]:
        """Return what is >= 0 and shares monomials with *e*, directly or through others, with what proves it."""
        if not self.known and e.names.isdisjoint(self.bounded):
            return []
        places: dict[Monomial, list[Poly]] = {}
        for known in self.known:
            for monomial in known.terms:
                places.setdefault(monomial, []).append(known)
        found: dict[Poly, Factor] = {}
        todo, seen, terms = list(e.terms), set[Monomial]([()]), 0
        for monomial in todo:  # grows in the loop
            if monomial in seen or terms > _MOST_LINEAR:
                continue
            seen.add(monomial)
            given: list[Factor] = [*places.get(monomial, ()), *self._ends_of(monomial)]
            for factor in given:
                fact = factor.goal if isinstance(factor, Derivation) else factor
                if isinstance(fact, Poly) and fact not in found:
                    found[fact], terms = factor, terms + len(fact.terms)
                    todo += fact.terms
        return list(found.items())

    def _ends_of(self, monomial: Monomial) -> Iterator[Factor]:
        """Yield what the upper bound of a single symbol, and the definitions of floors, say."""
        for name in monomial:
            if len(monomial) == 1 and (high := self.high.get(name)) is not None:
                yield high - symbol(name)
            if name in self.floors:
                form = self._form(name)
                yield from (form.below, form.above)
                yield from self._below_highest(name)

    def _below_highest(self, name: str) -> Iterator[Derivation]:
        """Yield that the floor *name* of one digit is at most its value at the digit's upper bound, a polynomial."""
        n, d = self.floors[name]
        digits = names_of(n).intersection(self.bounded)
        digit = next(iter(digits)) if len(digits) == 1 else ""
        split = coefficient_of(n, digit) if digit and isinstance(n, Poly) else None
        end = self.high[digit] if digit else None
        if split is None or not isinstance(end, Poly) or not self.holds_at_lows(split[0]):
            return
        top, q = self.reduce(split[1] + split[0] * end), symbol(name)
        left = terms_of(top).get((), 0) % d if isinstance(d, int) else d - 1  # d*high + left = top
        if (high := exact_quotient(top - left, d)) is not None:
            yield Derivation(high - q, ((split[0], end - symbol(digit)), (1, n - d * q), (1, d - 1 - left)), d)

    def _low_of(self, monomial: Monomial) -> int | None:
        """Return a lower bound of a monomial that is evident at the lower bounds of its symbols."""
        if len(monomial) == 1:
            return self.low.get(monomial[0])
        lows = [low for name in monomial if (low := self.low.get(name)) is not None and low >= 0]
        return prod(lows) if monomial and len(lows) == len(monomial) else None

    def _by_one_fact(self, e: Poly) -> Derivation | None:
        """Prove ``e >= 0`` by one known fact whose difference from *e* is evidently >= 0."""
        if not self.known:
            return None
        best, constant = self._best.get(e.form), e.terms.get((), 0)
        if best is not None and best + constant >= 0:
            return Derivation(e, ((1, e - (best + constant)), (1, best + constant)))
        moving = e.names.intersection(self.bounded)
        for fact in self.known if moving else ():
            if moving <= fact.names and self.holds_at_lows(e - fact):
                return Derivation(e, ((1, fact), (1, e - fact)))
        return None

    def _by_facts_first(self, e: Extent, most: int) -> Derivation | None:
        """Prove ``e >= 0`` by subtracting up to *most* facts first; `_prove` subtracts facts last."""
        for bound in self._without_facts(e) if isinstance(e, Poly) and self._steps < _SEARCH_STEPS else ():
            proof = self._prove(bound.bound, 0)
            if proof is None and most > 1:
                proof = self._by_facts_first(self.reduce(bound.bound), most - 1)
            if proof is not None:
                return Derivation(e, ((1, proof), *bound.products), bound.scale)
        return None

    def sign(self, e: Extent) -> int:
        """Return 1 if ``e >= 0`` is proved, -1 if ``e <= 0`` is proved, 0 if neither is."""
        return 1 if self.nonnegative(e) else -1 if self.nonnegative(-e) else 0

    # ------------------------------------------------------------------ the search

    def _prove(self, e: Extent, depth: int) -> Derivation | None:
        if self.rules:  # a product with a denominator may contain a monomial that a rule rewrites
            e = self.reduce(e)
        if isinstance(e, int):
            return Derivation(e) if e >= 0 else None
        if self._refuted(e):
            return None
        self._steps += 1
        if self._steps > _SEARCH_STEPS:
            return None
        for least in (1, 0):  # try factors >= 1 first: with a factor that may be 0, a negative rest decides nothing
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
        if (cases := self._either(e, lambda part: self._prove(part, depth))) is not None:
            return cases
        if depth > 0:
            for bound in self._without_facts(e):
                if (proof := self._prove(bound.bound, depth - 1)) is not None:
                    return Derivation(e, ((1, proof), *bound.products), bound.scale)
        return None

    def either(self, e: Extent) -> tuple[Extent, Extent] | None:
        """Return ``(c, s + c)`` where *e* is ``max(0, s) + c``; else None."""
        return next(self.either_of(e, 1), None)

    def either_of(self, e: Extent, sign: int, beside: Extent = 0) -> Iterator[tuple[Extent, Extent]]:
        """Yield ``(c, s*sign + c)`` for each ``max(0, s)`` with *e* = ``max(0, s)*sign + c``; *sign* is 1 or -1.

        *e* is the maximum of the two if *sign* is 1, and the minimum if it is -1.  Maxima of which *beside* is made
        are left out.
        """
        if not isinstance(e, Poly) or e.names.isdisjoint(self.definitions):
            return
        for name in sorted(e.names & self.definitions.keys()):
            split = coefficient_of(e, name)
            if self.definitions[name].form != "max" or self.is_made_of(beside, name):
                continue
            if split is not None and split[0] == sign:
                yield split[1], self.reduce(split[1] + self.definitions[name].right * sign)

    def _either(self, e: Poly, prove: Callable[[Extent], Derivation | None]) -> Derivation | None:
        """Prove ``e >= 0`` by cases, if *e* mentions a ``max(0, s)``: with 0 in its place, and with *s*."""
        name = next((n for n in sorted(e.names & self.definitions.keys()) if self.definitions[n].form == "max"), None)
        if name is None:
            return None
        zero = prove(substitute(e, {name: 0}))
        if zero is None:
            return None
        other = prove(self.reduce(substitute(e, {name: self.reduce(self.definitions[name].right)})))
        return None if other is None else Derivation(e, ((1, zero), (1, other)), maximum=name)

    def _without_facts(self, e: Poly) -> Iterator[_Bound]:
        """Yield goals that imply ``e >= 0``, each together with one known fact."""
        for fact in self.known:
            if fact.names.isdisjoint(e.names):
                continue
            for factor in _ratios(e, fact):
                if self.holds_at_lows(factor):
                    yield _Bound(e - factor * fact, ((factor, fact),))
            for scale in _ratios(fact, e):
                # scale*e > -scale implies e > -1, so e >= 0 for an integer e
                if scale != 1 and self.holds_at_lows(scale - 1):
                    yield _Bound(scale * e + (scale - 1) - fact, ((1, fact),), scale)
            other = exact_quotient(fact, e)
            if isinstance(other, Poly) and self.holds_at_lows(other):
                # (other + 1)*e + other = fact + (e + other), and other*e + other - 1 = fact + (other - 1)
                yield _Bound(e + other, ((1, fact),), other + 1)
                yield _Bound(other - 1, ((1, fact),), other)

    def _primitive(self, e: Poly, least: int) -> tuple[Extent, tuple[Extent, Extent]] | None:
        """Return ``(g, (m, r))`` with ``e = m*g + r`` and *m*, *r* >= 0, or None if *e* has no common factor.

        *m* is the product of the common symbols that are >= *least* and of the coefficients' greatest common divisor.
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
        """Return the digits and floors to replace by a bound: floors of other floors in *e* first, then the newest."""
        present = [name for name in reversed(self.bounded) if name in names]
        if len(present) < 2:
            return present
        nested = [name for name in present if name in self.floors and self._coarsens_exactly(e, name)]
        return list(dict.fromkeys((*nested, present[0])))

    def _coarsens_exactly(self, e: Poly, name: str) -> bool:
        split = coefficient_of(e, name)
        return split is not None and any(
            exact_quotient(split[0], f.step) is not None or isinstance(_multiple(split[0], f.step), Poly)
            for f in self.coarsens(e, name)
        )

    def _holds_at_highs(self, e: Poly, depth: int) -> Derivation | None:
        """Prove ``e >= 0`` after replacing one symbol, with a coefficient <= 0, by its upper bound."""
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
        """Return lower bounds of *e* that do not mention the digit or floor *name*, best first."""
        split = coefficient_of(e, name)
        if split is None:
            return []
        c, rest = split
        rising = self._sign_known(c, depth)
        size = rising or self._sign_known(-c, depth)  # proves |c| >= 0
        if size is None:
            return []
        bounds: list[_Bound] = []
        if name in self.floors:
            bounds = [_moved(c, rest, size, form, bool(rising)) for form in (*self.coarsens(e, name), self._form(name))]
            if (part := _remainder_apart(c, rest, name, self._form(name))) is not None:
                bounds.append(part)
            for form in self.coarsens(e, name):
                if (part := self._remainder_of_floor(c, rest, name, form)) is not None:
                    bounds.append(part)
        end = self.low[name] if rising else self.high[name]
        if end is not None:
            bounds.append(_Bound(rest + c * end, ((size, symbol(name) - end if rising else end - symbol(name)),)))
        return bounds

    def _remainder_of_floor(self, c: Extent, rest: Extent, name: str, q: Quotient) -> _Bound | None:
        """Return a lower bound of ``c*q + rest`` that replaces a multiple of the remainder ``n - m*q`` by its bound.

        *n* is a finer floor.  The multiple is a symbolic one: that of *m* in *c*.
        """
        times = -_multiple(c, q.step)
        if isinstance(times, int):
            return None
        value = symbol(name)
        whole = c * value + rest
        if self.holds_at_lows(times):  # the remainder is at least 0, and at most m - 1
            return _Bound(whole - times * (q.numerator - q.step * value), ((times, q.below),))
        if self.holds_at_lows(-times):
            return _Bound(whole + times * (q.step * value + q.step - 1 - q.numerator), ((-times, q.above),))
        return None

    def _sign_known(self, c: Extent, depth: int) -> Factor | None:
        """Return a proof of ``c >= 0``, or None."""
        if isinstance(c, int) or depth:
            return self._prove(c, depth)
        return c if self.holds_at_lows(c) else None

    def _form(self, name: str) -> Quotient:
        """Return a floor with its definition."""
        n, d = self.floors[name]
        q = symbol(name)
        return Quotient(n, d, n - d * q, d * q + d - 1 - n)

    def coarsens(self, e: Poly, name: str) -> list[Quotient]:
        """Return the ways to write the floor *name* as ``floor(n/m)``, where *n* is a finer floor that *e* mentions."""
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


def _moved(c: Extent, rest: Extent, size: Factor, q: Quotient, rising: bool) -> _Bound:
    """Return a lower bound of ``c*q + rest`` from ``q = (n - r)/m`` with ``0 <= r <= m - 1``."""
    end = q.above if rising else q.below
    exact = exact_quotient(c, q.step)
    if exact is None:  # m*(c*q + rest) > -m is enough: c*q + rest is an integer
        bound = q.step * rest + c * q.numerator + q.step - 1
        return _Bound(bound - c * (q.step - 1) if rising else bound, ((size, end),), q.step)
    # |c| = m*x >= 0 and m >= 1 imply x >= 0
    x = exact if rising else -exact
    factor: Factor = x if isinstance(x, int) else Derivation(x, ((1, size), (1, q.step - 1)), q.step)
    bound = rest + exact * q.numerator
    return _Bound(bound - exact * (q.step - 1) if rising else bound, ((factor, end),))


def _remainder_apart(c: Extent, rest: Extent, floor: str, q: Quotient) -> _Bound | None:
    """Return a lower bound of ``c*q + rest`` that replaces a multiple of the remainder ``n - m*q`` by its bound.

    The multiple is the one with which *rest* contains the digits of *n*.
    """
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


def _multiple(e: Extent, divisor: Extent) -> Extent:
    """Return the sum of the quotients of the terms of *e* that *divisor* divides."""
    found: Extent = 0
    for monomial, coefficient in terms_of(e).items():
        found = found + (exact_quotient(collapse({monomial: coefficient}), divisor) or 0)
    return found


def _ratios(e: Poly, divisor: Poly) -> list[Extent]:
    """Return one-term factors ``m`` so that ``m*divisor`` cancels a term of *e*.

    Only the first `_MOST_PAIRS` pairs of terms are compared.
    """
    found: dict[Extent, None] = {}
    for (monomial, coefficient), (term, value) in islice(product(divisor.terms.items(), e.terms.items()), _MOST_PAIRS):
        if monomial and value * coefficient > 0 and value % coefficient == 0:
            rest = without(term, monomial)
            if rest is not None:
                found[collapse({rest: value // coefficient})] = None
    return list(found)
