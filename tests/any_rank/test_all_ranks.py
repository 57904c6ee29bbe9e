"""Tensors with a group of axes of unknown number, and claims about them, beside what they are at ranks 0 to 3."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.any_rank import compute_groups, move_groups
from symlayout.any_rank.any_rank_input import any_rank_tensor
from symlayout.any_rank.grouped_tensor import RULES, AnyRankTensor
from symlayout.any_rank.prove_all_ranks import AnyRankProof
from symlayout.proof.certificate.checker.all_ranks import refusal_of_all_ranks, seal_of
from symlayout.proof.certificate.computed import _seal as sealed
from symlayout.proof.certificate.computed import refusal_of_computed_ranks

PROVED, REFUTED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.REFUTED, sl.Verdict.UNKNOWN
RANKS = range(4)
b, p, q = sl.dims("b p q")
N, C, k = sl.dims("N C k")


def x(shape: str = "N, *S, C") -> Any:
    return sl.tensor(shape, name="x")


def y(shape: str = "N, *S, C") -> Any:
    return sl.tensor(shape, name="y")


def maximum(t: Any, *axes: int) -> Any:
    return sl.onnx.reduce_max(t, axes=axes, keepdims=0)


def total(t: Any, *axes: int) -> Any:
    return sl.onnx.reduce_sum(t, axes=axes, keepdims=0)


def prove(left: Any, right: Any) -> Any:
    proof: Any = sl.prove_equal(left, right, budget=200)
    assert isinstance(proof, AnyRankProof)
    return proof


rearrange: Any = sl.einops.rearrange

# ---------------------------------------------------------------------- what holds for all ranks

BLOCKS = "N *(s b) C -> (*b N) *s C"
TRUE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "batch_to_space undoes space_to_batch": lambda: (
        sl.batch_to_space(sl.space_to_batch(x(), b, (p, q)), b, (p, q)),
        x(),
    ),
    "space_to_batch undoes batch_to_space": lambda: (
        sl.space_to_batch(sl.batch_to_space(x("(*b N), *S, C"), b, (0, 0)), b, (0, 0)),
        x("(*b N), *S, C"),
    ),
    "space_to_batch is a pad and a rearrangement": lambda: (
        sl.space_to_batch(x(), b, (p, q)),
        rearrange(sl.pad(x(), [(0, 0), (p, q), (0, 0)]), BLOCKS, b=b),
    ),
    "batch_to_space is a rearrangement and a crop": lambda: (
        sl.batch_to_space(x("(*b N), *S, C"), b, (1, 2)),
        rearrange(x("(*b N), *S, C"), "(*b N) *s C -> N *(s b) C")[:, 1:-2],
    ),
    "a flip of all axes is undone": lambda: (sl.flip(sl.flip(x())), x()),
    "a roll is undone": lambda: (sl.roll(sl.roll(x(), p, 1), -p, 1), x()),
    "a crop undoes a pad": lambda: (sl.pad(sl.pad(x(), {1: (p, q)}), {1: (-p, -q)}), x()),
    "edge pads add up": lambda: (
        sl.pad(sl.pad(x("N, *S>=1, C"), {1: (1, p)}, mode="edge"), {1: (1, 0)}, mode="edge"),
        sl.pad(x("N, *S>=1, C"), {1: (2, p)}, mode="edge"),
    ),
    "a transpose commutes with a pad": lambda: (
        sl.transpose(sl.pad(x(), [(1, 0), (p, q), (0, 2)]), (2, 1, 0)),
        sl.pad(sl.transpose(x(), (2, 1, 0)), [(0, 2), (p, q), (1, 0)]),
    ),
    "axes are joined and split again": lambda: (
        rearrange(rearrange(x(), "N *S C -> (C *S N)"), "(C *S N) -> N *S C"),
        x(),
    ),
    "digits of a joined axis are split as the axes are": lambda: (
        rearrange(rearrange(x("N, *S, C"), "n *s c -> (n *s c)"), "(m i *s d j) -> m i *s d j", i=2, j=b),
        rearrange(x("N, *S, C"), "(m i) *s (d j) -> m i *s d j", i=2, j=b),
    ),
    # the rules of TensorRight that move elements, with a group on the axes that they treat alike
    "a transpose of a transpose": lambda: (
        sl.transpose(sl.transpose(x(), (2, 0, 1)), (2, 0, 1)),
        sl.transpose(x(), (1, 2, 0)),
    ),
    "a slice of a slice": lambda: (x("N, *S>=5, C")[:, 1:-1][:, 1:-2], x("N, *S>=5, C")[:, 2:-3]),
    "a pad of a pad": lambda: (sl.pad(sl.pad(x(), {1: (p, q)}), {1: (q, 1)}), sl.pad(x(), {1: (p + q, q + 1)})),
    "a negative pad is a slice": lambda: (sl.pad(x("N, *S>=3, C"), {1: (-1, -2)}), x("N, *S>=3, C")[:, 1:-2]),
    "a transpose of a flip": lambda: (
        sl.transpose(sl.flip(x(), 1), (2, 1, 0)),
        sl.flip(sl.transpose(x(), (2, 1, 0)), 1),
    ),
    "a flip of a pad": lambda: (sl.flip(sl.pad(x(), {1: (p, q)}), 1), sl.pad(sl.flip(x(), 1), {1: (q, p)})),
    "a flip of a broadcast": lambda: (
        sl.flip(sl.broadcast_to(x("N, *1, C"), (N, k, C)), 1),
        sl.broadcast_to(x("N, *1, C"), (N, k, C)),
    ),
    "a slice of a broadcast": lambda: (
        sl.broadcast_to(x("N, *1, C"), (N, k + 2, C))[:, 1:-1],
        sl.broadcast_to(x("N, *1, C"), (N, k, C)),
    ),
    "a transpose of a broadcast": lambda: (
        sl.transpose(sl.broadcast_to(x("N, *1, C"), (N, k, C)), (2, 1, 0)),
        sl.broadcast_to(sl.transpose(x("N, *1, C"), (2, 1, 0)), (C, k, N)),
    ),
    "parts of an axis are joined": lambda: (
        sl.concatenate([x("N>=1, *S")[:1], x("N>=1, *S")[1:]]),
        x("N>=1, *S"),
    ),
    "the second part of what is joined": lambda: (sl.concatenate([x(), y()], 2)[:, :, C:], y()),
    "joined tensors are joined": lambda: (
        sl.concatenate([sl.concatenate([x(), y()], 0), x()], 0),
        sl.concatenate([x(), sl.concatenate([y(), x()], 0)], 0),
    ),
    "a flip of joined tensors": lambda: (
        sl.flip(sl.concatenate([x(), y()], 2), (1, 2)),
        sl.concatenate([sl.flip(y(), (1, 2)), sl.flip(x(), (1, 2))], 2),
    ),
    "a pad of joined tensors": lambda: (
        sl.pad(sl.concatenate([x(), y()], 2), {1: (p, q)}),
        sl.concatenate([sl.pad(x(), {1: (p, q)}), sl.pad(y(), {1: (p, q)})], 2),
    ),
    "a transpose of joined tensors": lambda: (
        sl.moveaxis(sl.concatenate([x(), y()], 0), 0, -1),
        sl.concatenate([sl.moveaxis(x(), 0, -1), sl.moveaxis(y(), 0, -1)], 2),
    ),
    "stacked tensors are joined": lambda: (
        sl.stack([x(), y()], 1),
        sl.concatenate([sl.expand_dims(x(), 1), sl.expand_dims(y(), 1)], 1),
    ),
    "a reshape of a reshape": lambda: (
        sl.reshape(sl.reshape(x("2*N, *S, C"), "N, 2, *S, C"), "2*N, (*S), C"),
        sl.reshape(x("2*N, *S, C"), "2*N, (*S), C"),
    ),
    "radices that do not line up": lambda: (
        sl.reshape(sl.reshape(x("6, 4, *S"), "8, 3, *S"), "6, 4, *S"),
        x("6, 4, *S"),
    ),
    "an axis of extent 1 comes and goes": lambda: (sl.squeeze(sl.expand_dims(x(), 1), 1), x()),
    "axes of extent 1 go": lambda: (sl.squeeze(x("N, *1, C"), 1), sl.squeeze(x("N, *1, C")[:, ::-1], 1)),
    "a tile of a tile": lambda: (sl.tile(sl.tile(x(), (1, p, 1)), (1, q, 1)), sl.tile(x(), (1, p * q, 1))),
    "a slice of a tile": lambda: (sl.tile(x("N, *S>=1, C"), (1, 3, 1))[:, : sl.dim("S", min=1)], x("N, *S>=1, C")),
    "repeated elements are a nearest resize": lambda: (
        sl.resize_nearest(x(), scale=[sl.dim("r", min=1)], axes=[1]),
        sl.repeat(x(), sl.dim("r", min=1), axis=1),
    ),
    "a repeat along all axes, one after the other": lambda: (
        sl.repeat(sl.repeat(x(), 2, axis=1), 3, axis=0)[::3, ::2],
        x(),
    ),
    "channels are shuffled back": lambda: (
        sl.channel_shuffle(sl.channel_shuffle(x("N, *S, 6"), 2, 2), 3, 2),
        x("N, *S, 6"),
    ),
    "equal parts are joined": lambda: (sl.concatenate(sl.split(x("4*N, *S"), 4, 0), 0), x("4*N, *S")),
    # rules with functions
    "a function of a transpose": lambda: (
        sl.onnx.relu(sl.transpose(x(), (2, 1, 0))),
        sl.transpose(sl.onnx.relu(x()), (2, 1, 0)),
    ),
    "a function of two slices": lambda: (
        sl.onnx.add(x("N, *S>=2, C")[:, 1:], y("N, *S>=2, C")[:, 1:]),
        sl.onnx.add(y("N, *S>=2, C"), x("N, *S>=2, C"))[:, 1:],
    ),
    "a function of flips on one side": lambda: (
        sl.onnx.sub(sl.flip(x(), (0, 1)), sl.flip(y(), (0, 1))),
        sl.flip(sl.onnx.sub(x(), y()), (1, 0)),
    ),
    "a function with a scalar and a vector": lambda: (
        sl.onnx.add(sl.onnx.mul(sl.flip(x(), 1), 2), sl.tensor("C", name="z")),
        sl.flip(sl.onnx.add(sl.onnx.mul(x(), 2), sl.tensor("C", name="z")), 1),
    ),
    "functions of joined tensors": lambda: (
        sl.onnx.relu(sl.concatenate([x(), y()], 2))[:, ::-1],
        sl.onnx.relu(sl.concatenate([x()[:, ::-1], y()[:, ::-1]], 2)),
    ),
    "a maximum over the group, of a transpose": lambda: (
        maximum(sl.transpose(x(), (2, 1, 0)), 1),
        sl.transpose(maximum(x(), 1), (1, 0)),
    ),
    "a maximum over axes in another order": lambda: (maximum(x(), 0, 1), maximum(sl.transpose(x(), (1, 2, 0)), 0, 2)),
    "a sum over an axis outside of the group": lambda: (
        total(sl.flip(sl.pad(x(), {1: (p, q)}), 1), 2),
        sl.flip(total(sl.pad(x(), {1: (p, q)}), 2), 1),
    ),
    "a sum of the group, sliced": lambda: (total(x()[1:], 1), total(x(), 1)[1:]),
    "a maximum over two groups at once": lambda: (
        maximum(rearrange(x("N, *(2*S)"), "n *(s d) -> n *s *d", d=2), 1, 2),
        maximum(x("N, *(2*S)"), 1),
    ),
    "the flip of all axes is that of each": lambda: (sl.flip(x(), (0, 2, 1)), sl.flip(sl.flip(x(), 1), (0, 2))),
}


@pytest.mark.sample(29)
@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE.keys())
def test_what_holds_for_all_ranks_is_proved_and_the_checker_agrees(claim: Callable[[], tuple[Any, Any]]) -> None:
    left, right = claim()
    proof = prove(left, right)
    assert proof.verdict is PROVED, str(proof)
    assert sl.check(proof.certificate)
    for count in range(3):
        assert sl.prove_equal(left.at(count), right.at(count), budget=50).verdict is not REFUTED


def test_a_tensor_at_a_rank_requires_what_it_does_for_all_ranks() -> None:
    joined = rearrange(x("N, *S"), "n *s -> (n *s)")
    split = rearrange(joined, "(m i *s) -> i m *s", i=sl.dim("k"))
    assert len(split.requires) == 2  # k is at least 1 and divides N; the group may be empty
    for count in RANKS:
        assert split.at(count).requires == split.requires


FALSE: dict[str, tuple[int, Callable[[], tuple[Any, Any]]]] = {
    "an axis outside of the group is flipped": (0, lambda: (sl.flip(x(), 0), x())),
    "the group is flipped": (1, lambda: (sl.flip(x(), 1), x())),
    "the crop is another": (
        1,
        lambda: (sl.batch_to_space(sl.space_to_batch(x(), b, (p, q)), b, (q, p)), x()),
    ),
    "the batch comes before the blocks": (
        1,
        lambda: (
            sl.space_to_batch(x(), b, (p, q)),
            rearrange(sl.pad(x(), {1: (p, q)}), "N *(s b) C -> (N *b) *s C", b=b),
        ),
    ),
    "blocks of each axis in turn, or of all axes first": (  # at one axis they are the same
        2,
        lambda: (
            rearrange(rearrange(x("*s, *t"), "*s *t -> *(s t)"), "*u -> (*u)"),
            rearrange(x("*s, *t"), "*s *t -> (*s *t)"),
        ),
    ),
    "a group changes places with another one": (1, lambda: (sl.transpose(x("*s, *t"), (1, 0)), x("*s, *t"))),
    # rules of the same kinds that fail
    "a pad of a flip": (1, lambda: (sl.flip(sl.pad(x(), {1: (1, 2)}), 1), sl.pad(sl.flip(x(), 1), {1: (1, 2)}))),
    "joined tensors in another order": (0, lambda: (sl.concatenate([x(), y()]), sl.concatenate([y(), x()]))),
    "a flip of joined tensors that keeps their order": (
        0,
        lambda: (
            sl.flip(sl.concatenate([x(), y()], 2), 2),
            sl.concatenate([sl.flip(x(), 2), sl.flip(y(), 2)], 2),
        ),
    ),
    "a tile is no repeat": (1, lambda: (sl.tile(x(), (1, 2, 1)), sl.repeat(x(), 2, axis=1))),
    "a reshape is no transpose": (
        0,
        lambda: (sl.reshape(x("2*N, *S"), "N, 2, *S"), sl.transpose(sl.reshape(x("2*N, *S"), "2, N, *S"), (1, 0, 2))),
    ),
    "a function with its operands exchanged": (0, lambda: (sl.onnx.sub(x(), y()), sl.onnx.sub(y(), x()))),
    "flips of two operands change places": (  # outside of the group, and in it, both sides read the same pairs
        1,
        lambda: (
            sl.onnx.mul(sl.flip(x(), 0), sl.flip(x(), 1)),
            sl.onnx.mul(x(), sl.flip(x(), (0, 1))),
        ),
    ),
    "a function of a pad": (1, lambda: (sl.onnx.exp(sl.pad(x(), {1: (1, 0)})), sl.pad(sl.onnx.exp(x()), {1: (1, 0)}))),
    "a maximum over less": (1, lambda: (maximum(x("N, *S>=2")[:, :-1], 1), maximum(x("N, *S>=2"), 1))),
    "a group is at the front or at the back": (
        1,
        lambda: (sl.transpose(x("C, *S"), (1, 0)), x("C, *S")),
    ),
}


@pytest.mark.sample(11)
@pytest.mark.parametrize(("count", "claim"), FALSE.values(), ids=FALSE.keys())
def test_what_fails_at_some_rank_is_refuted_there(count: int, claim: Callable[[], tuple[Any, Any]]) -> None:
    left, right = claim()
    proof = prove(left, right)
    assert (proof.verdict, proof.count) == (REFUTED, count), str(proof)
    assert proof.certificate is None
    for smaller in range(count):
        assert sl.prove_equal(left.at(smaller), right.at(smaller)).verdict is PROVED
    assert not same(*both_at(left, right, count, {s.name: n for s, n in proof.witness.dims.items()}))


def same(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal, in their shapes too."""
    return bool(np.array_equal(a, b))


