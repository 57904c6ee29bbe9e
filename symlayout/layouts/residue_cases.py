"""Decide a number that depends on several offsets, where the offsets depend on dims.

An `OffsetCount` computes the number from offsets.  It depends on their residues, and on which of them lie close
together.
Offsets that differ by a polynomial in a dim lie close together at finitely many values of the dim: these are cases of
their own.  Everywhere else the residues of the dim decide, and each of them is looked at once.  With two dims,
offsets lie close together on finitely many lines; a line has one parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as all_pairs
from math import gcd, lcm
from typing import Any, Protocol

import numpy as np

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.polynomial import Extent, evaluate, names_of, symbol, terms_of
from symlayout.errors import InconclusiveError
from symlayout.language.sympy_conditions import Conjunction

MAX_GRID = 1 << 22  # most offsets of all classes of residues together
MAX_SPECIAL = 1 << 14  # most values of a dim at which offsets lie close together
MAX_LINES = 512  # most lines in two dims on which offsets lie close together
MAX_ROOT = 1 << 16  # largest value of a dim at which polynomials of a higher degree are looked at
MAX_LISTED = 16  # values of a dim that are cases of their own
MAX_OFFSET = 1 << 60

Cases = list[tuple[Conjunction, int]]
Ends = tuple[int | None, int | None]


class OffsetCount(Protocol):
    """Computes a number from offsets, whose values matter modulo *modulus*, and as far as they are *near*.

    Offsets that differ by more than *near* never share what is counted, whatever they are.
    """

    @property
    def modulus(self) -> int:
        """The number modulo which offsets matter."""

    @property
    def near(self) -> int:
        """How far apart offsets may be that share what is counted."""

    def numbers(self, offsets: np.ndarray[Any, Any]) -> Sequence[int]:
        """Return the number of each row of offsets."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """The least and the largest value of each name; None is unbounded."""

    ends: Mapping[str, Ends]

    def holds(self, name: str, value: int) -> bool:
        """Return whether a symbol may have a value."""
        low, high = self.ends.get(name, (None, None))
        return (low is None or value >= low) and (high is None or value <= high)


def at(name: str, value: int) -> Requirement:
    """Return the condition that a symbol has a value."""
    return Requirement("", "zero", symbol(name) - value)


def beyond(name: str, value: int) -> Requirement:
    """Return the condition that a symbol is at least a value."""
    return Requirement("", "nonnegative", symbol(name) - value)


def congruent(name: str, modulus: int, residue: int) -> Conjunction:
    """Return the condition that a symbol has a residue."""
    return (Requirement("", "divides", symbol(name) - residue, modulus),) if modulus > 1 else ()


def decided(offsets: Sequence[Extent], judge: OffsetCount, ranges: Ranges) -> Cases:
    """Return cases, of which the first that holds counts, and the number of each.

    Raises
    ------
    InconclusiveError
        The offsets depend on more than two dims, on products of two, or on too many residues.
    """
    names = sorted(frozenset().union(*map(names_of, offsets)))
    if not names:
        return [((), _numbers(offsets, [{}], judge)[0])]
    if len(names) == 1:
        return _decided_by_one(offsets, names[0], judge, ranges)
    if len(names) == 2 and all(len(m) <= 1 for e in offsets for m in terms_of(e)):
        return _decided_by_two(offsets, names[0], names[1], judge, ranges)
    raise InconclusiveError("the answer has finitely many cases", [f"it depends on {', '.join(names)}"])


def _numbers(offsets: Sequence[Extent], points: Sequence[Mapping[str, int]], judge: OffsetCount) -> list[int]:
    """Return the number at each point."""
    rows = [[e if isinstance(e, int) else evaluate(e, p) for e in offsets] for p in points]
    if any(abs(e) > MAX_OFFSET for row in rows for e in row):
        raise InconclusiveError("the offsets fit into 64 bits")
    return list(judge.numbers(np.array(rows, dtype=np.int64))) if rows else []


def _differences(offsets: Sequence[Extent]) -> set[Extent]:
    """Return the differences of offsets that are not constant, each up to its sign."""
    different = list(dict.fromkeys(offsets))
    found: set[Extent] = set()
    for k, a in enumerate(different):
        for b in different[:k]:
            e = a - b
            if not isinstance(e, int) and -e not in found:
                found.add(e)
    return found


def _period(offsets: Sequence[Extent], name: str, modulus: int) -> int:
    common = modulus
    for e in offsets:
        for monomial, c in terms_of(e).items():
            if name in monomial:
                common = gcd(common, c)
    return modulus // common


# ---------------------------------------------------------------------- one dim


def _close_values(differences: set[Extent], name: str, near: int, ranges: Ranges) -> set[int]:
    """Return the values of the only symbol at which some difference is from ``-near`` to ``near``."""
    found: set[int] = set()
    for e in differences:
        terms = terms_of(e)
        degree = max(map(len, terms))
        if degree == 1:
            c, k = terms[(name,)], terms.get((), 0)
            if c < 0:
                c, k = -c, -k
            values: Iterator[int] = iter(range(-((near + k) // c), (near - k) // c + 1))
        else:
            lead = abs(terms[(name,) * degree])
            bound = 1 + (sum(map(abs, terms.values())) + near) // lead
            if bound > MAX_ROOT:
                raise InconclusiveError(f"a polynomial in {name} is small at few values")
            values = (v for v in range(-bound, bound + 1) if abs(evaluate(e, {name: v})) <= near)
        found.update(v for v in values if ranges.holds(name, v))
        if len(found) > MAX_SPECIAL:
            raise InconclusiveError(f"few values of {name} make offsets coincide")
    return found


def _far(differences: set[Extent], name: str, near: int) -> int:
    """Return a value beyond which no difference is small."""
    far = 1
    for e in differences:
        terms = terms_of(e)
        most = sum(abs(c) for m, c in terms.items()) + near
        far = max(far, 2 + most // abs(terms[(name,) * max(map(len, terms))]))
    return far


def _decided_by_one(offsets: Sequence[Extent], name: str, judge: OffsetCount, ranges: Ranges) -> Cases:
    low, high = ranges.ends.get(name, (None, None))
    if low is not None and high is not None and high - low < MAX_LISTED:
        values = range(low, high + 1)
        numbers = _numbers(offsets, [{name: v} for v in values], judge)
        return [((at(name, v),), n) for v, n in zip(values, numbers, strict=True)]
    differences = _differences(offsets)
    special = sorted(_close_values(differences, name, judge.near, ranges))
    period = _period(offsets, name, judge.modulus)
    if period * len(offsets) > MAX_GRID:
        raise InconclusiveError("the residues are few enough to be enumerated", [f"there are {period}"])
    far = -(-_far(differences, name, judge.near) // period) * period
    usual = _numbers(offsets, [{name: far + r} for r in range(period)], judge)
    found: Cases = [
        ((at(name, v),), n)
        for v, n in zip(special, _numbers(offsets, [{name: v} for v in special], judge), strict=True)
        if n != usual[v % period]
    ]
    classes = _classes(np.array(usual))
    return found + [(congruent(name, g, r), n) for ((g, r),), n in classes if _occurs(name, g, r, ranges)]


def _occurs(name: str, modulus: int, residue: int, ranges: Ranges) -> bool:
    low, high = ranges.ends.get(name, (None, None))
    return low is None or high is None or low + (residue - low) % modulus <= high


def _classes(numbers: np.ndarray[Any, Any]) -> list[tuple[tuple[tuple[int, int], ...], int]]:
    """Return disjoint boxes of residues, each ``(modulus, residue)`` for each axis, on which the numbers are one."""

    def split(box: tuple[tuple[int, int], ...]) -> Iterator[tuple[tuple[tuple[int, int], ...], int]]:
        part = numbers[tuple(slice(r, None, g) for g, r in box)]
        if (part == part.flat[0]).all():
            yield box, int(part.flat[0])
            return
        varies = [axis for axis in range(part.ndim) if (part != part.take([0], axis)).any()]
        axis = varies[0]
        g, r = box[axis]
        rest = numbers.shape[axis] // g
        q = next(q for q in range(2, rest + 1) if rest % q == 0)
        for j in range(q):
            yield from split((*box[:axis], (g * q, r + g * j), *box[axis + 1 :]))

    found = list(split(tuple((1, 0) for _ in numbers.shape)))
    return sorted(found, key=lambda pair: pair[1])


# ---------------------------------------------------------------------- two dims


@dataclass(frozen=True, slots=True)
class _Line:
    """The points ``(x + step_x*t, y + step_y*t)`` for integers t; the steps are coprime, and one may be 0."""

    x: int
    y: int
    step_x: int
    step_y: int

    def at(self, t: int) -> tuple[int, int]:
        return self.x + self.step_x * t, self.y + self.step_y * t

    def meets(self, x: int, y: int, t: int, modulus: int) -> bool:
        """Return whether the line reaches a point at a parameter that is congruent to *t*."""
        if (x - self.x) * self.step_y != (y - self.y) * self.step_x:
            return False
        at = (x - self.x) // self.step_x if self.step_x else (y - self.y) // self.step_y
        return (at - t) % modulus == 0


def _line(a: int, b: int, c: int) -> _Line | None:
    """Return the line ``a*x + b*y == c``; None if no integers are on it."""
    g, u, v = _bezout(a, b)
    if c % g:
        return None
    x, y = u * (c // g), v * (c // g)
    step_x, step_y = b // g, -a // g
    if step_x < 0 or (step_x == 0 and step_y < 0):
        step_x, step_y = -step_x, -step_y
    shift = x // step_x if step_x else y // step_y
    return _Line(x - shift * step_x, y - shift * step_y, step_x, step_y)


def _bezout(a: int, b: int) -> tuple[int, int, int]:
    """Return ``(g, u, v)`` with ``u*a + v*b == g``, the greatest common divisor, which is positive."""
    (r, u, v), (s, w, z) = (a, 1, 0), (b, 0, 1)
    while s:
        q = r // s
        (r, u, v), (s, w, z) = (s, w, z), (r - q * s, u - q * w, v - q * z)
    return (r, u, v) if r > 0 else (-r, -u, -v)


def _parameter(line: _Line, x: str, y: str, ranges: Ranges) -> Ends | None:
    """Return the ends of the parameter of a line inside the ranges; None if it is outside."""
    low: int | None = None
    high: int | None = None
    for name, base, step in ((x, line.x, line.step_x), (y, line.y, line.step_y)):
        least, most = ranges.ends.get(name, (None, None))
        if step < 0:
            least, most = (None if most is None else -most), (None if least is None else -least)
            base, step = -base, -step
        if step == 0:
            if not ranges.holds(name, base):
                return None
            continue
        if least is not None:
            first = -((base - least) // step)
            low = first if low is None else max(low, first)
        if most is not None:
            last = (most - base) // step
            high = last if high is None else min(high, last)
    return None if low is not None and high is not None and low > high else (low, high)


def _decided_by_two(offsets: Sequence[Extent], x: str, y: str, judge: OffsetCount, ranges: Ranges) -> Cases:
    differences = [(t.get((x,), 0), t.get((y,), 0), t.get((), 0)) for t in map(terms_of, _differences(offsets))]
    lines = _lines(differences, x, y, judge.near, ranges)
    p, q = (_period(offsets, name, judge.modulus) for name in (x, y))
    if p * q * len(offsets) > MAX_GRID:
        raise InconclusiveError("the residues are few enough to be enumerated", [f"there are {p}*{q}"])
    far_x = max((2 + (abs(k) + judge.near) // abs(a) for a, b, k in differences if not b), default=1)
    far_x = -(-far_x // p) * p
    far_y = max((2 + (abs(k) + judge.near + abs(a) * (far_x + p)) // abs(b) for a, b, k in differences if b), default=1)
    far_y = -(-far_y // q) * q
    grid = [{x: far_x + r, y: far_y + s} for r, s in all_pairs(range(p), range(q))]
    usual = np.array(_numbers(offsets, grid, judge)).reshape(p, q)
    points: dict[tuple[int, int], int] = {}
    on_lines: list[tuple[_Line, int, int, int]] = []
    for line, ends in lines.items():
        for number, (t, modulus) in _decided_on(line, offsets, x, y, judge, ends):
            if not modulus:
                points[line.at(t)] = number
            elif any(
                number != usual[u % p, v % q] for u, v in map(line.at, range(t, t + modulus * lcm(p, q), modulus))
            ):
                on_lines.append((line, t, modulus, number))
    found: Cases = []
    for (u, v), number in sorted(points.items()):
        met = (n for line, t, modulus, n in on_lines if line.meets(u, v, t, modulus))
        if number != next(met, int(usual[u % p, v % q])):
            found.append(((at(x, u), at(y, v)), number))
    found += [((*_on(line, x, y), *_every(line, x, y, t, modulus)), number) for line, t, modulus, number in on_lines]
    for (first, second), number in _classes(usual):
        if _occurs(x, *first, ranges) and _occurs(y, *second, ranges):
            found.append(((*congruent(x, *first), *congruent(y, *second)), number))
    return found


def _lines(differences: Sequence[tuple[int, int, int]], x: str, y: str, near: int, ranges: Ranges) -> dict[_Line, Ends]:
    """Return the lines on which differences are small, and the ends of their parameters inside the ranges."""
    found: dict[_Line, Ends] = {}
    for a, b, k in differences:
        for small in range(-near, near + 1):
            line = _line(a, b, small - k)
            if line is not None and line not in found and (ends := _parameter(line, x, y, ranges)) is not None:
                found[line] = ends
                if len(found) > MAX_LINES:
                    raise InconclusiveError(f"offsets coincide on few lines of {x} and {y}")
    return found


def _decided_on(
    line: _Line, offsets: Sequence[Extent], x: str, y: str, judge: OffsetCount, ends: Ends
) -> list[tuple[int, tuple[int, int]]]:
    """Return numbers on a line, each with a value of the parameter, and the modulus of its class; 0 for one value."""
    t = "#t"
    moved = []
    for e in offsets:
        terms = terms_of(e)
        a, b, k = terms.get((x,), 0), terms.get((y,), 0), terms.get((), 0)
        step, first = a * line.step_x + b * line.step_y, a * line.x + b * line.y + k
        moved.append(step * symbol(t) + first if step else first)
    found: list[tuple[int, tuple[int, int]]] = []
    for conditions, number in decided(moved, judge, Ranges({t: ends})):
        if not conditions:
            found.append((number, (0, 1)))
        else:
            value = -terms_of(conditions[0].value).get((), 0)
            modulus = conditions[0].modulus if conditions[0].relation == "divides" else 0
            found.append((number, (value, modulus if isinstance(modulus, int) else 0)))
    return found


def _on(line: _Line, x: str, y: str) -> Conjunction:
    """Return the condition that a point is on a line."""
    if line.step_x == 0:
        return (at(x, line.x),)
    if line.step_y == 0:
        return (at(y, line.y),)
    e = (symbol(x) - line.x) * line.step_y - (symbol(y) - line.y) * line.step_x
    return (Requirement("", "zero", e),)


def _every(line: _Line, x: str, y: str, t: int, modulus: int) -> Conjunction:
    """Return the condition that the parameter of a point on a line has a residue."""
    if modulus == 1:
        return ()
    u, v = line.at(t)
    if line.step_x:
        return congruent(x, modulus * abs(line.step_x), u)
    return congruent(y, modulus * abs(line.step_y), v)


def known_ranges(facts: Facts) -> Ranges:
    """Return the ends of all symbols that are integers in *facts*."""
    ends: dict[str, Ends] = {}
    for name in {*facts.low, *facts.high}:
        low, high = facts.low.get(name), facts.high.get(name)
        ends[name] = (low if isinstance(low, int) else None, high if isinstance(high, int) else None)
    return Ranges(ends)
