"""Count an axis that is cut in blocks from where the array begins, not from where its margin begins.

    for block < m + q: for w < 2 where 0 <= 2*block + w - 2*q < 2*m: f(block, w)
    becomes    for b < m: for w < 2: f(b + q, w)

`passes.pieces.whole_blocks` has the mathematics, also for a margin that is no multiple of the block.

Assumes: *facts* hold wherever the preconditions do.
Guarantees: the same points, in another order; so a nest whose points add is left as it is.  A window that leaves whole
blocks is gone.  A guard stays: its margins are written beside what it leaves, which `bound_loops` does.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.nest import Nest, NestPiece, NestWindow
from symlayout_codegen.ir.queries import SignFacts, magnitude
from symlayout_codegen.passes.pieces.whole_blocks import WholeBlocks, whole_blocks


def align(nest: Nest, facts: SignFacts) -> Nest:
    """Return *nest* with the digits of whole blocks where a window leaves whole blocks."""
    if nest.combine is not None:
        return nest
    return replace(nest, pieces=tuple(_aligned(piece, facts) for piece in nest.pieces))


def _aligned(piece: NestPiece, facts: SignFacts) -> NestPiece:
    for window in piece.windows:
        if whole := _whole(piece, window, facts):
            windows = tuple(other for other in piece.windows if other is not window)
            return _aligned(_turned(replace(piece, windows=windows), whole), facts)
    return piece


def _whole(piece: NestPiece, window: NestWindow, facts: SignFacts) -> WholeBlocks | None:
    """Return the whole blocks of *window* if it has two digits, and both may be turned."""
    steps = window.value.coefficients()
    free = set(range(len(piece.digits))) - set(piece.apart)
    if len(steps) != 2 or not steps.keys() <= free:
        return None
    within, block = sorted(steps, key=lambda k: magnitude(steps[k]))
    return whole_blocks(window, within, block, piece.digits[within].extent, piece.digits[block].extent, facts)


def _turned(piece: NestPiece, whole: WholeBlocks) -> NestPiece:
    digits = list(piece.digits)
    digits[whole.block] = replace(digits[whole.block], extent=whole.count)
    return replace(piece.mapped(whole.turned), digits=tuple(digits))
