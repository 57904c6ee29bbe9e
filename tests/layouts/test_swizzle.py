"""Swizzles, and layouts under swizzles: as functions, as text, as index maps and as kernels."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

import symlayout as sl

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED
NUMBERS = [(0, 0, 0), (1, 0, 1), (1, 0, -1), (2, 1, 2), (2, 1, -3), (3, 4, 3), (3, 3, 3), (2, 0, 4), (1, 2, -2)]


def read(text: str) -> Any:
    return sl.layout(text)


def swizzled(n: int, bits: int, base: int, shift: int) -> int:
    """Return the offset, by the definition of CuTe's ``swizzle.hpp``."""
    mask = ((1 << bits) - 1) << (base + max(0, shift))
    return n ^ ((n & mask) >> shift if shift >= 0 else (n & mask) << -shift)


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_a_swizzle_is_the_exclusive_or_of_masked_bits(numbers: tuple[int, int, int]) -> None:
    s = sl.swizzle(*numbers)
    assert [s(n) for n in range(2048)] == [swizzled(n, *numbers) for n in range(2048)]
    assert s(np.arange(2048)).tolist() == [swizzled(n, *numbers) for n in range(2048)]
    assert sl.swizzle(str(s)) == s == sl.Swizzle(*numbers)


@pytest.mark.parametrize("numbers", NUMBERS[1:], ids=str)  # pycute never ends where the shift is 0
def test_swizzles_equal_those_of_pycute(numbers: tuple[int, int, int]) -> None:
    pycute = pytest.importorskip("pycute")
    peer, s = pycute.Swizzle(*numbers), sl.swizzle(*numbers)
    assert [s(n) for n in range(1024)] == [peer(n) for n in range(1024)]


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [((2, 0, 1), "infeasible"), ((-1, 0, 1), "infeasible"), ((1, -1, 1), "infeasible"), ((1, 0, 99), "infeasible")],
)
def test_numbers_that_are_no_swizzle_are_refused(numbers: tuple[int, int, int], kind: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.swizzle(*numbers)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "text", ["S<3,4,3> o 0 o (8,8):(8,1)", "S<2,1,-3> o 8 o ((2,4),3):((3,6),1)", "S<3,3,3> o K o (8,N):(N,1)"]
)
def test_a_layout_under_a_swizzle_prints_as_it_is_read(text: str) -> None:
    found = read(text)
    assert str(found) == text
    assert pickle.loads(pickle.dumps(found)) == found
    assert found == found.swizzle.composition(found.layout) or found.offset != 0


@pytest.mark.parametrize("text", ["S<3,4> o 0 o 8:1", "S<3,4,3> o 8:1", "S<3,4,3> 0 (8,8)", "S<a,b,c> o 0 o 8:1"])
def test_text_that_is_no_layout_under_a_swizzle_is_a_format_error(text: str) -> None:
    with pytest.raises(sl.FormatError):
        sl.layout(text)


@pytest.mark.parametrize("seed", range(6))
def test_views_and_kernels_read_where_the_swizzle_says(seed: int) -> None:
    rng = random.Random(seed)
    numbers = rng.choice(NUMBERS)
    shape = tuple(rng.choice([1, 2, 3, 4, 8]) for _ in range(3))
    stride = tuple(rng.choice([0, 1, 2, 3, 8, 16, 20]) for _ in range(3))
    offset = rng.choice([0, 0, 5, 16])
    a = sl.layout(f"{sl.swizzle(*numbers)} o {offset} o {sl.layout(shape, stride)}")
    want = np.empty(shape, int)
    for at in np.ndindex(*shape):
        want[at] = swizzled(offset + sum(c * d for c, d in zip(at, stride, strict=True)), *numbers)
        assert a(*at) == want[at]
    assert a.cosize == want.max() + 1
    x = sl.tensor((a.cosize,), name="x", dtype="int64")
    memory = np.arange(a.cosize)
    assert np.array_equal(sl.interpret(a.view(x), memory), want)
    assert np.array_equal(sl.compile(a.view(x), strict=True)(memory), want)
    with pytest.raises(sl.ShapeError, match="outside"):
        a.view(sl.tensor((a.cosize - 1,), name="x"))


def test_a_swizzle_of_whole_blocks_is_an_involution_for_all_sizes() -> None:
    a = read("S<3,3,3> o 0 o (64,8*N):(1,64)")
    assert a.cosize == 512 * sl.dim("N")
    assert sl.prove_equal(a.swizzle.composition(a), a.layout).verdict is PROVED
    x = sl.tensor("512*N", name="x")
    assert sl.prove_equal(sl.inverse(a.view(x))(a.view(x)), x).verdict is PROVED


def test_layouts_under_different_swizzles_differ_at_a_witness() -> None:
    a, b = (read(f"S<3,{base},3> o 0 o (64,8*N):(1,64)") for base in (3, 2))
    proof = sl.prove_equal(a, b)
    assert proof.verdict is REFUTED
    assert proof.witness is not None
    assert sl.prove_equal(a, a).verdict is PROVED
    assert sl.prove_equal(a, a.layout).verdict is REFUTED


def test_a_composition_of_the_inner_layout_stays_under_the_swizzle() -> None:
    a = sl.layout("S<3,4,3> o 0 o (8,8):(8,1)")
    b = a.composition("(4,2):(2,1)")
    assert [b(k) for k in range(8)] == [a(sl.layout("(4,2):(2,1)")(k)) for k in range(8)]
    with pytest.raises(sl.ShapeError) as caught:
        sl.swizzle(2, 0, 2).composition(a)
    assert caught.value.kind == "no_layout"
