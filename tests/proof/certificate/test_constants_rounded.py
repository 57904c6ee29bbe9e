"""A certificate names the constants that are one but for their rounding, under the law that allows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_alone, refusal_of_chains
from symlayout.proof.certificate.checker.elements import refusal_of_rounded
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.tensors.chain import Tensor

FOLD = ["fold-batchnorm"]
W = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
V = np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)
NEAR = np.nextafter(W, np.float32(9))
X = sl.tensor("N, 8", dtype="float32", name="x")
Certificate = dict[str, Any]


def side(w: np.ndarray[Any, Any], rounding: float = 1e-5, other: np.ndarray[Any, Any] = V) -> Tensor:
    product = sl.onnx.mat_mul(sl.onnx.relu(X), sl.constant(w, rounding=rounding))
    made: Tensor = sl.onnx.mat_mul(product, sl.constant(other))
    return made


LEFT, RIGHT = side(W), side(NEAR, 0)


@pytest.fixture(scope="module", name="shown")
def fixture_shown() -> Certificate:
    proof = sl.prove_equal(LEFT, RIGHT, laws=FOLD)
    assert (proof.verdict, list(proof.laws)) == (sl.Verdict.PROVED, FOLD)
    shown: Certificate = json.loads(json.dumps(proof.certificate))
    return shown


def test_rounded_constants_have_a_certificate_of_these_sides_alone(shown: Certificate) -> None:
    assert (shown["laws"], len(shown["rounded"])) == (FOLD, 1)
    assert sl.check(shown, before=LEFT, after=RIGHT)
    assert refusal_alone(shown) == ""
    for other in (side(NEAR * 2), side(NEAR, 0, np.nextafter(V, np.float32(9))), side(NEAR, 0, NEAR), side(NEAR.T, 0)):
        assert refusal_of_chains(shown, LEFT, other) != ""
    assert "rounding" in refusal_of_chains(shown, side(W, 1e-9), RIGHT)
    assert "rounded" in refusal_of_chains(shown, side(W, 0), RIGHT)


EDITS: dict[str, Callable[[Certificate], Any]] = {
    "no law": lambda c: c.update(laws=[]),
    "another law": lambda c: c.update(laws=["real"]),
    "one law more": lambda c: c.update(laws=[*FOLD, "real"]),
    "no constants": lambda c: c.update(rounded=[]),
    "nothing about constants": lambda c: c.pop("rounded"),
    "twice": lambda c: c.update(rounded=c["rounded"] * 2),
    "another constant before": lambda c: c["rounded"][0].__setitem__(0, c["rounded"][0][0] + 1),
    "another constant after": lambda c: c["rounded"][0].__setitem__(1, c["rounded"][0][1] + 1),
    "a text": lambda c: c["rounded"][0].__setitem__(1, "w"),
    "no list": lambda c: c.update(rounded={}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_certificate_is_refused(shown: Certificate, edit: str) -> None:
    edited = deepcopy(shown)
    EDITS[edit](edited)
    assert edited != shown
    assert refusal_of_chains(sealed(edited), LEFT, RIGHT) != ""


def test_a_certificate_that_needs_no_rounding_names_no_law() -> None:
    proof = sl.prove_equal(LEFT, side(W), laws=FOLD)
    assert proof.certificate is not None
    assert "rounded" not in proof.certificate
    assert proof.certificate["laws"] == []


@pytest.mark.parametrize(
    ("one", "other", "most"),
    [
        (W, NEAR, 0.0),
        (W, NEAR, float("nan")),
        (W, NEAR[:4], 1e-5),
        (W, NEAR.astype(np.float64), 1e-5),
        (np.arange(4), np.arange(4), 1.0),
        (np.array([np.nan], np.float32), np.array([np.nan], np.float32), 1.0),
        (np.array([np.inf], np.float32), np.array([np.inf], np.float32), 1.0),
        (W, W + np.float32(1e-3), 1e-5),
    ],
)
def test_what_is_not_one_but_for_rounding(one: Any, other: Any, most: float) -> None:
    assert refusal_of_rounded(one, other, most) != ""
    assert refusal_of_rounded(other, one, most) != ""


def test_what_is_one_but_for_rounding() -> None:
    assert refusal_of_rounded(W, NEAR, 1e-5) == ""
