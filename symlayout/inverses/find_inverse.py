"""Invert a tensor's map, and prove in which direction, and where, the inverse holds.

Candidates come from the two faces of the map (`faces`, `candidates`).  Both round trips of a candidate are decided
like any other claim, and it is returned only if at least one of them is proved for all sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symlayout.errors import InconclusiveError
from symlayout.language import sympy_bridge
from symlayout.proof.prove import Proof, Verdict, prove_equal
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout_codegen.forks import cached_property

if TYPE_CHECKING:
    from symlayout.inverses.inverse_candidates import Candidate

_FIRST_BUDGET = 20  # of the search for a witness, before it is known that the candidate is an inverse


@dataclass(frozen=True)
class Inverse:
    """A function from tensors of the output's shape to the input, with what was proved of it.

    Attributes
    ----------
    tensor : Tensor
        ``f(x)``, of which this is the inverse.
    left : Proof
        Of ``inverse(f(x)) == x`` for the tensor's own input *x*.
    right : Proof
        Of ``f(inverse(z)) == z`` for any *z* of the output's shape.
    is_section : bool
        Whether an element may stand in several places of the output, of which the inverse picks one: then
        ``inverse(f(x)) == x``, while ``f(inverse(z))`` has at every place what *z* has at the one that was picked.

    Examples
    --------
    >>> import symlayout as sl
    >>> undo = inverse(sl.space_to_depth(sl.tensor("N, C, 2*h, 2*w", name="x"), 2))
    >>> undo.holds
    'both'
    >>> undo(sl.tensor("N, 4*C, h, w")).shape
    (N, C, 2*h, 2*w)
    """

    tensor: Tensor
    left: Proof
    right: Proof
    is_section: bool
    _candidate: Candidate

    @property
    def holds(self) -> str:
        """``"both"``, ``"left"`` or ``"right"``: the round trips that are the identity."""
        sides = [name for name in ("left", "right") if getattr(self, name).verdict is Verdict.PROVED]
        return "both" if len(sides) == 2 else sides[0]

    @cached_property
    def left_region(self) -> Any:
        """Where ``inverse(f(x))`` is proved to be *x*: a SymPy condition on the input's coordinate."""
        if self.left.verdict is Verdict.PROVED:
            return sympy_bridge.everywhere()
        return self(self.tensor).index_map.fixed

    @cached_property
    def right_region(self) -> Any:
        """Where ``f(inverse(z))`` is proved to be *z*: a SymPy condition on the output's coordinate."""
        if self.right.verdict is Verdict.PROVED:
            return sympy_bridge.everywhere()
        return self.tensor.replace({self._candidate.leaf.key: self(like(self.tensor))}).index_map.fixed

    def __call__(self, z: Tensor) -> Tensor:
        """Return the inverse applied to *z*, whose shape must be the tensor's."""
        check_tensors("the inverse", z)
        return self._candidate(z)

    def explain(self) -> str:
        """Return both round trips with their derivations, and where they hold."""
        parts = [
            f"{claim}\n{proof.explain()}" + ("" if proof.verdict is Verdict.PROVED else f"\nIt holds where {where}.")
            for claim, proof, where in (
                ("inverse(f(x)) == x", self.left, self.left_region),
                ("f(inverse(z)) == z", self.right, self.right_region),
            )
        ]
        if self.is_section:
            parts.append("The inverse is a section: of the places that hold an element it reads one.")
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        section = ", a section" if self.is_section else ""
        return f"Inverse(of {self.tensor!r}: holds {self.holds}{section})"


def inverse(t: Tensor) -> Inverse:
    """Return the inverse of *t* as a function, with its round trips decided.

    A map that drops elements (a crop) has an inverse in one direction only, and so have one that adds some (a
    pad) and one that repeats some (tile, repeat, broadcast_to, window): the result says which, where the other
    round trip holds, and whether it is a section.  Elements that the map does not determine become zero.

    Parameters
    ----------
    t : Tensor
        Of one input.

    Raises
    ------
    InconclusiveError
        No candidate is found, or neither round trip is proved: nothing unproved is returned.

    Examples
    --------
    >>> from symlayout.ops.pad import pad
    >>> from symlayout.tensors.chain import tensor
    >>> x = tensor("N", name="x")
    >>> inverse(pad(x, 1)).holds
    'left'
    """
    check_tensors("inverse", t)
    leaves = t.leaves()
    if len(leaves) != 1:
        raise InconclusiveError(f"{t!r} has an inverse: it reads {len(leaves)} inputs")
    tried: list[str] = []
    z = like(t)
    from symlayout.inverses.inverse_candidates import candidates

    for candidate in candidates(t, leaves[0]):
        claims = (candidate(t), leaves[0]), (t.replace({leaves[0].key: candidate(z)}), z)
        left, right = (prove_equal(*claim, budget=_FIRST_BUDGET) for claim in claims)
        if Verdict.PROVED in (left.verdict, right.verdict):
            left, right = (
                proof if proof.verdict is not Verdict.UNKNOWN else prove_equal(*claim)
                for proof, claim in zip((left, right), claims, strict=True)
            )
            section = candidate.picks and right.verdict is not Verdict.PROVED
            return Inverse(t, left, right, section, candidate)
        tried += [str(left), str(right)]
    why = "neither round trip is proved" if tried else "its digits are not found from what it reads"
    raise InconclusiveError(f"{t!r} has an inverse: {why}", tried)


def like(t: Tensor) -> Tensor:
    """Return a leaf ``z`` of the shape of *t*."""
    return Tensor("z", t.dtype, t.extents, t.facts, key="z")
