"""A chain composed from its output to its leaves: which parts are left out, and in which order the others come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symlayout as sl
from symlayout.maps.compose_chain import normalise
from symlayout.tensors.chain import Tensor

N, H = sl.dims("n h", min=1)


def whole(t: Tensor) -> Tensor:
    return t


def rows_apart(t: Tensor) -> Tensor:
    """Merge a first axis of extent 2 with the next one, so that the read has a quotient of digits."""
    return sl.reshape(t, (1, t.shape[1], -1, t.shape[2]))


def turned(t: Tensor) -> Tensor:
    return sl.moveaxis(rows_apart(t), 2, 0)


@pytest.mark.sample(5)
@pytest.mark.parametrize("sides", [(-2, 3), (-3, 4), (3, -2), (4, -3), (-1, 0), (-2, 2)])
@pytest.mark.parametrize(("spelling", "axis"), [(whole, 0), (rows_apart, 2), (turned, 0)])
def test_a_pad_that_removes_an_axis_first_is_all_fill(
    spelling: Callable[[Tensor], Tensor], axis: int, sides: tuple[int, int]
) -> None:
    for extents in ((2, 6, 8), (2, 6, N), (2, N, 8)):
        given = spelling(sl.tensor(extents))
        t = sl.pad(given, [sides if k == axis else (0, 0) for k in range(len(given.shape))], constant_values=7)
        x = np.arange(96, dtype=np.uint8).reshape(2, 6, 8)
        expected = sl.interpret(t, x)
        assert np.all(expected == 7) == (min(sides) <= -2)
        assert np.array_equal(sl.compile(t, dtype="uint8", strict=True)(x), expected)


def test_a_guard_that_fails_everywhere_after_axes_were_joined_leaves_its_fill() -> None:
    padded = sl.pad(rows_apart(sl.tensor((2, 6, 8))), ((1, 1), (1, -1), (-2, 3), (-1, 1)), constant_values=7)
    kernel = sl.compile(sl.reshape(padded, (432, -1)), dtype="uint8", strict=True)
    assert np.all(kernel(np.zeros((2, 6, 8), np.uint8)) == 7)


def test_reads_come_in_the_order_of_the_cases() -> None:
    inside, before, after = normalise(sl.pad(sl.tensor((H,)), 1, constant_values=[[1, 2]]))
    assert (inside.leaf is not None, before.fill, after.fill) == (True, 1, 2)


def test_a_divisor_whose_maxima_a_division_brings_back_is_divided_by() -> None:
    p, n = sl.dim("p", min=1), sl.dim("n")
    cut = sl.pad(sl.tensor((n + 1,))[:-5], [[2, p]], constant_values=9)
    cut = sl.openvino.slice(cut, [2], [2147483647], [1], [0])[:-1]
    t = sl.pad(cut, [[0, p]], "wrap")
    kernel = sl.compile(t, dtype="uint8", strict=True)
    for size, more in ((4, 3), (9, 2), (12, 5)):
        x = np.arange(size + 1, dtype=np.uint8)
        at = t.subs({n: size, p: more})
        assert np.array_equal(kernel(x, dims={"p": more}), sl.interpret(at, x))
