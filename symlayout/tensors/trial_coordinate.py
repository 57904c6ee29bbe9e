"""A coordinate without a value, with which the functions of a user's map are tried when the map is declared."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.polynomial import Poly
from symlayout.tensors.declaration import Operand


class TrialCoordinate(Arithmetic):
    """Any coordinate.  Each extent that it is divided by becomes a requirement of *operand*: it is at least 1."""

    __slots__ = ("operand",)

    def __init__(self, operand: Operand) -> None:
        self.operand = operand

    def __add__(self, other: Any) -> TrialCoordinate:
        return self

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __add__

    def __floordiv__(self, other: Any) -> TrialCoordinate:
        if isinstance(other, int | Poly):
            self.operand.require_divisor(other)
        return self

    __mod__ = __floordiv__

    def entry_of(self, table: Any) -> TrialCoordinate:
        """Return the entry of a `Table` at this coordinate."""
        return self

    def of(self, other: Any) -> TrialCoordinate:
        """Return a number or an extent as a coordinate."""
        return self
