"""Operations that compute on tensors of any rank: elementwise operations and reductions.

Both factors of the map are computed by the same function.  A proof about computed values compares each value of one
side with one value of the other, in both factors alike (`symlayout.any_rank.prove_all_ranks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.any_rank.grouped_tensor import KIND, RULES, AnyRankTensor, Origin, Slot
from symlayout.compute.elementwise import elementwise
from symlayout.compute.reductions import reduced
from symlayout.errors import ShapeError
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body


def _elementwise(xs: Sequence[Any], body: Body, dtype: Any = None) -> AnyRankTensor:
    largest = max((x for x in xs if isinstance(x, AnyRankTensor)), key=lambda x: x.rank)
    operands = [x if isinstance(x, AnyRankTensor) else _lifted(x, largest, body.name) for x in xs]
    for x in operands:
        if x.rank > largest.rank or x.slots != largest.slots[largest.rank - x.rank :]:
            raise ShapeError(
                f"{body.name}: the entries of {x} are not the last ones of {largest}\n"
                "  help: transpose it, or add axes with expand_dims",
                KIND,
            )
        if any(slot.joined for slot in x.slots) and not _same_extents(x, largest):
            raise ShapeError(f"{body.name}: {x} and {largest} have joined axes with digits that may differ", KIND)
    plain = elementwise(body, *(x.plain for x in operands), dtype=dtype)
    origins = {key: origin for x in operands for key, origin in x.origins.items()}
    return AnyRankTensor(
        plain,
        elementwise(body, *(x.each for x in operands), dtype=dtype),
        largest.slots,
        lambda count: elementwise(body, *(x.at(count) for x in operands), dtype=dtype),
        {**origins, plain.key: Origin()},
    )


def _same_extents(x: AnyRankTensor, y: AnyRankTensor) -> bool:
    """Return whether both tensors are known to have the same digits."""
    for a, b in ((x.plain, y.plain), (x.each, y.each)):
        facts = a.facts.fork()
        facts.merge(b.facts)
        if a.rank != b.rank or any(facts.reduce(e - n) != 0 for e, n in zip(a.extents, b.extents, strict=True)):
            return False
    return True


def _lifted(t: Tensor, largest: AnyRankTensor, name: str) -> AnyRankTensor:
    """Return a tensor that has no axis of the group as one of any rank, to compute with *largest*."""
    slots = largest.slots[largest.rank - t.rank :] if t.rank <= largest.rank else ()
    leaves = t.leaves()
    if len(slots) != t.rank or not all(slot.is_plain for slot in slots) or len(leaves) != 1 or (t.rank and t.computes):
        raise ShapeError(
            f"{name}: {t!r} is no operand beside {largest}\n"
            "  help: give a scalar, an input along the last axes outside of the group, or a tensor of any rank",
            KIND,
        )
    (leaf,) = leaves
    each = t if t.rank == 0 else Tensor(leaf.name, leaf.dtype, (), Facts(), key=leaf.key)
    slots = tuple(Slot((False,)) for _ in leaf.extents)
    shape = tuple(map(str, leaf.shape))
    return AnyRankTensor(
        t, each, largest.slots[largest.rank - t.rank :], lambda _: t, {leaf.key: Origin(slots, shape, leaf.dtype)}
    )


def _reduced(
    x: AnyRankTensor, axes: Sequence[int], function: Callable[..., Any], *, keepdims: bool, **given: Any
) -> AnyRankTensor:
    gone = sorted(axes)
    if keepdims and any(x.slots[k].joined for k in gone):
        raise ShapeError(
            f"{function.__name__} does not keep an axis whose digits are axes of the group, as one of {x} has\n"
            "  help: write keepdims=0",
            KIND,
        )

    def half(t: Tensor, star: bool) -> Tensor:
        first = [sum(slot.each.count(star) for slot in x.slots[:k]) for k in gone]
        own = [m + j for k, m in zip(gone, first, strict=True) for j in range(x.slots[k].each.count(star))]
        return reduced(t, own, function, keepdims=keepdims, **given)

    def at(count: int) -> Tensor:
        own = [x.place(k, count) + j for k in gone for j in range(count if x.slots[k].is_group else 1)]
        return reduced(x.at(count), own, function, keepdims=keepdims, **given)

    plain = half(x.plain, False)
    over = tuple(is_each for k in gone for is_each in x.slots[k].each)
    slots = x.slots if keepdims else [slot for k, slot in enumerate(x.slots) if k not in gone]
    origins = {**x.origins, plain.leaves()[0].key: Origin(over=over)}
    return AnyRankTensor(plain, half(x.each, True), slots, at, origins)


RULES.update({"_elementwise": _elementwise, "_reduced": _reduced})
