"""What a system proves it can write down, in steps that the checker takes."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from symlayout.algebra.fact_store import Dim
from symlayout.algebra.polynomial import Extent, evaluate, exact_quotient, symbol
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.proof.certificate.checker import Refused
from symlayout.proof.certificate.logged_equations import _bezout
from symlayout.proof.certificate.logged_facts import Recorder
from tests.algebra.test_nonnegative import random_facts, some
from tests.algebra.test_nonnegative_rules import BOUNDS, Bound
from tests.support.certificates.recorded import Told


@pytest.mark.parametrize("rule", BOUNDS, ids=lambda rule: rule.name)
def test_what_a_rule_shows_is_written_down(rule: Bound) -> None:
    facts = Told()
    for dim in (Dim("H"), Dim("W"), Dim("b", 1)):
        facts.declare(dim)
    e = rule.given(facts)
    assert facts.context.holds(facts.show(e))


@pytest.mark.slow
def test_nearly_all_that_random_systems_show_is_written_down() -> None:
    counts: Counter[str] = Counter()
    for seed in range(400):
        rnd, facts = random.Random(seed), Told()
        try:
            _, points = random_facts(rnd, facts)
        except (ShapeError, InconclusiveError, KeyError):  # nothing is left, or a divisor may be 0
            continue
        except Refused:
            counts["refused while it is told"] += 1
            continue
        for _ in range(6 if points else 0):
            e = some(rnd, list(facts.low))
            if facts.nonnegative(e := e - min(evaluate(e, p) for p in points)):
                try:
                    facts.show(e)
                except Refused:
                    counts["refused"] += 1
                else:
                    counts["shown"] += 1
    assert counts["shown"] > 500
    assert counts["refused"] == 0
    assert counts["refused while it is told"] <= 1


H, W, B = map(symbol, "HWb")


@pytest.mark.parametrize(
    ("n", "numerator", "modulus", "common"),
    [
        (3 * H + 9, H + 3, 4, 1),
        (9 + 3 * H, 3 + H, 4, 1),
        (B - H, H - B, B * B, 1),
        (6 * H + 3 * W, 2 * H + W, 4, 1),
        (6 * H * B + 6 * W, H * B + W, 8, 2),
        (2 * H + 2 * W, H + W, 7, 2),
        (7, 7, 3, 1),
    ],
    ids=str,
)
def test_a_multiple_makes_one_numerator_of_another(n: Extent, numerator: Extent, modulus: Extent, common: int) -> None:
    """As where ``u`` with ``3*H + 9 = 4*u`` is known and ``(H + 3)/4`` is asked for: 3 times the one is the other."""
    assert exact_quotient(_bezout(n, numerator, modulus, common) * n - common * numerator, common * modulus) is not None


def test_the_system_of_these_tests_is_the_one_that_writes_certificates() -> None:
    assert issubclass(Told, Recorder)
