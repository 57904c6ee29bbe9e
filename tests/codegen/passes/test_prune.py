"""`prune` drops locals that nothing reads and loops with nothing in them."""

from __future__ import annotations

import pytest

from symlayout_codegen.ir.integer_expressions import NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO
from symlayout_codegen.ir.statements import CopyRun, If, Interval, Let, Loop, Share, Statement
from symlayout_codegen.passes.prune import prune
from tests.support.loop_interpreter import elements

i, a, b, n = map(NamedInt, ("i", "a", "b", "n"))
COPY = CopyRun(i, 0, a, ONE)


def loop(*body: Statement) -> Loop:
    return Loop("i", ZERO, n, body)


def test_a_local_that_nothing_reads_goes() -> None:
    body = (Let("a", n), Let("b", n), loop(Let("c", i), COPY))
    assert prune(body) == (Let("a", n), loop(COPY))
    assert elements(prune(body), {"n": 3}) == elements(body, {"n": 3})


def test_a_local_that_only_dropped_statements_read_goes() -> None:
    assert prune((Let("a", n), Let("b", mul(2, a)), Loop("i", a, b, ()))) == ()


@pytest.mark.parametrize(
    "test", [If(n, ONE, (COPY,), ()), If(n, ONE, (), (COPY,)), If(a, ONE, (loop(CopyRun(i, 0, i, ONE)),), ())]
)
def test_a_local_that_a_test_or_a_branch_reads_stays(test: If) -> None:
    assert prune((Let("a", n), test)) == (Let("a", n), test)


def test_loops_and_tests_with_nothing_in_them_go() -> None:
    assert prune((loop(loop()), If(n, ONE, (loop(),), ()))) == ()
    assert prune((loop(If(n, ONE, (), (loop(),)), COPY),)) == (loop(COPY),)


@pytest.mark.parametrize("bounds", [Interval("a", "b", ZERO, n, n, n), Share("share", (("a", "b", n),))])
def test_bounds_stay_if_either_is_read(bounds: Statement) -> None:
    for name in (a, b):
        body = (bounds, loop(CopyRun(i, 0, add(i, name), ONE)))
        assert prune(body) == body
    assert prune((bounds, loop(CopyRun(i, 0, i, ONE)))) == (loop(CopyRun(i, 0, i, ONE)),)


def test_the_bounds_of_a_loop_are_read() -> None:
    body = (Let("a", n), Loop("i", ZERO, a, (CopyRun(i, 0, i, ONE),)))
    assert prune(body) == body
