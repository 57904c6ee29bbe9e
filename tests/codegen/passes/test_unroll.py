"""`unroll` writes out short loops over one leaf."""

from __future__ import annotations

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO
from symlayout_codegen.ir.statements import AccumulateRun, CopyRows, CopyRun, FillRun, If, Let, Loop, Statement
from symlayout_codegen.passes.unroll import unroll
from tests.support.loop_interpreter import elements

i, k, n = map(NamedInt, "ikn")


def loop(stop: int, *body: Statement, start: int = 0) -> Loop:
    return Loop("k", IntLiteral(start), IntLiteral(stop), body)


def test_a_short_loop_becomes_its_steps() -> None:
    outer = Loop("i", ZERO, n, (loop(3, CopyRun(add(mul(2, i), k), 0, add(i, mul(9, k)), ONE), start=1),))
    made = unroll((outer,))
    steps = (CopyRun(add(mul(2, i), 1), 0, add(i, 9), ONE), CopyRun(add(mul(2, i), 2), 0, add(i, 18), ONE))
    assert made == (Loop("i", ZERO, n, steps),)
    assert elements(made, {"n": 4}) == elements((outer,), {"n": 4})


@pytest.mark.parametrize("leaf", [FillRun(mul(5, k), 0, k), AccumulateRun(ZERO, 0, k, ONE)])
def test_fills_and_sums_keep_their_order(leaf: Statement) -> None:
    made = unroll((loop(4, leaf),))
    assert len(made) == 4
    assert elements(made) == elements((loop(4, leaf),))


@pytest.mark.parametrize(
    "body",
    [
        loop(5, CopyRun(k, 0, k, ONE)),  # long
        Loop("k", ZERO, n, (CopyRun(k, 0, k, ONE),)),  # of unknown length
        loop(2, CopyRun(k, 0, k, ONE), CopyRun(add(k, 9), 0, k, ONE)),
        loop(2, Let("at", k), CopyRun(NamedInt("at"), 0, k, ONE)),
        loop(2, CopyRows(k, n, 0, k, n, n, ONE)),
    ],
)
def test_other_loops_stay(body: Loop) -> None:
    assert unroll((body,)) == (body,)


def test_branches_are_unrolled() -> None:
    short = loop(2, FillRun(k, 0, ONE))
    steps = (FillRun(ZERO, 0, ONE), FillRun(ONE, 0, ONE))
    assert unroll((If(n, ONE, (short,), (short,)),)) == (If(n, ONE, steps, steps),)
