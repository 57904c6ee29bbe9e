"""Rows that are padded or cropped and dealt out: when digits do that, and several rows as one statement."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral
from symlayout_codegen.ir.nest import AffineForm, NestPiece, NestWindow
from symlayout_codegen.ir.queries import ONE, ZERO, linear, magnitude, names
from symlayout_codegen.ir.statements import MOST_STREAMS, CutGrid, Deal, expressions


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


@dataclass(frozen=True, slots=True)
class DealtRuns:
    """A grid of runs, of which a window numbers the runs across its two digits.

    Attributes
    ----------
    within, block, run : the numbers of the digits.
    """

    within: int
    block: int
    run: int


def runs_of(piece: NestPiece, offset: AffineForm, window: NestWindow, digits: Collection[int]) -> DealtRuns | None:
    """Return the grid that the three *digits* of *piece* are, the last of which is a run; None where they are none.

    Parameters
    ----------
    offset : where the piece reads.
    window : what is inside of the grid.
    """
    steps, run = window.value.coefficients(), max(digits)
    if run in steps or any(form.coefficients().get(run) != ONE for form in (piece.output, offset)):
        return None
    within, block = sorted((k for k in digits if k != run), key=lambda k: magnitude(steps.get(k, ZERO)))
    if steps.get(within) != ONE or steps.get(block) != piece.digits[within].extent:
        return None
    return DealtRuns(within, block, run)


def repeated(deal: Deal | CutGrid, name: str, ends: tuple[Expr, Expr, Expr, Expr]) -> Deal | CutGrid | None:
    """Return *deal*, which does one row, for all steps of the loop *name*; None where more than its offsets varies.

    Parameters
    ----------
    ends : where the rows begin, where those inside do, where these end, and where all rows end; those outside are fill.
    """
    to_step, to = linear(deal.to, name)
    step, start = linear(deal.start, name)
    if any(name in names(e) for e in expressions(replace(deal, to=to, start=start))):
        return None
    return deal.repeated(ends, (to_step, to), (step, start))
