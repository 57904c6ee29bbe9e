"""Equations between floors of one number that restrict its remainder only, as ``ceil(C/4) == floor(C/4)`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import gcd, lcm
from typing import NamedTuple

from symlayout.algebra.fact_store import Definition
from symlayout.algebra.polynomial import Extent, Poly, collapse, content, exact_quotient, names_of, symbol, terms_of

_MOST_STEPS = 4096  # of the floors within a period


class Floor(NamedTuple):
    """The term ``times * floor((slope*n + shift)/divisor)`` of an equation about *n*; *name* is the floor's symbol."""

    name: str
    times: int
    slope: int
    shift: int
    divisor: int

    def at(self, n: int) -> int:
        """Return the value of the term at *n*."""
        return self.times * ((self.slope * n + self.shift) // self.divisor)

    def steps(self, period: int) -> list[int]:
        """Return all ``0 < n < period`` at which the floor differs from that at ``n - 1``."""
        first, last = sorted((self.slope * n + self.shift) // self.divisor for n in (0, period - 1))
        if self.slope > 0:  # the first n with slope*n + shift >= k*divisor
            return [-((self.shift - k * self.divisor) // self.slope) for k in range(first + 1, last + 1)]
        return [(self.shift - k * self.divisor) // -self.slope + 1 for k in range(first + 1, last + 1)]


class RemainderEquation(NamedTuple):
    """An equation ``sum of floors + slope*base + constant == 0`` that depends on ``base % period`` only."""

    base: Extent
    period: int
    slope: int
    constant: int
    floors: tuple[Floor, ...]

    def remainders(self) -> list[range]:
        """Return all ``0 <= n < period`` at which the equation holds, as ranges in order.

        Between two steps of the floors, the left side is linear.
        """
        cuts = sorted({0, self.period, *(n for floor in self.floors for n in floor.steps(self.period))})
        found: list[range] = []
        for start, stop in pairwise(cuts):
            value = sum(floor.at(start) for floor in self.floors) + self.slope * start + self.constant
            if self.slope == 0:
                part = range(start, stop if value == 0 else start)
            else:
                n = start - value // self.slope
                part = range(n, n + 1) if value % self.slope == 0 and start <= n < stop else range(0)
            if part and found and found[-1].stop == part.start:
                found[-1] = range(found[-1].start, part.stop)
            elif part:
                found.append(part)
        return found


def remainder_equation(e: Extent, definitions: Mapping[str, Definition]) -> RemainderEquation | None:
    """Return ``e == 0`` as an equation about the remainder of one number; None if it is not one.

    All floors in *e* are of that number with constant factors, and their sum grows as fast as the rest falls.
    """
    found = sorted(names_of(e) & definitions.keys())
    if not isinstance(e, Poly) or not found:
        return None
    base: Extent = 0
    floors: list[Floor] = []
    rest: Extent = e
    for name in found:
        d, times = definitions[name], e.terms.get((name,), 0)
        rest = rest - times * symbol(name)
        if d.form != "floor" or not isinstance(d.right, int) or names_of(d.left) & definitions.keys():
            return None
        shift = terms_of(d.left).get((), 0)
        base = base or primitive(d.left - shift)
        slope = exact_quotient(d.left - shift, base)
        if not times or not isinstance(slope, int):
            return None
        floors.append(Floor(name, times, slope, shift, d.right))
    constant = terms_of(rest).get((), 0)
    slope = exact_quotient(rest - constant, base)
    if not isinstance(slope, int):
        return None
    whole = lcm(*(f.divisor for f in floors))
    if slope * whole + sum(f.times * f.slope * (whole // f.divisor) for f in floors):
        return None
    period = lcm(*(f.divisor // gcd(f.divisor, f.slope) for f in floors))
    return RemainderEquation(base, period, slope, constant, tuple(floors)) if _is_short(floors, period) else None


def _is_short(floors: Sequence[Floor], period: int) -> bool:
    return sum(abs(f.slope) * period // f.divisor for f in floors) <= _MOST_STEPS


def primitive(e: Extent) -> Extent:
    """Return *e* divided by its greatest constant factor, with a first coefficient that is positive."""
    terms = terms_of(e)
    common = content(dict(terms)) * (1 if next(iter(terms.values()), 1) > 0 else -1)
    return collapse({m: c // common for m, c in terms.items()})


def common_remainders(equations: Sequence[RemainderEquation], number: Extent) -> tuple[list[range], int]:
    """Return the numbers at which all equations hold within a common period, as ranges in order, and that period.

    The period is that of the first equation where a common one has too many steps: others are left out.  *number* is
    what the equations are about, in the symbols that remain: only its remainders are taken, as 0 and 2 for ``2*g``.
    """
    first, *others = equations
    period, found = first.period, first.remainders()
    for other in others:
        joint = lcm(period, other.period)
        if len(found) * (joint // period) + len(other.floors) * (joint // other.period) > _MOST_STEPS:
            continue
        repeated = [_repeated(found, period, joint), _repeated(other.remainders(), other.period, joint)]
        found, period = _common(*repeated), joint
    constant = terms_of(number).get((), 0)
    step = gcd(period, *terms_of(number - constant).values())
    if step > 1 and period // step <= _MOST_STEPS:
        found = _common(found, [range(n, n + 1) for n in range(constant % step, period, step)])
    return found, period


def one_remainder(found: Sequence[range], period: int) -> tuple[int, int] | None:
    """Return ``(r, m)`` if the numbers *found* below *period* are those with remainder ``r`` by ``m``; else None.

    >>> one_remainder([range(1, 2), range(3, 4)], 4)
    (1, 2)
    """
    count = sum(map(len, found))
    if not count or period % count:
        return None
    m, r = period // count, found[0].start
    if m == 1:
        return 0, 1
    return (r, m) if all(len(part) == 1 and part.start % m == r for part in found) else None


def _repeated(found: Sequence[range], period: int, joint: int) -> list[range]:
    return [range(r.start + k, r.stop + k) for k in range(0, joint, period) for r in found]


def _common(a: Sequence[range], b: Sequence[range]) -> list[range]:
    """Return the numbers that are in both lists, as ranges in order; each list is in order."""
    found, left, right = [], iter(a), iter(b)
    x, y = next(left, None), next(right, None)
    while x is not None and y is not None:
        if both := range(max(x.start, y.start), min(x.stop, y.stop)):
            found.append(both)
        if x.stop < y.stop:
            x = next(left, None)
        else:
            y = next(right, None)
    return found
