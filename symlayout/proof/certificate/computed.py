"""The certificate that computed values are equal: a certificate of movement for each view of each pair of them.

Two computed values are one if their function is one and each view of the first is that view of the second.  Views are
movement, from inputs and from other computed values.  In the claims each computed value after stands as an input of
its own, ``value k`` for pair number k, and the value before that equals it stands as that input with its axes permuted.
Where both sides of a view's claim are then the same operations of the same inputs, None stands for its certificate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise, permutations
from json import dumps
from types import MappingProxyType
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.errors import InconclusiveError, SymlayoutError
from symlayout.ops.flip import flip
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.proof.added_zeros import without_added_zeros
from symlayout.proof.bijections import Bijection
from symlayout.proof.certificate.checker import refusal
from symlayout.proof.certificate.checker.all_ranks import check_product, check_shapes, seal_of
from symlayout.proof.certificate.checker.elements import refusal_of_elements
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import size
from symlayout.proof.certificate.claim import Claim, constant_name
from symlayout.proof.certificate.write import certify
from symlayout.proof.compare_forms import SIGNED_ZERO
from symlayout.proof.congruence import Congruence, Pair, Way, any_order, matching, may_turn
from symlayout.proof.folds import merged
from symlayout.proof.pull_functions import moved, pulled
from symlayout.tensors.chain import Tensor

_MOST_AXES = 5  # of a constant whose permutations are tried


def certify_computed(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    facts: Facts,
    known: Congruence,
    laws: Sequence[str] = (),
    *,
    rewritten: Mapping[str, bool] = MappingProxyType({}),
    brief: bool = True,
) -> dict[str, Any]:
    """Return the certificate that each tensor of *left* equals that of *right* of the same name.

    *rewritten* says what they are of the tensors of the claim, in this order: ``"without_added_zeros"``, what that
    function makes of them, ``"merged"`` or ``"merged_turned"``, what `symlayout.proof.folds.merged` makes of these, and
    ``"outermost"``, what `with_functions_outermost` makes of these.  Unless *brief*,
    the tensors themselves get a certificate of movement even where both sides are one expression, and views where only
    the inputs that are read are the same.

    Raises
    ------
    InconclusiveError
        The proof compared more than pairs of whole values, or a claim of movement has no certificate.
    """
    if known.direct:
        raise InconclusiveError("the proof has a certificate: it compares values at some coordinates only")
    places = [{id(node): k for k, node in enumerate(_nodes(side.values()))} for side in (left, right)]
    claims = _Claims(facts)
    pairs: list[dict[str, Any]] = []
    for (_, _, order), why in known.known.items():
        if why is None or id(why.a) not in places[0] or id(why.b) not in places[1] or claims.join(why):
            continue
        views = [_shown(sides, brief=brief) for sides in claims.views(why, order)]
        claims.add(len(pairs), why, order)
        groups = None if why.way.groups is None else [list(group) for group in why.way.groups]
        pairs.append(
            {
                "before": places[0][id(why.a)],
                "after": places[1][id(why.b)],
                "function": _function(why.a),
                "order": list(order),
                "swapped": why.swapped,
                "box": [list(why.way.order), groups, why.way.back, list(why.way.reversed)],
                "law": why.way.law,
                "views": views,
            }
        )
        if why.way.places is not None:
            shown = [_shown(claims.movement(*sides), brief=brief) for sides in why.way.places.claims()]
            pairs[-1]["bijection"] = {"number": why.way.number, "is_one": shown}
    show = _shown if brief else _shown_in_full
    outputs = {name: show(claims.movement(t, right[name])) for name, t in left.items()}
    zeros = [SIGNED_ZERO] if rewritten.get("without_added_zeros") else []
    return sealed({"pairs": pairs, "outputs": outputs, "laws": sorted({*_laws(pairs), *laws, *zeros}), **rewritten})


def sealed(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate with the seal of what it says."""
    body = {key: value for key, value in certificate.items() if key != "seal"}
    return {**body, "seal": _seal(body)}


