"""A checker that is watched: each step that it accepts is looked at where numbers are put for all symbols.

The numbers are those that `tests.support.certificates.certified` enumerates for the claim.  What a step adds
holds at all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from symlayout.algebra.polynomial import Poly, evaluate
from symlayout.proof.certificate.checker import Refused, blocks, refusal
from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Polynomial, Work, decode
from tests.support.certificates.certified import EndlessError, Meaning, Point, falsity, points

Certificate = dict[str, Any]


class UnsoundError(AssertionError):
    """The checker shows what is not so."""


@dataclass(slots=True)
class Place:
    """A point of the claim, an output coordinate once there is one, and the values of the symbols so far."""

    meaning: Meaning
    values: Point = field(default_factory=dict)

    def coordinates(self, place: int | None, inside: str | None) -> Iterator[tuple[int, ...]]:
        """Yield coordinates of operation number *place*; or of the output, where side *inside* reads no fill."""
        if place is not None:
            return self.meaning.coordinates(place)
        number: int = self.meaning.claim["left"]
        return (at for at in self.meaning.coordinates(number) if self.is_about(at, inside))

    def is_about(self, at: Sequence[int], inside: str | None) -> bool:
        """Return whether `coordinates` has *at*."""
        return inside is None or any(reading[0] == "input" for reading in self.meaning.readings(inside, at))

    def value(self, data: Any) -> int:
        """Return the value of a polynomial of the proof."""
        return number_at(decode(data, Work(10**9)), self.values)


def number_at(e: Polynomial, values: Point) -> int:
    """Return the value of a polynomial where its names have these."""
    return evaluate(Poly(e.terms), values)


class Watched(Known):
    """What is known, with the places where it has to be so."""

    def __init__(self, claim: dict[str, Any], work: Work) -> None:
        super().__init__(claim, work)
        self.places: list[Place] = []
        self.before: tuple[set[Polynomial], set[Polynomial]] = set(), set()

    def fork(self) -> Watched:
        """Return a copy, whose places are those where its first new fact holds: the branch that it is taken for."""
        self.enter_branch()
        other = super().fork()
        assert isinstance(other, Watched)
        other.places = [Place(p.meaning, dict(p.values)) for p in self.places]
        other.before = set(other.nonnegative), set(other.zero)
        return other

    def enter_branch(self) -> None:
        """Keep the places that this branch is about: it is told after the fork."""
        for bound in self.nonnegative - self.before[0]:
            self.places = [p for p in self.places if number_at(bound, p.values) >= 0]
        if self.inside is not None and self.point is not None:
            axes = [f"#{axis}" for axis in range(len(self.point))]
            self.places = [p for p in self.places if p.is_about([p.values[axis] for axis in axes], self.inside)]
        self.before = set(self.nonnegative), set(self.zero)

    def follow_symbols(self, rule: str, *parts: Any) -> None:
        """Give new symbols their values."""
        if rule == "point":
            axes = [f"#{axis}" for axis in range(len(self.point or ()))]
            self.places = [
                Place(p.meaning, p.values | dict(zip(axes, at, strict=True)))
                for p in self.places
                for at in p.coordinates(self.place, self.inside)
            ]
        for p in self.places:
            if rule == "dim":
                d = p.values[parts[0]] = p.meaning.point[parts[0]]
                ((_, _, _, multiple),) = [row for row in self.claim["dims"] if row[0] == parts[0]]
                p.values[f"?{parts[0]}"] = d // multiple
            elif rule == "assume":
                relation, *numbers = self.claim["assumptions"][parts[0]]
                if relation == "divides":
                    e, k = (p.meaning.number(n) for n in numbers)
                    p.values[f"?{parts[0]}"] = e // k if k else 0
            elif rule == "define":
                p.values[parts[0]] = p.value(parts[1])
            elif rule == "floor":
                p.values[parts[0]] = p.value(parts[1]) // p.value(parts[2])
            elif rule == "max":
                p.values[parts[0]] = max(0, p.value(parts[1]))
            elif rule == "mean" and p.value(parts[1]) != p.meaning.symbol(parts[0]):
                raise UnsoundError(f"{parts[0]} is not {parts[1]} at {p.values}")

    def look(self, step: Sequence[Any]) -> None:
        """Look whether what a step adds is so at each place."""
        added = [(e, True) for e in self.nonnegative - self.before[0]]
        added += [(e, False) for e in self.zero - self.before[1]]
        self.before = set(self.nonnegative), set(self.zero)
        for e, least in added:
            for p in self.places:
                if (n := number_at(e, p.values)) < 0 or (n > 0 and not least):
                    sign = ">=" if least else "=="
                    raise UnsoundError(f"{e} {sign} 0 at {p.values}, of {len(self.places)} places, by {step!r:.300}")


def watched_take(known: Watched, step: Sequence[Any]) -> None:
    """Check a step as the checker does, and look at what it adds."""
    known.enter_branch()
    plain_take(known, step)
    known.follow_symbols(*step)
    known.look(step)


plain_take = blocks.take


def watch(certificate: Certificate, most: int = 40) -> str:
    """Return why a certificate is refused, empty if it is not.

    Raises
    ------
    UnsoundError
        A step that is accepted adds what is not so, or the certificate is accepted and its claim is false.
    """
    claim = certificate["claim"]
    accepted = refusal(certificate)
    try:
        blocks.check_form(certificate)
        known = Watched(claim, Work(10**9))
        known.places = [Place(Meaning(claim, point)) for point in points(claim, most, 3)]
        with patch.object(blocks, "take", watched_take):
            blocks.check_proof(known, certificate["proof"])
    except (Refused, EndlessError, RecursionError, ValueError):
        pass  # of the form, or as it was refused before
    if accepted == "" and (where := falsity(claim, most)):
        raise UnsoundError(f"the claim is false: {where}")
    return accepted
