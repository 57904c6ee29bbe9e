"""The least value of a sum by linear inequalities, as a sum of multiples of these: linear programming in integers.

A monomial counts as one variable.  The algorithm is the criss-cross method with the least index (Terlaky, Optimization
16, 1985), which needs no feasible start.  A row of the tableau is a sum of what is >= 0, so a bound is its own proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import NamedTuple

from symlayout.algebra.polynomial import Monomial

_UPDATES = 40_000  # most coefficients that one program computes


class Combination(NamedTuple):
    """``scale*goal = constant + the sum of factors times facts + what is >= 0 at the lows``; all factors are >= 0."""

    scale: int
    constant: int
    factors: tuple[tuple[int, int], ...]  # (number of the fact, factor)

    @property
    def least(self) -> int:
        """The bound of the goal, which is an integer."""
        return -(-self.constant // self.scale)


class Found(NamedTuple):
    """What a program found: the best bound, if there is one; whether no values meet the facts; how much it computed."""

    best: Combination | None
    is_empty: bool
    updates: int


def least_by_facts(
    goal: Mapping[Monomial, int],
    facts: Sequence[Mapping[Monomial, int]],
    lows: Mapping[Monomial, int],
    enough: int | None = None,
) -> Found:
    """Return the greatest lower bound of *goal* as a sum of multiples of *facts*, which are >= 0.

    A monomial is >= its entry of *lows*; one without an entry has no bound.  The search stops at a bound above
    ``enough - 1``, which shows that the goal is at least that.
    """
    program = _Program(goal, facts, lows)
    best = program.solved(enough)
    return Found(best, program.is_empty, program.updates)


class _Row:
    """``times*basic = constant + the sum of coefficients times what is not basic``, with ``times >= 1``."""

    __slots__ = ("coefficients", "constant", "times")

    def __init__(
        self, terms: Mapping[Monomial, int], lows: Mapping[Monomial, int], places: dict[Monomial, int]
    ) -> None:
        self.times, self.constant = 1, terms.get((), 0)
        self.coefficients: dict[int, int] = {}
        for monomial, c in terms.items():
            if monomial:
                self.coefficients[places.setdefault(monomial, len(places))] = c
                self.constant += c * lows.get(monomial, 0)

    def replace(self, column: int, other: _Row) -> int:
        """Replace *column* by *other*, the row in which it is basic now, and return the work."""
        c = self.coefficients.pop(column, 0)
        if not c:
            return 0
        up = other.times
        mine = self.coefficients
        if up != 1:
            for k in mine:
                mine[k] *= up
            self.times, self.constant = self.times * up, self.constant * up
        for k, value in other.coefficients.items():
            total = mine.get(k, 0) + c * value
            if total:
                mine[k] = total
            else:
                del mine[k]
        self.constant += c * other.constant
        if self.times != 1 and (common := gcd(self.times, self.constant, *mine.values())) != 1:
            self.times, self.constant = self.times // common, self.constant // common
            for k in mine:
                mine[k] //= common
        return len(other.coefficients) + (len(mine) if self.times != 1 else 0)


class _Program:
    """A tableau: facts and variables have numbers, the variables those from 0 and the facts those below 0."""

    def __init__(
        self, goal: Mapping[Monomial, int], facts: Sequence[Mapping[Monomial, int]], lows: Mapping[Monomial, int]
    ) -> None:
        places: dict[Monomial, int] = {}
        self.goal = _Row(goal, lows, places)
        self.rows = {-1 - k: _Row(fact, lows, places) for k, fact in enumerate(facts)}
        self.free = {place for monomial, place in places.items() if monomial not in lows}
        self.updates, self.is_empty = 0, False

    def solved(self, enough: int | None) -> Combination | None:
        for place in sorted(self.free):  # what has no bound becomes basic, and stays it
            row = next((k for k, row in self.rows.items() if k < 0 and place in row.coefficients), None)
            if row is not None:
                self._pivot(row, place)
        found = None
        while self.updates < _UPDATES:
            column = min((k for k, c in self.goal.coefficients.items() if c < 0 or k in self.free), default=None)
            if column is None:
                found = self._combination()
                if enough is not None and found.constant > (enough - 1) * found.scale:
                    break
            row = min((k for k, r in self.rows.items() if r.constant < 0 and k not in self.free), default=None)
            if row is None and column is None:
                break
            if column in self.free:
                return None
            if row is None or (column is not None and column < row):
                assert column is not None
                rows = [k for k, r in self.rows.items() if r.coefficients.get(column, 0) < 0 and k not in self.free]
                if not rows:
                    return None
                self._pivot(min(rows), column)
            else:
                columns = [k for k, c in self.rows[row].coefficients.items() if c > 0 or k in self.free]
                if not columns:
                    self.is_empty = True
                    return None
                self._pivot(row, min(columns))
        return found

    def _combination(self) -> Combination:
        """Return what the row of the goal says where no coefficient of it is < 0."""
        coefficients = sorted(self.goal.coefficients.items(), reverse=True)
        return Combination(self.goal.times, self.goal.constant, tuple((-1 - k, c) for k, c in coefficients if k < 0))

    def _pivot(self, row: int, column: int) -> None:
        """Make *column* basic in the place of *row*."""
        entering = self.rows.pop(row)
        c = entering.coefficients.pop(column)
        sign = 1 if c > 0 else -1  # c*column = times*row - the rest
        entering.coefficients = {k: -sign * value for k, value in entering.coefficients.items()}
        entering.coefficients[row] = sign * entering.times
        entering.times, entering.constant = abs(c), -sign * entering.constant
        for other in (*self.rows.values(), self.goal):
            self.updates += other.replace(column, entering)
        self.rows[column] = entering
