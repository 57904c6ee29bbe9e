"""What was found out about two models: the verdict, its witness and its certificate."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import facade
from symlayout.algebra.facts import Facts
from symlayout.equivalence.data_extents import certificate_of_data
from symlayout.equivalence.replay import Replay
from symlayout.equivalence.run_models import write_arrays
from symlayout.equivalence.shared_ends import SharedEnds
from symlayout.equivalence.valid_sizes import Domain
from symlayout.errors import legible, one_line
from symlayout.models.model import Model
from symlayout.proof.attempts import form_of, pairs_of
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.computed import certificate_of_computed
from symlayout.proof.counterexample import difference
from symlayout.proof.points import Point
from symlayout.proof.verdict import Proof, Verdict
from symlayout.show.brief import brief_html
from symlayout.show.wording import relation
from symlayout.tensors.chain import Tensor
from symlayout_codegen.forks import cached_property

_CERTAINTY = (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.PROVED)
_MOST_NAMED = 8  # pairs of values that part
_SENTENCES = {
    Verdict.PROVED: "both models compute the same for all sizes{domain} and all inputs.",
    Verdict.REFUTED: "the models differ.",
    Verdict.UNKNOWN: "not decided, and no difference was found.",
}


@dataclass(frozen=True, slots=True)
class ModelWitness:
    """Where two models differ.

    Attributes
    ----------
    dims : dict
        A value for each dim, by its SymPy symbol.
    output : str
        The name of the output.
    coord : tuple of int or None
        The coordinate in it; None if the shapes or the element types differ already.
    left, right : object
        What each model computes there, or the two shapes or types.
    inputs : dict
        The arrays of the inputs, by their names in the model before; none if these have too many elements.
    inputs_after : dict
        The same arrays as the model after takes them, by its names, with those of inputs that it has alone.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import symlayout as sl
    >>> x = sl.tensor("N", name="x")
    >>> def model(y):
    ...     return SimpleNamespace(inputs={"x": x}, outputs={"y": y}, tensors={"x": x, "y": y})
    >>> witness = sl.verify(model(x), model(sl.flip(x))).witness
    >>> witness.output, witness.coord, witness.left, witness.right
    ('y', (0,), ('x', (0,)), ('x', (1,)))
    """

    dims: dict[Any, int]
    output: str
    coord: tuple[int, ...] | None
    left: Any
    right: Any
    inputs: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict, repr=False, compare=False)
    inputs_after: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.dims.items())
        where = f"output {one_line(self.output)}" + (f" at {self.coord}" if self.coord is not None else "")
        return f"{at + ': ' if at else ''}{where} is {_text(self.left)} before and {_text(self.right)} after"

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the inputs as ``inputs.npz`` into *folder*, which is made, and return its path.

        Where the model after has other inputs, other names of them, or another order of axes, its inputs are written
        there as ``inputs_after.npz``.
        """
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        write_arrays(path / "inputs.npz", self.inputs)
        if self.has_others_after:
            write_arrays(path / "inputs_after.npz", self.inputs_after)
        return path / "inputs.npz"

    @property
    def has_others_after(self) -> bool:
        """Whether the model after has other inputs, other names of them, or another order of axes."""
        same = self.inputs.keys() == self.inputs_after.keys()
        return not same or any(self.inputs[name] is not array for name, array in self.inputs_after.items())


@dataclass(frozen=True, slots=True)
class ModelClaim:
    """What was proved of two models: their outputs over one set of inputs.

    The *values* are the outputs, after those that bring in extents that depend on data, or state what is demanded of
    the sizes.
    """

    left: dict[str, Tensor]
    right: dict[str, Tensor]
    facts: Facts
    values: tuple[dict[str, Tensor], dict[str, Tensor]]
    renamed_at: list[tuple[int, int]]
    point: Point
    matched: dict[str, str]  # for values after that may not be valid for all elements, equal ones before
    more: list[Proof]  # that they are equal


