"""Integer expressions print with few parentheses, with C's division only where that is the floor, or checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symlayout_codegen.emit.print_expressions import CheckedPrinter, ExpressionPrinter
from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, FloorMod, IntLiteral, NamedInt, add, evaluate, mul
from symlayout_codegen.ir.queries import SignFacts


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (add(mul(2, NamedInt("a")), -3), "2*a - 3"),
        (add(mul(-1, NamedInt("a")), NamedInt("b")), "-a + b"),
        (mul(2, add(NamedInt("a"), 1), NamedInt("b")), "2*(a + 1)*b"),
        (FloorDiv(NamedInt("n"), IntLiteral(2)), "n / 2"),
        (FloorDiv(add(NamedInt("n"), 1), IntLiteral(2)), "(n + 1) / 2"),
        (FloorDiv(NamedInt("a"), IntLiteral(2)), "sl_floor_div(a, 2)"),
        (FloorMod(NamedInt("n"), NamedInt("n")), "sl_floor_mod(n, n)"),
        (mul(2, FloorDiv(NamedInt("n"), IntLiteral(2))), "2*(n / 2)"),
        (add(NamedInt("n"), mul(-1, FloorMod(NamedInt("n"), IntLiteral(4)))), "n - n % 4"),
        (add(NamedInt("a"), -(2**40)), "a - INT64_C(1099511627776)"),
        (IntLiteral(-(2**63)), "INT64_MIN"),
    ],
    ids=str,
)
def test_expressions_print_with_few_parentheses(expr: Expr, text: str) -> None:
    assert ExpressionPrinter(SignFacts.of(nonnegative=[NamedInt("n")]))(expr) == text


@given(st.integers(-20, 20), st.integers(1, 9), st.integers(-5, 5))
def test_proved_division_is_floor_division(value: int, divisor: int, constant: int) -> None:
    """What prints as `/` truncates in C; it prints so only where that is the floor."""
    expr = FloorDiv(add(mul(2, NamedInt("n")), constant), IntLiteral(divisor))
    text = ExpressionPrinter(SignFacts.of(nonnegative=[NamedInt("n")]))(expr)
    if "sl_floor_div" not in text and value >= 0:
        exact = 2 * value + constant
        assert int(exact / divisor) == evaluate(expr, {"n": value})


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (NamedInt("n"), "n"),
        (add(mul(2, NamedInt("a")), -3), "sl_add(sl_mul(2, a, &overflow), -3, &overflow)"),
        (FloorDiv(NamedInt("n"), NamedInt("b")), "sl_checked_floor_div(n, b, &overflow)"),
    ],
    ids=["a name", "a sum", "a quotient"],
)
def test_each_step_is_checked_for_overflow(expr: Expr, text: str) -> None:
    assert CheckedPrinter()(expr) == text


def test_what_a_factor_of_0_takes_away_does_not_overflow() -> None:
    a, b, n = map(NamedInt, "abn")
    product, quotient = mul(a, b, n), FloorDiv(add(n, 2), IntLiteral(3))
    whole = "(a && b && n ? sl_mul(sl_mul(a, b, &overflow), n, &overflow) : 0)"
    assert CheckedPrinter(empty=True)(product) == whole
    assert CheckedPrinter(empty=True)(add(mul(a, b, n), mul(a, b))) == whole.replace("n", "sl_add(n, 1, &overflow)")
    assert CheckedPrinter(empty=True)(mul(a, b)) == "sl_mul(a, b, &overflow)"
    assert CheckedPrinter(empty=True)(quotient) == "sl_checked_ceil_div(n, 2, 3, &overflow)"
