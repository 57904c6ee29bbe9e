"""Equations between floors of shifted numbers: the remainders for which they hold, and what several of them say."""

from __future__ import annotations

import itertools

import pytest
import sympy as sp

import symlayout as sl
from symlayout.algebra.equal_floors import common_ranges, equal_floor_remainders


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_the_remainders_are_those_of_enumeration(d: int) -> None:
    for j, k, difference in itertools.product(range(-9, 10), range(-9, 10), range(-4, 5)):
        found = [r for part in equal_floor_remainders(j, k, d, difference) for r in part]
        assert found == [r for r in range(d) if (r + j) // d - (r + k) // d == difference]


def test_common_ranges_have_the_numbers_of_both() -> None:
    lists = [equal_floor_remainders(j, 0, 6, difference) for j in range(-6, 7) for difference in (-1, 0, 1)]
    for a, b in itertools.product(lists, repeat=2):
        both = {r for part in a for r in part} & {r for part in b for r in part}
        assert [r for part in common_ranges(a, b) for r in part] == sorted(both)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_equations_that_leave_one_remainder_are_a_division(order: tuple[int, ...]) -> None:
    """Every fourth element from each of four beginnings, joined in pairs and then as one: 4 divides C, and no more."""
    x = sl.tensor("C", name="x")
    parts = [x[k::4] for k in order]
    pairs = [sl.stack(parts[:2], axis=1), sl.stack(parts[2:], axis=1)]
    joined = sl.stack(pairs, axis=2)
    (C,) = x.shape
    assert joined.shape == (C / 4, 2, 2)
    assert joined.requires == (sp.Eq(sp.Mod(C, 4), 0),)


@pytest.mark.parametrize("k", range(1, 4))
def test_equations_that_leave_several_remainders_hold_for_these_only(k: int) -> None:
    joined = sl.stack([(x := sl.tensor("C", name="x"))[::4], x[k::4]], axis=0)
    assert [c for c in range(20) if _binds(joined, c)] == [
        c for c in range(20) if len(range(0, c, 4)) == len(range(k, c, 4))
    ]


def test_equations_that_leave_no_remainder_are_refused() -> None:
    x = sl.tensor("C", name="x")
    high, low = x[::4], x[2::4]  # as long where C % 4 is 0 or 3, and one longer where it is 1 or 2
    with pytest.raises(sl.ShapeError) as caught:
        sl.concatenate([sl.stack([high, low], axis=1), sl.stack([high, sl.pad(low, [(0, 1)])], axis=1)], axis=0)
    assert caught.value.kind == "infeasible"


def test_a_claim_about_such_joins_is_proved_with_a_certificate() -> None:
    x = sl.tensor("C", name="x")
    parts = [x[k::4] for k in range(4)]
    pairs = [sl.stack([parts[1], parts[2]], axis=1), sl.stack([parts[0], parts[3]], axis=1)]
    rows, joined = sl.reshape(x, (-1, 4)), sl.reshape(sl.stack(pairs, axis=1), (-1, 4))
    proof = sl.prove_equal(joined, sl.take(rows, [1, 2, 0, 3], axis=1))
    assert (proof.verdict, proof.same_requires) == (sl.Verdict.PROVED, True)
    assert sl.check(proof.certificate)
    assert sl.prove_equal(joined, sl.take(rows, [1, 2, 3, 0], axis=1)).verdict is sl.Verdict.REFUTED


def _binds(t: sl.Tensor, size: int) -> bool:
    try:
        t.subs({"C": size})
    except sl.ShapeError:
        return False
    return True
