"""Maps as pads, reshapes, transposes, flips and broadcasts: the values are the interpreter's, in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.algebra.polynomial import evaluate
from symlayout.interop.array_moves import Filled, Joined, Part, parts_of

Grid = Any
SHAPE = (2, 4, 6, 8)
X = sl.tensor(SHAPE, name="x")
Z = sl.tensor((2, 3, 6, 8), name="z")
DATA: Grid = np.arange(384).reshape(SHAPE)
OTHER: Grid = -np.arange(288).reshape(Z.shape)
ROW = [(0, 0), (0, 0), (1, 2), (3, 0)]


class Numpy:
    """The moves in NumPy."""

    def pad(self, x: Grid, widths: Sequence[tuple[int, int]], value: Any) -> Grid:
        cut = tuple(slice(max(0, -a), n - max(0, -b)) for n, (a, b) in zip(x.shape, widths, strict=True))
        return np.pad(x[cut], [(max(0, a), max(0, b)) for a, b in widths], constant_values=value)

    def reshape(self, x: Grid, shape: Sequence[int]) -> Grid:
        return np.reshape(x, shape)

    def transpose(self, x: Grid, axes: Sequence[int]) -> Grid:
        return np.transpose(x, axes)

    def flip(self, x: Grid, axes: Sequence[int]) -> Grid:
        return np.flip(x, tuple(axes))

    def broadcast_to(self, x: Grid, shape: Sequence[int]) -> Grid:
        return np.broadcast_to(x, shape)


MOVED = {
    "transpose": sl.transpose(X, (2, 0, 3, 1)),
    "space_to_depth": sl.space_to_depth(X, 2),
    "depth_to_space": sl.depth_to_space(X, 2, mode="depth_first"),
    "padded blocks": sl.space_to_depth(sl.pad(X, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=5), 2),
    "pad": sl.pad(X, ROW, constant_values=-7),
    "crop and pad": sl.pad(X[:, 1:, 2:-1], ROW),
    "steps": X[:, ::-2, 1::3, ::2],
    "steps backwards": X[..., ::-3],
    "flip": sl.flip(X),
    "one row": X[:, 2, :, 5],
    "tile": sl.tile(X, (1, 3, 1, 2)),
    "repeat": sl.repeat(X, 3, 2),
    "broadcast": sl.broadcast_to(X[:, :1], (5, 2, 9, 6, 8)),
    "reshape": sl.reshape(sl.transpose(X), (8, 12, 4)),
    "batches": sl.space_to_batch(X, [2, 2], [[1, 1], [0, 2]]),
    "roll": sl.roll(X, (3, -2), (2, 3)),
    "reflect": sl.pad(X, ROW, mode="reflect"),
    "wrap": sl.pad(X, ROW, mode="wrap"),
    "edge": sl.pad(X, ROW, mode="edge"),
    "concatenate": sl.concatenate([X, Z, X], 1),
    "window": sl.window(X, [3, 2], axis=[2, 3]),
    "shuffle": sl.channel_shuffle(X, 2, 1),
    "take": sl.take(X, [3, 1, 1, 0], axis=1),
    "fill inside": sl.depth_to_space(sl.pad(sl.space_to_depth(X, 2), ROW, constant_values=4), 2),
    "two fills": sl.pad(sl.pad(X[0], [(0, 0), (1, 1), (1, 1)], constant_values=1), [(0, 0), (1, 1), (1, 1)]),
}
GATHERED = {"turned": sl.reshape(sl.reshape(sl.transpose(X[0, 0, :4, :6]), (8, 3))[1:], (3, 7))}


def made(part: Part, arrays: dict[str, Grid], gathered: list[sl.Tensor]) -> Grid:
    """Return the elements of a part, and note what is not moved."""
    if isinstance(part, Joined):
        return np.concatenate([made(p, arrays, gathered) for p in part.parts], part.axis)
    if isinstance(part, Filled):
        return np.full(part.shape, part.fill)
    if part.moves is None:
        gathered.append(part.t)
        return sl.interpret(part.t, *(arrays[leaf.key] for leaf in part.t.leaves()))
    return part.moves.run(Numpy(), arrays[part.moves.leaf], lambda e: evaluate(e, {}), part.moves.fill or 0)


@pytest.mark.parametrize("name", [*MOVED, *GATHERED])
def test_parts_make_the_interpreters_values(name: str) -> None:
    y = (MOVED | GATHERED)[name]
    gathered: list[sl.Tensor] = []
    arrays = [DATA if leaf.name == "x" else OTHER for leaf in y.leaves()]
    found = made(parts_of(y), {"x": DATA, "z": OTHER}, gathered)
    assert np.array_equal(found, sl.interpret(y, *arrays))
    assert name in GATHERED or not gathered


def test_a_tensor_is_cut_into_few_parts() -> None:
    def count(part: Part) -> int:
        return sum(map(count, part.parts)) if isinstance(part, Joined) else 1

    assert count(parts_of(MOVED["space_to_depth"])) == 1
    assert count(parts_of(MOVED["roll"])) == 4
    assert count(parts_of(MOVED["window"])) == 6
    assert all(count(parts_of(y)) <= 32 for y in MOVED.values())


def test_random_chains_make_the_interpreters_values() -> None:
    rng = np.random.default_rng(0)
    steps = [
        lambda t: sl.transpose(t, rng.permutation(t.rank).tolist()),
        lambda t: sl.pad(t, [(int(a), int(b)) for a, b in rng.integers(0, 3, (t.rank, 2))], constant_values=3),
        lambda t: sl.flip(t, int(rng.integers(t.rank))),
        lambda t: sl.roll(t, int(rng.integers(1, 4)), int(rng.integers(t.rank))),
        lambda t: t[(slice(None),) * int(rng.integers(t.rank)) + (slice(1, None, int(rng.choice([1, 2, -1]))),)],
        lambda t: sl.reshape(t, (t.shape[0], -1, t.shape[-1])),
        lambda t: sl.repeat(t, 2, int(rng.integers(t.rank))),
    ]
    moved = 0
    for _ in range(60):
        y: Any = sl.tensor((3, 4, 5), name="x")
        for k in rng.integers(0, len(steps), int(rng.integers(1, 4))):
            y = steps[k](y)
        if not all(y.shape) or np.prod(y.shape) > 4000:
            continue
        data = np.arange(60).reshape(3, 4, 5) + 10
        gathered: list[sl.Tensor] = []
        assert np.array_equal(made(parts_of(y), {"x": data}, gathered), sl.interpret(y, data))
        moved += not gathered
    assert moved > 25


def test_the_last_axis_is_the_first_to_be_cut() -> None:
    """XLA loops over the parts of the outermost concatenation, and tests for each element which inner part it is in."""
    parts = parts_of(MOVED["roll"])
    assert isinstance(parts, Joined)
    assert parts.axis == 3
    assert [p.axis for p in parts.parts if isinstance(p, Joined)] == [2, 2]
