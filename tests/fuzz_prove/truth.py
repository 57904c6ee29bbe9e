"""What brute force says of a family of chains, point by point: each step is applied once."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.fuzz_prove.extents import along
from tests.support import brute
from tests.support.brute import Chain, Dim, Expression, Grid, Step

Point = tuple[int, ...]  # a value for each dim, in the family's order
SMALLEST = 40  # points by their sum
SCATTERED = 24  # further points, where the first chain has a meaning
MOST_ELEMENTS = 1 << 14  # of an array that one step makes


@dataclass(slots=True)
class _Node:
    """A step that some chains have in common, all steps before it too, and the shape before it as written.

    It may have a slice whose bounds are numbers, though written with dims: then they clamp.
    """

    step: Step | None = None
    shape: Sequence[Expression] = ()
    clamps: bool = False
    ends: list[int] = field(default_factory=list)
    then: list[_Node] = field(default_factory=list)

    def numbers(self) -> Iterator[int]:
        """Yield the chains that end here or below."""
        yield from self.ends
        for child in self.then:
            yield from child.numbers()


class Truth:
    """The values of a family's chains at points; None where a chain has no meaning, or is not judged."""

    def __init__(self, chains: Sequence[Chain], dims: Sequence[Dim]) -> None:
        self.chains, self.dims = chains, list(dims)
        self.names = [d.name for d in dims]
        self._root = _Node()
        self._known: dict[Point, list[Grid | None]] = {}
        self.unjudged: set[tuple[Point, int]] = set()  # with the number of a chain
        for number, chain in enumerate(chains):
            node = self._root
            for step, shape in zip(chain.steps, along(chain.shape, chain.steps), strict=False):
                node = _child(node, step, shape)
            node.ends.append(number)

    def at(self, point: Point) -> list[Grid | None]:
        """Return what each chain reads at a point, as `brute.run` does."""
        if (known := self._known.get(point)) is not None:
            return known
        values: list[Grid | None] = [None] * len(self.chains)
        self._known[point] = values
        dims = dict(zip(self.names, point, strict=True))
        try:
            leaf = brute.leaf(self.chains[0].shape, dims)
        except brute.Invalid:
            return values
        for number in self._follow(self._root, leaf, dims, values):
            self.unjudged.add((point, number))
        return values

    def _follow(self, node: _Node, grid: Grid, dims: Mapping[str, int], values: list[Grid | None]) -> Iterator[int]:
        """Set the values of the chains below a node, and yield those that are not judged."""
        for number in node.ends:
            values[number] = grid
        for child in node.then:
            try:
                if (
                    child.step is None
                    or child.clamps
                    or grid.size > MOST_ELEMENTS
                    or undecided(child.step, child.shape, grid, dims)
                ):
                    yield from child.numbers()
                    continue
                made = brute.apply(child.step, grid, dims)
            except brute.Invalid:
                continue
            yield from self._follow(child, made, dims, values)

    def sample(self, rnd: random.Random) -> list[Point]:
        """Return points to compare at: the smallest, and some further ones where the first chain has a meaning."""
        smallest = list(itertools.islice(by_sum(self.dims), SMALLEST))
        found = dict.fromkeys(smallest)
        choices = [d.values(5) or [d.min] for d in self.dims]
        wanted = len(smallest) + SCATTERED
        for _ in range(6 * SCATTERED):
            if len(found) == wanted:
                break
            point = tuple(rnd.choice(values) for values in choices)
            if point not in found and self.at(point)[0] is not None:
                found[point] = None
        return list(found)


def undecided(step: Step, shape: Sequence[Expression], grid: Grid, dims: Mapping[str, int]) -> bool:
    """Return whether what a step needs of the extents depends on what is known of them.

    A pad that repeats elements needs one, or two if it reflects, unless it is known that it adds nothing or
    that there is but one.  An extent has to be known to be 1 to be broadcast.
    """
    name, given = step
    if name == "broadcast_to":
        axes = zip(grid.shape[::-1], shape[::-1], given["shape"][::-1], strict=False)
        return any(n == 1 != e and brute.value(to, dims) != 1 for n, e, to in axes)
    least = {"edge": 1, "wrap": 1, "symmetric": 1, "reflect": 2}.get(given.get("mode", ""), 0)
    if name != "pad" or not least or len(given["pad_width"]) != grid.ndim:
        return False
    return any(
        n < least and not isinstance(e, int) and pair != [0, 0]
        for n, e, pair in zip(grid.shape, shape, given["pad_width"], strict=True)
    )


def _child(node: _Node, step: Step, shape: Sequence[Expression]) -> _Node:
    for child in node.then:
        if child.step == step:
            return child
    node.then.append(_Node(step, shape, clamps(step)))
    return node.then[-1]


def clamps(step: Step) -> bool:
    """Return whether a step has a slice whose bounds are numbers, though written with dims."""
    name, given = step
    if name == "slice":
        return _is_number(given["start"]) and _is_number(given["stop"])
    return any(clamps(inner) for branch in given.get("branches", ()) for inner in branch)


def _is_number(e: Expression) -> bool:
    """Return whether an expression has one value for all dims, as far as two random ones show."""
    rnd = random.Random(0)
    names = Chain((e,)).names()
    return len({brute.rational(e, {name: rnd.randint(100, 1 << 20) for name in names}) for _ in range(2)}) == 1


def by_sum(dims: Sequence[Dim], until: int | None = None) -> Iterator[Point]:
    """Yield the values of *dims* by their sum, then in lexicographic order, up to the sum *until*."""
    most = sum(d.max for d in dims if d.max is not None) if all(d.max is not None for d in dims) else until
    totals = itertools.count(sum(d.min for d in dims)) if most is None else range(most + 1)
    for total in totals:
        if until is not None and total > until:
            return
        yield from _of_sum(dims, total)


def _of_sum(dims: Sequence[Dim], total: int) -> Iterator[Point]:
    if not dims:
        if total == 0:
            yield ()
        return
    first, *rest = dims
    room = total - sum(d.min for d in rest)
    for value in first.values(room):
        for others in _of_sum(rest, total - value):
            yield (value, *others)


def same(a: Grid, b: Grid) -> bool:
    """Return whether two chains read the same at a point."""
    return a.shape == b.shape and a.tobytes() == b.tobytes()
