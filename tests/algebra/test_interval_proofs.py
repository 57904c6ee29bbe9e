"""An interval has a derivation at each end, which is an identity of what is >= 0."""

from __future__ import annotations

from collections import Counter

from symlayout.algebra.derivation import Derivation
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.interval_proofs import at_least, linear
from symlayout.algebra.polynomial import symbol
from tests.algebra.test_nonnegative import some, systems
from tests.support.certificates.derivations import identities


def test_each_end_of_an_interval_has_a_derivation() -> None:
    counts: Counter[str] = Counter()
    for rnd, facts, points in systems(range(250)):
        for _ in range(6):
            e = some(rnd, list(facts.low))
            low, high = facts.interval(e)
            assert facts.interval(-e) == (None if high is None else -high, None if low is None else -low)
            for side, end in ((e, low), (-e, None if high is None else -high)):
                proof = at_least(facts, side)
                assert (proof is None) == (end is None)
                if proof is not None and end is not None:
                    assert isinstance(proof, Derivation)
                    assert facts.reduce(proof.goal - (side - end)) == 0
                    assert identities(facts, proof, points[:: 1 + len(points) // 8]) > 0
                    counts["of a maximum" if proof.maximum else "of a sum"] += 1
    assert counts["of a sum"] > 500
    assert counts["of a maximum"] > 0, counts


def test_a_sum_of_parts_is_bounded_by_their_intervals() -> None:
    shown = 0
    for rnd, facts, points in systems(range(150)):
        parts = [(rnd.choice((-2, -1, 0, 1, 3)), some(rnd, list(facts.low))) for _ in range(2)]
        ends = [facts.interval(c * e)[0] if c else 0 for c, e in parts]
        if None in ends:
            assert linear(facts, parts, 10**6) is None
            continue
        least = sum(end or 0 for end in ends)
        assert linear(facts, parts, -least - 1) is None
        proof = linear(facts, parts, -least)
        assert proof is not None
        shown += identities(facts, proof, points[:: 1 + len(points) // 8])
    assert shown > 100


def test_what_is_known_to_be_positive_is_at_least_1() -> None:
    facts, x = Facts(), symbol("x")
    facts.declare(Dim("x", None, 4))
    assert linear(facts, [(3, x)], -3) is None
    assert linear(facts, [(3, x)], -3, x) == Derivation(3 * x - 3, ((3, x - 1), (1, 0)))
