"""What digits read is a slice where their bounds are constants, counted from either end, for all sizes."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.optimize_models.spellings.movement_digits import Digits, digits_of, examples
from symlayout.optimize_models.spellings.movement_steps import Step
from symlayout.optimize_models.spellings.slice_of_digits import one_slice, slice_of_digits

x = sl.tensor("N, 12, S", dtype="float32", name="x")


def found(value: Any) -> tuple[list[Step], Any, Digits] | None:
    read = digits_of(examples(value), tuple(x.shape), tuple(value.shape))
    assert read is not None
    return slice_of_digits(tuple(x.shape), read)


@pytest.mark.parametrize(
    "value",
    [x[1:-2], x[:, 3:9:2], x[:, ::-1], x[..., 2:], x[1:, 1:5, :-1]],
    ids=["from both ends", "a step", "backwards", "one bound", "several axes"],
)
def test_a_slice_of_digits_is_the_value(value: Any) -> None:
    made = found(value)
    assert made is not None
    (step,), shape, digits = made
    assert (step.op, step.shape, shape) == ("Slice", tuple(value.shape), tuple(value.shape))
    assert sl.prove_equal(step.apply(x), value).verdict is sl.Verdict.PROVED
    assert digits.corners == ((0, 0, 0),) * len(digits.corners)


def test_the_digits_over_the_slice_are_in_its_order() -> None:
    value = sl.transpose(x[:, 2:8], (2, 1, 0))
    made = found(value)
    assert made is not None
    (step,), shape, digits = made
    assert sl.prove_equal(sl.transpose(step.apply(x), (2, 1, 0)), value).verdict is sl.Verdict.PROVED
    assert [d.source for d in digits.digits] == [2, 1, 0]
    assert shape == (x.shape[0], 6, x.shape[2])


def test_whole_axes_need_no_slice() -> None:
    read = digits_of(examples(x), tuple(x.shape), tuple(x.shape))
    assert read is not None
    assert slice_of_digits(tuple(x.shape), read) == ([], tuple(x.shape), read)
    assert one_slice(tuple(x.shape), read) is None
