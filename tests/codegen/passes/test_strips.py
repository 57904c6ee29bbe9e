"""`cut_into_strips` makes rows of the short runs of a loop, strip by strip."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, IntLiteral, Minimum, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO
from symlayout_codegen.ir.statements import (
    AccumulateRun,
    Body,
    CopyRows,
    CopyRun,
    FillRows,
    FillRun,
    Let,
    Loop,
    Statement,
    walk,
)
from symlayout_codegen.passes import strips
from symlayout_codegen.passes.strips import LONGEST_RUN, MOST_RUNS, STRIP, cut_into_strips
from tests.support.loop_interpreter import elements

i, n = NamedInt("i"), NamedInt("n")
THREE = IntLiteral(3)
COPY, FILL = CopyRun(mul(4, i), 0, mul(5, i), THREE), FillRun(add(mul(4, i), 3), 0, ONE)


def loop(*body: Statement, stop: Expr = n) -> Loop:
    return Loop("i", ZERO, stop, body)


def cut(*body: Statement) -> Body:
    return cut_into_strips(body, {"i", "n"})


def test_runs_side_by_side_become_rows_in_strips() -> None:
    first, rows = NamedInt("i_first"), NamedInt("i_rows")
    inside = (
        Let("i_first", mul(STRIP, NamedInt("i_strip"))),
        Let("i_rows", Minimum(IntLiteral(STRIP), add(n, mul(-1, first)))),
        CopyRows(mul(4, first), IntLiteral(4), 0, mul(5, first), IntLiteral(5), rows, THREE),
        FillRows(add(mul(4, first), 3), IntLiteral(4), 0, rows, ONE),
    )
    stop = FloorDiv(add(n, STRIP - 1), IntLiteral(STRIP))
    assert cut(loop(COPY, FILL)) == (Loop("i_strip", ZERO, stop, inside),)
    assert sorted(elements(cut(loop(COPY, FILL)), {"n": 600})) == sorted(elements((loop(COPY, FILL),), {"n": 600}))


@given(
    st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.integers(-3, 3)), min_size=2, max_size=4),
    st.integers(0, 2),
    st.integers(0, 9),
    st.integers(1, 5),
)
def test_every_run_of_every_step_is_in_one_strip(
    runs: list[tuple[int, bool, int]], start: int, stop: int, length: int
) -> None:
    """Whether the strips come out even or not."""
    step = sum(count for count, _, _ in runs) + 1
    body, at = list[Statement](), 0
    for count, filled, leap in runs:
        to = add(mul(step, i), at)
        copy = CopyRun(to, 0, add(mul(leap, i), 7 * at), IntLiteral(count))
        body.append(FillRun(to, 0, IntLiteral(count)) if filled else copy)
        at += count
    before = Loop("i", IntLiteral(start), NamedInt("stop"), tuple(body))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strips, "STRIP", length)
        made = cut_into_strips((before,), {"i", "stop"})
    assert any(isinstance(s, CopyRows | FillRows) for s in walk(made)) == (max(count for count, _, _ in runs) > 1)
    assert sorted(elements(made, {"stop": stop})) == sorted(elements((before,), {"stop": stop}))


@pytest.mark.parametrize(
    "body",
    [
        loop(COPY),  # one run: `fuse_rows` makes rows of it
        loop(COPY, FILL, stop=IntLiteral(STRIP - 1)),  # one strip
        loop(FILL, FillRun(mul(4, i), 0, ONE)),  # single elements
        loop(COPY, FillRun(add(mul(4, i), 3), 0, n)),  # a run of unknown length
        loop(FILL, CopyRun(mul(4, i), 0, i, IntLiteral(LONGEST_RUN + 1))),
        loop(COPY, FillRun(add(mul(5, i), 3), 0, ONE)),  # the steps differ
        loop(*(CopyRun(add(mul(LONGEST_RUN, i), k), 0, i, IntLiteral(1 + k % 2)) for k in range(MOST_RUNS + 1))),
        loop(COPY, Let("k", i), FILL),
    ],
)
def test_other_loops_stay(body: Loop) -> None:
    assert cut(body) == (body,)


def test_a_sum_keeps_its_order() -> None:
    """Both runs add to the same elements, step after step."""
    sums = loop(AccumulateRun(mul(2, i), 0, mul(5, i), THREE), AccumulateRun(mul(2, i), 0, mul(7, i), THREE))
    assert cut(sums) == (sums,)
