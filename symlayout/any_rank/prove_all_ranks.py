"""Decide whether two tensors of any rank are equal, for all ranks and all sizes.

At each rank, the map of such a tensor is a product: of the map of the axes outside of the group, and of one map for
each axis of the group, which differ in their dims only.  Two products are equal if their factors are.  So two ordinary
claims prove it: one for the axes outside of the group, and one for an arbitrary axis of the group.  A witness is
searched at small ranks.

Where values are computed, both claims are proved by pairs of computed values: one function, whose views are equal.  The
claims have to compare the same pairs, so that each view at a rank is a product, too.  A sum of floats that is not taken
in the same order is not compared so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from symlayout.any_rank.grouped_tensor import AnyRankTensor, Slot
from symlayout.deadlines import out_of_time, within
from symlayout.errors import ArrayError, InconclusiveError, ShapeError
from symlayout.proof.certificate.check_computed import refusal_of_computed_ranks
from symlayout.proof.certificate.checker.all_ranks import seal_of
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.counterexample import Witness, WitnessSearch
from symlayout.proof.prove import prove_equal
from symlayout.proof.pull_functions import pulled
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import type_name

RANKS = range(4)  # numbers of axes of the group at which a witness is searched
_SEEN = 3  # sizes at each of them at which both sides of a claim that is proved are evaluated


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

    @property
    def point(self) -> dict[Any, int] | None:
        """With PROVED, the points of both claims."""
        if self.verdict is not Verdict.PROVED or self.plain is None or self.each is None:
            return None
        return {**(self.plain.point or {}), **(self.each.point or {})}

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The two derivations as data, which `symlayout.check` verifies; None unless the verdict is PROVED."""
        if self.plain is None or self.each is None or self.verdict is not Verdict.PROVED:
            return None
        return _certificate(self._sides, self.plain.certificate, self.each.certificate)

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


def prove_all_ranks(left: Any, right: Any, *, budget: int, time_limit: float | None = None) -> AnyRankProof:
    """Decide whether two tensors of any rank are equal; *budget* is that of `symlayout.prove_equal`, for each rank."""
    for side in (left, right):
        if not isinstance(side, AnyRankTensor):
            raise TypeError(f"a tensor of any rank is compared with another one, not with {type(side).__name__}")

    def undecided() -> AnyRankProof:
        return AnyRankProof(left, right, Verdict.UNKNOWN, None, None, obligation=out_of_time(time_limit))

    return within(time_limit, lambda: _prove(left, right, budget), undecided)


def _prove(left: AnyRankTensor, right: AnyRankTensor, budget: int) -> AnyRankProof:
    _match_leaves(left, right)
    right = _with_group_of(left, right)
    compared = [_pulled(side) for side in (left, right)]
    plain, each, obligation = None, None, f"the shapes are equal: {left} and {right}"
    if left.slots == right.slots:
        plain, each = (prove_equal(*half, budget=budget) for half in zip(*map(_halves, compared), strict=True))
        if plain.verdict is each.verdict is Verdict.PROVED:
            obligation = _open_pairs(compared[0], compared[1], plain, each)
            seen = None if obligation else _first_witness(left, right, _SEEN)
            if seen is not None:
                return AnyRankProof(left, right, Verdict.REFUTED, plain, each, *seen)
            if not obligation:
                return AnyRankProof(left, right, Verdict.PROVED, plain, each)
        else:
            open_one = each if plain.verdict is Verdict.PROVED else plain
            obligation = open_one.obligation or f"the factors of the maps are equal: {open_one.conclusion}"
    if (found := _first_witness(left, right, budget)) is not None:
        return AnyRankProof(left, right, Verdict.REFUTED, plain, each, *found)
    return AnyRankProof(left, right, Verdict.UNKNOWN, plain, each, obligation=obligation)


def _first_witness(left: AnyRankTensor, right: AnyRankTensor, budget: int) -> tuple[int, Witness] | None:
    """Return the least number of axes of the group at which a witness is found, and the witness."""
    for count in RANKS:
        try:
            witness = _witness(left.at(count), right.at(count), budget)
        except (ShapeError, InconclusiveError):
            continue  # no sizes are valid at this rank
        if witness is not None:
            return count, witness
    return None


def _witness(left: Tensor, right: Tensor, budget: int) -> Witness | None:
    facts = left.facts.fork()
    facts.merge(right.facts)
    return WitnessSearch(left, right, facts, left.dtype).run(budget)[0]


def _match_leaves(left: AnyRankTensor, right: AnyRankTensor) -> None:
    """Raise unless the inputs that both sides read are the same."""
    for key, a in left.origins.items():
        b = right.origins.get(key, a)
        if (a.slots, a.shape) != (b.slots, b.shape):
            raise ShapeError(
                f"the sides read ({', '.join(a.shape)}) and ({', '.join(b.shape)}), not one input of any rank",
                "size_mismatch",
            )
        if a.dtype != b.dtype:
            raise ArrayError(
                f"an input has dtype {type_name(a.dtype)} on the left and {type_name(b.dtype)} on the right"
            )
    outside, inside = (
        {name for t in pair for name in t.facts.dims} for pair in zip(_halves(left), _halves(right), strict=True)
    )
    if both := sorted(outside & inside):
        raise ShapeError(
            f"{both[0]} is a dim of the group on one side, and one outside of it on the other", "dim_conflict"
        )


