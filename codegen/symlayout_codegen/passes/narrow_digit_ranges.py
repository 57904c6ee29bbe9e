"""Shorten a digit's range to what a window on that digit alone leaves of it.

    for i < 4*C where 0 <= i - C < C: f(i)    becomes    for i < C: f(i + C)

The range of a concatenated piece is then the loop's own, and pieces that differ only in their offsets become alike.

Assumes: *facts* hold wherever the preconditions do (`use_divisibility` gives the most).
Guarantees: the same points in the same order.  A window on one digit alone, with coefficient 1 or -1, is left only
where its range is not proved to lie inside the digit's, or where the digit tells elements apart.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, add, mul
from symlayout_codegen.ir.nest import AffineForm, Nest, NestPiece, NestWindow
from symlayout_codegen.ir.queries import SignFacts, expanded, negate, subtract


def narrow_digit_ranges(nest: Nest, facts: SignFacts) -> Nest:
    """Return *nest* without the windows of one digit that are proved to lie in the digit's range."""
    return replace(nest, pieces=tuple(_narrowed(piece, facts) for piece in nest.pieces))


def _narrowed(piece: NestPiece, facts: SignFacts) -> NestPiece:
    for window in piece.windows:
        if found := _range(piece, window, facts):
            windows = tuple(other for other in piece.windows if other is not window)
            return _narrowed(_shortened(replace(piece, windows=windows), *found, window.extent), facts)
    return piece


def _range(piece: NestPiece, window: NestWindow, facts: SignFacts) -> tuple[int, Expr] | None:
    """Return the digit of *window* and the first value that it allows; None if values may lie outside the digit's."""
    match tuple(window.value.coefficients().items()):
        case ((k, IntLiteral(1 | -1 as sign)),) if k < len(piece.digits) and k not in piece.apart:
            base, extent = window.value.constant, window.extent
            first = negate(base) if sign == 1 else add(subtract(base, extent), 1)
            left = subtract(subtract(piece.digits[k].extent, extent), first)
            if all(map(facts.is_nonnegative, (first, extent, left))):
                return k, first
    return None


def _shortened(piece: NestPiece, k: int, first: Expr, extent: Expr) -> NestPiece:
    """Return *piece* with digit *k* counted from *first* on, over *extent* values."""

    def shifted(form: AffineForm) -> AffineForm:
        coefficient = form.coefficients().get(k)
        if coefficient is None:
            return form
        return replace(form, constant=expanded(add(form.constant, mul(coefficient, first))))

    digit = piece.digits[k]
    comment = f"{digit.comment}, a range of it" if digit.comment else ""
    digits = (*piece.digits[:k], replace(digit, extent=extent, comment=comment), *piece.digits[k + 1 :])
    return replace(piece.mapped(shifted), digits=digits)
