"""The attempts at a claim, in order, for `prove_equal` and `verify` alike.

The first attempt compares the normal forms of both sides at one output coordinate, with few goals (`decide_equal`): as
they are, then with their folds merged (`rewritings`).  Then a short search looks for a point at which they differ
(`counterexample`).  If there is none, both sides are compared with their functions outermost.  The last attempts
compare the normal forms again, and split the claim by the values of symbols that have few: with few goals, and after
the rest of the search with many.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from symlayout.algebra.facts import Facts
from symlayout.budgets import limits
from symlayout.proof.cases.case_tree import Tree
from symlayout.proof.cases.quantized_units import are_quantized
from symlayout.proof.cases.sampled_values import SampledValues
from symlayout.proof.classes import Classes
from symlayout.proof.congruence import Congruence
from symlayout.proof.counterexample import WitnessSearch
from symlayout.proof.decide_equal import attempt, dtype_of
from symlayout.proof.forms.half_precision import half_types
from symlayout.proof.laws import HALF, LAWS, REQUANTIZE
from symlayout.proof.rewritings import (
    FORM_OF,
    Form,
    RewrittenSides,
    rewritten,
    with_folds_merged,
    with_functions_outermost,
)
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor

DEFAULT_BUDGET = 2000  # most points of D that a search for a witness evaluates
FIRST_POINTS = 60  # points that the search evaluates before the first attempt to tell values apart
COMPUTED_POINTS = 400  # the same for values that are computed, where a point costs more and an attempt much more
FIRST_EFFORT = 2000  # most goals that the first attempt visits
_ROUNDING = {REQUANTIZE, HALF}  # laws under which both sides differ by rounding as they are


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
    classes = Classes()
    first, last = (
        Congruence(facts, most, granted, classes=classes, samples=samples) for most in (min(FIRST_EFFORT, goals), goals)
    )
    return first, last


def pairs_of(proofs: Iterable[Proof], facts: Facts) -> Congruence:
    """Return what is known of pairs by the attempts that proved the claims of *proofs*, for which *facts* hold."""
    proofs = list(proofs)
    used = list({id(p.known): p.known for p in proofs if p.known is not None}.values())
    if len(used) == 1:
        return used[0]
    uncertified = set[str]().union(*(pairs.uncertified for pairs in used))
    laws = frozenset(law for p in proofs for law in p.laws)
    found = Congruence(facts, limits.decision_goals, laws, uncertified=uncertified)
    for pairs in used:
        found.known |= {key: why for key, why in pairs.known.items() if why is not None and key not in found.known}
    return found


def form_of(proofs: Iterable[Proof]) -> Form:
    """Return the form to which all of *proofs* together rewrite the sides of their claims."""
    return frozenset().union(*(p.form for p in proofs))


def decide(
    left: Tensor,
    right: Tensor,
    facts: Facts,
    known: tuple[Congruence, Congruence],
    *,
    budget: int = DEFAULT_BUDGET,
    judge: str | None = None,
    advice: Callable[..., str] | None = None,
    reading: Sequence[Tensor] = (),
) -> Proof:
    """Decide whether two tensors are equal wherever *facts*, which know the symbols of both, hold.

    *known* is what was found out of pairs of computed values under these facts; it is added to.  *advice* makes the
    text that follows UNKNOWN: of both sides, their facts and the granted *laws*.  The values *reading* are valid at
    a witness.
    """
    first, last = known
    if (proof := _proved_soon(left, right, facts, first)) is not None:
        return proof
    search = WitnessSearch(left, right, facts, dtype_of(left, right), reading, units=REQUANTIZE in first.laws)
    few = COMPUTED_POINTS if left.computes or right.computes else FIRST_POINTS
    witness, searched, complete = search.run(min(budget, few))
    if witness is not None and witness.is_plain:  # by more than any law changes a value
        return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
    turned = facts.turn() if witness is None else None
    if turned is not None and (proof := _proved_turned(left, right, turned, first)) is not None:
        return proof
    if (proof := _proved_rewritten(with_functions_outermost(left, right), left, right, facts, first)) is not None:
        return proof
    if (first.wanted or first.skipped) and not first.laws >= frozenset(LAWS):
        granted = Congruence(facts, first.goals, frozenset(LAWS), classes=first.classes, samples=first.samples)
        proof = _proved_soon(left, right, facts, granted)
        if proof is not None and proof.laws:
            special = None if first.laws or witness is not None else search.run_special()
            return proof.needing(proof.laws, special)
    if witness is not None:
        return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
    found: Tree | str = ""
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
    assert isinstance(found, str)
    help = None if advice is None else partial(advice, laws=last.laws)
    proof = Proof(left, right, facts, Verdict.UNKNOWN, None, found, searched, advice=help)
    return proof if judge is None else _judged(search, proof)


def _proved_soon(left: Tensor, right: Tensor, facts: Facts, known: Congruence) -> Proof | None:
    """Return the proof that the first attempt finds, of the sides as they are or with their folds merged."""
    if (proof := _proved(left, right, facts, known)) is not None:
        return proof
    merged = with_folds_merged(left, right, known.laws, known.wanted)
    return _proved_rewritten(merged, left, right, facts, known)


def _proved(left: Tensor, right: Tensor, facts: Facts, known: Congruence, *, finite: bool = False) -> Proof | None:
    """Return the proof that one attempt finds; None without one."""
    if isinstance(tree := attempt(left, right, facts, known, finite=finite), str):
        return None
    return Proof(left, right, facts, Verdict.PROVED, laws=tuple(sorted(known.used)), known=known, tree=tree)


def _proved_turned(
    left: Tensor, right: Tensor, turned: Facts, known: Congruence, *, finite: bool = False
) -> Proof | None:
    """Return the proof that the same facts with other rules give, as *known* did not."""
    again = Congruence(turned, known.goals, known.laws, classes=known.classes, samples=known.samples)
    return _proved(left, right, turned, again, finite=finite)


def _proved_rewritten(
    others: Iterable[RewrittenSides], left: Tensor, right: Tensor, facts: Facts, known: Congruence
) -> Proof | None:
    """Return the proof that the first of *others* has, the sides in other forms, with the goals and laws of *known*."""
    for other in others:
        here = facts.fork()
        for side in (other.left[""], other.right[""]):
            here.merge(side.facts)
        if len(here.requirements) > len(facts.requirements):  # then the proof would be about fewer sizes
            continue
        again = Congruence(here, known.goals, known.laws, set(other.laws))
        if (proof := _proved(other.left[""], other.right[""], here, again)) is not None:
            return Proof(left, right, facts, Verdict.PROVED, laws=proof.laws, known=again, form=other.form)
    return None


def budget_by_laws(left: Mapping[str, Tensor], right: Mapping[str, Tensor], laws: Sequence[str], budget: int) -> int:
    """Return how many points are searched for a witness against tensors as they are.

    That is none where the law ``"requantize"`` or ``"half"`` is granted and replaces values: those of both sides differ
    by rounding.
    """
    return 0 if any(_in_forms(left, right, {law})[1] for law in _ROUNDING & set(laws)) else budget


def round_by_laws(tensors: Sequence[Tensor], laws: Collection[str]) -> bool:
    """Return whether values of *tensors* may be rounded elsewhere under the granted *laws*, so that no bits refute."""
    return (REQUANTIZE in laws and are_quantized(tensors)) or (HALF in laws and bool(half_types(tensors)))


def compared_by_laws(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    facts: Facts,
    laws: Sequence[str],
    budget: int,
    proofs: dict[str, Proof],
    decide: Callable[[Tensor, Tensor, tuple[Congruence, Congruence], int], Proof],
) -> None:
    """Compare tensors that are not proved equal in the forms that laws allow; note in *proofs* what it shows.

    *proofs* are those of the tensors as they are, by the names in *left*, and *decide* is what found them.  A law such
    as ``"signed-zero"`` or ``"requantize"`` replaces values by others.  Where it is granted, all tensors are compared
    again, so that one certificate is about them all.
    """
    granted = FORM_OF.keys() & set(laws)
    before: frozenset[str] = frozenset()
    for tried in ([granted] if granted else []) + ([set(FORM_OF)] if granted != FORM_OF.keys() else []):
        is_granted, found = tried == granted, [proofs[name] for name in left]
        if not any(p.verdict is not Verdict.PROVED and (is_granted or not p.is_refuted_plainly) for p in found):
            return
        bare, used = _in_forms(left, {name: right[name] for name in left}, tried)
        if not used - before:
            continue
        before = used
        # without the law, the only question is whether it would help: then neither a witness nor a long proof is of use
        goals = None if is_granted else FIRST_EFFORT
        sides = list(bare.left.values()), list(bare.right.values())
        known = pairs_known(facts, laws if is_granted else LAWS, goals, sides)
        for name, t in bare.left.items():
            without = decide(t, bare.right[name], known, budget if is_granted else 0)
            proofs[name] = _under_laws(proofs[name], without, used, granted=is_granted)


def _in_forms(
    left: Mapping[str, Tensor], right: Mapping[str, Tensor], laws: Collection[str]
) -> tuple[RewrittenSides, frozenset[str]]:
    """Return both sides in the forms of *laws* that make a difference, and these laws."""
    sides, used = rewritten(left, right, (), ()), set[str]()
    for law, form in FORM_OF.items():
        if law in laws:
            made = rewritten(sides.left, sides.right, {form}, ())
            sides, used = (made, used | {law}) if made.changed else (sides, used)
    return sides, frozenset(used)


def _under_laws(proof: Proof, without: Proof, used: frozenset[str], *, granted: bool) -> Proof:
    """Return the proof of a claim, given the one without the laws *used*, and the one of its sides as they allow them.

    If the laws are not *granted*, UNKNOWN names them where they are needed.  If they are, a difference counts only
    where the sides that they allow differ, too; these may be known where the claim's own elements are not.
    """
    if proof.verdict is Verdict.PROVED:
        return proof
    if without.verdict is Verdict.PROVED:
        laws = tuple(sorted({*without.laws, *used}))
        if granted:
            return proof.under(laws, without, frozenset(FORM_OF[law] for law in used))
        return proof if proof.is_refuted_plainly else proof.needing(laws, proof.witness)
    if granted and (without.verdict is Verdict.UNKNOWN or (_ROUNDING & used and proof.verdict is Verdict.UNKNOWN)):
        return without
    return proof


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
