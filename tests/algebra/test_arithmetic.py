"""The operators that follow from ``+ - * // %`` are those of integers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from symlayout.algebra.arithmetic import Arithmetic


@dataclass(frozen=True, slots=True)
class Number(Arithmetic):
    """An integer with the five operators, from which all others follow."""

    value: int

    def __add__(self, other: Number | int) -> Number:
        return Number(self.value + number(other))

    def __rsub__(self, other: Number | int) -> Number:
        return Number(number(other) - self.value)

    def __mul__(self, other: Number | int) -> Number:
        return Number(self.value * number(other))

    def __floordiv__(self, other: Number | int) -> Number:
        return Number(self.value // number(other))

    def __mod__(self, other: Number | int) -> Number:
        return Number(self.value % number(other))


def number(value: Number | int) -> int:
    return value.value if isinstance(value, Number) else value


def test_the_operators_are_those_of_integers() -> None:
    for a, b in itertools.product(range(-4, 5), (-3, -1, 1, 2, 5)):
        x = Number(b)
        assert (-x).value == -b
        assert (+x).value == b
        assert (x**3).value == b**3
        assert (a // x).value == a // b
        assert (a % x).value == a % b
        assert tuple(map(number, divmod(Number(a), b))) == divmod(a, b)
        assert tuple(map(number, divmod(a, x))) == divmod(a, b)
