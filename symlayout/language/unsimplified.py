"""A coordinate that declarations compute with and that stays as it is written: nothing is simplified."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.language.readable import Apply, Sum, atom, fold_fixed, number


class Literal(Arithmetic):
    """A sum over coordinates and dims, with floors and remainders as they are asked for."""

    __slots__ = ("e", "facts")

    def __init__(self, e: Sum, facts: Facts) -> None:
        self.e, self.facts = e, facts

    def _other(self, other: Any) -> Sum:
        return literal(other, self.facts).e

    def __add__(self, other: Any) -> Literal:
        return Literal(self.e + self._other(other), self.facts)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Literal:
        return Literal(self.e + -self._other(other), self.facts)

    def __rsub__(self, other: Any) -> Literal:
        return Literal(self._other(other) + -self.e, self.facts)

    def __mul__(self, other: Any) -> Literal:
        return Literal(self.e * self._other(other), self.facts)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Literal:
        divisor = self._other(other)
        return self if divisor == number(1) else Literal(atom(Apply("//", (self.e, divisor))), self.facts)

    def __mod__(self, other: Any) -> Literal:
        divisor = self._other(other)
        return Literal(Sum(()) if divisor == number(1) else atom(Apply("%", (self.e, divisor))), self.facts)


def literal(value: Any, facts: Facts) -> Literal:
    """Return *value*, a literal or an extent of *facts*, as a literal."""
    if isinstance(value, Literal):
        return value
    e: Extent = value
    return Literal(fold_fixed(facts.reduce(e), facts), facts)
