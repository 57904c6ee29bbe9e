"""Invert the map of a tensor, and prove which round trips hold, and where.

Candidates come from the two faces of the map (`digit_sides`, `inverse_candidates`).  Both round trips of a candidate
are decided like any other claim.  A candidate is returned only if at least one of them is proved for all sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symlayout.deadlines import goals_within
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.language import sympy_bridge
from symlayout.proof.prove import prove_on
from symlayout.proof.verdict import Proof, Verdict
from symlayout.show.brief import brief_html
from symlayout.show.picture import of_tensor
from symlayout.tensors.chain import Tensor, check_moves, check_tensors
from symlayout_codegen.forks import cached_property

if TYPE_CHECKING:
    from symlayout.inverses.inverse_by_steps import StepsCandidate
    from symlayout.inverses.inverse_candidates import Candidate

_GOALS = 100_000  # most goals that the search for an inverse and the proofs of it visit, in all
_FIRST_BUDGET = 20  # budget of the first search for a witness against a candidate


@dataclass(frozen=True)
class Inverse:
    """The inverse of a tensor's map, as a function on tensors, with the proofs of its round trips.

    Attributes
    ----------
    tensor : Tensor
        The tensor ``f(x)`` whose map is inverted.
    left : Proof
        The proof attempt for ``inverse(f(x)) == x``, where *x* is the tensor's input.
    right : Proof
        The proof attempt for ``f(inverse(z)) == z``, for any *z* of the output's shape.
    is_section : bool
        Whether an element may occur in several places of the output; the inverse picks one of them.  Then
        ``inverse(f(x)) == x``, while ``f(inverse(z))`` copies the picked element of *z* to all of its places.

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
    _candidate: Candidate | StepsCandidate

    @property
    def holds(self) -> str:
        """The round trips that are proved to be the identity: ``"both"``, ``"left"`` or ``"right"``."""
        sides = [name for name in ("left", "right") if getattr(self, name).verdict is Verdict.PROVED]
        return "both" if len(sides) == 2 else sides[0]

    @cached_property
    def left_region(self) -> Any:
        """A SymPy condition on the input coordinate under which ``inverse(f(x))`` is proved to equal *x*."""
        if self.left.verdict is Verdict.PROVED:
            return sympy_bridge.everywhere()
        return self(self.tensor).index_map.fixed

    @cached_property
    def right_region(self) -> Any:
        """A SymPy condition on the output coordinate under which ``f(inverse(z))`` is proved to equal *z*."""
        if self.right.verdict is Verdict.PROVED:
            return sympy_bridge.everywhere()
        from symlayout.inverses.inverse_candidates import like

        return self.tensor.replace({self._candidate.leaf.key: self(like(self.tensor))}).index_map.fixed

    def __call__(self, z: Tensor, fill: Any = 0) -> Tensor:
        """Return the inverse applied to *z*, which must have the tensor's shape.

        Elements that the map does not determine become *fill*.
        """
        check_tensors("the inverse", z)
        return self._candidate(z, fill)

    def explain(self) -> str:
        """Return both round trips as text, with their derivations and the regions in which they hold."""
        parts = [
            f"{claim}\n{proof.explain()}" + ("" if proof.verdict is Verdict.PROVED else f"\nIt holds where {where}.")
            for claim, proof, where in (
                ("inverse(f(x)) == x", self.left, self.left_region),
                ("f(inverse(z)) == z", self.right, self.right_region),
            )
        ]
        if self.is_section:
            parts.append("The inverse is a section: an element may occur in several places, and it reads one of them.")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        lines = [f"inverse(f(x)) == x: {self.left.conclusion}", f"f(inverse(z)) == z: {self.right.conclusion}"]
        return brief_html(repr(self), "\n".join(lines), of_tensor(self.tensor) or "")

    def __repr__(self) -> str:
        section = ", a section" if self.is_section else ""
        return f"Inverse(of {self.tensor!r}: holds {self.holds}{section})"


