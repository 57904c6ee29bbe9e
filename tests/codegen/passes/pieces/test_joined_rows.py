"""`joined_rows` finds the digits of rows that streams are joined to, which windows may cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, mul
from symlayout_codegen.ir.queries import equal
from symlayout_codegen.passes.pieces.joined_rows import joined_rows
from tests.support import nests


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_inner_digits_are_rows_and_streams_between_cuts(k: int) -> None:
    (piece,) = nests.joined_rows(k, 1, 1).pieces
    grid = joined_rows(piece)
    assert grid is not None
    assert (grid.turn, grid.block, grid.along, grid.stream) == (1, 2, 3, 4)
    assert grid.digits == {1, 2, 3, 4}
    assert (grid.turns, grid.streams) == (IntLiteral(k), k)
    assert (grid.first, grid.low) == (IntLiteral(1), IntLiteral(1))
    assert equal(grid.rows, piece.windows[0].extent)
    assert equal(grid.columns, piece.windows[1].extent)


def test_rows_that_nothing_cuts_are_all_of_them() -> None:
    (piece,) = nests.joined_rows(3, 0, 0).pieces
    grid = joined_rows(piece)
    assert grid is not None
    assert (grid.first, grid.low) == (IntLiteral(0), IntLiteral(0))
    assert equal(grid.rows, mul(grid.turns, piece.digits[grid.block].extent))
    assert equal(grid.columns, mul(IntLiteral(3), piece.digits[grid.along].extent))


def test_other_digits_are_none() -> None:
    (piece,) = nests.joined_rows(3, 1, 1).pieces
    rows, columns = piece.windows
    assert joined_rows(nests.joined_rows(5, 1, 1).pieces[0]) is None  # more streams than one statement has
    assert joined_rows(replace(piece, windows=(rows,))) is None  # rows of cut columns do not follow each other uncut
    assert joined_rows(replace(piece, windows=(rows, rows, columns))) is None  # rows are cut once
    gaps = replace(piece, output=piece.output.without(frozenset({4})))
    assert joined_rows(gaps) is None  # the streams lie not side by side
    assert joined_rows(replace(piece, digits=piece.digits[1:])) is None
