"""Decide when two computed values are equal: one function of equal operands, up to the order in which a box is read.

A pair of values is decided once for all coordinates, and the answer is cached.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import Coordinate, axis_digits, extent_of
from symlayout.algebra.polynomial import Extent, names_of, product, terms_of
from symlayout.budgets import limits
from symlayout.errors import SymlayoutError
from symlayout.ops.reshape import linear, reshape
from symlayout.proof.bijections import Bijection, bijections
from symlayout.proof.cases.read_element import case_that_applies
from symlayout.proof.cases.sampled_values import SampledValues
from symlayout.proof.classes import Classes, Order
from symlayout.proof.forms.special_values import Formula, parts_at
from symlayout.proof.laws import REASSOCIATE
from symlayout.tensors.chain import Tensor

ROUNDED_CONSTANTS = "constants are rounded"  # among what has no pair
RESHAPED: Order = (-1,)
"""In the place of an order: the batch of the one value is that of the other one in another shape, row-major."""
_DEEPEST = 4  # functions, one after the other, through which the direction of a view is followed
_MOST_AXES = 4  # boxes with more axes are compared in one order only


@dataclass(frozen=True, slots=True)
class Pair:
    """Two equal computed values: how the boxes that they read correspond, and whether their operands are swapped.

    If *by_formula*, their functions need not be one.  If *reshaped*, the first is the second with its batch reshaped.
    """

    a: Tensor
    b: Tensor
    way: Way
    swapped: bool
    by_formula: bool = False
    reshaped: bool = False


_SPENT_IN_VAIN = 200  # goals, before values are evaluated to tell pairs apart
_MOST_UNTOLD = 1000  # goals that the first pairs may visit, before it is asked whether they differ at one size
_SHORT_TIMES = 5  # how often pairs that are not shown to be equal may visit all goals of a short attempt
_FORMULA_SHARE = 4  # what part of the goals of a decision formulas have in a short attempt
_LEAST_SHARE, _LEAST_GOALS = 40, 200  # what a pair may always visit: a part of the goals of all, or so many goals


@dataclass(slots=True)
class Congruence:
    """The answers about pairs of computed values: equal (one function of equal operands), or not proved equal.

    Attributes
    ----------
    facts : Facts
        The system of the whole claim, without coordinates.
    goals : int
        The most goals that one pair may visit.  It is also the most that all pairs together may visit in vain.  After
        that, each further pair gets a small part of it: what reads an open pair is seldom proved.
    laws : frozenset of str
        The granted laws: ``"reassociate"`` allows a float sum to change the order of its terms.
    used : set of str
        The granted laws that proofs have used.
    wanted : set of str
        Laws that would have helped but are not granted.
    known : dict
        The reason why a pair is equal, or None, by the pair and the order of the axes, or `RESHAPED`.
    formulas : dict
        The laws under which the formulas of a pair are equal, or None, by the pair and the order of the axes.
    parts : dict
        Whether a pair of movements is equal at every coordinate.
    fused : set of str
        The names of fused functions that were shown to be chains with their formulas.
    chains : dict
        The first chain that is each fused function, by the function's name.
    skipped : bool
        Whether a law might help that is not granted.
    uncertified : set of str
        What the proof compared that is no pair, and of which there is no certificate.
    spent : int
        The goals that pairs visited which were not shown to be equal.
    classes : Classes
        Which values are one because they are built alike.
    samples : SampledValues, optional
        What the values are at one size.
    """

    facts: Facts
    goals: int
    laws: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)
    known: dict[tuple[Tensor, Tensor, Order], Pair | None] = field(default_factory=dict)
    formulas: dict[tuple[Tensor, Tensor, Order], frozenset[str] | None] = field(default_factory=dict)
    parts: dict[tuple[Tensor, Tensor], bool] = field(default_factory=dict)
    fused: set[str] = field(default_factory=set)
    chains: dict[str, Formula] = field(default_factory=dict)
    skipped: bool = False
    uncertified: set[str] = field(default_factory=set)
    spent: int = 0
    digits: Iterator[int] = field(default_factory=lambda: itertools.count(1000))
    classes: Classes = field(default_factory=Classes)
    samples: SampledValues | None = None

    def formula_texts(self) -> dict[str, str]:
        """Return for each fused function at which special values it and a chain with its formula part, as text."""
        found = {name: parts_at(self.chains[name]) if name in self.chains else None for name in sorted(self.fused)}
        return {
            name: "special values not compared" if parts is None else f"part at {'; '.join(parts)}" if parts else ""
            for name, parts in found.items()
        }

    def are_one(self, a: Tensor, b: Tensor) -> bool:
        """Return whether two values are built alike; then all computed values in them are known to be equal."""
        if alike := self.classes.are_one(a, b):
            self._note(a, b)
        return alike

    def lemma(self, a: Tensor, b: Tensor, order: Order) -> Pair | None:
        """Return why *b*, with its batch axes in this *order*, equals *a* at every coordinate; None if not proved.

        An equivariant function may have its boxes in another order: the pair says which coordinate is which.

        Raises
        ------
        KeyError
            That was not decided yet.
        """
        if (a, b, order) not in self.known and self._order(a, b) == order:
            self._note(a, b)
        return self.known[a, b, order]

    def _order(self, a: Tensor, b: Tensor) -> Order | None:
        order = self.classes.order_of(a, b)
        return None if order is None else order[: a.batch]

    def _note(self, a: Tensor, b: Tensor) -> None:
        """Note that two values of one root, and the computed values in them, are equal: what they read first."""
        waiting = [(a, b)]
        while waiting:
            a, b = waiting[-1]
            swapped, views = self.classes.are_swapped(a, b), [(a, b)]
            if is_pair := a.body is not None and b.body is not None:
                views = list(zip(a.inputs[::-1] if swapped else a.inputs, b.inputs, strict=True))
            below = [pair for v, w in views for pair in self.classes.leaves(v, w)]
            missing = [(v, w) for v, w in below if self.known.get((v, w, self._order(v, w) or ())) is None]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if is_pair and a.key != b.key:
                box = tuple(range(a.inputs[0].rank - a.batch))
                self.known[a, b, self._order(a, b) or ()] = Pair(a, b, Way(box), swapped)

    def are_equal(self, a: Tensor, b: Tensor) -> bool:
        """Return whether two computed values are known to be equal, each element that of the same coordinate."""
        why = self.known.get((a, b, tuple(range(a.batch))))
        return why is not None and (why.way.keeps or a.rank == a.batch)

    def equal_values(self) -> list[tuple[Tensor, Tensor]]:
        """Return the pairs of computed values that are known to be equal, each element that of the same coordinate."""
        return [(w.a, w.b) for w in self.known.values() if w is not None and self.are_equal(w.a, w.b)]

    def differ(self, a: Tensor, b: Tensor, order: Sequence[int]) -> bool:
        """Return whether a pair is seen not to be equal at one size, which is looked at once goals were spent in vain.

        *order* has the batch axes, or all axes.
        """
        if self.samples is None or (self.spent < _SPENT_IN_VAIN and not self.samples.are_known):
            return False
        return self.samples.differ(a, b, (*order, *range(len(order), a.rank)))

    def differ_at(self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
        """Return whether *a* at *at* is seen not to be *b* at *bt*, if the sides were evaluated."""
        return self.samples is not None and self.samples.differ_at(a, b, at, bt, facts)

    @property
    def goals_untold(self) -> int | None:
        """The most goals that a pair may visit before it is asked whether it differs; None where that was asked."""
        return None if self.samples is None or self.samples.are_known else _MOST_UNTOLD

    def goals_of_next(self, *, short: bool) -> int:
        """Return the most goals that the next pair may visit; in a *short* attempt, several pairs may visit all."""
        left = min(self.goals, self.goals * (_SHORT_TIMES if short else 1) - self.spent)
        return max(left, self.goals // _LEAST_SHARE, min(self.goals, _LEAST_GOALS))

    @property
    def goals_of_next_formula(self) -> int:
        """The most goals that the next formula may visit: after as many again as the first may, none is left."""
        goals = max(self.goals, limits.decision_goals // _FORMULA_SHARE)
        return max(goals - self.spent, (2 * goals - self.spent) // _LEAST_SHARE, 0)


@dataclass(frozen=True, slots=True)
class Way:
    """How a box corresponds to the box of another body: reverse axes, permute them, then join groups of them.

    Attributes
    ----------
    order : tuple of int
        The axes of the box, permuted.
    groups : tuple of (int, int), optional
        For each axis of the other box, the range ``[first, stop)`` of permuted axes that it joins, row-major.
    law : str
        The law that the correspondence needs; empty if none.
    back : bool
        Whether the box is that of the second body, and the other box that of the first.
    reversed : tuple of int
        The axes of the box that are read from their end.
    places : Bijection, optional
        Where each coordinate of the box stands in the other box, if the attributes before do not say it.
    """

    order: tuple[int, ...]
    groups: tuple[tuple[int, int], ...] | None = None
    law: str = ""
    back: bool = False
    reversed: tuple[int, ...] = ()
    places: Bijection | None = None
    number: int = 0  # of the bijection, among those that are found

    @property
    def keeps(self) -> bool:
        """Whether each coordinate of the box corresponds to itself."""
        return self.groups is None and not self.reversed and self.places is None

    def extents(self, box: Sequence[Extent]) -> list[Extent]:
        """Return the extents of the other box, given the extents of this box."""
        if self.groups is None:
            return list(box)
        return [product([box[k] for k in self.order[start:stop]]) for start, stop in self.groups]

    def coordinates(self, box: Sequence[Extent], extents: Sequence[Extent]) -> list[Extent]:
        """Return the coordinate in the other box, given a coordinate and the extents of this box."""
        box = [extents[k] - 1 - c if k in self.reversed else c for k, c in enumerate(box)]
        if self.groups is None:
            return box
        groups = [self.order[start:stop] for start, stop in self.groups]
        return [linear([box[k] for k in group], [extents[k] for k in group]) for group in groups]


def _groups(box: Sequence[Extent], other: Sequence[Extent], facts: Facts) -> tuple[tuple[int, int], ...] | None:
    """Return groups of consecutive axes of *box* whose products are the extents of *other*; None if there are none."""
    found: list[tuple[int, int]] = []
    start = 0
    for k, e in enumerate(other):
        stop, size = start, facts.reduce(1)
        while stop < len(box) and (stop == start or not equal(size, e, facts)):
            size = facts.reduce(size * box[stop])
            stop += 1
        if k + 1 == len(other):
            while stop < len(box):
                size = facts.reduce(size * box[stop])
                stop += 1
        if not equal(size, e, facts):
            return None
        found.append((start, stop))
        start = stop
    return tuple(found) if start == len(box) else None


def have_one_number(a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
    """Return whether two coordinates have one row-major number in the batches of *a* and *b*, which have one size."""
    boxes = [[facts.reduce(e) for e in t.extents[: t.batch]] for t in (a, b)]
    sizes = [product(box) for box in boxes]
    return equal(sizes[0], sizes[1], facts) and equal(linear(at, boxes[0]), linear(bt, boxes[1]), facts)


def are_one_place(why: Pair, places: tuple[Sequence[Extent], Sequence[Extent]], facts: Facts) -> bool:
    """Return whether places in the boxes of two equivariant values are one, by the way in which these correspond."""
    one, (box, other) = (why.b, places[::-1]) if why.way.back else (why.a, places)
    extents = [facts.reduce(e) for e in one.extents[one.batch :]]
    if why.way.places is None:
        there = why.way.coordinates(box, extents)
    else:
        assert why.way.places.tensor.declared is not None
        cases = why.way.places.tensor.declared.cases
        given = [Coordinate(facts.reduce(e), facts) for e in box]
        there = [extent_of(c) for c in cases[case_that_applies(cases, given, facts)].coords(*given)]
    return len(there) == len(other) and all(equal(x, y, facts) for x, y in zip(there, other, strict=True))


def in_batch_of(t: Tensor, batch: int, like: Tensor) -> Tensor:
    """Return *t*, whose first *batch* axes are those of a batch, with these in the shape of the batch of *like*."""
    return reshape(t, (*like.shape[: like.batch], *t.shape[batch:]))


def order_of(at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> tuple[int, ...] | None:
    """Return for each place in *bt* the place of the same coordinate in *at*; None if a coordinate is in one only."""
    if len(at) != len(bt):
        return None
    ends = [facts.reduce(e) for e in at], [facts.reduce(e) for e in bt]
    left = list(range(len(at)))
    found: list[int] = []
    for k, y in enumerate(ends[1]):
        same = [j for j in left if ends[0][j] == y] or [j for j in left if equal(ends[0][j], y, facts)]
        if not same:
            return None
        found.append(k if k in same else same[0])
        left.remove(found[-1])
    return tuple(found)


def ways(a: Tensor, b: Tensor, facts: Facts) -> Iterator[Way]:
    """Yield the ways in which the box that *b* reads may correspond to that of *a*: the same order first."""
    assert a.body is not None
    boxes = [[facts.reduce(e) for e in t.inputs[0].extents[t.batch :]] for t in (a, b)]
    rank = len(boxes[0])
    yield Way(tuple(range(rank)))
    if not may_turn(a, b, facts) or not rank or rank > _MOST_AXES:
        return
    whole = any_order(a)
    back = len(boxes[1]) > rank  # then axes of the second box are joined
    one, other = boxes[::-1] if back else boxes
    if len(one) > _MOST_AXES:
        return
    for order in itertools.permutations(range(len(one))):
        moved = [one[k] for k in order]
        groups = _groups(moved, other, facts)
        plain = order == tuple(range(len(one)))
        if groups is not None and not (plain and len(one) == len(other)):
            yield Way(order, groups, "" if whole or plain else REASSOCIATE, back)


def reversing(a: Tensor, b: Tensor, pairs: Sequence[tuple[Tensor, Tensor]], facts: Facts) -> Iterator[Way]:
    """Yield ways that also reverse axes: those along which one value reads forwards what the other reads backwards.

    *pairs* are the views of both.  To reverse an axis keeps each of its coordinates once, so it needs no condition but
    that the order of the terms does not matter.
    """
    assert a.body is not None
    if not may_turn(a, b, facts):
        return
    law = "" if any_order(a) else REASSOCIATE
    for way in ways(a, b, facts):
        signs: list[int] = []
        for v, w in pairs:
            sides = (w, v, (b.batch, a.batch)) if way.back else (v, w, (a.batch, b.batch))
            found = _agreement(*sides, way, facts)
            signs = [x or y for x, y in zip(signs or found, found, strict=True)]
        if -1 in signs:
            yield replace(way, law=law, reversed=tuple(k for k, sign in enumerate(signs) if sign < 0))


def matching(a: Tensor, b: Tensor, order: tuple[int, ...], swapped: bool, facts: Facts) -> Iterator[Way]:
    """Yield ways that are bijections of the boxes, as the views suggest them: a roll, a shuffle, another reshape.

    *facts* are those of the claim, without coordinates.  Each way still has to be proved a bijection.
    """
    if may_turn(a, b, facts):
        for k, found in enumerate(bijections(a, b, order, swapped, facts)):
            axes = tuple(range((b if found.back else a).inputs[0].rank - a.batch))
            yield Way(axes, None, "" if any_order(a) else REASSOCIATE, found.back, (), found, k)


def may_turn(a: Tensor, b: Tensor, facts: Facts) -> bool:
    """Return whether two values of one function may read their boxes in other orders.

    The function is commutative, or it is equivariant and both values have the boxes that they read.
    """
    assert a.body is not None
    return a.body.commutative or (a.body.equivariant and all(_has_its_box(t, facts) for t in (a, b)))


def _has_its_box(t: Tensor, facts: Facts) -> bool:
    own = [facts.reduce(e) for e in t.extents[t.batch :]]
    return all([facts.reduce(e) for e in view.extents[t.batch :]] == own for view in t.inputs)


def any_order(t: Tensor) -> bool:
    """Return whether the bits of a function do not depend on the order of its terms."""
    assert t.body is not None
    is_fold = t.body.commutative and t.body.joins is not None  # a mean of integers is computed in floats
    return t.body.exact or (is_fold and t.dtype is not None and t.dtype.kind in "iub")


def _agreement(one: Tensor, other: Tensor, batches: tuple[int, int], way: Way, facts: Facts) -> list[int]:
    """Return for each axis of the box of *one*: 1 if a step along it moves both views in one direction, -1 if not.

    It is 0 where that is not seen.  Of operations with several cases, only the first is looked at.
    """
    facts = facts.fork()
    extents = [facts.reduce(e) for e in one.extents[batches[0] :]]
    if len(extents) != len(way.order) or len(way.extents(extents)) != other.rank - batches[1]:
        return [0] * len(way.order)
    try:
        facts.meet(extents)
        box = axis_digits(tuple(extents), facts)
        slopes = [
            _slopes(view, [*[0] * batch, *coords], box, facts)
            for view, batch, coords in zip((one, other), batches, (box, way.coordinates(box, extents)), strict=True)
        ]
    except SymlayoutError:  # the box is empty, or a coordinate has no normal form
        return [0] * len(extents)
    return [x * y for x, y in zip(*slopes, strict=True)]


def _slopes(
    view: Tensor, coords: Sequence[Extent], digits: Sequence[Extent], facts: Facts, depth: int = _DEEPEST
) -> list[int]:
    """Return the sign of what a step of each digit adds to the coordinates that *view* reads at *coords*.

    Functions whose elements follow those that they read are looked through, *depth* of them one after the other.
    """
    while view.declared is not None:
        case = view.declared.cases[0]
        coords = [facts.reduce(extent_of(c)) for c in case.coords(*(Coordinate(c, facts) for c in coords))]
        view = view.inputs[case.source]
    if depth and view.body is not None and (not view.body.over or view.body.equivariant):
        signs = [0] * len(digits)  # an element of the value is of the elements at its coordinate
        for operand in view.inputs:
            if operand.rank == len(coords):
                found = _slopes(operand, coords, digits, facts, depth - 1)
                signs = [x or y for x, y in zip(signs, found, strict=True)]
                if 0 not in signs:
                    break
        return signs
    return [_sign(coords, d) for d in digits]


def _sign(coords: Sequence[Extent], digit: Extent) -> int:
    """Return the sign of the coefficients of *digit* in the first coordinate that it occurs in; 0 if they have two."""
    for e in coords:
        signs = {c > 0 for monomial, c in terms_of(e).items() if names_of(digit) & set(monomial)}
        if signs:
            return 0 if len(signs) > 1 else 1 if signs.pop() else -1
    return 0


def equal(a: Extent, b: Extent, facts: Facts) -> bool:
    """Return whether two extents or coordinates are proved to be equal."""
    return a == b or facts.vanishes(facts.reduce(a - b))
