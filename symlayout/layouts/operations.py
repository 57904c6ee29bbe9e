"""The algebra of layouts as CuTe defines it, on nested sizes: by mode, with tilers, and what is made of it.

A tiler is a layout, or a tuple of tilers for the first modes of the other operand, of which None takes a mode as it is.

References
----------
CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/02_layout_algebra.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError
from symlayout.layouts import modes as algebra
from symlayout.layouts.conditions import Conditions
from symlayout.layouts.nested import UNIT, Nest, compact, of_modes, together

Tiler = Any  # a Nest, None, or a list of Tilers
ByMode = Callable[[Nest, Nest, Conditions], Nest]


def coalesce(a: Nest, profile: Tiler, c: Conditions) -> Nest:
    """Return the fewest modes of the same function; with a profile, of each of its modes by itself."""
    if isinstance(profile, list):
        return _each(a, profile, lambda part, inner: coalesce(part, inner, c))
    return of_modes(algebra.coalesced(a.reduced(c.facts).modes(), c.facts))


def filtered(a: Nest, profile: Tiler, c: Conditions) -> Nest:
    """Return the modes that move, coalesced."""
    if isinstance(profile, list):
        return _each(a, profile, lambda part, inner: filtered(part, inner, c))
    kept = [(n, d) for n, d in a.reduced(c.facts).modes() if n != 1 and (c.facts.nonnegative(-1 - d) or not c.zero(d))]
    return of_modes(algebra.coalesced(kept, c.facts))


def composition(a: Nest, b: Tiler, c: Conditions) -> Nest:
    """Return ``a(b(c))``, with the shape of *b*; by mode if *b* is a list."""
    if b is None:
        return a
    if isinstance(b, list):
        return _each(a, b, lambda part, tiler: composition(part, tiler, c))
    found = iter(algebra.composed(a.reduced(c.facts).modes(), b.modes(), c))
    return _filled(b, found).reduced(c.facts)


def _filled(like: Nest, found: Any) -> Nest:
    if isinstance(like.shape, tuple):
        return together(_filled(part, found) for part in like.parts())
    return of_modes(next(found))


def complement(a: Nest, size: Extent, c: Conditions) -> Nest:
    """Return what *a* leaves out below *size*."""
    return of_modes(algebra.complemented(a.reduced(c.facts).modes(), c.facts.reduce(size), c)).reduced(c.facts)


def right_inverse(a: Nest, c: Conditions) -> Nest:
    """Return *r* with ``a(r(k)) == k``."""
    return of_modes(algebra.right_inverse(a.reduced(c.facts).modes(), c)).reduced(c.facts)


def left_inverse(a: Nest, c: Conditions) -> Nest:
    """Return *r* with ``a(r(a(k))) == a(k)``."""
    return of_modes(algebra.left_inverse(a.reduced(c.facts).modes(), c)).reduced(c.facts)


def nullspace(a: Nest, c: Conditions) -> Nest:
    """Return the layout onto the coordinates that all have the offset 0: those of the modes that do not move."""
    found: list[tuple[Extent, Extent]] = []
    place: Extent = 1
    for n, d in a.reduced(c.facts).modes():
        if n != 1 and not c.at_least(d - 1) and c.zero(d):
            found.append((n, place))
        place = place * n
    return of_modes(algebra.coalesced(found, c.facts) if found else [(1, 0)])


def max_common_layout(a: Nest, b: Nest, c: Conditions) -> Nest:
    """Return the longest *r* found with ``a(r(k)) == b(r(k)) == k``."""
    inverse = right_inverse(b, c)
    n, d = algebra.coalesced(composition(a, inverse, c).modes(), c.facts)[0]
    if n == 1 or not c.zero(d - 1):
        return UNIT
    return coalesce(composition(inverse, Nest(n, 1), c), None, c)


def logical_divide(a: Nest, b: Tiler, c: Conditions) -> Nest:
    """Return ``((tile), (rest))``: *a* on the coordinates of *b*, and on those that *b* leaves out."""
    if b is None:
        return a
    if isinstance(b, list):
        return _each(a, b, lambda part, tiler: logical_divide(part, tiler, c))
    rest = complement(b, a.size(), c)
    return composition(a, together([b.reduced(c.facts), rest]), c)


def logical_product(a: Nest, b: Tiler, c: Conditions) -> Nest:
    """Return ``((a), (copies))``: *a*, and where *b* puts its copies."""
    if b is None:
        return a
    if isinstance(b, list):
        return _each(a, b, lambda part, tiler: logical_product(part, tiler, c))
    free = complement(a, a.size() * cosize(b, c), c)
    return together([a.reduced(c.facts), composition(free, b, c)]).reduced(c.facts)


def zipped(split: ByMode, a: Nest, b: Tiler, c: Conditions) -> Nest:
    """Return *split* by mode, with the first halves in one mode and the second halves, and what is left, in another."""
    if b is None:
        return together([UNIT, a])
    if isinstance(b, list):
        parts = _parts_for(a, b)
        halves = [zipped(split, part, tiler, c).parts() for part, tiler in zip(parts, b, strict=False)]
        rest = [*(second for _, second in halves), *parts[len(b) :]]
        return together([together(first for first, _ in halves), together(rest)]).reduced(c.facts)
    return split(a, b, c)


def tiled(a: Nest) -> Nest:
    """Return a zipped result with the modes of its second one at the top."""
    first, second = a.parts()
    return together([first, *second.parts()])


def flat_halves(a: Nest) -> Nest:
    """Return a zipped result with the modes of both at the top."""
    first, second = a.parts()
    return together([*first.parts(), *second.parts()])


def interleaved(a: Nest, b: Nest, c: Conditions, *, raked: bool) -> Nest:
    """Return the logical product with each mode of *a* beside that of *b*; *raked* puts that of *b* first."""
    rank = max(len(a.parts()), len(b.parts()))
    wide, copies = (together([*x.parts(), *[UNIT] * (rank - len(x.parts()))]) for x in (a, b))
    first, second = logical_product(wide, copies, c).parts()
    pairs = [(y, x) if raked else (x, y) for x, y in zip(first.parts(), second.parts(), strict=True)]
    return together(together(pair) for pair in pairs)


def upcast(a: Nest, width: Extent, c: Conditions) -> Nest:
    """Return the layout of elements that are *width* times as wide."""
    return _with_modes(a, algebra.upcast(a.reduced(c.facts).modes(), width, c)).reduced(c.facts)


def downcast(a: Nest, width: Extent, c: Conditions) -> Nest:
    """Return the layout of the *width* parts of each element."""
    return _with_modes(a, algebra.downcast(a.reduced(c.facts).modes(), width, c)).reduced(c.facts)


def _with_modes(like: Nest, modes: Sequence[tuple[Extent, Extent]]) -> Nest:
    return _filled(like, iter([mode] for mode in modes))


def cosize(a: Nest, c: Conditions) -> Extent:
    """Return one more than the largest offset; a mode of negative stride has its largest one at 0."""
    total: Extent = 1
    for n, d in a.reduced(c.facts).modes():
        if c.at_least(d):
            total = total + (n - 1) * d
    return c.facts.reduce(total)


def tile_to_shape(a: Nest, shape: Nest, order: Sequence[int] | None, c: Conditions) -> Nest:
    """Return the blocked product of *a* that has the sizes of *shape*, copies in the order of the axes."""
    parts, goal = a.parts(), shape.parts()
    if len(parts) > len(goal):
        raise ShapeError(f"a layout of {len(parts)} modes is not tiled to {len(goal)}", "rank")
    parts = [*parts, *[UNIT] * (len(goal) - len(parts))]
    counts: list[Extent] = []
    for part, whole in zip(parts, goal, strict=True):
        if (count := c.quotient(whole.size(), part.size())) is None:
            have, want = c.facts.spell(part.size()), c.facts.spell(whole.size())
            raise ShapeError(f"{want} is no multiple of {have}", "non_divisible")
        counts.append(count)
    return interleaved(together(parts), ordered(counts, order, c), c, raked=False)


def ordered(shape: Sequence[Any], order: Sequence[int] | None, c: Conditions) -> Nest:
    """Return the compact layout whose axes follow in this order, the axis of the least number fastest."""
    if order is None:
        return Nest(tuple(shape), compact(tuple(shape), c.facts)[0])
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(f"the order {tuple(order)} is no permutation of {len(shape)} axes", "bad_permutation")
    strides: dict[int, Any] = {}
    step: Extent = 1
    for axis in sorted(range(len(shape)), key=lambda axis: order[axis]):
        strides[axis], step = compact(shape[axis], c.facts, step)
    return Nest(tuple(shape), tuple(strides[axis] for axis in range(len(shape))))


def _each(a: Nest, tilers: Sequence[Tiler], function: Callable[[Nest, Tiler], Nest]) -> Nest:
    """Return *function* of each mode with its tiler; modes without a tiler as they are."""
    parts = _parts_for(a, tilers)
    done = [function(part, tiler) for part, tiler in zip(parts, tilers, strict=False)]
    return together([*done, *parts[len(tilers) :]])


def _parts_for(a: Nest, tilers: Sequence[Tiler]) -> list[Nest]:
    parts = a.parts()
    if len(tilers) > len(parts):
        raise ShapeError(f"{len(tilers)} tilers do not fit {len(parts)} modes", "rank")
    return parts
