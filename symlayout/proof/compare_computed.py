"""Decide whether two computed values are equal, by what their functions read or by their formulas.

A pair of values is decided once for all coordinates.  A decision that needs another pair first is suspended
(`Pending`), so that deep graphs cause no deep recursion.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import axis_digits, digit_name
from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.proof.cases.case_tree import Met, Tree
from symlayout.proof.cases.common_values import meetings, share_operations, way_of
from symlayout.proof.cases.compare_constants import near_elements
from symlayout.proof.cases.compare_reads import ReadDecision
from symlayout.proof.cases.constant_reads import ConstantReads
from symlayout.proof.cases.read_element import OpenSign, SideRead, Stuck
from symlayout.proof.cases.turned_signs import are_products_of_one_sign, differ_by_no_sign
from symlayout.proof.classes import Pairs
from symlayout.proof.congruence import (
    RESHAPED,
    ROUNDED_CONSTANTS,
    Congruence,
    Pair,
    Way,
    any_order,
    are_one_place,
    equal,
    have_one_number,
    in_batch_of,
    matching,
    may_turn,
    order_of,
    reversing,
    ways,
)
from symlayout.proof.fills.covered_terms import Views, are_of_one_value, may_be_covered
from symlayout.proof.forms.compare_forms import FORMULA, can_match, laws_of
from symlayout.proof.forms.padded_functions import is_finite
from symlayout.proof.forms.special_values import Formula
from symlayout.proof.laws import FOLD, LAWS, REAL, REASSOCIATE
from symlayout.proof.pull_functions import fills_of
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import same_fill, type_name

_DEEPEST = 4  # bodies that are read through, one in another, at coordinates of their own
_DEEPEST_FORMULA = 1  # the same, where the formulas of values of other shapes are compared
_PART_SHARE = 40  # what part of the goals is visited before the parts of views are compared
_MEETING_SHARE = 4  # what part of the goals is visited to show that the sides read one value on their way
_MOST_MEETINGS = 3  # such values that are tried
_LEAST_GOALS = 50  # fewer goals show nothing


@dataclass(frozen=True, slots=True)
class Setting:
    """What a claim, the pairs that it needs and their views have in common.

    Attributes
    ----------
    shown : bool
        Whether reads without a fill are known to be inside their source.
    finite : bool
        Whether to split a symbol into its values if nothing else helps.
    congruence : Congruence
        The known answers about pairs of computed values, and the granted laws.
    """

    shown: bool
    finite: bool
    congruence: Congruence

    def facts_of_pair(self) -> Facts:
        """Return the facts with which a claim about all coordinates of a pair begins; digits may be split there."""
        facts = self.congruence.facts.fork()
        facts.splits = {}
        return facts


class Decision(ReadDecision):
    """The decision whether two tensors are equal; *depth* is the number of bodies between its sides and the claim's."""

    def __init__(
        self,
        sides: tuple[Tensor, Tensor],
        dtype: Any,
        setting: Setting,
        limit: int,
        *,
        starts: tuple[Sequence[Extent], Sequence[Extent]] | None = None,
        depth: int = 0,
    ) -> None:
        super().__init__(sides, dtype, shown=setting.shown, finite=setting.finite, limit=limit, starts=starts)
        self.setting, self.congruence, self.depth = setting, setting.congruence, depth

    def compare_with_fill(self, read: SideRead, side: int, fill: Any, facts: Facts) -> None:
        """Prove that what *side* reads is a constant, equal to the *fill* of the other side; `Stuck` if that fails."""
        known, reading = self.congruence, partial(self.read, side=side)
        for law in (set(), {REAL}):
            value = ConstantReads(reading, known.digits, of_reals=bool(law)).element(read, facts)
            if value is not None and same_fill(fill, value.item(), self.dtype):
                if not law <= known.laws:
                    known.wanted |= law
                    break
                known.used |= law
                known.uncertified.add("a value is compared with a fill")
                return
        raise Stuck("one side reads a fill only where the other does", read.coords)

    def compare_computed(self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> None:
        """Prove that *a* at *at* equals *b* at *bt*: both are one function of equal operands, or have one formula."""
        try:
            self._compare_functions(a, b, at, bt, facts)
        except Stuck:
            if self.congruence.differ_at(a, b, at, bt, facts):
                raise
            reads = SideRead(a, tuple(at), None, ()), SideRead(b, tuple(bt), None, ())
            if self.are_one_element(*reads, facts) or are_products_of_one_sign(self, reads, facts):
                self.congruence.uncertified.add("signs are turned")
                return
            granted = bool(self.congruence.laws)
            if not can_match(a, b, granted=granted):
                self.congruence.skipped |= not granted and can_match(a, b, granted=True)
                raise
            laws = self._laws(a, b, at, bt, facts)
            known = self.congruence
            if laws is None:
                known.skipped |= not known.laws >= frozenset(LAWS)
                raise
            known.used |= laws & frozenset(LAWS)
            known.fused |= {law.removeprefix(FORMULA).strip() for law in laws if law.startswith(f"{FORMULA} ")}
            self._note_formula_of(a, b, order_of(at, bt, facts))

    def _note_formula_of(self, a: Tensor, b: Tensor, order: tuple[int, ...] | None) -> None:
        """Note that two values have one formula, after the pairs that this needs."""
        known, why = self.congruence, Pair(a, b, Way(()), False, by_formula=True)
        if order is None or (a, b, order) not in known.formulas:
            known.uncertified.add("two functions have one formula at some coordinates")
        for key in dict.fromkeys((a, b, places) for places in (order and order[: a.batch], ()) if places is not None):
            if known.known.get(key) is None and (key in known.known or key[2]):
                known.known.pop(key, None)
                known.known[key] = why

    def are_rounded_alike(self, a: SideRead, b: SideRead, facts: Facts) -> bool:
        """Return whether two constants are equal but for how they were rounded, and a law allows that."""
        if a.leaf is None or a.leaf.values is None or b.leaf is None or b.leaf.values is None:
            return False
        most = a.leaf.rounding + b.leaf.rounding
        if not most or not near_elements(a.leaf.values, b.leaf.values, a.coords, b.coords, facts, most):
            return False
        known = self.congruence
        if FOLD not in known.laws:
            known.wanted.add(FOLD)
            return False
        known.used.add(FOLD)
        known.uncertified.add(ROUNDED_CONSTANTS)
        return True

    def are_one_element(self, a: SideRead, b: SideRead, facts: Facts) -> bool:
        """Return whether both elements are proved to be one, of which one side turns the sign and turns it back."""
        try:
            found = differ_by_no_sign(self, (a, b), facts.fork())
        except InconclusiveError:  # the goals are spent
            return False
        if found:
            self.congruence.uncertified.add("signs are turned")
        return found

    def _laws(
        self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts
    ) -> frozenset[str] | None:
        """Return the laws under which *a* at *at* has the formula of *b* at *bt*; None if that is not shown.

        Values of one shape are compared everywhere.  Values of other shapes, such as those of two halves and of the
        whole, are compared at this place.
        """
        order = order_of(at, bt, facts)
        if order is not None and _are_of_one_shape(a, b, order, facts):
            if (a, b, order) not in self.congruence.formulas:
                raise Pending(a, b, self, order, by_formula=True)
            return self.congruence.formulas[a, b, order]
        same = a.rank == b.rank and _are_of_one_shape(a, b, range(a.rank), facts)
        if same or self.depth > _DEEPEST_FORMULA:
            return None
        reads = SideRead(a, tuple(at), None, ()), SideRead(b, tuple(bt), None, ())
        try:
            return laws_of(self, reads, facts.fork(), granted=self.congruence.laws)
        except InconclusiveError:  # the goals are spent
            return None

    def _compare_functions(
        self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts
    ) -> None:
        """Prove that *a* at *at* equals *b* at *bt*: both are one function of equal operands."""
        places = at[a.batch :], bt[b.batch :]
        turns = a.body is not None and a.body == b.body and bool(places[0]) and may_turn(a, b, facts)
        one_rank = len(places[0]) == len(places[1]) or turns
        if a.body != b.body or a.body is None or not one_rank or len(a.inputs) != len(b.inputs):
            self.congruence.known.setdefault((a, b, ()), None)  # for those who ask where the sides part
            raise Stuck(f"{a.name} and {b.name} are one function", (*at, *bt))
        if a.dtype != b.dtype:
            raise Stuck(f"{a.name} has elements of one type: {type_name(a.dtype)} and {type_name(b.dtype)}", (*at, *bt))
        if a.body.random and a is not b:
            raise Stuck(f"{a.name}, which is random, gives the same twice", (*at, *bt))
        for x, y in () if turns else zip(*places, strict=True):
            if not equal(x, y, facts):
                raise Stuck(f"{facts.spell(facts.reduce(x))} == {facts.spell(facts.reduce(y))} in {a.name}", (x, y))
        order = order_of(at[: a.batch], bt[: b.batch], facts)
        is_reshaped = order is None and have_one_number(a, b, at[: a.batch], bt[: b.batch], facts)
        shape = RESHAPED if is_reshaped else order
        why = None if shape is None else self._lemma(a, b, shape)
        if why is None:
            # Values that differ somewhere are seldom equal at one place of both: that is looked into once.  Values of
            # other extents are parts of each other.
            of_one_shape = order is not None and _are_of_one_shape(a, b, order, facts)
            too_deep = self.depth >= (1 if of_one_shape else _DEEPEST)
            if too_deep or self.congruence.differ_at(a, b, at, bt, facts):
                raise Stuck(f"{a.name} and {b.name} compute the same", (*at, *bt))
            why = self._compare_operands(a, b, at[: a.batch], bt[: b.batch], facts)
            self.congruence.uncertified.add("values are compared at some coordinates only")
        if turns and not are_one_place(why, places, facts):
            raise Stuck(f"{a.name} and {b.name} are read at one place", (*at, *bt))

    def _lemma(self, a: Tensor, b: Tensor, order: tuple[int, ...]) -> Pair | None:
        try:
            return self.congruence.lemma(a, b, order)
        except KeyError:
            raise Pending(a, b, self, order) from None

    def _is_lemma(self, a: Tensor, b: Tensor) -> bool:
        """Return whether it is proved that *a* equals *b*, each element that of the same coordinate."""
        self._lemma(a, b, tuple(range(a.batch)))
        return self.congruence.are_equal(a, b)

    def met(self, facts: Facts, digits: Sequence[Extent], plan: Met | None = None) -> Tree | None:
        """Return the leaf of a claim of movement whose sides read one value at one coordinate on their way."""
        if plan is not None:
            return self._met_again(facts, digits, plan)
        goals = (self.limit - facts.effort) // _MEETING_SHARE
        unfit = facts.is_written or self.starts is not None or not self.shown
        if unfit or goals < _LEAST_GOALS or not share_operations(*self.sides) or not all(map(_is_read, self.sides)):
            return None
        start = facts.effort
        most = start + goals
        found = meetings(self.sides, digits, facts.fork(), limit=most, shown=self.shown)
        tree = None
        for a, b, pairs in found[:_MOST_MEETINGS]:
            if (parts := self._equal_parts(pairs, most)) is not None:
                tree = Met(facts, (a.path, b.path), (a.node, b.node), parts)
                break
        self.limit += facts.effort - start  # the other proofs have all of their goals
        return tree

    def _met_again(self, facts: Facts, digits: Sequence[Extent], plan: Met) -> Tree | None:
        """Return the leaf of *plan* once more, of the same sides."""
        ways = [
            way_of(side, digits, facts, number=k, limit=self.limit, shown=self.shown)
            for k, side in enumerate(self.sides)
        ]
        found = [next((at for at in way if at.path == path), None) for way, path in zip(ways, plan.paths, strict=True)]
        a, b = found
        if a is None or b is None or not all(equal(x, y, facts) for x, y in zip(a.coords, b.coords, strict=True)):
            return None
        return Met(facts, plan.paths, plan.nodes, plan.parts)

    def _equal_parts(self, pairs: Pairs, most: int) -> tuple[tuple[Tensor, Tensor, Tree], ...] | None:
        """Return the proofs that two values are equal at every coordinate, for each pair; None if one is not proved."""
        found: list[tuple[Tensor, Tensor, Tree]] = []
        for a, b in pairs:
            trial = Decision((a, b), self.dtype, self.setting, min(most, self.limit))
            try:
                found.append((a, b, trial.decide(self.setting.facts_of_pair(), None)))
            except InconclusiveError:
                return None
        return tuple(found)

    def are_one_expression(self, left: Tensor, right: Tensor) -> bool:
        """Return whether both are the same operations of equal leaves, so that no coordinate has to be looked at."""
        found = self.congruence.classes.parts(left, right)
        return found is not None and not found[1] and self._are_equal(found)

    def _are_equal(self, found: tuple[Pairs, Pairs]) -> bool:
        """Return whether values that correspond are equal, and so are the parts at which operations part."""
        known = self.congruence
        for a, b in found[1]:
            if (a, b) not in known.parts:
                raise Pending(a, b, self)
            if not known.parts[a, b]:
                return False
        if not all(known.are_one(a, b) or self._is_lemma(a, b) for a, b in found[0]):
            return False
        if found[1]:
            known.uncertified.add("movement is compared by its parts")
        return True

    def follows(self, facts: Facts, order: tuple[int, ...]) -> Pair | None:
        """Return why the sides, both computed, are equal: axis ``order[k]`` of the left is axis k of the right."""
        a, b = self.sides
        keeps = Way(tuple(range(a.inputs[0].rank - a.batch)))
        extents = [facts.reduce(e) for e in a.extents]
        try:
            if not _are_of_one_shape(a, b, order, facts):
                return None
            facts.meet(extents)
            digits = axis_digits(tuple(facts.reduce(e) for e in extents[: a.batch]), facts)
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return Pair(a, b, keeps, False)
        return self._compare_operands(a, b, digits, [digits[k] for k in order], facts)

    def follows_reshaped(self, facts: Facts) -> Pair | None:
        """Return why the first side is the second with its batch in another shape, row-major; None if it is not."""
        a, b = self.sides
        assert a.body is not None
        for swapped in (False, True)[: 1 + (a.body.symmetric and len(a.inputs) == 2)]:
            views = zip(a.inputs[::-1] if swapped else a.inputs, b.inputs, strict=True)
            if all(self._is_reshaped(v, w, facts.fork()) for v, w in views):
                return Pair(a, b, Way(tuple(range(a.inputs[0].rank - a.batch))), swapped, reshaped=True)
        return None

    def _is_reshaped(self, v: Tensor, w: Tensor, facts: Facts) -> bool:
        """Return whether a view of the first side is a view of the second with its batch in another shape."""
        a, b = self.sides
        if v.rank - a.batch != w.rank - b.batch:
            return False
        try:
            there = in_batch_of(w, b.batch, a)
            known = len(facts.requirements)
            facts.merge(there.facts)
            views = Decision((v, there), v.dtype, self.setting, self.limit)
            if len(facts.requirements) > known:
                return False
            if not views.are_one_expression(v, there):
                views.decide(facts, None)
        except (ShapeError, InconclusiveError):
            return False
        return True

    def follows_by_formula(self, facts: Facts, order: tuple[int, ...]) -> frozenset[str] | None:
        """Return the laws under which the sides have one formula: axis ``order[k]`` of the left is axis k of the right.

        None if that is not shown.
        """
        a, b = self.sides
        extents = [facts.reduce(e) for e in a.extents]
        try:
            if not _are_of_one_shape(a, b, order, facts):
                return None
            facts.meet(extents)
            digits = axis_digits(tuple(facts.reduce(e) for e in extents), facts)
            reads = SideRead(a, tuple(digits), None, ()), SideRead(b, tuple(digits[k] for k in order), None, ())
            return laws_of(self, reads, facts, granted=self.congruence.laws)
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return frozenset()

    def element(
        self, view: Tensor, side: int, coords: Sequence[Extent], facts: Facts, *, inside: bool = False
    ) -> SideRead | None:
        """Return what *view* reads at *coords*; None if that depends on the coordinate.

        If *inside*, facts are added: that no fill is read there.
        """
        try:
            return self.read(view, coords, facts, side=side, inside=inside)
        except (OpenSign, Stuck):
            return None

    def same_elements(self, a: SideRead, b: SideRead, facts: Facts) -> bool:
        """Return whether two reads are proved to be equal."""
        if a.leaf is None or b.leaf is None:
            return False
        try:
            self._of_views(a.leaf, b.leaf, a.coords, b.coords).compare(a, b, facts.fork())
        except (OpenSign, Stuck, InconclusiveError):
            return False
        return True

    def note_formula(self, formula: Formula) -> None:
        """Keep what was shown to be a fused function and the chain with its formula."""
        self.congruence.chains.setdefault(formula.function.name, formula)

    def same_views(self, v: Tensor, w: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
        """Return whether two views are proved to be equal at these coordinates."""
        try:
            self._of_views(v, w, at, bt).decide(facts.fork(), ())
        except InconclusiveError:
            return False
        return True

    def _of_views(self, v: Tensor, w: Tensor, at: Sequence[Extent], bt: Sequence[Extent]) -> Decision:
        return Decision((v, w), v.dtype, self.setting, self.limit, starts=(at, bt), depth=self.depth + 1)

    def _compare_operands(self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> Pair:
        """Return why the bodies of *a* and *b* read equal elements at these coordinates of their batches."""
        assert a.body is not None
        first: Stuck | None = None
        for swapped in (False, True)[: 1 + (a.body.symmetric and len(a.inputs) == 2)]:
            inputs = a.inputs[::-1] if swapped else a.inputs
            pairs = sorted(zip(inputs, b.inputs, strict=True), key=_reads_computed)  # constants are soon told apart
            others = self._matching(a, b, at, bt, swapped, facts)
            for way in itertools.chain(ways(a, b, facts), reversing(a, b, pairs, facts), others):
                try:
                    for v, w in pairs:
                        if way.back:
                            self._compare_views(w, v, bt, at, way, facts)
                        else:
                            self._compare_views(v, w, at, bt, way, facts)
                    if way.places is not None and way.places.inverse is None:
                        raise Stuck(f"{a.name} and {b.name} read each term once", (*at, *bt))
                except Stuck as stuck:
                    first = first or stuck
                else:
                    if way.law and way.law not in self.congruence.laws:
                        self.congruence.wanted.add(way.law)
                        raise Stuck(f"{a.name} may take its terms in another order (law {way.law})", (*at, *bt))
                    self.congruence.used |= {way.law} - {""}
                    return Pair(a, b, way, swapped)
        if self._have_the_same_terms(a, b, at, bt, facts):
            return Pair(a, b, Way(()), False)
        raise first or Stuck(f"{a.name} and {b.name} read boxes of one size", (*at, *bt))

    def _have_the_same_terms(
        self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts
    ) -> bool:
        """Return whether folds have the same terms, but for those that change nothing; a sum of floats needs a law."""
        known = self.congruence
        order = order_of(at, bt, facts)
        if order is None or not may_be_covered(a, b, facts):
            return False
        assert a.body is not None
        law = set() if any_order(a) else {REASSOCIATE}
        if law and a.body.sums_products and not all(_has_finite_factors(t) for t in (a, b)):
            law.add(REAL)  # a product with a fill 0 is NaN if the other factor is infinite
        if not are_of_one_value(self, a, b, at, bt, order, known.facts, facts):
            return False
        if not law <= known.laws:
            known.wanted |= law
            return False
        known.used |= law
        known.uncertified.add("folds have the same terms but for some that change nothing")
        return True

    def is_term(self, views: Views, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
        """Return whether the second of each two views reads what the first does, if no first one reads a fill."""
        reads = [self.element(v, 0, at, facts.fork()) for v, _ in views]
        if any(read is not None and read.leaf is None for read in reads):
            return True
        for k, (v, w) in enumerate(views):
            here = facts.fork()
            try:
                for j, (other, _) in enumerate(views):
                    if j != k:
                        self.read(other, at, here, side=0, inside=True)
                self._of_views(v, w, at, bt).decide(here, (), (), 0)
            except ShapeError as error:
                if error.kind != "infeasible":
                    raise
            except (OpenSign, Stuck, InconclusiveError):
                return False
        return True

    def box_digits(self, extents: Sequence[Extent], facts: Facts) -> list[Extent]:
        """Return any coordinate in a box."""
        facts.meet(list(extents))
        digits = self.congruence.digits
        return [0 if e == 1 else facts.add_digit(digit_name(next(digits)), facts.reduce(e)) for e in extents]

    def _matching(
        self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], swapped: bool, facts: Facts
    ) -> Iterator[Way]:
        order = order_of(at, bt, facts)
        sizes = [product([facts.reduce(e) for e in t.inputs[0].extents[t.batch :]]) for t in (a, b)]
        onto = a.body is not None and a.body.idempotent and not any(map(fills_of, (*a.inputs, *b.inputs)))
        if order is not None and (onto or equal(sizes[0], sizes[1], facts)):
            yield from matching(a, b, order, swapped, self.congruence.facts)

    def _compare_views(
        self, v: Tensor, w: Tensor, at: Sequence[Extent], bt: Sequence[Extent], way: Way, facts: Facts
    ) -> None:
        """Prove that two views are equal at these coordinates of the batch, for all coordinates of the box."""
        parts = self.congruence.classes.parts(v, w) if way.keeps and list(at) == list(bt) else None
        if parts is not None and not parts[1]:
            if self._are_equal(parts):
                return
            parts = None
        facts = facts.fork()
        if way.places is not None:
            ends = w.extents[len(bt) :], way.places.box.extents
            if len(ends[0]) != len(ends[1]) or not all(map(equal, *ends, itertools.repeat(facts))):
                raise Stuck(f"{w.name} is read over the box of the other views")
            w = way.places.applied(w, len(bt))
            facts.merge(w.facts)
        boxes = [facts.reduce(e) for e in v.extents[len(at) :]], [facts.reduce(e) for e in w.extents[len(bt) :]]
        try:
            expected = way.extents(boxes[0])
            if len(expected) != len(boxes[1]):
                raise Stuck(f"{v.name} and {w.name} are read over boxes of one rank")
            for x, y in zip(expected, boxes[1], strict=True):
                if not equal(x, y, facts):
                    raise Stuck(f"{facts.spell(x)} == {facts.spell(y)}, extents that are read over", (x, y))
            box = self.box_digits(boxes[0], facts)
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return  # the box is empty, and so is the other
        there = way.coordinates(box, boxes[0])
        views = self._of_views(v, w, (*at, *box), (*bt, *there))
        if parts is not None:  # what is not soon seen is seen more easily at the coordinates of the parts
            views.limit = min(views.limit, facts.effort + self.congruence.goals // _PART_SHARE)
            try:
                views.decide(facts.fork(), ())
            except InconclusiveError:
                if self._are_equal(parts):
                    return
                views.limit = self.limit
            else:
                return
        try:
            views.decide(facts, ())
        except InconclusiveError as error:
            raise Stuck(error.claim, ()) from None


class Pending(Exception):
    """The decision needs to know first whether *a* equals *b* with its axes in this *order*.

    If *by_formula*, the axes are all axes, not those of the batch, and the functions of both need not be one.  Without
    an order, both are movements; with `RESHAPED`, the batch of *b* has the shape of that of *a*.
    """

    def __init__(
        self, a: Tensor, b: Tensor, asking: Decision, order: tuple[int, ...] | None = None, *, by_formula: bool = False
    ) -> None:
        super().__init__(a, b, order)
        self.pair, self.order, self.asking, self.by_formula = (a, b), order, asking, by_formula

    def decide(self) -> None:
        """Decide whether the pair is equal, and store the answer in the congruence."""
        (a, b), order, known = self.pair, self.order, self.asking.congruence
        goals = known.goals_of_next_formula if self.by_formula else known.goals_of_next(short=not self.asking.finite)
        few = None if order is None else known.goals_untold
        found = None
        for most in [goals] if few is None or few >= goals else [few, goals]:
            if order not in (None, RESHAPED) and known.differ(a, b, order):
                break
            if order is not None and self.by_formula:
                known.formulas[a, b, order] = None  # for the formula itself, a part of what is compared
            found, visited = self._attempted(most)
            known.spent += visited * (found is None)
            if found is not None or visited < most:
                break
        if order is None:
            known.parts[a, b] = found is not None
        else:
            answers: dict[Any, Any] = known.formulas if self.by_formula else known.known
            answers[a, b, order] = found

    def _attempted(self, goals: int) -> tuple[Any, int]:
        """Return why the pair is equal, None if that is not proved with so many *goals*, and how many were visited."""
        facts = self.asking.setting.facts_of_pair()
        start = facts.effort
        trial = Decision(self.pair, self.pair[0].dtype, self.asking.setting, start + goals)
        try:
            if self.order is None:
                return trial.decide(facts, None), facts.effort - start
            if self.order == RESHAPED:
                return trial.follows_reshaped(facts), facts.effort - start
            follows = trial.follows_by_formula if self.by_formula else trial.follows
            return follows(facts, self.order), facts.effort - start
        except (Stuck, OpenSign, InconclusiveError):
            return None, facts.effort - start


def _has_finite_factors(t: Tensor) -> bool:
    """Return whether each view with fills is multiplied with constants alone, all of which are finite."""
    padded = [k for k, v in enumerate(t.inputs) if fills_of(v)]
    return all(is_finite(v) for k in padded for j, v in enumerate(t.inputs) if j != k)


def _is_read(t: Tensor) -> bool:
    """Return whether *t* is movement, all of which is known to read inside its sources, so that each element is one."""
    return all(node.own and node.body is None for node in t.nodes())


def _reads_computed(views: tuple[Tensor, Tensor]) -> bool:
    return any(leaf.values is None for view in views for leaf in view.leaves())


def _are_of_one_shape(a: Tensor, b: Tensor, order: Sequence[int], facts: Facts) -> bool:
    """Return whether axis ``order[k]`` of *a* has the extent of axis k of *b*."""
    return all(equal(facts.reduce(a.extents[j]), facts.reduce(b.extents[k]), facts) for k, j in enumerate(order))
