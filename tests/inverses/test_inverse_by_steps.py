"""Inverses of maps that read listed places: the list decides which round trips hold."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.inverses.inverse_by_steps import by_steps

N, M = sl.dims("N M")


def kind_of(indices: list[int], n: int) -> str:
    """Return which round trips hold for a list of indices of *n* elements, from its definition."""
    left, right = set(indices) == set(range(n)), len(set(indices)) == len(indices)
    return "both" if left and right else "left" if left else "right" if right else "none"


def shuffled(n: int, seed: int) -> list[int]:
    indices = list(range(n))
    random.Random(seed).shuffle(indices)
    return indices


@pytest.mark.slow
def test_the_list_decides_which_round_trips_hold() -> None:
    """Short lists are pieces of a map, long ones a table."""
    seen = set()
    for seed in range(40):
        rnd = random.Random(seed)
        n = rnd.choice([3, 4, 5, 24])
        indices = shuffled(n, seed)[: n - rnd.randrange(2)]
        indices += rnd.choices(range(n), k=rnd.randrange(2))
        y = sl.take(sl.tensor((n,), name="x"), indices, 0)
        kind = kind_of(indices, n)
        seen.add(kind)
        if kind == "none":
            with pytest.raises(sl.ShapeError) as caught:
                sl.inverse(y)
            assert caught.value.kind == "no_inverse", indices
            continue
        found = sl.inverse(y)
        assert found.holds == kind, indices
        data = np.arange(1, n + 1)
        taken = sl.interpret(y, data)
        back = sl.interpret(found(sl.tensor(y.shape, name="z")), taken)
        expected = data if kind in ("both", "left") else np.where(np.isin(data - 1, indices), data, 0)
        assert back.tolist() == expected.tolist(), indices
    assert seen == {"both", "left", "right", "none"}


CHAINS: dict[str, Any] = {
    "an axis in the middle": lambda x, at: sl.take(x, at, 1),
    "moved": lambda x, at: sl.transpose(sl.take(x, at, 1), (2, 1, 0)),
    "between others": lambda x, at: sl.moveaxis(sl.take(sl.flip(x, 2), at, 1), 1, 0),
    "twice": lambda x, at: sl.take(sl.take(x, at, 1), at[::-1], 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_a_permutation_in_a_chain_has_an_inverse(name: str) -> None:
    x = sl.tensor((N, 24, M), name="x")
    y = CHAINS[name](x, shuffled(24, 1))
    found = pickle.loads(pickle.dumps(sl.inverse(y)))
    assert found.holds == "both"
    assert sl.check(found.left.certificate)
    assert sl.check(found.right.certificate)
    data = np.arange(2 * 24 * 3).reshape(2, 24, 3)
    z = sl.tensor(y.shape, name="z")
    assert np.array_equal(sl.interpret(found(z), sl.interpret(y, data), dims={N: 2, M: 3}), data)


def test_chains_without_a_list_have_no_candidate_by_steps() -> None:
    x = sl.tensor((N, 24, M), name="x")
    assert not list(by_steps(sl.flip(sl.transpose(x)), x))
    assert not list(by_steps(sl.concatenate([x, sl.take(x, shuffled(24, 1), 1)]), x))


def test_a_map_that_loses_elements_and_repeats_others_has_no_inverse() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.inverse(sl.repeat(sl.tensor((N,), name="x")[1:], 2, 0))
    assert caught.value.kind == "no_inverse"
    assert "x[0] is read nowhere" in str(caught.value)
