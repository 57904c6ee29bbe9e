"""What is proved of an inverse is so at every small size, by enumeration."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout import Verdict
from tests import brute
from tests.fuzz_prove import Claim, build, random_chain, random_dims

N, C, H, W = sl.dims("N C H W")
B = sl.dim("b", min=1)
P, Q = sl.dims("p q")


def leaf(*shape: Any) -> sl.Tensor:
    return sl.tensor(shape, name="x")


# a tensor, which round trips hold, and small values of its dims
CASES: dict[str, tuple[sl.Tensor, str, dict[Any, tuple[int, ...]]]] = {
    "transpose": (sl.transpose(leaf(N, C, H), [2, 0, 1]), "both", {N: (0, 1, 2), C: (1, 3), H: (2,)}),
    "flip": (sl.flip(leaf(N, H), 1), "both", {N: (1, 2), H: (0, 1, 3)}),
    "pad": (sl.pad(leaf(N, H), [[0, 0], [P, 1]]), "left", {N: (1, 2), H: (0, 1, 2), P: (0, 2)}),
    "crop": (sl.pad(leaf(H), [[-1, -2]]), "right", {H: (3, 4, 6)}),
    "reshape": (sl.reshape(leaf(N, H, 4), [N, 4 * H]), "both", {N: (1, 2), H: (0, 1, 3)}),
    "space_to_depth": (
        sl.space_to_depth(leaf(N, C, 2 * H, 2 * W), 2),
        "both",
        {N: (1,), C: (1, 2), H: (1, 2), W: (1,)},
    ),
    "space_to_depth, symbolic": (
        sl.space_to_depth(leaf(N, C, B * H), B, "depth_first"),
        "both",
        {N: (1,), C: (1, 2), H: (0, 2), B: (1, 2, 3)},
    ),
    "depth_to_space": (sl.depth_to_space(leaf(N, 4 * C, H, W), 2), "both", {N: (1,), C: (1, 2), H: (1, 2), W: (1, 3)}),
    "space_to_batch": (
        sl.space_to_batch(leaf(N, H, C), [2], [[1, 1]]),
        "left",
        {N: (1, 2), H: (0, 2, 4), C: (1, 2)},
    ),
    "batch_to_space with crops": (
        sl.batch_to_space(leaf(2 * N, H), [2], [[1, 0]]),
        "right",
        {N: (1, 2), H: (1, 2, 3)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_proved_round_trip_holds_for_arrays(name: str) -> None:
    t, holds, values = CASES[name]
    inverse = sl.inverse(t)
    assert inverse.holds == holds
    checked = 0
    for point in itertools.product(*values.values()):
        checked += check_round_trips(t, inverse, dict(zip(values, point, strict=True)))
    assert checked


def check_round_trips(t: sl.Tensor, inverse: sl.Inverse, dims: dict[Any, int]) -> int:
    """Check each round trip that is proved, at one point; return how many elements were compared."""
    (x,) = t.leaves()
    bound = t.subs(dims)
    (source,) = bound.leaves()
    a = np.arange(1, np.prod(source.shape, dtype=int) + 1).reshape(source.shape)
    y = sl.interpret(t, a, dims=dims)
    compared = 0
    if inverse.left.verdict is Verdict.PROVED:
        back = sl.interpret(inverse(t), a, dims=dims)
        np.testing.assert_array_equal(back, a)
        compared += a.size
    if inverse.right.verdict is Verdict.PROVED:
        z = np.arange(1, y.size + 1).reshape(y.shape)
        there = sl.interpret(inverse(sl.tensor(bound.shape, name="z")), z, dims=dims)
        np.testing.assert_array_equal(sl.interpret(bound, there), z)
        compared += z.size
    assert x.rank == source.rank
    return compared


def test_a_map_that_drops_what_it_cannot_rebuild_either_way_has_no_inverse() -> None:
    with pytest.raises(sl.InconclusiveError):
        sl.inverse(sl.pad(leaf(H), [[-1, 1]]))


def test_an_inverse_wants_the_shape_of_the_output() -> None:
    inverse = sl.inverse(sl.space_to_depth(leaf(1, C, 4), 2))
    with pytest.raises(sl.ShapeError) as caught:
        inverse(sl.tensor([1, 6, 3], name="z"))
    assert caught.value.kind == "size_mismatch"


def test_random_inverses_undo_what_they_say() -> None:
    counts: Counter[str] = Counter()
    for seed in range(70):
        rnd = random.Random(seed)
        chain = random_chain(rnd, 2).chain
        claim = Claim(chain, chain, "itself", random_dims(rnd, chain, chain))
        symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in claim.dims}
        try:
            t = build(chain, symbols)
            inverse = sl.inverse(t)
        except sl.ShapeError:
            counts["no sizes"] += 1
            continue
        except sl.InconclusiveError:
            counts["inconclusive"] += 1
            continue
        counts[inverse.holds] += 1
        for point in list(brute.points(claim.dims, 3))[::5]:
            try:
                brute.run(chain, point)
            except brute.Invalid:
                continue
            check_round_trips(t, inverse, {symbols[name]: n for name, n in point.items()})
    assert counts["both"] > 10
    assert counts["left"] > 3
    assert counts["right"] > 1
