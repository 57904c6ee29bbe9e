"""Cut an input into ranges, axis by axis, so that at most one piece of a map reads each range.

This module proves that the ranges cover the input and do not overlap, for all sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, collapse, terms_of
from symlayout.errors import InconclusiveError
from symlayout.inverses.digit_sides import Face

_MOST_RESIDUES = 8  # largest common step of pieces that are separated by residues


@dataclass(frozen=True, slots=True)
class AxisRange:
    """A range of coordinates *i* on *axis*: ``0 <= i - start < count``, or with a step ``(i - start) % step == 0``."""

    axis: int
    start: Extent
    count: Extent
    step: int = 0


Region = tuple[tuple[AxisRange, ...], Face | None]


def cut(pieces: Sequence[Face], extents: Sequence[Extent], facts: Facts) -> list[Region]:
    """Return ranges of an input of the given extents, each with the piece that reads it, or None.

    *facts* are the facts of the map.  The facts of a piece would be wrong here: they assume that the piece has an
    element.

    Raises
    ------
    InconclusiveError
        It is not proved that the pieces do not overlap.
    """
    return _cut(pieces, range(len(extents)), extents, facts)


def _cut(pieces: Sequence[Face], axes: Sequence[int], extents: Sequence[Extent], facts: Facts) -> list[Region]:
    if len(pieces) == 1:
        return [((), pieces[0])]
    for axis in axes if not any(piece.by_number for piece in pieces) else ():
        groups: dict[tuple[Extent, Extent], list[Face]] = {}
        for piece in pieces:
            n = piece.numbers[axis]
            groups.setdefault((facts.reduce(n.start), facts.reduce(n.span)), []).append(piece)
        if len(groups) == 1:
            continue
        if residues := _residues(pieces, axis):
            step, by_start = residues
            found: list[Region] = []
            for start in range(step):
                inner = _cut(by_start[start], axes, extents, facts) if start in by_start else [((), None)]
                found += [((AxisRange(axis, start, 1, step), *ranges), piece) for ranges, piece in inner]
            return found
        return _in_order(groups, axis, [a for a in axes if a != axis], extents, facts)
    raise InconclusiveError("the pieces of a map read ranges of their input that do not overlap")


def _residues(pieces: Sequence[Face], axis: int) -> tuple[int, dict[int, list[Face]]] | None:
    """Return the common step of the pieces, an int, and the pieces by ``start % step``; None if that separates none."""
    by_start: dict[int, list[Face]] = {}
    steps = {piece.numbers[axis].digits[-1].step if piece.numbers[axis].digits else 0 for piece in pieces}
    (step,) = steps if len(steps) == 1 else (0,)
    if not isinstance(step, int) or not 1 < step <= _MOST_RESIDUES:
        return None
    for piece in pieces:
        shift = piece.numbers[axis].shift
        residue = collapse({m: c % step for m, c in terms_of(shift).items() if c % step})
        if not isinstance(residue, int):
            return None
        by_start.setdefault(residue, []).append(piece)
    return (step, by_start) if len(by_start) > 1 else None


def _in_order(
    groups: Mapping[tuple[Extent, Extent], list[Face]],
    axis: int,
    others: Sequence[int],
    extents: Sequence[Extent],
    facts: Facts,
) -> list[Region]:
    """Cut *axis* at the ends of the groups' ranges; each range is proved to start after the one before it."""
    found: list[Region] = []
    position: Extent = 0
    waiting = dict(groups)
    while waiting:
        following = next((g for g in waiting if _is_next(g, position, waiting, facts)), None)
        if following is None:
            raise InconclusiveError(f"the pieces of a map read ranges of axis {axis} in one order")
        start, count = following
        if facts.reduce(start - position) != 0:
            found.append(((AxisRange(axis, position, start - position),), None))
        inner = _cut(waiting.pop(following), others, extents, facts)
        found += [((AxisRange(axis, start, count), *ranges), piece) for ranges, piece in inner]
        position = start + count
    left = facts.reduce(extents[axis] - position)
    if not facts.nonnegative(left):
        raise InconclusiveError(f"the pieces of a map read axis {axis} inside its extent")
    if left != 0:
        found.append(((AxisRange(axis, position, left),), None))
    return found


def _is_next(
    group: tuple[Extent, Extent], position: Extent, groups: Collection[tuple[Extent, Extent]], facts: Facts
) -> bool:
    """Return whether a range is proved to start at *position* or later, and to end before all other ranges start."""
    start, count = group
    ends = (other[0] - start - count for other in groups if other != group)
    return all(facts.nonnegative(e) for e in (start - position, count, *ends))
