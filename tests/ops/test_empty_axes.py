"""What a shape of ints accepts, a symbolic one accepts where it is bound to it: empty axes are no exception."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl

N, K, L = sl.dims("N K L")

OPERATIONS: dict[str, Callable[[sl.Tensor, Any, Any], sl.Tensor]] = {
    "resize_nearest": lambda x, k, _: sl.resize_nearest(x, shape=k),
    "resize_nearest, half_pixel": lambda x, k, _: sl.resize_nearest(x, shape=k, mode="half_pixel"),
    "edge": lambda x, k, m: sl.pad(x, [(k, m)], mode="edge"),
    "edge on both sides": lambda x, k, _: sl.pad(x, [(k, k)], mode="edge"),
    "constant": lambda x, k, m: sl.pad(x, [(k, m)]),
    "wrap once": lambda x, k, m: sl.pad(x, [(k, m)], mode="wrap", bounded=True),
    "tile": lambda x, k, _: sl.tile(x, k),
    "repeat": lambda x, k, _: sl.repeat(x, k, 0),
    "roll": lambda x, k, _: sl.roll(x, k),
    "broadcast_to": lambda x, k, m: sl.broadcast_to(x, (k, m)),
    "reshape": lambda x, k, m: sl.reshape(x, (k, m)),
}


def shape_or_kind(build: Callable[[], sl.Tensor]) -> Any:
    try:
        return build().shape
    except sl.ShapeError as error:
        return error.kind


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", OPERATIONS)
def test_binding_accepts_what_construction_does(name: str) -> None:
    y = OPERATIONS[name](sl.tensor((N,), name="x"), K, L)
    kernel = sl.compile(y, strict=True)
    for n, k, m in itertools.product(range(4), repeat=3):

        def fixed(n: int = n, k: int = k, m: int = m) -> sl.Tensor:
            return OPERATIONS[name](sl.tensor((n,), name="x"), k, m)

        expected = shape_or_kind(fixed)
        assert shape_or_kind(functools.partial(y.subs, {N: n, K: k, L: m})) == expected, (n, k, m)
        if isinstance(expected, tuple):
            data = np.arange(1, n + 1)
            dims = {d: v for d, v in ((K, k), (L, m)) if d.name in y.facts.dims}
            wanted = sl.interpret(fixed(), data)
            assert np.array_equal(sl.interpret(y, data, dims=dims), wanted)
            assert np.array_equal(kernel(data, dims=dims), wanted)
