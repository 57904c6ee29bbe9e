"""Drop the digits of extent 1, and join two digits that are contiguous on both faces.

    for hi < H: for lo < L: to[L*hi + lo] = from[L*hi + lo]    becomes    for lo < H*L: to[lo] = from[lo]

Assumes: nothing; it finds more after `use_divisibility` and `stack_pieces`.
Guarantees: the same points.  Points that add keep their order.  Digits in windows, guards and carried digits, and
the digits that tell elements apart, and reduced digits, are not joined.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise, permutations

from symlayout_codegen.ir.integer_expressions import mul
from symlayout_codegen.ir.nest import Nest, NestPiece
from symlayout_codegen.ir.queries import ONE, ZERO, equal


def coalesce(nest: Nest) -> Nest:
    """Return *nest* with as few digits as this finds.

    Digits ``hi, lo`` with ``coefficient(hi) == extent(lo) * coefficient(lo)`` on each face become one digit of extent
    ``extent(hi) * extent(lo)``; where points add, only if ``lo`` comes right after ``hi``.
    """
    return nest.map_boxes(lambda piece: _coalesced(piece, in_order=nest.adds(piece)))


def _coalesced(piece: NestPiece, *, in_order: bool) -> NestPiece:
    coefficients = [face.coefficients() for face in piece.faces]
    tied = {k for form in piece.conditions for k in form.coefficients()} | set(piece.apart)
    tied.update(range(piece.written, len(piece.digits)))
    # A digit of extent 1 is always 0, so its terms go with it.
    extents = {k: digit.extent for k, digit in enumerate(piece.digits) if digit.extent != ONE or k in piece.apart}

    def contiguous(hi: int, lo: int) -> bool:
        return not tied & {hi, lo} and all(
            equal(face.get(hi, ZERO), mul(extents[lo], face.get(lo, ZERO))) for face in coefficients
        )

    pairs = pairwise if in_order else partial(permutations, r=2)
    while pair := next(((hi, lo) for hi, lo in pairs(extents) if contiguous(hi, lo)), None):
        hi, lo = pair
        extents[lo] = mul(extents[hi], extents[lo])
        del extents[hi]
    kept = sorted(extents)
    joined = piece.with_digits(kept)
    digits = tuple(replace(digit, extent=extents[k]) for k, digit in zip(kept, joined.digits, strict=True))
    return replace(joined, digits=digits)
