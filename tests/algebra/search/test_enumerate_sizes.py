"""Sizes are enumerated by their distance from the start, each once, however the bounds lie."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symlayout as sl
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.search.enumerate_sizes import sizes

N = sl.dim("N")
S = sl.dim("s", min=None)
X = sl.tensor((N,), name="x")

BOXES = [
    (Dim("a", 0, 3), Dim("b", 1, 2)),
    (Dim("a", -2, 3), Dim("b", -5, -4)),
    (Dim("a", -7, 7, 3), Dim("b", 0, 0)),
    (Dim("a", 4, 9, 2), Dim("b", -3, 1), Dim("c", 1, 1)),
    (Dim("a", 5, 5, 5),),
    (),
]


def system(*dims: Dim) -> Facts:
    facts = Facts()
    for d in dims:
        facts.declare(d)
    return facts


@pytest.mark.parametrize("dims", BOXES, ids=str)
def test_all_sizes_of_a_box_come_once_the_nearest_first(dims: tuple[Dim, ...]) -> None:
    found = [tuple(at.values()) for at in sizes(system(*dims))]
    values = [[v for v in range(d.min or 0, (d.max or 0) + 1) if v % d.multiple_of == 0] for d in dims]
    assert sorted(found) == sorted(itertools.product(*values))
    starts = [min(v, key=abs) for v in values]
    distances = [sum(abs(v - start) for v, start in zip(at, starts, strict=True)) for at in found]
    assert distances == sorted(distances)


@pytest.mark.parametrize(
    "dims",
    [
        (Dim("M", 10**6), Dim("k", 1, 4)),
        (Dim("k", 1, 4), Dim("M", 10**6)),
        (Dim("M", 0, 10**15, 10**9), Dim("k", 0, 1)),
    ],
    ids=str,
)
def test_a_dim_of_few_values_beside_one_of_many_costs_nothing(dims: tuple[Dim, ...]) -> None:
    assert len({tuple(at.values()) for at in itertools.islice(sizes(system(*dims)), 3000)}) == 3000


def test_an_unbounded_dim_is_searched_from_0() -> None:
    assert [at["s"] for at in itertools.islice(sizes(system(Dim("s", None))), 5)] == [0, 1, -1, 2, -2]
    assert [at["s"] for at in itertools.islice(sizes(system(Dim("s", None, -3, 2))), 3)] == [-4, -6, -8]
    far = sl.dim("f", min=-(10**9))
    proof = sl.prove_equal(sl.pad(X, [(far, 0)]), sl.pad(X, [(0, far)]))
    assert proof.witness is not None
    assert proof.witness.dims == {N: 1, far: 1}


@pytest.mark.sample(4)
@pytest.mark.parametrize("shift", [-3, -1, 0, 2, 9])
def test_a_shift_may_be_of_any_sign(shift: int) -> None:
    data = np.arange(1, 6)
    rolled, moved, padded = sl.roll(X, S), sl.pad(X, [(S, -S)]), sl.pad(X, [(S, 0)])
    for run in (sl.interpret, lambda t, a, dims: sl.compile(t, strict=True)(a, dims=dims)):
        assert run(rolled, data, dims={S: shift}).tolist() == np.roll(data, shift).tolist()
        whole = np.concatenate([np.zeros(20, int), data, np.zeros(20, int)])
        assert run(moved, data, dims={S: shift}).tolist() == whole[20 - shift : 25 - shift].tolist()
        assert run(padded, data, dims={S: shift}).tolist() == whole[20 - shift : 25].tolist()
    assert moved.requires == ()
    assert str(padded.requires) == "(N + s >= 0,)"


def test_claims_about_shifts_of_any_sign() -> None:
    proof = sl.prove_equal(sl.roll(sl.roll(X, S), -S), X)
    assert proof.verdict is sl.Verdict.PROVED
    assert "N >= 0, s." in proof.explain()
    assert sl.check(sl.prove_equal(sl.pad(X, [(S, -S)]), sl.pad(X, [(S, -S)])).certificate)
    assert sl.prove_equal(sl.pad(sl.pad(X, [(S, 0)]), [(-S, 0)]), X).verdict is sl.Verdict.REFUTED
    with pytest.raises(sl.ShapeError) as caught:
        sl.tensor((sl.dim("t", min=None, max=-1),))
    assert caught.value.kind == "infeasible"


def test_the_search_for_a_witness_of_a_property_is_bounded_for_large_sizes() -> None:
    """Sizes that are too large to be evaluated count too."""
    k, m = sl.dim("k", min=1, max=4), sl.dim("M", min=10**6)
    found = sl.is_injective(sl.tile(sl.reshape(sl.tensor((m,), name="x"), (-1, k)), 2), budget=20)
    assert found.verdict is sl.Verdict.UNKNOWN


@pytest.mark.slow
def test_bounds_that_grow_by_squaring_stay_short() -> None:
    b = sl.dim("b")
    x = sl.tensor((b**2,), name="x")
    t = sl.channel_shuffle(sl.window(x, b // 2, 0, 2 * b - 1, 2, [(2, 1)]), 3, 0)
    assert t.bounds() == [(3, None), (1, None)]
