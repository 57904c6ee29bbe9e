"""A checker that is watched: each step that it accepts is looked at where numbers are put for all symbols.

The numbers are those that `tests.support.certificates.certified` enumerates for the claim.  What a step adds
holds at all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from symlayout.algebra.polynomial import Extent, evaluate
from symlayout.proof.certificate.checker import Context, Refused, decode, refusal
from tests.support.certificates.certified import OUTSIDE, EndlessError, Meaning, Point, falsity, points

Certificate = dict[str, Any]


class UnsoundError(AssertionError):
    """The checker shows what is not so."""


@dataclass(slots=True)
class Place:
    """A point of the claim, an output coordinate once there is one, and the values of the symbols so far."""

    meaning: Meaning
    values: Point = field(default_factory=dict)

    def coordinates(self, inside: int | None) -> Iterator[tuple[int, ...]]:
        """Yield the output coordinates that the claim is about, and where side number *inside* reads an input."""
        return (at for at in self.meaning.coordinates() if self.is_about(at, inside))

    def is_about(self, at: Sequence[int], inside: int | None) -> bool:
        """Return whether `coordinates` has *at*."""
        read = [self.meaning.readings(side, at) for side in ("left", "right")]
        if self.meaning.claim["trusted"] is True and OUTSIDE in read[0] | read[1]:
            return False
        return inside is None or any(reading[0] == "input" for reading in read[inside])

    def value(self, data: Any) -> int:
        """Return the value of a polynomial of the proof."""
        return evaluate(decode(data), self.values)


class Watched(Context):
    """A context that looks, after each step, whether what is known is so at each of its places."""

    def __init__(self, claim: dict[str, Any], places: list[Place]) -> None:
        super().__init__(claim)
        self.places = places
        self.before: tuple[set[Extent], set[Extent]] = set(), set()

    def fork(self) -> Watched:
        """Return a copy, whose places are those where its first new fact holds: the branch that it is taken for."""
        self._enter_branch()
        other = Watched(self.claim, [Place(p.meaning, dict(p.values)) for p in self.places])
        plain = super().fork()
        for name in vars(plain):
            setattr(other, name, getattr(plain, name))
        other.before = set(other.nonnegative), set(other.zero)
        return other

    def step(self, step: Sequence[Any]) -> None:
        """Check a step, and look at what it adds."""
        self._enter_branch()
        super().step(step)
        self._follow_symbols(*step)
        self._look(step)

    def _enter_branch(self) -> None:
        """Keep the places that this branch is about: it is told after the fork."""
        for bound in self.nonnegative - self.before[0]:
            self.places = [p for p in self.places if evaluate(bound, p.values) >= 0]
        if self.inside is not None and self.point is not None:
            axes = [f"#{axis}" for axis in range(len(self.point))]
            self.places = [p for p in self.places if p.is_about([p.values[axis] for axis in axes], self.inside)]
        self.before = set(self.nonnegative), set(self.zero)

    def _follow_symbols(self, rule: str, *parts: Any) -> None:
        """Give new symbols their values."""
        if rule == "point":
            axes = [f"#{axis}" for axis in range(len(self.point or ()))]
            self.places = [
                Place(p.meaning, p.values | dict(zip(axes, at, strict=True)))
                for p in self.places
                for at in p.coordinates(self.inside)
            ]
        for p in self.places:
            if rule == "dim":
                d = p.values[parts[0]] = p.meaning.point[parts[0]]
                ((_, _, _, multiple),) = [row for row in self.claim["dims"] if row[0] == parts[0]]
                p.values[f"?{parts[0]}"] = d // multiple if multiple else 0
            elif rule == "assume":
                relation, *numbers = self.claim["assumptions"][parts[0]]
                if relation == "divides":
                    e, k = (p.meaning.number(n) for n in numbers[:2])
                    p.values[f"?{parts[0]}"] = e // k if k else 0
            elif rule == "define":
                p.values[parts[0]] = p.value(parts[1])
            elif rule == "floor":
                p.values[parts[0]] = p.value(parts[1]) // p.value(parts[2])
            elif rule == "max":
                p.values[parts[0]] = max(0, p.value(parts[1]))
            elif rule == "mean" and p.value(parts[1]) != p.meaning.symbol(parts[0]):
                raise UnsoundError(f"{parts[0]} is not {parts[1]} at {p.values}")

    def _look(self, step: Sequence[Any]) -> None:
        added = [(e, True) for e in self.nonnegative - self.before[0]] + [
            (e, False) for e in self.zero - self.before[1]
        ]
        self.before = set(self.nonnegative), set(self.zero)
        for e, least in added:
            wrong = [p for p in self.places if (n := evaluate(e, p.values)) < 0 or (n > 0 and not least)]
            if wrong and step[0] == "cases" and self.point is None:
                # a case may meet the point by itself: what follows holds where there is a coordinate
                wrong = [p for p in wrong if any(True for _ in p.coordinates(self.inside))]
                self.places = [p for p in self.places if any(True for _ in p.coordinates(self.inside))]
            if wrong:
                sign = ">=" if least else "=="
                raise UnsoundError(f"{e} {sign} 0 at {wrong[0].values}, of {len(self.places)} places, by {step!r:.300}")


def watch(certificate: Certificate, most: int = 40) -> str:
    """Return why a certificate is refused, empty if it is not.

    Raises
    ------
    UnsoundError
        A step that is accepted adds what is not so, or the certificate is accepted and its claim is false.
    """
    claim = certificate["claim"]
    try:
        places = [Place(Meaning(claim, point)) for point in points(claim, most, 3)]
    except (LookupError, TypeError, ValueError):  # dims that cannot be read
        return refusal(certificate)
    try:
        Watched(claim, places).block(certificate["proof"], 0)
    except Refused as error:
        return str(error)
    except EndlessError:
        return refusal(certificate)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        return repr(error)
    if reason := refusal(certificate):
        raise UnsoundError(f"watched, it is accepted, and otherwise not: {reason}")
    try:
        where = falsity(claim, most)
    except EndlessError:
        where = ""
    if where:
        raise UnsoundError(f"the claim is false: {where}")
    return ""
