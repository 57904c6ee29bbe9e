"""What the algebra and the access of layouts are made of: nested shapes, conditions, residues."""

from __future__ import annotations

import symlayout as sl
from symlayout.language.sympy_conditions import greatest_common_divisor, number_at
from symlayout.layouts.access import bank_conflicts
from symlayout.layouts.answers import Answer
from symlayout.layouts.find_swizzle import BestSwizzle
from symlayout.layouts.layout_algebra import LayoutAlgebra
from symlayout.layouts.nested import flat, profile
from symlayout.layouts.residue_cases import beyond, congruent
from symlayout.layouts.swizzle import Swizzle
from symlayout.layouts.vector_width import vector_width

N, ld = sl.dims("N ld")


def test_a_nested_shape_has_its_extents_in_order() -> None:
    assert list(flat(((2, 3), 4))) == [2, 3, 4]
    assert profile(((2, 3), 4)) == ((None, None), None)


def test_a_residue_is_a_multiple_after_its_remainder() -> None:
    (only,) = congruent("N", 4, 1)
    assert (only.relation, only.modulus) == ("divides", 4)
    assert [only.holds({"N": n}) for n in (1, 2, 5, 8)] == [True, False, True, False]
    assert [beyond("N", 3).holds({"N": n}) for n in (2, 3, 4)] == [False, True, True]


def test_numbers_of_conditions_are_exact() -> None:
    assert number_at(2 * N + 1, {N: 3}) == 7
    assert str(greatest_common_divisor([4 * N, 6])) == "gcd(4*N, 6)"


def test_answers_are_numbers_or_cases() -> None:
    known = bank_conflicts(sl.layout("32:32"), element=4)
    assert isinstance(known, Answer)
    assert known == 32
    widths = vector_width(sl.layout((8, 4), (1, ld)), 0)
    assert widths.at({ld: 8}) == 8
    assert widths.at({ld: 9}) == 1


def test_the_best_swizzle_is_a_swizzle_and_a_layout_has_the_algebra() -> None:
    best = sl.find_swizzle(sl.layout((32,), (32,)), element=4)
    assert isinstance(best, BestSwizzle)
    assert all(isinstance(s, Swizzle) for s in best.tried)
    assert isinstance(sl.layout("4:1"), LayoutAlgebra)
