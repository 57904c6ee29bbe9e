"""Maps given as functions of the input's indices: the cases are those of TVM's own tests of its IndexMap."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import FormatError, InconclusiveError, ShapeError
from symlayout.inverses.scatter_map import transform_layout
from symlayout.maps.sympy_maps import reached

N, H, W = sl.dims("N H W")

Function = Callable[..., Sequence[Any]]

PADDED: dict[str, tuple[Function, tuple[int, ...], tuple[int, ...]]] = {
    "on the right": (lambda i: [i // 4, i % 4], (15,), (4, 4)),
    "on the left": (lambda i: [(i + 1) // 4, (i + 1) % 4], (15,), (4, 4)),
    "on both sides": (lambda i: [(i + 1) // 4, (i + 1) % 4], (14,), (4, 4)),
    "of two axes": (lambda i, j: [(i + 1) // 4, (j + 5) // 8, (i + 1) % 4, (j + 5) % 8], (14, 31), (4, 5, 4, 8)),
    "of three digits": (lambda i: [i // 32, (i // 4) % 8, i % 4], (116,), (4, 8, 4)),
    "of three digits, transposed": (lambda i: [(i // 4) % 8, i // 32, i % 4], (116,), (8, 4, 4)),
    "of three digits, on the left": (lambda i: [(i + 5) // 32, ((i + 5) // 4) % 8, (i + 5) % 4], (123,), (4, 8, 4)),
    "of an outer extent of 1": (lambda i: [i // 4, i % 4], (3,), (1, 4)),
    "between elements": (lambda i: [3 * i], (5,), (13,)),
}
BIJECTIVE: dict[str, tuple[Function, tuple[int, ...], tuple[int, ...]]] = {
    "split": (lambda i: [i // 4, i % 4], (16,), (4, 4)),
    "fuse": (lambda i, j: [i * 16 + j], (6, 16), (96,)),
    "axes of extent 1": (lambda a, b, c, d: [d // 32, c // 2, c % 2, d % 32], (1, 1, 64, 64), (2, 32, 2, 32)),
    "permute": (lambda a, b, c, d: [d, a, b, c], (3, 4, 5, 6), (6, 3, 4, 5)),
    "pack": (lambda m, n: [m // 16, n // 16, m % 16, n % 16], (32, 64), (2, 4, 16, 16)),
    "blocks of a kernel": (
        lambda a, b, c, d: [d // 32, a, c // 8, (d % 32) // 16, b, c % 8, d % 16],
        (3, 3, 16, 64),
        (2, 3, 2, 2, 3, 8, 16),
    ),
}


def scattered(f: Function, data: np.ndarray[Any, Any], shape: Sequence[int], fill: int) -> np.ndarray[Any, Any]:
    found = np.full(shape, fill)
    for index in itertools.product(*map(range, data.shape)):
        found[tuple(f(*index))] = data[index]
    return found


@pytest.mark.parametrize("name", [*PADDED, *BIJECTIVE])
def test_each_element_goes_where_the_function_says(name: str) -> None:
    f, before, after = PADDED.get(name) or BIJECTIVE[name]
    y = transform_layout(sl.tensor(before, name="x"), f, fill=-7)
    assert y.shape == after
    data = np.arange(np.prod(before)).reshape(before)
    assert np.array_equal(sl.interpret(y, data), scattered(f, data, after, -7))


@pytest.mark.parametrize("name", BIJECTIVE)
def test_a_bijection_needs_no_fill_and_is_undone(name: str) -> None:
    f, before, after = BIJECTIVE[name]
    x = sl.tensor(before, name="x")
    y = transform_layout(x, f)
    assert y.shape == after
    assert sl.prove_equal(sl.index_map(y, before, f), x).verdict is sl.Verdict.PROVED


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", PADDED)
def test_places_without_an_element_need_a_fill(name: str) -> None:
    f, before, _ = PADDED[name]
    with pytest.raises(ShapeError, match="fill=") as caught:
        transform_layout(sl.tensor(before), f)
    assert caught.value.kind == "no_inverse"


def test_sizes_may_be_dims() -> None:
    x = sl.tensor((N, W), name="x")
    y = transform_layout(x, lambda i, j: (i // 4, j, i % 4), fill=9)
    assert str(y.shape) == "(ceiling(N/4), W, 4)"
    for n in (0, 1, 4, 7):
        data = np.arange(n * 2).reshape(n, 2)
        expected = scattered(lambda i, j: (i // 4, j, i % 4), data, (-(-n // 4), 2, 4), 9)
        assert np.array_equal(sl.interpret(y, data), expected)
        assert np.array_equal(sl.compile(y, strict=True)(data), expected)
    packed = transform_layout(sl.tensor((16 * H, 16 * W), name="x"), lambda m, n: (m // 16, n // 16, m % 16, n % 16))
    assert packed.shape == (H, W, 16, 16)
    assert packed.requires == ()


def test_a_shape_may_require_that_the_quotient_is_exact() -> None:
    y = transform_layout(sl.tensor((N,), name="x"), lambda i: (i // 4, i % 4), shape=(N / 4, 4))
    assert [str(r) for r in y.requires] == ["Eq(Mod(N, 4), 0)"]
    with pytest.raises(ShapeError):
        y.subs({N: 14})


def test_what_is_no_layout_is_refused() -> None:
    x = sl.tensor("16", name="x")
    for f in (lambda i: (i // 2,), lambda i: (i % 4,)):
        with pytest.raises((ShapeError, InconclusiveError)):
            transform_layout(x, f, fill=0)
    with pytest.raises((ShapeError, InconclusiveError)):
        transform_layout(x, lambda i: (i - 1,), fill=0)
    with pytest.raises(InconclusiveError):
        transform_layout(x, lambda i: (i,), shape=(15,), fill=0)
    for g, kind in ((lambda i: (i / 2,), ShapeError), (lambda i: ("i",), FormatError)):
        with pytest.raises(kind):
            transform_layout(x, g, fill=0)


def test_extents_are_those_of_tvm() -> None:
    for count, expected in ((4, (1, 4)), (16, (4, 4)), (14, (4, 4)), (3, (1, 4))):
        assert reached(sl.tensor((count,)), lambda i: (i // 4, i % 4)) == expected
