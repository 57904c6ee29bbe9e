"""The ends of coordinates beside all values of small boxes, and how many bits a side of ``^`` is known to have."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.algebra.table import Table
from symlayout.declare import Declared, Operand, index_map
from symlayout.tensors.apply_operation import apply
from symlayout.tensors.ranged_coordinate import RangedBox, RangedCoordinate
from symlayout.tensors.trial_coordinate import TrialCoordinate

Function = Callable[..., Any]
SQUARES = Table([0, 1, 4, 9, 16])


def ends_of(f: Function, shape: tuple[Any, ...]) -> tuple[int | None, int | None]:
    """Return the ends of ``f(*coordinates)`` over a domain of this shape."""
    found: list[RangedCoordinate] = []

    def declaration(x: Operand) -> Declared:
        box = RangedBox(x.shape, x)
        found.append(f(*box.coordinates([TrialCoordinate(x)] * x.rank)))
        return index_map(x.shape, lambda *o: o)

    apply(declaration, (sl.tensor(shape),), (), {}, own=False)
    return found[0].low, found[0].high


def random_map(rng: random.Random, depth: int) -> Function:
    if depth == 0:
        c = rng.randrange(-6, 7)
        return rng.choice([lambda i, j: i, lambda i, j: j, lambda i, j: i * 0 + c])
    a, b = random_map(rng, depth - 1), random_map(rng, depth - 1)
    k, c = rng.choice([1, 2, 3, 4, 8]), rng.randrange(-5, 6)
    made: list[Function] = [
        lambda i, j: a(i, j) + b(i, j),
        lambda i, j: c - a(i, j),
        lambda i, j: a(i, j) * b(i, j),
        lambda i, j: c * a(i, j),
        lambda i, j: a(i, j) // k,
        lambda i, j: a(i, j) % k,
        lambda i, j: a(i, j) ^ b(i, j) % 4,
        lambda i, j: a(i, j) ^ c,
        lambda i, j: SQUARES[a(i, j)],
    ]
    return rng.choice(made)


@pytest.mark.parametrize("seeds", [range(k, k + 250) for k in range(0, 1000, 250)], ids=str)
def test_the_ends_hold_all_values(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        f = random_map(rng, 3)
        shape = rng.choice([(1, 5), (4, 3), (7, 2)])
        values = [f(i, j) for i, j in itertools.product(*map(range, shape))]
        low, high = ends_of(f, shape)
        assert low is not None
        assert high is not None
        assert low <= min(values) <= max(values) <= high, seed


def test_ends_that_are_not_known_are_none() -> None:
    n = sl.dim("N")
    assert ends_of(lambda i: i, (n,)) == (0, None)
    assert ends_of(lambda i: 3 - 2 * i, (n,)) == (None, 3)
    assert ends_of(lambda i: i * i, (n,)) == (0, None)
    assert ends_of(lambda i: (i - 3) * i, (n,)) == (None, None)
    assert ends_of(lambda i: i // 4, (n,)) == (0, None)
    assert ends_of(lambda i: (5 - i) % 8, (n,)) == (0, 7)
    assert ends_of(lambda i: (5 - i) % 8 ^ i % 4, (n,)) == (0, 7)
    assert ends_of(lambda i: i ^ 3, (n,)) == (0, None)
    assert ends_of(lambda i: i, (sl.dim("T", max=20),)) == (0, 19)


def test_extents_in_a_declaration_have_the_ends_of_their_dims() -> None:
    @sl.operation
    def turned(x: Operand) -> Declared:
        """Return the elements at ``i ^ (n - 1)``, which is no element of n if n is no power of two."""
        (n,) = x.shape
        return index_map((n,), lambda i: (i ^ (n - 1),))

    assert sl.prove_equal(turned(sl.tensor("8", name="x")), sl.flip(sl.tensor("8", name="x"))).verdict.value == "proved"
    t = sl.dim("T", min=1, max=8)
    y = turned(sl.tensor((t,), name="y"))
    assert sl.interpret(y, np.array([10, 11, 12, 13])).tolist() == [13, 12, 11, 10]
    with pytest.raises(sl.ShapeError) as caught:
        turned(sl.tensor("N", name="z"))
    assert caught.value.kind == "unbounded"
