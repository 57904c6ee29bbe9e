"""What `Facts` says is true at every point that its requirements allow, and it allows the right points."""

from __future__ import annotations

import dataclasses
import itertools
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from symlayout.algebra import floor_normal_form
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, evaluate, names_of, symbol
from symlayout.algebra.sample_points import _SAMPLE_TRIALS, Samples
from symlayout.errors import ShapeError
from tests.algebra.systems import B, H, Random, W, base, check_system, digit, facts_of, random_system


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


def test_nothing_is_divided_by_a_denominator_that_is_0() -> None:
    with pytest.raises(ShapeError, match="H is divided by 0") as caught:
        facts_of(Dim("H")).divide(H, 0, "zero")
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


@pytest.mark.slow
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
    shared = {"_effort", "_nesting", "_written"}
    for entry in dataclasses.fields(facts):
        before, after = getattr(facts, entry.name), getattr(fork, entry.name)
        assert before == after, entry.name
        assert isinstance(before, int) or (before is after) == (entry.name in shared), entry.name


def test_a_system_about_symbols_keeps_what_they_and_requirements_mention() -> None:
    facts = Facts()
    for name in ("H", "W"):
        facts.declare(Dim(name))
    h, w = symbol("H"), symbol("W")
    first, second, third = facts.maximum(0, h - 3), facts.maximum(0, h - w), facts.maximum(0, w - 5)
    inside = facts.maximum(0, first + w - 9)
    facts.require_nonnegative(second - 2, "negative")
    kept, idle = facts.mentioning(names_of(inside)), names_of(third)
    assert len(idle) == 1
    assert kept.definitions.keys() == facts.definitions.keys() - idle
    assert kept.low.keys() == facts.low.keys() - idle
    assert not any(idle & fact.names for fact in kept.known)
    assert kept.requirements == facts.requirements
    assert kept.nonnegative(inside - first - w + 9)
    assert facts.mentioning(facts.definitions).definitions == facts.definitions


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


@pytest.mark.parametrize(
    "difference",
    [
        lambda h, floor: h - 4 * floor(h, 4),
        lambda h, floor: 8 * floor(h - 1, 4) - 2 * h + 2,
        lambda h, floor: 3 * floor(h + 1, 3) - h,
        lambda h, floor: floor(h + 2, 3) - floor(h, 3),
        lambda h, floor: floor(h + 5, 3) - floor(h, 3) - 1,
        lambda h, floor: floor(h + 1, 4) - floor(h + 8, 4) + 1,
    ],
)
def test_floors_that_agree_at_multiples_only_require_a_multiple(difference: Any) -> None:
    facts = facts_of(Dim("H", -12, 12))
    e = difference(H, partial(floor_normal_form.floor_div, facts))
    facts.require_zero(e, "same")
    assert [r.relation for r in facts.requirements] == ["divides"]
    for h in range(-12, 13):
        values = facts.values({"H": h})
        same = difference(h, int.__floordiv__) == 0
        assert all(r.holds(values) for r in facts.requirements) == same
        if same:
            assert evaluate(facts.reduce(e), values) == 0


def test_roundings_that_are_never_equal_are_refused_for_all_sizes() -> None:
    facts = facts_of(Dim("H"))
    left, right = (floor_normal_form.floor_div(facts, H + k, 6) for k in (4, 1))
    with pytest.raises(ShapeError, match="fails for all sizes") as caught:
        facts.require_zero(left - right - 4, "size_mismatch")
    assert caught.value.kind == "size_mismatch"
    facts.require_zero(left - right - 1, "size_mismatch")


def test_there_is_a_sample_where_facts_leave_a_narrow_window_of_a_digit() -> None:
    facts = facts_of(Dim("H", 1), Dim("W"))
    i = facts.add_digit("#0", H + W + 43)
    facts.assume_nonnegative(H + W + 35 - i)
    facts.assume_nonnegative(i - H - W - 24)
    facts.meet(())
    assert facts.floors_at_samples(i - H - W, 12) == {2}


def test_samples_are_within_the_bounds_of_a_digit() -> None:
    """A case of a proof raises the least value of a digit; then no fact but the bound says so."""
    facts = facts_of(Dim("N", 1))
    i, j = facts.add_digit("#0", 4), facts.add_digit("#1", 2)
    facts.suppose(i - 2)
    facts.suppose(-j)  # which is 0: what is known is written anew
    assert facts.low["#0"] == 2
    assert not facts.known
    facts.meet(())
    assert facts.floors_at_samples(i, 1) == {2, 3}
    assert floor_normal_form.floor_div(facts, 96 * symbol("N") + i - 2, 96) == symbol("N")


