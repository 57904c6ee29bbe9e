"""Decide by cases whether two tensors are equal at every output coordinate, for all sizes.

Both sides are evaluated at one symbolic output coordinate.  If the facts do not decide which case of a map applies, or
whether a coordinate is inside a source with a fill, the decision splits on the sign of the polynomial in question.  It
starts again in each of the two branches, which know one more fact.  The result is a tree; each leaf names the elements
that are read there.  Pairs of computed values are decided in the order in which they are needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from symlayout.algebra.facts import Facts
from symlayout.budgets import limits
from symlayout.deadlines import in_question
from symlayout.errors import InconclusiveError
from symlayout.proof.cases.case_tree import Same, Tree
from symlayout.proof.compare_computed import Decision, Pending, Setting
from symlayout.proof.congruence import Congruence
from symlayout.tensors.chain import Tensor

_MANY = 32  # times as many floors and maxima as a side has: finding what is idle takes as long as there are some

R = TypeVar("R")


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
    setting = Setting(shown, finite, congruence or Congruence(facts.fork(), goals))
    if facts.is_written or not (left.computes or right.computes):  # a certificate is written of movement only
        facts.splits = {}
        return Decision((left, right), dtype, setting, facts.effort + goals).decide(facts, None, plan=plan)

    def decided() -> Tree:
        here = facts.fork()
        here.splits = {}
        decision = Decision((left, right), dtype, setting, here.effort + goals)
        return Same(here) if decision.are_one_expression(left, right) else decision.decide(here, None)

    return _settled(decided)


def attempt(
    left: Tensor, right: Tensor, facts: Facts, congruence: Congruence, *, finite: bool, effort: int | None = None
) -> Tree | str:
    """Return the cases by which the normal form proves the claim, or the obligation that it leaves open."""
    goals = congruence.goals if effort is None else effort

    def decided() -> Tree | str:
        try:
            dtype, here = dtype_of(left, right), _facts_about((left, right), facts)
            return agree(left, right, here, dtype, shown=True, finite=finite, effort=goals, congruence=congruence)
        except InconclusiveError as error:
            return error.claim

    return in_question(
        decided, lambda: f"{left.name} and {right.name} compute the same, within the goals of one question"
    )


def dtype_of(left: Tensor, right: Tensor) -> Any:
    """Return the element type of both sides; None if neither declares one."""
    return left.dtype if left.dtype is not None else right.dtype


def _facts_about(sides: Iterable[Tensor], facts: Facts) -> Facts:
    """Return a fork of *facts*, without floors and maxima that neither side mentions where these are nearly all."""
    known = [side.facts for side in sides]
    if len(facts.definitions) <= _MANY * max(1, *(len(own.definitions) for own in known)):
        return facts.fork()
    return facts.mentioning({name for own in known for each in (own.low, own.solved, own.definitions) for name in each})


def _settled(decided: Callable[[], R]) -> R:
    """Return the result of *decided*, after deciding the pairs of computed values that it needs.

    A stack orders the pairs: each is decided after the pairs that it needs.  So deep graphs cause no deep recursion.
    """
    waiting: list[Pending] = []
    while True:
        try:
            if not waiting:
                return decided()
            waiting[-1].decide()
            waiting.pop()
        except Pending as pair:
            waiting.append(pair)