def _with_group_of(left: AnyRankTensor, right: AnyRankTensor) -> AnyRankTensor:
    """Return *right*, reading the axes of the group of the input that *left* reads them of.

    Tensors that are joined have one map of the axes of the group, which reads one of their inputs; which of them an
    element is in, the other map says.
    """
    a, b = left.each.leaves(), right.each.leaves()
    if left.each.computes or right.each.computes or len(a) != 1 or len(b) != 1 or a[0].extents != b[0].extents:
        return right
    each = right.each.replace({b[0].key: a[0]})
    return AnyRankTensor(right.plain, each, right.slots, right.at, right.origins).made_by(_with_group_of, left, right)


def _pulled(t: AnyRankTensor) -> AnyRankTensor:
    """Return *t* with its functions outermost, in both factors alike."""
    if not any(half.computes for half in _halves(t)):
        return t
    (plain, each), old = pulled(_halves(t))
    origins = {new: t.origins[key] for new, key in old.items() if key in t.origins}
    return AnyRankTensor(plain, each, t.slots, t.at, t.origins | origins).made_by(_pulled, t)


def _certificate(sides: tuple[AnyRankTensor, AnyRankTensor], plain: Any, each: Any) -> dict[str, Any]:
    """Return the certificate, given those of both factors.

    These do not say where the values are in the chains of the factors: the claims of their views say what is equal.
    """
    halves = {"plain": _without_places(plain), "each": _without_places(each)}
    origins = sides[0].origins | sides[1].origins
    keys = {x.key: x for side in sides for x in side.plain.arguments()}
    inputs = []
    for name in dict.fromkeys(_inputs(halves["plain"])):
        key = name if name in keys else next(k for k, x in keys.items() if "." in k and name.startswith(f"{x.name}."))
        keys.pop(key)
        inputs.append([name, _form(origins[key].slots)])
    body = {"any_rank": {"inputs": inputs, "sides": _form(sides[0].slots)}, **halves}
    return {**body, "seal": seal_of(body)}


def _without_places(half: Any) -> Any:
    if "pairs" not in half:
        return half
    pairs = [{key: part for key, part in pair.items() if key not in ("before", "after")} for pair in half["pairs"]]
    return sealed({**{key: part for key, part in half.items() if key != "text"}, "pairs": pairs})


def _form(slots: Iterable[Slot]) -> list[Any]:
    return [[[*slot.each], slot.joined] for slot in slots]


def _inputs(certificate: Any) -> Iterator[str]:
    """Yield the names of the inputs of all claims of a certificate: names of users have no blanks."""
    views = [view for pair in certificate.get("pairs", ()) for view in pair["views"] if view is not None]
    for part in (*views, *certificate.get("outputs", {"": certificate}).values()):
        yield from (node["input"] for node in part["claim"]["nodes"] if " " not in node.get("input", " "))


def _open_pairs(left: AnyRankTensor, right: AnyRankTensor, plain: Proof, each: Proof) -> str:
    """Return what is left to show of computed values, if both factors are proved to be equal; empty text if nothing."""
    if not any(half.computes for side in (left, right) for half in _halves(side)):
        return ""
    try:
        shown = plain.certificate, each.certificate
        certificate = _certificate((left, right), *shown)
    except InconclusiveError as error:
        return error.claim
    if reason := refusal_of_computed_ranks(certificate):
        return reason
    outermost = [bool(half and half.get("outermost")) for half in shown]
    before, after = (_compared(side, outermost) for side in (left, right))
    if any(outermost) and not all(map(_is_elementwise, (*before, *after))):
        return "the functions that go through fills are elementwise"  # a fold of fills is another one in each factor
    for one, other in zip(*(half.get("pairs", ()) for half in shown if half), strict=True):
        pair: list[Tensor] = []
        for place, halves in (("before", before), ("after", after)):
            values = [[k for k, node in enumerate(graph) if node.body is not None] for graph, _ in halves]
            numbers = [own.index(half[place]) for own, half in zip(values, (one, other), strict=True)]
            if numbers[0] != numbers[1] or len(values[0]) != len(values[1]):
                return "the factors are equal by the same pairs of computed values"
            pair.append(halves[0][0][one[place]])
        a, b = pair
        assert a.body is not None
        free = a.body.commutative and (a.body.exact or (a.dtype is not None and a.dtype.kind in "iub"))
        boxes = [half["box"] for half in (one, other)]
        in_order = all(box == [sorted(box[0]), None, False, []] for box in boxes)
        over = [
            side.origins[halves[0][1].get(t.key, t.key)].over
            for side, halves, t in ((left, before, a), (right, after, b))
        ]
        if not free and not (in_order and over[0] == over[1]):
            return f"{a.name} takes its terms in one order"
    return ""


_Graph = tuple[list[Tensor], dict[str, str]]  # the values of one factor, and for keys of new ones those of old ones


def _compared(side: AnyRankTensor, outermost: Sequence[bool]) -> list[_Graph]:
    """Return both factors as their certificates are about them: some with their functions *outermost*."""
    found: list[_Graph] = []
    for half, is_pulled in zip(_halves(side), outermost, strict=True):
        (t,), old = pulled([half]) if is_pulled else ([half], {})
        found.append((t.graph(), old))
    return found


def _is_elementwise(half: _Graph) -> bool:
    return all(v.rank == node.batch for node in half[0] if node.body is not None for v in node.inputs)


def _halves(t: AnyRankTensor) -> tuple[Tensor, Tensor]:
    return t.plain, t.each
