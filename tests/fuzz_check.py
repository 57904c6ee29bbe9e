"""Alter certificates and see that the checker shows nothing false: ``python -m tests.fuzz_check --cases 100000``.

One to four places of a claim and its proof are altered and the seal is made again.  Each step that the checker
accepts is then looked at where numbers are put for all symbols (`Watched`): what it adds has to be so.  If the
checker accepts it all, the altered claim has to hold at the sizes that `tests.certified` enumerates.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from symlayout.check import Context, Refused, decode, refusal, seal
from symlayout.polynomial import Extent, evaluate
from tests.certified import OUTSIDE, EndlessError, Meaning, Point, UndefinedError, falsity, points

Certificate = dict[str, Any]
OPERATORS = ("+", "-", "*", "//", "%")
SIDES = ("below", "above", "empty")


class UnsoundError(AssertionError):
    """The checker shows what is not so."""


# ---------------------------------------------------------------------- steps, at numbers


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


# ---------------------------------------------------------------------- alterations


def sites(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value within *data*, but for *data* itself."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from sites(value, (*path, key))


def at(data: Any, path: Sequence[Any]) -> Any:
    """Return the value that *path* leads to."""
    for key in path:
        data = data[key]
    return data


def alterations(value: Any, words: Sequence[str]) -> Iterator[Any]:
    """Yield other values for *value*; *words* are strings to try for a string."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from dict.fromkeys(n for n in (value + 1, value - 1, 0, -value, 2 * value) if n != value)
    elif isinstance(value, str):
        yield from (word for word in (*words, "") if word != value)
        yield None
    elif value is None:
        yield from (0, 3, "0")
    elif isinstance(value, list):
        for k in range(len(value)):
            yield value[:k] + value[k + 1 :]
            yield [*value[: k + 1], *value[k:]]
            yield from (swapped(value, k, j) for j in range(k) if value[k] != value[j])
        yield [*value, 1]
    else:
        yield {}


def swapped(items: Sequence[Any], i: int, k: int) -> list[Any]:
    """Return *items* with two of them exchanged."""
    found = list(items)
    found[i], found[k] = found[k], found[i]
    return found


def words_of(data: Any) -> list[str]:
    """Return the strings within *data*, in order."""
    return list(dict.fromkeys(value for path in sites(data) if isinstance(value := at(data, path), str)))


def altered(rnd: random.Random, certificate: Certificate) -> Certificate:
    """Return a certificate with one to four places of its claim and proof altered, sealed again."""
    found: Certificate = copy.deepcopy({"claim": certificate["claim"], "proof": certificate["proof"]})
    for _ in range(rnd.choice((1, 1, 1, 2, 2, 3, 4))):
        _alter(rnd, found)
    return sealed(found)


def _alter(rnd: random.Random, data: Any) -> None:
    part = rnd.choice(("claim", "claim", "proof"))
    paths = [(part, *path) for path in sites(data[part])]
    *path, key = rnd.choice(paths)
    parent = at(data, path)
    old = parent[key]
    if rnd.random() < 0.3:  # something of the same kind from elsewhere
        others = [at(data, p) for p in paths]
        new = rnd.choice([other for other in others if type(other) is type(old)])
    else:
        new = rnd.choice(list(alterations(old, (*words_of(data), *OPERATORS, *SIDES))) or [old])
    if rnd.random() < 0.3:  # everywhere
        places = [
            p for p in [("claim", *p) for p in sites(data["claim"])] + [("proof", *p) for p in sites(data["proof"])]
        ]
        for *into, last in [p for p in places if at(data, p) == old and type(at(data, p)) is type(old)][::-1]:
            at(data, into)[last] = copy.deepcopy(new)
    else:
        parent[key] = copy.deepcopy(new)


def sealed(certificate: Certificate) -> Certificate:
    """Return a certificate with the seal that fits."""
    return {**certificate, "seal": seal(certificate)}


# ---------------------------------------------------------------------- runs


def run(certificates: Sequence[Certificate], cases: int, seed: int) -> Counter[str]:
    """Watch so many altered certificates, and count what becomes of them.

    Raises
    ------
    UnsoundError
        With the altered certificate in its text.
    """
    counts: Counter[str] = Counter()
    rnd = random.Random(seed)
    for number in range(cases):
        certificate = certificates[rnd.randrange(len(certificates))]
        trial = altered(rnd, certificate)
        try:
            reason = watch(trial)
        except UnsoundError as error:
            raise UnsoundError(f"case {number} of seed {seed}: {error}\n{json.dumps(trial)}") from error
        changed = trial["claim"] != certificate["claim"]
        counts["refused" if reason else "accepted, of another claim" if changed else "accepted, of the same claim"] += 1
    return counts
