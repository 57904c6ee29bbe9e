"""A divisibility becomes a substitution: the points that remain are those at which it holds."""

from __future__ import annotations

import pytest
import sympy

import symlayout as sl
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, Poly, evaluate, symbol
from symlayout.algebra.solve_divisibility import Divisions, primitive_equation
from symlayout.errors import ShapeError

X, Y, B = symbol("x"), symbol("y"), symbol("b")


def facts() -> Facts:
    made = Facts()
    for name, low in (("x", 0), ("y", 0), ("b", 1)):
        made.declare(Dim(name, low, 6))
    return made


@pytest.mark.parametrize(("n", "d"), [(X, 2), (3 * X + 2 * Y + 1, 5), (X + Y, 3), (X * Y, 4), (X, B), (X + 2 * B, B)])
def test_the_quotient_times_the_divisor_is_the_number(n: Extent, d: Extent) -> None:
    f = facts()
    assert isinstance(f, Divisions)
    quotient = f.divide(n, d, "non_divisible")
    assert f.reduce(quotient * d) == f.reduce(n)


def test_a_number_that_never_divides_is_refused() -> None:
    with pytest.raises(ShapeError, match="never a multiple of 2"):
        facts().divide(6 * X + 3, 6, "non_divisible")


def test_an_equation_is_divided_by_its_content() -> None:
    equation = 6 * X - 4 * Y + 2
    assert isinstance(equation, Poly)
    e, _ = primitive_equation(equation)
    for x, y in ((1, 2), (0, 0), (3, 5)):
        assert abs(evaluate(e, {"x": x, "y": y})) == abs(3 * x - 2 * y + 1)


def test_a_minimum_of_which_an_even_number_is_required_is_divided() -> None:
    """The quotient that is made for one symbol, and then not used, may be new while the symbols are tried."""
    p = sl.dim("p")
    x = sl.assume(sl.tensor((sympy.Min(27 - p, 53 - 2 * p),), name="x"), "p <= 26", "p % 3 == 1")
    y = sl.reshape(sl.pad(x, [(1, 0)]), (-1, 2))
    assert y.subs({"p": 4}).shape == (12, 2)
