"""Merge the pieces of an index map that one expression describes.

The normal form has a read for each case of each operation.  Two neighbouring pieces, ``0 <= v < a`` and
``0 <= v - a < b``, become one if each coordinate is one expression in both: the same polynomial, a minimum, a maximum,
or a remainder by the extent of the axis that is read.  Every merge is proved in each part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, exact_quotient, names_of
from symlayout.errors import ShapeError
from symlayout.language.readable import Apply, Sum, atom, fold
from symlayout.maps.compose_chain import Guard, Read, Window, assume, output_digits
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import same_fill

_MOST_PIECES = 27  # merging tries all pairs, so it stops at more pieces


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """A coordinate that is the ``min``, the ``max`` or the ``%`` of its parts."""

    form: str
    parts: tuple[Written, ...]


Written = Extent | JoinedPart


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the domain in the form that is printed: one read, or several reads merged."""

    leaf: Tensor | None
    coords: tuple[Written, ...]
    facts: Facts
    windows: tuple[Window, ...]
    guards: tuple[Guard, ...]
    fill: Any
    reads: tuple[Read, ...]


def merge(t: Tensor, reads: list[Read]) -> list[Piece]:
    """Return the pieces of *t* after all merges that were found, in the order of their first reads."""
    if len(reads) <= 1 and not any(read.windows for read in reads):
        return [as_piece(read) for read in reads]
    everywhere = t.facts.fork()
    output_digits(t, everywhere)
    if not all(is_fork(read.facts, everywhere) for read in reads):
        return [as_piece(read) for read in reads]
    for read in reads:
        everywhere.adopt(read.facts)
    pieces = [piece for read in reads if (piece := _plain(read, everywhere, t)) is not None]
    while len(pieces) <= _MOST_PIECES and (smaller := _merge_two(pieces, everywhere, t)) is not None:
        pieces = smaller
    return pieces


def written(e: Written, facts: Facts, names: dict[str, str]) -> Sum:
    """Return a coordinate of a piece as an expression; *names* gives the names of the digits."""
    if not isinstance(e, JoinedPart):
        return fold(e, facts, names)
    return atom(Apply(e.form, tuple(written(part, facts, names) for part in e.parts)))


def is_fork(facts: Facts, origin: Facts) -> bool:
    """Return whether *facts* is a fork of *origin* that only added facts and solved for no further symbol.

    Then a floor means the same number in both, also where the added facts do not hold.
    """
    return facts.solved == origin.solved and facts.rules == origin.rules


def as_piece(read: Read) -> Piece:
    """Return a read as a piece by itself."""
    return Piece(read.leaf, read.coords, read.facts, read.windows, read.guards, read.fill, (read,))


def _plain(read: Read, everywhere: Facts, t: Tensor) -> Piece | None:
    """Return a read as a piece; drop windows that always hold, and guards after a guard that always fails."""
    here = everywhere.fork()
    try:
        for window in read.windows:
            assume(window, here)
    except ShapeError:
        return None
    piece = replace(as_piece(read), windows=tuple(w for w in read.windows if not always_holds(w, everywhere)))
    for k, guard in enumerate(read.guards):
        value, extent = guard.window.value, guard.window.extent
        if here.nonnegative(-1 - value) or here.nonnegative(value - extent):
            earlier = read.guards[:k]
            while earlier and same_fill(earlier[-1].fill, guard.fill, t.dtype):
                earlier = earlier[:-1]
            return replace(piece, leaf=None, coords=(), guards=earlier, fill=guard.fill, facts=here)
    return piece


def always_holds(window: Window, facts: Facts) -> bool:
    """Return whether *facts* prove a window."""
    return facts.nonnegative(window.value) and facts.nonnegative(window.extent - 1 - window.value)


def _merge_two(pieces: list[Piece], everywhere: Facts, t: Tensor) -> list[Piece] | None:
    """Return the pieces with two of them merged, or None if no two can be."""
    for i, j in permutations(range(len(pieces)), 2):
        if (joined := _join(pieces[i], pieces[j], everywhere, t)) is not None:
            at = min(i, j)
            rest = [piece for k, piece in enumerate(pieces) if k not in (i, j)]
            return [*rest[:at], joined, *rest[at:]]
    return None


