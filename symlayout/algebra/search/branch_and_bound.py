"""Search the integer points of a system of facts: for extreme values of an expression, or for all points.

The search is branch and bound over boxes of the symbols that remain (Land and Doig, Econometrica 28, 1960).  In a box,
each constraint tightens the bounds of the symbols that it mentions, until no bound moves.  An empty box is dropped, any
other box is cut in two.  Boxes give bounds of the expression and points give values; where bound and value meet, the
value is exact.  A point counts only if it meets every requirement.  A search that exhausts its budget of boxes says so;
its bound still holds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import count
from math import gcd, inf, prod

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.linear_programs import least_by_facts
from symlayout.algebra.polynomial import Extent, Monomial, Poly, evaluate, names_of, symbol
from symlayout.algebra.search.box_bounds import (
    Bound,
    Box,
    SlopedExpression,
    form_of,
    lower_end,
    modest,
    quotient_sides,
    sides_of,
    slope_of,
    tighter,
)
from symlayout.algebra.search.constraints import Below, Constraints, cancelling
from symlayout.budgets import limits
from symlayout.deadlines import spend_goals

ENOUGH = 2**62  # an expression that reaches this counts as unbounded
_ROUNDS = 8  # passes over the constraints in one box
_FEW, _MANY = (2, 32), (3, 64)  # constraints to subtract from the expression, and forms to keep
_MOST_FREE = 40  # a search over more symbols is not tried
_PATIENCE = 60, 15  # boxes without a bound before the search with few, or with many, constraints gives up
_LINEAR = 2_000, 4  # most terms of a linear program, and most maxima that it takes by cases
_TERMS_OF_A_GOAL = 200  # terms that a search for the end of an interval multiplies out, counted as one goal
_FIRST_CUT = 8  # values that the first cut takes off an unbounded side


def searches(facts: Facts, extents: Iterable[Extent]) -> list[PointSearch]:
    """Return a search for each extent, over the symbols that share a constraint with its own; extents may share one."""
    constraints = Constraints(facts)
    made: dict[frozenset[str], PointSearch] = {}
    found = []
    for e in extents:
        names = constraints.tied(names_of(e))
        if names not in made:
            made[names] = PointSearch(constraints, names)
        found.append(made[names])
    return found


def can_hold(facts: Facts, budget: int = 60) -> bool:
    """Return False if it is proved that no dims meet all requirements; True says nothing."""
    parts = dict.fromkeys(searches(facts, map(symbol, facts.dims)))
    return all(point is not None or not certain for point, certain in (part.any_point(budget) for part in parts))


class PointSearch:
    """A search over some symbols of a system; no constraint ties them to other symbols.  `searches` makes it.

    Attributes
    ----------
    free : list of str
        The symbols that the search chooses values for; these determine the values of the others.
    """

    def __init__(self, constraints: Constraints, names: frozenset[str]) -> None:
        facts = self._facts = constraints.facts
        self._constraints = [s for s in constraints.all if s.e.names <= names]
        self._telling = [s for s in self._constraints if s.splits]
        self._definitions = {name: d for name, d in constraints.definitions.items() if name in names}
        self._maxima = [
            (n, form_of(-d.left), form_of(-d.right)) for n, d in self._definitions.items() if d.form == "max"
        ]
        self._dims = [d for name, d in facts.dims.items() if name in names]
        dims = {d.name for d in self._dims}
        self._requirements = [r for r in facts.requirements if facts.dims_behind(_used(r)) <= dims]
        whole: Box = {name: constraints.sides(name) for name in constraints.names if name in names}
        self.free = [name for name in whole if name in facts.low and name not in self._definitions]
        self._derived = [name for name in whole if name not in self.free]
        self._weights = {id(s): 1 + sum(rest.weight for _, _, rest in s.splits) for s in self._telling}
        self._each = 0  # terms that are visited in every box
        self._work = 0
        self._spent = 0  # goals
        self._floors: list[tuple[str, list[Below], list[Below], Extent]] = []
        self._conditional: list[tuple[SlopedExpression, list[Below]]] = []
        self._start = self._propagate(whole) if len(self.free) <= _MOST_FREE else whole
        if (
            self._start is not None and self._definitions and len(self.free) <= _MOST_FREE
        ):  # propagate again: what follows needs the first box
            for name, d in self._definitions.items():
                if d.form == "floor":
                    self._floors.append((name, self._below(d.left), self._below(-d.left), d.right))
            for s in self._telling:
                if s.given is not None:
                    self._conditional.append((s.given, self._below(-s.e)))
            self._each = sum(_weight(below) + _weight(opposite) for _, below, opposite, _ in self._floors)
            self._each += sum(_weight(opposite) for _, opposite in self._conditional)
            self._start = self._propagate(self._start)

    # ------------------------------------------------------------------ questions

    def least(self, e: Extent, budget: int) -> int | None:
        """Return a lower bound of *e*; None if *e* reaches ``-ENOUGH``, or if no bound is found.

        The bound is the least value of *e*, unless the search needs more than *budget* boxes.  The terms that it
        multiplies out count as goals (see `spend_goals`).
        """
        if isinstance(e, int):
            return e
        if len(self.free) > _MOST_FREE:
            return None
        for size, patience in zip((_FEW, _MANY), _PATIENCE, strict=True):
            bound = self._least(e, self._below(e, size), budget, patience)
            if bound != -inf:
                break
        return None if isinstance(bound, float) or bound <= -ENOUGH else bound

    def _least(self, e: Poly, below: list[Below], budget: int, patience: int) -> Bound:
        """Return a lower bound of *e*, or ``-inf`` if none is found; *below* gives its bounds in a box."""
        limit = self._work + (limits.search_terms - self._work) // 2  # leaves half for the next question
        weight = _weight(below)
        number = count()
        constant = e.terms.get((), 0)
        common = gcd(*(c for m, c in e.terms.items() if m))  # e - constant is a multiple of it
        best: Bound = inf
        is_linear = False  # whether a linear program found a bound that the box does not give
        todo: list[tuple[Bound, int, int, Box]] = []

        def look(box: Box | None, depth: int) -> None:
            nonlocal best, is_linear
            if box is None:
                return
            self._work += weight
            bound = max(b.least(box) for b in below)
            if bound < best and (is_linear or box is self._start) and (by_facts := self._linear_least(e, box)) > bound:
                if by_facts == inf:
                    return
                bound, is_linear = by_facts, True
            if abs(bound) != inf:
                bound = constant - (constant - bound) // common * common
            if bound < best:
                point = (self._dive(box, e) or self._dive(box, 0)) if self._work < limit else None
                best = best if point is None else min(best, evaluate(e, point))
                heapq.heappush(todo, (bound, next(number), depth, box))

        look(self._start, 0)
        for spent in range(budget):
            self._spend()
            if best <= -ENOUGH or not todo or todo[0][0] >= best or self._work >= limit:
                break
            if spent == patience and todo[0][0] == -inf:
                break
            _, _, depth, box = heapq.heappop(todo)
            for half in self._halves(box, depth):
                look(half, depth + 1)
        return best if best <= -ENOUGH else min([best, *(bound for bound, *_ in todo)])

    def _spend(self) -> None:
        goals = self._work // _TERMS_OF_A_GOAL - self._spent
        self._spent += goals
        spend_goals(goals)

    def _linear_least(self, e: Poly, box: Box) -> Bound:
        """Return a lower bound of *e* in a box by the constraints as linear inequalities, or ``-inf``."""
        facts = [s.e for s in self._constraints if s.given is None or s.given.least(box) >= 0]
        facts += [int(high) - symbol(name) for name, (_, high) in box.items() if high != inf]  # type: ignore[misc]
        most, cases = _LINEAR
        if sum(len(fact.terms) for fact in facts) > most:
            return -inf
        within = sorted(e.names)
        for name in within:  # grows in the loop: maxima of maxima
            if (d := self._definitions.get(name)) is not None:
                within += sorted((names_of(d.left) | names_of(d.right)).difference(within))
        maxima = [name for name in within if name in self._definitions and self._definitions[name].form == "max"]
        return self._least_by_cases(e, facts, maxima[:cases], box)

    def _least_by_cases(self, e: Poly, facts: list[Poly], maxima: list[str], box: Box) -> Bound:
        """Return the lesser one of the bounds for either value of the first of *maxima*."""
        if maxima:
            name, *others = maxima
            d = self._definitions[name]
            sides = [(d.left, d.right), (d.right, d.left)]
            news = [(greater - less, greater - symbol(name)) for greater, less in sides]
            parts = [
                [e for e in new if isinstance(e, Poly)] for new in news if not isinstance(new[0], int) or new[0] >= 0
            ]
            return min([self._least_by_cases(e, [*facts, *part], others, box) for part in parts], default=inf)
        lows = {m: low for f in (e, *facts) for m in f.terms if (low := _low_of(m, box)) is not None}
        found = least_by_facts(e.terms, [f.terms for f in facts], lows)
        self._work += found.updates
        return inf if found.is_empty else -inf if found.best is None else found.best.least

    def greatest(self, e: Extent, budget: int) -> int | None:
        """Return an upper bound of *e*, as `least` returns a lower one."""
        least = self.least(-e, budget)
        return None if least is None else -least

    def points(self, budget: int, most: int) -> tuple[list[dict[str, int]], bool]:
        """Return at most *most* points, and whether these are all; visit at most *budget* boxes."""
        found: list[dict[str, int]] = []
        todo = [self._start]
        for _ in range(budget):
            if not todo:
                return found, True
            if self._work >= limits.search_terms:
                break
            box = todo.pop()
            if box is None:
                continue
            if any(box[n][0] != box[n][1] for n in self.free):
                todo += reversed(list(self._halves(box)))
            elif (point := self._complete(box)) is not None:
                if len(found) == most:
                    return found, False
                found.append(point)
        return found, not todo

    def any_point(self, budget: int) -> tuple[dict[str, int] | None, bool]:
        """Return a point or None, and whether that answer is certain; visit at most *budget* boxes."""
        todo = [self._start]
        for _ in range(budget):
            if not todo:
                return None, True
            if self._work >= limits.search_terms:
                break
            box = todo.pop(0)
            if box is None:
                continue
            if (point := self._dive(box, 0)) is not None:
                return point, True
            todo += self._halves(box)
        return None, not todo

    def dims_at(self, point: dict[str, int]) -> dict[str, int]:
        """Return the values of the user's dims at a point."""
        return {d.name: point[d.name] for d in self._dims}

    def _below(self, e: Extent, size: tuple[int, int] = _FEW) -> list[Below]:
        """Return lower bounds of *e*: *e* itself, *e* in the user's dims, and *e* less multiples of constraints.

        *size* holds the most constraints to subtract, and the most bounds to return.
        """
        if isinstance(e, int):
            return [Below(form_of(e))]
        top, bottom = self._facts.to_user(e)
        found: dict[tuple[Extent, SlopedExpression | None], Below] = {(e, None): Below(form_of(e))}
        if isinstance(bottom, int):
            found.setdefault((top, None), Below(form_of(top), bottom))
        todo = [(goal, below, 0) for (goal, _), below in found.items() if isinstance(goal, Poly)]
        while todo and len(found) < size[1]:
            goal, below, depth = todo.pop(0)
            for s in self._telling:
                if depth == size[0] or s.e.names.isdisjoint(goal.names):
                    continue
                for scale, factor in cancelling(goal, s.e):
                    less = goal * scale - s.e * factor
                    if (less, s.given) not in found and self._is_at_least(factor, 0) and self._is_at_least(scale, 1):
                        given = below.given if s.given is None else (*below.given, s.given)
                        made = found[less, s.given] = Below(form_of(less), scale * below.divisor, given)
                        if isinstance(less, Poly):
                            todo.append((less, made, depth + 1))
        return list(found.values())

    def _is_at_least(self, e: Extent, least: int) -> bool:
        return self._start is not None and sides_of(e, self._start)[0] >= least

    # ------------------------------------------------------------------ boxes and points

    def _propagate(self, box: Box) -> Box | None:
        """Return *box* as tightened by the constraints, one by one; None if it is empty.

        At most `_ROUNDS` passes are made.
        """
        todo = self._telling
        for _ in range(_ROUNDS):
            moved: set[str] = set()
            self._work += self._each + sum(self._weights[id(s)] for s in todo)
            for s in todo:
                if s.given is not None and s.given.least(box) < 0:
                    continue
                for name, c, minus_rest in s.splits:
                    low, high = tighter(box[name], sides_of(c, box), -minus_rest.least(box))
                    if low > high or low == inf or high == -inf:
                        return None
                    if (sides := modest((low, high))) != box[name]:
                        box[name] = sides
                        moved.add(name)
            for name, *opposites in self._maxima:
                low, high = box[name]
                most = max(-opposite.least(box) for opposite in opposites)
                if low > most:
                    return None
                if most < high:
                    box[name] = low, most
                    moved.add(name)
            for name, below, opposite, divisor in self._floors:
                numerator = max(b.least(box) for b in below), -max(b.least(box) for b in opposite)
                least, most = quotient_sides(numerator, sides_of(divisor, box))
                low, high = box[name]
                if least > high or most < low:
                    return None
                if (sides := modest((max(low, least), min(high, most)))) != box[name]:
                    box[name] = sides
                    moved.add(name)
            if not moved:
                break
            todo = [s for s in self._telling if s.given is not None or not moved.isdisjoint(s.e.names)]
        for given, opposite in self._conditional:
            if given.least(box) >= 0 and any(b.least(box) > 0 for b in opposite):
                return None
        return box

    def _halves(self, box: Box, depth: int = 0) -> Iterator[Box | None]:
        """Cut *box* in two and yield both parts; each depth cuts the next symbol."""
        loose = [n for n in self.free if box[n][0] < box[n][1]]
        if not loose:
            return
        name = loose[depth % len(loose)]
        low, high = box[name]
        if abs(low) != inf and abs(high) != inf:
            middle = (low + high) // 2
        elif abs(low) != inf:
            middle = max(low + _FIRST_CUT, 2 * low)
        else:
            middle = -1 if high == inf else min(high - _FIRST_CUT, 2 * high)
        yield self._propagate({**box, name: (low, middle)})
        yield self._propagate({**box, name: (middle + 1, high)})

    def _dive(self, box: Box | None, e: Extent) -> dict[str, int] | None:
        """Return a point at which *e* tends to be small, or None: fix symbols one by one, without backtracking."""
        for name in sorted(self.free, key=lambda name: name not in names_of(e)):
            if box is None:
                return None
            low, high = box[name]
            if low < high:
                end = lower_end((max(low, -4 * ENOUGH), min(high, 4 * ENOUGH)), sides_of(slope_of(e, name), box))
                at = min(max(low, 0), high) if end is None else end
                box = self._propagate({**box, name: (at, at)})
        return None if box is None else self._complete(box)

    def _complete(self, box: Box) -> dict[str, int] | None:
        """Return the values of all symbols for a box in which each symbol of *free* has one value.

        None is returned if a constraint or a requirement fails there.
        """
        point = {name: int(box[name][0]) for name in self.free}
        waiting = self._derived
        while waiting:  # a definition mentions older symbols
            for name in waiting:
                value = self._value(name, point)
                if value is not None:
                    point[name] = value
            waiting, before = [name for name in waiting if name not in point], waiting
            if waiting == before:
                return None  # a division by 0
        if any(s.given is None and evaluate(s.e, point) < 0 for s in self._constraints):
            return None
        if any(d.value(point) != point[name] for name, d in self._definitions.items()):
            return None
        for d in self._dims:
            value = point[d.name]
            if not d.allows(value):
                return None
        known = self._facts.values(self.dims_at(point))
        return point if all(_used(r) <= known.keys() and r.holds(known) for r in self._requirements) else None

    def _value(self, name: str, point: dict[str, int]) -> int | None:
        """Return the value of a derived symbol; None if a symbol of its definition has no value."""
        solved = self._facts.solved.get(name)
        if solved is not None:
            return evaluate(solved, point) if names_of(solved) <= point.keys() else None
        d = self._definitions[name]
        return d.value(point) if names_of(d.left) | names_of(d.right) <= point.keys() else None


def _low_of(monomial: Monomial, box: Box) -> int | None:
    """Return a lower bound of a monomial in a box, if its symbols have one; of a product, one that is >= 0."""
    lows = [box[name][0] for name in monomial]
    if not lows or -inf in lows or (len(lows) > 1 and min(lows) < 0):
        return None
    return prod(int(low) for low in lows)


def _weight(below: list[Below]) -> int:
    """Return about how many terms are visited to bound an expression in a box."""
    return sum(form.weight for b in below for form in (b.form, *b.given))


def _used(r: Requirement) -> frozenset[str]:
    return names_of(r.value) | names_of(r.modulus)
