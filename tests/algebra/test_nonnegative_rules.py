"""Each rule that proves ``e >= 0`` proves what is true, and nothing without its side condition."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, symbol
from tests.algebra.systems import B, H, W, base, digit
from tests.support.certificates.derivations import identities


@dataclass(frozen=True, slots=True)
class Bound:
    """A rule that shows ``e >= 0``, and the same *e* where the rule's side condition is dropped.

    ``without`` must not be shown, and *counterexample* (dims and digits) makes *e* negative there.
    """

    name: str
    given: Callable[[Facts], Extent]
    without: Callable[[Facts], Extent]
    counterexample: dict[str, int]


def known(facts: Facts, *statements: Extent) -> Facts:
    for e in statements:
        facts.assume_nonnegative(e)
    return facts


def _halves_of_a_few(facts: Facts, *statements: Extent) -> Extent:
    """Return a product of two floors, one of them of a digit below W, where the statements hold."""
    i = digit(known(facts, W - 1), W)
    found = facts.add_floor(W, 4) * facts.add_floor(i + 1, 2)
    return known(facts, *statements).reduce(found)


def _number_of_two_floors(facts: Facts) -> tuple[Extent, Extent]:
    """Return the low and the high digit of ``i//2`` in radix b, for a digit i below ``2*b*W``."""
    i = digit(known(facts, W - 1), 2 * B * W)
    high = facts.add_floor(i, 2 * B)
    return facts.add_floor(i, 2) - B * high, high


def _least(facts: Facts) -> Extent:
    low, high = _number_of_two_floors(facts)
    return low * W + high


def _most(facts: Facts) -> Extent:
    return B * W - 1 - _least(facts)


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
        "a symbolic multiple of a remainder of a floor is not negative",
        _least,
        lambda f: _least(f) - 1,
        {"W": 1, "b": 1, "#0": 0},
    ),
    Bound(
        "a symbolic multiple of a remainder of a floor ends below the radix",
        _most,
        lambda f: _most(f) - 1,
        {"W": 1, "b": 1, "#0": 0},
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
        "a factor is not negative where its product and their sum say so",
        lambda f: H - 1 if known(f, W * (H - 1), W + H - 1) else 0,
        lambda f: H - 2 if known(f, W * (H - 2), W + H - 1) else 0,
        {"H": 1, "W": 0},
    ),
    Bound(
        "a factor is not negative where its product is not, and the other factor is positive",
        lambda f: H - W - 1 if known(f, B * (H - W - 1)) else 0,
        lambda f: H - W - 1 if known(f, W * (H - W - 1)) else 0,
        {"H": 0, "W": 0},
    ),
    Bound(
        "a rule rewrites what scaling by a divisor makes",
        lambda f: f.divide(2 * W, B, "width") - 1 - f.add_floor(digit(f, 2 * W), B),
        lambda f: f.divide(2 * W, B, "width") - 2 - f.add_floor(digit(f, 2 * W), B),
        {"W": 1, "b": 1, "#0": 1},
    ),
)


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
