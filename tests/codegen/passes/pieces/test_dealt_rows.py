"""`dealt_rows` finds digits that deal a row out to streams, and does all rows of a loop in one statement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import NestPiece, NestWindow
from symlayout_codegen.ir.queries import ONE, ZERO, equal
from symlayout_codegen.ir.statements import ONCE, CutGrid, Deal, Turns
from symlayout_codegen.passes.pieces.dealt_rows import Streams, repeated, streams_of
from tests.support import nests

number = IntLiteral
DEAL = Deal(mul(9, NamedInt("r")), number(300), 2, number(4), 0, number(70), mul(8, NamedInt("r")), ONE, number(6), 0)


def streams(within: int, block: int, to_block: int = 1, reads: int | None = None) -> Streams | None:
    """Return the streams of a row of *within* by 5 elements, with the steps of the block given."""
    output, offset = nests.affine(0, (0, 20), (1, to_block)), nests.affine(-1, (0, 1), (1, reads or block))
    piece = NestPiece(nests.digits(lo=within, hi=5), output, 0, offset)
    return streams_of(piece, offset, NestWindow(nests.affine(-1, (0, 1), (1, block)), number(8)), range(2))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_row_is_dealt_out_by_the_digits_of_an_axis_cut_in_blocks(k: int) -> None:
    assert streams(k, k) == Streams(k, number(5), number(20))


def test_other_digits_deal_nothing_out() -> None:
    assert streams(5, 5) is None  # more streams than one statement has
    assert streams(1, 1) is None
    assert streams(2, 3) is None  # the row is not cut in blocks of two
    assert streams(2, 2, to_block=2) is None  # a stream has gaps
    assert streams(2, 2, reads=4) is None  # the source is not what the window bounds


def test_all_rows_of_a_loop_are_one_statement() -> None:
    first, last = NamedInt("first"), NamedInt("last")
    made = repeated(DEAL, "r", (ONE, first, last, number(7)))
    assert made is not None
    assert made.to == number(9)
    assert equal(made.start, mul(8, first))
    outside = (add(first, -1), add(7, mul(-1, last)))
    assert made.rows == Turns(outside[0], add(last, mul(-1, first)), outside[1], number(9), number(8))
    assert (made.planes, made.images) == (ONCE, ONCE)


def test_rows_are_repeated_as_planes_and_images() -> None:
    """Three loops are one statement, and a fourth one is not."""
    names = ("p", "m", "o")
    places = [mul(10**k, NamedInt(name)) for k, name in enumerate(names)]
    deal = replace(DEAL, to=add(*places, DEAL.to), start=add(*places, DEAL.start))
    ends = (ZERO, ONE, number(3), number(5))
    made: Deal | CutGrid | None = repeated(deal, "r", ends)
    for name in names[:2]:
        assert made is not None
        made = repeated(made, name, ends)
    assert isinstance(made, Deal)
    loops = (made.rows, made.planes, made.images)
    assert [turns.to_step for turns in loops] == [number(9), number(1), number(10)]
    assert {(turns.before, turns.count, turns.after) for turns in loops} == {(ONE, number(2), number(2))}
    assert repeated(made, "o", ends) is None


def test_a_grid_has_one_loop_around_it() -> None:
    row = NamedInt("r")
    grid = CutGrid(row, ONE, ONE, 0, row, ONE, ONE, ONE, ONE, ONE, ZERO, ONE, 0)
    once = repeated(grid, "r", (ZERO, ZERO, number(3), number(3)))
    assert isinstance(once, CutGrid)
    assert repeated(once, "s", (ZERO, ZERO, number(3), number(3))) is None


def test_a_row_that_varies_by_more_than_its_place_is_not_repeated() -> None:
    varies = Deal(ZERO, number(300), 2, number(4), 0, ZERO, ZERO, NamedInt("r"), number(6), 0)
    assert repeated(varies, "r", (ZERO, ZERO, ONE, ONE)) is None
