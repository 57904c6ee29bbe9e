"""The movement of a map as operations that every array library has: pad, reshape, transpose, flip, broadcast.

A read is affine in the digits of the output (`refine`).  If each digit moves along one axis of the source, and the
digits of an axis do not overlap, the source's axes are padded or cropped to whole digits, split into them, and the
digits are put in the order of the output.  Other reads, such as those of windows that overlap, have no such moves:
their elements are gathered at the coordinates of the map.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, evaluate, names_of, symbol
from symlayout.algebra.table import Table
from symlayout.interop.shape_function import ShapeFunction, Size
from symlayout.language.readable import fold
from symlayout.maps.compose_chain import Guard, Read, Window
from symlayout.maps.split_digits import Box, output_box, refine
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import same_fill

Array = Any

MOST_PARTS = 32  # into which a tensor is cut
_MOST_POSITIONS = 1 << 13  # of an axis on which cuts are looked for


class ArrayLibrary(Protocol):
    """What a library does with its arrays.  A negative width of a pad is a crop."""

    def pad(self, x: Array, widths: Sequence[tuple[Any, Any]], value: Any) -> Array:
        """Return *x* with *value* around it."""

    def reshape(self, x: Array, shape: Sequence[Any]) -> Array:
        """Return *x* in another shape."""

    def transpose(self, x: Array, axes: Sequence[int]) -> Array:
        """Return *x* with its axes permuted."""

    def flip(self, x: Array, axes: Sequence[int]) -> Array:
        """Return *x* with some axes reversed."""

    def broadcast_to(self, x: Array, shape: Sequence[Any]) -> Array:
        """Return *x* with its axes of extent 1 repeated."""


class GatheringLibrary(ArrayLibrary, Protocol):
    """What else a library does where moves do not suffice, or where a tensor is made of parts."""

    def concatenate(self, arrays: Sequence[Array], axis: int) -> Array:
        """Return the arrays joined along *axis*."""

    def value(self, fill: Any, like: Array) -> Any:
        """Return a fill as `pad` and `full` take it, in the element type of *like*."""

    def full(self, shape: Sequence[Any], value: Any, like: Array) -> Array:
        """Return an array of equal elements, in the element type of *like*."""

    def coordinate(self, shape: Sequence[Any], axis: int) -> Array:
        """Return integers that are the coordinate on *axis*, which broadcast to *shape*."""

    def integer(self, size: Any) -> Any:
        """Return a size as an operand of arithmetic with coordinates."""

    def entry(self, table: Table, at: Any) -> Any:
        """Return the entries of a table at coordinates, or at one; those at its ends where they are outside."""

    def take(self, x: Array, coords: Sequence[Any], shape: Sequence[Any]) -> Array:
        """Return the elements of *x* at coordinates that broadcast to *shape*; any element where one is outside."""

    def where(self, condition: Any, a: Array, b: Array) -> Array:
        """Return the elements of *a* where *condition* holds, those of *b* elsewhere."""


@dataclass(frozen=True, slots=True)
class AxisSplit:
    """How an axis of the source becomes digits.

    Attributes
    ----------
    before, after : Extent
        How much to pad; less than 0 is a crop.
    digits : tuple of (name, extent, step)
        The digits, the largest step first.
    """

    before: Extent
    after: Extent
    digits: tuple[tuple[str, Extent, Extent], ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves of one read.

    Attributes
    ----------
    leaf : str
        The key of the source.
    facts : Facts
        What the extents are written in.
    splits : one for each axis of the source.
    flipped : the digits that fall in the source.
    order : the digits in the order of the output, with their extents.
    shape : the output's extents.
    fill : the fill that the pads write, if they stand for the guards of the read; else None.
    """

    leaf: str
    facts: Facts
    splits: tuple[AxisSplit, ...]
    flipped: frozenset[str]
    order: tuple[tuple[str, Extent], ...]
    shape: tuple[Extent, ...]
    fill: Any

    def run(self, library: ArrayLibrary, x: Array, size: Callable[[Extent], Any], value: Any) -> Array:
        """Return the elements that the read takes from *x*; outside of *x* they are *value*."""
        x = _padded(library, x, [(size(s.before), size(s.after)) for s in self.splits], value)
        done: list[Any] = []  # the extents of the digits that are split off
        rest = [size(_length(s)) for s in self.splits]
        for split in self.splits:
            rest = rest[1:]
            for k, (_, extent, step) in enumerate(split.digits):
                done.append(size(extent))
                inner = split.digits[k + 1][1] * split.digits[k + 1][2] if k + 1 < len(split.digits) else 1
                x = library.reshape(x, (*done, size(step), *rest))
                if (cut := self.facts.reduce(inner - step)) != 0:
                    x = library.pad(x, [*[(0, 0)] * len(done), (0, size(cut)), *[(0, 0)] * len(rest)], value)
        x = library.reshape(x, done)
        names = [name for split in self.splits for name, _, _ in split.digits]
        if turned := [k for k, name in enumerate(names) if name in self.flipped]:
            x = library.flip(x, turned)
        perm = [names.index(name) for name, _ in self.order if name in names]
        if perm != sorted(perm):
            x = library.transpose(x, perm)
        if len(perm) < len(self.order):
            x = library.reshape(x, [size(n) if name in names else 1 for name, n in self.order])
            x = library.broadcast_to(x, [size(n) for _, n in self.order])
        return library.reshape(x, [size(n) for n in self.shape])


