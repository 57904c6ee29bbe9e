"""Requirements hold exactly where a chain has a meaning, none can be left out, and bounds are never exceeded."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import symlayout as sl
from symlayout.infer import requirements
from tests import brute
from tests.brute import Chain
from tests.fuzz_prove import Claim, build, check_requirements, most, random_chain, random_dims

H, W, N, C = sl.dims("H W N C")


def random_case(seed: int) -> tuple[sl.Tensor, Chain, Claim] | None:
    """Return a tensor, its chain and its dims; None if no sizes are valid."""
    rnd = random.Random(seed)
    chain = random_chain(rnd, 3).chain
    claim = Claim(chain, chain, "itself", random_dims(rnd, chain, chain))
    symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in claim.dims}
    try:
        return build(chain, symbols), chain, claim
    except sl.ShapeError:
        return None


CASES = [case for seed in range(200) if (case := random_case(seed)) is not None]


def test_requirements_hold_exactly_where_the_chain_has_a_meaning() -> None:
    assert len(CASES) > 120
    for t, chain, claim in CASES:
        check_requirements(t, chain, claim)


def test_no_requirement_follows_from_the_others() -> None:
    counts: Counter[bool] = Counter()
    for t, _, claim in CASES:
        needed = requirements(t)
        points = [t.facts.values(p) for p in brute.points(claim.dims, most(claim))]
        for r in needed:
            others = [o for o in needed if o is not r]
            counts[any(not r.holds(p) and all(o.holds(p) for o in others) for p in points)] += 1
    assert counts[True] > 12 * counts[False], counts  # a box may be too small to show it


def test_extents_stay_within_their_bounds() -> None:
    seen = 0
    for t, chain, claim in CASES:
        bounds = t.bounds()
        for point in brute.points(claim.dims, min(most(claim), 3)):
            try:
                shape = brute.run(chain, point).shape
            except brute.Invalid:
                continue
            seen += 1
            assert len(shape) == len(bounds)
            for n, (low, high) in zip(shape, bounds, strict=True):
                assert low is not None
                assert low <= n
                assert high is None or n <= high, (chain, point, bounds)
    assert seen > 500


@pytest.mark.parametrize(
    ("t", "written"),
    [
        (sl.space_to_batch(sl.tensor([N, H]), [2], [[1, 1]]), ["H % 2 == 0"]),
        (sl.space_to_batch(sl.tensor([N, 2 * H]), [2], [[1, 1]]), []),
        (sl.reshape(sl.reshape(sl.tensor([H]), [H / 4, 4]), [H / 6, 6]), ["H % 12 == 0"]),
        (sl.reshape(sl.tensor([6 * H]), [3 * H / 2, 4]), ["H % 2 == 0"]),
        (sl.reshape(sl.tensor([H]), [W, -1]), ["W - 1 >= 0", "H % W == 0"]),
        (sl.batch_to_space(sl.tensor([4, H]), [2], [[1, 2]]), ["H - 2 >= 0"]),
        (sl.pad(sl.tensor([H]), [[0, -3]]), ["H - 3 >= 0"]),
        (sl.pad(sl.pad(sl.tensor([H]), [[0, -1]]), [[0, -2]]), ["H - 3 >= 0"]),
    ],
    ids=str,
)
def test_requirements_are_primitive_and_few(t: sl.Tensor, written: list[str]) -> None:
    assert [str(r) for r in requirements(t)] == written


def test_a_requirement_stays_though_its_quotient_is_part_of_a_clamped_bound() -> None:
    b, p = sl.dim("b", min=1), sl.dim("p")
    t = sl.space_to_batch(sl.tensor([N, 4]), [b], [[0, p]])[:, 0:2:2]
    assert [str(r) for r in requirements(t)] == ["(p + 4) % b == 0"]


def test_infinity_absorbs_and_quotients_round_inwards() -> None:
    h = sl.dim("h", min=3, max=9)
    t = sl.space_to_batch(sl.tensor([N, h]), [4], [[0, 1]])
    assert t.bounds() == [(0, None), (1, 2)]
