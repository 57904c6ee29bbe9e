"""The operators of coordinates that follow from ``+ - * // %``: every evaluator of declarations inherits them."""

from __future__ import annotations

from typing import Any

from symlayout.errors import InconclusiveError


class Arithmetic:
    """A base class for coordinates: it derives the other operators of arrays from ``+ - * // %``."""

    __slots__ = ()

    def __neg__(self) -> Any:
        return 0 - self  # type: ignore[operator]

    def __pos__(self) -> Any:
        return self

    def __pow__(self, power: int) -> Any:
        result: Any = self._of(1)
        for _ in range(power):
            result = result * self
        return result

    def __rfloordiv__(self, other: Any) -> Any:
        return self._of(other) // self

    def __rmod__(self, other: Any) -> Any:
        return self._of(other) % self

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def entry_of(self, table: Any) -> Any:
        """Return the entry of a `Table` at this coordinate; ``InconclusiveError`` where the evaluator has no tables."""
        raise InconclusiveError(f"a coordinate is made of sums, products and quotients, without the table {table!r}")

    def _of(self, other: Any) -> Any:
        """Return a number or an extent as a coordinate of this class."""
        return self * 0 + other  # type: ignore[operator]
