"""Polynomials are the integers that they stand for, at every point."""

from __future__ import annotations

import itertools
import random

import pytest

from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    collapse,
    evaluate,
    exact_quotient,
    replace_monomial,
    substitute,
    symbol,
    terms_of,
    text,
)

H, W, B = symbol("h"), symbol("w"), symbol("b")
POINTS = [dict(zip("hwb", v, strict=True)) for v in itertools.product((-2, -1, 0, 1, 3), repeat=3)]


def random_extent(rnd: random.Random, depth: int = 3) -> Extent:
    if depth == 0 or rnd.random() < 0.2:
        return rnd.choice((H, W, B, rnd.randint(-3, 3)))
    a, b = random_extent(rnd, depth - 1), random_extent(rnd, depth - 1)
    return rnd.choice((a + b, a - b, a * b))


def at_all_points(e: Extent) -> list[int]:
    return [evaluate(e, p) for p in POINTS]


EXTENTS = [random_extent(random.Random(seed)) for seed in range(120)]
PAIRS = list(zip(EXTENTS, EXTENTS[1:] + EXTENTS[:1], strict=True))


@pytest.mark.parametrize("operator", [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b], ids=["+", "-", "*"])
def test_arithmetic_is_that_of_integers(operator: object) -> None:
    assert callable(operator)
    for a, b in PAIRS:
        expected = [operator(x, y) for x, y in zip(at_all_points(a), at_all_points(b), strict=True)]
        assert at_all_points(operator(a, b)) == expected


def test_equal_polynomials_have_one_form() -> None:
    for a, b in PAIRS:
        assert a + b - b == a
        assert hash(a * b) == hash(b * a)
        assert a * b == b * a


def test_a_constant_is_a_plain_int_and_no_coefficient_is_zero() -> None:
    assert type(H - H + 3) is int
    assert H * 0 == 0
    for a, b in PAIRS:
        for e in (a + b, a - b, a * b):
            assert isinstance(e, int) or (0 not in e.terms.values() and set(e.terms) != {()})


def test_an_exact_quotient_multiplies_back() -> None:
    found = 0
    for a, b in PAIRS:
        if b == 0:
            assert exact_quotient(a, b) is None
            continue
        quotient = exact_quotient(a * b, b)
        assert quotient == a
        other = exact_quotient(a, b)
        found += other is not None
        assert other is None or other * b == a
    assert found


@pytest.mark.parametrize(("n", "d"), [(H, 2), (H, H + 1), (1, H), (H * W + 1, H), (H * H, H + W), (3, 2)], ids=str)
def test_there_is_no_quotient_where_division_leaves_a_rest(n: Extent, d: Extent) -> None:
    assert exact_quotient(n, d) is None


def test_substitution_is_simultaneous() -> None:
    swap: dict[str, Extent] = {"h": W + 1, "w": H * B}
    for e in EXTENTS:
        expected = [evaluate(e, {**p, "h": p["w"] + 1, "w": p["h"] * p["b"]}) for p in POINTS]
        assert at_all_points(substitute(e, swap)) == expected


def test_a_linear_coefficient_and_the_rest_make_the_polynomial() -> None:
    found = 0
    for e in EXTENTS:
        if not isinstance(e, Poly):
            continue
        split = coefficient_of(e, "h")
        nonlinear = any(m.count("h") > 1 for m in e.terms)
        assert (split is None) == nonlinear
        if split is not None:
            found += 1
            assert split[0] * H + split[1] == e
    assert found > 20


def test_replacing_a_monomial_keeps_the_value_where_the_equation_holds() -> None:
    changed = 0
    for e in EXTENTS:
        replaced = replace_monomial(e, ("h", "w"), B * 2 - 1)
        where = [p for p in POINTS if p["h"] * p["w"] == 2 * p["b"] - 1]
        assert [evaluate(e, p) for p in where] == [evaluate(replaced, p) for p in where]
        changed += replaced != e
    assert changed > 20


def test_replacing_a_monomial_takes_time_in_proportion_to_the_terms() -> None:
    many = collapse({(f"n{k}",): 1 for k in range(20_000)}) + H * W
    assert len(terms_of(replace_monomial(many, ("h", "w"), B))) == 20_001


@pytest.mark.parametrize(
    ("e", "written"),
    [
        (0, "0"), (-H, "-h"), (H * H * 3 - W + 1, "3*h**2 - w + 1"), (H * W - H, "h*w - h"),
        (-2 * H * B + 5, "5 - 2*b*h"),
    ],
)  # fmt: skip
def test_text_is_highest_degree_first_but_starts_with_a_positive_term(e: Extent, written: str) -> None:
    assert text(e) == written