def inverse(t: Tensor) -> Inverse:
    """Return the inverse of *t* as a function, with both round trips decided.

    Some maps have an inverse in one direction only: those that drop elements (crop), add elements (pad), or repeat
    elements (tile, repeat, broadcast_to, window).  The result says which round trip holds, where the other one holds,
    and whether the inverse is a section.  Elements that the map does not determine become zero, or
    the *fill* of a call.

    Parameters
    ----------
    t : Tensor
        A tensor with one input.

    Returns
    -------
    Inverse
        The inverse; at least one of its round trips is proved for all sizes.

    Raises
    ------
    ShapeError
        ``no_inverse`` if neither round trip can hold for all sizes: at some size an element of the input is read
        nowhere, and at some size two coordinates read the same element, or one reads a fill.
    InconclusiveError
        *t* has several inputs, no candidate is found, or neither round trip is proved.
    ArrayError
        Elements of *t* are computed, or those of a constant: they are not moved from an input.

    Examples
    --------
    >>> from symlayout.ops.pad import pad
    >>> from symlayout.tensors.input_tensor import tensor
    >>> x = tensor("N", name="x")
    >>> inverse(pad(x, 1)).holds
    'left'
    """
    check_tensors("inverse", t)
    check_moves("inverse", t)
    leaves = t.leaves()
    if len(leaves) != 1:
        raise InconclusiveError(f"{t!r} has an inverse: it has {len(leaves)} inputs, and only one is supported")
    tried: list[str] = []
    found = goals_within(_GOALS, lambda: _found(t, leaves[0], tried), lambda: None)
    if found is not None:
        return found
    from symlayout.inverses.properties import why_no_inverse

    if (reason := why_no_inverse(t)) is not None:
        raise ShapeError(f"{t!r} has no inverse in either direction\n  known: {reason}", "no_inverse")
    why = "neither round trip is proved" if tried else "the coordinates that it reads do not determine its digits"
    raise InconclusiveError(f"{t!r} has an inverse: {why}", tried)


def _found(t: Tensor, leaf: Tensor, tried: list[str]) -> Inverse | None:
    """Return the inverse of *t*, with the proofs of its round trips; add to *tried* what is found of others."""
    from symlayout.inverses.inverse_by_steps import all_candidates
    from symlayout.inverses.inverse_candidates import like

    z = like(t)
    for candidate in all_candidates(t, leaf):
        claims = (candidate(t), leaf), (t.replace({leaf.key: candidate(z)}), z)
        left, right = (prove_on(t.facts, *claim, budget=_FIRST_BUDGET) for claim in claims)
        if Verdict.PROVED in (left.verdict, right.verdict):
            left, right = (
                proof if proof.verdict is not Verdict.UNKNOWN else prove_on(t.facts, *claim)
                for proof, claim in zip((left, right), claims, strict=True)
            )
            section = candidate.picks and right.verdict is not Verdict.PROVED
            return Inverse(t, left, right, section, candidate)
        tried += [left.conclusion, right.conclusion]
    return None


def proved_inverse(t: Tensor, guesses: Sequence[Tensor] = (), *, both: bool) -> Tensor | None:
    """Return the inverse of *t*, applied to an input of its shape, if that is soon proved; else None.

    It recovers the input of *t*; *both* asks that *t* also recovers the input of the inverse.  *guesses*, each of an
    input of the shape of *t*, are tried first.

    >>> import symlayout as sl
    >>> proved_inverse(sl.roll(sl.tensor("N", name="x"), 1), both=True).shape
    (N,)
    """
    from symlayout.inverses.inverse_by_steps import all_candidates
    from symlayout.inverses.inverse_candidates import like

    (leaf,) = t.leaves()
    for undone in itertools.chain(guesses, (candidate(like(t)) for candidate in all_candidates(t, leaf))):
        (z,) = undone.leaves()
        claims = [(undone.replace({z.key: t}), leaf), (t.replace({leaf.key: undone}), z)][: 1 + both]
        proofs = (prove_on(t.facts, *claim, budget=_FIRST_BUDGET, brief=True) for claim in claims)
        if all(proof.verdict is Verdict.PROVED for proof in proofs):
            return undone
    return None
