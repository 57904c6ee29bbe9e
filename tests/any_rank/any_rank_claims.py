"""Claims about tensors of any rank: those that hold for all ranks, and both sides of a claim at one rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.any_rank.prove_all_ranks import AnyRankProof

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
