"""A movement without digits is a gather by a constant index, along the fewest axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.optimize_models.spellings.gather_by_table import gather
from symlayout.optimize_models.spellings.movement_digits import examples
from symlayout.optimize_models.spellings.movement_steps import Step

x = sl.tensor("N, 6, 4, C", dtype="float32", name="x")
ORDER = (5, 0, 3, 1)  # of no digits


def taken(t: Any, axis: int, order: tuple[int, ...] = ORDER) -> Any:
    index = [slice(None)] * len(t.shape)
    return sl.concatenate([t[(*index[:axis], slice(k, k + 1))] for k in order], axis)


def found(value: Any) -> list[Step] | None:
    return gather(tuple(x.shape), tuple(value.shape), examples(value))


def test_one_axis_is_gathered_along() -> None:
    steps = found(taken(x, 1))
    assert steps is not None
    (step,) = steps
    given: dict[str, Any] = dict(step.attributes)
    assert (step.op, given["axis"], given["indices"].tolist()) == ("Gather", 1, list(ORDER))
    assert step.shape == (x.shape[0], 4, 4, x.shape[3])


def test_axes_that_are_mixed_become_one() -> None:
    value = taken(sl.reshape(x, (x.shape[0], 24, x.shape[3])), 1, (7, 0, 22, 3, 8))
    steps = found(value)
    assert steps is not None
    assert [step.op for step in steps] == ["Reshape", "Gather"]
    a = np.arange(2 * 24 * 3, dtype=np.float32)
    index = dict(steps[1].attributes)["indices"]
    assert np.array_equal(a.reshape(2, 24, 3)[:, index], sl.interpret(value, a.reshape(2, 6, 4, 3)))


@pytest.mark.parametrize("value", [sl.flip(x, 0), sl.transpose(x, (3, 1, 2, 0))], ids=["flip", "transpose"])
def test_an_index_that_depends_on_sizes_is_no_constant(value: Any) -> None:
    assert found(value) is None
