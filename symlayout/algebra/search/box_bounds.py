"""Boxes, which give each symbol an interval with ends that may be infinite, and bounds of expressions in a box.

The bounds, called sides, are sound and need not be tight: an expression stays within its sides and may not reach them.
"""

from __future__ import annotations

from collections import Counter
from math import inf

from symlayout.algebra.fact_store import drop
from symlayout.algebra.polynomial import Extent, collapse, terms_of
from symlayout_codegen.values import Value

Bound = float  # an int, or an infinite float
Sides = tuple[Bound, Bound]
Box = dict[str, Sides]

MAX_BITS = 512
"""Most bits of a finite side: far more than any size needs."""
_MOST = 1 << MAX_BITS


class SlopedExpression(Value):
    """An expression, with its derivative (slope) by each symbol that occurs more than once in it."""

    e: Extent
    slopes: tuple[tuple[str, Extent], ...]

    @property
    def weight(self) -> int:
        """About how many terms `least` visits."""
        return (1 + len(self.slopes)) * len(terms_of(self.e))

    def least(self, box: Box) -> Bound:
        """Return a lower bound in a box.  A symbol whose slope has a fixed sign is set to the end that is least."""
        if self.slopes:
            box = dict(box)
            for name, slope in self.slopes:
                end = lower_end(box[name], sides_of(slope, box))
                if end is not None:
                    box[name] = end, end
        return sides_of(self.e, box)[0]


def form_of(e: Extent) -> SlopedExpression:
    """Return an expression with its slopes."""
    uses = Counter(name for monomial in terms_of(e) for name in monomial)
    return SlopedExpression(e, tuple((name, slope_of(e, name)) for name in sorted(uses) if uses[name] > 1))


def slope_of(e: Extent, name: str) -> Extent:
    """Return the derivative of *e* by a symbol."""
    return collapse({drop(m, name): c * m.count(name) for m, c in terms_of(e).items() if name in m})


def tighter(sides: Sides, c: Sides, most: Bound) -> Sides:
    """Return the sides of *s* as tightened by ``c*s + rest >= 0``, where ``rest <= most``.

    *c* holds the sides of the coefficient.
    """
    low, high = sides
    if most < 0:  # c*s > 0: c and s have the same sign, and neither is 0
        if c[0] >= 0:
            return max(low, ceil_of(-most, c[1])), high
        if c[1] <= 0:
            return low, min(high, -ceil_of(-most, -c[0]))
    elif most != inf:
        if c[0] >= 1:
            return max(low, -floor_of(most, c[0])), high
        if c[1] <= -1:
            return low, min(high, floor_of(most, -c[1]))
    return sides


def modest(sides: Sides) -> Sides:
    """Widen the sides to at most `MAX_BITS` bits, or to infinity: repeated products of bounds would grow fast."""
    low, high = sides
    low = -inf if low < -_MOST else min(low, _MOST)
    high = inf if high > _MOST else max(high, -_MOST)
    return low, high


def floor_of(n: Bound, d: Bound) -> Bound:
    """Return ``floor(n / d)``, for ``n >= 0`` and ``d >= 1``."""
    return 0 if d == inf else n // d


def ceil_of(n: Bound, d: Bound) -> Bound:
    """Return the least *s* with ``d*s >= n``, for ``n >= 1`` and ``d >= 0``; infinity if there is none."""
    if d == 0 or n == inf:
        return inf
    return 1 if d == inf else -(-n // d)


def quotient_sides(n: Sides, d: Sides) -> Sides:
    """Return the sides of ``floor(n/d)``, for ``d >= 1``."""
    low, high = n
    d_low, d_high = max(d[0], 1), d[1]
    if abs(low) != inf:
        low = low // d_low if low < 0 else floor_of(low, d_high)
    if abs(high) != inf:
        high = high // d_low if high >= 0 else -1 if d_high == inf else high // d_high
    return low, high


def _times(a: Bound, b: Bound) -> Bound:
    if type(a) is int is type(b):
        return a * b
    if not a or not b:
        return 0
    return inf if (a > 0) == (b > 0) else -inf  # not a float product: the int may be too large for a float


def sides_of(e: Extent, box: Box) -> Sides:
    """Return sides of *e* in a box, summed over its terms.  They are exact if no symbol occurs twice."""
    least: Bound = 0
    most: Bound = 0
    for monomial, coefficient in terms_of(e).items():
        low: Bound = coefficient
        high: Bound = coefficient
        for name in monomial:
            a, b = box[name]
            if a >= 0 <= low:  # a and low are ints here: neither is -inf
                low, high = low * a, _times(high, b)
            elif a >= 0 >= high:
                low, high = _times(low, b), high * a
            else:
                corners = _times(low, a), _times(low, b), _times(high, a), _times(high, b)
                low, high = min(corners), max(corners)
        # All infinite lows are -inf and all infinite highs are inf, so no sum is undefined.
        least = least + low if type(least) is int is type(low) else low if type(low) is float else least
        most = most + high if type(most) is int is type(high) else high if type(high) is float else most
    return least, most


def lower_end(sides: Sides, slope: Sides) -> Bound | None:
    """Return the end of a symbol at which an expression with this slope is least.

    None is returned if the slope has no fixed sign, or if that end is infinite.
    """
    end = sides[0] if slope[0] >= 0 < slope[1] else sides[1] if slope[1] <= 0 > slope[0] else inf
    return None if abs(end) == inf else end
