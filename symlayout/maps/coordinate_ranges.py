"""Interval arithmetic on coordinates: between which extents an expression is, for all coordinates of a box."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.polynomial import Extent
from symlayout.tensors.declaration import Operand


class CoordinateRange(Arithmetic):
    """All values between two extents, with the operators of coordinates.

    ``low`` and ``high`` are the least and the greatest value.  Where ``high < low``, there are none.  *x* has the facts
    by which ends are compared, and takes the maxima and quotients that are not decided.
    """

    __slots__ = ("high", "low", "x")

    def __init__(self, low: Extent, high: Extent, x: Operand) -> None:
        self.low, self.high, self.x = low, high, x

    def _ends(self, other: Any) -> tuple[Extent, Extent]:
        return (other.low, other.high) if isinstance(other, CoordinateRange) else (other, other)

    def __add__(self, other: Any) -> CoordinateRange:
        low, high = self._ends(other)
        return CoordinateRange(self.low + low, self.high + high, self.x)

    __radd__ = __add__

    def __sub__(self, other: Any) -> CoordinateRange:
        low, high = self._ends(other)
        return CoordinateRange(self.low - high, self.high - low, self.x)

    def __rsub__(self, other: Any) -> CoordinateRange:
        low, high = self._ends(other)
        return CoordinateRange(low - self.high, high - self.low, self.x)

    def __mul__(self, other: Any) -> CoordinateRange:
        if not isinstance(other, CoordinateRange):  # no maximum of the ends: an empty range stays empty
            for sign, ends in ((1, (self.low, self.high)), (-1, (self.high, self.low))):
                if self.x.facts.nonnegative(other * sign):
                    return CoordinateRange(ends[0] * other, ends[1] * other, self.x)
        corners = dict.fromkeys(a * b for a in (self.low, self.high) for b in self._ends(other))
        least, *others = corners
        most = least
        for e in others:
            least, most = self.x.minimum(least, e), self.x.maximum(most, e)
        return CoordinateRange(least, most, self.x)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: Extent) -> CoordinateRange:
        return CoordinateRange(self.x.floor_div(self.low, divisor), self.x.floor_div(self.high, divisor), self.x)

    def __mod__(self, divisor: Extent) -> CoordinateRange:
        return CoordinateRange(0, divisor - 1, self.x)

    def exclusive_or(self, by: Any, bits: int) -> CoordinateRange:
        """Return the range of ``self ^ by`` for ``0 <= by < 2**bits``: whole blocks of ``2**bits``."""
        block = 1 << bits
        low, high = (self.x.floor_div(end, block) * block for end in (self.low, self.high))
        return CoordinateRange(low, high + (block - 1), self.x)
