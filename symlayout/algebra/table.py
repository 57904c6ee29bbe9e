"""Tables: functions of an integer that are given by their values, such as a list of indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.algebra.arithmetic import Arithmetic


class Table:
    """The function ``u -> values[u]``, with the first value before the first entry, and the last after the last.

    So a table has a value, between *low* and *high*, at every integer: also at a coordinate that a guard excludes.

    Attributes
    ----------
    values : tuple of int
        The entries.
    low, high : int
        The least and the greatest entry.
    key : str
        A text that differs for tables with different entries.

    Examples
    --------
    >>> squares = Table([0, 1, 4, 9])
    >>> squares[2], squares[99]
    (4, 9)
    """

    __slots__ = ("_array", "high", "key", "low", "values")

    def __init__(self, values: Sequence[int]) -> None:
        from hashlib import sha256  # imported late: OpenSSL loads slower than this whole module

        self.values = tuple(values)
        self.low, self.high = min(self.values), max(self.values)
        self._array = np.array(self.values, np.int64)
        self.key = sha256(self._array.tobytes()).hexdigest()[:32]

    def __getitem__(self, at: Any) -> Any:
        """Return the entry at an integer, at each integer of an array, or at a coordinate of any evaluator."""
        if isinstance(at, Arithmetic):
            return at.entry_of(self)
        entries = self._array[np.clip(at, 0, len(self.values) - 1)]
        return entries if isinstance(at, np.ndarray) else int(entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        shown = list(self.values) if len(self.values) <= 4 else f"[{', '.join(map(str, self.values[:3]))}, ...]"
        return str(shown)
