"""The operators of coordinates that follow from ``+ - * // %``: every evaluator of declarations inherits them.

The exclusive or is one of them, bit by bit: ``(a + b) % 2``.  So proofs and kernels need nothing for swizzles, linear
layouts and ``i ^ j``.
"""

from __future__ import annotations

from typing import Any

from symlayout.errors import InconclusiveError

MAX_BIT = 40  # most bits that an exclusive or changes


def bit(n: Any, place: int) -> Any:
    """Return bit *place* of an integer, 0 or 1; of a negative one, that of its two's complement."""
    return n // (1 << place) % 2


def bit_change(n: Any, by: Any, place: int) -> Any:
    """Return what is added to *n* by the exclusive or of its bit *place* with the bit *by*."""
    own = bit(n, place)
    if isinstance(by, int):
        return by * (1 << place) * (1 - 2 * own)
    return (1 << place) * ((own + by) % 2 - own)


def exclusive_or(n: Any, by: Any, bits: int) -> Any:
    """Return ``n ^ by`` for ``0 <= by < 2**bits``; *n* is any integer.  Both are ints, arrays or coordinates.

    >>> exclusive_or(-6, 3, 2), exclusive_or(12, 10, 4)
    (-7, 6)
    """
    if isinstance(n, Arithmetic):
        return n.exclusive_or(by, bits)
    if isinstance(by, Arithmetic):
        return by.of(n).exclusive_or(by, bits)
    return n ^ by


class Arithmetic:
    """A base class for coordinates: it derives the other operators of arrays from ``+ - * // %``."""

    __slots__ = ()

    def __neg__(self) -> Any:
        return 0 - self  # type: ignore[operator]

    def __pos__(self) -> Any:
        return self

    def __pow__(self, power: int) -> Any:
        result: Any = self.of(1)
        for _ in range(power):
            result = result * self
        return result

    def __rfloordiv__(self, other: Any) -> Any:
        return self.of(other) // self

    def __rmod__(self, other: Any) -> Any:
        return self.of(other) % self

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def entry_of(self, table: Any) -> Any:
        """Return the entry of a `Table` at this coordinate; ``InconclusiveError`` where the evaluator has no tables."""
        raise InconclusiveError(f"a coordinate is made of sums, products and quotients, without the table {table!r}")

    def exclusive_or(self, by: Any, bits: int) -> Any:
        """Return ``self ^ by`` for ``0 <= by < 2**bits``."""
        other = by if isinstance(by, (int, Arithmetic)) else self.of(by)
        total: Any = self
        for place in range(bits):
            total = total + bit_change(self, bit(other, place), place)
        return total

    def of(self, other: Any) -> Any:
        """Return a number or an extent as a coordinate of this class."""
        return self * 0 + other  # type: ignore[operator]
