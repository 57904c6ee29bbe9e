"""`select_runs_and_transposes` replaces innermost loops by runs and transposes."""

from __future__ import annotations

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO, equal, subtract
from symlayout_codegen.ir.statements import (
    AccumulateRun,
    Axis,
    Body,
    CopyRun,
    FillRun,
    If,
    Let,
    Loop,
    Statement,
    Transpose,
)
from symlayout_codegen.passes.select_runs_and_transposes import select_runs_and_transposes
from tests.support.loop_interpreter import elements

i, j, n, m = map(NamedInt, "ijnm")
s, t = NamedInt("s"), NamedInt("t")
VALUES = {"n": 3, "m": 4, "s": 9, "t": 50}


def loop(*body: Statement, start: Expr = ZERO) -> Loop:
    return Loop("i", start, n, body)


def selected(*body: Statement) -> Body:
    """Return what is selected for *body*, which writes the same elements."""
    made = select_runs_and_transposes(body)
    assert sorted(elements(made, VALUES)) == sorted(elements(body, VALUES))
    return made


def test_a_loop_over_contiguous_elements_becomes_a_run() -> None:
    assert selected(loop(CopyRun(add(i, t), 0, add(i, s), ONE))) == (CopyRun(t, 0, s, n),)
    assert selected(loop(FillRun(add(i, t), 0, ONE))) == (FillRun(t, 0, n),)
    assert selected(loop(AccumulateRun(add(i, t), 0, add(i, s), ONE))) == (AccumulateRun(t, 0, s, n),)


def test_a_run_begins_where_its_loop_does() -> None:
    (run,) = selected(loop(CopyRun(add(mul(2, i), t), 0, mul(2, i), IntLiteral(2)), start=ONE))
    assert isinstance(run, CopyRun)
    assert (run.to, run.start) == (add(t, 2), IntLiteral(2))


@pytest.mark.parametrize(
    "leaf",
    [
        CopyRun(mul(2, i), 0, i, ONE),
        CopyRun(i, 0, mul(2, i), ONE),
        CopyRun(i, 0, s, ONE),
        CopyRun(mul(-1, i), 0, mul(-1, i), ONE),
        CopyRun(i, 0, i, IntLiteral(2)),
        FillRun(mul(2, i), 0, ONE),
        AccumulateRun(t, 0, i, ONE),
    ],
)
def test_a_loop_over_other_elements_stays(leaf: Statement) -> None:
    assert selected(loop(leaf)) == (loop(leaf),)


def test_a_run_whose_length_depends_on_the_loop_stays() -> None:
    triangle = loop(CopyRun(mul(n, i), 0, mul(n, i), i))
    assert selected(triangle) == (triangle,)


CROSSED = CopyRun(add(mul(m, i), j, t), 0, add(i, mul(n, j), s), ONE)


def test_two_crossed_loops_become_a_transpose() -> None:
    made = selected(loop(Loop("j", ZERO, m, (CROSSED,))))
    assert made == (Transpose(t, Axis(n, m), 0, s, Axis(m, n)),)


def test_a_transpose_begins_where_its_loops_do() -> None:
    (transpose,) = selected(loop(Loop("j", IntLiteral(2), m, (CROSSED,)), start=ONE))
    assert isinstance(transpose, Transpose)
    assert (transpose.rows.count, transpose.columns.count) == (add(n, -1), add(m, -2))


@pytest.mark.parametrize("start", [ZERO, ONE])
def test_a_loop_that_runs_backwards_in_the_source_does_so_in_the_output(start: Expr) -> None:
    backwards = CopyRun(CROSSED.to, 0, add(mul(-1, i), mul(n, j), s), ONE)
    (transpose,) = selected(loop(Loop("j", ZERO, m, (backwards,)), start=start))
    assert isinstance(transpose, Transpose)
    assert transpose.rows == Axis(subtract(n, start), mul(-1, m))
    assert equal(transpose.start, add(s, 1, mul(-1, n)))


@pytest.mark.parametrize(
    "leaf",
    [
        CopyRun(add(mul(m, i), j), 0, add(mul(5, i), mul(20, j)), ONE),  # the source is not contiguous
        CopyRun(add(mul(5, i), mul(20, j)), 0, add(i, mul(n, j)), ONE),  # the output is not
        CopyRun(add(mul(20, i), mul(2, j)), 0, add(i, mul(n, j)), IntLiteral(2)),
    ],
)
def test_loops_that_are_not_crossed_stay(leaf: CopyRun) -> None:
    nested = loop(Loop("j", ZERO, m, (leaf,)))
    assert selected(nested) == (nested,)


def test_sums_are_no_transposes() -> None:
    """A transpose would add the terms in another order."""
    nested = loop(Loop("j", ZERO, m, (AccumulateRun(CROSSED.to, 0, CROSSED.start, ONE),)))
    assert selected(nested) == (nested,)


def test_a_loop_beside_a_sum_stays() -> None:
    """The sum would be done after all of the transpose, which replaces what it adds to."""
    both = loop(Loop("j", ZERO, m, (CROSSED,)), AccumulateRun(add(mul(m, i), t), 0, i, ONE))
    assert selected(both) == (both,)


def test_an_inner_loop_that_depends_on_the_outer_stays() -> None:
    nested = loop(Loop("j", i, m, (CROSSED,)))
    assert selected(nested) == (nested,)


def test_a_loop_is_done_for_its_statements_in_turn_beside_a_transpose() -> None:
    before, after = (FillRun(add(i, first), 0, ONE) for first in (100, 200))
    left, transpose, right = selected(loop(before, Loop("j", ZERO, m, (CROSSED,)), after))
    assert isinstance(transpose, Transpose)
    assert (left, right) == (loop(before), loop(after))


def test_a_loop_whose_statements_need_a_local_stays() -> None:
    nested = loop(Loop("j", ZERO, m, (CROSSED,)), Let("k", mul(2, i)))
    assert selected(nested) == (nested,)


def test_branches_are_selected() -> None:
    loops, run = loop(CopyRun(i, 0, i, ONE)), CopyRun(ZERO, 0, ZERO, n)
    assert selected(If(n, m, (loops,), (loops,))) == (If(n, m, (run,), (run,)),)
