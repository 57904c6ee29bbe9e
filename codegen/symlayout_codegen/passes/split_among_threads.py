"""Share the work of a piece out between the parts of a kernel, which may run at once.

Points that replace write apart from each other, whichever digits they differ in.  Those that write over a
background, or add to it, do so where they differ in a digit that tells elements apart; the background has the
same digits, and so each part makes the background of what it writes itself.  Without such digits, one part does
it all.
"""

from __future__ import annotations

from collections.abc import Mapping

from symlayout_codegen.ir.integer_expressions import Expr, Literal, Name
from symlayout_codegen.ir.nest import Piece
from symlayout_codegen.ir.queries import ONE
from symlayout_codegen.ir.statements import Body, If, Share
from symlayout_codegen.passes.rename import identifier
from symlayout_codegen.passes.unroll import is_short

LONG = 64
"""A loop of at least this many steps is shared out by itself."""

MOST_SHARED = 4
"""At most so many nested loops are shared out."""


PART = Name("part")
"""The number of the part of the work that a call does."""


def by_one(body: Body) -> Body:
    """Return *body* for part 0 alone."""
    return (If(PART, ONE, body, ()),) if body else ()


def shared(piece: Piece, order: tuple[int, ...]) -> tuple[int, ...]:
    """Return the digits of *piece* that the parts of a kernel share out, outermost first.

    They are the loops outside the inner two, down to the first that is sure to be long: the two may be a transpose,
    whose tiles are best over all of them.  Where these loops are few, which may have one step, the outer of the two is
    shared too, unless it is short; and where there is but one, the inner one, unless bounds cut it.
    """
    inner = 1
    if len(order) > 3 or (len(order) > 2 and is_short(piece.digits[order[-2]].extent)):
        inner = 2
    elif len(order) <= 2 and not piece.windows and not piece.guards:
        inner = 0
    chosen: list[int] = []
    for digit in order[: max(1, len(order) - inner)][:MOST_SHARED]:
        extent = piece.digits[digit].extent
        chosen.append(digit)
        if isinstance(extent, Literal) and extent.value >= LONG:
            break
    while len(chosen) > 1 and is_short(piece.digits[chosen[-1]].extent):
        chosen.pop()  # a few steps more or less: not worth that they are no longer written out
    return tuple(chosen)


def share(piece: Piece, digits: tuple[int, ...], taken: set[str]) -> tuple[Body, Mapping[int, tuple[Expr, Expr]]]:
    """Return what computes a part's share of *digits*, and for each of them its range ``begin, end``."""
    loops: list[tuple[str, str, Expr]] = []
    for k in digits:
        begin, end = (identifier(f"{piece.digits[k].name}_{which}", taken) for which in ("begin", "end"))
        loops.append((begin, end, piece.digits[k].extent))
    statements = (Share(identifier("share", taken), tuple(loops)),) if loops else ()
    return statements, {k: (Name(begin), Name(end)) for k, (begin, end, _) in zip(digits, loops, strict=True)}
