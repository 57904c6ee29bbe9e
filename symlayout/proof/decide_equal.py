"""Decide by cases whether two tensors read the same element at every output coordinate.

Both sides are evaluated at one symbolic output coordinate.  If the facts do not decide which case of a map applies, or
whether a coordinate is inside a source with a fill, the decision splits on the sign of the polynomial in question.  It
starts again in each of the two branches, which know one more fact.  The result is a tree; each leaf names the elements
that are read there.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import (
    Coordinate,
    axis_digits,
    digit_name,
    digits_of,
    extent_of,
    is_digital,
    renew,
)
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, names_of, symbol
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.proof.compare_constants import same_elements, uniform
from symlayout.proof.compare_forms import FORMULA, can_match, is_fused, laws_of
from symlayout.proof.congruence import Congruence, Pair, Way, equal, matching, may_turn, order_of, reversing, ways
from symlayout.proof.folds import fold_of_copies
from symlayout.proof.one_expression import Pairs, leaves_of_one_expression, parts_of_one_expression
from symlayout.tensors.chain import Tensor, same_size
from symlayout.tensors.declaration import Case
from symlayout.tensors.element_types import same_fill

_DEEPEST = 4  # bodies that are read through, one in another, at coordinates of their own
_SPLIT = 40  # goals that a case costs beside its own: the facts of both branches get sample points
_PART_SHARE = 40  # what part of the goals is visited before the parts of views are compared
_MOST_READINGS = 4  # most evaluations of both sides in one branch
_MOST_DIVIDED = 4096  # a number up to this one may be split into its divisors
MAX_VALUES = 16  # a symbol with at most so many values may be split into its values

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Split:
    """Two branches: ``value >= 0`` and ``value < 0``; *first* says that the shapes are compared in the branches."""

    facts: Facts
    value: Extent
    yes: Tree
    no: Tree
    first: bool = False


@dataclass(frozen=True, slots=True)
class Agreed:
    """Both sides read the same element.

    Each path holds the case at each step, and, if the step reads outside its source, the axis and the end: ``below``,
    ``above``, or ``empty`` if the source has no element on that axis.
    """

    facts: Facts
    paths: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Masked:
    """All fills are equal, so two branches suffice: all windows of the left side hold, and all of the right side hold.

    At all other points both sides read the fill.
    """

    facts: Facts
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Absurd:
    """The facts exclude all points."""

    facts: Facts


@dataclass(frozen=True, slots=True)
class Chosen:
    """Case *number* of one operation holds; each other case fails at a window, on the named end.

    The end is ``below`` or ``above``, as in `Agreed`.
    """

    facts: Facts
    number: int
    others: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Same:
    """Both sides are the same operations of equal leaves."""

    facts: Facts


Tree = Split | Agreed | Masked | Absurd | Chosen | Same
Path = tuple[tuple[int, tuple[int, str] | None], ...]


@dataclass(frozen=True, slots=True)
class _SideRead:
    """The element that one side reads: *leaf* at *coords*, or *fill* if *leaf* is None."""

    leaf: Tensor | None
    coords: tuple[Extent, ...]
    fill: Any
    path: Path


class _Open(Exception):
    """The decision needs the sign of *value*, which the facts do not determine."""

    def __init__(self, value: Extent) -> None:
        super().__init__(value)
        self.value = value


class _Pending(Exception):
    """The decision needs to know first whether *a* equals *b* with its axes in this *order*.

    If *by_formula*, the axes are all axes, not those of the batch, and the functions of both need not be one.
    """

    def __init__(
        self, a: Tensor, b: Tensor, order: tuple[int, ...], asking: _Decision, *, by_formula: bool = False
    ) -> None:
        super().__init__(a, b, order)
        self.pair, self.order, self.asking, self.by_formula = (a, b), order, asking, by_formula

    def decide(self) -> None:
        """Decide whether the pair is equal, and store the answer in the congruence."""
        (a, b), asking, known = self.pair, self.asking, self.asking.congruence
        key = id(a), id(b), self.order
        facts = known.facts.fork()
        facts.splits = {}
        start = facts.effort
        goals = known.goals_of_next if asking.finite else known.goals  # a first, short attempt is short already
        goals = known.goals_of_next_formula if self.by_formula else goals
        trial = _Decision(a, b, a.dtype, asking.shown, asking.finite, start + goals, known)
        known.kept += [a, b]
        if self.by_formula:
            known.formulas[key] = None  # the answer for the formula itself, where it is a part of what is compared
            laws = known.formulas[key] = self._attempted(lambda: trial.follows_by_formula(facts, self.order))
            known.spent += (facts.effort - start) * (laws is None)
        else:
            pair = known.known[key] = self._attempted(lambda: trial.follows(facts, self.order))
            known.spent += (facts.effort - start) * (pair is None)

    def _attempted(self, decision: Callable[[], R]) -> R | None:
        try:
            return decision()
        except (_Stuck, _Open, InconclusiveError):
            return None


class _PendingPart(Exception):
    """The decision needs to know first whether the movements *a* and *b* are equal at every coordinate."""

    def __init__(self, a: Tensor, b: Tensor, asking: _Decision) -> None:
        super().__init__(a, b)
        self.pair, self.asking = (a, b), asking

    def decide(self) -> None:
        """Decide whether the pair is equal, and store the answer in the congruence."""
        (a, b), asking, known = self.pair, self.asking, self.asking.congruence
        facts = known.facts.fork()
        facts.splits = {}
        start = facts.effort
        goals = known.goals_of_next if asking.finite else known.goals
        try:
            _Decision(a, b, a.dtype, asking.shown, asking.finite, start + goals, known).decide(facts, None)
        except InconclusiveError:
            known.spent += facts.effort - start
            known.parts[id(a), id(b)] = False
        else:
            known.parts[id(a), id(b)] = True
        known.kept += [a, b]


class _Stuck(Exception):
    """*obligation*, about *values*, is not proved here, and no expression suggests a split."""

    def __init__(self, obligation: str, values: Sequence[Extent] = ()) -> None:
        super().__init__(obligation)
        self.obligation, self.values = obligation, values


def agree(
    left: Tensor,
    right: Tensor,
    facts: Facts,
    dtype: Any,
    *,
    shown: bool = False,
    finite: bool = True,
    effort: int | None = None,
    congruence: Congruence | None = None,
    plan: Tree | None = None,
) -> Tree:
    """Prove that the shapes are equal and that both sides read the same element at every output coordinate.

    Parameters
    ----------
    left, right : Tensor
        The two sides.
    facts : Facts
        A system with the symbols of both sides; the claim is proved wherever these facts hold.  Facts are added to it.
    shown : bool
        Skip the proof that reads without a fill are inside their source, because it was made before.
    finite : bool
        Whether to split a symbol into its values if nothing else helps.
    effort : int, optional
        The most goals to visit; by default ``limits.decision_goals``.
    congruence : Congruence, optional
        The known answers about pairs of computed values, and the granted laws.
    plan : Tree, optional
        An earlier proof of the claim: its cases are taken, however many goals they visit.

    Returns
    -------
    Tree
        The cases of the proof.

    Raises
    ------
    InconclusiveError
        The claim is not proved; the message names the missing step.
    """
    if left.rank != right.rank:
        raise InconclusiveError("the ranks are equal")
    goals = sys.maxsize if plan is not None else limits.decision_goals if effort is None else effort
    known = congruence or Congruence(facts, goals)
    if not left.computes and not right.computes:
        facts.splits = {}
        return _Decision(left, right, dtype, shown, finite, facts.effort + goals, known).decide(facts, None, plan=plan)

    def attempt() -> Tree:
        here = facts.fork()
        here.splits = {}
        decision = _Decision(left, right, dtype, shown, finite, here.effort + goals, known)
        return Same(here) if decision.are_one_expression(left, right) else decision.decide(here, None)

    return _settled(attempt)


def _settled(attempt: Callable[[], R]) -> R:
    """Return the result of *attempt*, after deciding the pairs of computed values that it needs.

    A stack orders the pairs: each is decided after the pairs that it needs.  So deep graphs cause no deep recursion.
    """
    waiting: list[_Pending | _PendingPart] = []
    while True:
        try:
            if not waiting:
                return attempt()
            waiting[-1].decide()
            waiting.pop()
        except (_Pending, _PendingPart) as pair:
            waiting.append(pair)


def show_map(node: Tensor, facts: Facts, *, effort: int) -> Tree:
    """Prove that *node* is a map: at each coordinate one case holds, and it reads inside its source or has a fill.

    Raises
    ------
    InconclusiveError
        The claim is not proved.
    """
    facts.splits = {}
    return _MapDecision(node, facts.effort + effort).decide(facts, None)


class _Decision:
    def __init__(
        self,
        left: Tensor,
        right: Tensor,
        dtype: Any,
        shown: bool,
        finite: bool,
        limit: int,
        congruence: Congruence,
        starts: tuple[Sequence[Extent], Sequence[Extent]] | None = None,
        depth: int = 0,
    ) -> None:
        self.sides, self.dtype, self.shown, self.finite = (left, right), dtype, shown, finite
        self.splits, self.limit, self.congruence = 0, limit, congruence
        self.depth = depth  # number of bodies between these sides and the sides of the claim
        self.starts = starts  # the coordinates where the sides are compared, if not the same digits
        self.one_fill = _has_one_fill((*left.nodes(), *right.nodes()), dtype)

    def decide(
        self,
        facts: Facts,
        digits: Sequence[Extent] | None,
        taken: tuple[Extent, ...] = (),
        inside: int | None = None,
        plan: Tree | None = None,
    ) -> Tree:
        """Return the tree of a branch in which *facts* hold.

        Parameters
        ----------
        facts : Facts
            The facts of the branch.
        digits : sequence of Extent or None
            The output coordinate; None before the shapes are compared.
        taken : tuple of Extent
            The polynomials that the splits above assumed to be >= 0.
        inside : int, optional
            The side that is assumed to read inside all of its sources.
        plan : Tree, optional
            The cases to take.
        """
        if digits is None and self.finite and (tree := self._by_divisors(facts, taken, inside, plan)) is not None:
            return tree
        try:
            if digits is None:
                digits = self._meet(facts)
            return self._end(facts, digits, inside)
        except _Open as question:
            if isinstance(plan, Split) and _has_symbols(plan.value, facts):
                return self._split(facts.reduce(plan.value), facts, digits, taken, inside, plan)
            if self.one_fill and inside is None and digits is not None:
                plans = (plan.left, plan.right) if isinstance(plan, Masked) else (None, None)
                left, right = (self.decide(facts.fork(), digits, taken, side, plans[side]) for side in (0, 1))
                return Masked(facts, left, right)
            return self._split(_question(facts, question.value, taken), facts, digits, taken, inside)
        except _Stuck as stuck:
            if isinstance(plan, Split) and _has_symbols(plan.value, facts):
                return self._split(facts.reduce(plan.value), facts, digits, taken, inside, plan)
            for value in reversed(taken):
                if facts.excludes(value):
                    return Absurd(facts)
            bound = _finite(facts, stuck.values, taken) if self.finite else None
            if bound is None:
                raise InconclusiveError(stuck.obligation) from None
            try:
                return self._split(bound, facts, digits, taken, inside)
            except InconclusiveError:
                raise InconclusiveError(stuck.obligation) from None
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return Absurd(facts)

    def _by_divisors(
        self, facts: Facts, taken: tuple[Extent, ...], inside: int | None, plan: Tree | None
    ) -> Tree | None:
        """Return the tree with a branch for each value of the divisors of numbers, if there are any and it is found."""
        if plan is not None:
            first = facts.reduce(plan.value) if isinstance(plan, Split) and plan.first else None
        else:
            first = _divisors_apart(facts)
        if first is None:
            return Absurd(facts) if taken and any(facts.excludes(fact) for fact in list(facts.known)) else None
        start = facts.effort
        try:
            return self._split(first, facts, None, taken, inside, plan if isinstance(plan, Split) else None)
        except InconclusiveError:
            if taken:
                raise
            self.splits, self.limit = 0, self.limit + facts.effort - start  # the other proofs have all of their goals
            return None

    def _end(self, facts: Facts, digits: Sequence[Extent], inside: int | None) -> Tree:
        """Return the leaf of a branch at the output coordinate *digits*."""
        found = self._read_both(digits, facts, inside)
        return Agreed(facts, (found[0].path, found[1].path))

    def _read_both(self, digits: Sequence[Extent], facts: Facts, inside: int | None) -> dict[int, _SideRead]:
        """Prove that both sides read the same element, and return both reads.

        The sides are evaluated again if symbols were solved meanwhile: earlier quotients then use other symbols.
        """
        first = inside or 0  # facts of the side assumed inside help with the other
        for _ in range(_MOST_READINGS):
            solved = len(facts.solved)
            starts = self.starts or (digits, digits)
            found = {side: self._read(side, starts[side], facts, inside == side) for side in (first, 1 - first)}
            changed = len(facts.solved) != solved
            try:
                self._compare(found[0], found[1], facts)
            except _Stuck:
                if not changed:
                    raise
            else:
                if not changed or not facts.is_written:
                    return found
        raise _Stuck("the sides are in the same terms", found[0].coords + found[1].coords)

    def _split(
        self,
        value: Extent,
        facts: Facts,
        digits: Sequence[Extent] | None,
        taken: tuple[Extent, ...],
        inside: int | None,
        plan: Split | None = None,
    ) -> Tree:
        self.splits += 1
        if self.splits > limits.decision_splits or facts.effort > self.limit:
            raise InconclusiveError(f"the sides agree, in more than {self.splits - 1} cases")
        if self.finite:
            facts.spend(_SPLIT)
        branches: list[Tree] = []
        plans = (None, None) if plan is None else (plan.yes, plan.no)
        for bound, then in zip((value, -1 - value), plans, strict=True):
            local = facts.fork()
            try:
                local.suppose(bound)
                renew(local)
            except ShapeError as error:
                if error.kind != "infeasible":
                    raise
                branches.append(Absurd(local))
            else:
                branches.append(self.decide(local, digits, (*taken, bound), inside, then))
        yes, no = branches
        return Split(facts, value, yes, no, first=digits is None)

    def _meet(self, facts: Facts) -> list[Extent]:
        """Prove that the shapes are equal, and return the digits of the output coordinate."""
        left, right = ([facts.reduce(e) for e in side.extents] for side in self.sides)
        for axis, (a, b) in enumerate(zip(left, right, strict=True)):
            if not equal(a, b, facts):
                if facts.question(between := facts.reduce(a - b)) != between:  # which operand of a maximum is larger?
                    raise _Open(between)
                what = f"the extents of axis {axis} are equal: {facts.spell(a)} and {facts.spell(b)}"
                raise _Stuck(what, (a, b))
        facts.meet(left)
        return axis_digits(tuple(facts.reduce(e) for e in left), facts)

    # ------------------------------------------------------------------ one side

    def _read(self, side: int, coords: Sequence[Extent], facts: Facts, inside: bool) -> _SideRead:
        """Return the element that one side reads at the output coordinate *coords*; *inside* assumes it is no fill."""
        return self._read_from(self.sides[side], side, coords, facts, inside)

    def _read_from(self, node: Tensor, side: int, coords: Sequence[Extent], facts: Facts, inside: bool) -> _SideRead:
        path: list[tuple[int, tuple[int, str] | None]] = []
        while node.declared is not None:
            if facts.effort > self.limit:
                raise InconclusiveError("the sides agree, within the budget of goals")
            given = [Coordinate(facts.reduce(e), facts) for e in coords]
            number = _case(node.declared.cases, given, facts)
            case = node.declared.cases[number]
            source = node.inputs[case.source]
            extents = [facts.reduce(e) for e in source.extents]
            if case.fill is None and same_size(extents, node.extents, facts):
                # the source has as many elements as the output, so at least one: none of its axes is empty
                facts.assume_factors(extents, [facts.reduce(e) for e in node.extents])
            trusted = case.fill is None and self.shown and node.own
            outside = (extents.index(0), "empty") if case.fill is not None and 0 in extents else None
            if outside is None:
                coords = self._coords(case, given, extents, facts)
                if inside and case.fill is not None:
                    facts.assume_inside(coords, extents, (side, (*path, (number, None))))
                outside = None if trusted else _outside(coords, extents, facts)
            path.append((number, outside))
            if outside is not None:
                if case.fill is None:
                    raise _Stuck(f"{node.name} reads inside its input", (*coords, *extents))
                return _SideRead(None, (), case.fill.value, tuple(path))
            facts.assume_inhabited(coords, extents, (side, tuple(path)) if trusted else None)
            node = source
        return _SideRead(node, tuple(coords), None, tuple(path))

    def _coords(self, case: Case, given: list[Coordinate], extents: list[Extent], facts: Facts) -> list[Extent]:
        """Return the coordinate that a case reads; its divisors are extents, so they are >= 1."""
        try:
            return [facts.reduce(extent_of(c)) for c in case.coords(*given)]
        except InconclusiveError as error:
            raise _Stuck(error.claim, extents) from error

    def _compare(self, a: _SideRead, b: _SideRead, facts: Facts) -> None:
        """Prove that two reads are equal; `_Open` or `_Stuck` if that fails."""
        if a.leaf is None and b.leaf is None:
            if not same_fill(a.fill, b.fill, self.dtype):
                raise _Stuck(f"the fills {a.fill} and {b.fill} are equal")
            return
        if a.leaf is None or b.leaf is None:
            number, read = (0, b) if a.leaf is None else (1, a)
            value = self._folded(read, 1 - number, facts)
            if value is None or not same_fill((a, b)[number].fill, value.item(), self.dtype):
                raise _Stuck("one side reads a fill only where the other does", (*a.coords, *b.coords))
            self.congruence.direct = True
            return
        if a.leaf.key == b.leaf.key:
            pairs = [(facts.reduce(x), facts.reduce(y)) for x, y in zip(a.coords, b.coords, strict=True)]
            apart = next((axis for axis, (x, y) in enumerate(pairs) if not equal(x, y, facts)), None)
            if apart is None:
                return
            if a.leaf.body is None and a.leaf.values is None:
                x, y = pairs[apart]
                raise _Stuck(f"{facts.spell(x)} == {facts.spell(y)} on axis {apart} of {a.leaf.name}", (x, y))
        if a.leaf.body is not None and b.leaf.body is not None:
            self._compare_computed(a.leaf, b.leaf, a.coords, b.coords, facts)
        elif a.leaf.values is not None and b.leaf.values is not None:
            if not same_elements(a.leaf.values, b.leaf.values, a.coords, b.coords, facts):
                raise _Stuck(f"{a.leaf.name} and {b.leaf.name} have equal elements", (*a.coords, *b.coords))
        else:
            raise _Stuck(f"{a.leaf.name} and {b.leaf.name} are one input", (*a.coords, *b.coords))

    # ------------------------------------------------------------------ values that are computed

    def _folded(self, read: _SideRead, side: int, facts: Facts) -> Any:
        """Return the element that is read, as an array, if it does not depend on the inputs; else None."""
        node = read.leaf
        if node is None:
            return np.asarray(read.fill)
        if node.values is not None:
            return uniform(node.values)
        if node.body is None or node.body.random or node.body.function is None:
            return None
        if node.body.over:
            return self._folded_box(node, read.coords, side, facts)
        operands = []
        for view in node.inputs:
            value = self._folded(self._read_from(view, side, read.coords, facts, False), side, facts)
            if value is None:
                return None
            operands.append(value if view.dtype is None else np.asarray(value).astype(view.dtype))
        with np.errstate(all="ignore"):
            return np.asarray(node.body.function(*operands, **dict(node.body.attributes)))

    def _folded_box(self, node: Tensor, coords: Sequence[Extent], side: int, facts: Facts) -> Any:
        """Return what a fold makes of terms of which each is one constant, however many there are; None if it varies.

        If two such terms make what one makes, so do all numbers of them but 0.
        """
        body = node.body
        if body is None or body.joins is None or body.sums_products or node.rank != node.batch or len(node.inputs) > 1:
            return None
        (view,), outer, facts = node.inputs, facts, facts.fork()
        facts.splits = None  # a question about a part of a digit is not one of the whole claim
        extents = [facts.reduce(e) for e in view.extents[node.batch :]]
        try:
            facts.meet(extents)
            names = [digit_name(next(self.congruence.digits)) for _ in extents]
            box = [0 if e == 1 else facts.add_digit(name, e) for name, e in zip(names, extents, strict=True)]
            term = self._folded(self._read_from(view, side, (*coords, *box), facts, False), side, facts)
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return None
        except _Open as question:
            if any(digits_of(n, facts) & set(names) for n in names_of(question.value)):  # some terms may differ
                return None
            raise
        found = (
            None if term is None or view.dtype is None else fold_of_copies(body, np.asarray(term).astype(view.dtype))
        )
        if found is None or not (found.of_none or all(outer.positive(e) for e in extents)):
            return None
        return found.value

    def _compare_computed(self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> None:
        """Prove that *a* at *at* equals *b* at *bt*: both are one function of equal operands, or have one formula."""
        try:
            self._compare_functions(a, b, at, bt, facts)
        except _Stuck:
            granted = bool(self.congruence.laws)
            if not can_match(a, b, granted=granted):
                self.congruence.skipped |= not granted and can_match(a, b, granted=True)
                raise
            laws = self._laws(a, b, at, bt, facts)
            known = self.congruence
            if laws is None or not laws - {FORMULA} <= known.laws:
                known.wanted |= laws or set()
                known.skipped |= not granted
                raise
            known.used |= laws - {FORMULA}
            if FORMULA in laws:
                known.fused.add((b if is_fused(b.body) else a).name)
            known.direct = True
            order = order_of(at, bt, facts)
            for key, why in known.known.items():
                if why is None and key[:2] == (id(a), id(b)) and key[2] in ((), order and order[: a.batch]):
                    known.known[key] = Pair(a, b, Way(()), False)

    def _laws(
        self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts
    ) -> frozenset[str] | None:
        """Return the laws under which *a* at *at* has the formula of *b* at *bt*; None if that is not shown."""
        order = order_of(at, bt, facts)
        if order is None:
            return None
        key = id(a), id(b), order
        if key not in self.congruence.formulas:
            raise _Pending(a, b, order, self, by_formula=True)
        return self.congruence.formulas[key]

    def _compare_functions(
        self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts
    ) -> None:
        """Prove that *a* at *at* equals *b* at *bt*: both are one function of equal operands."""
        places = at[a.batch :], bt[b.batch :]
        turns = a.body is not None and a.body == b.body and bool(places[0]) and may_turn(a, b, facts)
        one_rank = len(places[0]) == len(places[1]) or turns
        if a.body != b.body or a.body is None or not one_rank or len(a.inputs) != len(b.inputs):
            self.congruence.known.setdefault((id(a), id(b), ()), None)  # for those who ask where the sides part
            self.congruence.kept += [a, b]
            raise _Stuck(f"{a.name} and {b.name} are one function", (*at, *bt))
        if a.dtype != b.dtype:
            raise _Stuck(f"{a.name} has elements of one type: {a.dtype} and {b.dtype}", (*at, *bt))
        if a.body.random and a is not b:
            raise _Stuck(f"{a.name}, which is random, gives the same twice", (*at, *bt))
        for x, y in () if turns else zip(*places, strict=True):
            if not equal(x, y, facts):
                raise _Stuck(f"{facts.spell(facts.reduce(x))} == {facts.spell(facts.reduce(y))} in {a.name}", (x, y))
        order = order_of(at[: a.batch], bt[: b.batch], facts)
        why = None if order is None else self._lemma(a, b, order)
        if why is None:
            # Values that differ somewhere are seldom equal at one place of both: that is looked into once.  Values of
            # other extents are parts of each other.
            of_one_shape = order is not None and all(
                equal(facts.reduce(a.extents[j]), facts.reduce(b.extents[k]), facts) for k, j in enumerate(order)
            )
            if self.depth >= (1 if of_one_shape else _DEEPEST):
                raise _Stuck(f"{a.name} and {b.name} compute the same", (*at, *bt))
            why = self._compare_operands(a, b, at[: a.batch], bt[: b.batch], facts)
            self.congruence.direct = True
        if turns and not _are_one_place(why, places, facts):
            raise _Stuck(f"{a.name} and {b.name} are read at one place", (*at, *bt))

    def _lemma(self, a: Tensor, b: Tensor, order: tuple[int, ...]) -> Pair | None:
        """Return why *b*, with its batch axes in this *order*, equals *a* at every coordinate; None if not proved.

        If the function is equivariant, a coordinate of one box is that of the other by the way that the pair has.
        """
        known, key = self.congruence.known, (id(a), id(b), order)
        if key not in known:
            raise _Pending(a, b, order, self)
        return known[key]

    def _is_lemma(self, a: Tensor, b: Tensor) -> bool:
        """Return whether it is proved that *a* equals *b*, each element that of the same coordinate."""
        why = self._lemma(a, b, tuple(range(a.batch)))
        return why is not None and (why.way.keeps or a.rank == a.batch)

    def are_one_expression(self, left: Tensor, right: Tensor) -> bool:
        """Return whether both are the same operations of equal leaves, so that no coordinate has to be looked at."""
        leaves = leaves_of_one_expression(left, right, self.congruence.forms)
        return leaves is not None and all(self._is_lemma(a, b) for a, b in leaves)

    def are_one_expression_of_parts(self, found: tuple[Pairs, Pairs]) -> bool:
        """Return whether leaves are equal, and the parts at which the operations of both sides part."""
        known = self.congruence.parts
        for a, b in found[1]:
            if (id(a), id(b)) not in known:
                raise _PendingPart(a, b, self)
            if not known[id(a), id(b)]:
                return False
        if not all(self._is_lemma(a, b) for a, b in found[0]):
            return False
        self.congruence.direct = True  # certificates have no such pairs
        return True

    def follows(self, facts: Facts, order: tuple[int, ...]) -> Pair | None:
        """Return why the sides, both computed, are equal: axis ``order[k]`` of the left is axis k of the right."""
        a, b = self.sides
        extents = [facts.reduce(e) for e in a.extents]
        try:
            for k, e in zip(order, b.extents, strict=False):
                if not equal(extents[k], facts.reduce(e), facts):
                    return None
            facts.meet(extents)
            digits = axis_digits(tuple(facts.reduce(e) for e in extents[: a.batch]), facts)
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return Pair(a, b, Way(tuple(range(a.inputs[0].rank - a.batch))), False)
        return self._compare_operands(a, b, digits, [digits[k] for k in order], facts)

    def follows_by_formula(self, facts: Facts, order: tuple[int, ...]) -> frozenset[str] | None:
        """Return the laws under which the sides have one formula: axis ``order[k]`` of the left is axis k of the right.

        None if that is not shown.
        """
        a, b = self.sides
        extents = [facts.reduce(e) for e in a.extents]
        try:
            for k, e in zip(order, b.extents, strict=True):
                if not equal(extents[k], facts.reduce(e), facts):
                    return None
            facts.meet(extents)
            digits = axis_digits(tuple(facts.reduce(e) for e in extents), facts)
            reads = _SideRead(a, tuple(digits), None, ()), _SideRead(b, tuple(digits[k] for k in order), None, ())
            return laws_of(self, reads, facts, granted=bool(self.congruence.laws))
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return frozenset()

    def element(self, view: Tensor, side: int, coords: Sequence[Extent], facts: Facts) -> _SideRead | None:
        """Return what *view* reads at *coords*; None if that depends on the coordinate."""
        try:
            return self._read_from(view, side, coords, facts, False)
        except (_Open, _Stuck):
            return None

    def same_elements(self, a: _SideRead, b: _SideRead, facts: Facts) -> bool:
        """Return whether two reads are proved to be equal."""
        if a.leaf is None or b.leaf is None:
            return False
        try:
            self._of_views(a.leaf, b.leaf, a.coords, b.coords)._compare(a, b, facts.fork())
        except (_Open, _Stuck, InconclusiveError):
            return False
        return True

    def same_views(self, v: Tensor, w: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
        """Return whether two views are proved to be equal at these coordinates."""
        try:
            self._of_views(v, w, at, bt).decide(facts.fork(), ())
        except InconclusiveError:
            return False
        return True

    def _of_views(self, v: Tensor, w: Tensor, at: Sequence[Extent], bt: Sequence[Extent]) -> _Decision:
        known, depth = self.congruence, self.depth + 1
        return _Decision(v, w, v.dtype, self.shown, self.finite, self.limit, known, (at, bt), depth)

    def _compare_operands(self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> Pair:
        """Return why the bodies of *a* and *b* read equal elements at these coordinates of their batches."""
        assert a.body is not None
        first: _Stuck | None = None
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
                        raise _Stuck(f"{a.name} and {b.name} read each term once", (*at, *bt))
                except _Stuck as stuck:
                    first = first or stuck
                else:
                    if way.law and way.law not in self.congruence.laws:
                        self.congruence.wanted.add(way.law)
                        raise _Stuck(f"{a.name} may take its terms in another order (law {way.law})", (*at, *bt))
                    self.congruence.used |= {way.law} - {""}
                    return Pair(a, b, way, swapped)
        raise first or _Stuck(f"{a.name} and {b.name} read boxes of one size", (*at, *bt))

    def _matching(
        self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], swapped: bool, facts: Facts
    ) -> Iterator[Way]:
        order = order_of(at, bt, facts)
        if order is not None:
            yield from matching(a, b, order, swapped, self.congruence.facts)

    def _compare_views(
        self, v: Tensor, w: Tensor, at: Sequence[Extent], bt: Sequence[Extent], way: Way, facts: Facts
    ) -> None:
        """Prove that two views are equal at these coordinates of the batch, for all coordinates of the box."""
        parts = None
        if way.keeps and list(at) == list(bt):
            if self.are_one_expression(v, w):
                return
            parts = parts_of_one_expression(v, w, self.congruence.forms)
            parts = parts if parts is not None and parts[1] else None
        facts = facts.fork()
        if way.places is not None:
            ends = w.extents[len(bt) :], way.places.box.extents
            if len(ends[0]) != len(ends[1]) or not all(map(equal, *ends, itertools.repeat(facts))):
                raise _Stuck(f"{w.name} is read over the box of the other views")
            w = way.places.applied(w, len(bt))
            facts.merge(w.facts)
        boxes = [facts.reduce(e) for e in v.extents[len(at) :]], [facts.reduce(e) for e in w.extents[len(bt) :]]
        try:
            expected = way.extents(boxes[0])
            if len(expected) != len(boxes[1]):
                raise _Stuck(f"{v.name} and {w.name} are read over boxes of one rank")
            for x, y in zip(expected, boxes[1], strict=True):
                if not equal(x, y, facts):
                    raise _Stuck(f"{facts.spell(x)} == {facts.spell(y)}, extents that are read over", (x, y))
            facts.meet(boxes[0])
            digits = self.congruence.digits
            box = [0 if e == 1 else facts.add_digit(digit_name(next(digits)), facts.reduce(e)) for e in boxes[0]]
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
                if self.are_one_expression_of_parts(parts):
                    return
                views.limit = self.limit
            else:
                return
        try:
            views.decide(facts, ())
        except InconclusiveError as error:
            raise _Stuck(error.claim, ()) from None


class _MapDecision(_Decision):
    """The decision for a single operation: which of its cases holds at each of its coordinates."""

    def __init__(self, node: Tensor, limit: int) -> None:
        super().__init__(node, node, node.dtype, False, True, limit, Congruence(node.facts, limit))
        self.one_fill = False

    def _end(self, facts: Facts, digits: Sequence[Extent], inside: int | None) -> Tree:
        """Return the case that holds at the coordinate *digits*, and where each other fails (see `_read_both`)."""
        for _ in range(_MOST_READINGS):
            solved = len(facts.solved)
            chosen = self._choose(facts, digits)
            if len(facts.solved) == solved:
                return chosen
        raise _Stuck(f"the cases of {self.sides[0].name} are in the same terms")

    def _choose(self, facts: Facts, digits: Sequence[Extent]) -> Chosen:
        node = self.sides[0]
        assert node.declared is not None
        given = [Coordinate(facts.reduce(e), facts) for e in digits]
        apart = [_window_outside(case, given, facts) for case in node.declared.cases]
        holding = [number for number, window in enumerate(apart) if window is None]
        if len(holding) != 1:
            raise _Stuck(f"at each coordinate one case of {node.name} holds, and no other")
        case = node.declared.cases[holding[0]]
        if case.fill is None:
            self._show_inside(node, case, given, facts)
        return Chosen(facts, holding[0], tuple(window for window in apart if window is not None))

    def _show_inside(self, node: Tensor, case: Case, given: list[Coordinate], facts: Facts) -> None:
        extents = [facts.reduce(e) for e in node.inputs[case.source].extents]
        if same_size(extents, node.extents, facts):
            facts.assume_factors(extents, [facts.reduce(e) for e in node.extents])
        coords = self._coords(case, given, extents, facts)
        if _outside(coords, extents, facts) is not None:
            raise _Stuck(f"{node.name} reads inside its input", (*coords, *extents))


def _are_one_place(why: Pair, places: tuple[Sequence[Extent], Sequence[Extent]], facts: Facts) -> bool:
    """Return whether places in the boxes of two equivariant values are one, by the way in which these correspond."""
    one, (box, other) = (why.b, places[::-1]) if why.way.back else (why.a, places)
    extents = [facts.reduce(e) for e in one.extents[one.batch :]]
    if why.way.places is None:
        there = why.way.coordinates(box, extents)
    else:
        assert why.way.places.tensor.declared is not None
        cases = why.way.places.tensor.declared.cases
        given = [Coordinate(facts.reduce(e), facts) for e in box]
        there = [extent_of(c) for c in cases[_case(cases, given, facts)].coords(*given)]
    return len(there) == len(other) and all(equal(x, y, facts) for x, y in zip(there, other, strict=True))


def _reads_computed(views: tuple[Tensor, Tensor]) -> bool:
    return any(leaf.values is None for view in views for leaf in view.leaves())


def _has_one_fill(nodes: Sequence[Tensor], dtype: Any) -> bool:
    """Return whether no map has cases, and all fills are equal bit for bit."""
    cases = [case for node in nodes if node.declared is not None for case in node.declared.cases]
    if len(cases) != sum(node.declared is not None for node in nodes) or any(case.where is not None for case in cases):
        return False
    fills = [case.fill.value for case in cases if case.fill is not None]
    return all(same_fill(fills[0], fill, dtype) for fill in fills[1:])


def _finite(facts: Facts, values: Sequence[Extent], taken: tuple[Extent, ...]) -> Extent | None:
    """Return the polynomial of a split that halves the range of a symbol with few values, or separates its least value.

    None is returned if there is no such symbol.
    """
    ranges: list[tuple[int, int, str]] = []
    for place, (name, low) in enumerate(facts.low.items()):
        high = facts.high[name]
        if isinstance(high, Poly):
            high = facts.interval(high)[1]
        if low is not None and high is not None and low < high <= low + MAX_VALUES and name not in facts.floors:
            ranges.append((high - low, place, name))
    if ranges:
        size, _, name = min(ranges)
        return symbol(name) - (facts.low[name] or 0) - (size + 1) // 2
    names = {name for e in values for name in names_of(facts.reduce(e))}
    for name in sorted(names & facts.floors.keys()):
        if (between := _remainder(facts, name, taken)) is not None:
            return between
    for name in sorted(names & facts.low.keys()):
        low = facts.low[name]
        apart = symbol(name) - ((low or 0) + 1)
        if low is not None and name[0] != DIGIT and name not in facts.floors and -1 - apart not in taken:
            return apart
    return None


def _divisors_apart(facts: Facts) -> Extent | None:
    """Return the polynomial of a split between the values of a symbol that divides a number; None if there is none."""
    found: list[tuple[bool, int, Extent]] = []
    for rule in facts.rules:
        number = rule.value
        if not isinstance(number, int) or not 0 < number <= _MOST_DIVIDED:
            continue
        for name in sorted(set(rule.monomial)):
            low, high = max(facts.low[name] or 1, 1), facts.interval(symbol(name))[1]
            last = number if high is None else min(number, high)
            values = [v for v in range(low, last + 1) if number % v ** rule.monomial.count(name) == 0]
            if high == low or (not values and (high is None or high > low + MAX_VALUES)):
                continue
            apart = (low + 1 + last) // 2 if not values else values[len(values) // 2] if values[-1] > low else low + 1
            found.append((name in facts.quotients, len(values), symbol(name) - apart))
    return min(found, key=lambda each: each[:2], default=(False, 0, None))[2]


def _question(facts: Facts, value: Extent, taken: tuple[Extent, ...]) -> Extent:
    """Return the polynomial whose sign to decide before that of *value*.

    It is the argument of a maximum, or it halves a digit or remainder that is multiplied by an extent.  For example,
    ``(i % 2)*C + c`` lies in another range of channels for each value of the remainder.  Where the extents are numbers,
    it halves the leading digit of several.
    """
    value = facts.reduce(facts.question(facts.reduce(value)))  # a digit may have been solved since *value* was asked
    if not isinstance(value, Poly):
        return value
    for name in sorted(n for n in value.names if n in facts.floors or n[0] == DIGIT):
        step = coefficient_of(value, name)
        if step is not None and isinstance(step[0], Poly):
            between = _halved(facts, name) if name[0] == DIGIT else _remainder(facts, name, taken)
            if between is not None:
                return between
    leading = _leading(facts, value)
    return value if leading is None else _halved(facts, leading) or value


def _leading(facts: Facts, value: Poly) -> str | None:
    """Return the digit of *value* whose coefficient is an integer beyond what all its other digits add up to."""
    steps = {m[0]: abs(c) for m, c in value.terms.items() if len(m) == 1 and m[0][0] == DIGIT}
    if len(steps) < 2 or steps.keys() != {name for name in value.names if is_digital(name, facts)}:
        return None
    first = max(steps, key=lambda name: steps[name])
    rest: Extent = 0
    for name, step in steps.items():
        high = facts.high[name]
        if high is None:
            return None
        rest = rest + step * (high - (facts.low[name] or 0)) * (name != first)
    return first if facts.nonnegative(steps[first] - 1 - rest) else None


def _has_symbols(value: Extent, facts: Facts) -> bool:
    """Return whether *facts* have the symbols of a split of an earlier proof, which may have met others before it."""
    return names_of(value) <= facts.low.keys() | facts.solved.keys()


def _halved(facts: Facts, name: str) -> Extent | None:
    """Return the polynomial of a split that halves the range of a digit; None if it has many values."""
    low, high = facts.low[name], facts.high[name]
    if low is None or not isinstance(high, int) or not low < high < low + MAX_VALUES:
        return None
    return symbol(name) - (low + high + 1) // 2


def _remainder(facts: Facts, name: str, taken: tuple[Extent, ...]) -> Extent | None:
    """Return the polynomial of a split that halves the values of ``n - d*floor(n/d)``; None unless *d* is small."""
    numerator, d = facts.floors[name]
    if not isinstance(d, int) or d > MAX_VALUES:
        return None
    remainder = facts.reduce(numerator - d * symbol(name))
    apart = [[k - 1 - remainder, remainder - k - 1] for k in range(d)]
    left = [k for k, ends in enumerate(apart) if not any(facts.nonnegative(end) for end in ends)]
    if len(left) == 1:  # add the only value as a fact, so that the algebra can use it
        ends = [remainder - left[0]] * (left[0] > 0) + [left[0] - remainder] * (left[0] < d - 1)
        return next((end for end in ends if end not in facts.known and end not in taken), None)
    return remainder - left[len(left) // 2] if left else None


def _case(cases: Sequence[Case], given: Sequence[Coordinate], facts: Facts) -> int:
    """Return the number of the case that applies."""
    undecided: Extent | None = None
    for number, case in enumerate(cases):
        try:
            if _window_outside(case, given, facts) is None:
                return number
        except _Open as question:
            undecided = question.value if undecided is None else undecided
    if undecided is None:
        raise _Stuck("one of the cases of a map applies")
    raise _Open(undecided)


def _window_outside(case: Case, given: Sequence[Coordinate], facts: Facts) -> tuple[int, str] | None:
    """Return the first window of a case that fails, with the end at which it fails; None if the case applies."""
    if case.where is None:
        return None
    windows = [(facts.reduce(extent_of(value)), facts.reduce(extent)) for value, extent in case.where(*given)]
    return _outside([value for value, _ in windows], [extent for _, extent in windows], facts)


def _outside(values: Sequence[Extent], extents: Sequence[Extent], facts: Facts) -> tuple[int, str] | None:
    """Return the first axis on which ``0 <= value < extent`` fails, with the end; None if it holds on all axes."""
    undecided: Extent | None = None
    for axis, (value, extent) in enumerate(zip(values, extents, strict=True)):
        for side, inside in (("below", value), ("above", extent - 1 - value)):
            if not facts.nonnegative(inside):
                if facts.nonnegative(-1 - inside):
                    facts.rest_on(-1 - inside)
                    return axis, side
                undecided = inside if undecided is None else undecided
    if undecided is not None:
        raise _Open(facts.reduce(undecided))
    for value, extent in zip(values, extents, strict=True):
        facts.rest_on(value)
        facts.rest_on(extent - 1 - value)
    return None
