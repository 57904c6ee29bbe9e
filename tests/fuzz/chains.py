"""Random chains with symbols, grown together with the sizes for which they have a meaning.

A chain starts with some hundred points, that is numbers for all dims, and with what each step makes of the input there.
A step that leaves too few of them is not taken, so that long chains have a meaning too.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.fuzz.words import in_words
from tests.fuzz_prove import steps as core
from tests.fuzz_prove.extents import after, product
from tests.fuzz_prove.truth import clamps, undecided
from tests.support import brute
from tests.support.brute import Dim, Expression, Grid, Invalid, Step
from tests.support.brute_frameworks import FRAMEWORK_JOINT, FRAMEWORKS

LONGEST = 8
POINTS = 600  # that a chain starts with
LEAST = 40  # that a step has to leave
LARGE = 0.06  # the share of them with long axes
MOST_SMALL, MOST_LARGE = 700, 40_000  # elements of an array
DIMS = ("N", "H", "W", "C", "b", "c", "p", "q")

Point = dict[str, int]
Propose = Callable[[random.Random, list[Expression]], Step | None]


class Unjudged(Exception):
    """What the step needs depends on what is known before, or the array is larger than the fuzz wants it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A step: as one of the core, which says its shape, and as it is taken, maybe in the words of a framework."""

    core: Step
    said: Step

    @property
    def name(self) -> str:
        """What the counts call it."""
        name, given = self.said
        return f"{name} {given['mode']}" if name == "pad" and "mode" in given else name


@dataclass(frozen=True, slots=True)
class Chain:
    """The shape of the first input, the steps, the dims with their bounds, and the fill of code -1."""

    shape: tuple[Expression, ...]
    links: tuple[Link, ...]
    dims: tuple[Dim, ...]
    fill: float = 1

    def names(self) -> list[str]:
        """Return the dims in order of use."""
        return brute.Chain(self.shape, tuple(link.said for link in self.links)).names()

    def used(self) -> tuple[Dim, ...]:
        """Return the dims that are used, with their bounds."""
        names = self.names()
        return tuple(d for d in self.dims if d.name in names)

    def inputs(self) -> dict[str, Sequence[Expression]]:
        """Return the shapes of the inputs as written, by name."""
        found: dict[str, Sequence[Expression]] = {"x0": self.shape}
        for link in self.links:
            for name, given in (step for branch in link.core[1].get("branches", ()) for step in branch):
                if name == "input":
                    found[f"x{given['number']}"] = given["shape"]
        return found

    def shapes(self) -> list[list[Expression]]:
        """Return the shape before each step as written, and at the end."""
        found = [list(self.shape)]
        for link in self.links:
            found.append(after(link.core, found[-1]))
        return found


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chain, what it reads at points where it has a meaning, and points where it has none."""

    chain: Chain
    points: list[tuple[Point, Grid]]
    without: list[Point]


def run(chain: Chain, point: Point) -> Grid:
    """Return which element each coordinate reads, by brute force.

    Raises
    ------
    Invalid
        The chain has no meaning at *point*.
    Unjudged
        Brute force does not say.
    """
    shapes = iter(chain.shapes())
    leaf = brute.leaf(chain.shape, point)
    return functools.reduce(lambda grid, link: apply(link, next(shapes), grid, point), chain.links, leaf)


def apply(link: Link, shape: list[Expression], grid: Grid, point: Mapping[str, int]) -> Grid:
    """Return what a step makes of *grid*, whose shape is written as *shape*; raises as `run`."""
    if undecided(link.core, shape, grid, point):
        raise Unjudged
    try:
        made = _said(link.said, grid, point)
    except MemoryError:
        raise Unjudged from None
    if made.size > MOST_LARGE:
        raise Unjudged
    return made


def _said(step: Step, grid: Grid, point: Mapping[str, int]) -> Grid:
    name, attributes = step
    if ":" not in name:
        return brute.apply(step, grid, point)
    given = {k: v if k in brute.PLAIN else brute.value(v, point) for k, v in attributes.items()}
    for key in {"shape", "size", "target_shape"} & given.keys():  # only a -1 that is written as such is none
        pairs = zip(given[key], attributes[key], strict=True) if isinstance(given[key], list) else ()
        if any(n < 0 and not isinstance(e, int) for n, e in pairs):
            raise Invalid
    part = given.pop("part", None)
    try:
        if "branches" in given:
            ends = [functools.reduce(lambda x, s: brute.apply(s, x, point), b, grid) for b in given.pop("branches")]
            return FRAMEWORK_JOINT[name](ends, **given)
        made = FRAMEWORKS[name](grid, **given)
    except IndexError:  # an index or an axis that there is not
        raise Invalid from None
    found: Grid = made if part is None else made[part]
    return found


# ---------------------------------------------------------------------- draws


