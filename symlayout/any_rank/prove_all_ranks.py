"""Decide whether two tensors of any rank are equal, for all ranks and all sizes.

At each rank, the map of such a tensor is a product: of the map of the axes outside of the group, and of one map for
each axis of the group, which differ in their dims only.  Two products are equal if their factors are.  So two ordinary
claims prove it: one for the axes outside of the group, and one for an arbitrary axis of the group.  A witness is
searched at small ranks.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from symlayout.any_rank.grouped_tensor import AnyRankTensor
from symlayout.errors import ArrayError, InconclusiveError, ShapeError
from symlayout.proof.certificate.checker.all_ranks import seal_of
from symlayout.proof.counterexample import Witness, WitnessSearch
from symlayout.proof.prove import Proof, Verdict, prove_equal
from symlayout.tensors.chain import Tensor

RANKS = range(4)  # numbers of axes of the group at which a witness is searched


class AnyRankProof:
    """The result of a proof attempt for the claim that two tensors are equal at all ranks.

    The claim is about all sizes that meet `requires`; requirements of the group hold for each of its axes.

    Attributes
    ----------
    verdict : Verdict
        PROVED, REFUTED or UNKNOWN.
    plain, each : Proof or None
        The claims for the axes outside of the group and for an arbitrary axis of it; None if the shapes differ.
    count : int or None
        With REFUTED, the number of axes of the group.
    witness : Witness or None
        With REFUTED, a point at which the sides differ at that rank.
    obligation : str
        With UNKNOWN, the statement that could not be decided.

    Examples
    --------
    >>> import symlayout as sl
    >>> b, p, q = sl.dims("b p q")
    >>> x = sl.tensor("N, *S, C", name="x")
    >>> y = sl.space_to_batch(x, b, (p, q))
    >>> proof = sl.prove_equal(sl.batch_to_space(y, b, (p, q)), x)
    >>> proof
    <AnyRankProof: PROVED: both sides read the same element at every coordinate, for all ranks and all such sizes.>
    >>> sl.check(proof.certificate)
    True
    >>> print(sl.prove_equal(sl.flip(x, 1), x))
    REFUTED: 1 axis in the group: N = 1, S_1 = 2, C = 1: at (0, 0, 0) the sides read x[0, 1, 0] and x[0, 0, 0]
    """

    def __init__(
        self,
        left: AnyRankTensor,
        right: AnyRankTensor,
        verdict: Verdict,
        plain: Proof | None,
        each: Proof | None,
        count: int | None = None,
        witness: Witness | None = None,
        obligation: str = "",
    ) -> None:
        self._sides = left, right
        self.verdict, self.plain, self.each = verdict, plain, each
        self.count, self.witness, self.obligation = count, witness, obligation

    @property
    def requires(self) -> tuple[Any, ...]:
        """The requirements of both sides as SymPy relations; those with dims of the group hold for each axis of it."""
        return tuple(dict.fromkeys(r for p in (self.plain, self.each) if p is not None for r in p.requires))

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """The two derivations as data, which `symlayout.check` verifies; None unless the verdict is PROVED."""
        if self.plain is None or self.each is None or self.verdict is not Verdict.PROVED:
            return None
        left = self._sides[0]
        slots = [[[[*slot.each], slot.joined] for slot in side.slots] for side in (left.leaf, left)]
        body = {
            "any_rank": {"input": slots[0], "sides": slots[1]},
            "plain": self.plain.certificate,
            "each": self.each.certificate,
        }
        return {**body, "seal": seal_of(body)}

    def explain(self) -> str:
        """Return the derivation as text: why two claims suffice, and the derivation of each."""
        if self.plain is None or self.each is None:
            return str(self)
        parts = [
            "At each rank, the map is a product of a map of the axes outside of the group and one of each axis of it.",
            "The maps of all axes of the group are alike, so an arbitrary one stands for all, and for every rank.",
            f"The shape of both sides: ({', '.join(self._sides[0].shape)})",
            f"The axes outside of the group:\n{self.plain.explain()}",
            f"An arbitrary axis of the group:\n{self.each.explain()}",
            str(self),
        ]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        if self.verdict is Verdict.PROVED:
            return "PROVED: both sides read the same element at every coordinate, for all ranks and all such sizes."
        if self.verdict is Verdict.REFUTED:
            return f"REFUTED: {self.count} {'axis' if self.count == 1 else 'axes'} in the group: {self.witness}"
        return f"UNKNOWN: {self.obligation} (no difference found with up to {max(RANKS)} axes in the group)"

    def __repr__(self) -> str:
        return f"<AnyRankProof: {self}>"


def prove_all_ranks(left: Any, right: Any, *, budget: int) -> AnyRankProof:
    """Decide whether two tensors of any rank are equal; *budget* is that of `symlayout.prove_equal`, for each rank."""
    for side in (left, right):
        if not isinstance(side, AnyRankTensor):
            raise TypeError(f"a tensor of any rank is compared with another one, not with {type(side).__name__}")
    _match_leaves(left, right)
    plain, each, obligation = None, None, f"the shapes are equal: {left} and {right}"
    if left.slots == right.slots:
        plain = prove_equal(left.plain, right.plain, budget=budget)
        each = prove_equal(left.each, right.each, budget=budget)
        if plain.verdict is each.verdict is Verdict.PROVED:
            return AnyRankProof(left, right, Verdict.PROVED, plain, each)
        open_one = each if plain.verdict is Verdict.PROVED else plain
        obligation = open_one.obligation or f"the factors of the maps are equal: {open_one.conclusion}"
    for count in RANKS:
        try:
            witness = _witness(left.at(count), right.at(count), budget)
        except (ShapeError, InconclusiveError):
            continue  # no sizes are valid at this rank
        if witness is not None:
            return AnyRankProof(left, right, Verdict.REFUTED, plain, each, count, witness)
    return AnyRankProof(left, right, Verdict.UNKNOWN, plain, each, obligation=obligation)


def _witness(left: Tensor, right: Tensor, budget: int) -> Witness | None:
    facts = left.facts.fork()
    facts.merge(right.facts)
    return WitnessSearch(left, right, facts, left.dtype).run(budget)[0]


def _match_leaves(left: AnyRankTensor, right: AnyRankTensor) -> None:
    """Raise unless both sides read one input."""
    a, b = left.leaf, right.leaf
    if a.plain.key != b.plain.key or a.slots != b.slots or a.shape != b.shape:
        raise ShapeError(f"the sides read {a!r} and {b!r}, not one input of any rank", "size_mismatch")
    outside, inside = (
        {name for t in pair for name in t.facts.dims} for pair in zip(_halves(left), _halves(right), strict=True)
    )
    if both := sorted(outside & inside):
        raise ShapeError(
            f"{both[0]} is a dim of the group on one side, and one outside of it on the other", "dim_conflict"
        )
    if a.dtype != b.dtype:
        raise ArrayError(f"input {a.plain.name} has dtype {a.dtype} on the left and {b.dtype} on the right")


def _halves(t: AnyRankTensor) -> tuple[Tensor, Tensor]:
    return t.plain, t.each
