"""Samples: a few points at which the facts of a system hold, to drop goals that are false there.

Samples never prove anything.  A goal that is negative at a sample has no proof; a floor with two values at the samples
is not constant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from math import isqrt
from types import MappingProxyType

from symlayout.algebra.fact_store import DIGIT, drop
from symlayout.algebra.intervals import Intervals, holds_at
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, collapse, evaluate, names_of
from symlayout.deadlines import spend_goals
from symlayout.walks import Walk

_SAMPLES = 4  # most samples of a system
_FOUND_SAMPLES = 12  # most samples of a system with those that goals needed
_SAMPLE_TRIALS = 24
_REFUTE_TRIALS = 6  # trials to find a point where a goal fails
_SAMPLE_STEPS = 8  # values to try per symbol in one trial
_MANY = 24  # symbols of a system of which a goal's own are told apart
_SAMPLE_TERMS = 50_000  # most terms to evaluate in one trial
_FACTS = 64  # of a system, that a search for a point looks at without being counted
_NOTHING_GIVEN: Mapping[str, int] = MappingProxyType({})


class Samples(Intervals):
    """A system with a few points at which its facts hold."""

    __slots__ = ()

    def _refuted(self, e: Poly) -> bool:
        """Return whether ``e < 0`` at a sample: then no proof of ``e >= 0`` exists."""
        return any(e.names <= sample.keys() and not holds_at(e, sample) for sample in self._points())

    def _refute(self, e: Poly) -> bool:
        """Search for a point with ``e < 0`` where the facts hold; add it to the samples, and return whether it exists.

        A proof that digits take part in has many symbols, and most of its goals are true: there the search for a proof
        is the shorter one.  Where no point was found at which the facts hold, none is looked for at which a goal fails
        beside them.
        """
        if any(name[0] == DIGIT for name in self.bounded):
            return False
        spend_goals(max(0, len(self.known) - _FACTS))
        order = list(self.low)
        if len(order) > _MANY:
            within = self._tied_to(e.names)
            order = [name for name in order if name in within]
        due = self._due(order, -e - 1)
        for least in (1, 0):
            if self._add_sample(self._sample_of(order, due, 0, self._aimed_at(e, least))):
                return True
        trials = range(_REFUTE_TRIALS if self._points() else 0)
        return any(self._add_sample(self._sample_of(order, due, trial)) for trial in trials)

    def _add_sample(self, sample: dict[str, int] | None) -> bool:
        """Add a sample that was found; return whether it was."""
        if sample is not None:
            self._samples = [*self._points(), sample][-_FOUND_SAMPLES:]
        return sample is not None

    def _aimed_at(self, e: Poly, least: int) -> dict[str, int]:
        """Return values of the symbols without a definition at which *e* is likely to be negative.

        They are the least ones from 1 on, so that sizes broadcast; those of symbols that *e* adds are the least ones
        from *least* on, and those of symbols that it subtracts are one more.
        """
        found: dict[str, int] = {}
        for name, low in self.low.items():
            if name not in self.definitions and name not in self.floors and name not in self.entries:
                times = e.terms.get((name,), 0)
                value = max(low or 0, least if times > 0 else 1) + (times < 0)
                high = self.high[name]
                found[name] = min(value, high) if isinstance(high, int) else value
        return found

    def floors_at_samples(self, numerator: Extent, denominator: Extent) -> set[int]:
        """Return the values of ``floor(numerator / denominator)`` at the samples: empty without samples."""
        names = names_of(numerator) | names_of(denominator)
        points = [sample for sample in self._points() if names <= sample.keys()]
        divisors = [evaluate(denominator, sample) for sample in points]
        return {evaluate(numerator, p) // d for p, d in zip(points, divisors, strict=True) if d > 0}

    def find_samples(self) -> None:
        """Search for samples now, so that the forks of this system need not search for them again."""
        self._points()

    def _points(self) -> list[dict[str, int]]:
        """Return the samples; the first call searches for them."""
        if self._samples is None:
            self._samples = []
            for trial in range(_SAMPLE_TRIALS):
                if len(self._samples) < _SAMPLES and (sample := self._sample(trial)) is not None:
                    self._samples.append(sample)
        return self._samples

    def point(self, given: Mapping[str, int], trial: int) -> dict[str, int] | None:
        """Return values of all symbols at which the facts hold, or None; those *given* have these values.

        Each *trial* starts from other values.
        """
        return self._sample(trial, given)

    def _sample(self, trial: int, given: Mapping[str, int] = _NOTHING_GIVEN) -> dict[str, int] | None:
        """Return values of all symbols at which the facts hold, or None; see `_sample_of`."""
        order = list(self.low)
        return self._sample_of(order, self._due(order), trial, given)

    def _sample_of(
        self, order: list[str], due: dict[str, list[Poly]], trial: int, given: Mapping[str, int] = _NOTHING_GIVEN
    ) -> dict[str, int] | None:
        """Return values of the symbols in *order* at which what is *due* at each of them is >= 0, or None.

        Each *trial* starts from other values.  Symbols that are *given* have these values.

        Symbols get values in their order.  Where a fact fails, the search backtracks to the last symbol with a value
        that is still untried.
        """
        weights = {name: sum(len(e.terms) for e in facts) for name, facts in due.items()}
        terms = 0
        values: dict[str, int] = {}
        left: list[Iterator[int]] = []  # untried values of each symbol so far, and of the next
        for _ in range(_SAMPLE_STEPS * len(order)):
            if len(values) == len(order) or terms > _SAMPLE_TERMS:
                break
            name = order[len(values)]
            if len(left) == len(values):
                is_given = name in given
                left.append(iter([given[name]]) if is_given else self._tried(name, trial, due.get(name, ()), values))
            value = next(left[-1], None)
            if value is not None:
                values[name] = value
                terms += weights.get(name, 0)
                if any(not holds_at(e, values) for e in due.get(name, ())):
                    del values[name]
            elif values:
                left.pop()
                values.popitem()
            else:
                return None
        return values if len(values) == len(order) else None

    def _tied_to(self, names: Iterable[str]) -> set[str]:
        """Return *names*, and all symbols that facts or definitions tie to them: the values of the others are free."""
        groups: dict[str, list[Collection[str]]] = {}
        seen = set[str]()
        todo: list[Collection[str]] = [names_of(e) for e in (*self.known, *[rule.equation for rule in self.rules])]
        while todo:
            group = todo.pop()
            for name in group:
                groups.setdefault(name, []).append(group)
                if name not in seen:
                    seen.add(name)
                    if mentioned := self._mentioned(name):
                        todo.append((name, *mentioned))
        walk = Walk(names)
        for name in walk:
            walk.to(self._mentioned(name) if name not in groups else chain.from_iterable(groups[name]))
        return set(walk.seen)

    def _mentioned(self, name: str) -> list[str]:
        """Return the symbols that the definition or the end of a symbol mentions."""
        d = self.definitions.get(name) if name not in self.floors else None
        within = (self.reduce(d.left), self.reduce(d.right)) if d is not None else self.terms_within(name)
        return [part for e in (*within, self.high.get(name)) if isinstance(e, Poly) for part in e.names]

    def _tried(self, name: str, trial: int, facts: Iterable[Poly], values: dict[str, int]) -> Iterator[int]:
        """Return the values to try for a symbol, of which *facts* are the last that mention it."""
        tried = self._sample_values(name, trial, len(values), values)
        return chain(tried, self._ends_by_facts(name, facts, values), self._roots(name, facts, values))

    def _ends_by_facts(self, name: str, facts: Iterable[Poly], values: dict[str, int]) -> Iterator[int]:
        """Yield the least and the greatest value of the digit *name* with which *facts* hold, at the given *values*."""
        top = self.high[name]
        if name[0] != DIGIT or top is None or not names_of(top) <= values.keys():
            return
        low, high = self.low[name] or 0, evaluate(top, values)
        for fact in facts:
            if (split := coefficient_of(fact, name)) is None:
                continue
            c, rest = (evaluate(part, values) for part in split)
            if c > 0:
                low = max(low, -(rest // c))
            elif c < 0:
                high = min(high, rest // -c)
        if low <= high:
            yield low
            yield high

    def _roots(self, name: str, facts: Iterable[Poly], values: dict[str, int]) -> Iterator[int]:
        """Yield the integers that solve a linear or quadratic equation in the dim *name* among *facts*.

        ``(n - 1)*(m - 1)*(n - m) == 0``, which says that *n* and *m* broadcast, is one in each of the two.
        """
        if name in self.definitions or name in self.floors or name in self.entries:
            return
        low, high = self.low[name], self.high[name]
        if high is not None and not names_of(high) <= values.keys():
            return
        for e in facts:
            if -e in self.known and max(monomial.count(name) for monomial in e.terms) <= 2:
                for root in _integer_roots(_coefficients(e, name, values)):
                    if (low is None or low <= root) and (high is None or root <= evaluate(high, values)):
                        yield root

    def _due(self, order: list[str], *more: Extent) -> dict[str, list[Poly]]:
        """Return the polynomials that are >= 0, and *more*, grouped by the last symbol that they mention."""
        place = {name: k for k, name in enumerate(order)}
        equations = [rule.equation for rule in self.rules]
        due: dict[str, list[Poly]] = {}
        for e in (*self.known, *equations, *(-e for e in equations), *more):
            if isinstance(e, Poly) and e.names <= place.keys():
                due.setdefault(order[max(place[name] for name in e.names)], []).append(e)
        return due

    def _sample_by_rule(self, name: str, values: dict[str, int]) -> int | None:
        """Return the value of *name* that a rule ``times * name * others = value`` determines, or None."""
        for monomial, value, times in self.rules:
            if name in monomial and names_of(value) <= values.keys():
                rest = drop(monomial, name)
                if set(rest) <= values.keys() and (factor := evaluate(collapse({rest: times}), values)):
                    quotient, remainder = divmod(evaluate(value, values), factor)
                    return None if remainder else quotient
        return None

    def _sample_values(self, name: str, trial: int, place: int, values: dict[str, int]) -> list[int]:
        """Return the values to try for a symbol; the symbols before it have the given values."""
        try:
            if name in self.floors:
                numerator, denominator = (evaluate(e, values) for e in self.floors[name])
                return [numerator // denominator] if denominator > 0 else []
            if name in self.entries:
                (entry_at,) = self.terms_within(name)
                return [int(self.entries[name][0][evaluate(entry_at, values)])]
            if (d := self.definitions.get(name)) is not None:
                return [max(0, evaluate(self.reduce(d.right), values))]
            low, top = self.low[name], self.high[name]
            high = None if top is None else evaluate(top, values)
            if (solved := self._sample_by_rule(name, values)) is not None:
                inside = low is None or low <= solved
                return [solved] if inside and (high is None or solved <= high) else []
        except KeyError:  # it depends on a later symbol
            return []
        first = (0 if name[0] == DIGIT else -3) if low is None else low
        if high is not None and high < first:
            return []
        if name[0] == DIGIT and high is not None:
            ends = (first, high, (first + high) // 2, min(first + 1, high))
            return list(dict.fromkeys(ends[trial % 4 :] + ends[: trial % 4]))
        tried: list[int] = []
        for attempt in (trial, trial + 3, trial + 7):  # attempt 2 is far from the small constants of facts
            few = attempt if attempt < 2 else (7 * place + 5 * attempt + place * attempt) % (1 + 2 * attempt)
            value = first + (1000 + 37 * place if attempt == 2 else few)
            tried.append(value if high is None else min(value, high))
        return list(dict.fromkeys(tried))

    def _extend_samples(self, name: str) -> None:
        if self._samples is None:
            return
        extended = []
        for trial, sample in enumerate(self._samples):
            for value in self._sample_values(name, trial, len(sample), sample)[:1]:
                sample[name] = value
                extended.append(sample)
        self._samples = extended


def _coefficients(e: Poly, name: str, values: dict[str, int]) -> list[int]:
    """Return ``[c, b, a]`` with ``e = a*name**2 + b*name + c`` where the other symbols have the given values."""
    found = [0, 0, 0]
    for monomial, coefficient in e.terms.items():
        rest = tuple(other for other in monomial if other != name)
        found[monomial.count(name)] += evaluate(collapse({rest: coefficient}), values)
    return found


def _integer_roots(coefficients: list[int]) -> list[int]:
    """Return the integers among the solutions of ``a*n**2 + b*n + c == 0``; none if every number solves it."""
    c, b, a = coefficients
    if a == 0:
        return [-c // b] if b and c % b == 0 else []
    square = b * b - 4 * a * c
    root = isqrt(max(square, 0))
    ends = {-b - root, -b + root} if root * root == square else set()
    return sorted(end // (2 * a) for end in ends if end % (2 * a) == 0)
