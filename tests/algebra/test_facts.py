"""What `Facts` says is true at every point that its requirements allow, and it allows the right points."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import pytest

from symlayout.algebra import floor_normal_form
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, collapse, evaluate, symbol
from symlayout.errors import ShapeError
from tests.support.certificates.derivations import identities

H, W, B = symbol("H"), symbol("W"), symbol("b")


# ---------------------------------------------------------------------- random systems


class Undefined(Exception):
    """A division that is not exact, or not by something >= 1."""


@dataclass(frozen=True, slots=True)
class Term:
    """An extent, and a function of the dims that says by itself what it is."""

    e: Extent
    at: Callable[[dict[str, int]], int]


@dataclass(slots=True)
class Random:
    """A random system of facts beside the raw statements that it was made of."""

    rnd: random.Random
    dims: list[Dim]
    facts: Facts = field(default_factory=Facts)
    pool: list[Term] = field(default_factory=list)
    raw: list[Callable[[dict[str, int]], bool]] = field(default_factory=list)

    def term(self, depth: int = 2) -> Term:
        rnd = self.rnd
        if depth == 0 or rnd.random() < 0.3:
            number = rnd.randint(-3, 5)
            return Term(number, lambda p: number) if rnd.random() < 0.25 else rnd.choice(self.pool)
        a, b = self.term(depth - 1), self.term(depth - 1)
        kind = rnd.choice("++-*")
        if kind == "+":
            return Term(a.e + b.e, lambda p: a.at(p) + b.at(p))
        if kind == "-":
            return Term(a.e - b.e, lambda p: a.at(p) - b.at(p))
        return Term(a.e * b.e, lambda p: a.at(p) * b.at(p))

    def grow(self) -> None:
        """Add one statement, or one derived symbol; what `Facts` raises passes through."""
        rnd, facts = self.rnd, self.facts
        t = self.term()
        kind = rnd.choice(("divide", "divide", "nonnegative", "zero", "max", "min", "floor"))
        if kind == "divide":
            k = rnd.choice((2, 3, 4, 6))
            divisor = rnd.choice((Term(k, lambda p: k), self.term(1)))
            self.raw.append(lambda p: divisor.at(p) >= 1)
            facts.require_nonnegative(facts.reduce(divisor.e) - 1, "divisor")
            self.raw.append(lambda p: t.at(p) % divisor.at(p) == 0)
            quotient = facts.divide(t.e, divisor.e, "divide")
            floor_normal_form.renew(facts)
            self.pool.append(Term(facts.reduce(quotient), lambda p: exact(t.at(p), divisor.at(p))))
        elif kind == "nonnegative":
            self.raw.append(lambda p: t.at(p) >= 0)
            facts.require_nonnegative(t.e, "nonnegative")
        elif kind == "zero":
            self.raw.append(lambda p: t.at(p) == 0)
            facts.require_zero(t.e, "zero")
        elif kind == "floor":
            k = rnd.choice((2, 3, 4))
            self.pool.append(Term(floor_normal_form.floor_div(facts, t.e, k), lambda p: t.at(p) // k))
        else:
            other = self.term(1)
            largest = kind == "max"
            e = (facts.maximum if largest else facts.minimum)(t.e, other.e)
            self.pool.append(Term(e, lambda p: (max if largest else min)(t.at(p), other.at(p))))

    def points(self, most: int = 6) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
        """Return the points of the box where the raw statements hold, and those where they do not."""
        found: tuple[list[dict[str, int]], list[dict[str, int]]] = [], []
        lows = [d.nearest() if d.min is None else d.min for d in self.dims]
        ranges = [range(low, (most if d.max is None else d.max) + 1) for low, d in zip(lows, self.dims, strict=True)]
        for values in itertools.product(*ranges):
            if all(v % d.multiple_of == 0 for v, d in zip(values, self.dims, strict=True)):
                point = {d.name: v for d, v in zip(self.dims, values, strict=True)}
                found[0 if self.holds(point) else 1].append(point)
        return found

    def holds(self, point: dict[str, int]) -> bool:
        try:
            return all(statement(point) for statement in self.raw)
        except Undefined:
            return False


def exact(a: int, b: int) -> int:
    if b < 1 or a % b:
        raise Undefined
    return a // b


def random_system(seed: int) -> tuple[Random, ShapeError | None]:
    """Return a system, and the error that says it has no points, if it says so."""
    rnd = random.Random(seed)
    dims = []
    for name in ("H", "W", "b")[: rnd.choice((1, 1, 2, 2, 3))]:
        low = rnd.choice((0, 0, 0, 1, 2, -2))
        dims.append(Dim(name, low, rnd.choice((None, None, low, low + 2)), rnd.choice((1, 1, 1, 2, 3))))
    system = Random(rnd, dims, pool=[Term(symbol(d.name), itemgetter(d.name)) for d in dims])
    try:
        for d in dims:
            system.facts.declare(d)
        for _ in range(rnd.randint(1, 4)):
            system.grow()
    except ShapeError as error:
        return system, error
    return system, None


SEEDS = range(250)


@pytest.mark.parametrize("seed", range(0, len(SEEDS), 25))
def test_a_random_system_is_true_where_its_statements_are(seed: int) -> None:
    solved = 0
    for s in SEEDS[seed : seed + 25]:
        system, error = random_system(s)
        feasible, infeasible = system.points()
        if error is not None:
            assert not feasible, f"seed {s}: {error}, but {feasible[0]} meets all"
            continue
        solved += 1
        check_system(system, feasible, infeasible, f"seed {s}")
    assert solved


def check_system(system: Random, feasible: Any, infeasible: Any, label: str) -> None:
    facts = system.facts
    for point in infeasible:
        values = facts.values(point)
        assert not all(r.holds(values) for r in facts.requirements), f"{label}: allows {point}"
    for point in feasible:
        values = facts.values(point)
        assert all(r.holds(values) for r in facts.requirements), f"{label}: forbids {point}"
        for name, low in facts.low.items():
            high = facts.high[name]
            assert low is None or values[name] >= low, f"{label}: {name} >= {low} at {point}"
            assert high is None or values[name] <= evaluate(high, values), f"{label}: {name} <= {high} at {point}"
        assert all(evaluate(fact, values) >= 0 for fact in facts.known), f"{label}: a fact fails at {point}"
        for monomial, value in facts.rules:
            assert evaluate(collapse({monomial: 1}), values) == evaluate(value, values), f"{label}: {monomial}"
        for t in system.pool:
            assert evaluate(facts.reduce(t.e), values) == t.at(point), f"{label}: {t.e} at {point}"
            top, bottom = facts.to_user(facts.reduce(t.e))
            assert evaluate(top, values) == t.at(point) * evaluate(bottom, values), f"{label}: {t.e} to the user"
    for _ in range(4):
        t = system.term(3)
        found = [t.at(point) for point in feasible]
        low, high = facts.interval(facts.reduce(t.e))
        assert all((low is None or low <= v) and (high is None or v <= high) for v in found), f"{label}: {t.e}"
        shift = system.rnd.choice((0, 1, -min(found, default=0)))
        if facts.nonnegative(t.e + shift):
            assert all(v + shift >= 0 for v in found), f"{label}: {t.e} + {shift} >= 0"


# ---------------------------------------------------------------------- divisibility


def facts_of(*dims: Dim) -> Facts:
    facts = Facts()
    for d in dims:
        facts.declare(d)
    return facts


def test_constant_moduli_of_one_dim_go_together() -> None:
    facts = facts_of(Dim("H"))
    facts.divide(H, 4, "four")
    facts.divide(H, 6, "six")
    assert facts.to_user(facts.divide(H, 12, "twelve")) == (H, 12)
    assert len(facts.requirements) == 2


def test_contradictory_moduli_are_infeasible() -> None:
    facts = facts_of(Dim("H"))
    facts.divide(H, 4, "four")
    with pytest.raises(ShapeError, match="never a multiple of 2") as caught:
        facts.divide(H + 1, 2, "odd")
    assert caught.value.kind == "infeasible"


@pytest.mark.parametrize("dim", [Dim("H", 1, 1, 2), Dim("H", -2, -2, 3), Dim("H", 4, 5, 3), Dim("H", 2, 1)], ids=str)
def test_a_dim_without_values_is_infeasible(dim: Dim) -> None:
    with pytest.raises(ShapeError) as caught:
        Facts().declare(dim)
    assert caught.value.kind == "infeasible"


def test_a_quotient_keeps_the_bounds_of_what_it_divides() -> None:
    facts = facts_of(Dim("H", 3, 10), Dim("b", 1))
    assert facts.interval(facts.divide(H, 2, "two")) == (2, 5)
    facts = facts_of(Dim("H", 3, 10), Dim("b", 2))
    assert facts.interval(facts.divide(H, B, "block")) == (1, 5)


def test_a_negative_dim_does_not_cancel_in_a_divisor() -> None:
    facts = facts_of(Dim("H", -2))
    facts.require_nonnegative(H * H - 1, "square")
    quotient = facts.divide(H, H * H, "square")
    values = facts.values({"H": -1})
    low, _ = facts.interval(quotient)
    assert evaluate(quotient, values) == -1
    assert low is None or low <= -1


def test_constants_divided_by_one_dim_bound_it_whatever_their_sign() -> None:
    facts = facts_of(Dim("b", 1))
    facts.divide(-4, B, "first")
    facts.divide(6, B, "second")
    assert facts.interval(B) == (1, 2)
    assert facts.interval(facts.divide(-4, B, "again")) == (-4, -2)


def test_a_dim_is_not_solved_by_what_is_made_of_it() -> None:
    facts = facts_of(Dim("H", 1))
    half = floor_normal_form.floor_div(facts, H, 3)
    facts.require_nonnegative(half - 4, "large")
    quotient = facts.divide(H, half - 3, "circular")
    for h in range(1, 60):
        if h // 3 >= 4 and h % (h // 3 - 3) == 0:
            assert evaluate(facts.reduce(quotient), facts.values({"H": h})) == h // (h // 3 - 3)
    assert not facts.nonnegative(H - 100)


def test_values_outside_the_requirements_may_be_missing_but_do_not_fail() -> None:
    facts = facts_of(Dim("H"), Dim("W"))
    facts.require_nonnegative(W - 1, "divisor")
    floor_normal_form.floor_div(facts, H, W)
    facts.divide(H, W, "exact")
    values = facts.values({"H": 3, "W": 0})
    assert values["H"] == 3
    assert not all(r.holds(values) for r in facts.requirements)


# ---------------------------------------------------------------------- two systems


def test_a_divisor_of_what_is_positive_is_not_larger() -> None:
    facts = facts_of(Dim("H", 1), Dim("W", 1), Dim("b", 1))
    facts.divide(2 * H * W - 1, B, "odd")
    assert facts.nonnegative(2 * H * W - 1 - B)


def test_a_positive_factor_is_left_out_of_an_equation() -> None:
    facts = facts_of(Dim("H"), Dim("W"), Dim("b", 1))
    facts.require_zero(B * H - B * W, "same")
    assert facts.reduce(H - W) == 0


def test_a_quotient_bounds_its_divisor() -> None:
    facts = facts_of(Dim("H", 1, 10), Dim("b", 1))
    facts.divide(H, B, "blocks")
    assert facts.interval(B) == (1, 10)


def test_a_symbol_without_bounds_gets_them_from_a_product() -> None:
    facts = facts_of(Dim("H"), Dim("W"), Dim("b", 1), Dim("c", 1, 2))
    t = facts.divide(W - H, B, "blocks")
    assert facts.interval(t) == (None, None)
    facts.assume_nonnegative(symbol("c") * t - 3)
    assert facts.interval(t) == (2, None)


@pytest.mark.parametrize(("terms", "least"), [(3, 1), (400, 0)])
def test_a_fact_of_too_many_terms_moves_no_bound(terms: int, least: int) -> None:
    names = [f"d{k}" for k in range(terms)]
    facts = facts_of(*(Dim(name) for name in names))
    e = H - 1 - sum(map(symbol, names))
    facts.declare(Dim("H"))
    facts.assume_nonnegative(e)
    assert facts.nonnegative(e)
    assert facts.low["H"] == least


@pytest.mark.parametrize(
    ("e", "kind", "message"),
    [
        (2 * H + 1, "odd", "2*H + 1 is never a multiple of 2"),
        (W + 1, "infeasible", "W + 1 is never a multiple of 2\n  known: 0 <= W, W % 2 == 0"),
    ],
    ids=str,
)
def test_what_is_never_a_multiple_is_said_with_what_was_required(e: Extent, kind: str, message: str) -> None:
    facts = facts_of(Dim("H"), Dim("W"))
    facts.divide(W, 2, "even")
    with pytest.raises(ShapeError) as caught:
        facts.divide(e, 2, "odd")
    assert (caught.value.kind, str(caught.value)) == (kind, message)


def test_symbols_are_shifted_to_their_lower_bounds() -> None:
    facts = facts_of(Dim("H"), Dim("W"), Dim("b", 1))
    shown = {e: facts.holds_at_lows(e) for e in (H * B - H, H + B - 1, H * W, H - B, H * B - H - 1, H * W - H)}
    assert list(shown.values()) == [True, True, True, False, False, False]


def test_there_are_points_where_an_equation_holds() -> None:
    facts = facts_of(Dim("H"), Dim("W"))
    facts.require_zero(H * W - 77, "area")
    values = facts.floors_at_samples(1000 * H + W, 1)
    assert values
    assert values <= {1077, 7011, 11007, 77001}


def test_what_fails_for_all_sizes_is_said_with_what_is_known() -> None:
    facts = facts_of(Dim("H", 0, 4))
    facts.require_nonnegative(4 - H, "low")
    with pytest.raises(ShapeError) as caught:
        facts.require_nonnegative(H - 5, "low", "pad")
    assert str(caught.value) == "pad: H - 5 >= 0 fails for all sizes\n  known: 0 <= H <= 4"
    assert not facts.requirements


def test_merging_solves_both_as_one() -> None:
    merged = 0
    for seed in range(400):
        (left, error), (right, other) = random_system(seed), random_system(seed + 1000)
        if error or other or {d.name: d for d in left.dims} != {d.name: d for d in right.dims}:
            continue
        both = left.facts.fork()
        system = Random(left.rnd, left.dims, both, left.pool + right.pool, left.raw + right.raw)
        feasible, infeasible = system.points()
        if not feasible:
            with suppress(ShapeError):
                both.merge(right.facts)
            continue
        both.merge(right.facts)
        merged += 1
        check_system(system, feasible, infeasible, f"seed {seed}, merged")
    assert merged


def test_merging_dims_of_one_name_and_other_bounds_is_a_conflict() -> None:
    with pytest.raises(ShapeError) as caught:
        facts_of(Dim("H")).merge(facts_of(Dim("H", 1)))
    assert caught.value.kind == "dim_conflict"


# ---------------------------------------------------------------------- bounds


@dataclass(frozen=True, slots=True)
class Hull:
    """An extent of one dim with statements about it, and all values that it has."""

    name: str
    dim: Dim
    make: Callable[[Facts], Extent]
    values: Callable[[int], list[int]]  # at one value of the dim: none where a statement fails


def required(facts: Facts, e: Extent) -> Facts:
    facts.require_nonnegative(e, "low")
    return facts


HULLS = (
    Hull("scaled", Dim("H", 1, 9), lambda f: 3 * H - 2, lambda h: [3 * h - 2]),
    Hull("falling", Dim("H", 1, 9), lambda f: 5 - 2 * H, lambda h: [5 - 2 * h]),
    Hull("half", Dim("H", 1, 9), lambda f: f.divide(H + 1, 2, "two"), lambda h: [(h + 1) // 2] if h % 2 else []),
    Hull("square", Dim("H", 0, 7), lambda f: H * H + H, lambda h: [h * h + h]),
    Hull("floor", Dim("H", 1, 9), lambda f: floor_normal_form.floor_div(f, H + 1, 3), lambda h: [(h + 1) // 3]),
    Hull("max", Dim("H", 0, 9), lambda f: f.maximum(H - 3, 0), lambda h: [max(h - 3, 0)]),
    Hull("min", Dim("H", 0, 9), lambda f: f.minimum(H, 5), lambda h: [min(h, 5)]),
    Hull(
        "required",
        Dim("H", 0, 9),
        lambda f: required(f, 2 * H - 5).reduce(H),
        lambda h: [h] if 2 * h >= 5 else [],
    ),
    Hull(
        "twice",
        Dim("H", 0, 30),
        lambda f: (f.divide(H, 4, "four"), f.divide(H, 6, "six"), f.reduce(H + 1))[2],
        lambda h: [h + 1] if h % 12 == 0 else [],
    ),
)


@pytest.mark.parametrize("hull", HULLS, ids=lambda hull: hull.name)
def test_bounds_of_one_dim_are_the_exact_hull(hull: Hull) -> None:
    facts = facts_of(hull.dim)
    e = hull.make(facts)
    assert hull.dim.min is not None
    assert hull.dim.max is not None
    values = [v for h in range(hull.dim.min, hull.dim.max + 1) for v in hull.values(h)]
    assert facts.interval(e) == (min(values), max(values))


# ---------------------------------------------------------------------- rules of `nonnegative`


@dataclass(frozen=True, slots=True)
class Bound:
    """A rule that shows ``e >= 0``, and the same *e* where the rule's side condition is dropped.

    ``without`` must not be shown, and *counterexample* (dims and digits) makes *e* negative there.
    """

    name: str
    given: Callable[[Facts], Extent]
    without: Callable[[Facts], Extent]
    counterexample: dict[str, int]


def digit(facts: Facts, extent: Extent, name: str = "#0") -> Extent:
    return facts.add_digit(name, extent)


def known(facts: Facts, *statements: Extent) -> Facts:
    for e in statements:
        facts.assume_nonnegative(e)
    return facts


def _halves_of_a_few(facts: Facts, *statements: Extent) -> Extent:
    """Return a product of two floors, one of them of a digit below W, where the statements hold."""
    i = digit(known(facts, W - 1), W)
    found = facts.add_floor(W, 4) * facts.add_floor(i + 1, 2)
    return known(facts, *statements).reduce(found)


BOUNDS = (
    Bound("symbols at their lower bounds", lambda f: H + W, lambda f: H - W, {"H": 0, "W": 1}),
    Bound("a shift by the lower bound", lambda f: H * B - H, lambda f: H * W - H, {"H": 1, "W": 0}),
    Bound("a common factor that is not negative", lambda f: H * (B - 1), lambda f: H * (B - 2), {"H": 1, "b": 1}),
    Bound(
        "the constant rounds down with the gcd",
        lambda f: 2 * (B - 1) + 1,
        lambda f: 2 * (B - 1) - 1,
        {"b": 1},
    ),
    Bound("a rising digit starts at 0", lambda f: digit(f, H), lambda f: digit(f, H) - 1, {"H": 2, "#0": 0}),
    Bound(
        "a falling digit ends below its extent",
        lambda f: H - 1 - digit(f, H),
        lambda f: H - 2 - digit(f, H),
        {"H": 2, "#0": 1},
    ),
    Bound(
        "a digit whose coefficient has no sign stays",
        lambda f: (H + 1) * digit(f, W),
        lambda f: (H - W) * digit(f, W),
        {"H": 0, "W": 2, "#0": 1},
    ),
    Bound(
        "a rising floor loses at most the divisor less 1",
        lambda f: B * f.add_floor(digit(f, H), B) + B - 1 - symbol("#0"),
        lambda f: B * f.add_floor(digit(f, H), B) + B - 2 - symbol("#0"),
        {"H": 2, "b": 2, "#0": 1},
    ),
    Bound(
        "a falling floor loses nothing",
        lambda f: digit(f, H) - B * f.add_floor(symbol("#0"), B),
        lambda f: digit(f, H) - B * f.add_floor(symbol("#0"), B) - 1,
        {"H": 1, "b": 1, "#0": 0},
    ),
    Bound(
        "a floor whose coefficient is no multiple of the divisor is scaled",
        lambda f: W - 1 - f.add_floor(digit(f, W * B), B),
        lambda f: W - 1 - f.add_floor(digit(f, W * B + 1), B),
        {"W": 1, "b": 1, "#0": 1},
    ),
    Bound(
        "a floor of something that is not negative is not negative",
        lambda f: f.add_floor(H, 3),
        lambda f: f.add_floor(H - 1, 3),
        {"H": 0},
    ),
    Bound(
        "a floor of a finer floor",
        lambda f: 2 * f.add_floor(digit(f, H), 6) + 1 - f.add_floor(symbol("#0"), 3),
        lambda f: 2 * f.add_floor(digit(f, H), 6) - f.add_floor(symbol("#0"), 3),
        {"H": 4, "#0": 3},
    ),
    Bound(
        "a multiple of a known fact",
        lambda f: known(f, H - W).reduce(B * H - B * W),
        lambda f: B * H - B * W,
        {"H": 0, "W": 1, "b": 1},
    ),
    Bound(
        "two known facts",
        lambda f: known(f, H - W, W - B).reduce(H - B),
        lambda f: known(f, H - W).reduce(H - B),
        {"H": 0, "W": 0, "b": 1},
    ),
    Bound(
        "a multiple of the goal is known",
        lambda f: known(f, B * H - B * W).reduce(H - W),
        lambda f: known(f, W * H - W * W).reduce(H + 1 - W * W),
        {"H": 2, "W": 2},
    ),
    Bound(
        "a known fact and more",
        lambda f: known(f, H - W).reduce(H - W + 2),
        lambda f: known(f, H - W).reduce(H - W - 1),
        {"H": 0, "W": 0},
    ),
    Bound(
        "facts that are of no use at first",
        lambda f: 3 - _halves_of_a_few(f, 2 - 2 * B * symbol("(W//4)") - 2 * symbol("#0"), 4 * symbol("#0") - 2),
        lambda f: 3 - _halves_of_a_few(f),
        {"W": 8, "#0": 5},
    ),
    Bound(
        "a remainder beside its quotient is not negative",
        lambda f: 3 * digit(f, H) - 5 * f.add_floor(symbol("#0"), 2),
        lambda f: 3 * digit(f, H) - 7 * f.add_floor(symbol("#0"), 2),
        {"H": 3, "#0": 2},
    ),
    Bound(
        "a remainder beside its quotient is less than the divisor",
        lambda f: 7 * f.add_floor(digit(f, H), 2) - 3 * symbol("#0") + 3,
        lambda f: 7 * f.add_floor(digit(f, H), 2) - 3 * symbol("#0") + 2,
        {"H": 2, "#0": 1},
    ),
    Bound(
        "a floor whose coefficient is a multiple of the divisor",
        lambda f: W * B * f.add_floor(digit(f, H), B) + W * (B - 1 - symbol("#0")) + H,
        lambda f: W * B * f.add_floor(digit(f, H), B) + W * (B - 2 - symbol("#0")) + H,
        {"H": 1, "W": 2, "#0": 0},
    ),
    Bound(
        "the larger of two is not less than either",
        lambda f: f.maximum(H, W) - H,
        lambda f: f.minimum(H, W) - H,
        {"H": 1, "W": 0},
    ),
    Bound(
        "a rule rewrites what scaling by a divisor makes",
        lambda f: f.divide(2 * W, B, "width") - 1 - f.add_floor(digit(f, 2 * W), B),
        lambda f: f.divide(2 * W, B, "width") - 2 - f.add_floor(digit(f, 2 * W), B),
        {"W": 1, "b": 1, "#0": 1},
    ),
)


def base() -> Facts:
    return facts_of(Dim("H"), Dim("W"), Dim("b", 1))


@pytest.mark.parametrize("rule", BOUNDS, ids=lambda rule: rule.name)
def test_a_rule_shows_what_is_true_everywhere(rule: Bound) -> None:
    facts = base()
    e = rule.given(facts)
    assert facts.nonnegative(e)
    points = list(environments(facts))
    assert len(points) > 3
    assert all(evaluate(facts.reduce(e), p) >= 0 for p in points)
    proof = facts.derive(e)
    assert proof is not None
    assert identities(facts, proof, points)


@pytest.mark.parametrize("rule", BOUNDS, ids=lambda rule: rule.name)
def test_a_rule_shows_nothing_without_its_side_condition(rule: Bound) -> None:
    facts = base()
    e = facts.reduce(rule.without(facts))
    assert not facts.nonnegative(e)
    values = completed(facts, {"H": 0, "W": 0, "b": 1, **rule.counterexample})
    assert values is not None
    assert evaluate(e, values) < 0


def environments(facts: Facts, most: int = 4) -> Any:
    """Yield values of all symbols at the feasible points of a small box, for every value of the digits."""
    dims = list(facts.dims.values())
    names = [n for n in facts.bounded if n not in facts.floors]
    for values in itertools.product(*(range(d.nearest(), most + 1) for d in dims)):
        for spots in itertools.product(range(2 * most), repeat=len(names)):
            point = {**dict(zip(facts.dims, values, strict=True)), **dict(zip(names, spots, strict=True))}
            found = completed(facts, point)
            if found is not None:
                yield found


def completed(facts: Facts, point: dict[str, int]) -> dict[str, int] | None:
    """Return the values of all symbols, or None if the point is not feasible."""
    values = facts.values(point)
    if not all(r.holds(values) for r in facts.requirements):
        return None
    for name in facts.bounded:
        if name in facts.floors:
            numerator, denominator = (evaluate(e, values) for e in facts.floors[name])
            values[name] = numerator // denominator
        elif not 0 <= values[name] <= evaluate(facts.high[name] or 0, values):
            return None
    return values if all(evaluate(fact, values) >= 0 for fact in facts.known) else None


@pytest.mark.parametrize("depth", [1, 40, 200])
def test_a_proof_about_many_nested_floors_ends(depth: int) -> None:
    facts = base()
    e: Extent = digit(facts, H)
    for k in range(depth):
        e = facts.add_floor(e + W, 2 + k % 3)
    assert facts.nonnegative(e) in (True, False)
    assert not facts.nonnegative(-1 - e)


def test_a_fork_copies_every_field_and_shares_what_counts_work() -> None:
    facts = Facts()
    for entry in dataclasses.fields(facts):  # each gets a value that no other field has
        value = getattr(facts, entry.name)
        if isinstance(value, (dict, list)):
            marked = [entry.name] if isinstance(value, list) else {entry.name: entry.name}
            setattr(facts, entry.name, marked)
    facts._samples = [{"_samples": 1}]
    facts.splits = {"#0": (0, 2, "#0_0", "#0_1")}
    fork = facts.fork()
    shared = {"_effort", "_nesting"}
    for entry in dataclasses.fields(facts):
        before, after = getattr(facts, entry.name), getattr(fork, entry.name)
        assert before == after, entry.name
        assert isinstance(before, int) or (before is after) == (entry.name in shared), entry.name


def test_a_fork_names_the_fields_that_it_hands_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that is added, or moved to another place, changes no other field of a fork."""
    make = Facts.__init__
    given: list[tuple[object, ...]] = []

    def noted(self: Facts, *values: object, **named: object) -> None:
        given.append(values)
        make(self, **named)  # type: ignore[arg-type]  # the fields, by name

    monkeypatch.setattr(Facts, "__init__", noted)
    Facts().fork()
    assert given == [(), ()]


def test_a_fact_that_an_elimination_makes_false_leaves_no_sizes() -> None:
    """So that a branch of a proof in which an axis is empty has no point, instead of one that is not decided."""
    facts = Facts()
    for name in ("H", "W"):
        facts.declare(Dim(name))
    h, w = symbol("H"), symbol("W")
    facts.assume_nonnegative(h - w - 1)
    with pytest.raises(ShapeError) as error:
        facts.eliminate("H", w)
    assert error.value.kind == "infeasible"
    with pytest.raises(ShapeError, match="-1 >= 0 is false"):
        facts.learn(-1)
