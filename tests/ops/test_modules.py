"""Each module of operations declares what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from symlayout.maps.interpreter import interpret
from symlayout.ops import (
    axes,
    broadcast,
    channel_shuffle,
    concatenate,
    flip,
    full,
    pack,
    pad,
    reshape,
    resize,
    roll,
    slicing,
    space_batch,
    space_depth,
    split,
    take,
    tile,
    transpose,
    window,
)
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor
from tests.support.paths import ROOT

Array = np.ndarray[Any, Any]


def blocks_to_batch(a: Array) -> Array:
    n, h, w, c = a.shape
    return a.reshape(n, h // 2, 2, w // 2, 2, c).transpose(2, 4, 0, 1, 3, 5).reshape(4 * n, h // 2, w // 2, c)


def blocks_to_depth(a: Array) -> Array:
    n, c, h, w = a.shape
    return a.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, 4 * c, h // 2, w // 2)


ROWS: dict[ModuleType, tuple[tuple[int, ...], Callable[[Tensor], Tensor], Callable[[Array], Array]]] = {
    axes: ((2, 3), lambda x: axes.swapaxes(x, 0, 1), lambda a: a.swapaxes(0, 1)),
    broadcast: ((1, 3), lambda x: broadcast.broadcast_to(x, (2, 3)), lambda a: np.broadcast_to(a, (2, 3))),
    channel_shuffle: (
        (1, 6, 2),
        lambda x: channel_shuffle.channel_shuffle(x, 2),
        lambda a: a.reshape(1, 2, 3, 2).swapaxes(1, 2).reshape(1, 6, 2),
    ),
    concatenate: ((2, 3), lambda x: concatenate.concatenate([x, x], 1), lambda a: np.concatenate([a, a], 1)),
    flip: ((2, 3), lambda x: flip.flip(x, 1), lambda a: np.flip(a, 1)),
    full: ((2, 3), lambda x: concatenate.concatenate([x, full.full((2, 1), 7)], 1), lambda a: np.c_[a, [7, 7]]),
    pack: ((4, 3), lambda x: pack.pack(x, 0, 2), lambda a: a.reshape(2, 2, 3).transpose(0, 2, 1)),
    pad: ((2, 3), lambda x: pad.pad(x, 1, "edge"), lambda a: np.pad(a, 1, "edge")),
    reshape: ((2, 6), lambda x: reshape.reshape(x, (4, -1)), lambda a: a.reshape(4, 3)),
    resize: ((2, 3), lambda x: resize.resize_nearest(x, scale=2, axes=1), lambda a: a.repeat(2, 1)),
    roll: ((2, 3), lambda x: roll.roll(x, 4, 1), lambda a: np.roll(a, 4, 1)),
    slicing: ((5, 3), lambda x: slicing.getitem(x, (slice(None, None, -2),)), lambda a: a[::-2]),
    space_batch: (
        (1, 4, 6, 2),
        lambda x: space_batch.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]),
        blocks_to_batch,
    ),
    space_depth: ((1, 3, 4, 6), lambda x: space_depth.space_to_depth(x, 2), blocks_to_depth),
    split: ((5, 2), lambda x: split.array_split(x, 3)[1], lambda a: np.array_split(a, 3)[1]),
    take: ((2, 6), lambda x: take.take(x, [4, 2, 1], 1), lambda a: a.take([4, 2, 1], 1)),
    tile: ((2, 3), lambda x: tile.tile(x, (2, 1)), lambda a: np.tile(a, (2, 1))),
    transpose: ((2, 3, 4), lambda x: transpose.transpose(x, (2, 0, 1)), lambda a: a.transpose(2, 0, 1)),
    window: ((5, 2), lambda x: window.window(x, 3, 0), lambda a: np.lib.stride_tricks.sliding_window_view(a, 3, 0)),
}


def test_every_module_has_a_row() -> None:
    files = {file.stem for file in (ROOT / "symlayout" / "ops").glob("*.py")} - {"__init__"}
    assert {module.__name__.rpartition(".")[2] for module in ROWS} == files


@pytest.mark.parametrize("module", ROWS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_it_does_what_numpy_does(module: ModuleType) -> None:
    shape, operation, expected = ROWS[module]
    a = np.arange(np.prod(shape)).reshape(shape)
    np.testing.assert_array_equal(interpret(operation(tensor(shape, name="x")), a), expected(a))
