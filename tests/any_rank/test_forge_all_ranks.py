"""Certificates for all ranks that are changed in one place are refused, whoever sealed them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_of_computed_ranks
from symlayout.proof.certificate.checker.all_ranks import refusal_of_all_ranks, seal_of
from symlayout.proof.certificate.checker.schema import sealed
from tests.any_rank.any_rank_claims import TRUE, prove

# ---------------------------------------------------------------------- certificates


def certificate() -> Any:
    return prove(*TRUE["batch_to_space undoes space_to_batch"]()).certificate


def swap_digits(c: Any) -> None:
    c["any_rank"]["sides"][0][0][0] = True


def drop_an_entry(c: Any) -> None:
    c["any_rank"]["sides"].pop()


def join_an_axis(c: Any) -> None:
    c["any_rank"]["sides"][0] = [[False, True], False]


def add_a_member(c: Any) -> None:
    c["any_rank"]["extra"] = []


def exchange_the_claims(c: Any) -> None:
    c["plain"], c["each"] = c["each"], c["plain"]


def share_a_dim(c: Any) -> None:
    c["plain"] = c["each"]
    c["any_rank"]["inputs"] = [["x", [[[False], False], [[True], False]]]]
    c["any_rank"]["sides"] = [[[False], False], [[True], False]]


def write_zero_for_false(c: Any) -> None:
    c["any_rank"]["sides"][0][1] = 0


def read_two_inputs(c: Any) -> None:
    other = sl.tensor("N, C", name="y")
    c["plain"] = sl.prove_equal(sl.flip(sl.flip(other)), other).certificate


def have_two_fills(c: Any) -> None:
    t = sl.tensor("N, C", name="x")
    c["plain"] = sl.prove_equal(sl.pad(sl.pad(t, 1, constant_values=1), -1), t).certificate


FORGERIES = [
    swap_digits,
    drop_an_entry,
    join_an_axis,
    add_a_member,
    exchange_the_claims,
    share_a_dim,
    write_zero_for_false,
    read_two_inputs,
    have_two_fills,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_certificate_is_refused(forge: Callable[[Any], None]) -> None:
    forged = copy.deepcopy(certificate())
    assert refusal_of_all_ranks(forged) == ""
    forge(forged)
    assert not sl.check(forged)
    forged["seal"] = seal_of(forged)
    assert not sl.check(forged)
    assert "seal" not in refusal_of_all_ranks(forged)


# ---------------------------------------------------------------------- certificates of computed values


def certificate_of_a_function() -> Any:
    return prove(*TRUE["a function with a scalar and a vector"]()).certificate


def certify(left: Any, right: Any) -> Any:
    return sl.prove_equal(left, right).certificate


def pair_another_function(c: Any) -> None:
    t = sl.tensor("S", name="x")
    z = sl.tensor((), name="z")
    c["each"] = certify(sl.onnx.add(sl.onnx.add(t[::-1], 2), z), sl.onnx.add(sl.onnx.add(t, 2), z)[::-1])


def swap_operands_in_one_factor(c: Any) -> None:
    c["each"]["pairs"][-1]["swapped"] = True


def drop_a_pair(c: Any) -> None:
    c["each"]["pairs"].pop()


def drop_a_view(c: Any) -> None:
    c["plain"]["pairs"][0]["views"].pop()


def use_a_law(c: Any) -> None:
    c["each"]["laws"] = ["reassociate"]


def name_no_input(c: Any) -> None:
    c["any_rank"]["inputs"].pop()


def prove_movement_in_one_factor(c: Any) -> None:
    c["each"] = certificate()["each"]


COMPUTED_FORGERIES = [
    pair_another_function,
    swap_operands_in_one_factor,
    drop_a_pair,
    drop_a_view,
    use_a_law,
    name_no_input,
    prove_movement_in_one_factor,
]


@pytest.mark.parametrize("forge", COMPUTED_FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_certificate_about_functions_is_refused(forge: Callable[[Any], None]) -> None:
    forged = copy.deepcopy(certificate_of_a_function())
    assert sl.check(forged)
    forge(forged)
    assert not sl.check(forged)
    for half in (forged["plain"], forged["each"]):
        if "pairs" in half:
            half["seal"] = sealed(half)["seal"]
    forged["seal"] = seal_of(forged)
    assert not sl.check(forged)
    assert "seal" not in refusal_of_computed_ranks(forged)


def test_inputs_that_are_joined_in_the_group_are_refused() -> None:
    """The map of the axes outside of the group says which input is read; one of the group reads one input."""
    forged = copy.deepcopy(prove(*TRUE["a flip of joined tensors"]()).certificate)
    s, t = sl.tensor("S", name="x"), sl.tensor("S", name="y")
    forged["each"] = certify(sl.concatenate([s, t]), sl.flip(sl.flip(sl.concatenate([s, t]))))
    forged["seal"] = seal_of(forged)
    assert refusal_of_all_ranks(forged) == "the claims are about other inputs, x, y and x, y"
