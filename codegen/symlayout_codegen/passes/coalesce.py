"""Join the digits of a piece that are contiguous on both faces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise, permutations

from symlayout_codegen.ir.integer_expressions import mul
from symlayout_codegen.ir.nest import Affine, Piece, Window
from symlayout_codegen.ir.queries import ONE, ZERO, equal


def coalesce(piece: Piece, *, in_order: bool = False) -> Piece:
    """Return the same points and elements with as few digits as this finds.

    Digits ``hi, lo`` with ``coefficient(hi) == extent(lo) * coefficient(lo)`` on the output and
    on the source, and in no window, guard or carried digit, are one digit of extent
    ``extent(hi) * extent(lo)``; with *in_order*, only where ``lo`` comes right after ``hi``.  The digits that
    tell elements apart are left alone.
    """
    faces = (piece.output,) if piece.offset is None else (piece.output, piece.offset)
    coefficients = [face.coefficients() for face in faces]
    tied = {k for affine in _conditions(piece) for k in affine.coefficients()} | set(piece.apart)
    extents = {k: digit.extent for k, digit in enumerate(piece.digits)}
    for k in [k for k, extent in extents.items() if extent == ONE and k not in piece.apart]:
        del extents[k]

    def joined(hi: int, lo: int) -> bool:
        return not tied & {hi, lo} and all(
            equal(face.get(hi, ZERO), mul(extents[lo], face.get(lo, ZERO))) for face in coefficients
        )

    pairs = pairwise if in_order else partial(permutations, r=2)
    while pair := next(((hi, lo) for hi, lo in pairs(extents) if joined(hi, lo)), None):
        hi, lo = pair
        extents[lo] = mul(extents[hi], extents[lo])
        del extents[hi]
    kept = [k for k in range(len(piece.digits)) if k in extents]
    number = {k: i for i, k in enumerate(kept)}
    number |= {len(piece.digits) + i: len(kept) + i for i in range(len(piece.carried))}

    def affine(old: Affine) -> Affine:
        # A digit of extent 1 is always 0, so its term goes with it.
        terms = ((number[k], c) for k, c in old.coefficients().items() if k in number)
        return Affine(old.constant, tuple(terms))

    def window(old: Window) -> Window:
        return replace(old, value=affine(old.value))

    return replace(
        piece,
        digits=tuple(replace(piece.digits[k], extent=extents[k]) for k in kept),
        carried=tuple(replace(c, value=affine(c.value)) for c in piece.carried),
        output=affine(piece.output),
        offset=affine(piece.offset) if piece.offset is not None else None,
        windows=tuple(map(window, piece.windows)),
        guards=tuple(replace(g, window=window(g.window)) for g in piece.guards),
        apart=tuple(number[k] for k in piece.apart),
    )


def _conditions(piece: Piece) -> Iterator[Affine]:
    """Yield every affine value of *piece* besides its faces."""
    yield from (window.value for window in piece.windows)
    yield from (guard.window.value for guard in piece.guards)
    yield from (carried.value for carried in piece.carried)
