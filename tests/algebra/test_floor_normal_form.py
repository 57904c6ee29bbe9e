"""Floor division in normal form is Python's, at every point of small boxes and for symbolic radices."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

import symlayout as sl
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.floor_normal_form import Coordinate, floor_div, floor_mod
from symlayout.algebra.polynomial import Extent, evaluate, names_of, symbol
from symlayout.errors import InconclusiveError
from symlayout.run.lower import lower

H, W, B, C = symbol("H"), symbol("W"), symbol("b"), symbol("c")
X, Y = symbol("#0"), symbol("#1")
DIMS = (Dim("H", 1), Dim("W", 1), Dim("b", 1), Dim("c", 1))


def facts_of(*extents: Extent) -> Facts:
    """Return facts with the dims, which are >= 1, and one digit for each extent."""
    facts = Facts()
    for d in DIMS:
        facts.declare(d)
    for k, extent in enumerate(extents):
        facts.add_digit(f"#{k}", extent)
    return facts


def environments(facts: Facts, most: int = 3) -> Iterator[dict[str, int]]:
    """Yield the values of all symbols at all feasible points of a box."""
    digits = [n for n in facts.bounded if n not in facts.floors]
    for values in itertools.product(range(1, most + 1), repeat=len(DIMS)):
        point = facts.values(dict(zip((d.name for d in DIMS), values, strict=True)))
        if not all(r.holds(point) for r in facts.requirements):
            continue
        extents = [evaluate(facts.reduce(facts.high[n] or 0), point) + 1 for n in digits]
        for spots in itertools.product(*map(range, extents)):
            found = {**point, **dict(zip(digits, spots, strict=True))}
            for name in facts.bounded:
                if name in facts.floors:
                    numerator, denominator = (evaluate(e, found) for e in facts.floors[name])
                    found[name] = numerator // denominator
            if all(evaluate(fact, found) >= 0 for fact in facts.known):
                yield found


# ---------------------------------------------------------------------- the rules

# Each rule as plain integer arithmetic.  `when` is its side condition; without it the two sides differ.


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    before: Callable[..., int]
    after: Callable[..., int]
    when: Callable[..., bool]


RULES = (
    Rule("a remainder", lambda q, r, k: (k * q + r) // k, lambda q, r, k: q, lambda q, r, k: 0 <= r < k),
    Rule("one above", lambda q, r, k: (k * q + r) // k, lambda q, r, k: q + 1, lambda q, r, k: k <= r < 2 * k),
    Rule("one below", lambda q, r, k: (k * q + r) // k, lambda q, r, k: q - 1, lambda q, r, k: -k <= r < 0),
    Rule(
        "a factor",
        lambda r, g, m: r // (g * m),
        lambda r, g, m: r // g // m,
        lambda r, g, m: g >= 1 and m >= 1,
    ),
    Rule(
        "a floor in a floor",
        lambda n, d, k: (n // d + 2) // k,
        lambda n, d, k: (n + 2 * d) // (d * k),
        lambda n, d, k: d >= 1 and k >= 1,
    ),
    Rule(
        "a falling number",
        lambda r, _, k: r // k,
        lambda r, _, k: -((k - 1 - r) // k),
        lambda r, _, k: k >= 1,
    ),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_holds_where_it_says_and_only_there(rule: Rule) -> None:
    points = [p for p in itertools.product(range(-7, 8), repeat=3) if _defined(rule, p)]
    where = [p for p in points if rule.when(*p)]
    assert len(where) > 100
    assert all(rule.before(*p) == rule.after(*p) for p in where)
    assert any(rule.before(*p) != rule.after(*p) for p in points if not rule.when(*p))


def _defined(rule: Rule, p: tuple[int, ...]) -> bool:
    try:
        return rule.before(*p) is not None and rule.after(*p) is not None
    except ZeroDivisionError:
        return False


@dataclass(frozen=True, slots=True)
class Division:
    """``e // k`` over digits of the given extents, and what it has to be; None if it stays a floor."""

    name: str
    extents: tuple[Extent, ...]
    e: Extent
    k: Extent
    result: Extent | None


