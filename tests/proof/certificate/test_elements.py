"""The checker compares the elements of constants that a claim states to be equal; polynomials on boxes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from symlayout.algebra.polynomial import encode, symbol
from symlayout.proof.certificate.checker import elements
from symlayout.proof.certificate.checker.box_values import MAX_INT, values_at
from symlayout.proof.certificate.checker.elements import refusal_of_elements
from symlayout.proof.certificate.checker.polynomials import Refused, Work, decode

K, J = symbol("i"), symbol("j")
WHOLE = np.arange(12, dtype=np.int16).reshape(3, 4)
CONSTANTS = {"whole": WHOLE, "right": WHOLE[:, 2:].copy(), "swapped": WHOLE.astype(">i2"), "wide": WHOLE.astype("i4")}
BOX = [["i", 0, 2], ["j", 0, 1]]


def statement(one: str, at: list[Any], other: str, there: list[Any], box: list[Any] = BOX) -> dict[str, Any]:
    """Return the part of a claim that states elements to be equal."""
    return {"elements": [[[one, [encode(e) for e in at]], [other, [encode(e) for e in there]], box]]}


@pytest.mark.parametrize("block", [1 << 20, 1, 4])
def test_elements_that_are_equal_are_accepted_however_many_are_compared_at_once(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "_BLOCK", block)
    for claim in (
        {},
        statement("whole", [K, J + 2], "right", [K, J]),
        statement("whole", [2 - K, 3 - J], "right", [2 - K, 1 - J]),
        statement("whole", [K, J], "swapped", [K, J]),
        statement("whole", [1, 2], "right", [1, 0], []),
        statement("whole", [9, 9], "right", [9, 9], [["i", 1, 0]]),  # about nothing
    ):
        assert refusal_of_elements(claim, CONSTANTS) == ""


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (statement("whole", [K, J], "right", [K, J]), "have other elements"),
        (statement("whole", [K, J], "wide", [K, J]), "have other elements"),
        (statement("whole", [K, J + 2], "right", [K, J], [["i", 0, 2], ["j", 0, 2]]), "outside of whole"),
        (statement("whole", [K, J + 2], "right", [K, J], [["i", -1, 2], ["j", 0, 1]]), "outside of whole"),
        (statement("whole", [K, J + 2], "left", [K, J]), "left is no constant"),
        (statement("whole", [K, J], "right", [K, J], [["i", 0, 1 << 40], ["j", 0, 1]]), "more than"),
        (statement("whole", [K, 0], "right", [K, 0], [["i", 1 << 70, 1 << 70]]), "too large for 64 bits"),
        (statement("whole", [K * MAX_INT, J], "right", [K, J]), "too large for 64 bits"),
    ],
)
def test_what_is_not_so_is_refused(claim: dict[str, Any], reason: str) -> None:
    assert reason in refusal_of_elements(claim, CONSTANTS)


def test_one_element_that_differs_in_one_bit_is_seen() -> None:
    whole = np.zeros((3, 1000, 1000), np.float32)
    other = whole.copy()
    claim = statement("a", [0, K, J], "b", [0, K, J], [["i", 0, 999], ["j", 0, 999]])
    assert refusal_of_elements(claim, {"a": whole, "b": other}) == ""
    other[0, 999, 998] = -0.0
    assert "other elements" in refusal_of_elements(claim, {"a": whole, "b": other})


def test_texts_have_no_bits() -> None:
    texts = np.array(["a", "b"], object)
    assert "no bits" in refusal_of_elements(statement("t", [K], "t", [K], [["i", 0, 1]]), {"t": texts})


def test_a_polynomial_is_evaluated_at_all_points_or_refused() -> None:
    values = {"i": np.arange(3)[:, None], "j": np.arange(2)[None]}
    work = Work(sys.maxsize)
    assert np.array_equal(values_at(decode(encode(K * K - 2 * J), work), values, 6), [[0, -2], [1, -1], [4, 2]])
    with pytest.raises(Refused, match="from outside the box"):
        values_at(decode(encode(K * symbol("k")), work), values, 6)
    with pytest.raises(Refused, match="too large"):
        values_at(decode(encode(K * MAX_INT), work), values, 6)
