"""Coordinates beside the integers between which they are, so that a declaration may use ``i ^ j``.

The exclusive or needs a side of a known number of bits.  A declaration's function is called with coordinates of any
evaluator; here each is paired with its ends, by interval arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symlayout.algebra.arithmetic import MAX_BIT, Arithmetic, exclusive_or
from symlayout.algebra.polynomial import Extent, Poly
from symlayout.errors import ShapeError
from symlayout.tensors.declaration import Operand
from symlayout.tensors.trial_coordinate import TrialCoordinate

End = int | None
"""An end of a range of integers; None is unbounded."""


class RangedCoordinate(Arithmetic):
    """A coordinate and its ends, with the operators of coordinates and ``^``.

    Attributes
    ----------
    value : any coordinate
        What is computed.
    low, high : int or None
        The ends; None is unbounded.
    box : RangedBox
        The domain; it knows the ends of extents.
    """

    __slots__ = ("box", "high", "low", "value")

    def __init__(self, value: Any, low: End, high: End, box: RangedBox) -> None:
        self.value, self.low, self.high, self.box = value, low, high, box

    def of(self, other: Any) -> RangedCoordinate:
        """Return a number or an extent, or a coordinate itself, as a coordinate of this class."""
        if isinstance(other, RangedCoordinate):
            return other
        return RangedCoordinate(other, *self.box.ends_of(other), self.box)

    def _made(self, value: Any, low: End, high: End) -> RangedCoordinate:
        return RangedCoordinate(value, low, high, self.box)

    def __add__(self, other: Any) -> RangedCoordinate:
        b = self.of(other)
        return self._made(self.value + b.value, _sum(self.low, b.low), _sum(self.high, b.high))

    __radd__ = __add__

    def __sub__(self, other: Any) -> RangedCoordinate:
        b = self.of(other)
        return self._made(self.value - b.value, _sum(self.low, b.high, -1), _sum(self.high, b.low, -1))

    def __rsub__(self, other: Any) -> RangedCoordinate:
        return self.of(other) - self

    def __mul__(self, other: Any) -> RangedCoordinate:
        b = self.of(other)
        return self._made(self.value * b.value, *_product((self.low, self.high), (b.low, b.high)))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> RangedCoordinate:
        b = self.of(other)
        value = self.value // b.value
        if isinstance(b.value, int):
            return self._made(value, *(None if end is None else end // b.value for end in (self.low, self.high)))
        low, high = self.low, self.high  # a divisor is at least 1
        return self._made(value, None if low is None else min(low, 0), None if high is None else max(high, 0))

    def __mod__(self, other: Any) -> RangedCoordinate:
        b = self.of(other)
        inside = self.low is not None and self.low >= 0 and self.high is not None and isinstance(b.value, int)
        if inside and self.high < b.value:
            return self._made(self.value % b.value, self.low, self.high)
        return self._made(self.value % b.value, 0, _sum(b.high, -1))

    def __xor__(self, other: Any) -> RangedCoordinate:
        self.box.is_used = True
        b = self.of(other)
        return exclusive_or_of(self, b)(self, b)  # type: ignore[no-any-return]

    __rxor__ = __xor__

    def exclusive_or(self, by: Any, bits: int) -> RangedCoordinate:
        """Return ``self ^ by`` for ``0 <= by < 2**bits``."""
        value = exclusive_or(self.value, self.of(by).value, bits)
        low = None if self.low is None else self.low >> bits << bits
        high = None if self.high is None else (self.high >> bits << bits) + (1 << bits) - 1
        return self._made(value, low, high)

    def entry_of(self, table: Any) -> RangedCoordinate:
        """Return the entry of a `Table` at this coordinate."""
        return self._made(table[self.value], table.low, table.high)


class RangedBox:
    """The ranges of the coordinates of a domain: what the functions of one declared map are called with.

    Attributes
    ----------
    is_used : bool
        Whether a function uses ``^``, as it was seen when the map was tried; others need no ranges.
    """

    def __init__(self, domain: Sequence[Extent], operand: Operand) -> None:
        self._domain, self._operand = domain, operand
        self.is_used = False

    def ends_of(self, e: Any) -> tuple[End, End]:
        """Return the least and the largest value of an extent; of any other coordinate, nothing is known."""
        if isinstance(e, Poly):
            return self._operand.facts.least(e), self._operand.facts.greatest(e)
        return (e, e) if isinstance(e, int) else (None, None)

    def coordinates(self, o: Sequence[Any]) -> list[RangedCoordinate]:
        """Return coordinates of the domain with their ranges."""
        tops = (self.ends_of(n)[1] for n in self._domain)
        return [RangedCoordinate(c, 0, _sum(top, -1), self) for c, top in zip(o, tops, strict=True)]

    def given(self, o: Sequence[Any]) -> Sequence[Any]:
        """Return what a function of the map is called with for the coordinates *o*; integers have a ``^`` already."""
        is_trial = any(isinstance(c, TrialCoordinate) for c in o)
        needs_ranges = is_trial or (self.is_used and any(isinstance(c, Arithmetic) for c in o))
        return self.coordinates(o) if needs_ranges else o


def exclusive_or_of(a: RangedCoordinate, b: RangedCoordinate) -> Callable[[Any, Any], Any]:
    """Return the function ``x, y -> x ^ y`` of all values that two coordinates have.

    Raises
    ------
    ShapeError
        ``unbounded`` if neither has one sign and at most 40 bits.
    """
    sides = [(bits, first) for first, side in enumerate((b, a)) if (bits := _bits(side)) is not None]
    if not sides:
        raise ShapeError(
            f"neither side of a ^ has a known number of bits, at most {MAX_BIT}"
            f"\n  known: the left side is from {_range_text(a)}, the right side from {_range_text(b)}"
            "\n  help: i ^ j % 2**k takes k bits of j; a dim with max= bounds the indices of its axis",
            "unbounded",
        )
    bits, swapped = min(sides)
    low = (a if swapped else b).low
    is_negative = low is not None and low < 0

    def function(x: Any, y: Any) -> Any:
        n, by = (y, x) if swapped else (x, y)
        return -1 - exclusive_or(n, -1 - by, bits) if is_negative else exclusive_or(n, by, bits)

    return function


def exclusive_or_of_all(sides: Sequence[RangedCoordinate]) -> Callable[[Sequence[Any]], Any]:
    """Return the function of values of coordinates that is the exclusive or of all of them, short ones first.

    Raises
    ------
    ShapeError
        ``unbounded`` if more than one does not have one sign and at most 40 bits.
    """
    first, *others = sorted(range(len(sides)), key=lambda k: MAX_BIT + 1 if (bits := _bits(sides[k])) is None else bits)
    steps = []
    total = sides[first]
    for k in others:
        join = exclusive_or_of(sides[k], total)
        steps.append((k, join))
        total = join(sides[k], total)

    def function(values: Sequence[Any]) -> Any:
        found = values[first]
        for k, join in steps:
            found = join(values[k], found)
        return found

    return function


def plain(value: Any) -> Any:
    """Return a coordinate without its range."""
    return value.value if isinstance(value, RangedCoordinate) else value


def _sum(a: End, b: End, sign: int = 1) -> End:
    return None if a is None or b is None else a + sign * b


def _product(a: tuple[End, End], b: tuple[End, End]) -> tuple[End, End]:
    """Return the ends of the products of integers between given ends."""
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b]  # type: ignore[operator]
        return min(corners), max(corners)
    a, b = (a, b) if b[0] is not None and b[0] == b[1] else (b, a)
    if b[0] is not None and b[0] == b[1]:
        ends = tuple(None if end is None else end * b[0] for end in a)
        return (ends[0], ends[1]) if b[0] > 0 else (0, 0) if b[0] == 0 else (ends[1], ends[0])
    return (0 if all(low is not None and low >= 0 for low in (a[0], b[0])) else None), None


def _bits(e: RangedCoordinate) -> int | None:
    """Return the number of bits of a coordinate that has one sign; None if it is not known, or too large."""
    if e.low is None or e.high is None or e.low < 0 <= e.high:
        return None
    bits = (e.high if e.low >= 0 else -1 - e.low).bit_length()
    return bits if bits <= MAX_BIT else None


def _range_text(e: RangedCoordinate) -> str:
    low, high = ("unbounded" if end is None else str(end) for end in (e.low, e.high))
    return f"{low} to {high}"
