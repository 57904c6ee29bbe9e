"""Boxes of split digits: the map is affine in them, and they write each element once."""

from __future__ import annotations

import itertools

import pytest

import symlayout as sl
from symlayout.algebra.polynomial import evaluate, names_of
from symlayout.maps.compose_chain import normalise
from symlayout.maps.split_digits import Box, divisor, output_box, refine, where
from symlayout.run.lower import lower

CHAINS = {
    "space_to_depth": sl.space_to_depth(sl.tensor((1, 1, 4, 6), name="x"), 2),
    "reshape": sl.reshape(sl.tensor((4, 6), name="x"), (8, 3)),
    "transposed reshape": sl.reshape(sl.transpose(sl.tensor((4, 6), name="x")), (3, 8)),
}


def values(box: Box) -> list[tuple[int, ...]]:
    """Return the output coordinates of all points of a box of fixed extents."""
    ranges = [range(e) for e in box.extents.values() if isinstance(e, int)]
    assert len(ranges) == len(box.extents)
    points = [dict(zip(box.extents, point, strict=True)) for point in itertools.product(*ranges)]
    inside = [p for p in points if all(0 <= evaluate(w.value, p) < evaluate(w.extent, p) for w in box.windows)]
    return [tuple(evaluate(c, p) for c in box.coords) for p in inside]


@pytest.mark.parametrize("name", CHAINS)
def test_digits_walk_every_output_element_once_and_leave_no_floor(name: str) -> None:
    t = CHAINS[name]
    (path,) = [read.path for read in normalise(t)]
    box, read = refine(t, path, lambda box, read: [*box.coords, *read.coords])
    assert not any(n in read.facts.floors for c in read.coords for n in names_of(c))
    found = values(box)
    assert len(found) == len(set(found))
    assert set(found) == set(itertools.product(*(range(int(n)) for n in t.shape)))
    assert divisor(box, read, lambda box, read: list(read.coords)) is None


def chain_of_tiles(length: int) -> sl.Tensor:
    t = sl.tensor("n", name="x")
    for _ in range(length):
        t = sl.tile(t, 2)
    return t


def test_digits_that_nothing_tells_apart_are_one_digit() -> None:
    t = chain_of_tiles(5)
    (path,) = [read.path for read in normalise(t)]
    box, read = refine(t, path, lambda box, read: [*box.coords, *read.coords])
    assert list(map(str, box.extents.values())) == ["32", "n"]
    assert list(map(str, read.coords)) == ["#0_1"]


def test_the_work_of_lowering_a_chain_grows_like_its_length() -> None:
    goals = []
    for length in (30, 60):
        t = chain_of_tiles(length)
        lower(t)
        goals.append(t.facts.effort)
    assert 0 < goals[1] <= 3 * goals[0]


def test_a_box_where_a_divisor_is_positive_is_nowhere_if_it_is_0() -> None:
    t = sl.pad(sl.tensor("N, M", name="x"), 1)
    n, _ = t.leaves()[0].extents
    box = output_box(t)
    assert where(box, 0) is None
    found = where(box, n)
    assert found is not None
    assert found.facts.positive(n)
    assert not box.facts.positive(n)


def test_the_points_of_a_box_are_searched_for_once() -> None:
    box = output_box(sl.space_to_depth(sl.tensor("N, C, 2*h, 2*w", name="x"), 2))
    assert box.facts._samples
    assert box.facts.fork()._points() == box.facts._points()