def _padded(library: ArrayLibrary, x: Array, widths: list[tuple[Any, Any]], value: Any) -> Array:
    return x if all(type(n) is int and n == 0 for pair in widths for n in pair) else library.pad(x, widths, value)


def _length(split: AxisSplit) -> Extent:
    return split.digits[0][1] * split.digits[0][2] if split.digits else 1


def moves_of(t: Tensor, read: Read) -> Moves | None:
    """Return the moves of a read of *t*; None if these moves cannot make it."""
    if read.leaf is None:
        return None
    given = [(read.facts.reduce(g.window.value), read.facts.reduce(g.window.extent)) for g in read.guards]
    places = [(read.facts.reduce(e), read.facts.reduce(n)) for e, n in zip(read.coords, read.leaf.extents, strict=True)]
    fills = [g.fill for g in read.guards]
    start = output_box(t), read
    box, read = refine(t, read.path, lambda box, read: [*box.coords, *read.coords], start=start)
    facts, leaf = read.facts, read.leaf
    coords = [facts.reduce(e) for e in read.coords]
    if leaf is None or box.windows or any(facts.terms_within(n) for e in (*coords, *box.coords) for n in names_of(e)):
        return None
    extents = {name: facts.reduce(n) for name, n in box.extents.items()}
    sources = [facts.reduce(n) for n in leaf.extents]
    flipped: set[str] = set()
    used: set[str] = set()
    splits = []
    for e, n in zip(coords, sources, strict=True):
        names = [name for name in extents if name in names_of(e)]
        split = None if used.intersection(names) else _split(e, n, names, extents, facts, flipped)
        if split is None:
            return None
        used.update(names)
        splits.append(split)
    order = _order(box, extents, facts)
    if order is None:
        return None
    whole = all(pair in places for pair in given)  # the guards say no more than that the source ends
    fill = fills[0] if fills and whole and all(same_fill(fill, fills[0], None) for fill in fills) else None
    shape = tuple(facts.reduce(n) for n in t.extents)
    return Moves(leaf.key, facts, tuple(splits), frozenset(flipped), order, shape, fill)


def _split(
    e: Extent, n: Extent, names: list[str], extents: dict[str, Extent], facts: Facts, flipped: set[str]
) -> AxisSplit | None:
    """Return how an axis of *n* elements that is read at *e* becomes the digits *names*; None if they overlap."""
    digits: list[tuple[str, Extent, Extent]] = []
    for name in names:
        found = coefficient_of(e, name) if isinstance(e, Poly) else None
        if found is None or names_of(found[0]) & extents.keys() or not (sign := facts.sign(found[0])):
            return None
        step, e = found
        if sign < 0:
            flipped.add(name)
            e, step = facts.reduce(e + step * (extents[name] - 1)), facts.reduce(-step)
        digits.append((name, extents[name], step))
    digits = _falling(digits, facts)
    for (_, _, outer), (_, extent, step) in itertools.pairwise(digits):
        if not facts.nonnegative(outer - extent * step):
            return None
    length = digits[0][1] * digits[0][2] if digits else 1
    return AxisSplit(facts.reduce(-e), facts.reduce(e + length - n), tuple(digits))


def _falling(digits: list[tuple[str, Extent, Extent]], facts: Facts) -> list[tuple[str, Extent, Extent]]:
    """Return the digits with the largest step first, as far as that is proved."""
    left, found = list(digits), []
    while left:
        largest = next((a for a in left if all(facts.nonnegative(a[2] - b[2]) for b in left)), left[0])
        left.remove(largest)
        found.append(largest)
    return found


