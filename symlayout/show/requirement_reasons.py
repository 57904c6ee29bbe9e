"""Explain each requirement of a tensor: the operation that states it, its rule, and sizes that break it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.algebra.facts import Requirement
from symlayout.errors import ShapeError
from symlayout.language.sympy_bridge import to_relation
from symlayout.show import small_sizes
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.requirements import origins, requirements

_TRIES = 2000  # choices of sizes that are tried
_VALUES = (1, 0, *small_sizes.LEAST[1:-1])  # sizes to try, with 0 early: empty axes break many requirements

RULES: Mapping[str, str] = {
    "attr_dtype": "extents and attributes are integers",
    "batch_block_not_one": "the batch axis has no blocks",
    "batch_crop_nonzero": "nothing is taken from the batch axis",
    "batch_pad_nonzero": "nothing is added to the batch axis",
    "block_lt_1": "a block has at least one element",
    "block_lt_2": "a block of this operation has at least two elements",
    "crop_exceeds": "a crop takes away no more than there is",
    "infeasible": "extents and dims stay within their bounds",
    "negative_crop": "what is taken away is not negative",
    "negative_pad": "what is added is not negative",
    "non_divisible": "an axis is split into parts of equal length, without a remainder",
    "overflow": "sizes fit 64 bits",
    "size_mismatch": "joined axes have equal extents, and a new shape has as many elements as the old one",
}
"""The rule behind each kind of requirement, in plain words.  The name of any other kind is its own explanation."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a requirement.

    Attributes
    ----------
    relation : object
        The requirement, as in ``Tensor.requires``.
    kind : str
        The kind of the `ShapeError` that a call gets if the requirement fails.
    operation : str
        The operation that states the requirement.
    stages : tuple of int
        The positions in the chain of the tensors that state the requirement or a part of it.
    rule : str
        The rule behind it in plain words.
    breaks : dict
        Small sizes that meet all other requirements and break this one; empty if none were found.
    message : str
        The first line of the error for these sizes; empty if none were found.

    Examples
    --------
    >>> import symlayout as sl
    >>> (reason,) = sl.reasons(sl.space_to_depth(sl.tensor("1, 3, H, 8", name="x"), 4))
    >>> reason.relation, reason.kind, reason.breaks
    (Eq(Mod(H, 4), 0), 'non_divisible', {'H': 1})
    >>> print(reason.rule)
    an axis is split into parts of equal length, without a remainder
    """

    relation: Any
    kind: str
    operation: str
    stages: tuple[int, ...]
    rule: str
    breaks: dict[str, int]
    message: str


def reasons(t: Tensor, stages: Sequence[Tensor] | None = None) -> tuple[Reason, ...]:
    """Return the reason of each requirement in ``t.requires``, in that order.

    Parameters
    ----------
    t : Tensor
        The tensor whose requirements are explained.
    stages : sequence of Tensor, optional
        Tensors on the way to *t*, with *t* as the last.  `Reason.stages` has positions in this sequence.  By default
        ``t.nodes()``.

    Examples
    --------
    >>> from symlayout.ops.reshape import reshape
    >>> from symlayout.tensors.input_tensor import tensor
    >>> (reason,) = reasons(reshape(tensor("N", name="x"), (2, -1)))
    >>> reason.relation, reason.operation, reason.breaks
    (Eq(Mod(N, 2), 0), 'reshape', {'N': 1})
    """
    check_tensors("reasons", t, *(stages or ()))
    kept = requirements(t.facts)
    stating = origins(t.facts, [stage.facts for stage in (t.nodes() if stages is None else stages)])
    return tuple(
        Reason(
            to_relation(r, t.facts), r.kind, r.where, tuple(numbers), RULES.get(r.kind, r.kind.replace("_", " ")),
            *_counterexample(t, r, [o for o in kept if o is not r]),
        )
        for r, numbers in zip(kept, stating, strict=True)
    )  # fmt: skip


def _counterexample(t: Tensor, r: Requirement, others: Sequence[Requirement]) -> tuple[dict[str, int], str]:
    """Return small sizes that break *r* and no other requirement, and the first line of their error."""
    for values in itertools.islice(small_sizes.candidates(t, _VALUES), _TRIES):
        known = t.facts.values(values)
        if _meets(r, known) is not False or not all(_meets(o, known) for o in others):
            continue
        try:
            t.subs(values)
        except ShapeError as error:
            return values, str(error).splitlines()[0]
    return {}, ""


def _meets(r: Requirement, values: Mapping[str, int]) -> bool | None:
    """Return whether *r* holds; None if a symbol of *r* has no value for these sizes."""
    try:
        return r.holds(values)
    except KeyError:
        return None
