"""Join pieces that differ only in where they begin, at equal steps on both faces, into one piece.

    to[i] = from[2*i]; to[n + i] = from[2*i + 1]    becomes    for p < 2: to[n*p + i] = from[2*i + p]

Later passes then see what no single piece shows: pieces that read parts of the same lines in turn become one loop,
which reads each line once, and often one leaf.

Assumes: pieces that replace write different elements, so their order does not matter (the nest's definition).  The
names in use are known (`rename`).  More pieces are alike after `narrow_digit_ranges` and `align`.
Guarantees: the same points in another order; so a nest whose points add is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symlayout_codegen.ir.identifiers import identifier
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral
from symlayout_codegen.ir.nest import AffineForm, Digit, Nest, NestPiece
from symlayout_codegen.ir.queries import equal, expanded, subtract


def stack_pieces(nest: Nest, taken: set[str]) -> Nest:
    """Return *nest* with alike pieces joined; the names of new digits are added to *taken*."""
    if nest.combine is not None:
        return nest
    return replace(nest, pieces=_stacked(nest.pieces, taken))


def _stacked(pieces: Sequence[NestPiece], taken: set[str]) -> tuple[NestPiece, ...]:
    made: list[NestPiece] = []
    at = 0
    while at < len(pieces):
        count = _count_alike(pieces[at:])
        made.append(pieces[at] if count == 1 else _joined(pieces[at : at + count], taken))
        at += count
    return tuple(made) if len(made) == len(pieces) else _stacked(made, taken)


def _count_alike(pieces: Sequence[NestPiece]) -> int:
    """Return how many of *pieces*, from the first on, are alike and at equal steps."""
    count = 1
    while count < len(pieces) and _are_alike(pieces[0], pieces[count]):
        if count > 1 and not all(map(equal, _step(pieces[0], pieces[1]), _step(*pieces[count - 1 : count + 1]))):
            break
        count += 1
    return count


def _are_alike(a: NestPiece, b: NestPiece) -> bool:
    """Return whether *a* and *b* differ in the constants of their faces at most, and may be joined."""
    return (
        all(_may_be_joined(piece) for piece in (a, b))
        and a.source == b.source
        and len(a.digits) == len(b.digits)
        and all(equal(p.extent, q.extent) for p, q in zip(a.digits, b.digits, strict=True))
        and all(_have_equal_coefficients(p, q) for p, q in zip(a.faces, b.faces, strict=True))
    )


def _may_be_joined(piece: NestPiece) -> bool:
    return piece.source is not None and not (piece.carried or piece.windows or piece.guards or piece.apart)


def _have_equal_coefficients(a: AffineForm, b: AffineForm) -> bool:
    mine, others = a.coefficients(), b.coefficients()
    return mine.keys() == others.keys() and all(equal(mine[k], others[k]) for k in mine)


def _step(a: NestPiece, b: NestPiece) -> tuple[Expr, ...]:
    """Return how much further *b* begins than *a*, on each face."""
    return tuple(expanded(subtract(q.constant, p.constant)) for p, q in zip(a.faces, b.faces, strict=True))


def _joined(pieces: Sequence[NestPiece], taken: set[str]) -> NestPiece:
    """Return alike *pieces* at equal steps as one piece, with a digit that counts them."""
    first, k = pieces[0], len(pieces[0].digits)
    digit = Digit(identifier("piece", taken), IntLiteral(len(pieces)), f"{len(pieces)} pieces alike")
    output, *offset = (
        replace(face, terms=(*face.terms, (k, step)))
        for face, step in zip(first.faces, _step(first, pieces[1]), strict=True)
    )
    return replace(first, digits=(*first.digits, digit), output=output, offset=offset[0] if offset else None)
