"""`distribute` makes one loop around each statement where a transpose is one of them."""

from __future__ import annotations

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO
from symlayout_codegen.ir.statements import Axis, Body, CopyRun, FillRun, If, Let, Loop, Statement, Transpose
from symlayout_codegen.passes.distribute import distribute
from tests.support.loop_interpreter import elements

i, j, n = map(NamedInt, "ijn")
VALUES = {"n": 3}
TWO, THREE = IntLiteral(2), IntLiteral(3)
TRANSPOSE = Transpose(mul(20, i), Axis(TWO, THREE), 0, mul(6, i), Axis(THREE, TWO))
MARGIN = FillRun(add(mul(20, i), 6), 0, THREE)


def loop(*body: Statement) -> Loop:
    return Loop("i", ZERO, n, body)


def distributed(*body: Statement) -> Body:
    """Return what *body* becomes, which writes the same elements."""
    made = distribute(body)
    assert sorted(elements(made, VALUES)) == sorted(elements(body, VALUES))
    return made


def test_each_statement_beside_a_transpose_gets_a_loop() -> None:
    assert distributed(loop(MARGIN, TRANSPOSE)) == (loop(MARGIN), loop(TRANSPOSE))


def test_the_loop_goes_inside_of_the_loops_of_a_margin() -> None:
    margin = Loop("j", ZERO, TWO, (FillRun(add(mul(20, i), j, 6), 0, ONE),))
    assert distributed(loop(TRANSPOSE, margin)) == (loop(TRANSPOSE), Loop("j", ZERO, TWO, (loop(*margin.body),)))


def test_a_margin_whose_bounds_depend_on_the_loop_stays_inside() -> None:
    margin = Loop("j", i, THREE, (FillRun(add(mul(20, i), j, 6), 0, ONE),))
    assert distributed(loop(TRANSPOSE, margin)) == (loop(TRANSPOSE), loop(margin))


def test_a_margin_takes_the_locals_of_its_own_loop_along() -> None:
    at = Let("at", mul(2, j))
    margin = Loop("j", ZERO, TWO, (at, FillRun(add(mul(20, i), NamedInt("at"), 6), 0, ONE)))
    inner = (at, loop(*margin.body[1:]))
    assert distributed(loop(TRANSPOSE, margin)) == (loop(TRANSPOSE), Loop("j", ZERO, TWO, inner))


def test_a_margin_with_locals_of_both_loops_stays_inside() -> None:
    at = Let("at", add(mul(2, j), i))
    margin = Loop("j", ZERO, TWO, (at, FillRun(add(mul(20, i), NamedInt("at"), 6), 0, ONE)))
    assert distributed(loop(TRANSPOSE, margin)) == (loop(TRANSPOSE), loop(margin))


def test_a_loop_without_a_transpose_stays() -> None:
    runs = loop(CopyRun(mul(20, i), 0, i, THREE), MARGIN)
    assert distributed(runs) == (runs,)


@pytest.mark.parametrize(
    "other", [Let("k", mul(2, i)), If(i, TWO, (MARGIN,), ())], ids=lambda other: type(other).__name__
)
def test_a_loop_with_locals_or_tests_stays(other: Statement) -> None:
    body = loop(other, TRANSPOSE, FillRun(add(mul(20, i), 15), 0, ONE))
    assert distributed(body) == (body,)


def test_inner_loops_and_branches_are_distributed() -> None:
    inner, made = loop(MARGIN, TRANSPOSE), (loop(MARGIN), loop(TRANSPOSE))
    nine = IntLiteral(9)
    assert distributed(If(n, nine, (inner,), (inner,))) == (If(n, nine, made, made),)
