"""A product of linear factors is found where there is one, and has the same values."""

from __future__ import annotations

import itertools

import pytest

from symlayout_codegen.ir.factor_polynomial import factored
from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, IntLiteral, NamedInt, Product, add, evaluate, mul

N, M = NamedInt("n"), NamedInt("m")
EXPRESSIONS: list[Expr] = [
    mul(add(N, 1), add(M, -2)),
    mul(3, add(N, 2), add(N, 2)),
    mul(N, add(M, 4)),
    add(mul(N, M), 1),
    add(mul(6, N), mul(4, M), 2),
    add(N, mul(-1, N)),
    add(FloorDiv(N, IntLiteral(2)), M),
]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_values_stay(expr: Expr) -> None:
    for n, m in itertools.product(range(-3, 5), repeat=2):
        values = {"n": n, "m": m}
        assert evaluate(factored(expr), values) == evaluate(expr, values)


def test_expanded_products_are_found_again() -> None:
    sum_ = add(mul(2, N, M), mul(2, N), mul(2, M), 2)
    assert isinstance(factored(sum_), Product)
    assert factored(sum_) == mul(2, add(M, 1), add(N, 1))


def test_what_has_no_factors_stays() -> None:
    for expr in (add(mul(N, M), 1), add(FloorDiv(N, IntLiteral(2)), M)):
        assert factored(expr) == expr
    assert factored(add(N, mul(-1, N))) == IntLiteral(0)
