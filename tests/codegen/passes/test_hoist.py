"""`hoist` computes what does not change in a loop before the loop."""

from __future__ import annotations

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO
from symlayout_codegen.ir.statements import Body, CopyRun, If, Let, Loop, Statement
from symlayout_codegen.passes.hoist import hoist
from tests.support.loop_interpreter import elements

a, b, c, d, i, j, k = map(NamedInt, "abcdijk")
VALUES = {"a": 2, "b": 3, "c": 5, "d": 7}


def copy(to: Expr) -> CopyRun:
    return CopyRun(to, 0, ZERO, ONE)


def loops(*body: Statement, names: str = "ij") -> Statement:
    """Return *body* inside of loops of three steps."""
    for name in reversed(names):
        body = (Loop(name, ZERO, IntLiteral(3), body),)
    (outermost,) = body
    return outermost


def hoisted(*body: Statement) -> tuple[tuple[Let, ...], Body]:
    """Return what *body* becomes, which writes the same in the same order."""
    steps, made = hoist(body, set("abcdijk"))
    assert elements((*steps, *made), VALUES) == elements(body, VALUES)
    return steps, made


def test_a_sum_of_outer_names_becomes_a_local_of_the_outer_loop() -> None:
    steps, (outer,) = hoisted(loops(copy(add(mul(a, i), mul(b, i), c, j))))
    at = Let("at_i", add(c, mul(a, i), mul(b, i)))
    assert outer == loops(at, loops(copy(add(NamedInt("at_i"), j)), names="j"), names="i")
    assert steps == ()


def test_a_stride_becomes_a_product_and_a_local_of_the_kernel() -> None:
    steps, (outer,) = hoisted(loops(copy(mul(add(mul(a, b), a, b, 1), add(c, 2), i)), names="i"))
    assert steps == (Let("step", mul(add(a, 1), add(b, 1), add(c, 2))),)
    assert outer == loops(copy(mul(NamedInt("step"), i)), names="i")


def test_equal_expressions_share_a_local() -> None:
    first, again = mul(a, b, c, d, i), mul(d, c, b, a, i)
    steps, _ = hoisted(loops(copy(first), copy(add(again, 1000)), names="i"))
    assert len(steps) == 1


@pytest.mark.parametrize("cheap", [add(i, j), add(mul(a, i), j), mul(a, b, i)])
def test_a_cheap_expression_stays(cheap: Expr) -> None:
    body = loops(copy(cheap))
    assert hoisted(body) == ((), (body,))


@pytest.mark.parametrize("other", [mul(i, j, i, j), add(mul(a, i), mul(b, i), FloorDiv(j, IntLiteral(2)))])
def test_what_changes_or_is_no_polynomial_stays(other: Expr) -> None:
    body = loops(copy(other))
    assert hoisted(body) == ((), (body,))


def test_what_needs_a_local_stays_after_it() -> None:
    body = loops(Let("k", mul(2, j)), copy(add(mul(a, k), mul(b, k), mul(c, i), mul(d, i))))
    _, (outer,) = hoisted(body)
    assert isinstance(outer, Loop)
    at_i, inner = outer.body
    assert at_i == Let("at_i", add(mul(c, i), mul(d, i)))
    assert isinstance(inner, Loop)
    assert inner.body[0] == Let("k", mul(2, j))


def test_nothing_moves_out_of_a_branch_that_may_not_be_taken() -> None:
    """What is computed there may have no meaning elsewhere: an overflow would be an error of the kernel."""
    leaf = CopyRun(add(i, mul(a, b, c, d)), 0, i, ONE)
    steps, body = hoist((If(a, b, (leaf,), ()),), set("abcdi"))
    assert not steps
    assert isinstance(body[0], If)
    assert body[0].inside == (leaf,)
    assert hoist((leaf,), set("abcdi"))[0]
