"""Split the loops of each piece among the parts of a kernel, which threads may do at once.

    for i < n: for j < m: f(i, j)    becomes    for part's begin <= i < end: for j < m: f(i, j)

Points that replace write different elements, so any loop may be split.  Points that add, or that write over a
background, write different elements where they differ in a digit that tells elements apart.  The background has the
same such digits, so each part writes the background of its own elements.  Without such digits, one part does the
whole nest.

Assumes: the digits of a piece stand in the order of its loops (`order`); the names in use are known (`rename`).
Guarantees: the ranges of the parts are disjoint, and together they are the whole loops.
"""

from __future__ import annotations

from symlayout_codegen.ir.identifiers import identifier
from symlayout_codegen.ir.integer_expressions import IntLiteral
from symlayout_codegen.ir.nest import Nest, NestPiece
from symlayout_codegen.ir.statements import PartRanges, Share, is_short
from symlayout_codegen.passes.pieces.joined_rows import joined_rows

LONG = 64
"""A loop of at least this many steps is enough to split: loops inside of it are not."""

MOST_SPLIT = 4
"""At most this many nested loops are split."""


def split_among_threads(nest: Nest, taken: set[str]) -> tuple[PartRanges | None, ...] | None:
    """Return for each of the nest's boxes the ranges of a part, or None for a box that part 0 does alone.

    Return None if part 0 must do the whole nest.  The names of the ranges' ends are added to *taken*.
    """
    overlap = nest.background is not None or nest.halves
    if overlap and not all(piece.apart for piece in nest.boxes):
        return None
    return tuple(_ranges(piece, piece.apart or _split_digits(piece), taken) for piece in nest.boxes)


def _split_digits(piece: NestPiece) -> tuple[int, ...]:
    """Return the outer digits of *piece* whose loops are split.

    They are the loops outside of the inner two, down to the first that is sure to be long.  The inner two may be a
    transpose, whose tiles are best over all of both.  Where there are few loops outside, which may have one step, the
    outer of the two is split too, unless it is short; where there is no loop outside, also the inner one, unless
    bounds cut it.
    """
    count = piece.written
    if not count:
        return ()
    inner = 1
    if count > 3 or (count > 2 and is_short(piece.digits[-2].extent)):
        inner = 2
    elif count <= 2 and not piece.windows and not piece.guards:
        inner = 0
    split = 0
    for digit in piece.digits[: max(1, count - inner)][:MOST_SPLIT]:
        split += 1
        if isinstance(digit.extent, IntLiteral) and digit.extent.value >= LONG:
            break
    while split > 1 and is_short(piece.digits[split - 1].extent):
        split -= 1  # a split loop is not unrolled, which costs more than its few steps give
    first = 0
    fused = piece.formula is not None or count == 3
    while fused and first < split - 1 and is_short(piece.digits[first].extent):
        first += 1  # a tile, or a grid of runs, has all of a short loop
    return _outside_of_turns(piece, range(first, split))


def _outside_of_turns(piece: NestPiece, digits: range) -> tuple[int, ...]:
    """Return *digits* without the turns of rows that are joined in the order of the output."""
    grid = joined_rows(piece)
    return tuple(k for k in digits if grid is None or k not in grid.digits - {grid.block})


def _ranges(piece: NestPiece, digits: tuple[int, ...], taken: set[str]) -> PartRanges | None:
    """Return the ranges of a part in the loops of *digits*; None if there are none."""
    loops: list[tuple[str, str]] = []
    for k in digits:
        name = piece.digits[k].name
        loops.append((identifier(f"{name}_begin", taken), identifier(f"{name}_end", taken)))
    if not loops:
        return None
    extents = (piece.digits[k].extent for k in digits)
    share = Share(
        identifier("share", taken), tuple((*ends, extent) for ends, extent in zip(loops, extents, strict=True))
    )
    return PartRanges(share, tuple(digits))
