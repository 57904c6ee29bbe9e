"""What is proved of an inverse is so at every small size, by enumeration."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
import sympy

import symlayout as sl
from symlayout import Verdict
from symlayout.inverses.find_inverse import Inverse
from symlayout.inverses.inverse_candidates import like
from tests.fuzz_prove import Claim, build, random_chain, random_dims
from tests.support import brute, brute_compare

N, C, H, W = sl.dims("N C H W")
B = sl.dim("b", min=1)
P, Q, S = sl.dims("p q s")
K = sl.dim("k", min=1)


def leaf(*shape: Any) -> sl.Tensor:
    return sl.tensor(shape, name="x")


# a tensor, which round trips hold, and small values of its dims
CASES: dict[str, tuple[sl.Tensor, str, dict[Any, tuple[int, ...]]]] = {
    "transpose": (sl.transpose(leaf(N, C, H), [2, 0, 1]), "both", {N: (0, 1, 2), C: (1, 3), H: (2,)}),
    "flip": (sl.flip(leaf(N, H), 1), "both", {N: (1, 2), H: (0, 1, 3)}),
    "a floor that a fact names again": (
        sl.roll(sl.tile(sl.pad(leaf(N, W), [(0, 0), (1, 1)]), [1, 3]), -2, 1),
        "left",
        {N: (1, 2), W: (0, 1, 3)},
    ),
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
    "roll": (sl.roll(leaf(N, H), [1, S], [0, 1]), "both", {N: (1, 3), H: (0, 1, 4), S: (0, 2, 7)}),
    "roll in row-major order": (sl.roll(leaf(N, H), S), "both", {N: (1, 3), H: (1, 2), S: (0, 1, 5)}),
    "pack": (sl.pack(leaf(N, C), 1, B), "left", {N: (1,), C: (0, 1, 3, 4), B: (1, 2, 3)}),
    "slice with a step": (leaf(H)[1::2], "right", {H: (0, 1, 2, 5)}),
    "slice with a step back": (leaf(H)[::-3], "right", {H: (0, 1, 4, 5, 6)}),
    "index": (leaf(3, N)[1], "right", {N: (0, 2)}),
    "pad with fills": (sl.pad(leaf(H), 1, constant_values=[[1, 2]]), "left", {H: (0, 1, 3)}),
    "swapped halves": (
        sl.concatenate([leaf(N, 2 * C)[:, C:], leaf(N, 2 * C)[:, :C]], 1),
        "both",
        {N: (1, 2), C: (0, 1, 3)},
    ),
    "focus": (
        sl.concatenate([leaf(N, C, 2 * H)[..., ::2], leaf(N, C, 2 * H)[..., 1::2]], 1),
        "both",
        {N: (1,), C: (1, 2), H: (0, 1, 3)},
    ),
    "parts with gaps": (sl.concatenate([leaf(9, N)[5:7], leaf(9, N)[1:3]]), "right", {N: (1, 2)}),
    "quarters": (
        sl.concatenate(
            [
                sl.concatenate([leaf(2 * H, 2 * C)[h, c] for c in (slice(C), slice(C, None))], 1)
                for h in (slice(H, None), slice(H))
            ]
        ),
        "both",
        {H: (1, 2), C: (0, 1, 3)},
    ),
    "windows that do not overlap": (sl.window(leaf(3 * K), 3, strides=3), "both", {K: (1, 2)}),
    "batch_to_space with crops": (
        sl.batch_to_space(leaf(2 * N, H), [2], [[1, 0]]),
        "right",
        {N: (1, 2), H: (1, 2, 3)},
    ),
}


# maps that put an element in several places
SECTIONS: dict[str, tuple[sl.Tensor, dict[Any, tuple[int, ...]]]] = {
    "tile": (sl.tile(leaf(H), 3), {H: (0, 1, 2)}),
    "tile by a number that is a dim": (sl.tile(leaf(H, C), (K, 1)), {H: (1, 2), C: (2,), K: (1, 3)}),
    "repeat": (sl.repeat(leaf(H), K), {H: (0, 2), K: (1, 3)}),
    "broadcast_to": (sl.broadcast_to(leaf(1, H), (K, H)), {H: (0, 2), K: (1, 3)}),
    "window": (sl.window(leaf(H), B), {H: (3, 4, 6), B: (1, 2, 3)}),
    "windows with steps": (sl.window(leaf(H), 3, strides=2, padding=1), {H: (1, 2, 3, 6)}),
    "windows of two axes": (sl.window(leaf(H, C), [3, 2]), {H: (3, 5), C: (2, 4)}),
    "edge": (sl.pad(leaf(H, C), [[P, 1], [0, 2]], "edge"), {H: (1, 3), C: (1, 2), P: (0, 2)}),
    "reflect": (sl.pad(leaf(H), 1, "reflect"), {H: (2, 3, 5)}),
    "symmetric": (sl.pad(leaf(H), [[P, 2]], "symmetric"), {H: (1, 2, 4), P: (0, 3)}),
    "wrap": (sl.pad(leaf(H), [[P, Q]], "wrap"), {H: (1, 2, 4), P: (0, 3), Q: (1, 2)}),
    "wrap at most once": (sl.pad(leaf(H), [[P, Q]], "wrap", bounded=True), {H: (3, 4), P: (0, 3), Q: (1, 2)}),
    "resize_nearest": (sl.resize_nearest(leaf(H), scale=2), {H: (0, 1, 3)}),
}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_map_that_repeats_elements_has_a_section(name: str) -> None:
    t, values = SECTIONS[name]
    section = sl.inverse(t)
    assert section.is_section
    assert (section.left.verdict, section.right.verdict) == (Verdict.PROVED, Verdict.REFUTED)
    assert repr(section) == f"Inverse(of {t!r}: holds left, a section)"
    assert section.explain().endswith(
        "The inverse is a section: an element may occur in several places, and it reads one of them."
    )
    for point in itertools.product(*values.values()):
        check_round_trips(t, section, dict(zip(values, point, strict=True)))


def test_the_section_of_a_pad_that_repeats_is_a_crop() -> None:
    for mode in ("edge", "symmetric", "wrap"):
        t = sl.pad(leaf(H), [[P, Q]], mode)
        assert str(sl.inverse(t)(like(t)).index_map) == "(i0) -> (i0 + p)"


def test_an_inverse_says_where_the_other_round_trip_holds() -> None:
    (o,) = sl.flip(leaf(H)).index_map.indices
    crop = sl.inverse(leaf(H + 3)[1:-2])
    assert (crop.right_region, crop.left_region) == (sympy.true, (o - 1 >= 0) & (o - 1 < H))
    pad = sl.inverse(sl.pad(leaf(H), [[2, 0]]))
    assert (pad.left_region, pad.right_region) == (sympy.true, (o - 2 >= 0) & (o - 2 < H))
    assert sl.inverse(sl.tile(leaf(H), 2)).right_region == sympy.Eq(sympy.Mod(o, H), o)
    assert "It holds where" in pad.explain()


@pytest.mark.parametrize("name", ["pad", "space_to_batch", "slice with a step", "batch_to_space with crops"])
def test_a_region_is_where_the_round_trip_holds_and_no_more(name: str) -> None:
    t, holds, values = CASES[name]
    inverse = sl.inverse(t)
    z = like(t)
    there, region = (inverse(t), inverse.left_region) if holds == "right" else (
        t.replace({t.leaves()[0].key: inverse(z)}), inverse.right_region
    )  # fmt: skip
    indices = there.index_map.indices
    compared = 0
    for point in itertools.product(*values.values()):
        dims = dict(zip(values, point, strict=True))
        try:
            bound = there.subs(dims)
        except sl.ShapeError:
            continue
        shape = [int(n) for n in bound.shape]
        numbers = np.arange(1, math.prod(shape) + 1).reshape(shape)
        result = sl.interpret(there, numbers, dims=dims)
        for coordinate in np.ndindex(*shape):
            at = dict(zip(indices, coordinate, strict=True))
            condition = region.subs({**at, **dims})
            assert bool(condition) == (result[coordinate] == numbers[coordinate]), (point, coordinate)
            compared += 1
    assert compared > 5


def test_maps_of_no_elements_have_inverses() -> None:
    assert sl.inverse(sl.flip(leaf(0, N))).holds == "both"
    assert sl.inverse(leaf(3)[3:]).holds == "right"
    assert sl.inverse(sl.pad(leaf(0), 1)).holds == "left"


def test_the_inverse_of_a_map_is_that_of_its_tensor() -> None:
    assert sl.transpose(leaf(N, C)).index_map.inverse().holds == "both"


@pytest.mark.parametrize("name", CASES)
def test_a_proved_round_trip_holds_for_arrays(name: str) -> None:
    t, holds, values = CASES[name]
    inverse = sl.inverse(t)
    assert inverse.holds == holds
    checked = 0
    for point in itertools.product(*values.values()):
        checked += check_round_trips(t, inverse, dict(zip(values, point, strict=True)))
    assert checked


def check_round_trips(t: sl.Tensor, inverse: Inverse, dims: dict[Any, int]) -> int:
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


def test_a_layout_of_flat_coordinates_has_an_inverse() -> None:
    """CuTe's ``(a,b,t):(1,a*t,a)``: an offset of every integer below ``a*b*t``."""
    a, b, t = sl.dims("a b t", min=1)
    x = sl.tensor([a * b * t], name="x")
    y = sl.index_map(x, x.shape, lambda i: (i % a + (i // a % b) * (a * t) + (i // (a * b)) * a,))
    back = sl.index_map(x, x.shape, lambda i: (i % a + (i // a % t) * (a * b) + (i // (a * t)) * a,))
    found = sl.inverse(y)
    assert found.holds == "both"
    assert sl.prove_equal(found(x), back).verdict is sl.Verdict.PROVED
    assert sl.check(found.left.certificate)
    assert sl.check(found.right.certificate)


def test_a_map_that_drops_what_it_cannot_rebuild_either_way_has_no_inverse() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.inverse(sl.pad(leaf(H), [[-1, 1]]))
    assert caught.value.kind == "no_inverse"


def test_an_inverse_wants_the_shape_of_the_output() -> None:
    inverse = sl.inverse(sl.space_to_depth(leaf(1, C, 4), 2))
    with pytest.raises(sl.ShapeError) as caught:
        inverse(sl.tensor([1, 6, 3], name="z"))
    assert caught.value.kind == "size_mismatch"


@pytest.mark.slow
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
        for point in list(brute_compare.points(claim.dims, 3))[::5]:
            try:
                brute.run(chain, point)
            except brute.Invalid:
                continue
            check_round_trips(t, inverse, {symbols[name]: n for name, n in point.items()})
    assert counts["both"] > 10
    assert counts["left"] > 3
    assert counts["right"] > 1
