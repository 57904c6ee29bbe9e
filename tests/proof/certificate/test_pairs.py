"""The pairs of a certificate about computed values: no part of one is about other sizes, orders or later pairs."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_alone
from symlayout.proof.certificate.checker.pairs import check_pairs
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.computed_claims import is_sealed


def certificate() -> Any:
    x = sl.tensor("N, C", dtype="float32", name="x")
    relu, add = sl.onnx.relu, sl.onnx.add
    left = sl.transpose(add(relu(sl.transpose(x)), sl.transpose(x)))
    return sl.prove_equal(left, add(relu(x), x)).certificate


def resealed(c: Any) -> Any:
    for pair in c["pairs"]:
        pair["views"] = [None if view is None else sealed(view) for view in pair["views"]]
    c["outputs"] = {name: None if shown is None else sealed(shown) for name, shown in c["outputs"].items()}
    return sealed(c)


def _first_view(c: Any) -> Any:
    return next(view for pair in c["pairs"] for view in pair["views"] if view is not None)


def fewer_sizes(c: Any) -> None:
    _first_view(c)["claim"]["dims"][0][2] = 1


def more_assumed(c: Any) -> None:
    _first_view(c)["claim"]["assumptions"].append([">=", 3])


def other_order(c: Any) -> None:
    c["pairs"][-1]["order"].reverse()


def no_order(c: Any) -> None:
    c["pairs"][0]["order"] = [0, 0]


def no_law(c: Any) -> None:
    c["pairs"][0]["law"] = "reassociate"


def one_operand_swapped(c: Any) -> None:
    c["pairs"][0]["swapped"] = True


def a_later_value(c: Any) -> None:
    for node in _first_view(c)["claim"]["nodes"]:
        if "input" in node:
            node["input"] = "value 7"


def a_box_turned(c: Any) -> None:
    c["pairs"][0]["box"][3] = [0]


def negative_place(c: Any) -> None:
    c["pairs"][0]["before"] = -1


def two_of_one(c: Any) -> None:
    c["pairs"][1]["before"], c["pairs"][1]["after"] = c["pairs"][0]["before"], c["pairs"][0]["after"]


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (fewer_sizes, "about other sizes"),
        (more_assumed, "about other sizes"),
        (other_order, "its axes in the order"),
        (no_order, "no permutation"),
        (no_law, "needs the law reassociate"),
        (one_operand_swapped, "no two operands"),
        (a_later_value, "not shown before"),
        (a_box_turned, "the box has no axes"),
        (negative_place, "not a number >= 0"),
        (two_of_one, "about the same values"),
    ],
)
def test_a_pair_that_is_edited_is_refused(forge: Callable[[Any], None], reason: str) -> None:
    good = certificate()
    assert sl.check(resealed(copy.deepcopy(good)))
    forged = copy.deepcopy(good)
    forge(forged)
    forged = resealed(forged)
    assert reason in refusal_alone(forged)
    assert not sl.check(forged)


@pytest.mark.parametrize("key", ["before", "after", "order"])
def test_beside_both_sides_each_number_of_a_pair_has_one_value(key: str) -> None:
    """The pairs of a chain's certificate say where their values are: only the chain tells whether they are there."""
    x = sl.tensor("N, N", dtype="float32", name="x")
    relu, add = sl.onnx.relu, sl.onnx.add
    left = sl.transpose(add(relu(relu(sl.transpose(x))), sl.transpose(x)))
    right = add(relu(relu(x)), x)
    good: Any = sl.prove_equal(left, right).certificate
    assert sl.check(good, before=left, after=right)
    assert not sl.check(good, before=right, after=left)
    assert not sl.check(good, before=left, after=add(relu(x), x))
    for number, pair in enumerate(good["pairs"]):
        wrong = [pair[key][::-1], pair[key][:1]] if key == "order" else [k for k in range(9) if k != pair[key]]
        for other in wrong:
            forged = copy.deepcopy(good)
            forged["pairs"][number][key] = other
            assert not sl.check(resealed(forged), before=left, after=right), (number, other)


def test_the_certificate_of_movement_is_about_its_sides() -> None:
    x = sl.tensor("N, C", dtype="float32", name="x")
    y = sl.flip(sl.flip(x, 0), 0)
    shown = sl.prove_equal(y, x).certificate
    assert sl.check(shown, before=y, after=x)
    assert not sl.check(shown, before=sl.flip(sl.flip(x, 1), 1), after=x)


def test_pairs_are_checked_without_the_models() -> None:
    c = certificate()
    check_pairs(c)
    assert is_sealed(c)
    c["pairs"][0]["order"] = [*c["pairs"][0]["order"], 0]
    assert not is_sealed(c)
    with pytest.raises(Refused):
        check_pairs(c)


def _edited(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1, value + 2]
    if isinstance(value, str):
        return ["", f"{value}x"]
    if isinstance(value, list):
        return [*([value[::-1]] if value != value[::-1] else []), *([value[:-1], [*value, value[-1]]] if value else [])]
    return []


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if key not in ("views", "proof", "seal", "claim", "point", "evaluated"):
            yield value, key
            yield from _places(item)


X, W = sl.tensor("N, C", dtype="float32", name="x"), sl.tensor("C, K", dtype="float32", name="w")
CLAIMS = {
    "elementwise": lambda op, t: (
        t(op.sub(op.exp(op.relu(t(X))), op.abs(t(X)))),
        op.sub(op.exp(op.relu(X)), op.abs(X)),
    ),
    "a fold": lambda op, t: (op.reduce_max(t(X), axes=[0], keepdims=0), op.reduce_max(X, axes=[1], keepdims=0)),
    "products": lambda op, t: (t(op.mat_mul(op.relu(X), W)), op.mat_mul(t(W), t(op.relu(X)))),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_each_number_and_name_that_a_certificate_states_is_bound_to_its_proof(name: str) -> None:
    """Without its sides, too: a checked proof says which values are equal, in which order, and of which function."""
    good = json.loads(json.dumps(sl.prove_equal(*CLAIMS[name](sl.onnx, sl.transpose)).certificate))
    assert sl.check(good)
    count, accepted = 0, []
    for part in ("pairs", "outputs", "laws", "text"):
        for number, (holder, key) in enumerate(_places(good[part])):
            for new in _edited(holder[key]):
                forged = copy.deepcopy(good)
                holder, key = list(_places(forged[part]))[number]
                old, holder[key] = holder[key], new
                count += 1
                if new != old and sl.check(resealed(forged)):
                    accepted.append((part, number, key, old, new))
    assert count > 30
    assert not accepted
