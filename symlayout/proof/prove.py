"""Decide whether two tensors are equal for all sizes: proved, refuted with a witness, or unknown.

There are three attempts: compare the normal forms of both sides at one output coordinate (`decide_equal`); search for a
point at which they differ (`counterexample`); compare the normal forms again, split by the values of symbols that have
few.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Any

from symlayout import facade
from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.budgets import limits
from symlayout.errors import ArrayError, InconclusiveError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.proof.added_zeros import without_added_zeros
from symlayout.proof.cases.case_tree import Tree
from symlayout.proof.cases.sampled_values import SampledValues
from symlayout.proof.compare_forms import LAWS, SIGNED_ZERO
from symlayout.proof.congruence import Congruence, Pair
from symlayout.proof.counterexample import Witness, WitnessSearch
from symlayout.proof.decide_equal import agree
from symlayout.proof.folds import Merged, merged
from symlayout.proof.idle_functions import without_idle_functions
from symlayout.proof.natural_assumptions import assumed
from symlayout.proof.pull_functions import pulled
from symlayout.tensors.chain import Applicable, Tensor, check_tensors
from symlayout.tensors.requirements import requirements
from symlayout_codegen.forks import cached_property

if TYPE_CHECKING:
    from symlayout.facade import Layout

__all__ = ["Proof", "Verdict", "Witness", "prove_equal"]

DEFAULT_BUDGET = 2000  # most points of D that a search for a witness evaluates
FIRST_POINTS = 60  # points that the search evaluates before the first attempt to tell values apart
COMPUTED_POINTS = 400  # the same for values that are computed, where a point costs more and an attempt much more
FIRST_EFFORT = 2000  # most goals that the first attempt visits
MOST_PULLED = 150  # operations of a side whose functions are pulled out of movement, one after the other
TRIED_ASSUMPTIONS = 12  # assumptions that the text of UNKNOWN tries
TRIED_EFFORTS = (100, 400)  # goals of each such attempt: first all assumptions with few goals, then all with more
_BY_FORMS = frozenset(LAWS) - {SIGNED_ZERO}
TRIED_POINTS = 20  # points that each such attempt evaluates


class Verdict(enum.Enum):
    """The outcome of a proof attempt; ``UNKNOWN`` is an answer, not a failure.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.Verdict("proved")
    <Verdict.PROVED: 'proved'>
    >>> bool(sl.Verdict.PROVED)
    Traceback (most recent call last):
    TypeError: a Verdict has three values; compare it with Verdict.PROVED
    """

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Verdict has three values; compare it with Verdict.PROVED")


class Proof:
    """The result of a proof attempt for the claim that two tensors are equal.

    Attributes
    ----------
    verdict : Verdict
        PROVED, REFUTED or UNKNOWN.
    witness : Witness or None
        With REFUTED, a point at which the sides differ; among the points searched, its dims have the least sum.
    obligation : str
        With UNKNOWN, the statement that could not be decided.  Its digits are those of the normal form.
    searched : int
        The number of sizes that the search for a witness evaluated.
    conclusion : str
        The verdict in a sentence.  With UNKNOWN, ``str(proof)`` and `explain` also say what to try: they search for an
        assumption that decides the claim.
    laws : tuple of str
        The granted laws that the proof needs.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N", name="x")
    >>> p = sl.prove_equal(sl.flip(sl.flip(x)), x)
    >>> p.verdict, p.witness
    (<Verdict.PROVED: 'proved'>, None)
    >>> p = sl.prove_equal(sl.flip(x), x)
    >>> print(p.witness)
    N = 2: at (0,) the sides read x[1] and x[0]
    """

    def __init__(
        self,
        left: Tensor,
        right: Tensor,
        facts: Facts,
        verdict: Verdict,
        witness: Witness | None = None,
        obligation: str = "",
        searched: int = 0,
        laws: tuple[str, ...] = (),
        known: Congruence | None = None,
        tree: Tree | None = None,
        merged: Merged | None = None,
        without_added_zeros: bool = False,
        bare: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        self._merged, self._compared = merged, (bare or (left, right)) if merged is None else merged.sides
        self._sides, self._facts = (left, right), facts
        self.verdict, self.witness, self.obligation, self.searched = verdict, witness, obligation, searched
        self.laws, self._known, self._tree = laws, known, tree
        self._without_added_zeros = without_added_zeros

    def __bool__(self) -> bool:
        raise TypeError("a proof has three outcomes; compare its verdict with Verdict.PROVED")

    @cached_property
    def requires(self) -> tuple[Any, ...]:
        """The requirements of both sides, as SymPy relations.  The claim is about dims that meet them."""
        facts = self._facts
        return tuple(sympy_bridge.to_relation(r, facts) for r in requirements(facts))

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """The derivation as data, which `check` verifies; None unless the verdict is PROVED.

        Raises
        ------
        InconclusiveError
            The proof has no certificate: it enumerates sizes, or uses a step for which `check` has no rule.
        """
        if self.verdict is not Verdict.PROVED:
            return None
        bare = self._without_added_zeros  # such a certificate names its law, so it is never one of movement only
        if self._known is not None and (bare or any(side.computes for side in self._compared)):
            left, right = self._compared
            sides = {"": left}, {"": right}
            known, laws = self._known, self.laws
            if self._merged is not None and self._merged.decided:
                raise InconclusiveError("the proof has a certificate: it shows that each window has an element")
            return certificate_of_computed(
                *sides, known.facts, known, laws, brief=False, without_added_zeros=bare, merged=self._merged
            )
        if bare:
            raise InconclusiveError("the proof has a certificate: it enumerates sizes under a law")
        from symlayout.proof.certificate.write import certify

        left, right = self._compared
        return certify(left, right, self._facts, _dtype(left, right), self._tree)

    def is_proved_by(self, attempt: Congruence) -> bool:
        """Return whether this claim is proved, and with the pairs of *attempt*."""
        return self.verdict is Verdict.PROVED and self._known is attempt

    def under(self, laws: tuple[str, ...], rewritten: Proof) -> Proof:
        """Return the proof of this claim under *laws*: that of its sides as these laws rewrite them."""
        known, tree, sides, merged = rewritten._known, rewritten._tree, rewritten._sides, rewritten._merged
        head = (*self._sides, self._facts, rewritten.verdict, None, "", self.searched, laws, known, tree, merged)
        return Proof(*head, without_added_zeros=True, bare=sides)

    def of(self, left: Tensor, right: Tensor) -> Proof:
        """Return this proof as one about two other sides, which the sides of this one stand for."""
        made = copy(self)
        made._sides = left, right
        return made

    @cached_property
    def same_requires(self) -> bool:
        """Whether it is proved that both sides are valid for the same dims."""
        left, right = (side.facts for side in self._sides)
        return implies(left, right) and implies(right, left)

    def explain(self) -> str:
        """Return the derivation as text: the sizes, both sides step by step, and the conclusion."""
        from symlayout.proof.proof_text import explain

        return explain(*self._sides, self._facts, str(self))

    def latex(self) -> str:
        """Return the derivation in LaTeX, as one ``aligned`` block."""
        from symlayout.proof.proof_text import explain_latex

        return explain_latex(*self._sides, self._facts, self.conclusion)

    def _repr_html_(self) -> str:
        from symlayout.show.picture import of_claim

        dims = {} if self.witness is None else self.witness.dims
        coord = None if self.witness is None else self.witness.coord
        return of_claim(*self._sides, self.conclusion, self.explain(), dims, coord)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @property
    def conclusion(self) -> str:
        """The verdict in a sentence, with the witness if there is one."""
        if self.verdict is Verdict.PROVED:
            return "PROVED: both sides read the same element at every coordinate, for all such sizes."
        if self.verdict is Verdict.REFUTED:
            return f"REFUTED: {self.witness}"
        searched = f"({self.searched} sizes searched, none differs)"
        return f"UNKNOWN: {'not decided' if DIGIT in self.obligation else self.obligation} {searched}"

    @cached_property
    def _help(self) -> str:
        """What to try after UNKNOWN: an assumption that decides the claim, if a bounded search finds one."""
        if self.verdict is not Verdict.UNKNOWN or self._known is None:
            return ""
        if not self._facts.dims:
            return "\n  help: there is no dim to assume anything about; compare smaller sizes, or raise budget="
        claims = list(islice(assumed(*self._sides, self._facts), TRIED_ASSUMPTIONS))
        for goals in TRIED_EFFORTS:
            for relation, call, left, right in claims:
                found = _decided_briefly(left, right, goals, self._known.laws)
                if found is not None and found.verdict is Verdict.PROVED:
                    return f"\n  help: it is proved where {relation}: {call}"
                if found is not None:
                    return f"\n  help: the claim is false, since it is refuted where {relation}: {found.witness}"
        return (
            f"\n  help: none of the {len(claims)} assumptions about its dims that were tried decides it;"
            " bind dims to numbers with subs, or raise budget="
        )

    def __str__(self) -> str:
        return self.conclusion + self._help

    def __repr__(self) -> str:
        return f"<Proof: {self.conclusion}>"


def check_laws(laws: Sequence[str]) -> None:
    """Raise for a law that is not known, and for laws that are text and not a sequence of them."""
    if unknown := [law for law in laws if law not in LAWS] if not isinstance(laws, str) else [laws]:
        raise ShapeError(f"law {shown(unknown[0])} is none of {', '.join(LAWS)}", "bad_mode")


def prove_equal(
    left: Tensor | Layout,
    right: Tensor | Layout,
    *,
    budget: int = DEFAULT_BUDGET,
    judge: str | None = None,
    laws: Sequence[str] = (),
) -> Proof:
    """Decide whether *left* and *right* are equal for all sizes for which both are valid.

    D is the set of integer dims that meet the bounds and the requirements of both sides.  PROVED: on all of D, the
    shapes agree, and each coordinate reads the same element of an input or fills of equal bits.  REFUTED: the sides
    differ at the witness, a point of D.  UNKNOWN: neither is known.  Elements of inputs are opaque: distinct from each
    other and from fills.

    Parameters
    ----------
    left, right : Tensor or Layout
        The two sides.  Leaves with the same name are the same input.  Two layouts are compared as functions from
        coordinates to offsets.  Two tensors of any rank are compared for all ranks.
    budget : int
        The most points of D that the search for a witness evaluates.  A point counts once more for every 16 steps of
        the chains, and for every 65536 elements of the output.
    judge : str, optional
        ``"isl"`` consults the integer set library (extra ``isl``) if the verdict would be UNKNOWN and all radices are
        constants.  Its proofs have no certificate.
    laws : sequence of str
        Laws that a proof may use although they do not hold bit for bit.  ``"reassociate"``: the terms of a float sum,
        and the factors of a product, may be taken in another order.  ``"reciprocal"``: a quotient is a product with the
        reciprocal.  ``"fold-batchnorm"``: constant factors and summands, such as those of a batch normalisation, may be
        part of other constants, such as the weights of a convolution.  Each number that is computed from constants, by
        a tool or where a model is read, may be rounded after each operation.  ``"signed-zero"``: the value of
        ``x + 0``, with a constant 0, may be replaced by ``x``, which is another zero if it is -0; functions that tell
        -0 from 0, such as a quotient, are then compared as functions of the replaced value.

    Returns
    -------
    Proof
        The verdict, with a witness or with the undecided obligation.

    Raises
    ------
    ArrayError
        The dtypes differ.
    ShapeError
        ``infeasible`` if no sizes are valid for both sides; ``dim_conflict`` if two dims share a name;
        ``size_mismatch`` if an input has different shapes on the two sides; ``bad_mode`` for an unknown judge or law.

    Examples
    --------
    >>> from symlayout.ops.transpose import transpose
    >>> from symlayout.tensors.input_tensor import tensor
    >>> x = tensor("N, C", name="x")
    >>> prove_equal(transpose(transpose(x)), x).verdict
    <Verdict.PROVED: 'proved'>
    """
    if isinstance(left, Applicable) or isinstance(right, Applicable):
        check_laws(laws)
        return facade.prove_any_rank(left, right, budget)  # type: ignore[no-any-return]
    sides = (left, right) if isinstance(left, Tensor) else facade.as_tensors(left, right)
    return _prove_tensors_equal(*sides, budget=budget, judge=judge, laws=laws)


def prove_briefly(left: Tensor, right: Tensor, *, budget: int) -> Proof:
    """Decide what `prove_equal` decides of tensors, where claims that take long to prove are not worth it."""
    return _prove_tensors_equal(left, right, budget=budget, judge=None, laws=(), goals=FIRST_EFFORT)


def _prove_tensors_equal(
    left: Tensor, right: Tensor, *, budget: int, judge: str | None, laws: Sequence[str], goals: int | None = None
) -> Proof:
    check_tensors("prove_equal", left, right)
    if judge is not None and not (isinstance(judge, str) and judge == "isl"):
        raise ShapeError(f"judge {shown(judge)} is not 'isl'", "bad_mode")
    check_laws(laws)
    if left.dtype != right.dtype and left.dtype is not None and right.dtype is not None:
        raise ArrayError(f"the sides have dtypes {left.dtype} and {right.dtype}")
    facts = left.facts.fork()
    facts.merge(right.facts)
    _match_leaves(left, right, facts)
    if left.computes or right.computes:
        busy = without_idle_functions({"left": left, "right": right})[0]
        if busy["left"] is not left or busy["right"] is not right:
            options = {"budget": budget, "judge": judge, "laws": laws, "goals": goals}
            return _prove_tensors_equal(busy["left"], busy["right"], **options).of(left, right)  # type: ignore[arg-type]
    known = pairs_known(facts, laws, goals, ([left], [right]))
    for attempt in (_proved_by_merging, _proved_by_pulling):
        if (proof := attempt(left, right, facts, known[0])) is not None:
            return proof
    proof = decide(left, right, facts, known, budget=budget, judge=judge, advised=True)
    bare = without_added_zeros({"left": left, "right": right})
    granted = SIGNED_ZERO in laws
    decided = proof.verdict is Verdict.PROVED or (proof.verdict is Verdict.REFUTED and not granted)
    if decided or (bare["left"] is left and bare["right"] is right):
        return proof
    others = [law for law in (laws if granted else LAWS) if law != SIGNED_ZERO]
    without = _prove_tensors_equal(bare["left"], bare["right"], budget=budget, judge=None, laws=others, goals=goals)
    return under_signed_zero(proof, without, granted=granted)


def under_signed_zero(proof: Proof, without: Proof, *, granted: bool) -> Proof:
    """Return the proof of a claim, given the one without the law, and the one of its sides without added zeros.

    If the law is not *granted*, UNKNOWN names it where it is needed.  If it is, a difference counts only where the
    sides without added zeros differ, too.
    """
    if proof.verdict is Verdict.PROVED:
        return proof
    if without.verdict is Verdict.PROVED:
        laws = tuple(sorted({*without.laws, SIGNED_ZERO}))
        if granted:
            return proof.under(laws, without)
        if proof.verdict is Verdict.UNKNOWN:
            proof.obligation = f"the law {', '.join(laws)} holds\n  help: grant it by laws="
        return proof
    return without if granted and without.verdict is Verdict.UNKNOWN else proof


def certificate_of_computed(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    facts: Facts,
    known: Congruence,
    laws: Sequence[str] = (),
    *,
    brief: bool = True,
    without_added_zeros: bool = False,
    merged: Merged | None = None,
) -> dict[str, Any]:
    """Return the certificate of a proof, whose pairs are *known*, that tensors of the same names are equal.

    *brief* leaves out the certificates of outputs that are one expression on both sides.  If the proof compares values
    at some coordinates only, the certificate is about the tensors with their functions outermost, whose values are
    compared as a whole.  *without_added_zeros* says that the tensors are those of the claim without added
    zeros (`symlayout.proof.added_zeros`), and *merged* how they were merged.

    Raises
    ------
    InconclusiveError
        That is not proved, or a claim of movement has no certificate.
    """
    from symlayout.proof.certificate.computed import certify_computed, with_functions_outermost

    rewritten = {"without_added_zeros": True} if without_added_zeros else {}
    if merged is not None:
        rewritten["merged_turned" if merged.turned else "merged"] = True
    if not known.direct:
        return certify_computed(left, right, facts, known, laws, rewritten=rewritten, brief=brief)
    sides = [with_functions_outermost(side) for side in (left, right)]
    again = Congruence(facts, limits.decision_goals, known.laws)
    for name, t in sides[0].items():
        if isinstance(_attempt(t, sides[1][name], facts, again, finite=True), str):
            again.direct = True
    rewritten["outermost"] = True
    return certify_computed(sides[0], sides[1], facts, again, laws, rewritten=rewritten, brief=brief)


def _proved_by_merging(left: Tensor, right: Tensor, facts: Facts, first: Congruence) -> Proof | None:
    """Return the proof of two sides whose folds are merged; None without one, or where it is not needed."""
    try:
        plain = merged((left, right), first.laws, turned=False, decides=False)
        if not plain.merged + plain.open or not isinstance(_attempt(left, right, facts, first, finite=False), str):
            return None
        for turned in (False, True):
            here = merged((left, right), first.laws, turned=turned)
            if not here.merged:
                return None
            if (found := _attempt_rewritten(here.sides, facts, first)) is not None:
                known, tree = found
                known.used |= here.laws
                laws = tuple(sorted(known.used))
                return Proof(left, right, facts, Verdict.PROVED, laws=laws, known=known, tree=tree, merged=here)
    except ShapeError:  # more terms than int64 counts
        return None
    return None


def _proved_by_pulling(left: Tensor, right: Tensor, facts: Facts, first: Congruence) -> Proof | None:
    """Return the proof of two sides with their functions outermost; None without one, or where it is not needed."""
    if not (left.computes and right.computes) or max(len(t.graph()) for t in (left, right)) > MOST_PULLED:
        return None
    sides = [pulled([t])[0][0] for t in (left, right)]
    if sides[0] is left and sides[1] is right:
        return None
    if not isinstance(_attempt(left, right, facts, first, finite=False), str):
        return None
    if (found := _attempt_rewritten(sides, facts, first)) is None:
        return None
    known, tree = found
    known.direct = True  # so the certificate is about the sides with their functions outermost
    return Proof(left, right, facts, Verdict.PROVED, laws=tuple(sorted(known.used)), known=known, tree=tree)


def _attempt_rewritten(sides: Sequence[Tensor], facts: Facts, first: Congruence) -> tuple[Congruence, Tree] | None:
    """Return the proof that two rewritten sides are equal, and what it found of pairs; None if there is none."""
    here = facts.fork()
    for side in sides:
        here.merge(side.facts)
    if len(here.requirements) > len(facts.requirements):  # then the proof would be about fewer sizes
        return None
    known = Congruence(here, first.goals, first.laws)
    found = _attempt(sides[0], sides[1], here, known, finite=False)
    return None if isinstance(found, str) else (known, found)


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
    granted = frozenset(laws) - {SIGNED_ZERO}  # see `under_signed_zero`
    goals = limits.decision_goals if goals is None else min(goals, limits.decision_goals)
    samples = SampledValues(facts, sides)
    few = min(FIRST_EFFORT, goals)
    return Congruence(facts, few, granted, samples=samples), Congruence(facts, goals, granted, samples=samples)


def pairs_of(proofs: Iterable[Proof], known: tuple[Congruence, Congruence]) -> Congruence:
    """Return what is known of pairs by the attempts that proved the claims of *proofs*: one of *known*, or both."""
    proofs = list(proofs)
    used = [attempt for attempt in known if any(p.is_proved_by(attempt) for p in proofs)]
    if len(used) < 2:
        return (used or known)[0]
    first, last = used
    shown: dict[tuple[int, int, tuple[int, ...]], Pair | None] = {}
    for attempt in used:
        shown |= {key: why for key, why in attempt.known.items() if why is not None and key not in shown}
    return Congruence(first.facts, last.goals, first.laws, known=shown, direct=first.direct or last.direct)


def decide(
    left: Tensor,
    right: Tensor,
    facts: Facts,
    known: tuple[Congruence, Congruence],
    *,
    budget: int = DEFAULT_BUDGET,
    judge: str | None = None,
    advised: bool = False,
) -> Proof:
    """Decide whether two tensors are equal wherever *facts*, which know the symbols of both, hold.

    *known* is what was found out of pairs of computed values under these facts; it is added to.  *advised* says whether
    the text of UNKNOWN searches for an assumption.
    """
    first, last = known
    found = _attempt(left, right, facts, first, finite=False)
    if not isinstance(found, str):
        return Proof(left, right, facts, Verdict.PROVED, laws=tuple(sorted(first.used)), known=first, tree=found)
    search = WitnessSearch(left, right, facts, _dtype(left, right))
    few = COMPUTED_POINTS if left.computes or right.computes else FIRST_POINTS
    witness, searched, complete = search.run(min(budget, few))
    if witness is not None and witness.is_plain:  # by more than any law changes a value
        return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
    turned = facts.turn() if witness is None else None
    if turned is not None and (proof := _proved_turned(left, right, turned, first, finite=False)) is not None:
        return proof
    if (first.wanted or first.skipped) and not first.laws >= _BY_FORMS:
        granted = Congruence(facts, first.goals, frozenset(LAWS), samples=first.samples)
        if not isinstance(_attempt(left, right, facts, granted, finite=False), str) and granted.used:
            needed = f"the law {', '.join(sorted(granted.used))} holds\n  help: grant it by laws="
            return Proof(left, right, facts, Verdict.UNKNOWN, None, needed)
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
            found = _attempt(left, right, facts, last, finite=True, effort=goals)
        if complete or not isinstance(found, str):
            tree = None if isinstance(found, str) else found
            laws = tuple(sorted(last.used))
            return Proof(left, right, facts, Verdict.PROVED, searched=searched, laws=laws, known=last, tree=tree)
    if turned is not None and (proof := _proved_turned(left, right, turned, last, finite=True)) is not None:
        return proof
    if budget and facts.dims and (left.computes or right.computes):
        witness, searched = search.run_far()
        if witness is not None:
            return Proof(left, right, facts, Verdict.REFUTED, witness, searched=searched)
    proof = Proof(left, right, facts, Verdict.UNKNOWN, None, found, searched, known=last if advised else None)
    return proof if judge is None else _judged(search, proof)


def _proved_turned(left: Tensor, right: Tensor, turned: Facts, known: Congruence, *, finite: bool) -> Proof | None:
    """Return the proof that the same facts with other rules give, as *known* did not."""
    again = Congruence(turned, known.goals, known.laws, samples=known.samples)
    if isinstance(tree := _attempt(left, right, turned, again, finite=finite), str):
        return None
    return Proof(left, right, turned, Verdict.PROVED, laws=tuple(sorted(again.used)), known=again, tree=tree)


def _attempt(
    left: Tensor, right: Tensor, facts: Facts, congruence: Congruence, *, finite: bool, effort: int | None = None
) -> Tree | str:
    """Return the cases by which the normal form proves the claim, or the obligation that it leaves open."""
    try:
        dtype = _dtype(left, right)
        effort = congruence.goals if effort is None else effort
        return agree(left, right, facts.fork(), dtype, shown=True, finite=finite, effort=effort, congruence=congruence)
    except InconclusiveError as error:
        return error.claim


def _decided_briefly(left: Tensor, right: Tensor, goals: int, laws: frozenset[str]) -> Proof | None:
    """Return the proof or the refutation that a short attempt finds; None for a proof about no element."""
    facts = left.facts.fork()
    try:
        facts.merge(right.facts)
        known = Congruence(facts, goals, laws), Congruence(facts, goals, laws)
        proof = decide(left, right, facts, known, budget=TRIED_POINTS)
        if proof.verdict is Verdict.PROVED and not WitnessSearch(left, right, facts, _dtype(left, right)).run(1)[1]:
            return None
    except (ShapeError, InconclusiveError):  # the assumption leaves no sizes
        return None
    return None if proof.verdict is Verdict.UNKNOWN else proof


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


def _dtype(left: Tensor, right: Tensor) -> Any:
    return left.dtype if left.dtype is not None else right.dtype


def _match_leaves(left: Tensor, right: Tensor, facts: Facts) -> None:
    shapes = {leaf.key: leaf for leaf in left.arguments()}
    for leaf in right.arguments():
        other = shapes.get(leaf.key)
        if other is None or other is leaf:
            continue
        a, b = [tuple(facts.reduce(e) for e in x.extents) for x in (other, leaf)]
        if a != b:
            raise ShapeError(f"input {leaf.name} is {other!r} on the left and {leaf!r} on the right", "size_mismatch")
        if other.dtype is not None and leaf.dtype is not None and other.dtype != leaf.dtype:
            raise ArrayError(f"input {leaf.name} has dtype {other.dtype} on the left and {leaf.dtype} on the right")


def implies(given: Facts, wanted: Facts) -> bool:
    """Return whether *given* is proved to imply every requirement of *wanted*."""
    trial = given.fork()
    before = len(trial.requirements)
    try:
        trial.merge(wanted)
    except ShapeError:
        return False
    return len(trial.requirements) == before