def numbered(shape: list[int]) -> Any:
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape)


def both_at(left: Any, right: Any, count: int, values: dict[str, int]) -> list[Any]:
    """Return both sides at a rank and sizes; the elements of the input x are their numbers from 1 on."""
    found = []
    for side in (left, right):
        t = side.at(count)
        bound = t.bind({k: v for k, v in values.items() if k in t.facts.dims})
        arrays = {}
        for leaf in bound.arguments():
            shape = [int(n) for n in leaf.shape]
            arrays[leaf.name] = numbered(shape) if leaf.name == "x" else 10**6 + numbered(shape) ** 2
        found.append(sl.interpret(bound, **arrays))
    return found


# ---------------------------------------------------------------------- what has no meaning for all ranks

REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "a slice of joined axes": ("any_rank", lambda: rearrange(x(), "N *S C -> (*S) N C")[1:]),
    "a pad of joined axes": ("any_rank", lambda: sl.pad(rearrange(x(), "N *S C -> (*S N) C"), [1, 0])),
    "joined axes split in another order": (
        "any_rank",
        lambda: rearrange(rearrange(x(), "N *S C -> (*S N) C"), "(N *S) C -> N *S C"),
    ),
    "joined axes split in other sizes": (
        "any_rank",
        lambda: rearrange(x("(*b N), C"), "(*c N) C -> *c N C", c=sl.dim("c")),
    ),
    "a batch that is not known to have blocks": ("any_rank", lambda: sl.batch_to_space(x(), b, (0, 0))),
    "blocks of another size": ("any_rank", lambda: sl.batch_to_space(x("(*b N), *S, C"), sl.dim("c"), (0, 0))),
    "an axis of the group by its number": ("any_rank", lambda: x()[0]),
    "two fills": ("any_rank", lambda: sl.pad(sl.pad(x(), {1: (1, 0)}), {0: (1, 0)}, constant_values=1)),
    "an operation without a rule": ("any_rank", lambda: sl.space_to_depth(x(), 2)),
    "tensors joined along the group": ("any_rank", lambda: sl.concatenate([x(), x()], 1)),
    "joined tensors of which one has a rank": ("any_rank", lambda: sl.concatenate([x(), sl.tensor("N, C")], 0)),
    "joined tensors whose groups differ": ("any_rank", lambda: sl.concatenate([x(), sl.flip(x(), 1)], 0)),
    "joined tensors whose groups have other extents": ("any_rank", lambda: sl.concatenate([x(), y("N, *T, C")], 0)),
    "joined tensors that are computed": ("any_rank", lambda: sl.concatenate([sl.onnx.relu(x()), y()], 0)),
    "an operation made of others": ("any_rank", lambda: sl.ravel(x())),
    "a reshape without text": ("any_rank", lambda: sl.reshape(x(), (-1,))),
    "a reshape of the group": ("any_rank", lambda: sl.reshape(x(), "N, *S*C")),
    "a reshape that moves elements past the group": ("any_rank", lambda: sl.reshape(x("2*N, *S, C"), "N, *S, 2*C")),
    "an operation that computes along an axis": ("any_rank", lambda: sl.onnx.softmax(x(), axis=1)),
    "a function of other entries": ("any_rank", lambda: sl.onnx.add(x(), x("*S, N, C"))),
    "a function with a vector along the group": ("any_rank", lambda: sl.onnx.add(x("N, *S"), sl.tensor("K"))),
    "a function of joined axes that may differ": (
        "any_rank",
        lambda: sl.onnx.add(x("(*S N), C"), y("(*S M), C")),
    ),
    "a sum that keeps a joined axis": ("any_rank", lambda: sl.onnx.reduce_sum(x("(*S N), C"), axes=[0])),
    "a map": ("any_rank", lambda: x().index_map),
    "bounds": ("any_rank", lambda: x().bounds()),
    "an operation of a framework": ("any_rank", lambda: sl.torch.pixel_shuffle(x(), 2)),
    "a kernel": ("any_rank", lambda: sl.compile(x())),
    "an interpretation": ("any_rank", lambda: sl.interpret(x(), np.zeros((1, 2)))),
    "an inverse": ("any_rank", lambda: sl.inverse(x())),
    "an adjoint": ("any_rank", lambda: sl.adjoint(x())),
    "a dim of the group outside of it": ("dim_conflict", lambda: sl.pad(x(), [(p, 0), (p, 0), (0, 0)])),
    "another rank": ("length_mismatch", lambda: sl.pad(x(), [(1, 1)])),
    "no permutation": ("bad_axis", lambda: sl.transpose(x())),
}


