"""Bounds of expressions, from the bounds of symbols; bounds of symbols, from inequalities."""

from __future__ import annotations

from collections.abc import Mapping

from symlayout.algebra.fact_store import DIGIT, Rule, System
from symlayout.algebra.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    evaluate,
    factored,
    names_of,
    substitute,
    symbol,
    terms_of,
)
from symlayout.errors import ShapeError

Interval = tuple[int | None, int | None]

_TIGHTEN_ROUNDS = 4  # most passes over the inequalities; another pass follows one that moved a bound
_TIGHTEN_TERMS = 100_000  # most terms that one fact's bounds take; facts with more move no bound


class Intervals(System):
    """A system whose symbols have bounds that its inequalities keep tight."""

    __slots__ = ()

    def interval(self, e: Extent) -> Interval:
        """Return ``(lo, hi)`` with ``lo <= e <= hi``; None is unbounded.

        The bounds are exact if *e* is monotone in each symbol and the symbols are independent.
        """
        if isinstance(e, int):
            return e, e
        least, most = self.sum_interval(e)
        # a known fact may bound e or -e more tightly
        if self._best:
            constant = e.terms.get((), 0)
            form = e.form
            if (known := self._best.get(form)) is not None and (least is None or least < known + constant):
                least = known + constant
            opposite = frozenset((m, -c) for m, c in form)
            if (known := self._best.get(opposite)) is not None and (most is None or most > constant - known):
                most = constant - known
        if self.definitions and (pair := self.extremes(e)) is not None:
            a, b = (self.interval(side) for side in pair[1:])
            if pair[0] == "max":
                least = _largest(least, a[0], b[0])
                most = most if a[1] is None or b[1] is None else max(a[1], b[1])
            else:
                least = least if a[0] is None or b[0] is None else min(a[0], b[0])
                most = _smallest(most, a[1], b[1])
        return least, most

    def least(self, e: Extent) -> int | None:
        """Return a lower bound of *e*, or None."""
        if isinstance(e, int):
            return e
        total = 0
        for monomial, coefficient in e.terms.items():
            if coefficient < 0 and (monomial or not self._follows_from_ends(e)):
                return self.interval(e)[0]
            for name in monomial:
                low = self.low.get(name)
                if low is None or low < 0:
                    return self.interval(e)[0]
                coefficient *= low
            total += coefficient
        return total

    def greatest(self, e: Poly) -> int | None:
        """Return an upper bound of *e*, or None."""
        if self._follows_from_ends(e):
            for monomial, coefficient in e.terms.items():
                if coefficient > 0 and len(monomial) == 1 and self.high.get(monomial[0]) is None:
                    return None
        return self.interval(e)[1]

    def _follows_from_ends(self, e: Poly) -> bool:
        """Return whether `interval` takes the bounds of *e* from those of its symbols alone."""
        return not self._best and (not self.definitions or e.names.isdisjoint(self.definitions))

    def sum_interval(self, e: Poly) -> Interval:
        """Return the bounds of *e*: the sums of the bounds of its terms.

        Symbols are shifted to start at 0 if several terms have products, or if a symbol may be negative.
        """
        starts = self.starts(e) if max(map(len, e.terms)) > 1 else {}
        shifted = substitute(e, {name: symbol(name) + low for name, low in starts.items()}) if starts else e
        least: int | None = 0
        most: int | None = 0
        for monomial, coefficient in terms_of(shifted).items():
            low, high = self._product_interval(monomial, starts) if monomial else (1, 1)
            if coefficient < 0:
                low, high = high, low
            least = None if least is None or low is None else least + coefficient * low
            most = None if most is None or high is None else most + coefficient * high
        return least, most

    def starts(self, e: Poly) -> dict[str, int]:
        """Return the lower bounds, other than 0, to shift the symbols of *e* by; none if there is no need."""
        starts = {name: low for name in e.names if (low := self.low.get(name))}
        return {} if not starts or (len(e.terms) <= 2 - (() not in e.terms) and min(starts.values()) >= 0) else starts

    def _product_interval(self, names: Monomial, starts: Mapping[str, int]) -> Interval:
        """Return the bounds of a product of symbols, each less its start.

        In a product of two or more symbols, each symbol less its start is >= 0.
        """
        least: int | None = 1
        most: int | None = 1
        for name in names:
            low, high = self.low.get(name), self.high.get(name)
            if isinstance(high, Poly):
                high = self.interval(high)[1]
            start = starts.get(name, 0)
            least = None if least is None or low is None else least * (low - start)
            most = None if most is None or high is None else most * (high - start)
        return least, most if least is not None or len(names) == 1 else None

    def learn(self, e: Extent, where: str = "") -> None:
        """Store ``e >= 0``, unless the bounds of its symbols already imply it.

        Raises
        ------
        ShapeError
            ``infeasible`` if *e* is negative by the bounds of its symbols, or leaves the one symbol that it bounds
            without a value.
        """
        if isinstance(e, int) and e < 0:
            raise ShapeError(f"{at(where)}no sizes are left: {e} >= 0 is false", "infeasible")
        if not isinstance(e, Poly) or (self.known and e in self.known) or self.holds_at_lows(e):
            return
        if (name := self._bounded_by(e)) is not None:
            if self._move_bound(name, e.terms[(name,)], e.terms.get((), 0), e, where):
                self._fresh.append(e)
            return
        self._fresh.append(e)
        if self.refutes(e):
            raise ShapeError(f"{at(where)}no sizes are left: {e} >= 0 is false", "infeasible")
        self.known[e] = None
        form, constant = e.form, e.terms.get((), 0)
        if form not in self._best or self._best[form] < -constant:
            self._best[form] = -constant
        self.forget()
        if self._samples:
            self._samples = [s for s in self._samples if e.names <= s.keys() and holds_at(e, s)] or None

    def refutes(self, e: Poly) -> bool:
        """Return whether the bounds of its symbols exclude ``e >= 0``; those of digits stay as they are."""
        most = self.greatest(e)
        return most is not None and most < 0

    def _bounded_by(self, fact: Poly) -> str | None:
        """Return the symbol that *fact* bounds by a number, if *fact* says nothing else; else None."""
        if len(fact.terms) > 2 or len(names := fact.names) > 1:
            return None
        (name,) = names
        if (name,) not in fact.terms or len(fact.terms) > 1 + (() in fact.terms):
            return None
        return None if name not in self.low or name in self.floors or name[0] == DIGIT else name

    def _move_bound(self, name: str, c: int, constant: int, fact: Poly, where: str) -> bool:
        """Tighten a bound of *name* by ``c*name + constant >= 0``, and return whether it moved."""
        if c > 0:
            least, low = -(constant // c), self.low[name]
            if low is None or least > low:
                self.raise_low(name, least, fact, where)
                return True
            return False
        greatest, high = constant // -c, self.high[name]
        if high is None or (isinstance(high, int) and greatest < high):
            self.lower_high(name, greatest, fact, where)
            return True
        return False

    def holds_at_lows(self, e: Extent) -> bool:
        """Return whether ``e >= 0`` is evident: with symbols counted from their lower bounds, coefficients are >= 0."""
        if isinstance(e, int):
            return e >= 0
        total = 0
        for monomial, coefficient in e.terms.items():  # most goals grow in symbols that are >= 0
            if coefficient < 0 and monomial:
                break
            for name in monomial:
                low = self.low.get(name)
                if low is None or low < 0:
                    break
                coefficient *= low
            else:
                total += coefficient
                continue
            break
        else:
            return total >= 0
        lows: dict[str, int] = {}
        for name in e.names:
            low = self.low.get(name)
            if low is None:
                return False
            lows[name] = low
        least, degree, falling = 0, 0, False
        for monomial, coefficient in e.terms.items():
            falling = falling or (coefficient < 0 and bool(monomial))
            degree = max(degree, len(monomial))
            for name in monomial:
                coefficient *= lows[name]
            least += coefficient
        if least < 0 or (falling and degree == 1):  # the shifted constant is < 0, or a linear coefficient is
            return False
        if not falling and (degree == 1 or min(lows.values()) >= 0):
            return True
        if any(c < 0 and len(monomial) == degree for monomial, c in e.terms.items()):  # a shift leaves it as it is
            return False
        shifts = {name: symbol(name) + low for name, low in lows.items() if low}
        return all(c >= 0 for c in terms_of(substitute(e, shifts)).values())

    def eliminate(self, name: str, value: Extent) -> None:
        """Replace *name* by *value* everywhere; the bounds of *name* become facts about *value*.

        If *name* is a floor of dims, so do the inequalities that define it.
        """
        self._samples = None
        low, high = self.low.pop(name), self.high.pop(name)
        if name in self.definitions and name in self.floors:
            n, d = self.floors[name]
            self.learn(n - d * value)
            self.learn(d * value + d - 1 - n)
        if low is not None and low != value:
            self.learn(value - low)
        if high is not None and high != value:
            self.learn(high - value)
        self.solved[name] = value
        self._renew(name)

    def rewrite(self, rule: Rule) -> None:
        """Replace the multiple of a monomial by the equal value everywhere."""
        self.rules.append(rule)
        self._renew()

    def replace_floor(self, name: str, value: Extent) -> None:
        """Replace a floor by the value that later facts give it."""
        del self.floors[name]
        self.bounded.remove(name)
        self.eliminate(name, value)

    def _renew(self, name: str | None = None) -> None:
        """Reduce every stored expression again, after *name* was solved or a rule was added."""
        if name is not None:
            value = {name: self.solved[name]}
            self.solved = {k: substitute(v, value) for k, v in self.solved.items()}
            if self.rules:
                rules = [(r, Rule(r.monomial, substitute(r.value, self.solved), r.times)) for r in self.rules]
                self.rules = [new for _, new in rules if name not in new.monomial and not new.loops()]
                self.equations += [old.equation for old, new in rules if new not in self.rules]
            if any(name in names_of(n) or name in names_of(d) for n, d in self.floors.values()) or self.rules:
                self.floors = {k: (self.reduce(n), self.reduce(d)) for k, (n, d) in self.floors.items()}
                self._order_floors()
            if self.bounded:
                self.high = {k: self.reduce(v) if isinstance(v, Poly) else v for k, v in self.high.items()}
        if self.rules:
            self.solved = {k: self.reduce(v) for k, v in self.solved.items()}
        self._samples = None
        self.forget()
        if not self.rules and not any(name in fact.names for fact in self.known):
            return
        before, fresh = list(self.known), set(self._fresh)
        self.known, self._fresh, self._best = {}, [], {}
        self._restricted, self._looked_at = set(), 0
        for fact in before:
            reduced = self.reduce(fact)
            changed = reduced is not fact or fact in fresh
            self.learn(reduced)
            if not changed and self._fresh and self._fresh[-1] is reduced:
                self._fresh.pop()

    def _order_floors(self) -> None:
        """Order floors after the symbols that they mention; a rewrite may have changed these."""
        order: dict[str, None] = {}

        def place(name: str) -> None:
            if name in self.low and name not in order:
                for e in self.terms_within(name):
                    for part in sorted(names_of(e)):
                        place(part)
                order[name] = None

        for name in list(self.low):
            place(name)
        self.low = {name: self.low[name] for name in order}
        bounded = set(self.bounded)
        self.bounded = [name for name in order if name in bounded]

    def tighten(self, where: str = "") -> None:
        """Tighten the bounds of symbols by the known inequalities.

        Raises
        ------
        ShapeError
            ``infeasible`` if the bounds of a symbol leave no value.
        """
        if not self._fresh:
            return
        facts, self._fresh = self._fresh, []
        if not self.known and not self.rules:  # bounds that `learn` has moved, and nothing that they may move
            return
        for _ in range(_TIGHTEN_ROUNDS):
            moved = {name for fact in facts for name in self._tighten_by(fact, where)}
            if not moved:
                return
            numbers = [rule.equation for rule in self.rules if isinstance(rule.value, int)]  # products that are known
            sides = [side for e in numbers if isinstance(e, Poly) for side in (e, -e)]
            facts = [fact for fact in (*self.known, *sides) if not fact.names.isdisjoint(moved)]

    def _tighten_by(self, fact: Poly, where: str) -> list[str]:
        """Tighten bounds by *fact*, and return the symbols whose bounds moved."""
        if (bounded := self._bounded_by(fact)) is not None:  # `learn` has moved this bound
            return [bounded]
        # bounding one symbol takes a bound of the sum of all other terms
        names = fact.names
        if len(names) * len(fact.terms) > _TIGHTEN_TERMS:
            return []
        for m, c in fact.terms.items():
            if any(self.low.get(n) is None for n in m) or self._grows(m, c):
                names = names.intersection(m)
                if not names:
                    return []
        return [name for name in sorted(names) if self._tighten_one(fact, name, where)]

    def _grows(self, monomial: Monomial, coefficient: int) -> bool:
        """Return whether a term has no upper bound."""
        return coefficient > 0 and any(self.high.get(n) is None for n in monomial)

    def _tighten_one(self, fact: Poly, name: str, where: str) -> bool:
        if name not in self.low or name in self.floors or name[0] == DIGIT:
            return False
        linear = coefficient_of(fact, name)
        c, rest = linear or factored(fact, name)
        most = self.interval(rest)[1]
        if most is None:
            return False
        c_low, c_high = self.interval(c)
        low, high = self.low[name], self.high[name]
        if linear is None:  # c mentions the name as well, as in W*W >= 1: only that the name is not 0 follows
            if c_low is not None and c_low >= 0 and most < 0 and low == 0 and len(terms_of(c)) == 1:
                self.raise_low(name, 1, fact, where)
            return self.low[name] != low
        if c_low is not None and c_low >= 0 and c_high and most < 0:  # c*name >= -most > 0
            least = -(most // c_high)
            if low is None or least > low:
                self.raise_low(name, least, fact, where)
                return True
        elif isinstance(c, int) and c > 0:
            least = -(most // c)
            if low is None or least > low:
                self.raise_low(name, least, fact, where)
                return True
        elif c_low is not None and c_low >= 0 and most < 0 and low is not None and low < 1 <= -most:
            self.raise_low(name, 1, fact, where)
            return True
        if c_high is not None and c_high < 0 and (most >= 0 or isinstance(c, int)):
            greatest = most // -c_high
            if high is None or (isinstance(high, int) and greatest < high):
                self.lower_high(name, greatest, fact, where)
                return True
        return False

    def raise_low(self, name: str, least: int, fact: Poly, where: str = "") -> None:
        """Store the bound ``name >= least``, which *fact* and the other bounds imply."""
        self.low[name] = least
        self.check_interval(name, where)

    def lower_high(self, name: str, most: int, fact: Poly, where: str = "") -> None:
        """Store the bound ``name <= most``, which *fact* and the other bounds imply."""
        self.high[name] = most
        self.check_interval(name, where)

    def check_interval(self, name: str, where: str = "") -> None:
        """Raise ``infeasible`` if the bounds of a symbol leave no value."""
        self.forget()
        self._samples = None
        low, high = self.low[name], self.high[name]
        if low is not None and isinstance(high, int) and high < low:
            raise ShapeError(f"{at(where)}no sizes are left: {name} would lie between {low} and {high}", "infeasible")


def _largest(*bounds: int | None) -> int | None:
    return max((b for b in bounds if b is not None), default=None)


def _smallest(*bounds: int | None) -> int | None:
    return min((b for b in bounds if b is not None), default=None)


def holds_at(e: Poly, values: dict[str, int]) -> bool:
    """Return whether ``e >= 0`` where the symbols have the given values."""
    return evaluate(e, values) >= 0


def positive_part(d: Interval) -> tuple[int, int | None]:
    """Return the bounds of a divisor, cut at 1: divisors are >= 1.

    An upper bound below 1 excludes all sizes, so any answer is right there; it becomes 1.
    """
    low, high = max(d[0] or 1, 1), d[1]
    return low, None if high is None else max(high, low)


def at(where: str) -> str:
    """Return the name of a step as the start of a message; empty for no step."""
    return f"{where}: " if where else ""
