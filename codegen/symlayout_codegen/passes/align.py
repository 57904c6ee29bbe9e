"""Count an axis cut in blocks from where the array begins, not from where its margin does.

A pad or a crop by ``p`` of an axis that is cut in blocks of ``k`` has the window ``0 <= k*block + within - p < k*m``.
With ``p = k*q + r`` the blocks that the array itself is cut in are ``k*b + w``, of the same two digits turned by
``r``: all of them are whole, so that the two loops over them need no bounds:

    r = 0            within = w       block = b + q
    k = 2, r = 1     within = 1 - w   block = b + q + w

What lies outside is, for each value of *within*, a margin before and one after ``m`` blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from symlayout_codegen.ir.integer_expressions import Expr, Literal, add, mul
from symlayout_codegen.ir.nest import Affine, Piece, Window
from symlayout_codegen.ir.queries import ONE, ZERO, Facts, equal, expanded, floor_div, magnitude, subtract


@dataclass(frozen=True, slots=True)
class Aligned:
    """Whole blocks: *count* of them, the first of which is ``first[w]`` where the digit *within* is ``w``."""

    within: int
    block: int
    count: Expr
    first: tuple[int, ...]

    def turned(self, affine: Affine) -> Affine:
        """Return *affine*, of the digits as they are, as one of the digits of the whole blocks."""
        steps = affine.coefficients()
        if not steps.keys() & {self.within, self.block}:
            return affine
        within, block = steps.get(self.within, ZERO), steps.get(self.block, ZERO)
        constant = add(affine.constant, mul(self.first[-1], block))
        if self.first[0] != self.first[-1]:
            constant = add(constant, within)
            steps[self.within] = subtract(block, within)
        return Affine(constant, tuple(steps.items()))


def aligned(window: Window, within: int, block: int, size: Expr, blocks: Expr, facts: Facts) -> Aligned | None:
    """Return the whole blocks of *window*, or None where the digits are no such axis or that is not known.

    Parameters
    ----------
    within, block : the two digits of the window's value.
    size, blocks : their extents.
    """
    steps = window.value.coefficients()
    match size, window.value.constant, steps:
        case Literal(k), Literal(constant), {} if k > 1 and steps.keys() == {within, block}:
            q, r = divmod(-constant, k)
        case _:
            return None
    count = floor_div(expanded(window.extent), size)
    margin = subtract(subtract(blocks, count), Literal(q + (r > 0)))
    known = (
        steps[within] == ONE
        and equal(steps[block], size)
        and equal(mul(size, count), window.extent)
        and facts.is_nonnegative(count)
        and facts.is_nonnegative(margin)
    )
    if not known or q < 0 or (r and k != 2):
        return None
    return Aligned(within, block, count, tuple(q + (w < r) for w in range(k)))


def align(piece: Piece, facts: Facts) -> Piece:
    """Return the same points, which replace, their digits those of whole blocks where a window leaves these.

    What a guard cuts stays as it is: its margins are written beside what it leaves.
    """
    for window in piece.windows:
        if whole := _whole(piece, window, facts):
            windows = tuple(other for other in piece.windows if other is not window)
            return align(_turned(replace(piece, windows=windows), whole), facts)
    return piece


def _whole(piece: Piece, window: Window, facts: Facts) -> Aligned | None:
    """Return the whole blocks of *window* if its two digits are free to be turned."""
    steps = window.value.coefficients()
    free = set(range(len(piece.digits))) - set(piece.apart)
    if len(steps) != 2 or not steps.keys() <= free:
        return None
    within, block = sorted(steps, key=lambda k: magnitude(steps[k]))
    return aligned(window, within, block, piece.digits[within].extent, piece.digits[block].extent, facts)


def _turned(piece: Piece, whole: Aligned) -> Piece:
    digits = list(piece.digits)
    digits[whole.block] = replace(digits[whole.block], extent=whole.count)
    return replace(
        piece,
        digits=tuple(digits),
        carried=tuple(replace(c, value=whole.turned(c.value)) for c in piece.carried),
        output=whole.turned(piece.output),
        offset=whole.turned(piece.offset) if piece.offset is not None else None,
        windows=tuple(replace(w, value=whole.turned(w.value)) for w in piece.windows),
        guards=tuple(replace(g, window=replace(g.window, value=whole.turned(g.window.value))) for g in piece.guards),
    )
