"""What the claim of a certificate says for given numbers.  Nothing of symlayout is imported.

The claim is read as ``symlayout/proof/certificate`` describes the format, with Python's integers in place of
polynomials.  A *reading* is what an output coordinate may read: an element of an input, a fill, or `OUTSIDE`.  There
is one where the cases of each operation are a map, as they should be; altered claims may have several or none.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Point = dict[str, int]
Reading = tuple[Any, ...]

OUTSIDE: Reading = ("outside",)  # a case without a fill reads outside its source
LARGEST = 8  # extent of an output axis that is walked in full
MOST_READS = 200  # of one output coordinate, by all cases that hold


class UndefinedError(Exception):
    """The claim does not say what this is."""


class EndlessError(Exception):
    """A coordinate has too many readings to enumerate, as where nodes read each other."""


class Meaning:
    """A claim with numbers for its dims."""

    def __init__(self, claim: Mapping[str, Any], point: Point) -> None:
        self.claim, self.point = claim, point
        self._symbols: dict[str, int | None] = {}
        self._reads = 0

    def number(self, e: Any) -> int:
        """Return the value of a polynomial: an int or a list of terms ``[coefficient, name, ...]``."""
        if isinstance(e, int):
            return e
        total = 0
        for coefficient, *names in e:
            for name in names:
                coefficient *= self.symbol(name)
            total += coefficient
        return total

    def symbol(self, name: str) -> int:
        """Return the value of a dim, or of what the claim defines."""
        if name in self.point:
            return self.point[name]
        if name not in self._symbols:
            self._symbols[name] = None  # until it is known, so that one that is defined by itself has no value
            self._symbols[name] = self._defined(name)
        value = self._symbols[name]
        if value is None:
            raise UndefinedError
        return value

    def _defined(self, name: str) -> int:
        try:
            ((_, form, *operands),) = [row for row in self.claim["symbols"] if row[0] == name]
            a, b = map(self.number, operands)
        except (LookupError, TypeError, ValueError):
            raise UndefinedError from None
        if form == "max":
            return max(a, b)
        if b < 1 or form not in ("/", "//") or (form == "/" and a % b):
            raise UndefinedError
        return a // b

    def is_admitted(self) -> bool:
        """Return whether no assumption is false here."""
        return all(map(self._assumed, self.claim["assumptions"]))

    def _assumed(self, assumption: Sequence[Any]) -> bool:
        try:
            relation, *parts = assumption
            e, *modulus = map(self.number, parts)
        except (LookupError, TypeError, ValueError, UndefinedError):
            return True
        if relation == "divides":
            return not modulus or (e % modulus[0] == 0 if modulus[0] else e == 0)
        return e >= 0 if relation == ">=" else e == 0 or relation != "=="

    def shape(self, side: str) -> list[int]:
        """Return the extents of a side.

        Raises
        ------
        UndefinedError
            An extent is not defined.
        """
        try:
            return [self.number(e) for e in self.claim["nodes"][self.claim[side]]["shape"]]
        except (LookupError, TypeError, ValueError):
            raise UndefinedError from None

    def coordinates(self, node: int) -> Iterator[tuple[int, ...]]:
        """Yield coordinates of a node: all, or those near the ends of an axis that is long."""
        extents = map(self.number, self.claim["nodes"][node]["shape"])
        return itertools.product(*(range(n) if n <= LARGEST else (0, 1, 2, n // 2, n - 2, n - 1) for n in extents))

    def difference(self) -> str:
        """Return where the sides differ; empty if they do not."""
        try:
            left, right = self.shape("left"), self.shape("right")
        except UndefinedError:
            return "a shape is not defined"
        if left != right:
            return f"the shapes are {left} and {right}"
        try:
            return self._read_otherwise() or self.broken_map()
        except UndefinedError:
            return "a shape or a coordinate is not defined"

    def _read_otherwise(self) -> str:
        for at in self.coordinates(self.claim["left"]):
            a, b = self.readings("left", at), self.readings("right", at)
            if len(a | b) != 1 or OUTSIDE in a:
                return f"at {at} the sides read {sorted(a)} and {sorted(b)}"
        return ""

    def broken_map(self) -> str:
        """Return where an operation is no map: one case holds at each coordinate, and reads inside or has a fill."""
        for number, node in enumerate(self.claim["nodes"]):
            places = self.coordinates(number) if "cases" in node else iter(())
            for at in places:
                self._reads = 0
                holding = [case for case in node["cases"] if self._holds(case, at)]
                if len(holding) != 1 or OUTSIDE in self._case(node, holding[0], list(at)):
                    return f"node {number} is no map at {at}: {len(holding)} of its cases hold"
        return ""

    def readings(self, side: str, at: Sequence[int]) -> set[Reading]:
        """Return what a side may read at an output coordinate.

        Raises
        ------
        EndlessError
            By too many ways to follow.
        """
        self._reads = 0
        try:
            return self._node(self.claim["nodes"][self.claim[side]], list(at))
        except (LookupError, TypeError, ValueError):
            return set()

    def _node(self, node: Mapping[str, Any], at: list[int]) -> set[Reading]:
        self._reads += 1
        if self._reads > MOST_READS:
            raise EndlessError
        found: set[Reading] = set()
        if "input" in node:
            found.add(("input", node["input"], *at, "of", *map(self.number, node["shape"])))
        for case in node.get("cases", ()):
            if self._holds(case, at):
                found |= self._case(node, case, at)
        return found

    def _holds(self, case: Mapping[str, Any], at: Sequence[int]) -> bool:
        try:
            return all(0 <= self._value(value, at) < self.number(extent) for value, extent in case["where"])
        except UndefinedError:
            return False

    def _case(self, node: Mapping[str, Any], case: Mapping[str, Any], at: list[int]) -> set[Reading]:
        source = self.claim["nodes"][node["inputs"][case["source"]]]
        extents = [self.number(e) for e in source["shape"]]
        places = [self._place(expression, at) for expression in case["coords"]]
        inside = [c for c, n in zip(places, extents, strict=True) if c is not None and 0 <= c < n]
        if len(inside) < len(places):
            return {OUTSIDE if case["fill"] is None else ("fill", case["fill"])}
        return self._node(source, inside)

    def _place(self, expression: Sequence[Any], at: Sequence[int]) -> int | None:
        """Return a coordinate; None where it has no value, which is outside."""
        try:
            return self._value(expression, at)
        except UndefinedError:
            return None

    def _value(self, expression: Sequence[Any], at: Sequence[int]) -> int:
        """Return a coordinate expression at a coordinate."""
        operator, *operands = expression
        if operator == "axis":
            place: int = at[operands[0]]
            return place
        if operator == "extent":
            return self.number(operands[0])
        a, b = (self._value(e, at) for e in operands)
        if operator in ("//", "%"):
            if b < 1:
                raise UndefinedError
            return a // b if operator == "//" else a % b
        if operator not in ("+", "-", "*"):
            raise UndefinedError
        return a + b if operator == "+" else a - b if operator == "-" else a * b


def points(claim: Mapping[str, Any], most: int = 200, values: int = 4) -> list[Point]:
    """Return sizes that the claim is about: the least *values* of each dim, or *most* such points at random.

    Points where an assumption is false are left out.
    """
    names = [row[0] for row in claim["dims"]]
    ranges = [list(itertools.islice(_values(*row[1:]), values)) for row in claim["dims"]]
    if len(ranges[0]) ** len(ranges) <= most if ranges else True:
        chosen: Iterator[tuple[int, ...]] = itertools.product(*ranges)
    else:
        rnd = random.Random(len(names))
        chosen = (tuple(map(rnd.choice, ranges)) for _ in range(most)) if all(ranges) else iter(())
    found = [dict(zip(names, numbers, strict=True)) for numbers in dict.fromkeys(chosen)]
    return [point for point in found if Meaning(claim, point).is_admitted()]


def _values(low: int | None, high: int | None, multiple: int) -> Iterator[int]:
    """Yield the values of a dim, from its lower bound upwards; or from 0 outwards if it has none."""
    if low is None:
        numbers: Iterable[int] = (n for size in range(100) for n in dict.fromkeys((size, -size)))
    else:
        numbers = range(low, low + 100)
    return (n for n in numbers if (high is None or n <= high) and (n % multiple == 0 if multiple else n == 0))


def falsity(claim: Mapping[str, Any], most: int = 200) -> str:
    """Return where the claim is false, among the sizes of `points`; empty if it holds at all of them."""
    for point in points(claim, most):
        if where := Meaning(claim, point).difference():
            return f"{point}: {where}"
    return ""
