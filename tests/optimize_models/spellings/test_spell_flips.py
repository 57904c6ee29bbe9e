"""Digits that are read backwards are turned on axes of their own, in one Slice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import symlayout as sl
from symlayout.ops.concatenate import concatenate
from symlayout.optimize_models.movement_cost import Cost, bytes_of
from symlayout.optimize_models.spellings.movement_digits import digits_of, examples
from symlayout.optimize_models.spellings.spell_flips import turned
from symlayout.optimize_models.spellings.spell_movement import Speller

x = sl.tensor("N, 4, S, 8", dtype="float32", name="x")
SWAPPED = concatenate([x[..., 4:], x[..., :4]], -1)


def found(value: Any) -> Any:
    read = digits_of(examples(value), tuple(x.shape), tuple(value.shape))
    return None if read is None else turned(tuple(x.shape), read)


def test_halves_that_change_places_are_a_digit_that_is_turned() -> None:
    groups = found(SWAPPED)
    assert groups is not None
    _, after, axes, digits = groups
    assert (len(after), axes) == (5, [3])
    assert [(d.source, d.step) for d in digits.digits] == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]


@pytest.mark.parametrize("value", [x, x[..., 4:], sl.transpose(x, (1, 0, 2, 3))], ids=["all", "a half", "turned axes"])
def test_what_is_read_forwards_has_no_such_digit(value: Any) -> None:
    assert found(value) is None


@pytest.mark.parametrize(
    ("value", "ops"),
    [
        (SWAPPED, ["Reshape", "Slice", "Reshape"]),
        (sl.transpose(SWAPPED, (0, 2, 1, 3)), ["Reshape", "Slice", "Reshape", "Transpose"]),
        (sl.flip(x, 3), ["Slice"]),
    ],
    ids=["halves", "halves of turned axes", "a whole axis"],
)
def test_one_slice_turns_them(value: Any, ops: list[str]) -> None:
    spelling = Speller(17).cheapest(x, value, Cost(Counter({bytes_of(value): 4}), 1, 9))
    assert spelling is not None
    assert [step.op for step in spelling.steps] == ops
    assert [proof.verdict for proof in spelling.proofs] == [sl.Verdict.PROVED]