@pytest.mark.parametrize(("kind", "make"), REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_meaning_for_all_ranks_is_refused(kind: str, make: Callable[[], Any]) -> None:
    with pytest.raises(sl.ShapeError) as refused:
        make()
    assert refused.value.kind == kind


def test_sides_of_one_claim_have_one_input_and_one_use_of_a_name() -> None:
    with pytest.raises(sl.ShapeError, match="not one input of any rank"):
        prove(x(), x("*S, N, C"))
    with pytest.raises(sl.ShapeError, match="p is a dim of the group on one side"):
        prove(sl.pad(x(), {1: (p, 0)}), sl.pad(x(), {0: (p, 0)}))
    with pytest.raises(TypeError, match="is compared with another one"):
        prove(x(), sl.tensor("N, S, C", name="x"))


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


# ---------------------------------------------------------------------- certificates


def certificate() -> Any:
    return prove(*TRUE["batch_to_space undoes space_to_batch"]()).certificate


def swap_digits(c: Any) -> None:
    c["any_rank"]["sides"][0][0][0] = True


def drop_an_entry(c: Any) -> None:
    c["any_rank"]["sides"].pop()


def join_an_axis(c: Any) -> None:
    c["any_rank"]["sides"][0] = [[False, True], False]


def add_a_member(c: Any) -> None:
    c["any_rank"]["extra"] = []


def exchange_the_claims(c: Any) -> None:
    c["plain"], c["each"] = c["each"], c["plain"]


def share_a_dim(c: Any) -> None:
    c["plain"] = c["each"]
    c["any_rank"]["inputs"] = [["x", [[[False], False], [[True], False]]]]
    c["any_rank"]["sides"] = [[[False], False], [[True], False]]


def write_zero_for_false(c: Any) -> None:
    c["any_rank"]["sides"][0][1] = 0


def read_two_inputs(c: Any) -> None:
    other = sl.tensor("N, C", name="y")
    c["plain"] = sl.prove_equal(sl.flip(sl.flip(other)), other).certificate


def have_two_fills(c: Any) -> None:
    t = sl.tensor("N, C", name="x")
    c["plain"] = sl.prove_equal(sl.pad(sl.pad(t, 1, constant_values=1), -1), t).certificate


FORGERIES = [
    swap_digits,
    drop_an_entry,
    join_an_axis,
    add_a_member,
    exchange_the_claims,
    share_a_dim,
    write_zero_for_false,
    read_two_inputs,
    have_two_fills,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_certificate_is_refused(forge: Callable[[Any], None]) -> None:
    forged = copy.deepcopy(certificate())
    assert refusal_of_all_ranks(forged) == ""
    forge(forged)
    assert not sl.check(forged)
    forged["seal"] = seal_of(forged)
    assert not sl.check(forged)
    assert "seal" not in refusal_of_all_ranks(forged)


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


# ---------------------------------------------------------------------- certificates of computed values


def certificate_of_a_function() -> Any:
    return prove(*TRUE["a function with a scalar and a vector"]()).certificate


def certify(left: Any, right: Any) -> Any:
    return sl.prove_equal(left, right).certificate


def pair_another_function(c: Any) -> None:
    t = sl.tensor("S", name="x")
    z = sl.tensor((), name="z")
    c["each"] = certify(sl.onnx.add(sl.onnx.add(t[::-1], 2), z), sl.onnx.add(sl.onnx.add(t, 2), z)[::-1])


def swap_operands_in_one_factor(c: Any) -> None:
    c["each"]["pairs"][-1]["swapped"] = True


def drop_a_pair(c: Any) -> None:
    c["each"]["pairs"].pop()


def drop_a_view(c: Any) -> None:
    c["plain"]["pairs"][0]["views"].pop()


def use_a_law(c: Any) -> None:
    c["each"]["laws"] = ["reassociate"]


def name_no_input(c: Any) -> None:
    c["any_rank"]["inputs"].pop()


def prove_movement_in_one_factor(c: Any) -> None:
    c["each"] = certificate()["each"]


COMPUTED_FORGERIES = [
    pair_another_function,
    swap_operands_in_one_factor,
    drop_a_pair,
    drop_a_view,
    use_a_law,
    name_no_input,
    prove_movement_in_one_factor,
]


@pytest.mark.parametrize("forge", COMPUTED_FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_certificate_about_functions_is_refused(forge: Callable[[Any], None]) -> None:
    forged = copy.deepcopy(certificate_of_a_function())
    assert sl.check(forged)
    forge(forged)
    assert not sl.check(forged)
    for half in (forged["plain"], forged["each"]):
        if "pairs" in half:
            half["seal"] = sealed({k: v for k, v in half.items() if k != "seal"})
    forged["seal"] = seal_of(forged)
    assert not sl.check(forged)
    assert "seal" not in refusal_of_computed_ranks(forged)


def test_inputs_that_are_joined_in_the_group_are_refused() -> None:
    """The map of the axes outside of the group says which input is read; one of the group reads one input."""
    forged = copy.deepcopy(prove(*TRUE["a flip of joined tensors"]()).certificate)
    s, t = sl.tensor("S", name="x"), sl.tensor("S", name="y")
    forged["each"] = certify(sl.concatenate([s, t]), sl.flip(sl.flip(sl.concatenate([s, t]))))
    forged["seal"] = seal_of(forged)
    assert refusal_of_all_ranks(forged) == "the claims are about other inputs, x, y and x, y"


def test_a_refusal_names_all_operations_that_take_any_rank() -> None:
    modules = {rule.__module__ for rule in RULES.values()}
    assert {compute_groups.__name__, move_groups.__name__} <= modules
    text = str(any_rank_tensor("N, *S", None, "x").refusal("ravel"))
    assert all(name in text for name in RULES if not name.startswith("_"))


def test_a_member_that_needs_a_rank_says_so() -> None:
    with pytest.raises(sl.ShapeError, match=r"help: at\(2\).index_map is that with 2 axes in the group") as refused:
        x().index_map  # noqa: B018
    assert isinstance(refused.value, AttributeError)
    assert not hasattr(x(), "facts")
    assert not hasattr(x(), "no_such_member")


def test_a_proof_says_why_it_holds_for_all_ranks() -> None:
    text = prove(*TRUE["batch_to_space undoes space_to_batch"]()).explain()
    assert "an arbitrary one stands for all, and for every rank" in text
    assert "space_to_batch reads its input at" in text
    assert text.endswith("for all ranks and all such sizes.")
