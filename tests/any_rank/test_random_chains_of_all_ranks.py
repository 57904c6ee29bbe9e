"""No random claim about tensors of any rank has a wrong verdict: each is computed at ranks 0 to 3."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.any_rank.grouped_tensor import AnyRankTensor
from tests.any_rank.any_rank_claims import (
    PROVED,
    RANKS,
    REFUTED,
    b,
    both_at,
    maximum,
    p,
    prove,
    q,
    rearrange,
    same,
    total,
    x,
)

# ---------------------------------------------------------------------- the product, beside the ranks


def product_of(t: AnyRankTensor, count: int, plain: dict[str, int], axes: list[dict[str, int]]) -> Any:
    """Return *t* for numbers, computed as a product of maps: the number of an element from 1 on, or 0 for the fill."""
    parts = []
    for half, values in ((t.plain, plain), *((t.each, values) for values in axes)):
        leaf = half.leaves()[0]
        shape = [int(n) for n in leaf.bind({k: v for k, v in values.items() if k in leaf.facts.dims}).shape]
        bound = half.bind({k: v for k, v in values.items() if k in half.facts.dims})
        parts.append((sl.interpret(bound, np.arange(1, 1 + int(np.prod(shape))).reshape(shape)), shape))
    widths = [[parts[0][0].shape, *(part.shape for part, _ in parts[1:])]]
    place = [0] * (count + 1)
    digits: list[list[tuple[int, int, int]]] = []  # of each axis: the map, its axis, and the extent
    for slot in t.slots:
        own: list[tuple[int, int, int]] = []
        for is_each in slot.each:
            for m in range(1, count + 1) if is_each else (0,):
                own.append((m, place[m], widths[0][m][place[m]]))
                place[m] += 1
        digits += [own] if slot.joined else [[one] for one in own]
    found = np.zeros([int(np.prod([n for _, _, n in own])) for own in digits], int)
    inputs = input_places(t, count)
    for o in np.ndindex(*found.shape):
        at: list[dict[int, int]] = [{} for _ in parts]
        for c, own in zip(o, digits, strict=True):
            for (m, axis, _), d in zip(own, np.unravel_index(c, [n for _, _, n in own] or [1]), strict=False):
                at[m][axis] = int(d)
        reads = [part[tuple(c[k] for k in sorted(c))] for c, (part, _) in zip(at, parts, strict=True)]
        if all(reads):
            coords = [np.unravel_index(r - 1, shape) for r, (_, shape) in zip(reads, parts, strict=True)]
            extents = [[parts[m][1][k] for m, k in own] for own in inputs]
            flat = [
                int(np.ravel_multi_index([int(coords[m][k]) for m, k in own], e)) if own else 0
                for own, e in zip(inputs, extents, strict=True)
            ]
            found[o] = 1 + int(np.ravel_multi_index(flat, [int(np.prod(e)) for e in extents])) if flat else 1
    return found


def input_places(t: AnyRankTensor, count: int) -> list[list[tuple[int, int]]]:
    """Return the digits of each axis of the input: the number of a map, and its axis."""
    place = [0] * (count + 1)
    found: list[list[tuple[int, int]]] = []
    for slot in t.origins["x"].slots:
        own = []
        for is_each in slot.each:
            for m in range(1, count + 1) if is_each else (0,):
                own.append((m, place[m]))
                place[m] += 1
        found += [own] if slot.joined else [[one] for one in own]
    return found


def step(t: Any, rnd: random.Random) -> Any:
    """Return *t* after a random operation that has a meaning for all ranks."""
    k = rnd.randrange(len(t.slots))
    kind = rnd.randrange(14)
    slot = t.slots[k]
    if kind == 0:
        return sl.pad(t, {k: rnd.choice([(1, 0), (p, 1) if slot.is_group else (2, 1), (-1, 2)])})
    if kind == 1:
        return sl.flip(t, k)
    if kind == 2:
        return sl.roll(t, rnd.choice([1, q if slot.is_group else 2]), k)
    if kind == 3:
        return t[(slice(None),) * k + (rnd.choice([slice(1, None), slice(None, -1), slice(None, None, 2)]),)]
    if kind == 4:
        return sl.transpose(t, rnd.sample(range(len(t.slots)), len(t.slots)))
    if kind == 5:
        return sl.space_to_batch(t, rnd.choice([2, b]), rnd.choice([(0, 0), (1, 0), (p, q)]))
    if kind == 6:
        return sl.batch_to_space(t, rnd.choice([2, b]), rnd.choice([(0, 0), (1, 0)]))
    if kind == 9:
        return sl.tile(t, [2 if j == k else 1 for j in range(len(t.slots))])
    if kind == 10:
        return sl.repeat(t, rnd.choice([2, b if slot.is_group else 3]), axis=k)
    if kind == 11:
        return sl.resize_nearest(t, scale=[2], axes=[k], mode=rnd.choice(["asymmetric", "half_pixel"]))
    if kind == 12:
        return sl.concatenate([t, t[(slice(None),) * k + (slice(1, None),)]], k)
    if kind == 13:
        return sl.expand_dims(t, k)
    names = itertools.count()
    sides: list[list[str]] = [[], []]
    for slot in t.slots:
        digits = [f"{'*' * e}a{next(names)}" for e in slot.each]
        sides[0].append(f"({' '.join(digits)})" if slot.joined else digits[0])
        sides[1] += digits
    if kind == 7 and len(sides[1]) > 1:
        sides[1][:2] = [f"({' '.join(sides[1][:2])})"]
    elif not t.slots[k].joined:
        name = sides[0][k].removeprefix("*")
        star = "*" * t.slots[k].each[0]
        sides[0][k] = f"{star}({name} z)"
        sides[1][sides[1].index(star + name) :][:1] = []
        return rearrange(t, f"{' '.join(sides[0])} -> {' '.join(sides[1])} {star}z", z=2)
    return rearrange(t, f"{' '.join(sides[0])} -> {' '.join(sides[1])}")


def chain(rnd: random.Random, most: int) -> Any:
    t = x(rnd.choice(["N, *S, C", "*S, N", "(*b N), *S", "*S"]))
    return lengthened(t, rnd, most)


def lengthened(t: Any, rnd: random.Random, most: int) -> Any:
    for _ in range(rnd.randint(1, most)):
        try:
            t = step(t, rnd)
        except (sl.ShapeError, sl.InconclusiveError):
            continue
    return t


def longer(t: Any, rnd: random.Random) -> Any:
    """Return a tensor that is equal to *t*, after operations that undo each other."""
    k = rnd.randrange(len(t.slots))
    if t.slots[k].joined:
        backwards = [*range(len(t.slots))][::-1]
        return sl.transpose(sl.transpose(t, backwards), backwards)
    kind = rnd.randrange(4)
    if kind == 0:
        return sl.flip(sl.flip(t, k), k)
    if kind == 1:
        return sl.roll(sl.roll(t, 2, k), -2, k)
    if kind == 2:
        return sl.pad(sl.pad(t, {k: (2, 1)}), {k: (-2, -1)})
    names = [f"{'*' * slot.each[0]}a{j}" for j, slot in enumerate(t.slots)]
    if any(slot.joined for slot in t.slots) or not any(slot.each[0] for slot in t.slots):
        return t
    order = sorted(rnd.sample(names, len(names)), key=lambda name: name[0] != "*")
    joined = rearrange(t, f"{' '.join(names)} -> ({' '.join(order)})")
    # names outside of the group that follow each other are one digit: the pattern does not say where it is split
    sizes = dict(zip([name for name in names if name[0] != "*"], t.plain.shape, strict=True))
    return rearrange(joined, f"({' '.join(order)}) -> {' '.join(names)}", **sizes)


def numbers(t: Any, count: int, rnd: random.Random) -> tuple[dict[str, int], list[dict[str, int]], dict[str, int]]:
    """Return random values of the dims: those outside of the group, those of each axis, and all of them by name."""
    plain = {name: rnd.randint(1, 3) for name in t.plain.facts.dims}
    axes = [{name: rnd.randint(1, 4) for name in t.each.facts.dims} for _ in range(count)]
    return plain, axes, plain | {f"{name}_{k}": v for k, own in enumerate(axes, 1) for name, v in own.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_a_chain_is_the_product_that_it_is_proved_by(seed: int) -> None:
    rnd = random.Random(seed)
    t = chain(rnd, 4)
    for count, _ in itertools.product(RANKS, range(12)):
        plain, axes, values = numbers(t, count, rnd)
        try:
            expected = both_at(t, t, count, values)[0]
        except sl.SymlayoutError:
            continue
        if expected.size <= 2000:
            assert np.array_equal(product_of(t, count, plain, axes), expected), (t, values)


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(60))
def test_no_random_claim_has_a_wrong_verdict(seed: int) -> None:
    rnd = random.Random(seed)
    start = chain(rnd, 2)
    left = lengthened(start, rnd, 2)
    right = longer(left, rnd) if seed % 2 else lengthened(start, rnd, 2)
    try:
        proof = prove(left, right)
    except (sl.ShapeError, sl.InconclusiveError):
        return
    if proof.verdict is REFUTED:
        assert seed % 2 == 0
        assert not same(*both_at(left, right, proof.count, {s.name: n for s, n in proof.witness.dims.items()}))
    elif proof.verdict is PROVED:
        assert sl.check(proof.certificate)
        for count, _ in itertools.product(RANKS, range(8)):
            values = numbers(left, count, rnd)[2] | numbers(right, count, rnd)[2]
            try:
                arrays = both_at(left, right, count, values)
            except sl.SymlayoutError:
                continue
            assert same(*arrays), (left, right, values)


def computed(t: Any, rnd: random.Random) -> Any:
    """Return *t* after a function, of itself and of itself moved, or after a reduction."""
    kind = rnd.randrange(5)
    j = rnd.randrange(len(t.slots))
    if kind == 0 and len(t.slots) > 1:
        return (maximum, total)[rnd.randrange(2)](t, j)
    if kind == 1:
        return sl.onnx.relu(t)
    moved = sl.flip(t, j) if not t.slots[j].joined else t
    return (sl.onnx.add, sl.onnx.sub, sl.onnx.max)[kind - 2](*rnd.sample([t, moved], 2))


def around(t: Any, rnd: random.Random) -> Any:
    """Return what is computed of *t* between two flips: flips of the same axes, or not."""
    axes = [[j for j, slot in enumerate(t.slots) if not slot.joined and rnd.randrange(2)] for _ in range(2)]
    if rnd.randrange(3):
        axes[1] = axes[0]
    made = computed(sl.flip(t, axes[0]), rnd)
    return sl.flip(made, axes[1]) if len(made.slots) == len(t.slots) else made


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_no_claim_about_computed_values_has_a_wrong_verdict(seed: int) -> None:
    rnd = random.Random(seed)
    start = chain(rnd, 1)
    other = rnd.getrandbits(32)
    seeds = other, other + rnd.randrange(2)
    try:
        left, right = (around(around(start, random.Random(k)), random.Random(seed)) for k in seeds)
        proof = prove(left, right)
    except (sl.ShapeError, sl.InconclusiveError):
        return
    if proof.verdict is PROVED:
        assert sl.check(proof.certificate)
        for count, _ in itertools.product(RANKS, range(6)):
            values = numbers(left, count, rnd)[2] | numbers(right, count, rnd)[2]
            try:
                arrays = both_at(left, right, count, values)
            except sl.SymlayoutError:
                continue
            assert same(*arrays), (left, right, values)
