"""Shorten a digit's range to what a window of it alone leaves.

    i < 4*C with 0 <= i - C < C    becomes    i < C, from i = C on

The range of a piece of a concatenation is a loop's own then, and pieces that differ only in where they lie are
seen to be alike.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, Literal, add, mul
from symlayout_codegen.ir.nest import Affine, Piece, Window
from symlayout_codegen.ir.queries import Facts, expanded, negate, subtract


def narrow(piece: Piece, facts: Facts) -> Piece:
    """Return the same points, in the same order, without the windows of one digit that are shown to be in its range."""
    for window in piece.windows:
        if found := _range(piece, window, facts):
            windows = tuple(other for other in piece.windows if other is not window)
            return narrow(_from(replace(piece, windows=windows), *found, window.extent), facts)
    return piece


def _range(piece: Piece, window: Window, facts: Facts) -> tuple[int, Expr] | None:
    """Return the digit and the first value that *window* allows it, if these are so many values of the digit's."""
    match tuple(window.value.coefficients().items()):
        case ((k, Literal(1 | -1 as sign)),) if k < len(piece.digits) and k not in piece.apart:
            base, extent = window.value.constant, window.extent
            first = negate(base) if sign == 1 else add(subtract(base, extent), 1)
            left = subtract(subtract(piece.digits[k].extent, extent), first)
            if all(map(facts.is_nonnegative, (first, extent, left))):
                return k, first
    return None


def _from(piece: Piece, k: int, first: Expr, extent: Expr) -> Piece:
    """Return *piece* with digit *k* counted from *first* on, and *extent* values of it."""

    def affine(old: Affine) -> Affine:
        coefficient = old.coefficients().get(k)
        if coefficient is None:
            return old
        return replace(old, constant=expanded(add(old.constant, mul(coefficient, first))))

    digit = piece.digits[k]
    comment = f"{digit.comment}, a range of it" if digit.comment else ""
    shorter = replace(digit, extent=extent, comment=comment)
    return replace(
        piece,
        digits=(*piece.digits[:k], shorter, *piece.digits[k + 1 :]),
        carried=tuple(replace(c, value=affine(c.value)) for c in piece.carried),
        output=affine(piece.output),
        offset=affine(piece.offset) if piece.offset is not None else None,
        windows=tuple(replace(w, value=affine(w.value)) for w in piece.windows),
        guards=tuple(replace(g, window=replace(g.window, value=affine(g.window.value))) for g in piece.guards),
    )
