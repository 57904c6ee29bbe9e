"""Expressions of the backend mean what Python says, folded, substituted or compared; a sign is never wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from symlayout_codegen.ir.integer_expressions import (
    Expr,
    FloorDiv,
    FloorMod,
    IntLiteral,
    Maximum,
    Minimum,
    NamedInt,
    Product,
    Summation,
    add,
    mul,
)
from symlayout_codegen.ir.queries import (
    SignFacts,
    equal,
    floor_div,
    floor_mod,
    magnitude,
    maximum,
    minimum,
    negate,
    substitute,
    subtract,
)

NAMES = ("a", "b", "c")


def value(expr: Expr, at: Mapping[str, int]) -> int:
    """Return what an expression is, by its definition."""
    match expr:
        case IntLiteral(number):
            return number
        case NamedInt(name):
            return at[name]
        case Summation(terms):
            return sum(value(term, at) for term in terms)
        case Product(factors):
            found = 1
            for factor in factors:
                found *= value(factor, at)
            return found
        case FloorDiv(left, right):
            return value(left, at) // value(right, at)
        case FloorMod(left, right):
            return value(left, at) % value(right, at)
        case Minimum(left, right):
            return min(value(left, at), value(right, at))
        case Maximum(left, right):
            return max(value(left, at), value(right, at))
    raise AssertionError(expr)


def positive(rng: random.Random, depth: int) -> Expr:
    """Return a divisor, which is at least 1 where the first two names are at least 1."""
    if depth == 0 or rng.random() < 1 / 2:
        return IntLiteral(rng.randrange(1, 5)) if rng.random() < 1 / 2 else NamedInt(rng.choice(NAMES[:2]))
    left, right = positive(rng, depth - 1), positive(rng, depth - 1)
    return add(left, right) if rng.random() < 1 / 2 else mul(left, right)


def drawn(rng: random.Random, depth: int) -> Expr:
    if depth == 0:
        return IntLiteral(rng.randrange(-3, 4)) if rng.random() < 1 / 2 else NamedInt(rng.choice(NAMES))
    left, right = drawn(rng, depth - 1), drawn(rng, rng.randrange(depth))
    match rng.randrange(7):
        case 0:
            return FloorDiv(left, positive(rng, 1))
        case 1:
            return FloorMod(left, positive(rng, 1))
        case 2:
            return Minimum(left, right)
        case 3:
            return Maximum(left, right)
        case 4:
            return mul(left, right)
        case _:
            return add(left, right)


def points(low: int) -> Iterator[dict[str, int]]:
    """Yield small values for the names."""
    for number in range(5**3):
        yield {name: low + number // 5**k % 5 for k, name in enumerate(NAMES)}


@pytest.mark.sample(21)
@pytest.mark.parametrize("seed", range(150))
def test_what_is_made_of_expressions_has_their_values(seed: int) -> None:
    rng = random.Random(seed)
    e, f, divisor = drawn(rng, 3), drawn(rng, 2), positive(rng, 2)
    inside: dict[str, Expr] = {name: positive(rng, 1) for name in NAMES}  # which divisors may be, too
    substituted = substitute(e, inside)
    same = equal(e, f)
    for at in points(1):
        a, b, d = value(e, at), value(f, at), value(divisor, at)
        assert value(floor_div(e, divisor), at) == a // d
        assert value(floor_mod(e, divisor), at) == a % d
        assert value(minimum(e, f), at) == min(a, b)
        assert value(maximum(e, f), at) == max(a, b)
        assert value(negate(e), at) == -a
        assert value(subtract(e, f), at) == a - b
        assert value(substituted, at) == value(e, {name: value(made, at) for name, made in inside.items()})
        assert not same or a == b


@pytest.mark.sample(28)
@pytest.mark.parametrize("seed", range(150))
def test_a_sign_that_is_proved_is_right(seed: int) -> None:
    rng = random.Random(seed)
    facts = SignFacts(frozenset({NamedInt("a"), NamedInt("b")}), frozenset({NamedInt("c")}))
    e, f = drawn(rng, 2), drawn(rng, 2)
    least = [value(e, {**at, "c": at["c"] - 1}) for at in points(1)]  # a, b >= 1 and c >= 0
    assert not facts.is_positive(e) or min(least) >= 1
    assert not facts.is_nonnegative(e) or min(least) >= 0
    for at in points(1):
        low = {**at, "c": at["c"] - 1}
        assert value(facts.minimum(e, f), low) == min(value(e, low), value(f, low))
        assert value(facts.maximum(e, f), low) == max(value(e, low), value(f, low))


def test_signs_of_each_kind_are_proved() -> None:
    a, b, c = (NamedInt(name) for name in NAMES)
    facts = SignFacts(frozenset({a, b}), frozenset({c}))
    for e in (a, add(a, c), mul(a, b), Minimum(a, b), Maximum(a, c), Maximum(c, a), IntLiteral(1)):
        assert facts.is_positive(e), e
    for e in (c, mul(c, a), add(c, c), FloorDiv(c, a), FloorMod(negate(a), b), Minimum(c, a), IntLiteral(0)):
        assert facts.is_nonnegative(e), e
        assert not facts.is_positive(e), e
    for e in (negate(a), subtract(a, b), Minimum(negate(a), b), FloorMod(a, c), FloorDiv(a, c), IntLiteral(-1)):
        assert not facts.is_nonnegative(e), e


def test_a_magnitude_tells_large_steps_from_small_ones() -> None:
    a, b = NamedInt("a"), NamedInt("b")
    assert magnitude(IntLiteral(-6)) == 6
    assert magnitude(mul(a, b)) > magnitude(a) > magnitude(IntLiteral(1))
    assert magnitude(FloorMod(a, IntLiteral(4))) == 4
    assert magnitude(FloorDiv(mul(a, b), b)) == magnitude(a)
    assert magnitude(Maximum(a, IntLiteral(1))) == magnitude(a)
    assert magnitude(Minimum(IntLiteral(3), IntLiteral(2))) == 3