def _order(box: Box, extents: dict[str, Extent], facts: Facts) -> tuple[tuple[str, Extent], ...] | None:
    """Return the digits as they follow each other in the output, the last one fastest."""
    found: list[tuple[str, Extent]] = []
    for coordinate in box.coords:
        digits = []
        e = facts.reduce(coordinate)
        for name in extents:
            if name in names_of(e):
                split = coefficient_of(e, name) if isinstance(e, Poly) else None
                if split is None:
                    return None
                digits.append((name, extents[name], split[0]))
        found += [(name, extent) for name, extent, _ in _falling(digits, facts)]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class WholeTensor:
    """A tensor that is made in one piece: by *moves*, or, if there are none, as its reads say."""

    t: Tensor
    moves: Moves | None


@dataclass(frozen=True, slots=True)
class Filled:
    """A part whose elements are all one fill."""

    shape: tuple[int, ...]
    fill: Any


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts of a tensor that are concatenated along an axis."""

    axis: int
    parts: tuple[Part, ...]


Part = WholeTensor | Filled | Joined


def assembled(
    library: GatheringLibrary, part: Part, shape: ShapeFunction, dims: Mapping[str, Size], arrays: Mapping[str, Array]
) -> Array:
    """Return the elements of a part.

    Parameters
    ----------
    shape, dims : ShapeFunction, dict
        What evaluates extents, and the value of each dim that occurs in them.
    arrays : dict
        The inputs by the keys of their leaves.  They have one element type.
    """
    if isinstance(part, Joined):
        return library.concatenate([assembled(library, p, shape, dims, arrays) for p in part.parts], part.axis)
    like = next(iter(arrays.values()))
    if isinstance(part, Filled):
        return library.full(part.shape, library.value(part.fill, like), like)
    moves = part.moves
    if moves is None or 0 in part.t.extents:
        return _gathered(library, part.t, shape, dims, arrays)
    outside = library.value(0 if moves.fill is None else moves.fill, like)
    return moves.run(library, arrays[moves.leaf], lambda e: shape.extent(e, moves.facts, dims), outside)


def _gathered(
    library: GatheringLibrary, t: Tensor, shape: ShapeFunction, dims: Mapping[str, Size], arrays: Mapping[str, Array]
) -> Array:
    """Return the elements of *t*, gathered as the index map says."""
    extents, like = shape.of(dims, t), next(iter(arrays.values()))
    values = {name: n if isinstance(n, int) else library.integer(n) for name, n in dims.items()}
    values |= {digit_name(k): library.coordinate(extents, k) for k in range(t.rank)}

    def value(e: Extent, facts: Facts) -> Array:
        return shape.evaluate(fold(e, facts, {}), values, library.entry)

    def holds(window: Window) -> Array:
        at = value(window.value, window.facts)
        return (at >= 0) & (at < value(window.extent, window.facts))

    result = library.full(extents, library.value(0, like), like)
    for read in t.index_map.reads:
        if read.leaf is None:
            found = library.full(extents, library.value(read.fill, like), like)
        elif any(isinstance(n, int) and n == 0 for n in arrays[read.leaf.key].shape):
            found = result  # an empty source: the guards replace every element by a fill
        else:
            coords = [value(e, read.facts) for e in read.coords]
            found = library.take(arrays[read.leaf.key], coords, extents)
        for guard in reversed(read.guards):
            fill = library.full(extents, library.value(guard.fill, like), like)
            found = library.where(holds(guard.window), found, fill)
        inside = True
        for window in read.windows:
            inside = holds(window) & inside
        result = found if inside is True else library.where(inside, found, result)
    return result


def whole(t: Tensor) -> WholeTensor:
    """Return a tensor, with known extents or not, in one piece: by moves if there are any that hold for all sizes."""
    reads = t.index_map.reads
    moves = moves_of(t, reads[0]) if len(reads) == 1 and not reads[0].windows else None
    return WholeTensor(t, moves if moves is not None and (moves.fill is not None or not reads[0].guards) else None)


def parts_of(t: Tensor, most: int = MOST_PARTS) -> Part:
    """Return a tensor with known extents as at most *most* parts, each of them moved if that is possible.

    The output is cut where a window begins or ends, and where a quotient changes: a roll has two parts.  Windows that
    overlap are cut into their positions, if those are few.
    """
    reads = [found for read in t.index_map.reads if (found := _narrowed(read, t)) is not None]
    if len(reads) == 1 and not reads[0].windows:
        moves = moves_of(t, reads[0])
        if reads[0].leaf is None and not reads[0].guards:
            return Filled(tuple(n for n in t.extents if isinstance(n, int)), reads[0].fill)
        if moves is not None and (moves.fill is not None or not reads[0].guards):
            return WholeTensor(t, moves)
    extents = [n if isinstance(n, int) else 0 for n in t.extents]
    for axis in reversed(range(t.rank)):  # XLA loops over the parts of the outermost cut; inside, it tests each element
        ends = _ends(t, reads, axis)
        if 0 < len(ends) < most:
            return _joined(t, axis, [0, *ends, extents[axis]], most // (len(ends) + 1))
    if few := [axis for axis, n in enumerate(extents) if 1 < n <= most and _overlaps(reads, axis)]:
        axis = min(few, key=lambda k: extents[k])
        return _joined(t, axis, list(range(extents[axis] + 1)), most // extents[axis])
    return WholeTensor(t, None)


def _narrowed(read: Read, t: Tensor) -> Read | None:
    """Return a read without the windows and guards that hold everywhere; None if a window holds nowhere.

    If the first guard that is left holds nowhere, the read is its fill.
    """
    kept = []
    for window in read.windows:
        inside = _inside(window, t)
        if inside is not None and not any(inside):
            return None
        if inside is None or not all(inside):
            kept.append(window)
    guards: list[Guard] = []
    for guard in read.guards:
        inside = _inside(guard.window, t)
        if inside is not None and not any(inside) and not guards:
            return replace(read, windows=tuple(kept), guards=(), leaf=None, fill=guard.fill)
        if inside is None or not all(inside):
            guards.append(guard)
    return replace(read, windows=tuple(kept), guards=tuple(guards))


def _inside(window: Window, t: Tensor, axis: int | None = None) -> list[bool] | None:
    """Return where a window holds, position by position along its only axis; None of any other window."""
    values = _values(window.value, window.facts, t, axis)
    if values is None or not isinstance(window.extent, int):
        return None
    return [0 <= value < window.extent for value in values]


def _values(e: Extent, facts: Facts, t: Tensor, axis: int | None = None) -> list[int] | None:
    """Return the values of *e* along the only axis that it depends on; None if it depends on several, or on another."""
    digits = {name: k for k in range(t.rank) if (name := digit_name(k)) in _digits_in(e, facts)}
    if len(digits) > 1 or _digits_in(e, facts) != set(digits) or (axis is not None and [axis] != [*digits.values()]):
        return None
    (name, at), *_ = digits.items() or [("", -1)]
    n = t.extents[at] if digits else 1
    if not isinstance(n, int) or n > _MOST_POSITIONS:
        return None
    return [_evaluated(e, facts, {name: k}) for k in range(n)]


def _digits_in(e: Extent, facts: Facts) -> set[str]:
    """Return the digits that *e* depends on, and any other symbols that are not quotients."""
    found: set[str] = set()
    for name in names_of(e):
        parts = facts.floors.get(name)
        found |= {name} if parts is None else _digits_in(parts[0], facts) | _digits_in(parts[1], facts)
    return found


def _evaluated(e: Extent, facts: Facts, known: dict[str, int]) -> int:
    floors = {
        name: _evaluated(facts.floors[name][0], facts, known) // _evaluated(facts.floors[name][1], facts, known)
        for name in names_of(e)
        if name in facts.floors
    }
    return evaluate(e, known | floors)


def _joined(t: Tensor, axis: int, ends: list[int], most: int) -> Joined:
    before = (slice(None),) * axis
    parts = [getitem(t, (*before, slice(start, stop))) for start, stop in itertools.pairwise(ends)]
    return Joined(axis, tuple(parts_of(part, max(most, 1)) for part in parts))


def _ends(t: Tensor, reads: Sequence[Read], axis: int) -> list[int]:
    """Return the positions on an axis at which a window begins or ends, or a quotient changes."""
    found: set[int] = set()
    for read in reads:
        for window in (*read.windows, *(guard.window for guard in read.guards)):
            found.update(_changes(_inside(window, t, axis) or []))
        for e in read.coords:
            for floor in _floors_of(e, read.facts):
                found.update(_changes(_values(symbol(floor), read.facts, t, axis) or []))
    return sorted(found)


def _floors_of(e: Extent, facts: Facts) -> Iterator[str]:
    for name in names_of(facts.reduce(e)):
        if name in facts.floors:
            yield name
            yield from _floors_of(facts.floors[name][0], facts)


def _changes(values: Sequence[int]) -> list[int]:
    return [k for k in range(1, len(values)) if values[k] != values[k - 1]]


def _overlaps(reads: Sequence[Read], axis: int) -> bool:
    """Return whether an axis moves along an axis of the source together with another one."""
    name = digit_name(axis)
    return any(name in (found := names_of(e)) and len(found) > 1 for read in reads for e in read.coords)
