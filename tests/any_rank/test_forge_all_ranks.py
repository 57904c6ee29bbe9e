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


# ---------------------------------------------------------------------- every leaf


def _edits(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """Yield each place of a certificate, but for seals, and other values for it."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if key != "seal":
                yield from _edits(part, (*path, key))
    elif isinstance(value, bool):
        yield path, [not value]
    elif isinstance(value, int):
        yield path, [other for other in (value + 1, value - 1, value + 7, -1) if other != value]
    elif value is None:
        yield path, [0, 1, False, []]


@pytest.mark.parametrize("half", ["plain", "each"])
def test_no_number_of_a_pair_can_be_another_one(half: str) -> None:
    """The places of values in the chains are not stated, and the orders of axes are those of the views."""
    x = sl.tensor("N, *S, C", dtype="float32", name="x")
    left = sl.flip(sl.onnx.relu(sl.flip(sl.onnx.relu(x), 1)), 1)
    found = certify(left, sl.onnx.relu(sl.onnx.relu(x)))
    accepted = []
    for number, pair in enumerate(found[half]["pairs"]):
        assert pair.keys().isdisjoint({"before", "after"})
        stated = {key: part for key, part in pair.items() if key != "views"}
        for path, others in _edits(stated):
            for other in others:
                forged = copy.deepcopy(found)
                place = forged[half]["pairs"][number]
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = other
                forged[half] = sealed(forged[half])
                forged["seal"] = seal_of(forged)
                if sl.check(forged):
                    accepted.append((number, path, other))
    assert sl.check(found)
    assert not accepted


@pytest.mark.parametrize("half", ["plain", "each"])
def test_a_batch_has_no_more_axes_than_its_value(half: str) -> None:
    x = sl.tensor("N, *S", dtype="float32", name="x")
    found = certify(sl.onnx.relu(sl.flip(x, 0)), sl.flip(sl.onnx.relu(x), 0))
    assert sl.check(found)
    (pair,) = found[half]["pairs"]
    pair["order"] = [*pair["order"], len(pair["order"])]
    found[half] = sealed(found[half])
    assert "and its batch" in refusal_of_computed_ranks({**found, "seal": seal_of(found)})


def test_a_function_goes_through_pads_of_any_rank() -> None:
    x = sl.tensor("N, *S, C", dtype="float32", name="x")
    widths = [(1, 0), (1, 2), (0, 2)]
    for fill in (0.0, 1.0):
        proof = sl.prove_equal(
            sl.onnx.relu(sl.pad(x, widths, constant_values=fill)), sl.pad(sl.onnx.relu(x), widths, constant_values=fill)
        )
        assert proof.verdict is sl.Verdict.PROVED
        assert proof.point is not None
        assert sl.check(proof.certificate)
    left = sl.onnx.relu(sl.pad(x, widths, constant_values=-1.0))
    right = sl.pad(sl.onnx.relu(x), widths, constant_values=-1.0)
    assert sl.prove_equal(left, right).verdict is sl.Verdict.REFUTED


def test_a_fold_of_fills_is_another_one_in_each_factor() -> None:
    """Each factor has the fill on both sides; their product adds up as many fills as there are channels."""
    x = sl.tensor("N, *S, C", dtype="float32", name="x")
    widths = [(0, 0), (1, 1), (0, 0)]
    left = sl.onnx.reduce_sum(sl.pad(x, widths, constant_values=1.0), [2])
    right = sl.pad(sl.onnx.reduce_sum(x, [2]), widths, constant_values=1.0)
    assert sl.prove_equal(left, right, budget=20).verdict is sl.Verdict.REFUTED
