"""For which remainders two floors of shifted numbers differ by a given constant."""

from __future__ import annotations

from typing import NamedTuple

from symlayout.algebra.polynomial import Extent


class EqualFloors(NamedTuple):
    """An equation ``floor((base + j)/divisor) - floor((base + k)/divisor) == constant``.

    It restricts ``base % divisor`` to the numbers in ``remainders``, and nothing else.  ``shifts`` has ``j`` and ``k``
    by the symbols of the floors.
    """

    base: Extent
    divisor: int
    shifts: dict[str, int]
    remainders: list[range]


def equal_floor_remainders(j: int, k: int, d: int, difference: int) -> list[range]:
    """Return all ``0 <= r < d`` with ``(r + j)//d - (r + k)//d == difference``, as ranges in order.

    With ``s = (j - k) % d``, the difference is ``(j - k)//d``, and one more where ``(r + k) % d >= d - s``.

    >>> equal_floor_remainders(3, 0, 4, 0)  # ceil(r/4) == floor(r/4)
    [range(0, 1)]
    >>> equal_floor_remainders(3, 2, 4, 0)
    [range(0, 1), range(2, 4)]
    """
    whole, s = divmod(j - k, d)
    if difference == whole:
        first, count = -k % d, d - s
    elif difference == whole + 1:
        first, count = (d - s - k) % d, s
    else:
        return []
    wrapped = max(0, first + count - d)
    return [r for r in (range(0, wrapped), range(first, first + count - wrapped)) if r]


def common_ranges(a: list[range], b: list[range]) -> list[range]:
    """Return the numbers that are in both lists, as ranges in order; each list is in order.

    >>> common_ranges([range(0, 1), range(2, 4)], [range(0, 3)])
    [range(0, 1), range(2, 3)]
    """
    both = (range(max(x.start, y.start), min(x.stop, y.stop)) for x in a for y in b)
    return sorted((r for r in both if r), key=lambda r: r.start)
