"""The attempts at a claim, in order: its normal form, the search for a witness, and its normal form split by values.

The first attempt compares the normal forms of both sides at one output coordinate, with few goals (`decide_equal`).
Then a short search looks for a point at which they differ (`counterexample`).  The last attempts compare the normal
forms again, and split the claim by the values of symbols that have few: with few goals, and after the rest of the
search with many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from symlayout.algebra.facts import Facts
from symlayout.budgets import limits
from symlayout.proof.cases.sampled_values import SampledValues
from symlayout.proof.congruence import Congruence, Pair
from symlayout.proof.counterexample import WitnessSearch
from symlayout.proof.decide_equal import attempt, dtype_of
from symlayout.proof.laws import LAWS
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor

DEFAULT_BUDGET = 2000  # most points of D that a search for a witness evaluates
FIRST_POINTS = 60  # points that the search evaluates before the first attempt to tell values apart
COMPUTED_POINTS = 400  # the same for values that are computed, where a point costs more and an attempt much more
FIRST_EFFORT = 2000  # most goals that the first attempt visits


def pairs_known(
    facts: Facts,
    laws: Sequence[str],
    goals: int | None = None,
    sides: tuple[Sequence[Tensor], Sequence[Tensor]] = ((), ()),
) -> tuple[Congruence, Congruence]:
    """Return what is known of pairs of computed values at the beginning, for the first, short attempt and the last.

    The last attempt visits no more than *goals*, if these are given.  *sides* are what is compared: their values are
    evaluated at one size if pairs are not soon shown to be equal.
    """
    granted = frozenset(laws)
    goals = limits.decision_goals if goals is None else min(goals, limits.decision_goals)
    samples = SampledValues(facts, sides)
    few = min(FIRST_EFFORT, goals)
    return Congruence(facts, few, granted, samples=samples), Congruence(facts, goals, granted, samples=samples)


def pairs_of(proofs: Iterable[Proof], known: tuple[Congruence, Congruence]) -> Congruence:
    """Return what is known of pairs by the attempts that proved the claims of *proofs*: one of *known*, or both."""
    proofs = list(proofs)
    used = [pairs for pairs in known if any(p.is_proved_by(pairs) for p in proofs)]
    if len(used) < 2:
        return (used or known)[0]
    first, last = used
    shown: dict[tuple[int, int, tuple[int, ...]], Pair | None] = {}
    for pairs in used:
        shown |= {key: why for key, why in pairs.known.items() if why is not None and key not in shown}
    return Congruence(first.facts, last.goals, first.laws, known=shown, direct=first.direct or last.direct)


def decide(
    left: Tensor,
    right: Tensor,
    facts: Facts,
    known: tuple[Congruence, Congruence],
    *,
    budget: int = DEFAULT_BUDGET,
    judge: str | None = None,
    advice: Callable[..., str] | None = None,
) -> Proof:
    """Decide whether two tensors are equal wherever *facts*, which know the symbols of both, hold.

    *known* is what was found out of pairs of computed values under these facts; it is added to.  *advice* makes the
    text that follows UNKNOWN: of both sides, their facts and the granted *laws*.
    """
    first, last = known
    found = attempt(left, right, facts, first, finite=False)
    if not isinstance(found, str):
        return Proof(left, right, facts, Verdict.PROVED, laws=tuple(sorted(first.used)), known=first, tree=found)
    search = WitnessSearch(left, right, facts, dtype_of(left, right))
    few = COMPUTED_POINTS if left.computes or right.computes else FIRST_POINTS
    witness, searched, complete = search.run(min(budget, few))
    if witness is not None and witness.is_plain:  # by more than any law changes a value
        return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
    turned = facts.turn() if witness is None else None
    if turned is not None and (proof := _proved_turned(left, right, turned, first, finite=False)) is not None:
        return proof
    if (first.wanted or first.skipped) and not first.laws >= frozenset(LAWS):
        granted = Congruence(facts, first.goals, frozenset(LAWS), samples=first.samples)
        if not isinstance(attempt(left, right, facts, granted, finite=False), str) and granted.used:
            special = None if first.laws or witness is not None else search.run_special()
            return Proof(left, right, facts, Verdict.UNKNOWN).needing(granted.used, special)
    if witness is not None:
        return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
    # first a short proof: most claims that are true and need the last attempt need no more
    short = [(0, first.goals)] if first.goals < last.goals else []
    for points, goals in (*short, (budget, last.goals)):
        if points and not complete:
            witness, searched, complete = search.run(points)
        if witness is not None:
            return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
        if not complete:  # without dims, the search has compared every element
            found = attempt(left, right, facts, last, finite=True, effort=goals)
        if complete or not isinstance(found, str):
            tree = None if isinstance(found, str) else found
            laws = tuple(sorted(last.used))
            return Proof(left, right, facts, Verdict.PROVED, searched=searched, laws=laws, known=last, tree=tree)
    if turned is not None and (proof := _proved_turned(left, right, turned, last, finite=True)) is not None:
        return proof
    if budget and (left.computes or right.computes):
        witness, searched = search.run_far()
        witness = witness or (None if last.laws else search.run_special())
        if witness is not None:
            return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
    help = None if advice is None else partial(advice, laws=last.laws)
    proof = Proof(left, right, facts, Verdict.UNKNOWN, None, found, searched, advice=help)
    return proof if judge is None else _judged(search, proof)


def _proved_turned(left: Tensor, right: Tensor, turned: Facts, known: Congruence, *, finite: bool) -> Proof | None:
    """Return the proof that the same facts with other rules give, as *known* did not."""
    again = Congruence(turned, known.goals, known.laws, samples=known.samples)
    if isinstance(tree := attempt(left, right, turned, again, finite=finite), str):
        return None
    return Proof(left, right, turned, Verdict.PROVED, laws=tuple(sorted(again.used)), known=again, tree=tree)


def _judged(search: WitnessSearch, unknown: Proof) -> Proof:
    """Return isl's proof or refutation of a claim that the normal form and the search leave open."""
    from symlayout.proof import isl_judge

    claim = search.left, search.right, search.facts
    found = isl_judge.decide(search.left, search.right)
    if found.equal:
        return Proof(*claim, Verdict.PROVED, searched=unknown.searched)
    witness = search.differ(found.dims)[0] if found.dims is not None else None
    if witness is not None:
        return Proof(*claim, Verdict.REFUTED, witness, searched=unknown.searched)
    unknown.obligation = "; ".join(filter(None, (unknown.obligation, found.reason)))
    return unknown
