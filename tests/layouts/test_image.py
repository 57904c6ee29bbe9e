"""What layouts reach and who owns it: known layouts, cases, and random ones beside an enumeration."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.layouts.conditions import Conditions
from symlayout.layouts.image import injective, surjective
from tests.layouts import brute_image

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED


def test_random_layouts_agree_with_an_enumeration() -> None:
    tally, _ = brute_image.run(40, seed=2)
    assert sum(many for label, many in tally.items() if label.endswith(("PROVED", "REFUTED"))) > 80
    assert tally["owner"] > 15


@pytest.mark.parametrize(
    ("text", "once", "all_reached"),
    [
        ("(M,N):(N,1)", PROVED, PROVED),
        ("(4,8):(7,1)", REFUTED, PROVED),
        ("(2,3):(3,2)", PROVED, REFUTED),
        ("(2,2,2):(2,3,5)", REFUTED, REFUTED),
        ("(4,3):(-1,4)", PROVED, PROVED),
        ("(4,2):(0,1)", REFUTED, PROVED),
        ("M:2", PROVED, REFUTED),
        ("1:7", PROVED, PROVED),
    ],
)
def test_verdicts_for_all_sizes(text: str, once: sl.Verdict, all_reached: sl.Verdict) -> None:
    a = sl.layout(text)
    assert sl.is_injective(a).verdict is a.is_injective().verdict is once
    assert sl.is_surjective(a).verdict is a.is_surjective().verdict is all_reached


@pytest.mark.parametrize("text", ["(4,8):(7,1)", "(2,3):(3,2)", "(2,2,2):(2,3,5)", "(4,3):(-1,4)", "(4,2):(0,1)"])
def test_numbers_are_decided_by_enumeration(text: str) -> None:
    a = sl.layout(text)
    offsets = [a(k) for k in range(a.size)]
    assert injective(a.nest, Conditions(a.facts)) is (len(set(offsets)) == len(offsets))
    every = set(range(min(offsets), max(offsets) + 1))
    assert surjective(a.nest, None, Conditions(a.facts)) is (set(offsets) == every)


def test_a_witness_is_two_coordinates_or_an_offset() -> None:
    assert sl.layout("(4,8):(7,1)").is_injective().witness == (7, (1, 0), (0, 7))
    found = sl.layout("(4,N):(1,8)").is_surjective()
    assert (found.witness, {str(s): n for s, n in (found.dims or {}).items()}) == ((4,), {"N": 2})
    assert sl.layout("(4,4):(1,4)").is_surjective(12).witness == (12,)
    assert sl.layout("(4,N):(1,4)").is_surjective(4 * sl.dim("N")).verdict is PROVED


def test_cases_cover_all_sizes() -> None:
    found = sl.layout("(M,N):(ld,1)").cases.is_injective()
    assert {(*map(str, case.requires), case.verdict.name) for case in found} >= {
        ("ld >= N", "PROVED"),
        ("ld >= 1", "N >= ld + 1", "M >= 2", "REFUTED"),
        ("ld >= 1", "N >= ld + 1", "M <= 1", "PROVED"),
    }
    strides = sl.layout("(4,N):(2,ld)").cases.is_injective()
    assert "UNKNOWN" not in {case.verdict.name for case in strides}


def test_owners_of_the_tiles_of_tensor_cores() -> None:
    accumulator = sl.layout("((4,8),(2,2)):((32,1),(16,8))")  # SM80_16x8_Row
    who = sl.owner(accumulator)
    assert [accumulator(who(k)) for k in range(128)] == list(range(128))
    assert who(17) == (4, 1)
    shared = sl.owner("(32,4):(0,1)")
    assert [shared(k) for k in range(4)] == [(0, k) for k in range(4)]
    assert sl.owner("((4,8),2):((1,4),0)")(5) == (5, 0)
    padded = sl.owner("(M,N):(ld,1)")
    assert (*map(str, padded.requires),) == ("ld >= N",)
    assert padded.size == sl.dim("ld") * sl.dim("M")


def kind_of(ask: Any) -> str:
    with pytest.raises(sl.ShapeError) as caught:
        ask()
    return caught.value.kind


def test_what_has_no_owner_is_a_typed_error() -> None:
    assert kind_of(lambda: sl.owner("4:-1")) == "infeasible"
    assert kind_of(lambda: sl.owner("S<1,0,1> o 0 o 4:1")) == "no_layout"
    assert kind_of(lambda: sl.make_identity_layout("(4,M)").is_injective()) == "attr_dtype"
    assert kind_of(lambda: sl.make_identity_layout("(4,M)").cases.is_surjective()) == "attr_dtype"
    with pytest.raises(sl.InconclusiveError):
        sl.owner("(2,3):(3,2)")
