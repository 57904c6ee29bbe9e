"""Each PROVED names a point: sizes that meet all facts, at which both sides were bound and evaluated."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.certificate.checker import refusal
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.checker.sizes import check_point
from symlayout.proof.points import ELEMENTS, SHAPES, point_of


def claim() -> sl.Proof:
    x = sl.tensor("N, 2*h", name="x")
    return sl.prove_equal(sl.transpose(sl.transpose(x)), x)


def test_a_proof_names_a_point_and_so_does_its_certificate() -> None:
    proof = claim()
    assert proof.verdict is sl.Verdict.PROVED
    assert proof.point is not None
    assert {str(k): v for k, v in proof.point.items()} == {"N": 1, "h": 1}
    assert proof.certificate is not None
    assert proof.certificate["point"] == {"N": 1, "h": 1}
    assert proof.certificate["evaluated"] == ELEMENTS
    assert sl.check(proof.certificate)


def test_the_point_of_a_computed_claim_is_checked() -> None:
    x = sl.tensor("N, C", dtype="float32", name="x")
    proof = sl.prove_equal(sl.transpose(sl.onnx.relu(x)), sl.onnx.relu(sl.transpose(x)))
    assert proof.certificate is not None
    assert sl.check(proof.certificate)
    assert not sl.check(sealed({**proof.certificate, "point": {"N": -1, "C": 1}}))


@pytest.mark.parametrize(
    ("point", "reason"),
    [
        ({"N": 0, "h": 1, "b": 1}, "outside of its bounds"),
        ({"N": 2, "h": 1, "b": 3}, "is no integer at the point"),
        ({"N": 2, "h": 5, "b": 2}, "an assumption of the claim fails"),
        ({"N": 2, "h": 1}, "other dims"),
        ({"N": 2, "h": 1, "b": 2, "c": 1}, "other dims"),
        ({"N": 2, "h": 1, "b": True}, "is not an integer"),
        ({"N": 2, "h": 1, "b": 1 << 5000}, "too large"),
        ([], "not an object"),
    ],
)
def test_an_edited_point_is_refused(point: Any, reason: str) -> None:
    n, b, h = sl.dim("N", min=1), sl.dim("b", min=1), sl.dim("h")
    x = sl.tensor((n, h), name="x")
    with sl.assume(h <= 4):
        y = sl.reshape(x, (n / b, b, h))
    proof = sl.prove_equal(sl.reshape(y, (n, h)), x)
    assert proof.certificate is not None
    data = copy.deepcopy(proof.certificate)
    assert sl.check(data)
    data["point"] = point
    assert reason in refusal(sealed(data))


def test_a_point_at_which_the_sides_differ_is_refused() -> None:
    n = sl.dim("N")
    x = sl.tensor((n,), name="x")
    data = sl.prove_equal(sl.flip(sl.flip(x)), x).certificate
    assert data is not None
    data["claim"]["nodes"] = [*data["claim"]["nodes"]]
    data["claim"]["left"] = 1  # the first flip
    data["claim"]["nodes"].pop()
    data["proof"]["maps"].pop()
    data["point"] = {"N": 2}
    with pytest.raises(Refused, match="at the point the sides read"):
        check_point(data["claim"], {"N": 2}, ELEMENTS)


def test_without_a_point_nothing_is_proved() -> None:
    """No square is twice another one, but for 0: the facts contradict each other, and no rule sees it."""
    n, m = sl.dim("N", min=1), sl.dim("M", min=1)
    x = sl.tensor((n, n), name="x")
    y = sl.reshape(x, (2, m, m))
    proof = sl.prove_equal(sl.reshape(y, (n, n)), x)
    assert proof.verdict is sl.Verdict.UNKNOWN
    assert "no sizes were found" in proof.obligation
    assert proof.point is None


def test_points_are_found_where_small_sizes_are_not_valid() -> None:
    n, m = sl.dims("N M")
    x = sl.tensor((n, m), name="x")
    with sl.assume(n >= 1000, m >= 7 * n + 3):
        y = sl.flip(sl.flip(x, 0), 0)
        proof = sl.prove_equal(y, x)
    assert proof.point is not None
    assert proof.point[n] >= 1000
    assert proof.point[m] >= 7 * proof.point[n] + 3
    assert proof.certificate is not None
    assert proof.certificate["evaluated"] == SHAPES  # these are millions of elements


def test_a_point_has_elements_where_some_sizes_have() -> None:
    x = sl.tensor("N, C", name="x")
    y = x[2:]
    point = point_of([y], y.facts)
    assert point is not None
    assert point.dims["N"] >= 3
    assert point.evaluated == ELEMENTS
