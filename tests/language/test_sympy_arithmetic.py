"""Arithmetic on expressions in dims is right at every value of the dims."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy

import symlayout as sl
from symlayout.language import sympy_arithmetic
from symlayout.language.sympy_arithmetic import (
    at_least,
    exact_quotients,
    exact_ratio,
    fraction_of,
    least,
    quotients,
    rounded_down,
    same_products,
)
from symlayout.language.sympy_bridge import extreme

H, W = sl.dim("H", min=2), sl.dim("W")
POINTS = [{H: h, W: w} for h in range(2, 9) for w in range(6)]


def at(e: Any, point: dict[Any, int]) -> Any:
    return e.subs(point) if hasattr(e, "subs") else e


def test_a_lower_bound_reads_each_floor_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A floor of floors that was read twice at each depth took time that is exponential in the depth."""
    read: list[Any] = []
    real = sympy_arithmetic.fraction_of

    def counted(e: Any) -> tuple[Any, Any]:
        read.append(e)
        return real(e)

    monkeypatch.setattr(sympy_arithmetic, "fraction_of", counted)
    e: Any = W
    for k in range(12):
        e = sympy.floor((e + k * W) / 3)
    assert least(e) == 0
    assert len(read) == 12


@pytest.mark.parametrize(
    "e", [H, 2 * H + 1, H - 5, -H, H // 2, (H * W + 3) // 4, sympy.Max(H, W), sympy.Min(H, W), H % 3, H - W, W // H],
    ids=str,
)  # fmt: skip
def test_a_lower_bound_is_one(e: Any) -> None:
    bound = least(e)
    values = [at(e, point) for point in POINTS]
    assert bound is None or bound <= min(values)
    if at_least(e, 0):
        assert min(values) >= 0


def test_a_bound_is_the_best_where_it_is_read_off() -> None:
    assert [least(e) for e in (7, H, 2 * H + 1, H // 2, -H)] == [7, 2, 5, 1, None]
    assert at_least(H - 2, 0)
    assert not at_least(H - 3, 0)


@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [(H * W, H, W), (6 * H, 4, None), (H**2 - W**2, H - W, None), (H * W + H, H, W + 1), (H, W, None), (12, 4, 3)],
    ids=str,
)
def test_a_ratio_is_exact_or_none(a: Any, b: Any, ratio: Any) -> None:
    found = exact_ratio(a, b)
    if ratio is not None:
        assert found == ratio
    if found is not None:
        assert all(at(a, point) == at(found, point) * at(b, point) for point in POINTS)


def test_floors_are_found_and_replaced_but_for_those_apart() -> None:
    kept = (H + 1) // 2
    assert quotients([H // 2 + W, 3, kept]) == {H // 2, kept}
    assert exact_quotients([H // 2 + W, 3, kept], apart_from=[kept]) == [H / 2 + W, 3, kept]


@pytest.mark.parametrize("value", [Fraction(7, 2), Fraction(-7, 2), H / 2 + 3, (H + W) / 3], ids=str)
def test_a_rounded_number_is_the_floor_of_its_fraction(value: Any) -> None:
    numerator, denominator = fraction_of(value)
    for point in POINTS:
        assert at(rounded_down(value), point) == at(numerator, point) // at(denominator, point)


def test_products_are_compared_when_they_are_multiplied_out() -> None:
    assert same_products([H + 2, W], [2, H / 2 + 1, W])
    assert same_products([H // 2, 3, W], [W, H // 2, 3])
    assert not same_products([H, W], [H, W + 1])


def test_maxima_of_large_expressions_are_not_compared_by_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    find = sympy.Max._find_localzeros.__func__

    def counted(cls: Any, values: Any, /, **options: Any) -> Any:
        compared.append(values)
        return find(cls, values, **options)

    monkeypatch.setattr(sympy.Max, "_find_localzeros", classmethod(counted))
    a, b = sl.dims("a b")
    assert extreme("max", (a, a + 1)) == a + 1
    assert len(compared) == 1
    large = [sum((k + n) * a**k * b for k in range(12)) for n in (1, 2)]
    found = extreme("max", large)
    assert len(compared) == 1
    assert set(found.args) == set(large)
