"""Padded rows that are dealt out to a few streams: when two digits do that, and several rows as one statement."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, add, mul
from symlayout_codegen.ir.nest import AffineForm, NestPiece, NestWindow
from symlayout_codegen.ir.queries import ONE, ZERO, linear, magnitude, names, subtract
from symlayout_codegen.ir.statements import MOST_STREAMS, Deal, expressions


@dataclass(frozen=True, slots=True)
class Streams:
    """*number* streams of *columns* elements each, *to_stride* apart in the output."""

    number: int
    columns: Expr
    to_stride: Expr


def streams_of(piece: NestPiece, offset: AffineForm, window: NestWindow, digits: Collection[int]) -> Streams | None:
    """Return the streams that the two *digits* of *piece* deal a row out to; None where they do not.

    Parameters
    ----------
    offset : where the piece reads.
    window : what is inside of the row.
    """
    reads, writes = offset.coefficients(), piece.output.coefficients()
    within, block = sorted(digits, key=lambda k: magnitude(reads.get(k, ZERO)))
    streams = piece.digits[within].extent
    if not isinstance(streams, IntLiteral) or not 2 <= streams.value <= MOST_STREAMS:
        return None
    forms = (window.value.coefficients(), reads)
    if writes.get(block) != ONE or any((f.get(within), f.get(block)) != (ONE, streams) for f in forms):
        return None
    return Streams(streams.value, piece.digits[block].extent, writes.get(within, ZERO))


def repeated(deal: Deal, name: str, ends: tuple[Expr, Expr, Expr, Expr]) -> Deal | None:
    """Return *deal*, which does one row, for all steps of the loop *name*; None where more than its offsets varies.

    Parameters
    ----------
    ends : where the rows begin, where those inside do, where these end, and where all rows end; those outside are fill.
    """
    to_step, to = linear(deal.to, name)
    step, start = linear(deal.start, name)
    if any(name in names(e) for e in expressions(replace(deal, to=to, start=start))):
        return None
    begin, first, last, end = ends
    return replace(
        deal,
        to=add(mul(to_step, begin), to),
        start=add(mul(step, first), start),
        before=subtract(first, begin),
        count=subtract(last, first),
        after=subtract(end, last),
        to_step=to_step,
        step=step,
    )
