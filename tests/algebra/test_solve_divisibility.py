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


@pytest.mark.parametrize(
    ("n", "d"),
    [
        (X, 2), (3 * X + 2 * Y + 1, 5), (X + Y, 3), (X * Y, 4), (X, B), (X + 2 * B, B), (2 * X, B), (4 * X + 6, B),
    ],
)  # fmt: skip
def test_the_quotient_times_the_divisor_is_the_number(n: Extent, d: Extent) -> None:
    f = facts()
    assert isinstance(f, Divisions)
    quotient = f.divide(n, d, "non_divisible")
    assert f.reduce(quotient * d) == f.reduce(n)


def test_a_number_that_never_divides_is_refused() -> None:
    with pytest.raises(ShapeError, match="never a multiple of 2"):
        facts().divide(6 * X + 3, 6, "non_divisible")


def test_a_turned_system_writes_a_multiple_as_the_divisor_times_the_quotient() -> None:
    before = facts()
    t = before.divide(2 * X, B, "non_divisible")
    assert before.reduce(3 * B * t) == 6 * X
    f = before.turn()
    assert f is not None
    assert f.turn() is None
    assert facts().turn() is None
    assert f.reduce(5 * X + 2 * X * Y - 1) == 2 * B * t + X + B * t * Y - 1
    assert f.reduce(-X) == -X


def test_a_rule_whose_value_it_would_rewrite_again_is_not_made() -> None:
    f = facts()
    f.turned = True
    f.require_zero(2 * X - X * X * B - Y * X, "rank")
    assert not any(rule.loops() for rule in f.rules)
    assert f.reduce(4 * X) in (4 * X, 2 * X * X * B + 2 * Y * X)


def test_a_quotient_by_a_known_divisor_is_made_of_the_known_quotient() -> None:
    """Else nothing would say that ``W >= 1`` where ``(2*x*y - b)/b`` is."""
    f = facts()
    t = f.divide(2 * X, B, "non_divisible")
    before = len(f.requirements)
    assert f.divide(2 * X * Y - B, B, "non_divisible") == t * Y - 1
    assert f.divide(4 * X * X, B, "non_divisible") == f.reduce(2 * t * X)
    assert len(f.requirements) == before
    f.divide(2 * X * Y + Y, B, "non_divisible")
    assert len(f.requirements) == before + 1


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
