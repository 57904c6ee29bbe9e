"""All slices of an axis of symbolic extent that JAX's tests of symbolic shapes would combine, against NumPy.

Starts and stops are left out, constant, counted from the end, or computed from the extent; steps too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl

N = sl.dim("N", min=1)
X = sl.tensor((N,), name="x")
ENDS: dict[str, Any] = {
    "": None, "0": 0, "2": 2, "-2": -2, "N - 2": N - 2, "N + 2": N + 2, "-N": -N, "N//2": N // 2,
}  # fmt: skip
STEPS: dict[str, Any] = {"": None, "1": 1, "2": 2, "-1": -1, "-2": -2, "N": N, "-N": -N}
SIZES = (1, 2, 3, 6, 9)


def at(e: Any, n: int) -> Any:
    """Return a bound or a step at a size."""
    return int(e.subs({N: n})) if hasattr(e, "subs") else e


@pytest.mark.sample(10)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("start", ENDS)
def test_a_row_of_the_slice_matrix_is_numpys(start: str, step: str) -> None:
    for stop in ENDS:
        key = slice(ENDS[start], ENDS[stop], STEPS[step])
        t = sl.getitem(X, (key,), bounds="numpy")
        assert t.requires == (), (key, t.requires)
        for n in SIZES:
            data = np.arange(n)
            expected = data[at(key.start, n) : at(key.stop, n) : at(key.step, n)]
            assert t.subs({N: n}).shape == expected.shape, (key, n)
            assert sl.interpret(t, data).tolist() == expected.tolist(), (key, n)


@pytest.mark.sample(3)
@pytest.mark.parametrize("start", ENDS)
def test_a_slice_of_the_matrix_is_its_split_at_any_place(start: str) -> None:
    """x[a:b] is x[:b][a:] for bounds that are not negative."""
    for stop in ("0", "2", "N + 2", "N//2"):
        if start in ("0", "2", "N + 2", "N//2"):
            left = sl.getitem(X, (slice(ENDS[start], ENDS[stop]),), bounds="numpy")
            right = sl.getitem(
                sl.getitem(X, (slice(None, ENDS[stop]),), bounds="numpy"), (slice(ENDS[start], None),), bounds="numpy"
            )
            assert sl.prove_equal(left, right).verdict is sl.Verdict.PROVED, (start, stop)
