"""The best swizzle of a tile, beside an enumeration of all swizzles in plain Python."""

from __future__ import annotations

import itertools
import random

import pytest

import symlayout as sl
from tests.layouts.access_sweep import offset, swizzled, ways


@pytest.mark.parametrize("seed", range(8))
def test_no_swizzle_of_the_block_has_fewer_conflicts(seed: int) -> None:
    rng = random.Random(seed)
    element, block = rng.choice([1, 2, 4]), 512
    tiles = [rng.choice([([8, 4], [64, 2]), ([32], [1]), ([4, 8], [8, 32]), ([32], [16])]) for _ in range(2)]
    found = sl.find_swizzle(*(sl.layout(tuple(n), tuple(d)) for n, d in tiles), element=element)
    accesses = [[offset(n, d, t) for t in range(32)] for n, d in tiles]
    bits = max(map(max, accesses)).bit_length()
    costs = []
    for numbers in itertools.product(range(1, 10), range(10), range(-10, 11)):
        if abs(numbers[2]) >= numbers[0] and sum(map(abs, numbers)) <= bits:
            costs.append([ways([swizzled(o, numbers) for o in a], element, 4, 32) for a in accesses])
    costs.append([ways(a, element, 4, 32) for a in accesses])
    assert sum(found.ways) == min(map(sum, costs))
    assert len(found.tried) == len(costs)
    assert found.check()
    assert found.size <= block
    assert all(way >= bound for way, bound in zip(found.ways, found.bound, strict=True))


def test_a_transpose_through_shared_memory_has_no_conflicts() -> None:
    found = sl.choose_swizzle("(32):(1)", "32:32", element_bytes=4)
    assert found.swizzle == sl.swizzle(5, 0, 5)
    assert found.ways == found.bound == (1, 1)
    assert found.is_optimal
    assert sl.bank_conflicts(found.swizzle.composition("32:32"), element=4) == 1


def test_elements_that_a_vector_takes_stay_together() -> None:
    found = sl.find_swizzle("(8,4):(64,2)", element=2, keep=8)
    assert all(s.base >= 3 for s in found.tried if s.bits)
    assert sl.find_swizzle("(8,4):(64,2)", element=2, keep=8).ways == (1,)


@pytest.mark.parametrize(
    ("layouts", "kind"), [([], "rank"), (["4:-1"], "infeasible"), (["S<1,0,1> o 0 o 4:1"], "no_layout")]
)
def test_what_has_no_best_swizzle_is_refused(layouts: list[str], kind: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.find_swizzle(*(sl.layout(text) for text in layouts))
    assert caught.value.kind == kind
    with pytest.raises(sl.InconclusiveError):
        sl.find_swizzle("32:ld")