def _join(a: Piece, b: Piece, everywhere: Facts, t: Tensor) -> Piece | None:
    """Return one piece that describes *a* and *b*, where *b* follows *a* along one window; None if there is none."""
    if a.guards != b.guards or len(a.windows) != len(b.windows):
        return None
    if (a.leaf and a.leaf.key) != (b.leaf and b.leaf.key):
        return None
    if a.leaf is None and not same_fill(a.fill, b.fill, t.dtype):
        return None
    apart = [k for k, (v, w) in enumerate(zip(a.windows, b.windows, strict=True)) if v != w]
    if len(apart) != 1:
        return None
    first, second = a.windows[apart[0]], b.windows[apart[0]]
    if everywhere.reduce(first.value - first.extent - second.value) != 0 or not _same_floors(a, b):
        return None
    coords: list[Written] = []
    for axis in range(len(a.coords)):
        coordinate = next(_coordinates(a, b, axis, first, second), None)
        if coordinate is None:
            return None
        coords.append(coordinate)
    window = Window(first.value, everywhere.reduce(first.extent + second.extent), everywhere)
    windows = [w if k != apart[0] else window for k, w in enumerate(a.windows)]
    kept = tuple(w for w in windows if not always_holds(w, everywhere))
    return Piece(a.leaf, tuple(coords), everywhere, kept, a.guards, a.fill, a.reads + b.reads)


def _same_floors(a: Piece, b: Piece) -> bool:
    """Return whether floors and entries of tables with the same name have the same definition in both pieces."""
    left, right = a.reads[0].facts, b.reads[0].facts
    return all(left.floors[name] == right.floors[name] for name in left.floors.keys() & right.floors.keys()) and all(
        left.terms_within(name) == right.terms_within(name) for name in left.entries.keys() & right.entries.keys()
    )


def _coordinates(a: Piece, b: Piece, axis: int, first: Window, second: Window) -> Iterator[Written]:
    """Yield expressions that may equal coordinate *axis* in both pieces, best first."""
    if a.coords[axis] == b.coords[axis]:
        yield a.coords[axis]
    left, right = _Side(a, b, axis, first), _Side(b, a, axis, second)
    lefts, rights = list(left.forms()), list(right.forms())
    yield from (e for e in (*lefts, *rights) if left.equals(e) and right.equals(e))
    for form in ("max", "min"):
        for x in lefts:
            for y in rights:
                if left.chosen(form, y) and right.chosen(form, x):
                    yield JoinedPart(form, (*_parts(x, form), *_parts(y, form)))
    if a.leaf is not None:
        yield from _remainder(a.coords[axis], b.coords[axis], a.leaf.extents[axis], a.facts)


def _parts(e: Written, form: str) -> tuple[Written, ...]:
    return e.parts if isinstance(e, JoinedPart) and e.form == form else (e,)


def _remainder(x: Written, y: Written, n: Extent, facts: Facts) -> Iterator[Written]:
    """Yield ``x % n`` for coordinates of an axis of extent *n* that differ by multiples of *n*."""
    n = facts.reduce(n)
    first, second = (e.parts[0] if isinstance(e, JoinedPart) and e.form == "%" else e for e in (x, y))
    if isinstance(first, JoinedPart) or isinstance(second, JoinedPart):
        return
    if isinstance(exact_quotient(facts.reduce(first - second), n), int):
        yield JoinedPart("%", (min(first, second, key=lambda e: (len(names_of(e)), str(e))), n))


class _Side:
    """One of two pieces to merge, with the facts that decide its coordinate *axis*."""

    def __init__(self, piece: Piece, other: Piece, axis: int, window: Window) -> None:
        self.e, self.window = piece.coords[axis], window
        self.parts: list[tuple[Facts, Extent]] = []
        for read in piece.reads:
            facts = read.facts.fork()
            for there in other.reads:
                facts.adopt(there.facts)
            self.parts.append((facts, read.coords[axis]))

    def forms(self) -> Iterator[Written]:
        """Yield expressions that equal the coordinate throughout the piece."""
        yield self.e
        if isinstance(self.e, JoinedPart):
            return
        for shift in dict.fromkeys((0, self.e, self.e - self.window.value)):
            if isinstance(shift, int) and self.equals(self.window.value + shift):
                yield self.window.value + shift

    def equals(self, e: Written) -> bool:
        """Return whether it is proved that *e* equals the coordinate throughout the piece."""
        return not isinstance(e, JoinedPart) and all(facts.vanishes(facts.reduce(e - c)) for facts, c in self.parts)

    def chosen(self, form: str, other: Written) -> bool:
        """Return whether it is proved that the coordinate is the *form* (min or max) of itself and *other*."""
        return all(_beyond(other, c, form == "min", facts) for facts, c in self.parts)


def _beyond(e: Written, c: Extent, above: bool, facts: Facts) -> bool:
    """Return whether ``e >= c`` is proved, or ``e <= c`` unless *above*."""
    if not isinstance(e, JoinedPart):
        return facts.nonnegative(facts.reduce(e - c if above else c - e))
    if e.form == "%":
        return False
    every = (e.form == "min") == above
    return (all if every else any)(_beyond(part, c, above, facts) for part in e.parts)
