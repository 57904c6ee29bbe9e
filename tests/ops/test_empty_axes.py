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
    **{
        mode: functools.partial(lambda mode, x, k, m: sl.pad(x, [(k, m)], mode=mode), mode)
        for mode in ("reflect", "symmetric", "wrap")
    },
    "reflect once": lambda x, k, m: sl.pad(x, [(k, m)], mode="reflect", bounded=True),
    "symmetric once": lambda x, k, m: sl.pad(x, [(k, m)], mode="symmetric", bounded=True),
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


@pytest.mark.sample(31)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("widths", [(K, L), (K, K), (K, 0), (0, L), (K, 1), (1, 0), (2, 2), (0, 0)], ids=str)
def test_pads_accept_the_sizes_that_numpy_accepts(mode: str, widths: tuple[Any, Any]) -> None:
    """Reflected axes of one element, and empty axes to which dims add nothing, were refused after `subs`.

    Where elements are always added, a reflected axis is required to have two, as `sl.pad` says.
    """
    two = mode == "reflect" and any(isinstance(width, int) and width > 0 for width in widths)
    y = sl.pad(sl.tensor((N,), name="x"), [widths], mode=mode)
    for n, k, m in itertools.product(range(4), repeat=3):
        values = {N: n, K: k, L: m}
        pair = tuple(values.get(width, width) for width in widths)
        bound = {d: v for d, v in values.items() if d.name in y.facts.dims}
        try:
            expected: Any = np.pad(np.arange(n), pair, mode=mode).shape  # type: ignore[call-overload]
        except ValueError:
            expected = "size_mismatch"
        if two and n == 1:
            assert shape_or_kind(functools.partial(y.subs, bound)) == "size_mismatch"
            continue
        assert shape_or_kind(functools.partial(y.subs, bound)) == expected, (n, *pair)
        fixed = functools.partial(sl.pad, sl.tensor((n,)), [pair], mode=mode)
        assert shape_or_kind(fixed) == expected, (n, *pair)
        assert all(r.subs(bound) == True for r in y.requires) == isinstance(expected, tuple)  # noqa: E712


@pytest.mark.sample(2)
@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("bounded", [False, True])
def test_pads_of_axes_that_may_be_empty_are_proved(mode: str, bounded: bool) -> None:
    x = sl.tensor((N,), name="x")
    y = sl.pad(x, [(K, L)], mode=mode, bounded=bounded)
    flipped = sl.pad(sl.flip(x, 0), [(L, K)], mode=mode, bounded=bounded)
    for left, right in ((y[K : K + N], x), (sl.flip(y, 0), flipped)):
        p = sl.prove_equal(left, right)
        assert p.verdict is sl.Verdict.PROVED
        assert p.certificate is not None
        assert sl.check(p.certificate)
    wrong = sl.pad(sl.flip(x, 0), [(K, L)], mode=mode, bounded=bounded)
    assert sl.prove_equal(sl.flip(y, 0), wrong).verdict is sl.Verdict.REFUTED
