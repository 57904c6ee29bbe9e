"""Bank conflicts, sectors and vector widths: known tiles, symbolic strides, and random layouts beside enumeration."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

import symlayout as sl
from tests.layouts import access_sweep

ld, N = sl.dims("ld N")


@pytest.mark.parametrize(
    ("text", "element", "ways"),
    [
        ("32:1", 4, 1),
        ("32:0", 4, 1),
        ("32:32", 4, 32),
        ("32:33", 4, 1),
        ("32:2", 4, 2),
        ("32:1", 2, 1),
        ("(8,4):(64,2)", 2, 8),
        ("(8,4):(72,2)", 2, 1),
        ("S<3,3,3> o 0 o (8,4):(64,2)", 2, 1),
        ("32:1", 8, 2),
    ],
)
def test_known_accesses_have_the_known_conflicts(text: str, element: int, ways: int) -> None:
    assert sl.bank_conflicts(text, element=element) == ways
    assert sl.bank_conflicts(text, element_bytes=element, bank_bytes=4) == ways
    assert int(sl.bank_conflicts(sl.layout(text), 32, 32, 4, element)) == ways


def test_a_column_conflicts_by_the_common_divisor_of_its_stride_and_the_banks() -> None:
    found = sl.bank_conflicts("32:ld", element=4)
    assert {found.at({ld: k}) == sympy.gcd(k, 32) for k in range(1, 200)} == {True}
    assert found.at({"ld": 0}) == 1
    assert found.most == 32
    assert found.value is None
    with pytest.raises(TypeError, match="depends on dims"):
        int(found)


def test_conditions_exclude_each_other_and_cover_all_sizes() -> None:
    found = sl.bank_conflicts("(8,4):(ld,1)", element=4)
    for k in range(100):
        held = [number for condition, number in found.items() if condition.subs(ld, k) == sympy.true]
        assert held == [found.at({ld: k})]


def test_an_answer_for_all_sizes_is_a_number() -> None:
    found = sl.bank_conflicts("(M,N):(1,M)", element=4)
    assert found == 1
    assert list(found) == [sympy.true] or found.value == 1


def test_threads_of_a_layout_of_threads_and_values_access_all_values() -> None:
    assert sl.bank_conflicts("(32,4):(4,1)", element=4, values=True) == 4
    assert sl.bank_conflicts("(32,4):(4,1)", element=4) == 4
    assert sl.bank_conflicts("(8,4):(4,1)", element=4, values=True) == 1
    assert sl.coalescing("(32,4):(4,1)", element=4, values=True) == 16


@pytest.mark.parametrize(("name", "value"), [("threads", 0), ("banks", -1), ("width", 0), ("element", 1.5)])
def test_numbers_that_no_memory_has_are_refused(name: str, value: Any) -> None:
    with pytest.raises(sl.ShapeError, match=name):
        sl.bank_conflicts("32:1", **{name: value})
    with pytest.raises(sl.ShapeError, match="element_bytes"):
        sl.bank_conflicts("32:1", element=2, element_bytes=4)


def test_offsets_of_three_dims_are_refused_and_not_guessed() -> None:
    with pytest.raises(sl.InconclusiveError):
        sl.bank_conflicts("(2,2,8):(A,B,C)", element=4)


def test_a_quotient_that_is_no_integer_has_no_answer() -> None:
    found = sl.bank_conflicts("(8,4):(1,N/4)", element=4)
    assert found.at({N: 128}) == 4
    with pytest.raises(sl.ShapeError) as caught:
        found.at({N: 6})
    assert caught.value.kind == "infeasible"


def test_the_vector_width_of_a_padded_row_depends_on_the_row() -> None:
    found = sl.vector_width("(M,N):(ld,1)", axis=1, base_alignment=8)
    assert [found.at({"M": 4, "N": 64, "ld": k}) for k in (64, 68, 66, 65)] == [8, 4, 2, 1]
    assert found.at({"M": 1, "N": 64, "ld": 65}) == 8
    assert sl.vector_width("(M,N):(1,M)", axis=0).at({"M": 6, "N": 2}) == 6


def test_answers_equal_an_enumeration() -> None:
    tally, wrong = access_sweep.sweep(60, seed=11)
    assert wrong == []
    assert min(tally[f"{name} with dims"] for name in ("bank_conflicts", "coalescing", "vector_width")) > 100
    tally, wrong = access_sweep.sweep(200, seed=12, numbers=True)
    assert wrong == []
    assert tally["bank_conflicts of numbers"] > 190


def test_what_is_assumed_where_a_layout_is_made_is_known_of_its_accesses() -> None:
    with sl.assume("ld >= 32"):
        assert "Eq(ld, 0)" not in str(sl.bank_conflicts("32:ld", element=4))
        rows = sl.layout("32:ld")
    assert "Eq(ld, 0)" not in str(sl.bank_conflicts(rows, element=4))
    assert "Eq(ld, 0)" in str(sl.bank_conflicts("32:ld", element=4))
