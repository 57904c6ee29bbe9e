"""Equations between floors of shifted numbers: the remainders for which they hold, and what several of them say."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import symlayout as sl
from symlayout.algebra.polynomial import Extent, symbol
from symlayout.algebra.remainder_equations import Floor, RemainderEquation, common_remainders, remainder_equation

BASES = st.tuples(st.integers(-3, 3).filter(bool), st.integers(-9, 9), st.integers(1, 6))


@given(st.lists(st.tuples(st.sampled_from([-2, -1, 1, 2, 3]), BASES), min_size=1, max_size=3), st.integers(-5, 5))
@settings(max_examples=300)
def test_the_remainders_are_those_of_enumeration(parts: list[tuple[int, tuple[int, int, int]]], constant: int) -> None:
    floors = tuple(Floor(f"q{k}", times, *base) for k, (times, base) in enumerate(parts))
    growth = sum(Fraction(f.times * f.slope, f.divisor) for f in floors)
    period = lcm(*(f.divisor for f in floors), growth.denominator)
    scaled = tuple(f._replace(times=f.times * growth.denominator) for f in floors)
    slope = -int(growth * growth.denominator)
    equation = RemainderEquation(symbol("n"), period, slope, constant, scaled)
    found = [n for part in equation.remainders() for n in part]
    value = [sum(f.at(n) for f in scaled) + slope * n + constant for n in range(3 * period)]
    assert found == [n for n in range(period) if value[n] == 0]
    assert [n for n in range(3 * period) if value[n] == 0] == [n for n in range(3 * period) if n % period in found]


@given(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 3)), st.sampled_from([1, 2, 3]))
def test_what_is_in_both_is_found_within_a_common_period(a: set[int], b: set[int], step: int) -> None:
    """The number is ``step*g + 1``, and the equation ``n % d in numbers`` a sum of steps, two for each of them."""

    def one_of(numbers: set[int], d: int) -> RemainderEquation:
        steps = [f for k in numbers for f in (Floor("", 1, 1, d - 1 - k, d), Floor("", -1, 1, d - k, d))]
        steps += [Floor("", 1, 1, 0, d), Floor("", -1, 1, 0, d)]
        return RemainderEquation(symbol("n"), d, 0, 1, tuple(steps))

    found, period = common_remainders([one_of(a, 6), one_of(b, 4)], step * symbol("g") + 1)
    assert period == 12
    assert [n for part in found for n in part] == [
        n for n in range(12) if n % 6 in a and n % 4 in b and (n - 1) % step == 0
    ]


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


def test_an_equation_without_floors_is_compared_with_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was compared with all that are known: a chain of windows took time that grew with the square."""
    read: list[Extent] = []
    real = remainder_equation

    def counted(e: Extent, definitions: Mapping[str, Any]) -> RemainderEquation | None:
        read.append(e)
        return real(e, definitions)

    monkeypatch.setattr("symlayout.algebra.facts.remainder_equation", counted)
    facts = sl.tensor("a, b").facts.fork()
    facts.equations = [*facts.equations, *(symbol("a") - k * symbol("b") for k in range(2, 40))]
    facts.require_zero(symbol("a") * symbol("b") - 77, "area")
    assert len(read) == 1