DIVISIONS = (
    Division("a remainder is dropped", (B,), B * H + X, B, H),
    Division("a remainder that is not known to be small stays", (B + 1,), B * H + X, B, None),
    Division("a rest in the next cell", (B,), B * H + B + X, B, H + 1),
    Division("a rest that may reach the cell after that stays", (B + 1,), B * H + B + X, B, None),
    Division("a rest in the cell below", (B,), B * H - 1 - X, B, H - 1),
    Division("a rest that may be two below stays", (B + 1,), B * H - 1 - X, B, None),
    Division("the factors of a symbolic divisor", (H, B), B * X + Y, B * H, 0),
    Division("the factors of a symbolic divisor in the middle", (H, B), B * H * W + B * X + Y, B * H, W),
    Division("a mixed radix number, by its low radix", (H, B), B * X + Y, B, X),
    Division("a number that falls", (B,), -X, B, None),
    Division("integers", (), -7, 2, -4),
    Division("by 1", (H,), X, 1, X),
    Division("a concrete radix", (H, 3), 6 * X + 2 * Y + 1, 6, X),
    Division("a gcd of concrete radices", (2, 3), 6 * X + 4 * Y, 12, None),
)


@pytest.mark.parametrize("division", DIVISIONS, ids=lambda division: division.name)
def test_a_division_is_done_where_it_can_be(division: Division) -> None:
    facts = facts_of(*division.extents)
    found = floor_div(facts, division.e, division.k)
    if division.result is not None:
        assert found == division.result
    else:
        assert names_of(found) & facts.floors.keys()
    check(facts, found, division.e, division.k)


def check(facts: Facts, found: Extent, e: Extent, k: Extent) -> None:
    points = list(environments(facts))
    assert points
    for p in points:
        assert evaluate(facts.reduce(found), p) == evaluate(e, p) // evaluate(k, p), p


def test_floors_of_floors_become_one() -> None:
    facts = facts_of(H)
    once = floor_div(facts, X + 1, B)
    assert floor_div(facts, once + W, C) == floor_div(facts, X + 1 + W * B, B * C)
    check(facts, floor_div(facts, X + 1 + W * B, B * C), X + 1 + W * B, B * C)


def test_quotient_and_remainder_fold_back() -> None:
    facts = facts_of(H)
    e = X + W
    assert B * floor_div(facts, e, B) + floor_mod(facts, e, B) == e


def test_a_chain_of_reshapes_cancels_where_radices_do_not_line_up() -> None:
    facts = facts_of(8, 3)
    number = 3 * X + Y
    row, column = floor_div(facts, number, 4), floor_mod(facts, number, 4)
    assert facts.reduce(4 * row + column) == number
    assert floor_div(facts, 4 * row + column, 3) == X


def test_a_divisor_that_may_be_0_is_inconclusive() -> None:
    facts = Facts()
    facts.declare(Dim("H"))
    with pytest.raises(InconclusiveError) as caught:
        floor_div(facts, 5, H)
    assert caught.value.claim == "H >= 1"


def test_a_maximum_of_the_divisor_is_not_followed_without_end() -> None:
    n, p = sl.dim("N"), sl.dim("p", min=1)
    x = sl.tensor((n + 1,), name="x")
    y = sl.pad(sl.getitem(sl.pad(x, ((2, p),)), slice(2, 2147483647), bounds="numpy"), ((0, p),), mode="wrap")
    lower(y)  # the division of an end by the extent, which is a minimum, ended in a RecursionError


def test_a_floor_that_later_facts_divide_is_divided() -> None:
    from symlayout.algebra.floor_normal_form import renew

    facts = facts_of()
    floor = floor_div(facts, H + 1, 2)
    facts.divide(H, 2, "even")
    renew(facts)
    assert facts.to_user(facts.reduce(floor)) == (H, 2)


# ---------------------------------------------------------------------- random expressions


@dataclass(frozen=True, slots=True)
class Both:
    """A coordinate in normal form, and the same as a function of the digits and dims."""

    coordinate: Coordinate
    at: Callable[[dict[str, int]], int]


