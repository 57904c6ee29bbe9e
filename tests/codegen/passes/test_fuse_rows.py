"""`fuse_rows` makes one statement of a loop around one leaf."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO
from symlayout_codegen.ir.statements import (
    AccumulateRows,
    AccumulateRun,
    Axis,
    CopyGrid,
    CopyRows,
    CopyRun,
    CutGrid,
    Deal,
    FillRows,
    FillRun,
    Loop,
    Statement,
    Transpose,
    Turns,
)
from symlayout_codegen.passes.fuse_rows import fuse_rows
from tests.support.loop_interpreter import elements

i, n, m = map(NamedInt, "inm")
VALUES = {"n": 5, "m": 2}
COUNT = add(n, -1)  # steps of the loop
number = IntLiteral


def loop(*body: Statement) -> Loop:
    return Loop("i", ONE, n, body)


def fused(leaf: Statement) -> Statement:
    """Return the one statement that *leaf* in a loop becomes; it writes the same elements, and sums in order."""
    (made,) = fuse_rows((loop(leaf),))
    before, after = (elements((body,), VALUES) for body in (loop(leaf), made))
    if any(adds for _, _, adds in before):
        assert after == before
    assert sorted(after) == sorted(before)
    return made


def test_runs_become_rows() -> None:
    run = CopyRun(mul(7, i), 0, add(mul(9, i), 3), number(3))
    assert fused(run) == CopyRows(number(7), number(7), 0, number(12), number(9), COUNT, number(3))
    assert fused(FillRun(mul(7, i), 0, m)) == FillRows(number(7), number(7), 0, COUNT, m)


def test_rows_of_one_element_become_a_grid() -> None:
    rows = CopyRows(mul(20, i), number(3), 0, mul(30, i), number(5), m, ONE)
    assert fused(rows) == CopyGrid(number(20), number(20), number(3), 0, number(30), number(30), number(5), COUNT, m)


def test_rows_in_few_turns_become_a_grid_of_any_count() -> None:
    rows = CopyRows(mul(20, i), number(3), 0, mul(30, i), number(5), n, m)
    few = Loop("i", number(0), number(2), (rows,))
    (made,) = fuse_rows((few,))
    assert made == CopyGrid(ZERO, number(20), number(3), 0, ZERO, number(30), number(5), number(2), n, m)
    assert sorted(elements((made,), VALUES)) == sorted(elements((few,), VALUES))
    assert fuse_rows((loop(rows),)) == (loop(rows),)


def test_short_rows_that_overlap_become_a_transpose() -> None:
    rows = CopyRows(mul(3, i), number(50), 0, mul(40, i), ONE, m, number(3))
    columns = Axis(number(3), ONE, COUNT, number(40))
    assert fused(rows) == Transpose(number(3), Axis(m, number(50)), 0, number(40), columns)


@pytest.mark.parametrize(
    "rows",
    [
        CopyRows(mul(20, i), number(3), 0, mul(30, i), number(5), m, number(3)),  # they do not overlap
        CopyRows(mul(9, i), number(50), 0, mul(40, i), ONE, m, number(9)),  # they are not short
        CopyRows(mul(4, i), number(50), 0, mul(40, i), ONE, m, number(3)),  # there are gaps between them
        FillRows(mul(20, i), number(3), 0, m, ONE),
    ],
)
def test_other_rows_stay_in_their_loop(rows: Statement) -> None:
    assert fused(rows) == loop(rows)


def test_sums_become_rows_in_the_order_of_their_terms() -> None:
    single = AccumulateRun(ZERO, 0, mul(3, i), ONE)
    assert fused(single) == AccumulateRows(ZERO, ZERO, ZERO, 0, number(3), ZERO, number(3), ONE, COUNT)
    run = AccumulateRun(mul(2, i), 0, mul(9, i), number(3))
    assert fused(run) == AccumulateRows(number(2), number(2), ONE, 0, number(9), number(9), ONE, COUNT, number(3))
    rows = AccumulateRows(mul(2, i), ZERO, ONE, 0, mul(30, i), ZERO, number(4), ONE, m)
    assert fused(rows) == AccumulateRows(number(2), number(2), ONE, 0, number(30), number(30), number(4), COUNT, m)
    two = AccumulateRows(mul(2, i), ONE, ONE, 0, mul(30, i), ONE, number(4), number(2), m)
    assert fused(two) == loop(two)


def transpose(to: Expr, start: Expr, **more: Expr) -> Transpose:
    return Transpose(to, Axis(number(5), number(20)), 0, start, Axis(number(6), number(30)), **more)


def test_a_transpose_grows_where_its_copies_are_contiguous() -> None:
    longer = fused(transpose(mul(6, i), mul(500, i)))
    assert isinstance(longer, Transpose)
    assert longer.columns == Axis(number(6), number(30), COUNT, number(500))
    longer = fused(transpose(mul(500, i), mul(5, i)))
    assert isinstance(longer, Transpose)
    assert longer.rows == Axis(number(5), number(20), COUNT, number(500))


def test_a_transpose_is_repeated_elsewhere() -> None:
    once = fused(transpose(mul(700, i), mul(500, i)))
    assert isinstance(once, Transpose)
    assert (once.count, once.to_step, once.step) == (COUNT, number(700), number(500))
    again = fused(transpose(mul(6, i), mul(500, i), count=m, to_step=number(70), step=number(90)))
    assert isinstance(again, Transpose)
    assert (again.high, again.to_leap, again.leap) == (COUNT, number(6), number(500))
    full = transpose(i, i, count=m, to_step=number(70), step=number(90), high=m, to_leap=n, leap=n)
    assert fused(full) == loop(full)


def test_a_split_into_few_streams_is_repeated_not_grown() -> None:
    few = Transpose(mul(6, i), Axis(number(2), number(600)), 0, mul(500, i), Axis(number(6), number(2)))
    made = fused(few)
    assert isinstance(made, Transpose)
    assert (made.columns, made.count) == (few.columns, COUNT)


def test_a_row_that_is_dealt_out_is_repeated_three_times() -> None:
    made = fused(Deal(mul(9, i), number(300), 2, number(4), 0, ZERO, mul(6, i), ONE, number(6), 0))
    assert isinstance(made, Deal)
    assert made.rows == Turns(count=COUNT, to_step=number(9), step=number(6))
    for _ in ("planes", "images"):
        made = fused(replace(made, to=mul(99, i), start=i))
        assert isinstance(made, Deal)
    assert made.planes == made.images == Turns(count=COUNT, to_step=number(99), step=ONE)
    again = replace(made, to=mul(99, i), start=i)
    assert fused(again) == loop(again)


def test_a_grid_is_repeated_once() -> None:
    for grid in (
        CopyGrid(mul(9, i), number(3), number(4), 0, mul(6, i), ONE, ONE, m, m, number(3)),
        CutGrid(mul(9, i), number(3), number(4), 0, mul(6, i), ONE, ONE, m, m, number(3), ONE, m, 0),
    ):
        made = fused(grid)
        assert isinstance(made, CopyGrid | CutGrid)
        assert (made.high, made.to_jump, made.jump) == (COUNT, number(9), number(6))
        again = replace(made, to=mul(99, i), start=i)
        assert fused(again) == loop(again)


@pytest.mark.parametrize(
    "leaf",
    [
        CopyRun(mul(7, i), 0, mul(9, i), i),
        FillRun(mul(7, i), 0, i),
        CopyRows(mul(20, i), i, 0, mul(30, i), number(5), m, ONE),
        Transpose(i, Axis(number(5), i), 0, i, Axis(number(6), number(30))),
        Deal(i, i, 2, number(4), 0, ZERO, i, ZERO, number(6), 0),
    ],
)
def test_a_leaf_that_varies_with_the_loop_stays(leaf: Statement) -> None:
    assert fused(leaf) == loop(leaf)


def test_a_short_loop_over_a_run_is_left_to_be_unrolled() -> None:
    body = (CopyRun(mul(7, i), 0, i, number(3)),)
    assert fuse_rows((Loop("i", ONE, number(5), body),)) == (Loop("i", ONE, number(5), body),)
    assert isinstance(fuse_rows((Loop("i", ZERO, number(5), body),))[0], CopyRows)


def test_a_loop_around_two_leaves_stays() -> None:
    both = loop(CopyRun(mul(7, i), 0, i, number(3)), FillRun(add(mul(7, i), 3), 0, ONE))
    assert fuse_rows((both,)) == (both,)
