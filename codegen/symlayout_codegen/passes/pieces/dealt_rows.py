"""Rows that are padded or cropped and dealt out: when digits do that, and several rows as one statement.

The long loops around such rows run inside of the short ones, a strip of them at a time (`deal_in_strips`):

    for i < n: for b < 2: deal the rows of image i, from row b on
    becomes    for each strip of i: for b < 2: for i in the strip: deal the rows of image i, from row b on

One statement then deals out the rows of many small images.  All short loops of a strip find what it reads in a near
cache: a strip of large images is one image, or a few of its planes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral
from symlayout_codegen.ir.nest import AffineForm, Nest, NestPiece, NestWindow
from symlayout_codegen.ir.queries import ONE, ZERO, linear, magnitude, names, negate
from symlayout_codegen.ir.statements import MOST_STREAMS, CutGrid, Deal, PartRanges, expressions, is_short

MOST_STRIPS = 2
"""A statement has so many loops around its rows."""

Parts = tuple[PartRanges | None, ...] | None


@dataclass(frozen=True, slots=True)
class Streams:
    """*number* streams of *columns* elements each, *to_stride* apart in the output."""

    number: int
    columns: Expr
    to_stride: Expr

    def deal(self, window: NestWindow, at: Sequence[Expr], source: int, size: Expr, fill: int) -> Deal:
        """Return the statement of one row.

        Parameters
        ----------
        window : what is inside of the row.
        at : where the row is in the output and in the source, and the value of the window there.
        size : elements of the source.
        """
        to, start, low = at
        return Deal(
            to=to,
            to_stride=self.to_stride,
            streams=self.number,
            columns=self.columns,
            source=source,
            size=size,
            start=start,
            low=negate(low),
            inside=window.extent,
            fill=fill,
        )


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

    def grid(self, piece: NestPiece, window: NestWindow, at: Sequence[Expr], source: int, fill: int | None) -> CutGrid:
        """Return the statement of the grid: see `Streams.deal`."""
        assert piece.offset is not None
        writes, reads = piece.output.coefficients(), piece.offset.coefficients()
        to, start, low = at
        return CutGrid(
            to=to,
            to_leap=writes.get(self.within, ZERO),
            to_step=writes.get(self.block, ZERO),
            source=source,
            start=start,
            leap=reads.get(self.within, ZERO),
            step=reads.get(self.block, ZERO),
            turns=piece.digits[self.within].extent,
            rows=piece.digits[self.block].extent,
            count=piece.digits[self.run].extent,
            low=negate(low),
            inside=window.extent,
            fill=fill,
        )


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
    """Return *deal*, which does one row, for all steps of the loop *name*; None where that is no such statement.

    Parameters
    ----------
    ends : where the rows begin, where those inside do, where these end, and where all rows end; those outside are fill.
    """
    to_step, to = linear(deal.to, name)
    step, start = linear(deal.start, name)
    if any(name in names(e) for e in expressions(replace(deal, to=to, start=start))):
        return None
    return deal.repeated(ends, (to_step, to), (step, start))


def deal_in_strips(nest: Nest, parts: Parts) -> tuple[Nest, Parts, tuple[range, ...]]:
    """Return *nest* with the digits of its boxes in their new order, its *parts*, and the digits that run in strips."""
    strips = [_long_digits(nest, piece) for piece in nest.boxes]
    orders = {id(piece): _order(piece, long) for piece, long in zip(nest.boxes, strips, strict=True)}
    changed = nest.map_boxes(lambda piece: piece.with_digits(orders[id(piece)]))
    if parts is not None:
        parts = tuple(
            part and replace(part, digits=tuple(orders[id(piece)].index(k) for k in part.digits))
            for piece, part in zip(nest.boxes, parts, strict=True)
        )
    rows = [len(piece.digits) - 3 for piece in nest.boxes]
    return changed, parts, tuple(range(row - len(long), row) for row, long in zip(rows, strips, strict=True))


def _long_digits(nest: Nest, piece: NestPiece) -> range:
    """Return the long digits right outside of the short ones around dealt rows; none where there are no such rows."""
    row = len(piece.digits) - 3
    if nest.halves or nest.types or nest.adds(piece) or row < 2 or piece.carried or piece.windows:
        return range(0)
    if piece.offset is None or not piece.guards or is_short(piece.digits[row].extent):
        return range(0)
    inner = (row + 1, row + 2)
    if not any(streams_of(piece, piece.offset, guard.window, inner) for guard in piece.guards):
        return range(0)
    end = row
    while end and is_short(piece.digits[end - 1].extent):
        end -= 1
    begin = end
    while begin and end - begin < MOST_STRIPS and not is_short(piece.digits[begin - 1].extent):
        begin -= 1
    return range(begin, end) if end < row else range(0)


def _order(piece: NestPiece, long: range) -> tuple[int, ...]:
    """Return the digits of *piece*, the *long* ones right outside of the rows."""
    row = len(piece.digits) - 3
    if not long:
        return tuple(range(len(piece.digits)))
    return (*range(long.start), *range(long.stop, row), *long, *range(row, len(piece.digits)))
