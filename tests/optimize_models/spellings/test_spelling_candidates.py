"""The candidates for a movement: each that applies and reads the same is one of the operations that a person writes."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.errors import SymlayoutError
from symlayout.optimize_models.spellings.movement_digits import examples
from symlayout.optimize_models.spellings.spelling_candidates import candidates_of

x = sl.tensor("N, 8, H, W", dtype="float32", name="x")
EVEN = sl.tensor("N, C, 2*H, 2*W", dtype="float32", name="x")


def proved(source: Any, value: Any, opset: int = 17) -> list[list[str]]:
    """Return the operations of the candidates that are proved to make the value."""
    made = []
    for steps in candidates_of(tuple(source.shape), tuple(value.shape), examples(value), opset):
        if steps is None:
            continue
        t = source
        try:
            for step in steps:
                t = step.apply(t)
        except SymlayoutError:
            continue
        if sl.prove_equal(t, value, budget=50).verdict is sl.Verdict.PROVED:
            made.append([step.op for step in steps])
    return made


@pytest.mark.parametrize(
    ("source", "value", "ops"),
    [
        (x, x, []),
        (x, sl.transpose(x, (0, 2, 3, 1)), ["Transpose"]),
        (x, x[:, 2:6], ["Slice"]),
        (x, sl.reshape(x, (x.shape[0], 8, x.shape[2] * x.shape[3])), ["Reshape"]),
        (x, sl.tile(x, (1, 2, 1, 1)), ["Tile"]),
        (x, sl.transpose(x[:, 2:6], (0, 2, 3, 1)), ["Slice", "Transpose"]),
        (EVEN, sl.space_to_depth(EVEN, 2), ["SpaceToDepth"]),
    ],
    ids=["identity", "transpose", "slice", "reshape", "tile", "slice and transpose", "space to depth"],
)
def test_the_operation_is_a_candidate(source: Any, value: Any, ops: list[str]) -> None:
    assert ops in proved(source, value)


def test_old_opsets_have_no_slice_with_inputs() -> None:
    assert all("Slice" not in ops for ops in proved(x, x[:, 2:6], opset=9))
