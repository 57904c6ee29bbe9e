"""A coordinate for declared maps that records expressions as the declaration writes them, without simplifying."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.language.readable import Apply, Sum, atom, fold_fixed, number


class Literal(Arithmetic):
    """An unsimplified sum over coordinates and dims, with floors and remainders where ``//`` and ``%`` are applied."""

    __slots__ = ("e", "facts")

    def __init__(self, e: Sum, facts: Facts) -> None:
        self.e, self.facts = e, facts

    def _sum_of(self, other: Any) -> Sum:
        return literal(other, self.facts).e

    def __add__(self, other: Any) -> Literal:
        return Literal(self.e + self._sum_of(other), self.facts)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Literal:
        return Literal(self.e + -self._sum_of(other), self.facts)

    def __rsub__(self, other: Any) -> Literal:
        return Literal(self._sum_of(other) + -self.e, self.facts)

    def __mul__(self, other: Any) -> Literal:
        return Literal(self.e * self._sum_of(other), self.facts)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Literal:
        divisor = self._sum_of(other)
        return self if divisor == number(1) else Literal(atom(Apply("//", (self.e, divisor))), self.facts)

    def __mod__(self, other: Any) -> Literal:
        divisor = self._sum_of(other)
        return Literal(Sum(()) if divisor == number(1) else atom(Apply("%", (self.e, divisor))), self.facts)

    def entry_of(self, table: Any) -> Literal:
        """Return the entry of a `Table` at this coordinate."""
        return Literal(atom(Apply("[]", (self.e,), table)), self.facts)


def literal(value: Any, facts: Facts) -> Literal:
    """Return *value*, a `Literal` or an extent of *facts*, as a `Literal`."""
    if isinstance(value, Literal):
        return value
    e: Extent = value
    return Literal(fold_fixed(facts.reduce(e), facts), facts)
