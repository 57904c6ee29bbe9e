"""Bounds: of expressions from those of symbols, and of symbols from inequalities."""

from __future__ import annotations

from symlayout.errors import ShapeError
from symlayout.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    names_of,
    replace_monomial,
    substitute,
    symbol,
    terms_of,
)
from symlayout.system import DIGIT, System

Interval = tuple[int | None, int | None]

_TIGHTEN_ROUNDS = 4  # passes over the inequalities when one of them moved a bound


class Intervals(System):
    """A system whose symbols have bounds that its inequalities keep tight."""

    __slots__ = ()

    def interval(self, e: Extent) -> Interval:
        """Return ``(lo, hi)`` with ``lo <= e <= hi``; None is unbounded.

        Exact if *e* moves in one direction with each symbol and the symbols are independent.
        """
        if isinstance(e, int):
            return e, e
        shifts = {name: symbol(name) + low for name in e.names if (low := self.low.get(name))}
        shifted = substitute(e, shifts) if shifts else e
        least: int | None = 0
        most: int | None = 0
        for monomial, coefficient in terms_of(shifted).items():
            low, high = self._term_interval(monomial, coefficient)
            least = None if least is None or low is None else least + low
            most = None if most is None or high is None else most + high
        # the expression itself, or its opposite, may be known better
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

    def _term_interval(self, monomial: Monomial, coefficient: int) -> Interval:
        """Return the bounds of a term in symbols that were shifted to start at 0."""
        span: int | None = 1
        for name in monomial:
            low = self.low.get(name)
            if low is None:
                return None, None
            top = self.high.get(name)
            if isinstance(top, Poly):
                top = self.interval(top)[1]
            span = None if span is None or top is None else span * (top - low)
        if not monomial:
            return coefficient, coefficient
        reach = None if span is None else coefficient * span
        return (0, reach) if coefficient > 0 else (reach, 0)

    def learn(self, e: Extent) -> None:
        """Store ``e >= 0``, where it says more than the bounds of its symbols do."""
        if not isinstance(e, Poly) or e in self.known or self.holds_at_lows(e):
            return
        self.known[e] = None
        self._fresh.append(e)
        form, constant = e.form, e.terms.get((), 0)
        if form not in self._best or self._best[form] < -constant:
            self._best[form] = -constant
        self.forget()
        if self._samples:
            self._samples = [s for s in self._samples if e.names <= s.keys() and holds_at(e, s)]

    def holds_at_lows(self, e: Extent) -> bool:
        """Shift each symbol to its lower bound: then non-negative coefficients suffice."""
        if isinstance(e, int):
            return e >= 0
        shifts: dict[str, Extent] = {}
        for name in names_of(e):
            low = self.low.get(name)
            if low is None:
                return False
            if low:
                shifts[name] = symbol(name) + low
        return all(c >= 0 for c in terms_of(substitute(e, shifts)).values())

    def eliminate(self, name: str, value: Extent) -> None:
        """Replace *name* by *value* everywhere; its bounds live on as facts about *value*."""
        self._samples = None
        low, high = self.low.pop(name), self.high.pop(name)
        if low is not None and low != value:
            self.learn(value - low)
        if high is not None and high != value:
            self.learn(high - value)
        self.solved[name] = value
        self._renew(name)

    def rewrite(self, monomial: Monomial, value: Extent) -> None:
        """Replace *monomial* by *value*, which equals it, everywhere."""
        self.rules.append((monomial, value))
        self._renew()

    def replace_floor(self, name: str, value: Extent) -> None:
        """Replace a floor by what later facts make of it."""
        del self.floors[name]
        self.bounded.remove(name)
        self.eliminate(name, value)

    def _renew(self, name: str | None = None) -> None:
        """Bring every stored expression back to the symbols that remain: *name* is solved, or a rule is new."""
        if name is not None:
            value = {name: self.solved[name]}
            self.solved = {k: substitute(v, value) for k, v in self.solved.items()}
            if self.rules:
                rules = [(m, substitute(v, self.solved)) for m, v in self.rules if name not in m]
                self.rules = [(m, v) for m, v in rules if replace_monomial(v, m, 0) == v]  # others would not end
            if any(name in names_of(n) or name in names_of(d) for n, d in self.floors.values()) or self.rules:
                self.floors = {k: (self.reduce(n), self.reduce(d)) for k, (n, d) in self.floors.items()}
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
        for fact in before:
            reduced = self.reduce(fact)
            changed = reduced is not fact or fact in fresh
            self.learn(reduced)
            if not changed and self._fresh and self._fresh[-1] is reduced:
                self._fresh.pop()

    def tighten(self, where: str = "") -> None:
        """Carry the known inequalities over to the bounds of single symbols.

        Raises
        ------
        ShapeError
            ``infeasible`` if a symbol has no value left.
        """
        facts, self._fresh = self._fresh, []
        for _ in range(_TIGHTEN_ROUNDS):
            moved = {name for fact in facts for name in self._tighten_by(fact, where)}
            if not moved:
                return
            facts = [fact for fact in self.known if not fact.names.isdisjoint(moved)]

    def _tighten_by(self, fact: Poly, where: str) -> list[str]:
        """Return the symbols whose bounds *fact* moved."""
        # a bound on one symbol needs a bound on the sum of all terms without it
        names = fact.names
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
        split = coefficient_of(fact, name)
        if split is None or name not in self.low or name in self.floors or name[0] == DIGIT:
            return False
        c, rest = split
        most = self.interval(rest)[1]
        if most is None:
            return False
        c_low, c_high = self.interval(c)
        low, high = self.low[name], self.high[name]
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
        """Note ``name >= least``, which *fact* and the other bounds imply."""
        self.low[name] = least
        self.check_interval(name, where)

    def lower_high(self, name: str, most: int, fact: Poly, where: str = "") -> None:
        """Note ``name <= most``, which *fact* and the other bounds imply."""
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
    total = 0
    for monomial, coefficient in e.terms.items():
        for name in monomial:
            coefficient *= values[name]
        total += coefficient
    return total >= 0


def positive_part(d: Interval) -> tuple[int, int | None]:
    """Return the bounds of a divisor, which is >= 1; one that cannot be is no size at all, and counts as 1."""
    low, high = max(d[0] or 1, 1), d[1]
    return low, None if high is None else max(high, low)


def at(where: str) -> str:
    """Return a step's name as the start of a message."""
    return f"{where}: " if where else ""