def with_functions_outermost(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors with their functions pulled out of movement (`symlayout.proof.pull_functions`)."""
    return {name: pulled([t])[0][0] for name, t in tensors.items()}


def _with_folds_merged(
    left: Mapping[str, Tensor], right: Mapping[str, Tensor], laws: Sequence[str], *, turned: bool
) -> tuple[dict[str, Tensor], dict[str, Tensor], set[str]]:
    """Return the tensors of both sides with their folds merged, as *laws* allow, and the laws that this needs."""
    made = {name: merged((t, right[name]), frozenset(laws), turned=turned, decides=False) for name, t in left.items()}
    sides = [{name: m.sides[side] for name, m in made.items()} for side in (0, 1)]
    return sides[0], sides[1], {law for m in made.values() for law in m.laws}


def _laws(pairs: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted({pair["law"] for pair in pairs} - {""})


def refusal_of_computed(certificate: Any, left: Mapping[str, Tensor], right: Mapping[str, Tensor], facts: Facts) -> str:
    """Return why *certificate* does not prove that the tensors are equal; an empty text if it does.

    The claims are made again from the models, and compared with those of the certificate.  The proofs are checked by
    the checker, which imports nothing of the project.
    """
    try:
        if certificate["seal"] != _seal({k: v for k, v in certificate.items() if k != "seal"}):
            return "the seal does not match: the certificate was altered"
        bare = certificate.get("without_added_zeros", False)
        if bare:
            left, right = without_added_zeros(left), without_added_zeros(right)
        used: set[str] = set()
        turned = certificate.get("merged_turned", False)
        if turned or certificate.get("merged"):
            left, right, used = _with_folds_merged(left, right, certificate["laws"], turned=turned)
        if certificate.get("outermost"):
            left, right = with_functions_outermost(left), with_functions_outermost(right)
        nodes = _nodes(left.values()), _nodes(right.values())
        claims = _Claims(facts)
        for number, pair in enumerate(certificate["pairs"]):
            a, b = nodes[0][pair["before"]], nodes[1][pair["after"]]
            order, way = tuple(pair["order"]), _way(pair["box"], pair["law"])
            if "bijection" in pair:
                way = _with_places(
                    way, list(matching(a, b, order, pair["swapped"], facts)), pair["bijection"]["number"]
                )
            why = Pair(a, b, way, pair["swapped"])
            if reason := _is_no_pair(why, order, certificate["laws"], facts):
                return f"pair {number}: {reason}"
            if list(pair["function"]) != list(_function(a)):
                return f"pair {number}: the function is another one"
            for sides, shown in zip(claims.views(why, order), pair["views"], strict=True):
                if reason := _other(sides, shown):
                    return f"pair {number}: {reason}"
            if way.places is not None:
                for two, shown in zip(way.places.claims(), pair["bijection"]["is_one"], strict=True):
                    if reason := _other(claims.movement(*two), shown):
                        return f"pair {number}: {reason}"
            claims.add(number, why, order)
        if certificate["laws"] != sorted({*_laws(certificate["pairs"]), *used, *([SIGNED_ZERO] if bare else [])}):
            return "the laws are not those that the pairs need"
        if certificate["outputs"].keys() != left.keys():
            return "the outputs are not those of the models"
        for name, t in left.items():
            if reason := _other(claims.movement(t, right[name]), certificate["outputs"][name]):
                return f"output {name}: {reason}"
    except SymlayoutError as error:
        return str(error).splitlines()[0]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError) as error:
        return f"the certificate has another form: {type(error).__name__}"
    return ""


def refusal_alone(certificate: Any) -> str:
    """Return why the claims of *certificate* are not all proved; an empty text if they are.

    Whether they are claims about two given chains or models, and whether both sides of a view without a proof are one
    expression, only `refusal_of_computed` tells.
    """
    try:
        if certificate["seal"] != _seal({k: v for k, v in certificate.items() if k != "seal"}):
            return "the seal does not match: the certificate was altered"
        claims = [view for pair in certificate["pairs"] for view in pair["views"]]
        claims += [view for pair in certificate["pairs"] for view in pair.get("bijection", {}).get("is_one", ())]
        for shown in (*claims, *certificate["outputs"].values()):
            if shown is not None and (reason := refusal(shown)):
                return reason
        for part in certificate.get("data", []):
            if reason := refusal_alone(part["operands"]):
                return reason
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"the certificate has another form: {type(error).__name__}"
    return ""


def refusal_of_computed_ranks(certificate: Any) -> str:
    """Return why a certificate for all ranks, about computed values, is no proof of its claims; empty text if it is.

    It has a certificate for the axes outside of the group and one for an arbitrary axis of it.  Pair by pair, both are
    about one function, and view by view about one product of maps.
    """
    try:
        size(certificate)
        if certificate["seal"] != seal_of(certificate):
            return "the seal does not match: the certificate was altered"
        halves = certificate["plain"], certificate["each"]
        inputs = check_shapes(certificate["any_rank"])
        for place, half in zip(("plain", "each"), halves, strict=True):
            if half["laws"]:
                return f"{place}: laws hold for the axes of one tensor, not for all ranks"
            if reason := refusal_alone(half):
                return f"{place}: {reason}"
        for number, (one, other) in enumerate(zip(*(half["pairs"] for half in halves), strict=True)):
            if [one[key] for key in ("function", "swapped", "law")] != [
                other[key] for key in ("function", "swapped", "law")
            ]:
                return f"pair {number}: it is about one value outside of the group, and about another one in it"
            for views in zip(one["views"], other["views"], strict=True):
                if None not in views:
                    check_product([view["claim"] for view in views], inputs)
        check_product([half["outputs"][""]["claim"] for half in halves], inputs, certificate["any_rank"]["sides"])
    except Refused as error:
        return str(error)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"the certificate has another form: {type(error).__name__}"
    return ""


class _Claims:
    """The claims of movement that make up a claim about computed values."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._stand_ins: dict[int, Tensor] = {}  # for values of either side
        self._kept: list[Tensor] = []  # whose ids are in use

    def has(self, t: Tensor) -> bool:
        """Return whether something stands for *t* already."""
        return id(t) in self._stand_ins

    def join(self, why: Pair) -> bool:
        """Return whether one thing stands for both values already."""
        found = [{leaf.key for leaf in self._stand_ins[id(t)].leaves()} for t in (why.a, why.b) if self.has(t)]
        return len(found) == 2 and found[0] == found[1]

    def add(self, number: int, why: Pair, order: tuple[int, ...]) -> None:
        """Let pair *number* stand for both of its values in the claims that follow.

        A value may be in several pairs, where one model computes twice what the other one computes once.
        """
        a, b, back = why.a, why.b, why.way.back
        boxes = why.way if a.rank > a.batch else Way(())  # the box of a reduction is not in its value
        if self.has(a) and not self.has(b):
            moved = (_split_box if back else _joined_box)(self._stand_ins[id(a)], b, a.batch, boxes)
            self._stand(b, _permuted(moved, (*order, *range(a.batch, b.rank))))
            return
        if not self.has(b):
            self._stand(b, _opaque(b, f"value {number}"))
        moved = (_joined_box if back else _split_box)(self._stand_ins[id(b)], a, a.batch, boxes)
        stand_in = _permuted(moved, (*_inverse(order), *range(a.batch, a.rank)))
        if not self.has(a):
            self._stand(a, stand_in)
        elif (other := self._stand_ins[id(a)]).declared is None and not self.join(why):
            # the values of two pairs before are one
            for key, t in self._stand_ins.items():
                self._stand_ins[key] = t.replace({other.key: stand_in})

    def views(self, why: Pair, order: tuple[int, ...]) -> Iterable[tuple[Tensor, Tensor, Facts, Any]]:
        """Yield the claims that each view of the one value is that view of the other."""
        a, b = why.a, why.b
        for v, w in zip(a.inputs[::-1] if why.swapped else a.inputs, b.inputs, strict=True):
            turned = _permuted(w, (*_inverse(order), *range(a.batch, w.rank)))
            if why.way.back:
                yield self.movement(_split_box(v, turned, a.batch, why.way), turned)
            else:
                yield self.movement(v, _split_box(turned, v, a.batch, why.way))

    def movement(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor, Facts, Any]:
        """Return the claim that two movements are equal: both sides, facts and element type."""
        constants = [x for x in left.leaves() if x.values is not None]
        for b in right.leaves():
            if b.values is not None:
                self._add_constant(b, constants)
        sides = [self._substituted(t) for t in (left, right)]
        facts = self._facts.fork()
        for side in sides:
            facts.merge(side.facts)
        if len(facts.requirements) > len(self._facts.requirements):
            raise InconclusiveError("the proof has a certificate: a claim demands more than the models do")
        return sides[0], sides[1], facts, left.dtype if left.dtype is not None else right.dtype

    def _substituted(self, t: Tensor) -> Tensor:
        found = {}
        for x in t.leaves():
            if x.body is not None or x.values is not None:
                if not self.has(x):  # on one side only, or the same value on both
                    self._stand(x, _opaque(x, f"alone {len(self._kept)}") if x.values is None else _named(x))
                found[x.key] = self._stand_ins[id(x)]
        return t.replace(found) if found else t

    def _stand(self, x: Tensor, stand_in: Tensor) -> None:
        self._stand_ins[id(x)] = stand_in
        self._kept.append(x)

    def _add_constant(self, b: Tensor, constants: list[Tensor]) -> None:
        """Let a constant before that is *b* with its axes permuted stand for it."""
        if not self.has(b):
            self._stand(b, _named(b))
        for a in constants:
            if not self.has(a) and (order := _permutation(a, b)) is not None:
                self._stand(a, _permuted(self._stand_ins[id(b)], order))


def _opaque(t: Tensor, key: str) -> Tensor:
    """Return an input of a claim that stands for *t*."""
    return Tensor(t.name, t.dtype, t.extents, t.facts, key=key)


def _named(constant: Tensor) -> Tensor:
    """Return an input of a claim that stands for a constant; others of its bits have its key."""
    assert constant.values is not None
    key = constant_name(constant.values)
    return Tensor(constant.name, constant.dtype, constant.extents, constant.facts, key=key, values=constant.values)


def _split_box(joined: Tensor, like: Tensor, batch: int, way: Way) -> Tensor:
    """Return the view *joined* over the box of the view *like*, whose axes it joins, and some of them reversed."""
    if way.places is not None:
        return way.places.applied(joined, batch)
    if way.groups is not None:
        split = reshape(joined, (*joined.shape[:batch], *(like.shape[batch + k] for k in way.order)))
        joined = _permuted(split, (*range(batch), *(batch + k for k in _inverse(way.order))))
    return flip(joined, [batch + k for k in way.reversed]) if way.reversed else joined


def _joined_box(split: Tensor, like: Tensor, batch: int, way: Way) -> Tensor:
    """Return the value *split* over the box of the value *like*: what `_split_box` undoes."""
    if way.places is not None:
        return _undone(way.places, split, batch)
    split = flip(split, [batch + k for k in way.reversed]) if way.reversed else split
    if way.groups is None:
        return split
    moved = _permuted(split, (*range(batch), *(batch + k for k in way.order)))
    return reshape(moved, (*split.shape[:batch], *like.shape[batch:]))


def _undone(places: Bijection, t: Tensor, batch: int) -> Tensor:
    """Return *t*, whose axes after the batch are the first box, over the second box."""
    assert places.inverse is not None
    (leaf,) = places.inverse.leaves()
    last = _permuted(t, (*range(batch, t.rank), *range(batch)))
    found = moved(places.inverse, {leaf.key: last}, leaf.rank)
    return _permuted(found, (*range(found.rank - batch, found.rank), *range(found.rank - batch)))


def _with_places(way: Way, found: Iterable[Way], number: int) -> Way:
    """Return *way* with the bijection of this number among those that are found."""
    (same,) = (other for other in found if other.number == number)
    return replace(way, places=same.places, number=number)


def _permuted(t: Tensor, order: Sequence[int]) -> Tensor:
    """Return *t* with its axes in this order: *t* itself where the order is theirs."""
    return t if list(order) == list(range(t.rank)) else transpose(t, order)


def _inverse(order: Sequence[int]) -> list[int]:
    return [list(order).index(k) for k in range(len(order))]


def _permutation(a: Tensor, b: Tensor) -> tuple[int, ...] | None:
    """Return the permutation that makes the constant *a* of the constant *b*, bit for bit; None if there is none."""
    if a.values is None or b.values is None or a.dtype != b.dtype or a.rank != b.rank or a.rank > _MOST_AXES:
        return None
    for order in permutations(range(a.rank)):
        turned = b.values.transpose(order)
        if turned.shape == a.values.shape and turned.tobytes() == a.values.tobytes():
            return order
    return None


def _function(t: Tensor) -> list[str]:
    return [] if t.body is None else [t.body.name, repr(t.body.attributes)]


def _way(box: Any, law: str) -> Way:
    order, groups, back, backwards = box
    joined = None if groups is None else tuple((first, last) for first, last in groups)
    return Way(tuple(order), joined, law, back, tuple(backwards))


def _is_no_pair(why: Pair, order: tuple[int, ...], laws: Sequence[str], facts: Facts) -> str:
    """Return why two values are no pair that views can decide; an empty text if they are."""
    a, b, way = why.a, why.b, why.way
    if a.body is None or b.body is None or a.body != b.body or a.dtype != b.dtype:
        return "the functions differ"
    if a.body.random and a is not b:
        return "the function is random"
    turns = may_turn(a, b, facts)
    if a.batch != b.batch or (a.rank != b.rank and not turns) or len(a.inputs) != len(b.inputs):
        return "the functions are applied to other boxes"
    if sorted(order) != list(range(a.batch)):
        return "the order is no permutation"
    if why.swapped and not (a.body.symmetric and len(a.inputs) == 2):
        return "the operands do not change places"
    if way.keeps:
        return ""
    one = b if way.back else a
    axes = list(range(one.inputs[0].rank - one.batch))
    if not turns or sorted(way.order) != axes or not set(way.reversed) <= set(axes):
        return "the terms are in an order of their own"
    ends = [0, *(last for _, last in way.groups or ())]
    if way.groups is not None and [list(group) for group in way.groups] != [list(pair) for pair in pairwise(ends)]:
        return "the groups of axes do not follow each other"
    if way.places is not None and (way.places.inverse is None or way.places.back != way.back):
        return "the boxes do not correspond one to one"
    moves = list(way.order) != axes or way.reversed or way.places is not None
    if not any_order(a) and moves and (way.law, "reassociate" in laws) != ("reassociate", True):
        return "the order of a float sum is another, and no law allows it"
    return ""


def _shown(sides: tuple[Tensor, Tensor, Facts, Any], *, brief: bool = True) -> dict[str, Any] | None:
    """Return the certificate of a claim, or None where both sides are one expression (see `_is_one_expression`)."""
    return None if _is_one_expression(Claim(*sides).data, unread=not brief) else certify(*sides)


def _shown_in_full(sides: tuple[Tensor, Tensor, Facts, Any]) -> dict[str, Any] | None:
    """Return the certificate of a claim; None where there is none, and both sides are one expression."""
    try:
        return certify(*sides)
    except InconclusiveError:
        if _is_one_expression(Claim(*sides).data):
            return None
        raise


def _is_one_expression(claim: Mapping[str, Any], *, unread: bool = False) -> bool:
    """Return whether both sides of a claim are the same operations of the same inputs, node by node.

    Then both sides are one function of the inputs, whatever the operations mean.  Inputs that no case reads, such as
    those that only give an extent, count if *unread*.
    """
    numbers: dict[str, int] = {}
    made: list[int] = []  # the number of each node; nodes of the same form have the same number
    for node in claim["nodes"]:
        same = node
        if "op" in node:
            read = {case["source"] for case in node["cases"]}
            same = {
                **node,
                "inputs": [made[k] if unread or place in read else None for place, k in enumerate(node["inputs"])],
            }
        made.append(numbers.setdefault(dumps(same, sort_keys=True), len(numbers)))
    left, right = (made[int(claim[side])] for side in ("left", "right"))
    return left == right


def _other(sides: tuple[Tensor, Tensor, Facts, Any], shown: Any) -> str:
    """Return why *shown* is no proof of this claim; an empty text if it is."""
    if len({side.dtype for side in sides[:2]} - {None}) > 1:
        return "the element types differ"
    claim = Claim(*sides).data
    if shown is None:
        return "" if _is_one_expression(claim) else "the sides are two expressions, and no proof is given"
    stated = {key: part for key, part in shown["claim"].items() if key != "elements"}
    if dumps(claim, sort_keys=True) != dumps(stated, sort_keys=True):
        return "the claim is another"
    constants = {x.key: x.values for side in sides[:2] for x in side.leaves() if x.values is not None}
    return refusal(shown) or refusal_of_elements(shown["claim"], constants)


def _nodes(outputs: Iterable[Tensor]) -> list[Tensor]:
    return list({id(node): node for t in outputs for node in t.graph()}.values())


def _seal(body: Any) -> str:
    """Return the digest of a certificate.  It reveals only accidental changes: anybody can make it."""
    return sha256(dumps(body, separators=(",", ":"), sort_keys=True).encode()).hexdigest()
