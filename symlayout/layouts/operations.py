"""The algebra of layouts as CuTe defines it, on nested sizes: by mode, with tilers, and what is made of it.

A tiler is a layout, or a tuple of tilers for the first modes of the other operand, of which None takes a mode as it is.

References
----------
CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/02_layout_algebra.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import gcd
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.layouts import modes as algebra
from symlayout.layouts.conditions import Conditions
from symlayout.layouts.nested import UNIT, Mode, Nest, Nested, compact, of_modes, together
from symlayout.layouts.shapes import basis
from symlayout.tensors.declaration import as_list, is_list

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
    if b.is_based():
        return _at_coordinates(a, b, c)
    found = iter(algebra.composed(a.reduced(c.facts).modes(), b.modes(), c))
    return _filled(b, found).reduced(c.facts)


def _at_coordinates(a: Nest, b: Nest, c: Conditions) -> Nest:
    """Return ``a(b(c))``, where the values of *b* are coordinates of *a*: each mode of *b* moves in one mode of *a*."""
    modes = [(n, basis.parts(d)) for n, d in b.reduced(c.facts).modes()]
    found: dict[int, list[Mode]] = {}
    for path in sorted({path for _, parts in modes for path in parts}):
        part = a
        for place in path:
            parts = part.parts() if isinstance(part.shape, tuple) else []
            if place >= len(parts):
                raise ShapeError(f"a coordinate {basis.from_terms({path: 1})} does not fit the other layout", "rank")
            part = parts[place]
        own = [(k, (n, parts[path])) for k, (n, parts) in enumerate(modes) if path in parts]
        made = algebra.composed(part.reduced(c.facts).modes(), [mode for _, mode in own], c)
        for (k, _), result in zip(own, made, strict=True):
            if k in found:
                raise InconclusiveError("a mode that moves in several modes of the other layout is a layout")
            found[k] = result
    return _filled(b, (found.get(k, [(n, 0)]) for k, (n, _) in enumerate(modes))).reduced(c.facts)


def _filled(like: Nest, found: Any) -> Nest:
    if isinstance(like.shape, tuple):
        return together(_filled(part, found) for part in like.parts())
    return of_modes(next(found))


def complement(a: Nest, size: Extent, c: Conditions) -> Nest:
    """Return what *a* leaves out below *size*."""
    return of_modes(algebra.complemented(a.reduced(c.facts).modes(), c.facts.reduce(size), c)).reduced(c.facts)


def right_inverse(a: Nest, c: Conditions) -> Nest:
    """Return *r* with ``a(r(k)) == k``."""
    if a.is_based():
        raise ShapeError("the values are coordinates: no layout has them as its coordinates", "attr_dtype")
    return of_modes(algebra.right_inverse(a.reduced(c.facts).modes(), c)).reduced(c.facts)


def left_inverse(a: Nest, c: Conditions) -> Nest:
    """Return *r* with ``a(r(a(k))) == a(k)``."""
    return of_modes(algebra.left_inverse(a.reduced(c.facts).modes(), c)).reduced(c.facts)


def nullspace(a: Nest, c: Conditions) -> Nest:
    """Return the layout onto the coordinates that all have the offset 0: those of the modes that do not move."""
    found: list[tuple[Extent, Extent]] = []
    place: Extent = 1
    for n, d in a.reduced(c.facts).modes():
        if n != 1 and (basis.is_based(d) or not c.at_least(d - 1)) and c.zero(d):
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


def recast(a: Nest, old: int, new: int, c: Conditions) -> Nest:
    """Return the layout of the same bits in elements of *new* bits in place of *old* ones."""
    common = gcd(old, new)
    wide = a if new == common else upcast(a, new // common, c)
    return wide if old == common else downcast(wide, old // common, c)


def tile_to_shape(a: Nest, shape: Nest, order: Any, c: Conditions) -> Nest:
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
    return interleaved(together(parts), ordered(tuple(counts), order, c.facts), c, raked=False)


def ordered(shape: Nested, order: Any, facts: Facts) -> Nest:
    """Return the compact layout whose sizes follow in this order, that of the least number fastest.

    Without an order they follow as they are.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if *order* is nested otherwise than the shape; ``attr_dtype`` if an entry is no integer.
    """
    if order is None:
        return Nest(shape, compact(shape, facts)[0])
    ranked = list(_ranked(shape, order))
    steps: dict[int, Nested] = {}
    step: Extent = 1
    for place in sorted(range(len(ranked)), key=lambda place: ranked[place][1]):
        steps[place], step = compact(ranked[place][0], facts, step)
    found = iter(steps[place] for place in range(len(ranked)))
    return Nest(shape, _strides_by(order, found))


def _ranked(shape: Nested, order: Any) -> Iterator[tuple[Nested, int]]:
    """Yield each size, or tuple of sizes, that has a number in *order*."""
    if is_list(order):
        if not isinstance(shape, tuple) or len(shape) != len(as_list(order)):
            raise ShapeError(f"the order {shown(order)} is nested otherwise than the shape", "length_mismatch")
        for pair in zip(shape, as_list(order), strict=True):
            yield from _ranked(*pair)
    elif isinstance(order, bool) or not hasattr(order, "__index__"):
        raise ShapeError(f"the order {shown(order)} is not an integer", "attr_dtype")
    else:
        yield shape, order.__index__()


def _strides_by(order: Any, found: Iterator[Nested]) -> Nested:
    return tuple(_strides_by(part, found) for part in as_list(order)) if is_list(order) else next(found)


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
