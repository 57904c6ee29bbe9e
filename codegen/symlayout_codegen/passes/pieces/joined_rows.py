"""Rows that a few streams are joined to, in the order of the output: when the inner digits of a piece are such."""

from __future__ import annotations

from dataclasses import dataclass

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, add, mul
from symlayout_codegen.ir.nest import AffineForm, NestPiece
from symlayout_codegen.ir.queries import ONE, ZERO, equal, magnitude, negate
from symlayout_codegen.ir.statements import MOST_STREAMS, JoinGrid

GRID = 4
"""The digits of such a grid: those of its rows, then those of a row."""


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """Rows ``first <= p < first + rows`` of columns ``low <= q < low + columns``, of which a window may cut off both.

    A row is ``p = turn + turns*block``, a column ``q = stream + streams*along``, by the digits of these numbers.
    """

    turn: int
    block: int
    stream: int
    along: int
    turns: Expr
    streams: int
    first: Expr
    rows: Expr
    low: Expr
    columns: Expr

    @property
    def digits(self) -> frozenset[int]:
        """The digits of the grid."""
        return frozenset((self.turn, self.block, self.stream, self.along))

    def join(
        self, offset: AffineForm, source: int, size: Expr, at: tuple[Expr, Expr], part: tuple[Expr, Expr]
    ) -> JoinGrid:
        """Return the statement of some of the rows.

        Parameters
        ----------
        offset : where the piece reads.
        size : elements of the source.
        at : where the grid is in the output and in the source.
        part : the first row, and how many rows.
        """
        reads = offset.coefficients()
        to, start = at
        first, rows = part
        return JoinGrid(
            to=add(to, mul(self.columns, first), self.low),
            streams=self.streams,
            source=source,
            start=start,
            size=size,
            stride=reads.get(self.stream, ZERO),
            low=self.low,
            columns=self.columns,
            first=first,
            rows=rows,
            turns=self.turns,
            leap=reads.get(self.turn, ZERO),
            step=reads.get(self.block, ZERO),
        )


def joined_rows(piece: NestPiece) -> JoinedRows | None:
    """Return the grid that the inner digits of *piece* are, which windows may cut; None where they are none."""
    if piece.formula is not None or piece.offset is None or piece.guards or piece.carried or piece.written < GRID:
        return None
    inner = range(piece.written - GRID, piece.written)
    writes, reads = piece.output.coefficients(), piece.offset.coefficients()
    *outer, along, stream = inner
    turn, block = sorted(outer, key=lambda k: magnitude(writes.get(k, ZERO)))
    streams, turns = piece.digits[stream].extent, piece.digits[turn].extent
    if not isinstance(streams, IntLiteral) or not 2 <= streams.value <= MOST_STREAMS:
        return None
    if reads.get(along) != ONE or writes.get(stream) != ONE or writes.get(along) != streams:
        return None
    rows: tuple[Expr, Expr] = (ZERO, mul(turns, piece.digits[block].extent))
    columns: tuple[Expr, Expr] = (ZERO, mul(streams, piece.digits[along].extent))
    for window in piece.windows:
        steps = window.value.coefficients()
        if not steps.keys() & {*inner}:
            continue
        inside = (negate(window.value.constant), window.extent)
        if steps.keys() == {turn, block} and steps[turn] == ONE and equal(steps[block], turns) and rows[0] == ZERO:
            rows = inside
        elif steps.keys() == {stream, along} and (steps[stream], steps[along]) == (ONE, streams):
            columns = inside
        else:
            return None
    row = writes.get(turn, ZERO)
    if not equal(row, columns[1]) or not equal(writes.get(block, ZERO), mul(row, turns)):
        return None
    return JoinedRows(turn, block, stream, along, turns, streams.value, *rows, *columns)
