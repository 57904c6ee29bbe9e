"""The claims of movement that make up a claim about computed values.

Two computed values are one if their function is one and each view of the first is that view of the second.  Views are
movement, from inputs and from other computed values.  In the claims each computed value after stands as an input of
its own, ``value k`` for pair number k, and the value before that equals it stands as that input with its axes permuted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, permutations
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.errors import InconclusiveError
from symlayout.ops.flip import flip
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.proof.bijections import Bijection
from symlayout.proof.certificate.checker.elements import refusal_of_rounded
from symlayout.proof.certificate.checker.pairs import ROUNDED
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.claim import constant_name
from symlayout.proof.congruence import Pair, Way, any_order, in_batch_of, may_turn
from symlayout.proof.decide_equal import dtype_of
from symlayout.proof.laws import REASSOCIATE
from symlayout.proof.pull_functions import moved
from symlayout.tensors.chain import Tensor, graph_of

VALUE = "value "  # before the number of a pair: what stands for its values in claims
_MOST_AXES = 5  # of a constant whose permutations are tried


class ComputedClaims:
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
        if why.reshaped:
            self._add_reshaped(number, why)
            return
        boxes = why.way if a.rank > a.batch else Way(())  # the box of a reduction is not in its value
        if self.has(a) and not self.has(b):
            moved = (_split_box if back else _joined_box)(self._stand_ins[id(a)], b, a.batch, boxes)
            self._stand(b, _permuted(moved, (*order, *range(a.batch, b.rank))))
            return
        if not self.has(b):
            self._stand(b, _opaque(b, f"{VALUE}{number}"))
        moved = (_joined_box if back else _split_box)(self._stand_ins[id(b)], a, a.batch, boxes)
        stand_in = _permuted(moved, (*_inverse(order), *range(a.batch, a.rank)))
        if not self.has(a):
            self._stand(a, stand_in)
        elif (other := self._stand_ins[id(a)]).declared is None and not self.join(why):
            # the values of two pairs before are one
            for key, t in self._stand_ins.items():
                self._stand_ins[key] = t.replace({other.key: stand_in})

    def _add_reshaped(self, number: int, why: Pair) -> None:
        """Let pair *number* stand for both of its values, of which one stands for nothing yet."""
        a, b = why.a, why.b
        if self.has(a):
            self._stand(b, in_batch_of(self._stand_ins[id(a)], a.batch, b))
            return
        if not self.has(b):
            self._stand(b, _opaque(b, f"{VALUE}{number}"))
        self._stand(a, in_batch_of(self._stand_ins[id(b)], b.batch, a))

    def add_rounded(self, a: Tensor, b: Tensor) -> str:
        """Let a constant stand for another one that is rounded in another way; return why not, or an empty text."""
        if a.values is None or b.values is None or self.has(a):
            return "what is rounded is no constant"
        if reason := refusal_of_rounded(a.values, b.values, a.rounding + b.rounding):
            return reason
        if not self.has(b):
            self._stand(b, _named(b))
        self._stand(a, self._stand_ins[id(b)])
        return ""

    def mark(self) -> int:
        """Return a mark of what stands for something now, for `forget`."""
        return len(self._kept)

    def forget(self, mark: int) -> None:
        """Let nothing stand for the values that something stands for only since *mark* was made."""
        for x in self._kept[mark:]:
            del self._stand_ins[id(x)]
        del self._kept[mark:]

    def views(self, why: Pair, order: tuple[int, ...]) -> Iterable[tuple[Tensor, Tensor, Facts, Any]]:
        """Yield the claims that each view of the one value is that view of the other."""
        a, b = why.a, why.b
        for v, w in zip(a.inputs[::-1] if why.swapped else a.inputs, b.inputs, strict=True):
            if why.reshaped:
                yield self.movement(v, in_batch_of(w, b.batch, a))
                continue
            turned = _permuted(w, (*_inverse(order), *range(a.batch, w.rank)))
            if why.way.back:
                yield self.movement(_split_box(v, turned, a.batch, why.way), turned)
            else:
                yield self.movement(v, _split_box(turned, v, a.batch, why.way))

    def views_of_terms(
        self, views: tuple[Sequence[Tensor], Sequence[Tensor]], places: Iterable[Sequence[int]], order: tuple[int, ...]
    ) -> Iterable[tuple[Tensor, Tensor, Facts, Any]]:
        """Yield the claims that views of two formulas are equal, those at each of *places*."""
        for i, k in places:
            yield self.movement(views[0][i], _permuted(views[1][k], _inverse(order)))

    def leaf_keys(self, view: Tensor) -> set[str]:
        """Return the keys of what a view reads in claims."""
        return {
            leaf.key if leaf.values is None else constant_name(leaf.values)
            for x in view.leaves_read()
            for leaf in (self._stand_ins[id(x)].leaves() if self.has(x) else [x])
        }

    def read_by(self, view: Tensor, numbers: Mapping[int, int]) -> list[int | str]:
        """Return what a view reads: of values in pairs their numbers, and the names that claims have for other leaves.

        *numbers* has the number of each value by its ``id``.  The leaves have something that stands for them already.
        """
        found: set[int | str] = set()
        for x in view.leaves_read():
            stand_ins = self._stand_ins[id(x)].leaves() if self.has(x) else [x]
            keys = {leaf.key for leaf in stand_ins}
            if id(x) in numbers and all(key.startswith(VALUE) for key in keys):
                found.add(numbers[id(x)])
            else:  # the number after a dot is one of the process
                found |= {x.name if "." in key else key for key in keys}
        return sorted(found, key=lambda each: (isinstance(each, str), each))

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
        return sides[0], sides[1], facts, dtype_of(left, right)

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


class ClaimText:
    """What a certificate says of both sides: the function of each value in a pair, its batch, and what its views read.

    Attributes
    ----------
    data : pair of dict
        For the side before and the one after ``values``, ``[number, function, rank of the batch, reads of each view]``,
        and ``outputs``, what each output reads, by its name: see `ComputedClaims.read_by`.
    """

    def __init__(self, claims: ComputedClaims, places: Sequence[Mapping[int, int]]) -> None:
        self.claims, self.places = claims, places
        self._values: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        self.data: list[dict[str, Any]] = []

    def add(self, why: Pair) -> None:
        """Add both values of a pair, whose views have claims already."""
        for made, places, t in zip(self._values, self.places, (why.a, why.b), strict=True):
            if places[id(t)] not in made:
                reads = [self.claims.read_by(v, places) for v in t.inputs]
                made[places[id(t)]] = [places[id(t)], function_of(t), t.batch, reads]

    def end(self, left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> None:
        """Add the outputs, which have claims already."""
        for made, places, side in zip(self._values, self.places, (left, right), strict=True):
            outputs = {name: self.claims.read_by(side[name], places) for name in left}
            self.data.append({"values": [made[number] for number in sorted(made)], "outputs": outputs})


def nodes_of(outputs: Iterable[Tensor]) -> list[Tensor]:
    """Return each value that *outputs* are computed from once: a certificate has their places in this list."""
    return graph_of(outputs)


def function_of(t: Tensor) -> list[str]:
    """Return the function of a computed value as a certificate has it: its name, and its attributes as text."""
    return [] if t.body is None else [t.body.name, repr(t.body.attributes)]


def why_no_pair(why: Pair, order: tuple[int, ...], laws: Sequence[str], facts: Facts) -> str:
    """Return why two values are no pair that views can decide; an empty text if they are.

    *order* are the axes of the batch of the second value, by their numbers in the first.
    """
    a, b, way = why.a, why.b, why.way
    if a.body is None or b.body is None or a.body != b.body or a.dtype != b.dtype:
        return "the functions differ"
    if a.body.random and a is not b:
        return "the function is random"
    if why.reshaped:
        return _is_not_reshaped(why, order)
    turns = may_turn(a, b, facts)
    if a.batch != b.batch or (a.rank != b.rank and not turns) or len(a.inputs) != len(b.inputs):
        return "the functions are applied to other boxes"
    if sorted(order) != list(range(a.batch)):
        return "the order is no permutation"
    if why.swapped and not (a.body.symmetric and len(a.inputs) == 2):
        return "the operands do not change places"
    one = b if way.back else a
    axes = list(range(one.inputs[0].rank - one.batch)) if one.inputs else []
    if way.keeps:
        return "" if list(way.order) == axes else "the axes of the box are others"
    if not turns or sorted(way.order) != axes or not set(way.reversed) <= set(axes):
        return "the terms are in an order of their own"
    ends = [0, *(last for _, last in way.groups or ())]
    if way.groups is not None and [list(group) for group in way.groups] != [list(pair) for pair in pairwise(ends)]:
        return "the groups of axes do not follow each other"
    if way.places is not None and (way.places.inverse is None or way.places.back != way.back):
        return "the boxes do not correspond one to one"
    moves = list(way.order) != axes or way.reversed or way.places is not None
    if not any_order(a) and moves and (way.law, REASSOCIATE in laws) != (REASSOCIATE, True):
        return "the order of a float sum is another, and no law allows it"
    return ""


def _is_not_reshaped(why: Pair, order: tuple[int, ...]) -> str:
    """Return why two values of one function are no pair that views of another shape can decide; empty if they are."""
    a, b, way = why.a, why.b, why.way
    box = tuple(range(a.inputs[0].rank - a.batch)) if a.inputs else ()
    if len(a.inputs) != len(b.inputs) or a.rank - a.batch != b.rank - b.batch or not a.inputs:
        return "the functions are applied to other boxes"
    if any(v.rank - a.batch != w.rank - b.batch for v, w in zip(a.inputs, b.inputs, strict=True)):
        return "the functions are applied to other boxes"
    if order != tuple(range(a.batch)) or (way.order, way.keeps, way.back) != (box, True, False):
        return "a batch of another shape has all axes in order"
    swaps = a.body is not None and a.body.symmetric and len(a.inputs) == 2
    return "the operands do not change places" if why.swapped and not swaps else ""


def laws_needed(pairs: Iterable[Mapping[str, Any]], rounded: Sequence[Any]) -> set[str]:
    """Return the laws that the pairs of a certificate need, and its constants that are rounded in two ways."""
    return ({pair["law"] for pair in pairs} - {""}) | ({ROUNDED} if rounded else set())


def is_sealed(certificate: Mapping[str, Any]) -> bool:
    """Return whether the seal of a certificate is that of what it says."""
    return bool(certificate["seal"] == sealed(certificate)["seal"])


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
