"""Each rule of floor division returns why its quotient is the floor."""

from __future__ import annotations

from typing import Any

from symlayout.algebra import floor_normal_form
from symlayout.algebra.derivation import Derivation, Division
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, symbol
from tests.algebra.test_nonnegative import some, systems, with_floors
from tests.support.certificates.derivations import identities

NOTED: list[tuple[Extent, Extent, Division]] = []


class Noted(Facts):
    """A system that keeps the divisions that it notes."""

    __slots__ = ()

    def note_quotient(self, numerator: Extent, denominator: Extent, quotient: Extent, why: Any = ()) -> None:
        """As `System.note_quotient`."""
        super().note_quotient(numerator, denominator, quotient, why)
        NOTED.append((numerator, denominator, Division(quotient, *why)))


def test_a_quotient_comes_with_the_reasons_for_both_its_bounds() -> None:
    derived = 0
    for rnd, facts, points in systems(range(200), Noted):
        NOTED.clear()
        inside = points[:: 1 + len(points) // 8]
        for k in (2, 6, 12):
            e = 6 * some(rnd, list(facts.low)) + 3 * symbol(rnd.choice(list(facts.low)))
            floor_normal_form.floor_div(facts, e, k)
            inside = [with_floors(facts, facts.values(p)) for p in inside]
        for e, divisor, division in NOTED:
            below, above = division.ends(e, divisor)
            q = division.quotient
            for goal, why in ((e - divisor * q, below), (divisor * q + divisor - 1 - e, above)):
                shown = why.goal if isinstance(why, Derivation) else why
                assert facts.reduce(shown - goal) == 0
                derived += isinstance(why, Derivation)
                identities(facts, why, inside)
    assert derived > 100