def draw(rnd: random.Random) -> Drawn:
    """Return a random chain of 1 to 8 steps with its points."""
    kinds, ranks = _kinds(rnd)
    shape = _shape(rnd, rnd.choice(ranks))
    dims = tuple(_bounded(rnd, Dim(name, int(name in "bc"))) for name in DIMS)
    chain = Chain(shape, (), dims, rnd.choice((1, 1, 5, 2.5, -0.0, float("nan"), float("inf"))))
    points = [_point(rnd, dims) if 4 in ranks else _small_point(rnd, dims) for _ in range(POINTS)]
    here = [(p, leaf) for p in points if (leaf := _leaf(shape, p)) is not None]
    without: list[Point] = []
    written = list(shape)
    by_name = {d.name: d for d in dims}
    wanted = rnd.randint(1, LONGEST)
    for _ in range(4 * wanted):
        if len(chain.links) == wanted:
            break
        link = _link(rnd, kinds, written, len(chain.links), by_name)
        if link is None:
            continue
        kept, refused = _through(link, written, here)
        if len(kept) >= LEAST:
            here, without = kept, [*without, *refused]
            chain = replace(chain, links=(*chain.links, link))
            written = after(link.core, written)
    return _thinned(chain, here, without)


def at_points(chain: Chain, points: Iterable[Point]) -> Drawn:
    """Return a chain with those of *points* at which it has a meaning, and those at which it has none."""
    found, without = [], []
    for point in points:
        try:
            found.append((point, run(chain, point)))
        except Invalid:
            without.append(point)
        except Unjudged:
            continue
    return Drawn(chain, found, without)


def _through(link: Link, shape: list[Expression], here: list[tuple[Point, Grid]]) -> tuple[Any, list[Point]]:
    """Return the points at which a step has a meaning, with what it makes there, and those at which it has none."""
    kept, refused = [], []
    for point, grid in here:
        try:
            made = apply(link, shape, grid, point)
        except Invalid:
            refused.append(point)
        except Unjudged:
            continue
        else:
            if made.size <= max(MOST_SMALL, MOST_LARGE * _is_large(point)):
                kept.append((point, made))
    return kept, refused


def _thinned(chain: Chain, here: list[tuple[Point, Grid]], without: list[Point]) -> Drawn:
    """Return the points with the dims that are used, each once."""
    names = chain.names()

    def used(point: Point) -> Point:
        return {name: point[name] for name in names}

    found = {tuple(used(p).values()): (used(p), grid) for p, grid in here}
    not_here = {tuple(used(p).values()): used(p) for p in without}
    return Drawn(chain, list(found.values()), [p for key, p in not_here.items() if key not in found])


def _shape(rnd: random.Random, rank: int) -> tuple[Expression, ...]:
    """Return the shape of the first input."""
    names = rnd.sample(("N", "H", "W", "C"), rank)
    return tuple(
        rnd.choice((n, n, n, n, ("*", "b", n), ("*", 2, n), ("*", n, "b"), ("+", n, 1), 2, 4, 1)) for n in names
    )


def _bounded(rnd: random.Random, d: Dim) -> Dim:
    """Return a dim with other bounds, sometimes."""
    change = rnd.random()
    if change < 0.1:
        return Dim(d.name, 1)
    if change < 0.15:
        return Dim(d.name, d.min, d.min + 3)
    if change < 0.5 and d.name in "bc":
        return Dim(d.name, 2)
    return Dim(d.name, d.min, None, 2) if change < 0.2 else d


def _point(rnd: random.Random, dims: tuple[Dim, ...]) -> Point:
    """Return numbers that tend to share a factor, so that blocks divide what they have to divide."""
    f = rnd.choice((1, 2, 2, 2, 3, 4))
    some = (0, 1, 1, f, f, 2 * f, 2 * f, 3 * f, f * f, rnd.randint(1, 9))
    few = (1, 2, f, f, f)
    point = {d.name: rnd.choice(few if d.name in "bc" else some) for d in dims}
    if rnd.random() < LARGE:
        for name in rnd.sample("NHWC", 2):
            point[name] = f * rnd.choice((8, 15, 16, 17, 31, 33, 40, 64, 65, 100))
    return {d.name: _nearest(d, point[d.name]) for d in dims}


def _small_point(rnd: random.Random, dims: tuple[Dim, ...]) -> Point:
    """Return numbers at which what is cut off may be all there is."""
    return {d.name: _nearest(d, rnd.randrange(4 if d.name in "bc" else 5)) for d in dims}


def _nearest(d: Dim, n: int) -> int:
    n = max(n, d.min) if d.max is None else min(max(n, d.min), d.max)
    return n - n % d.multiple_of + (d.multiple_of if n - n % d.multiple_of < d.min else 0)


def _is_large(point: Point) -> bool:
    return any(point[name] > 24 for name in "NHWC")