@pytest.mark.parametrize("least", [0, 1])
def test_a_point_refutes_every_order_of_three_extents_that_broadcast(least: int) -> None:
    facts = facts_of(*(Dim(name, least) for name in "abc"))
    a, b, c = map(symbol, "abc")
    for one, other in ((a, b), (a, c), (b, c)):
        facts.require_zero((one - 1) * (other - 1) * (one - other), "size_mismatch")
    goals = facts.effort
    for one, other in itertools.permutations((a, b, c), 2):
        assert not facts.nonnegative(one - other)
    assert facts.effort - goals <= 6  # a search for one of these proofs visits 300


@pytest.mark.parametrize("least", [0, 1, None])
def test_samples_are_points_of_the_system(least: int | None) -> None:
    facts = facts_of(Dim("a", least), Dim("b", 0, 3), Dim("c", least))
    a, b, c = map(symbol, "abc")
    for one, other in ((a, b), (a, c)):
        facts.maximum(one * other, one + 2)
        floor_normal_form.floor_div(facts, one + other, 3)
        facts.require_zero((one - 1) * (other - 1) * (one - other), "size_mismatch")
    few = facts.minimum(b, 1)
    facts.require_zero((a - 1) * (few - 1) * (a - few), "size_mismatch")
    goals = [k * x - m * y + n for x, y in itertools.permutations((a, b, c), 2) for k, m, n in ((1, 1, 0), (1, 2, 3))]
    for e in (*goals, few - b - a, a - few - 1, few - a):
        facts.nonnegative(e)
    points = facts._points()
    assert len(points) > 4
    for point in points:
        assert point == {name: facts.values({n: point[n] for n in "abc"})[name] for name in point}
        assert all(evaluate(e, point) >= 0 for e in facts.known)
        assert all(facts.dims[n].allows(point[n]) for n in "abc")


def of_product(equation: int) -> Facts:
    """Return facts of two dims with ``(n + 2)*(m + 2) == equation``."""
    found = facts_of(Dim("n"), Dim("m"))
    n, m = symbol("n"), symbol("m")
    found.require_zero((n + 2) * (m + 2) - equation, "size_mismatch", "test")
    return found


@pytest.mark.parametrize(("equation", "has_points"), [(12, True), (101, False)])
def test_no_point_where_a_goal_fails_is_looked_for_where_none_was_found_for_the_facts(
    monkeypatch: pytest.MonkeyPatch, equation: int, has_points: bool
) -> None:
    known = of_product(equation)
    count = 0
    sample = Samples._sample

    def counted(self: Samples, *goal: object, **given: dict[str, int]) -> dict[str, int] | None:
        nonlocal count
        count += not given  # one point that a goal alone suggests is no search
        return sample(self, *goal, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(Samples, "_sample", counted)
    n, m = symbol("n"), symbol("m")
    assert not known.nonnegative(n * n - m * m * 2 + n * m - 3)
    assert not known.nonnegative(m * m * m - n * n - 3)
    assert (known._points() != []) is has_points
    assert 0 < count <= (2 * _SAMPLE_TRIALS if has_points else _SAMPLE_TRIALS)


def test_the_sign_of_sizes_that_broadcast_is_open_after_few_goals() -> None:
    known = Facts()
    names = [f"n{k}" for k in range(6)]
    for name in names:
        known.declare(Dim(name))
    for k, one in enumerate(map(symbol, names)):
        for other in map(symbol, names[:k]):
            known.require_zero((one - 1) * (other - 1) * (one - other), "size_mismatch", "test")
    before = known.effort
    largest = known.maximum(symbol("n0"), symbol("n1"))
    for name in names[2:]:
        largest = known.maximum(largest, symbol(name))
    assert not known.nonnegative(largest - 2)
    assert known.effort - before < 100  # 547 when the point is looked for among small numbers in turn


def test_a_maximum_of_two_systems_is_not_decided_again_where_they_are_merged() -> None:
    systems = [Facts() for _ in range(2)]
    for known in systems:
        for name in ("n", "m"):
            known.declare(Dim(name))
        known.require_nonnegative(known.maximum(symbol("n"), symbol("m")) - 3, "size_mismatch", "test")
    systems[1].require_nonnegative(symbol("n") - 1, "size_mismatch", "test")
    (name,) = systems[0].definitions
    before = systems[0].effort
    systems[0].merge(systems[1])
    assert list(systems[0].definitions) == [name]
    assert systems[0].effort - before <= 1  # of the requirement


def test_a_maximum_of_one_name_and_another_meaning_is_defined_again() -> None:
    one, other = Facts(), Facts()
    for known in (one, other):
        for name in ("n", "m"):
            known.declare(Dim(name))
    other.require_zero(symbol("n") - symbol("m") - 1, "size_mismatch", "test")
    most = other.maximum(symbol("m"), 4)
    one.maximum(symbol("n"), 4)
    one.merge(other)
    values = one.values({"n": 7, "m": 6})
    assert evaluate(one.reduce(most), values) == 6
