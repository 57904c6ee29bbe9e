"""Constants that are read at other symbols are equal if each element of one that meets one of the other is equal."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.cases.compare_constants import near_elements, same_elements

EXTENTS = (2, 3, 2)
PLACES = [(0, 1), (1, 2), (0, 0), (2, 1), (0, None), (None, None)]  # the symbols that index both axes; None is 0


@pytest.mark.parametrize("left", PLACES, ids=str)
@pytest.mark.parametrize("right", PLACES, ids=str)
def test_all_pairs_that_meet_are_compared(
    left: tuple[int | None, int | None], right: tuple[int | None, int | None]
) -> None:
    facts = sl.tensor("N", name="x").facts.fork()
    digits = [facts.add_digit(f"#{k}", n) for k, n in enumerate(EXTENTS)]
    one, other = ([0 if k is None else digits[k] for k in places] for places in (left, right))
    draw = np.random.default_rng(0)
    found = set()
    for _ in range(60):
        a, b = (draw.choice([1.0, 1.5], (3, 3), p=[0.9, 0.1]).astype(np.float32) for _ in range(2))
        apart = 0.0
        for values in itertools.product(*map(range, EXTENTS)):
            at, bt = (tuple(0 if k is None else values[k] for k in places) for places in (left, right))
            apart = max(apart, abs(float(a[at]) - float(b[bt])))
        assert (same_elements(a, b, one, other, facts) is not None) == (apart == 0)
        assert near_elements(a, b, one, other, facts, 0.4) == (apart == 0)
        assert near_elements(a, b, one, other, facts, 0.5)
        found.add(apart)
    assert found == {0.0, 0.5}
