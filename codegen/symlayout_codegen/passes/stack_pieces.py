"""Make one piece of several that are alike but for where they begin, at equal steps on both faces.

    to[i] = from[2*i]; to[n + i] = from[2*i + 1]    become    to[n*p + i] = from[2*i + p], p < 2

What no single piece shows is seen then: lines that they read parts of in turn are read once, and what several
loops did is done by a leaf.  Pieces that replace write apart from each other, so that their order does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, Literal
from symlayout_codegen.ir.nest import Affine, Digit, Piece
from symlayout_codegen.ir.queries import equal, expanded, subtract
from symlayout_codegen.passes.rename import identifier


def stack(pieces: Sequence[Piece], taken: set[str]) -> tuple[Piece, ...]:
    """Return the same points, which replace, in as few pieces as this finds."""
    made: list[Piece] = []
    at = 0
    while at < len(pieces):
        count = _alike(pieces[at:])
        made.append(pieces[at] if count == 1 else _stacked(pieces[at : at + count], taken))
        at += count
    return tuple(made) if len(made) == len(pieces) else stack(made, taken)


def _alike(pieces: Sequence[Piece]) -> int:
    """Return how many of *pieces*, from the first on, are alike and at equal steps."""
    count = 1
    while count < len(pieces) and _is_alike(pieces[0], pieces[count]):
        if count > 1 and not all(map(equal, _step(pieces[0], pieces[1]), _step(*pieces[count - 1 : count + 1]))):
            break
        count += 1
    return count


def _is_alike(a: Piece, b: Piece) -> bool:
    """Return whether *a* and *b* differ in the constants of their faces, if at all, and may be one piece."""
    return (
        all(_is_plain(piece) for piece in (a, b))
        and a.source == b.source
        and len(a.digits) == len(b.digits)
        and all(equal(p.extent, q.extent) for p, q in zip(a.digits, b.digits, strict=True))
        and all(_have_same_steps(p, q) for p, q in zip(_faces(a), _faces(b), strict=True))
    )


def _is_plain(piece: Piece) -> bool:
    return piece.source is not None and not (piece.carried or piece.windows or piece.guards or piece.apart)


def _have_same_steps(a: Affine, b: Affine) -> bool:
    mine, others = a.coefficients(), b.coefficients()
    return mine.keys() == others.keys() and all(equal(mine[k], others[k]) for k in mine)


def _faces(piece: Piece) -> tuple[Affine, ...]:
    return (piece.output,) if piece.offset is None else (piece.output, piece.offset)


def _step(a: Piece, b: Piece) -> tuple[Expr, ...]:
    """Return how much further *b* begins than *a*, on each face."""
    return tuple(expanded(subtract(q.constant, p.constant)) for p, q in zip(_faces(a), _faces(b), strict=True))


def _stacked(pieces: Sequence[Piece], taken: set[str]) -> Piece:
    """Return alike *pieces* at equal steps as one, with a digit that counts them."""
    first, k = pieces[0], len(pieces[0].digits)
    digit = Digit(identifier("piece", taken), Literal(len(pieces)), f"{len(pieces)} pieces alike")
    output, *offset = (
        replace(face, terms=(*face.terms, (k, step)))
        for face, step in zip(_faces(first), _step(first, pieces[1]), strict=True)
    )
    return replace(first, digits=(*first.digits, digit), output=output, offset=offset[0] if offset else None)
