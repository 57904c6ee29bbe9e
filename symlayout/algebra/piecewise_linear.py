"""Functions of one integer that are linear between a few points: sums of the integer and of maxima of such functions.

A slice such as ``x[-1:100]`` has the extent ``max(0, min(L, 100) - max(0, L - 1))``.  The prover keeps its maxima as
symbols.  Here it is one function of ``L``, and where it has a value, or is not negative, is found exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor

from symlayout.algebra.fact_store import System
from symlayout.algebra.intervals import Interval
from symlayout.algebra.polynomial import Extent, names_of, terms_of
from symlayout_codegen.values import Value

_SIGNS = (-1, "max"), (1, "min")
_MOST_KINKS = 16  # of a function; one of more is left to others


class Line(Value):
    """The function ``constant + slope*x``."""

    constant: int
    slope: int

    def at(self, x: Fraction | int) -> Fraction | int:
        """Return the value at a place."""
        return self.constant + self.slope * x


class Extremes(Value):
    """The least of *lines* if *form* is ``min``, the greatest if ``max``.

    With *end*, it is the greatest of that and of *end*, or the least.
    """

    form: str
    lines: tuple[Line, ...]
    end: int | None = None


class PiecewiseLinear(Value):
    """A continuous function of one number: ``first(x)``, plus ``c * max(0, x - at)`` for each ``(at, c)`` of *kinks*.

    The kinks ascend, no two are at one place, and no *c* is 0: equal functions are equal values.
    """

    first: Line
    kinks: tuple[tuple[Fraction, int], ...] = ()

    @classmethod
    def least_of(cls, lines: Iterable[Line]) -> PiecewiseLinear:
        """Return the least of *lines* at each place, of which there is at least one."""
        first, *others = (cls(line) for line in lines)
        least: PiecewiseLinear = first
        for other in others:
            least = least.plus(least.plus(other, -1).positive_part(), -1)
        return least

    def at(self, x: Fraction | int) -> Fraction | int:
        """Return the value at a place."""
        return self.first.at(x) + sum(c * (x - at) for at, c in self.kinks if at < x)

    def plus(self, other: PiecewiseLinear, times: int) -> PiecewiseLinear:
        """Return this function plus *times* the other one."""
        first = Line(self.first.constant + times * other.first.constant, self.first.slope + times * other.first.slope)
        changes = dict(self.kinks)
        for at, c in other.kinks:
            changes[at] = changes.get(at, 0) + times * c
        return PiecewiseLinear(first, tuple(sorted((at, c) for at, c in changes.items() if c)))

    def times(self, factor: int) -> PiecewiseLinear:
        """Return this function times an integer."""
        return PiecewiseLinear(Line(0, 0)).plus(self, factor)

    def pieces(self) -> Iterator[tuple[Fraction | None, Fraction | None, Line]]:
        """Yield ``(begin, end, line)`` of each piece in order; an end that is None is infinite."""
        line, begin = self.first, None
        for at, c in self.kinks:
            yield begin, at, line
            line = Line(int(line.constant - c * at), line.slope + c)
            begin = at
        yield begin, None, line

    def positive_part(self) -> PiecewiseLinear:
        """Return the larger one of 0 and this function at each place."""
        zero = Line(0, 0)
        lines: list[tuple[Fraction | None, Line]] = []
        for begin, end, line in self.pieces():
            root = Fraction(-line.constant, line.slope) if line.slope else None
            inside = root is not None and (begin is None or begin < root) and (end is None or root < end)
            cuts = [begin, root, end] if inside else [begin, end]
            for left, right in pairwise(cuts):
                lines.append((left, line if line.at(_between(left, right)) > 0 else zero))
        slopes = [line.slope for _, line in lines]
        kinks = ((at, after - before) for (at, _), before, after in zip(lines[1:], slopes, slopes[1:], strict=False))
        return PiecewiseLinear(lines[0][1], tuple((at, c) for at, c in kinks if at is not None and c))

    def within(self, low: int | None, high: int | None) -> PiecewiseLinear:
        """Return the function without the kinks that none of the numbers from *low* to *high* lies beyond."""
        first, kinks = self.first, []
        for at, c in self.kinks:
            if low is not None and at <= low:
                first = Line(int(first.constant - c * at), first.slope + c)
            elif high is None or at < high:
                kinks.append((at, c))
        return PiecewiseLinear(first, tuple(kinks))

    def extremes(self, low: int | None, high: int | None) -> Extremes | None:
        """Return what the function is from *low* to *high*; None if it is no such extremes."""
        function = self.within(low, high)
        lines = list(dict.fromkeys(line for _, _, line in function.pieces()))
        ends = {line.constant for line in (lines[0], lines[-1]) if line.slope == 0}
        for (sign, form), end in (*product(_SIGNS, (None,)), *product(_SIGNS, sorted(ends))):
            inner = [line for line in lines if end is None or line != Line(end, 0)]
            if not inner:
                continue
            found = self.least_of(Line(sign * line.constant, sign * line.slope) for line in inner)
            if end is not None:  # max(end, found) = end + max(0, found - end)
                number = PiecewiseLinear(Line(sign * end, 0))
                found = number.plus(found.plus(number, -1).positive_part(), 1)
            if found.within(low, high).plus(function, -sign) == PiecewiseLinear(Line(0, 0)):
                return Extremes(form, tuple(inner), end)
        return None

    def where_zero(self, low: int | None, high: int | None) -> list[Interval]:
        """Return the integers from *low* to *high* at which this function is 0, as ascending intervals apart."""
        return _common(self.where_nonnegative(low, high), self.times(-1).where_nonnegative(low, high))

    def where_nonnegative(self, low: int | None, high: int | None) -> list[Interval]:
        """Return the integers from *low* to *high* at which this function is >= 0, as ascending intervals apart."""
        found: list[Interval] = []
        for begin, end, line in self.pieces():
            left = _highest(low, None if begin is None else ceil(begin))
            right = _lowest(high, None if end is None else floor(end))
            if line.slope > 0:
                left = _highest(left, -(line.constant // line.slope))
            elif line.slope < 0:
                right = _lowest(right, line.constant // -line.slope)
            elif line.constant < 0:
                continue
            if left is not None and right is not None and left > right:
                continue
            if found and found[-1][1] is not None and left is not None and left <= found[-1][1] + 1:
                found[-1] = found[-1][0], right
            else:
                found.append((left, right))
        return found


def _between(left: Fraction | None, right: Fraction | None) -> Fraction:
    """Return a number between two, of which None is infinite."""
    if left is None:
        return Fraction(0) if right is None else right - 1
    return left + 1 if right is None else (left + right) / 2


def _highest(a: int | None, b: int | None) -> int | None:
    return max((x for x in (a, b) if x is not None), default=None)


def _lowest(a: int | None, b: int | None) -> int | None:
    return min((x for x in (a, b) if x is not None), default=None)


def _common(left: list[Interval], right: list[Interval]) -> list[Interval]:
    """Return the integers that are in one of the intervals *left* and in one of the intervals *right*."""
    found = []
    for a, b in left:
        for c, d in right:
            begin, end = _highest(a, c), _lowest(b, d)
            if begin is None or end is None or begin <= end:
                found.append((begin, end))
    return found


def piecewise_linear(facts: System, e: Extent) -> tuple[str, PiecewiseLinear] | None:
    """Return *e* as a function of the one symbol that it is made of, and that symbol's name.

    None if it is made of several, or is not linear between points, or has no maximum.
    """
    if names_of(e).isdisjoint(facts.definitions):
        return None
    found = _read(facts, facts.reduce(e))
    return None if found is None or found[0] is None or not found[1].kinks else (found[0], found[1])


def _read(facts: System, e: Extent) -> tuple[str | None, PiecewiseLinear] | None:
    """Return *e* as a function, and the name of its symbol; None for the name if it is a number."""
    base, total = None, PiecewiseLinear(Line(0, 0))
    for monomial, c in terms_of(e).items():
        name, part = None, PiecewiseLinear(Line(1, 0))
        if len(monomial) > 1:
            return None
        if monomial:
            d = facts.definitions.get(monomial[0])
            if d is None or d.form != "max":
                name, part = monomial[0], PiecewiseLinear(Line(0, 1))
            elif d.left != 0 or (inner := _read(facts, facts.reduce(d.right))) is None:
                return None
            else:
                name, part = inner[0], inner[1].positive_part()
        if None not in (base, name) and base != name:
            return None
        base, total = base or name, total.plus(part, c)
        if len(total.kinks) > _MOST_KINKS:
            return None
    return base, total
