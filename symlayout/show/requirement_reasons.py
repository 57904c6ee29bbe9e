"""Say why each requirement of a tensor exists: who asked for it, the rule behind it, and sizes that break it."""

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

_TRIES = 2000
_VALUES = (1, 0, *small_sizes.LEAST[1:-1])  # an empty axis breaks many a rule

RULES: Mapping[str, str] = {
    "attr_dtype": "extents and attributes are integers",
    "batch_block_not_one": "the batch axis has no blocks",
    "batch_crop_nonzero": "nothing is taken from the batch axis",
    "batch_pad_nonzero": "nothing is added to the batch axis",
    "block_lt_1": "a block has at least one element",
    "block_lt_2": "this operation wants blocks of at least two elements",
    "crop_exceeds": "no more can be taken away than there is",
    "infeasible": "extents and dims stay within their bounds",
    "negative_crop": "what is taken away is not negative",
    "negative_pad": "what is added is not negative",
    "non_divisible": "an axis is split into parts of equal length, without a rest",
    "overflow": "sizes fit 64 bits",
    "size_mismatch": "extents that meet are equal, and a new shape holds the elements of the old one",
}
"""The rule behind each kind of requirement, in plain words; other kinds speak for themselves."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a requirement exists.

    Attributes
    ----------
    relation : object
        The requirement, as in ``Tensor.requires``.
    kind : str
        The kind of the error where it fails.
    operation : str
        The operation that asked for it.
    stages : tuple of int
        The tensors of the chain that asked for it or for a part of it, by their place.
    rule : str
        The rule behind it in plain words.
    breaks : dict
        Small sizes that meet all other requirements and break this one; empty if none were found.
    message : str
        What the operation says of them.

    Examples
    --------
    >>> import symlayout as sl
    >>> (reason,) = sl.reasons(sl.space_to_depth(sl.tensor("1, 3, H, 8", name="x"), 4))
    >>> reason.relation, reason.kind, reason.breaks
    (Eq(Mod(H, 4), 0), 'non_divisible', {'H': 1})
    >>> print(reason.rule)
    an axis is split into parts of equal length, without a rest
    """

    relation: Any
    kind: str
    operation: str
    stages: tuple[int, ...]
    rule: str
    breaks: dict[str, int]
    message: str


def reasons(t: Tensor, stages: Sequence[Tensor] | None = None) -> tuple[Reason, ...]:
    """Return the reason of each of ``t.requires``, in their order.

    Parameters
    ----------
    t : Tensor
        Whose requirements are meant.
    stages : sequence of Tensor, optional
        Tensors on the way to *t*, which is the last: `Reason.stages` counts them.  By default ``t.nodes()``.

    Examples
    --------
    >>> from symlayout.ops.reshape import reshape
    >>> from symlayout.tensors.chain import tensor
    >>> (reason,) = reasons(reshape(tensor("N", name="x"), (2, -1)))
    >>> reason.relation, reason.operation, reason.breaks
    (Eq(Mod(N, 2), 0), 'reshape', {'N': 1})
    """
    check_tensors("reasons", t, *(stages or ()))
    kept = requirements(t.facts)
    asked = origins(t.facts, [stage.facts for stage in (t.nodes() if stages is None else stages)])
    return tuple(
        Reason(
            to_relation(r, t.facts), r.kind, r.where, tuple(numbers), RULES.get(r.kind, r.kind.replace("_", " ")),
            *_counterexample(t, r, [o for o in kept if o is not r]),
        )
        for r, numbers in zip(kept, asked, strict=True)
    )  # fmt: skip


def _counterexample(t: Tensor, r: Requirement, others: Sequence[Requirement]) -> tuple[dict[str, int], str]:
    """Return small sizes that break *r* and nothing else, and the message that they get."""
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
    """Return whether *r* holds; None if a symbol of it has no value for these sizes."""
    try:
        return r.holds(values)
    except KeyError:
        return None