def with_matched(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    values: tuple[Mapping[str, Tensor], ...],
    matched: Mapping[str, str],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return outputs with the values that are *matched*, by their names after."""
    more = [{name: values[0][other] for name, other in matched.items()}, {name: values[1][name] for name in matched}]
    return {**left, **more[0]}, {**right, **more[1]}


@dataclass(frozen=True)
class Verification:
    """What was found out about two models.

    Attributes
    ----------
    proofs : dict
        The proof of each output, by its name in the model before.
    laws : tuple of str
        Those of the granted laws that were needed.
    witness : ModelWitness or None
        With REFUTED, where the models differ.
    region : tuple of (str, str) or None
        The first values that differ or were not decided: their names before and after.
    frontier : tuple of pairs of str
        All such values: what they are made of was shown to be equal.
    parted : tuple or None
        At the witness, a coordinate of the region, and what each side computes there; None and two shapes if these
        differ.  None if the values of the region are equal there or cannot be computed.
    domain : Domain or None
        The sizes that the claim is about; None if the time limit ended the comparison.
    point : dict or None
        With PROVED, a value for each dim, by its SymPy symbol: sizes for which both models are valid.  Both were
        evaluated there, as far as their elements are few.
    ends : SharedEnds or None
        Which inputs and outputs are one, and which have their axes in another order after: a part of the claim.  None
        if the time limit ended the comparison.
    models : tuple of Model or None
        The two models; None if one of them is no `Model`.
    out_of_time : tuple of str
        If the time limit ended the comparison, the outputs that it left UNKNOWN; one empty name if the models were not
        read by then.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import symlayout as sl
    >>> x = sl.tensor("N", name="x")
    >>> def model(y):
    ...     return SimpleNamespace(inputs={"x": x}, outputs={"y": y}, tensors={"x": x, "y": y})
    >>> print(sl.verify(model(sl.flip(sl.flip(x))), model(x)))
    PROVED: both models compute the same for all sizes and all inputs.
    >>> sl.verify(model(sl.flip(sl.flip(x))), model(x)).outputs
    {'y': <Verdict.PROVED: 'proved'>}
    """

    proofs: dict[str, Proof]
    laws: tuple[str, ...] = ()
    witness: ModelWitness | None = None
    region: tuple[str, str] | None = None
    claim: ModelClaim | None = field(default=None, repr=False, compare=False)
    domain: Domain | None = field(default=None, repr=False, compare=False)
    point: dict[Any, int] | None = None
    frontier: tuple[tuple[str, str], ...] = ()
    parted: tuple[tuple[int, ...] | None, Any, Any] | None = None
    out_of_time: tuple[str, ...] = ()
    replay: Replay | None = field(default=None, repr=False, compare=False)
    ends: SharedEnds | None = field(default=None, repr=False, compare=False)
    models: tuple[Model, Model] | None = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        raise TypeError("a verification has three outcomes; compare its verdict with Verdict.PROVED")

    @property
    def outputs(self) -> dict[str, Verdict]:
        """The verdict of each output, by its name in the model before."""
        open_ = dict.fromkeys(filter(None, self.out_of_time), Verdict.UNKNOWN)
        return open_ | {name: proof.verdict for name, proof in self.proofs.items()}

    @property
    def verdict(self) -> Verdict:
        """The least certain verdict of the outputs: REFUTED if one is, else UNKNOWN if one is."""
        none = Verdict.UNKNOWN if self.out_of_time else Verdict.PROVED
        return min(self.outputs.values(), key=_CERTAINTY.index, default=none)

    @property
    def requires(self) -> tuple[Any, ...]:
        """What all nodes of the model before demand of the sizes beyond their bounds, as SymPy relations.

        The claim is about the sizes that meet this.
        """
        return () if self.domain is None else self.domain.requires

    @property
    def assumed(self) -> tuple[Any, ...]:
        """What leaves out more sizes, as SymPy relations.

        One model states them of dims that the other one leaves open, or the reader has no meaning for other sizes
        though the standard has one.
        """
        return () if self.domain is None else self.domain.assumed

    @property
    def formulas(self) -> tuple[str, ...]:
        """With PROVED, the fused functions that stand for chains with their formulas: these may differ by rounding."""
        return tuple(sorted({name for proof in self._proved for name in proof.formulas}))

    @property
    def _proved(self) -> list[Proof]:
        """The proofs of all that the claim needs."""
        return [] if self.claim is None else [*self.proofs.values(), *self.claim.more]

    @cached_property
    def formula_values(self) -> dict[str, str]:
        """At which special values each of `formulas` and the chain with its formula part, as text; empty if nowhere.

        Both are evaluated at 0.0, -0.0, the infinities and NaN, as operands.
        """
        return {name: text for proof in self._proved for name, text in proof.formula_texts.items()}

    @cached_property
    def differences(self) -> dict[str, tuple[float, float]]:
        """With PROVED by laws or formulas, by how much each output differs at sampled inputs.

        The pair is the largest difference, and its part of the largest value, as the interpreter computes both models.
        Outputs that cannot be evaluated are left out.
        """
        if self.claim is None or not (self.laws or self.formulas):
            return {}
        c = self.claim
        found = {name: difference(t, c.right[name], c.facts) for name, t in c.left.items()}
        return {name: pair for name, pair in found.items() if pair is not None}

    @cached_property
    def printed(self) -> dict[str, tuple[str, str]]:
        """With REFUTED, what each installed runtime computes at the witness before and after, as text, by its name.

        Both models run in a child process, when this is first asked for.  The verdict follows the standard, from which
        a runtime may differ.
        """
        w = self.witness
        if w is None or self.replay is None or not w.inputs:
            return {}
        return self.replay.printed((w.inputs, w.inputs_after), w.output, w.coord)

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """With PROVED, the proof as data, which `check` verifies with the two models; None otherwise.

        Raises
        ------
        InconclusiveError
            The proof has no certificate: it takes a step, which the message names, for which `check` has no rule.
        """
        if self.claim is None:
            return None
        c = self.claim
        sides = with_matched(c.left, c.right, c.values, c.matched)
        pairs, form = pairs_of(self._proved, c.facts), form_of(self._proved)
        shown = certificate_of_computed(*sides, c.facts, pairs, self.laws, form=form)
        more: dict[str, Any] = {"point": c.point.dims, "evaluated": c.point.evaluated}
        if self.domain is not None:
            more["domain"] = self.domain.data
        if self.ends is not None:
            more["ends"] = self.ends.data
        if c.matched:
            more["partial"] = c.matched
        if data := certificate_of_data(*c.values, c.renamed_at):
            more["data"] = data
        return sealed({**shown, **more})

    def explain(self) -> str:
        """Return the verdicts as text: each output, the witness, and where the models part."""
        lines = [f"{self.verdict.name}: {_sentence(self.verdict, [*map(relation, self.requires)])}"]
        unproved = {name: proof for name, proof in self.proofs.items() if proof.verdict is not Verdict.PROVED}
        lines += [f"  {one_line(name)}: {proof.conclusion}" for name, proof in unproved.items()]
        if self.out_of_time:
            lines.append("  the time limit ended the comparison")
        lines += _conditions(self.ends, [*map(relation, self.assumed)], self.laws)
        if self.formulas:
            lines.append(f"  equal by formula: {', '.join(self.formulas)} (rounding may differ)")
            lines += [f"    {one_line(name)}: {text}" for name, text in self.formula_values.items() if text]
        for name, (absolute, relative) in self.differences.items() if self.laws else ():
            lines.append(
                f"  at sampled inputs, {one_line(name)} differs by {absolute:.1e}, {relative:.1e} of its largest value"
            )
        if self.witness is not None:
            lines.append(f"  witness: {self.witness}")
        if self.region is not None:
            first, *others = [" and ".join(map(one_line, pair)) for pair in self.frontier or [self.region]]
            lines.append(f"  the first values that differ or were not decided: {first}")
            if self.parted is not None:
                coord, *values = self.parted
                at = "" if coord is None else f" at {coord}"
                lines.append(f"    {'the shapes there' if coord is None else 'there'}{at}: {values[0]} and {values[1]}")
            lines += [f"    besides: {pair}" for pair in others[:_MOST_NAMED]]
        return legible("\n".join(lines))

    def of_models(self, before: Any, after: Any) -> Verification:
        """Return what was found with the two models that it is about, if both are a `Model`."""
        return replace(self, models=(before, after)) if isinstance(before, Model) and isinstance(after, Model) else self

    def html(self, made_by: str = "") -> str:
        """Return a page about both models and the verdict: one HTML file, which needs no network.

        It shows the claim, the graphs of both models side by side with every shape, what was found, the witness and
        its values, and the certificate to save.

        Parameters
        ----------
        made_by : str
            The command that makes the page again, which the page shows.
        """
        return facade.html_page(self, made_by)

    def _repr_html_(self) -> str:
        return brief_html(self.verdict.name, self.explain().partition(": ")[2])

    def __str__(self) -> str:
        return self.explain()


def stated_claim(certificate: Mapping[str, Any]) -> str:
    """Return the claim about two models that a certificate states, as text; `check` has accepted the certificate."""
    domain, ends = certificate["domain"], SharedEnds.of_data(certificate["ends"])
    lines = [_sentence(Verdict.PROVED, domain["requires"])]
    return legible("\n".join(lines + _conditions(ends, domain["assumed"], certificate["laws"])))


def _sentence(verdict: Verdict, requires: Sequence[str]) -> str:
    return _SENTENCES[verdict].format(domain=f" with {', '.join(requires)}," if requires else "")


def _conditions(ends: SharedEnds | None, assumed: Sequence[str], laws: Sequence[str]) -> list[str]:
    """Return lines that say under which conditions a claim holds: how both models' values are paired is one."""
    lines = [f"  where {text}" for text in (() if ends is None else ends.texts)]
    lines += [f"  nothing is said of sizes without {', '.join(assumed)}"] if assumed else []
    return lines + ([f"  under the laws: {', '.join(laws)}"] if laws else [])


def _text(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return f"fill {value[1]}" if value[0] == "fill" else f"{value[0]}{list(value[1])}"
    return str(value)
