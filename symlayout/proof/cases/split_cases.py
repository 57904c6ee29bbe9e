"""Decide a claim about every output coordinate by cases: split where the facts do not decide, and start again.

Each of the two branches knows one more fact.  The result is the tree of the cases.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import renew
from symlayout.algebra.polynomial import Extent
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.proof.cases.case_tree import Absurd, Masked, Met, Split, Tree
from symlayout.proof.cases.choose_split import has_symbols, sign_to_decide, split_by_divisors, split_by_values
from symlayout.proof.cases.read_element import OpenSign, Stuck

MOST_READINGS = 4  # most evaluations at the output coordinate of one branch
_SPLIT = 40  # goals that a case costs beside its own: the facts of both branches get sample points


class CaseDecision(ABC):
    """The decision of one claim; a subclass says what is shown in a case, at one output coordinate.

    Attributes
    ----------
    finite : bool
        Whether to split a symbol into its values if nothing else helps.
    limit : int
        The most goals that the facts may have visited.
    """

    def __init__(self, *, finite: bool, limit: int) -> None:
        self.finite, self.limit = finite, limit
        self._splits = 0

    @property
    def one_fill(self) -> bool:
        """Whether all reads without a source give one fill, so that two branches suffice for all windows (`Masked`)."""
        return False

    @abstractmethod
    def meet(self, facts: Facts) -> list[Extent]:
        """Prove what is claimed of the shapes, and return the digits of the output coordinate."""

    @abstractmethod
    def leaf(self, facts: Facts, digits: Sequence[Extent], inside: int | None) -> Tree:
        """Prove the claim at the output coordinate *digits*, without a split.

        Raises
        ------
        OpenSign
            The facts do not determine the sign of a polynomial.
        Stuck
            The claim is not proved, and no polynomial suggests a split.
        """

    def met(self, facts: Facts, digits: Sequence[Extent], plan: Met | None = None) -> Tree | None:
        """Return the leaf of a claim whose sides read one value at one coordinate on their way; None if none is found.

        The way ends where the facts do not say which case applies.  With *plan*, the value is the one of that leaf.
        """
        return None

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
        whole = digits is None and not taken
        if digits is None and self.finite and (tree := self._by_divisors(facts, taken, inside, plan)) is not None:
            return tree
        try:
            if digits is None:
                digits = self.meet(facts)
            if isinstance(plan, Met) and (tree := self.met(facts, digits, plan)) is not None:
                return tree
            return self.leaf(facts, digits, inside)
        except OpenSign as question:
            if whole and digits is not None and (tree := self.met(facts, digits)) is not None:
                return tree
            if isinstance(plan, Split) and has_symbols(plan.value, facts):
                return self._split(facts.reduce(plan.value), facts, digits, taken, inside, plan)
            if self.one_fill and inside is None and digits is not None:
                plans = (plan.left, plan.right) if isinstance(plan, Masked) else (None, None)
                left, right = (self.decide(facts.fork(), digits, taken, side, plans[side]) for side in (0, 1))
                return Masked(facts, left, right)
            return self._split(sign_to_decide(facts, question.value, taken), facts, digits, taken, inside)
        except Stuck as stuck:
            if whole and digits is not None and (tree := self.met(facts, digits)) is not None:
                return tree
            if isinstance(plan, Split) and has_symbols(plan.value, facts):
                return self._split(facts.reduce(plan.value), facts, digits, taken, inside, plan)
            for value in reversed(taken):
                if facts.excludes(value):
                    return Absurd(facts)
            bound = split_by_values(facts, stuck.values, taken) if self.finite else None
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
            first = split_by_divisors(facts)
        if first is None:
            return Absurd(facts) if taken and any(facts.excludes(fact) for fact in list(facts.known)) else None
        start = facts.effort
        try:
            return self._split(first, facts, None, taken, inside, plan if isinstance(plan, Split) else None)
        except InconclusiveError:
            if taken:
                raise
            self._splits, self.limit = 0, self.limit + facts.effort - start  # the other proofs have all of their goals
            return None

    def _split(
        self,
        value: Extent,
        facts: Facts,
        digits: Sequence[Extent] | None,
        taken: tuple[Extent, ...],
        inside: int | None,
        plan: Split | None = None,
    ) -> Tree:
        self._splits += 1
        if self._splits > limits.decision_splits or facts.effort > self.limit:
            raise InconclusiveError(f"the sides agree, in more than {self._splits - 1} cases")
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
