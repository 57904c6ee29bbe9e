"""Linear layouts as index maps: the bits of a value are sums of bits of the coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.algebra.arithmetic import bit
from symlayout.errors import ShapeError
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, index_map

Row = tuple[tuple[int, int], ...]
"""The bits whose sum one bit of a value is: the number of an in dim, and the place there."""


def value_of(rows: Sequence[Row], at: Sequence[Any]) -> Any:
    """Return the number whose bits are these sums of bits of ints, arrays or coordinates.

    Bits that follow each other in one in dim, and are alone in their sums, are taken together.
    """
    total: Any = 0
    place = 0
    while place < len(rows):
        row = rows[place]
        if len(row) == 1:
            ((dim, first),) = row
            run = next(k for k in range(1, len(rows) + 1) if rows[place + k : place + k + 1] != (((dim, first + k),),))
            total = total + (at[dim] // (1 << first)) % (1 << run) * (1 << place)
        else:
            run = 1
            if row:
                total = total + sum(bit(at[dim], k) for dim, k in row) % 2 * (1 << place)
        place += run
    return total


@core_operation
def linear_view(
    x: Operand, rows: Sequence[Sequence[Row]], ins: Sequence[int], outs: Sequence[int], tiled: bool = False
) -> Declared:
    """Return the elements of *x* at the values of a linear layout, which are coordinates on its last axes.

    Raises
    ------
    ShapeError
        ``rank``, ``size_mismatch``, ``non_divisible``; see `LinearLayout.view` and `LinearLayout.tiles`.
    """
    before = x.rank - len(outs)
    if before < 0:
        raise ShapeError(f"{x.where}: {len(outs)} out dims for a tensor of rank {x.rank}", "rank")
    kept, last = x.shape[:before], x.shape[before:]
    if tiled:
        counts = tuple(x.divide(e, size) for e, size in zip(last, outs, strict=True))
    else:
        counts = ()
        for axis, (e, size) in enumerate(zip(last, outs, strict=True), before):
            x.require(e - size, "size_mismatch", "axis {} has {} elements, the layout reads {}", axis, e, size)

    def coords(*o: Any) -> Sequence[Any]:
        at, tile = o[before + len(counts) :], o[before : before + len(counts)] if tiled else (0,) * len(outs)
        values = [value_of(row, at) for row in rows]
        return [*o[:before], *(t * size + v for t, size, v in zip(tile, outs, values, strict=True))]

    return index_map([*kept, *counts, *ins], coords)