def _leaf(shape: tuple[Expression, ...], point: Point) -> Grid | None:
    try:
        leaf = brute.leaf(shape, point)
    except Invalid:
        return None
    return leaf if leaf.size <= (MOST_LARGE if _is_large(point) else MOST_SMALL) else None


def _kinds(rnd: random.Random) -> tuple[Sequence[Propose], tuple[int, ...]]:
    """Return proposals to choose from, and numbers of axes: all, or a few so that they meet each other more often.

    Many operations are for 4 axes; borders meet where there are fewer.
    """
    how, few = rnd.random(), rnd.choices(PROPOSALS, k=rnd.choice((1, 2, 4)))
    if how < 0.3:
        return rnd.choices(PROPOSALS, WEIGHTS, k=4 * LONGEST), (1, 2, 3, 3, 4, 4, 4, 4)
    if how < 0.6:
        return [*few, rnd.choice(AT_BORDERS)], (1, 2, 3, 4)
    return [*few[:2], *AT_BORDERS], (1, 1, 2, 3)


def _link(
    rnd: random.Random, kinds: Sequence[Propose], shape: list[Expression], number: int, dims: Mapping[str, Dim]
) -> Link | None:
    """Return a step for an input of *shape*; half of those that frameworks have are said in their words."""
    step = rnd.choice(kinds)(rnd, shape)
    if step is None or clamps(step):
        return None
    if "branches" in step[1] and rnd.random() < 0.3:
        step = _another_input(rnd, step, shape, number)
    said = [words for words in in_words(step, shape) if not _block_below_2(words, dims)]
    return Link(step, rnd.choice(said) if said and rnd.random() < 0.6 else step)


def _block_below_2(words: Step, dims: Mapping[str, Dim]) -> bool:
    """Return whether a block may be 1 that has to be declared larger."""
    name, given = words
    block = given.get("block_size", 2)
    least = block if isinstance(block, int) else dims[block].min
    return name.startswith("tensorflow:") and least < 2


def _another_input(rnd: random.Random, step: Step, shape: list[Expression], number: int) -> Step:
    """Return a step that joins what is at hand, and an input of its own in the place of one branch."""
    name, given = step
    if None in shape:
        return step
    other = list(shape)
    if name == "concatenate":
        other[given["axis"]] = rnd.choice((other[given["axis"]], 1, "p", 2))
    branches: list[Any] = [(), (("input", {"shape": other, "number": number + 1}),)]
    return name, {**given, "branches": branches if rnd.random() < 0.5 else branches[::-1]}


def _flattened(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if None in shape:
        return None
    axis = rnd.randint(0, len(shape))
    return "reshape", {"shape": [product(shape[:axis]), product(shape[axis:])]}


def _depth_at_the_end(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if len(shape) != 4:
        return None
    name = rnd.choice(("space_to_depth", "depth_to_space"))
    axes = {"depth_axis": 3, "spatial_axes": [1, 2]}
    return name, {"block_size": rnd.choice((2, 2, 3, "b")), "mode": "blocks_first", **axes}


def _square(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if len(shape) != 4:
        return None
    block, pairs = core.block_of(rnd), core.margins_of(rnd, 2)
    if rnd.random() < 0.5:
        return "space_to_batch", {"block_shape": [block, block], "paddings": pairs}
    return "batch_to_space", {"block_shape": [block, block], "crops": pairs}


def _part(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if not shape:
        return None
    axis, count = rnd.randrange(len(shape)), rnd.choice((1, 2, 2, 3))
    return "split", {"indices_or_sections": count, "axis": axis, "part": rnd.randrange(count)}


def _unchanged(rnd: random.Random, shape: list[Expression]) -> Step | None:
    return "flip", {"axis": []}


def _crop(rnd: random.Random, shape: list[Expression]) -> Step | None:
    """Return a slice that leaves out some elements at an end, or all there are."""
    axis = core.axis_of(rnd, shape)
    if axis is None:
        return None
    count = rnd.choice((1, 1, 2, 3))
    return "getitem", {"key": [slice(None)] * axis + [rnd.choice((slice(count, None), slice(None, -count)))]}


def _margins(rnd: random.Random, shape: list[Expression]) -> Step | None:
    """Return a pad that is small, of one axis or all, with one fill as often as with the other."""
    at = rnd.randrange(len(shape) + 1)
    widths = [core.margins_of(rnd, 1)[0] if at in (axis, len(shape)) else [0, 0] for axis in range(len(shape))]
    return "pad", {"pad_width": widths, "constant_values": rnd.choice((0, -1))}


PROPOSALS: tuple[Propose, ...] = (
    *core.PROPOSALS, _flattened, _depth_at_the_end, _square, _part, _unchanged,
)  # fmt: skip
WEIGHTS = [*core.WEIGHTS, 2, 4, 4, 3, 1]
AT_BORDERS = (_crop, _crop, core.cut, _margins, _margins, core.pad_by_mode, core.concatenate)
