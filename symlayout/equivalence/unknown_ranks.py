"""Values whose rank is not known, where two models are compared: tensors without axes stand for them.

Such a tensor is the same function of the same operands as the value.  So if two of them are proved equal, the values
are.  Nothing else follows: neither has the shape that it has in the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from symlayout.algebra.facts import Facts
from symlayout.models.model import TENSOR, Model, Tensors, Unshaped
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor, graph_of


class Values(Protocol):
    """The values of a model, by name."""

    @property
    def inputs(self) -> Mapping[str, Tensor | Unshaped]:
        """The inputs, by name."""

    @property
    def outputs(self) -> Mapping[str, Tensor | Unshaped]:
        """The outputs, by name."""

    @property
    def tensors(self) -> Mapping[str, Tensor | Unshaped]:
        """All values, by name."""


@dataclass(frozen=True, slots=True)
class ShapedValues:
    """The values of a model by name, with a tensor for each value of unknown rank.

    Attributes
    ----------
    unknown : dict of str to str
        What the inputs and outputs of unknown rank are, by name: see `Unshaped`.
    demanding : tuple of Tensor
        The values that demand something of the sizes, some of which may state what others do.
    partial : tuple of Tensor
        The values that may not be valid for all elements of what they read.
    """

    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    tensors: Mapping[str, Tensor]
    unknown: dict[str, str]
    demanding: tuple[Tensor, ...]
    partial: tuple[Tensor, ...]

    def can_run(self) -> bool:
        """Return whether arrays can be drawn for all inputs, and all outputs are arrays."""
        return not self.unknown.keys() & self.inputs.keys() and all(kind == TENSOR for kind in self.unknown.values())


def with_handles(model: Values) -> ShapedValues:
    """Return the values of a model, with a tensor for each one of unknown rank."""
    ends = {**model.inputs, **model.outputs}
    unknown = {name: t.kind for name, t in ends.items() if isinstance(t, Unshaped)}
    known: Mapping[str, Tensor]
    if isinstance(model.tensors, Tensors):  # constants become tensors when they are read
        known = model.tensors.shaped
    else:
        known = {name: t for name, t in model.tensors.items() if isinstance(t, Tensor)}
    if isinstance(model, Model):
        demanding, partial = tuple(model.demanded_by.values()), tuple(model.partial)
    else:
        demanding = tuple(t for t in known.values() if t.facts.requirements)
        partial = tuple(t for t in graph_of(known.values()) if t.body is not None and t.body.is_partial)
    return ShapedValues(_handles(model.inputs), _handles(model.outputs), known, unknown, demanding, partial)


def _handles(values: Mapping[str, Tensor | Unshaped]) -> dict[str, Tensor]:
    return {name: t.handle if isinstance(t, Unshaped) else t for name, t in values.items()}


def without_ranks(proof: Proof, left: Tensor, right: Tensor, facts: Facts) -> Proof:
    """Return the proof about an output whose rank is not known on a side: only PROVED holds."""
    if proof.verdict is Verdict.PROVED:
        return proof
    return Proof(left, right, facts, Verdict.UNKNOWN, None, "whether the ranks agree", proof.searched)
