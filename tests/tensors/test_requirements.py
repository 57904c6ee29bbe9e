"""Requirements hold exactly where a chain has a meaning, none can be left out, and bounds are never exceeded."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symlayout as sl
from symlayout.tensors.requirements import requirements
from tests.fuzz_prove import Claim, build, check_requirements, most, random_chain, random_dims
from tests.support import brute, brute_compare
from tests.support.brute import Chain
from tests.support.steps import counted

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


def bounded_case(seed: int) -> tuple[sl.Tensor, dict[tuple[int, ...], list[dict[str, int]]]] | None:
    """Return a tensor whose dims have few values, and at which of them it has which shape; None if it has none."""
    rnd = random.Random(seed)
    chain = random_chain(rnd, 3).chain
    claim = Claim(chain, chain, "itself", [])
    for d in random_dims(rnd, chain, chain):
        least = -(-(d.min + rnd.choice((0, 0, 0, 1))) // d.multiple_of) * d.multiple_of
        claim.dims.append(brute.Dim(d.name, least, least + rnd.choice((0, 1, 2, 3, 5, 7)), d.multiple_of))
    points = list(itertools.islice(brute_compare.points(claim.dims, 99), 2001))
    if len(points) > 2000:
        return None
    try:
        t = build(chain, {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in claim.dims})
    except sl.ShapeError:
        return None
    shapes: dict[tuple[int, ...], list[dict[str, int]]] = {}
    for point in points:
        values = t.facts.values(point)
        if all(r.holds(values) for r in t.facts.requirements):
            shapes.setdefault(brute.run(chain, point).shape, []).append(point)
    return t, shapes


CASES = [case for seed in range(200) if (case := random_case(seed)) is not None]


@pytest.mark.slow
def test_requirements_hold_exactly_where_the_chain_has_a_meaning() -> None:
    assert len(CASES) > 120
    for t, chain, claim in CASES:
        check_requirements(t, chain, claim)


def test_no_requirement_follows_from_the_others() -> None:
    counts: Counter[bool] = Counter()
    for t, _, claim in CASES:
        needed = requirements(t.facts)
        points = [t.facts.values(p) for p in brute_compare.points(claim.dims, most(claim))]
        for r in needed:
            others = [o for o in needed if o is not r]
            counts[any(not r.holds(p) and all(o.holds(p) for o in others) for p in points)] += 1
    assert counts[True] > 12 * counts[False], counts  # a box may be too small to show it


@pytest.mark.slow
def test_extents_stay_within_their_bounds() -> None:
    seen = 0
    for t, chain, claim in CASES:
        bounds, needed = t.bounds(), requirements(t.facts)
        for point in brute_compare.points(claim.dims, min(most(claim), 3)):
            if not all(r.holds(t.facts.values(point)) for r in needed):
                continue
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


@pytest.mark.sample(2)
@pytest.mark.parametrize("first", range(0, 400, 50))
def test_bounds_are_the_exact_hull_where_dims_have_few_values(first: int) -> None:
    seen = 0
    for seed in range(first, first + 50):
        if (case := bounded_case(seed)) is not None and case[1]:
            t, shapes = case
            seen += 1
            assert t.bounds() == [(min(axis), max(axis)) for axis in zip(*shapes, strict=True)], f"seed {seed}"
    assert seen > 30


def block(name: str = "b") -> Any:
    return sl.dim(name, min=1)


@pytest.mark.parametrize(
    ("t", "hull"),
    [
        # several requirements on the same dims
        (sl.onnx.space_to_depth(sl.tensor((1, 1, 4, 6)), None), [(1, 1), (1, 4), (2, 4), (3, 6)]),
        (sl.reshape(sl.tensor((H, 6)), (4, -1)), [(4, 4), (0, None)]),
        (sl.pad(sl.pad(sl.tensor([H]), [[0, -3]]), [[0, -2]]), [(0, None)]),
        (sl.assume(sl.tensor((H, W)), "H + W == 7", "H >= 2*W"), [(5, 7), (0, 2)]),
        (sl.assume(sl.tensor((H, W)), "3*H + 5*W == 31"), [(2, 7), (2, 5)]),
        (sl.assume(sl.tensor((H, W)), "H*W <= 30", "H >= 4", "W >= 3", "H % 3 == 0"), [(6, 9), (3, 5)]),
        # unknown blocks and pads, which requirements tie to each other
        (sl.space_to_batch(sl.tensor((2, 7)), [block()], [[0, 1]]), [(2, 16), (1, 8)]),
        (sl.space_to_batch(sl.tensor((N, 4)), [block()], [[2, sl.dim("p")]]), [(0, None), (1, None)]),
        (sl.space_to_batch(sl.tensor((1, 5)), [block()], [[sl.dim("p", max=2), 0]]), [(1, 7), (1, 7)]),
        (sl.batch_to_space(sl.tensor((12, 5)), [block()], [[0, sl.dim("p")]]), [(1, 12), (0, 60)]),
        (
            sl.pad(sl.space_to_batch(sl.tensor((2, H + 1)), [block()], [[2, sl.dim("p")]]), [[0, 0], [0, 2]])[0],
            [(3, None)],
        ),
        # products of dims, 0 and infinity
        (sl.tensor((H * W, H * (W + 1))), [(0, None), (0, None)]),
        (sl.reshape(sl.tensor((H, W)), (12,)), [(12, 12)]),
        (sl.assume(sl.tensor((H, W)), "H*W == 12"), [(1, 12), (1, 12)]),
        (sl.assume(sl.tensor((H, W)), "H*W == 0", "H >= 1"), [(1, None), (0, 0)]),
        (sl.assume(sl.tensor((H, W, H * W)), "H*W >= 5", "H <= 2"), [(1, 2), (3, None), (5, None)]),
        # slices that clamp
        (sl.tensor((H * W,))[-1:1], [(0, 1)]),
        (sl.tensor((W + 1,))[-2:], [(1, 2)]),
        (sl.tensor((2 * H, 2))[1:0:-2], [(0, 1), (2, 2)]),
        (sl.assume(sl.tensor((H, W))[:4], "H >= W", "W >= 2"), [(2, 4), (2, None)]),
        # windows
        (sl.window(sl.tensor((H,)), [3], [0], [2]), [(1, None), (3, 3)]),
        (sl.window(sl.tensor((H * block(),)), [2], [0], [block()], [2]), [(1, None), (2, 2)]),
    ],
    ids=str,
)
def test_bounds_are_the_exact_hull(t: sl.Tensor, hull: list[tuple[int, int | None]]) -> None:
    assert t.bounds() == hull


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
        (sl.assume(sl.assume(sl.tensor([H]), "H//2 == 2*(H//4)"), "H % 4 == 0"), ["H % 4 == 0"]),
    ],
    ids=str,
)
def test_requirements_are_primitive_and_few(t: sl.Tensor, written: list[str]) -> None:
    assert [str(r) for r in requirements(t.facts)] == written


def test_a_requirement_stays_though_its_quotient_is_part_of_a_clamped_bound() -> None:
    b, p = sl.dim("b", min=1), sl.dim("p")
    t = sl.space_to_batch(sl.tensor([N, 4]), [b], [[0, p]])[:, 0:2:2]
    assert [str(r) for r in requirements(t.facts)] == ["(p + 4) % b == 0"]


def test_infinity_absorbs_and_quotients_round_inwards() -> None:
    h = sl.dim("h", min=3, max=9)
    t = sl.space_to_batch(sl.tensor([N, h]), [4], [[0, 1]])
    assert t.bounds() == [(0, None), (1, 2)]


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.sampled_from("NH"), max_size=2)), min_size=1, max_size=3))
def test_a_shape_is_written_in_the_canonical_form_of_sympy(terms: list[tuple[int, list[str]]]) -> None:
    """Expressions are put together without SymPy's search for that form; equality and hashes rest on it."""
    by_name = dict(zip("NH", sl.dims("N H"), strict=True))
    e: Any = sympy.Integer(0)
    for coefficient, names in terms:
        e = e + sympy.Mul(coefficient, *(by_name[name] for name in names))
    (extent,) = sl.pad(sl.tensor((e,)), 1).shape
    canonical = e + 2
    assert extent == canonical
    assert hash(extent) == hash(canonical)
    if not isinstance(extent, int):
        assert extent.args == canonical.args
        assert extent == extent.func(*extent.args)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_parts_of_an_axis_are_equal_where_the_extent_is_a_multiple(n: int) -> None:
    x = sl.tensor((H,), name="x")
    y = sl.stack([x[n - 1 :: n], x[0::n]])
    assert y.requires == (sympy.Eq(sympy.Mod(H, n), 0, evaluate=False),)
    for h in range(3 * n):
        if h % n:
            with pytest.raises(sl.ShapeError):
                y.subs({H: h})
        else:
            assert y.subs({H: h}).shape == (2, h // n)


def test_requirements_that_share_no_dims_are_not_compared() -> None:
    def steps_of(count: int) -> int:
        t = sl.tensor(tuple(sl.dim(f"{letter}{k}") for k in range(count) for letter in "ab"))
        t = sl.assume(t, *(f"a{k} >= b{k}" for k in range(count)))
        with counted() as steps:
            assert len(t.requires) == count
        return steps.count

    steps_of(20)  # imports and caches
    assert steps_of(80) < 6 * steps_of(20)