def random_both(rnd: random.Random, facts: Facts, depth: int) -> Both:
    if depth == 0 or rnd.random() < 0.15:
        name = rnd.choice(("#0", "#0", "#1", "#1", "H", "W", "b", "c"))
        number = rnd.randint(-3, 4)
        if rnd.random() < 0.2:
            return Both(Coordinate(number, facts), lambda p: number)
        return Both(Coordinate(symbol(name), facts), lambda p: p[name])
    a = random_both(rnd, facts, depth - 1)
    kind = rnd.choice(("+", "-", "*", "//", "//", "%"))
    if kind in ("//", "%"):
        k = rnd.choice((2, 3, 4, B, C, B * C, 2 * B, B + 1, W))
        if kind == "//":
            return Both(a.coordinate // k, lambda p: a.at(p) // evaluate(k, p))
        return Both(a.coordinate % k, lambda p: a.at(p) % evaluate(k, p))
    if kind == "*":
        factor = rnd.choice((2, 3, -1, B, C, H))
        return Both(a.coordinate * factor, lambda p: a.at(p) * evaluate(factor, p))
    b = random_both(rnd, facts, depth - 1)
    if kind == "+":
        return Both(a.coordinate + b.coordinate, lambda p: a.at(p) + b.at(p))
    return Both(a.coordinate - b.coordinate, lambda p: a.at(p) - b.at(p))


@pytest.mark.parametrize("start", range(0, 240, 40))
def test_random_expressions_are_what_python_computes(start: int) -> None:
    shown = 0
    for seed in range(start, start + 40):
        rnd = random.Random(seed)
        facts = facts_of(*(rnd.choice((2, 4, B, 2 * B, B * C, H, H + 1)) for _ in range(2)))
        if rnd.random() < 0.4:
            facts.assume_nonnegative(rnd.choice((X - 1, H - X - 2, X - Y, B + C - 3 - Y)))
        if rnd.random() < 0.3:
            facts.divide(rnd.choice((H, H * W, H + W)), rnd.choice((2, B)), "divide")
        both = random_both(rnd, facts, 4)
        e = facts.reduce(both.coordinate.e)
        low, high = facts.interval(e)
        goal = e + rnd.choice((0, 1, -(low or 0)))
        nonnegative = facts.nonnegative(goal)
        shown += nonnegative
        for p in itertools.islice(environments(facts, 2), 0, None, 1 + seed % 2):
            value = evaluate(e, p)
            assert value == both.at(p), f"seed {seed} at {p}"
            assert low is None or low <= value, f"seed {seed} at {p}"
            assert high is None or value <= high, f"seed {seed} at {p}"
            assert not nonnegative or evaluate(goal, p) >= 0, f"seed {seed} at {p}"
    assert shown


def test_a_quotient_of_a_dim_that_nothing_restricts_needs_no_samples() -> None:
    facts = Facts()
    for name in ("H", "W", "N"):
        facts.declare(Dim(name))
    facts.learn(10 - H - W)
    assert facts.to_user(floor_div(facts, 3 * symbol("N") + 1, 2))[0] == symbol("((N + 1)//2)") + symbol("N")
    assert facts._samples is None
    assert floor_div(facts, H + W, 11) == 0  # restricted: the one value at the samples is proved


def test_a_dim_moves_freely_if_only_its_lower_bound_restricts_it() -> None:
    facts = Facts()
    for d in (Dim("H"), Dim("W"), Dim("N"), Dim("M", 0, 9), Dim("P"), Dim("Q")):
        facts.declare(d)
    n, m, p, q = symbol("N"), symbol("M"), symbol("P"), symbol("Q")
    facts.learn(W - H)
    facts.require_zero(p * q - 12, "area")
    f = floor_div(facts, n, 2)
    free = {
        e: facts.moves_freely(e) for e in (n + 1, n + H, -n, H + W, m, p, n * n, n * H + n, f, 3, n * W + 2 * q + n)
    }
    assert list(free.values()) == [True, True, True, False, False, False, False, False, False, False, False]
