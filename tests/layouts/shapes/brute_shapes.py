"""Shapes, coordinates and modes beside definitions of their own: ``python -m tests.layouts.shapes.brute_shapes 2000``.

Nothing of the package but its public names is used.  A result with symbols is read from its text at values of the
symbols, and compared at every coordinate.  Where pycute and tensor-layouts are installed, they are asked the same.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import sympy

import symlayout as sl
from tests.layouts.brute_layouts import value
from tests.layouts.brute_symbols import holds, modes_at, number, spread

Tree = Any  # an int, or a tuple of Trees

SIZES: tuple[Any, ...] = (1, 2, 3, 4, 6)
SYMBOLS = sl.dims("M N K")
VALUES = (1, 2, 3, 4, 6)
_MOST = 400


# ---------------------------------------------------------------------- the definitions


def flat(e: Tree) -> list[Any]:
    """Return the leaves in order."""
    return [x for part in e for x in flat(part)] if isinstance(e, tuple) else [e]


def at(e: Tree, values: dict[str, int]) -> Tree:
    """Return a tree of expressions as one of numbers."""
    return tuple(at(part, values) for part in e) if isinstance(e, tuple) else number(e, values)


def refill(like: Tree, leaves: Iterator[Any]) -> Tree:
    """Return leaves, nested as *like*."""
    return tuple(refill(part, leaves) for part in like) if isinstance(like, tuple) else next(leaves)


def coordinate(k: int, shape: Tree) -> Tree:
    """Return the coordinate of the number *k*; the last digit has no end."""
    sizes, found = flat(shape), []
    for n in sizes[:-1]:
        found.append(k % n)
        k //= n
    return refill(shape, iter([*found, k][: len(sizes)]))


def offset(c: Tree, shape: Tree, stride: Tree) -> int:
    """Return the offset of a coordinate, whose entries may be numbers of nested modes."""
    if isinstance(c, tuple):
        return sum(offset(*each) for each in zip(c, shape, stride, strict=True))
    return value(list(zip(flat(shape), flat(stride), strict=True)) or [(1, 0)], c)


def compact(shape: Tree) -> Tree:
    """Return the strides with the first size fastest."""
    sizes = flat(shape)
    return refill(shape, iter([prod(sizes[:k]) for k in range(len(sizes))]))


def profile(e: Tree) -> Tree:
    """Return how a tree is nested."""
    return tuple(map(profile, e)) if isinstance(e, tuple) else 0


def is_compatible(a: Tree, b: Tree, fits: Callable[[int, int], bool]) -> bool:
    """Return whether *b* refines *a*, where *fits* holds for each size of *a* and the product in its place."""
    if not isinstance(a, tuple):
        return fits(a, prod(flat(b)))
    return (
        isinstance(b, tuple) and len(a) == len(b) and all(is_compatible(*each, fits) for each in zip(a, b, strict=True))
    )


# ---------------------------------------------------------------------- what is drawn


def drawn_shape(rng: random.Random, symbols: bool, depth: int = 2) -> Tree:
    """Return a random nested shape."""
    if depth and rng.random() < 0.55:
        return tuple(drawn_shape(rng, symbols, depth - 1) for _ in range(rng.randint(1, 3)))
    return rng.choice((*SIZES, *SYMBOLS, 2 * SYMBOLS[0]) if symbols else SIZES)


def drawn_strides(rng: random.Random, shape: Tree, symbols: bool) -> Tree:
    """Return random strides, or compact ones in a random order."""
    sizes = flat(shape)
    if rng.random() < 0.6:
        found: list[Any] = [0] * len(sizes)
        step: Any = 1
        for k in rng.sample(range(len(sizes)), len(sizes)):
            found[k], step = step, step * sizes[k]
    else:
        found = [rng.choice((0, 1, 2, 4, 5, *(SYMBOLS if symbols else ()))) for _ in sizes]
    return refill(shape, iter(found))


def drawn_values(rng: random.Random, shape: Tree) -> dict[str, int] | None:
    """Return values of all symbols, under which the shape has few coordinates; None if none are found."""
    for _ in range(20):
        found = {s.name: rng.choice(VALUES) for s in SYMBOLS}
        if prod(flat(at(shape, found))) <= _MOST:
            return found
    return None


# ---------------------------------------------------------------------- what is compared


class Case:
    """A random layout, and its values at values of the symbols."""

    def __init__(self, rng: random.Random, tally: Counter[str]) -> None:
        self.rng, self.tally = rng, tally
        self.symbols = rng.random() < 0.5
        values = None
        while values is None:
            self.shape = drawn_shape(rng, self.symbols)
            values = drawn_values(rng, self.shape)
        self.values: dict[str, int] = values
        self.stride = drawn_strides(rng, self.shape, self.symbols)
        self.a = sl.layout(self.shape, self.stride)
        self.n, self.d = at(self.shape, self.values), at(self.stride, self.values)

    def same(self, found: Any, shape: Tree, stride: Tree, what: str) -> None:
        """Compare a layout with a shape and strides."""
        expected = (at(shape, self.values), at(stride, self.values))
        assert (at(found.shape, self.values), at(found.stride, self.values)) == expected, (what, self.a, found)
        self.tally[what] += 1

    def modes(self) -> None:
        """Check modes that are taken, grouped and joined."""
        a, rng = self.a, self.rng
        tops = list(self.shape) if isinstance(self.shape, tuple) else [self.shape]
        steps = list(self.stride) if isinstance(self.shape, tuple) else [self.stride]
        rank = len(tops)
        if isinstance(self.shape, tuple):
            self.same(a.flatten(), tuple(flat(self.shape)), tuple(flat(self.stride)), "flatten")
            self.same(a.flatten().unflatten(a), self.shape, self.stride, "unflatten")
        begin = rng.randrange(rank)
        end = rng.randint(begin + 1, rank)
        grouped = (*tops[:begin], tuple(tops[begin:end]), *tops[end:])
        self.same(a.group(begin, end), grouped, (*steps[:begin], tuple(steps[begin:end]), *steps[end:]), "group")
        self.same(a.take(begin, end), tuple(tops[begin:end]), tuple(steps[begin:end]), "take")
        order = [rng.randrange(rank) for _ in range(rng.randint(1, 3))]
        self.same(a.select(*order), tuple(tops[k] for k in order), tuple(steps[k] for k in order), "select")
        shape = drawn_shape(rng, self.symbols, 1)
        stride = drawn_strides(rng, shape, self.symbols)
        other = sl.layout(shape, stride)
        self.same(a.append(other), (*tops, shape), (*steps, stride), "append")
        self.same(a.prepend(other), (shape, *tops), (stride, *steps), "prepend")
        self.same(a.append(other, rank + 2), (*tops, shape, shape), (*steps, stride, stride), "append")
        replaced = (*tops[:begin], shape, *tops[begin + 1 :]), (*steps[:begin], stride, *steps[begin + 1 :])
        self.same(a.replace(begin, other), *replaced, "replace")
        self.same(sl.make_layout(a, other), (self.shape, shape), (self.stride, stride), "make_layout")
        self.same(sl.make_layout(self.shape, self.stride), self.shape, self.stride, "make_layout")

    def pattern(self, shape: Tree) -> Tree:
        """Return a coordinate, some of it open."""
        if isinstance(shape, tuple) and self.rng.random() < 0.7:
            return tuple(map(self.pattern, shape))
        return None if self.rng.random() < 0.5 else self.rng.randrange(prod(flat(shape)))

    def slices(self) -> None:
        """Check that the offset and the slice together have the values of the layout."""
        if not isinstance(self.shape, tuple):
            return
        crd = tuple(map(self.pattern, self.n))
        part, first = self.a.slice_and_offset(crd)
        sizes = [prod(flat(n)) for n in _open(crd, self.n)]
        own = [prod(flat(at(n, self.values))) for n in (part.shape if isinstance(part.shape, tuple) else (part.shape,))]
        assert own == sizes, (self.a, crd, part)
        start = number(first, self.values)
        for c in itertools.product(*map(range, sizes)):
            inside = offset(c, at(part.shape, self.values), at(part.stride, self.values))
            assert start + inside == offset(_put(crd, iter(c)), self.n, self.d), (self.a, crd, part, first)
        self.tally["slice"] += 1
        kept = [prod(flat(at(n, self.values))) for n in self.a.dice(crd).shape]
        assert kept == [prod(flat(n)) for n in _fixed(crd, self.n)], (self.a, crd)
        self.tally["dice"] += 1

    def coordinates(self) -> None:
        """Check that a number and its coordinate name each other, also those of another shape."""
        k = self.rng.randrange(prod(flat(self.n)) + 3)
        found = sl.idx2crd(k, self.shape)
        assert at(found, self.values) == coordinate(k, self.n), (self.shape, k, found)
        symbolic = at(sl.idx2crd(sl.dim("k"), self.shape), {**self.values, "k": k})
        assert symbolic == coordinate(k, self.n), (self.shape, k)
        c = coordinate(k, self.n)
        assert number(sl.crd2idx(c, self.shape), self.values) == offset(c, self.n, compact(self.n)) == k
        assert number(sl.crd2idx(c, self.shape, self.stride), self.values) == offset(c, self.n, self.d)
        assert number(self.a(c), self.values) == offset(c, self.n, self.d)
        other = drawn_shape(self.rng, self.symbols)
        target = at(other, self.values)
        moved = at(sl.crd2crd(k, other), self.values)
        assert moved == coordinate(k, target), (k, other)
        if isinstance(c, tuple) and not (isinstance(target, tuple) and len(target) == len(c)):
            assert at(sl.crd2crd(c, other, self.shape), self.values) == coordinate(k, target), (c, other, self.shape)
        self.tally["idx2crd, crd2idx, crd2crd"] += 1

    def shapes(self) -> None:
        """Check that shapes compare as they are defined to."""
        other = drawn_shape(self.rng, self.symbols)
        if self.rng.random() < 0.6:  # one that refines this one
            other = _refined(self.shape, self.rng)
        m = at(other, self.values)
        assert sl.congruent(self.shape, other) is (profile(self.n) == profile(m))
        assert sl.weakly_congruent(self.shape, other) is is_compatible(self.n, m, lambda *_: True)
        for ask, fits in (
            (sl.compatible, lambda x, y: x == y),
            (sl.weakly_compatible, lambda x, y: y % x == 0),
        ):
            found = ask(self.shape, other)
            parts = found.args if getattr(found, "func", None) is sympy.And else [found]
            held = found if isinstance(found, bool) else holds(parts, self.values)
            assert held == is_compatible(self.n, m, fits), (ask.__name__, self.shape, other, self.values, found)
            self.tally[f"{ask.__name__}: {'decided' if isinstance(found, bool) else 'a condition'}"] += 1

    def orders(self) -> None:
        """Check that a compact layout follows its order, and reaches each number once."""
        order = _drawn_order(self.shape, self.rng)
        found = sl.make_ordered_layout(self.shape, order)
        modes = modes_at(found, self.values)
        assert sorted(spread(modes)) == list(range(prod(flat(self.n)))), (self.shape, order, found)
        strides = _by_order(at(found.stride, self.values), order)
        ranked = sorted(range(len(strides)), key=lambda k: strides[k][0])
        in_order = [d for k in ranked for d in strides[k][1]]
        assert in_order == sorted(in_order), (self.shape, order, found)
        self.tally["make_ordered_layout"] += 1
        try:
            like = sl.make_layout_like(self.a)
        except sl.InconclusiveError:
            self.tally["make_layout_like: open"] += 1
            return
        if holds(like.requires, self.values):
            own = list(zip(flat(self.n), flat(self.d), strict=True))
            compact_modes = [mode for mode, (_, d) in zip(modes_at(like, self.values), own, strict=True) if d]
            assert sorted(spread(compact_modes)) == list(range(prod(n for n, d in own if d))), (self.a, like)
            pairs = [(d, e) for (_, d), (_, e) in zip(own, modes_at(like, self.values), strict=True)]
            assert all((d == 0) == (e == 0) for d, e in pairs)
            moving = [(d, e) for (d, e), (n, _) in zip(pairs, own, strict=True) if d and n > 1]
            assert all(e < f for d, e in moving for b, f in moving if d < b), (self.a, like)
            self.tally["make_layout_like"] += 1

    def identities(self) -> None:
        """Check that the identity has coordinates as its values, before and after a tile."""
        same = sl.make_identity_layout(self.shape)
        size = prod(flat(self.n))
        k = self.rng.randrange(size)
        assert at(same(k), self.values) == coordinate(k, self.n), (same, k)
        tile, step = self.rng.choice((2, 3, 4, 6)), self.rng.choice((1, 2, 3))
        try:
            cut = same.composition(sl.layout(tile, step))
        except (sl.ShapeError, sl.InconclusiveError) as refused:
            self.tally[f"identity under a tile: {getattr(refused, 'kind', 'open')}"] += 1
        else:
            if holds(cut.requires, self.values):
                for c in range(tile):
                    assert _padded(at(cut(c), self.values), self.n) == coordinate(c * step, self.n), (cut, c)
                self.tally["identity under a tile"] += 1
        through = self.a.composition(same)
        assert not through.requires
        modes = list(zip(flat(self.n), flat(self.d), strict=True)) or [(1, 0)]
        assert spread(modes_at(through, self.values)) == spread(modes), (self.a, through)
        self.tally["a layout of the identity"] += 1

    def algebra(self) -> None:
        """Check what the operations of one layout, or of two, are defined by."""
        modes = list(zip(flat(self.n), flat(self.d), strict=True))
        null = self.asked("nullspace", self.a.nullspace)
        if null is not None:
            found = spread(null)
            assert [value(modes, k) for k in found] == [0] * len(found), self.a
            assert len(set(found)) == len(found) == prod(n for n, d in modes if d == 0), (self.a, null)
        shape = _reordered(self.shape, self.rng)
        other = sl.layout(shape, drawn_strides(self.rng, shape, self.symbols))
        theirs = modes_at(other, self.values)
        common = self.asked("max_common_layout", lambda: self.a.max_common_layout(other))
        if common is not None:
            reached = spread(common)
            assert (
                [value(modes, k) for k in reached] == [value(theirs, k) for k in reached] == list(range(len(reached)))
            )
            longest = self.a.max_common_vector(other)
            if not self.symbols:
                assert longest == len(reached)
        old, new = self.rng.choice(((16, 8), (8, 16), (16, 16), (16, 24), (24, 16), (8, 32)))
        if (cast := self.asked("recast", lambda: self.a.recast(old, new))) is not None and new % old == 0:
            assert {v * old // new for v in spread(modes)} == set(spread(cast)), (self.a, old, new, cast)
        self.tiles(modes)

    def tiles(self, modes: list[tuple[int, int]]) -> None:
        """Check that a block is repeated to a shape: each copy is the block, elsewhere."""
        if not isinstance(self.shape, tuple) or 0 in self.d or any(isinstance(n, tuple) for n in self.shape):
            return
        times = [self.rng.choice((1, 2, 3)) for _ in self.shape]
        goal = tuple(n * t for n, t in zip(self.shape, times, strict=True))
        order = self.rng.sample(range(len(goal)), len(goal))
        found = self.asked("tile_to_shape", lambda: self.a.tile_to_shape(goal, order))
        if found is None or prod(n for n, _ in found) > 3000:
            return
        assert prod(n for n, _ in found) == prod(at(goal, self.values))
        axes = [n * t for n, t in zip(self.n, times, strict=True)]

        def whole(c: tuple[int, ...]) -> int:
            return value(found, sum(k * prod(axes[:axis]) for axis, k in enumerate(c)))

        for copy in itertools.product(*map(range, times)):
            start = whole(tuple(k * n for k, n in zip(copy, self.n, strict=True)))
            for c in itertools.product(*map(range, self.n)):
                here = tuple(k * n + i for k, n, i in zip(copy, self.n, c, strict=True))
                assert whole(here) - start == offset(c, self.n, self.d), (self.a, goal, order, found)
        if len(set(spread(modes))) == prod(self.n):
            assert len(set(spread(found))) == prod(axes), (self.a, goal, found)

    def asked(self, what: str, ask: Callable[[], Any]) -> list[tuple[int, int]] | None:
        """Return the modes of an answer at the values, if it is right there."""
        try:
            found = ask()
        except sl.InconclusiveError:
            self.tally[f"{what}: open"] += 1
            return None
        except sl.ShapeError as refused:
            self.tally[f"{what}: {refused.kind}"] += 1
            return None
        if not holds(found.requires, self.values):
            self.tally[f"{what}: for other sizes"] += 1
            return None
        self.tally[what] += 1
        return modes_at(found, self.values)


def _open(crd: Tree, shape: Tree) -> list[Tree]:
    if isinstance(crd, tuple):
        return [e for each in zip(crd, shape, strict=True) for e in _open(*each)]
    return [shape] if crd is None else []


def _fixed(crd: Tree, shape: Tree) -> list[Tree]:
    if isinstance(crd, tuple):
        return [e for each in zip(crd, shape, strict=True) for e in _fixed(*each)]
    return [] if crd is None else [shape]


def _put(crd: Tree, inside: Iterator[int]) -> Tree:
    if isinstance(crd, tuple):
        return tuple(_put(e, inside) for e in crd)
    return next(inside) if crd is None else crd


def _padded(c: Tree, like: Tree) -> Tree:
    """Return a coordinate with a 0 for each of *like* that it does not reach, as CuTe adds them."""
    if not isinstance(like, tuple):
        return c
    entries = c if isinstance(c, tuple) else ()
    assert isinstance(c, tuple) or c == 0
    return tuple(_padded(e, part) for e, part in itertools.zip_longest(entries, like, fillvalue=0))


def _refined(shape: Tree, rng: random.Random) -> Tree:
    if isinstance(shape, tuple):
        return tuple(_refined(part, rng) for part in shape)
    if rng.random() < 0.5:
        return shape
    return rng.choice(((shape, 1), (2, shape), (1, (shape, 1)), 2 * shape, shape + 1))


def _reordered(shape: Tree, rng: random.Random) -> Tree:
    return tuple(flat(shape)) if rng.random() < 0.5 else shape


def _drawn_order(shape: Tree, rng: random.Random) -> Tree:
    if isinstance(shape, tuple) and rng.random() < 0.7:
        return tuple(_drawn_order(part, rng) for part in shape)
    return rng.randint(0, 60)


def _by_order(stride: Tree, order: Tree) -> list[tuple[int, list[int]]]:
    if isinstance(order, tuple):
        return [e for each in zip(stride, order, strict=True) for e in _by_order(*each)]
    return [(order, flat(stride))]


# ---------------------------------------------------------------------- peers


def beside_peers(rng: random.Random, tally: Counter[str]) -> None:
    """Ask pycute and tensor-layouts the same about numbers; what is not installed is skipped."""
    shape = drawn_shape(rng, False)
    stride = drawn_strides(rng, shape, False)
    a, k = sl.layout(shape, stride), rng.randrange(prod(flat(shape)))
    crd = coordinate(k, shape)
    other = drawn_shape(rng, False)
    if (pycute := _peer("pycute")) is not None:
        theirs = pycute.Layout(shape, stride)
        assert pycute.crd2idx(crd, shape, stride) == sl.crd2idx(crd, shape, stride) == theirs(crd)
        assert pycute.idx2crd(k, shape) == sl.idx2crd(k, shape)
        assert k >= prod(flat(other)) or pycute.crd2crd(k, other) == sl.crd2crd(k, other)
        if isinstance(shape, tuple):
            pattern = tuple(rng.choice((None, 0)) for _ in shape)
            if None in pattern:
                cut, found = theirs(pattern), a.slice(pattern)
                assert (cut.shape, cut.stride) == (found.shape, found.stride), (a, pattern)
        tally["pycute"] += 1
    if (peer := _peer("tensor_layouts")) is not None:
        theirs = peer.Layout(shape, stride)
        assert peer.idx2crd(k, shape) == sl.idx2crd(k, shape)
        assert peer.crd2idx(crd, shape, stride) == sl.crd2idx(crd, shape, stride)
        flattened, found = peer.flatten(theirs), a.flatten()
        assert flat(flattened.shape) == flat(found.shape)
        assert flat(flattened.stride) == flat(found.stride)
        assert peer.congruent(shape, other) == sl.congruent(shape, other)
        assert peer.weakly_congruent(shape, other) == sl.weakly_congruent(shape, other)
        if not isinstance(shape, tuple) or (isinstance(other, tuple) and len(shape) == len(other)):
            # of other ranks it groups the modes of the first shape, which CuTe does not
            same = peer.compatible(shape, other) == sl.compatible(shape, other)
            tally["tensor_layouts: compatible " + ("as here" if same else "by grouping")] += 1
        b = peer.Layout(other)
        assert peer.append(theirs, b).shape == a.append(sl.layout(other)).shape
        null, own = peer.nullspace(theirs), a.nullspace()
        assert _values(flat(null.shape), flat(null.stride)) == _values(flat(own.shape), flat(own.stride)), a
        mine = a.is_injective().verdict is sl.Verdict.PROVED if hasattr(a, "is_injective") else None
        assert mine in (None, _peer("tensor_layouts.analysis").is_injective(theirs)), a
        tally["tensor_layouts"] += 1


def _values(shape: list[int], stride: list[int]) -> list[int]:
    return sorted(spread(list(zip(shape, stride, strict=True))))


def _peer(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def run(count: int, seed: int) -> Counter[str]:
    """Try *count* layouts."""
    rng, tally = random.Random(seed), Counter[str]()
    for _ in range(count):
        case = Case(rng, tally)
        for check in (
            case.modes,
            case.slices,
            case.coordinates,
            case.shapes,
            case.orders,
            case.identities,
            case.algebra,
        ):
            try:
                check()
            except AssertionError as error:
                raise AssertionError(f"{check.__name__} of {case.a} at {case.values}: {error}") from error
        beside_peers(rng, tally)
    return tally


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for label, many in sorted(run(given.count, given.seed).items()):
        print(f"{many:8} {label}")
