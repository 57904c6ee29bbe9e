"""The theorem of docs/algebra.md: on polynomial claims the normal form decides equality.

Chains that merge, split, permute and reverse a common sequence of factors, some of them symbols, are drawn at
random; NumPy on small sizes says whether two of them are equal.  None may be left undecided.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.decide_equal import agree
from symlayout.proof.prove import prove_equal

FACTORS: tuple[Any, ...] = (*sl.dims("a b c", min=1), *sl.dims("m n"), 2, 3)
Axes = list[list[int]]  # the places in FACTORS of each axis's factors, major ones first


class Chain:
    """A tensor and the same steps in NumPy, with the factors of each axis."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        self.tensor = sl.tensor(self._shape(FACTORS), name="x")
        self.steps: list[Callable[[np.ndarray[Any, Any], tuple[int, ...]], np.ndarray[Any, Any]]] = []

    def _shape(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(prod((values[k] for k in axis), start=1) for axis in self.axes)

    def run(self, values: tuple[int, ...], first: Axes) -> np.ndarray[Any, Any]:
        shape = [prod((values[k] for k in axis), start=1) for axis in first]
        array = np.arange(prod(shape)).reshape(shape)
        for step in self.steps:
            array = step(array, values)
        return array

    def transpose(self, order: list[int]) -> None:
        self.axes = [self.axes[k] for k in order]
        self.tensor = sl.transpose(self.tensor, order)
        self.steps.append(lambda array, values: array.transpose(order))

    def flip(self, axis: int) -> None:
        self.tensor = sl.flip(self.tensor, axis)
        self.steps.append(lambda array, values: np.flip(array, axis))

    def regroup(self, axes: Axes) -> None:
        self.axes = axes
        self.tensor = sl.reshape(self.tensor, self._shape(FACTORS))
        self.steps.append(
            lambda array, values: array.reshape([prod((values[k] for k in axis), start=1) for axis in axes])
        )


def random_step(chain: Chain, rnd: random.Random) -> None:
    """Add one step that keeps every factor whole."""
    kind = rnd.choice("tfrr")
    if kind == "t":
        chain.transpose(rnd.sample(range(len(chain.axes)), len(chain.axes)))
    elif kind == "f":
        chain.flip(rnd.randrange(len(chain.axes)))
    else:
        flat = [k for axis in chain.axes for k in axis]
        cuts = sorted(rnd.sample(range(1, len(flat)), rnd.randint(1, min(3, len(flat) - 1))))
        chain.regroup([flat[a:b] for a, b in itertools.pairwise([0, *cuts, len(flat)])])


def random_pair(rnd: random.Random) -> tuple[Chain, Chain, Axes]:
    """Return two chains on one input: alike, alike but for one step, or unlike."""
    flat = rnd.sample(range(len(FACTORS)), rnd.randint(2, 4))
    cut = rnd.randint(1, len(flat) - 1)
    first = [flat[:cut], flat[cut:]]
    left, right = Chain(first), Chain(first)
    seed, length, odd = rnd.random(), rnd.randint(1, 5), rnd.choice((None, 0, 1, 2))
    for chain in (left, right):
        again = random.Random(seed)
        for k in range(length):
            random_step(chain, again)
            if chain is right and k == odd:
                axis = rnd.randrange(len(chain.axes))
                chain.flip(axis)
                if rnd.random() < 0.5:
                    chain.flip(axis)
    return left, right, first


@pytest.mark.sample(41)
@pytest.mark.parametrize("seed", range(150))
def test_claims_of_the_fragment_are_decided_as_enumeration_says(seed: int) -> None:
    rnd = random.Random(seed)
    left, right, first = random_pair(rnd)
    proof = prove_equal(left.tensor, right.tensor)
    # 2 and 3 tell factors apart, 0 and 1 are the edges; a difference of polynomials of low degree shows at one of them
    sizes = [tuple(rnd.choice((0, 1, 2, 3)) or (f in FACTORS[:3]) for f in FACTORS[:5]) for _ in range(12)]
    sizes += [(2, 3, 2, 3, 2), (3, 2, 3, 2, 3), (1, 2, 3, 3, 2)]
    different = False
    for size in sizes:
        a, b = (chain.run((*size, 2, 3), first) for chain in (left, right))
        different |= a.shape != b.shape or not np.array_equal(a, b)
    assert proof.verdict is (sl.Verdict.REFUTED if different else sl.Verdict.PROVED), str(proof)
    if not different:
        facts = left.tensor.facts.fork()
        facts.merge(right.tensor.facts)
        agree(
            left.tensor, right.tensor, facts, None, finite=False
        )  # the reads are inside, and no values are told apart
        assert sl.check(proof.certificate)
