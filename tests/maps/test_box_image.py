"""The image of a box contains everything that the box reads, and is the smallest such box where it says so."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import symlayout as sl
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.floor_normal_form import digit_name, floor_div
from symlayout.algebra.polynomial import symbol
from symlayout.maps.box_image import Image
from symlayout.maps.gather_elements import gathers
from tests.fuzz_prove.judge import build as claim_chain
from tests.fuzz_prove.steps import random_chain
from tests.support import brute
from tests.support.chains import build
from tests.support.strategies import Case, cases

N, C, H, W = sl.dims("N C H W")
B = sl.dim("b", min=1)
P, A = sl.dims("p a")

Box = tuple[tuple[int, int], ...]


def leaf(*shape: Any) -> sl.Tensor:
    return sl.tensor(shape, name="x")


def read_by(t: sl.Tensor, box: Box) -> dict[str, Box | None]:
    """Return the smallest box of each input that contains what an output box reads, by looking at each element."""
    shape = tuple(int(n) for n in t.shape)
    part = tuple(slice(start, stop) for start, stop in box)
    found: dict[str, list[Box]] = {leaf.name: [] for leaf in t.leaves()}
    names = {leaf.key: leaf.name for leaf in t.leaves()}
    for gather in gathers(t) if 0 not in shape else ():
        mask = np.broadcast_to(gather.mask, shape)[part]
        if gather.key is not None and mask.any():
            coords = [np.broadcast_to(c, shape)[part][mask] for c in gather.coords]
            found[names[gather.key]].append(tuple((int(c.min()), int(c.max()) + 1) for c in coords))
    return {name: hull(boxes) for name, boxes in found.items()}


def hull(boxes: list[Box]) -> Box | None:
    if not boxes:
        return None
    return tuple((min(start for start, _ in axis), max(stop for _, stop in axis)) for axis in zip(*boxes, strict=True))


def check(image: Image, expected: Box | None) -> None:
    """Assert that an image, whose ends are ints, contains *expected*, and is it if it says that it is exact."""
    box = image.box
    if box is not None and any(start >= stop for start, stop in box):
        box = None
    if expected is not None:
        assert box is not None, (image, expected)
        for (start, stop), (first, last) in zip(box, expected, strict=True):
            assert start <= first, (image, expected)
            assert last <= stop, (image, expected)
    if image.exact:
        assert box == expected


@pytest.mark.slow
def test_random_boxes_of_random_chains() -> None:
    counts: Counter[bool] = Counter()

    @settings(deadline=None, derandomize=True, max_examples=250, suppress_health_check=list(HealthCheck))
    @given(cases(most_steps=4))
    def run(case: Case) -> None:
        t = build(sl.tensor(case.shape, name="x"), case.steps)
        rnd = random.Random(case.seed)
        for _ in range(2):
            ends = [sorted((rnd.randint(0, n), rnd.randint(0, n))) for n in t.shape]
            box = tuple((start, stop) for start, stop in ends)
            (image,) = t.index_map.image(box)
            check(image, read_by(t, box)["x"])
            counts[image.exact] += 1

    run()
    assert counts[True] > 20 * counts[False]


SYMBOLIC: dict[str, sl.Tensor] = {
    "transpose": sl.transpose(leaf(N, H)),
    "pad": sl.pad(leaf(H), [[P, 1]]),
    "crop": leaf(H)[2:-1],
    "flip": sl.flip(leaf(H)),
    "step": leaf(H)[1::3],
    "roll": sl.roll(leaf(H), P),
    "tile": sl.tile(leaf(H), 3),
    "window": sl.window(leaf(H), 3, strides=2, padding=1),
    "space_to_depth": sl.space_to_depth(leaf(N, C, B * H), B),
    "space_to_batch": sl.space_to_batch(leaf(N, B * H), [B], [[B, 0]]),
    "batch_to_space": sl.batch_to_space(leaf(B * N, H), [B], [[0, 0]]),
    "edge": sl.pad(leaf(H), [[P, 2]], "edge"),
    "concatenate": sl.concatenate([leaf(H), sl.tensor((W,), name="w")]),
    "reshape": sl.reshape(leaf(N, H, 2), [N, 2 * H]),
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", SYMBOLIC)
def test_a_symbolic_box_is_right_at_all_small_sizes(name: str) -> None:
    t = SYMBOLIC[name]
    box = [(A, A + 2)] + [None] * (t.rank - 1)
    images = t.index_map.image(box)
    dims = [A, *(sl.dim(d.name, d.min, d.max, d.multiple_of) for d in t.facts.dims.values())]
    checked = 0
    for values in itertools.product(range(9 if len(dims) < 3 else 5), repeat=len(dims)):
        point = dict(zip(dims, values, strict=True))
        if any(v < d.min for d, v in point.items()):
            continue
        try:
            bound = t.subs(point)
        except sl.ShapeError:
            continue
        shape = [int(n) for n in bound.shape]
        if point[A] + 2 > shape[0] or 0 in shape:
            continue
        expected = read_by(bound, ((point[A], point[A] + 2), *((0, n) for n in shape[1:])))
        for image in images:
            ends = image.box and tuple((_at(start, point), _at(stop, point)) for start, stop in image.box)
            check(Image(image.source, ends, image.exact), expected[image.source])
            checked += 1
    assert checked > 3


def _at(e: Any, point: dict[Any, int]) -> int:
    return e if isinstance(e, int) else int(e.subs(point))


def test_affine_maps_have_exact_symbolic_images() -> None:
    def image(t: sl.Tensor, *box: Any) -> Any:
        (found,) = t.index_map.image(box)
        assert found.exact
        return found.box

    assert image(sl.transpose(leaf(N, H)), (A, A + 2), None) == ((0, N), (A, A + 2))
    assert image(sl.flip(leaf(H)), (A, A + 2)) == ((H - A - 2, H - A),)
    assert image(leaf(3 * H)[1::3], (A, A + 2)) == ((3 * A + 1, 3 * A + 5),)
    assert image(sl.space_to_depth(leaf(1, C, B * H), B), None, None, (A, A + 1)) == (
        (0, 1),
        (0, C),
        (A * B, A * B + B),
    )
    assert image(sl.window(leaf(H), 3), (A, A + 4), None) == ((A, A + 6),)


def test_parts_that_are_all_fill_read_nothing() -> None:
    padded = sl.pad(leaf(8, 8), [(4, 4), (0, 0)])
    assert padded.index_map.image([(0, 4), None]) == (Image("x", None, True),)
    assert padded.index_map.image([(2, 6), None]) == (Image("x", ((0, 2), (0, 8)), True),)
    assert padded.index_map.image([(5, 5), None]) == (Image("x", None, True),)


def test_each_input_has_its_image() -> None:
    joined = sl.concatenate([leaf(4), sl.tensor((6,), name="w")]).index_map
    assert joined.image([(0, 3)]) == (Image("x", ((0, 3),), True), Image("w", None, True))
    assert joined.image([(2, 7)]) == (Image("x", ((2, 4),), True), Image("w", ((0, 3),), True))


def test_what_is_not_the_smallest_box_says_so() -> None:
    (image,) = sl.reshape(leaf(4, 6), [24]).index_map.image([(5, 8)])
    assert image == Image("x", ((0, 2), (0, 6)), False) or image.exact
    (image,) = leaf(H)[::2].index_map.image([None])
    assert image.exact


@pytest.mark.parametrize(
    ("box", "kind"), [([(0, 9)], "crop_exceeds"), ([(-1, 3)], "crop_exceeds"), ([(3, 2)], "crop_exceeds"), ([], "rank")]
)
def test_a_box_is_inside_the_output(box: Any, kind: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        leaf(8)[:].index_map.image(box)
    assert caught.value.kind == kind


# ---------------------------------------------------------------------- against brute force, boxes and sizes symbolic

B0 = sl.dim("B")
THIRD = (sl.dim("a") // 3, sl.dim("a") // 3 + 1)
RANGES = (None, None, None, (0, 1), (1, 3), (P, P + 1), (P, P + 2), (P, B0), (0, P), (0, A // 2 + 1), THIRD)


def box_of(grid: Any, shape: tuple[int, ...]) -> Box | None:
    """Return the smallest box of an input of this shape that has the elements of *grid*, numbered from 1."""
    read = grid[grid > 0] - 1
    if not read.size:
        return None
    return tuple((int(c.min()), int(c.max()) + 1) for c in np.unravel_index(read, shape))


def check_everywhere(t: sl.Tensor, chain: brute.Chain, dims: dict[str, Any], box: list[Any], rnd: random.Random) -> int:
    """Compare an image with brute force at small sizes, empty ones too; return at how many."""
    (image,) = t.index_map.image(box)
    free = {s.name: s for pair in box if pair for e in pair if hasattr(e, "free_symbols") for s in e.free_symbols}
    names = {**{d.name: d for d in free.values()}, **dims}
    points = list(itertools.product(range(4), repeat=len(names)))
    checked = 0
    for values in sorted(rnd.sample(points, min(len(points), 60)), key=sum):
        at = dict(zip(names, values, strict=True))
        point = {names[name]: n for name, n in at.items()}
        if any(n < dims[name].min for name, n in at.items() if name in dims):
            continue
        try:
            grid, shape = brute.run(chain, at), brute.leaf(chain.shape, at).shape
            t.subs({dims[name]: n for name, n in at.items() if name in dims})
        except (brute.Invalid, sl.ShapeError):
            continue
        ends = [
            (0, n) if pair is None else tuple(_at(e, point) for e in pair)
            for pair, n in zip(box, grid.shape, strict=True)
        ]
        if all(0 <= start <= stop <= n for (start, stop), n in zip(ends, grid.shape, strict=True)):
            found = image.box and tuple((_at(start, point), _at(stop, point)) for start, stop in image.box)
            check(sl.Image("x", found, image.exact), box_of(grid[tuple(slice(*pair) for pair in ends)], shape))
            checked += 1
    return checked


@pytest.mark.slow
def test_symbolic_boxes_of_random_symbolic_chains() -> None:
    checked = exact = 0
    for seed in range(90):
        rnd = random.Random(seed)
        chain = random_chain(rnd, rnd.choice((1, 2, 3))).chain
        dims = {name: sl.dim(name, min=1 if name in "bc" else 0) for name in chain.names()}
        try:
            t = claim_chain(chain, dims)
            box = [rnd.choice(RANGES) for _ in t.shape]
            exact += t.index_map.image(box)[0].exact
            checked += check_everywhere(t, chain, dims, box, rnd)
        except (sl.ShapeError, sl.InconclusiveError):
            continue
    assert exact > 40
    assert checked > 800


@pytest.mark.parametrize(
    ("t", "box", "point"),
    [
        (sl.pack(leaf(N)[:1], 0, 5), [None, None], {N: 3}),
        (sl.broadcast_to(leaf(3), (N, 3)), [None, None], {N: 0}),
        (sl.resize_nearest(leaf(H), shape=N), [None], {H: 2, N: 0}),
        (leaf(H)[None, None], [(A, B0), None, None], {H: 2, A: 0, B0: 0}),
        (sl.repeat(leaf(H)[1:], 3, 0), [(A, B0)], {H: 2, A: 1, B0: 1}),
    ],
    ids=["a pack of a crop", "no copies", "a quotient by an empty axis", "a new axis", "no elements of a copy"],
)
def test_an_exact_box_is_exact_where_nothing_is_read_too(t: sl.Tensor, box: list[Any], point: dict[Any, int]) -> None:
    (image,) = t.index_map.image(box)
    assert image.box is not None
    found = tuple((_at(start, point), _at(stop, point)) for start, stop in image.box)
    bound = t.subs(point)
    ends = [
        (0, n) if pair is None else tuple(_at(e, point) for e in pair) for pair, n in zip(box, bound.shape, strict=True)
    ]
    check(sl.Image("x", found, image.exact), read_by(bound, tuple((start, stop) for start, stop in ends))["x"])


@pytest.mark.parametrize(
    "t",
    [
        sl.resize_nearest(leaf(N), shape=H),
        sl.ravel(leaf(N, H)),
        sl.roll(leaf(N), H),
        sl.pad(leaf(sl.dim("n", min=1)), H, mode="wrap"),
        sl.pad(leaf(sl.dim("n", min=2)), H, mode="reflect"),
    ],
    ids=["resize_nearest", "ravel", "roll", "wrap", "reflect"],
)
def test_a_box_of_one_symbolic_element_has_an_image(t: sl.Tensor) -> None:
    (image,) = t.index_map.image([THIRD])
    assert image.box is not None


def test_bounds_of_floors_rest_on_no_window() -> None:
    """Where a part of a map is known to begin is not known of the others."""
    everywhere = Facts()
    everywhere.declare(Dim("N", 0))
    i = everywhere.add_digit(digit_name(0), everywhere.reduce(symbol("N")))
    here = everywhere.fork()
    here.assume_nonnegative(i - 5)
    quotient = floor_div(here, i - 5, 3)
    assert here.nonnegative(quotient)
    everywhere.adopt(here)
    assert not everywhere.nonnegative(quotient)
