"""What an attempt to prove a claim found: a verdict, with a certificate, a witness or an obligation."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.language import sympy_bridge
from symlayout.proof.cases.case_tree import Tree
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.congruence import Congruence
from symlayout.proof.counterexample import Witness
from symlayout.proof.decide_equal import dtype_of
from symlayout.proof.points import Point
from symlayout.proof.rewritings import Form
from symlayout.tensors.chain import Tensor
from symlayout.tensors.requirements import implies, requirements
from symlayout_codegen.forks import cached_property

Advice = Callable[[Tensor, Tensor, Facts], str]
"""Says what to try for a claim that is open: the text that follows UNKNOWN."""


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
    known : Congruence or None
        What the attempt that proved it found out about pairs of computed values, for the engine.
    form : Form
        How the sides were rewritten for that, for the engine.
    point : dict or None
        With PROVED, a value for each dim, by its SymPy symbol: sizes that meet all facts of the claim, at which both
        sides were bound and evaluated.  So what is proved does not follow from facts that contradict each other.

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
        form: Form = frozenset(),
        advice: Advice | None = None,
    ) -> None:
        self._sides = self._compared = (left, right)
        self._facts = facts
        self.verdict, self.witness, self.obligation, self.searched = verdict, witness, obligation, searched
        self.laws, self.known, self.form, self._tree, self._advice = laws, known, form, tree, advice
        self.point: dict[Any, int] | None = None
        self._evaluated = ""

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
        found = self._certificate()
        if self.point is None:
            return found
        point = {str(symbol): value for symbol, value in self.point.items()}
        return sealed({**found, "point": point, "evaluated": self._evaluated})

    def _certificate(self) -> dict[str, Any]:
        left, right = self._compared
        known = self.known
        if known is not None and (self.form or left.computes or right.computes):
            from symlayout.proof.certificate.computed import certificate_of_computed

            sides = {"": left}, {"": right}
            return certificate_of_computed(*sides, known.facts, known, self.laws, form=self.form, brief=False)
        from symlayout.proof.certificate.write import certify

        return certify(left, right, self._facts, dtype_of(left, right), self._tree)

    def under(self, laws: tuple[str, ...], rewritten: Proof, form: Form) -> Proof:
        """Return the proof of this claim under *laws*: that of its sides in a *form* that they allow."""
        form = rewritten.form | form
        head = (*self._compared, self._facts, rewritten.verdict, None, "", self.searched, laws)
        return Proof(*head, known=rewritten.known, form=form)

    @property
    def sides(self) -> tuple[Tensor, Tensor]:
        """The two sides of the claim."""
        return self._sides

    @property
    def facts(self) -> Facts:
        """The bounds and requirements of the claim, for the engine.  Users read `requires`."""
        return self._facts

    def refuted(self, witness: Witness) -> Proof:
        """Return the verdict that the sides differ at *witness*."""
        return Proof(*self._sides, self._facts, Verdict.REFUTED, witness, searched=self.searched)

    @property
    def is_refuted_plainly(self) -> bool:
        """Whether the sides differ by more than the sign of a zero, and than what is infinite or NaN."""
        return self.verdict is Verdict.REFUTED and (self.witness is None or not self.witness.is_special)

    def opened(self, obligation: str) -> Proof:
        """Return the verdict that leaves *obligation* open."""
        return Proof(*self._sides, self._facts, Verdict.UNKNOWN, None, obligation, self.searched)

    def needing(self, laws: Iterable[str], special: Witness | None) -> Proof:
        """Return the verdict on a claim that holds under *laws*, which are not granted.

        The sides differ at *special*, if it is given.
        """
        named = ", ".join(sorted(laws))
        if special is None:
            return self.opened(f"the law {named} holds\n  help: grant it by laws=")
        made = self.refuted(special)
        made._advice = lambda *_: f"\n  help: under the law {named} both are equal; grant it by laws="
        return made

    def at(self, point: Point) -> Proof:
        """Return this proof with the point at which its sides were evaluated."""
        made = copy(self)
        made.point = {sympy_bridge.symbol_of(self._facts.dims[name]): value for name, value in point.dims.items()}
        made._evaluated = point.evaluated
        return made

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

        return "\n".join([explain(*self._sides, self._facts, str(self)), *self._terms()])

    @property
    def formulas(self) -> tuple[str, ...]:
        """With PROVED, the fused functions that stand for chains with their formulas: these may differ by rounding."""
        return tuple(sorted(self.known.fused)) if self.verdict is Verdict.PROVED and self.known is not None else ()

    @property
    def formula_texts(self) -> dict[str, str]:
        """At which special values each of `formulas` and the chain with its formula part, as text."""
        return self.known.formula_texts() if self.formulas and self.known is not None else {}

    def _terms(self) -> list[str]:
        """Return by what the sides are equal other than bit for bit, as lines of text."""
        lines = [f"  under the laws: {', '.join(self.laws)}"] if self.laws else []
        if self.formulas:
            lines.append(f"  equal by formula: {', '.join(self.formulas)} (rounding may differ)")
            lines += [f"    {name}: {text}" for name, text in self.formula_texts.items() if text]
        return lines

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
        """What to try after UNKNOWN, as text with a line of its own; empty where no advice is sought."""
        return "" if self._advice is None else self._advice(*self._sides, self._facts)

    def __str__(self) -> str:
        return self.conclusion + self._help

    def __repr__(self) -> str:
        return f"<Proof: {self.conclusion}>"
