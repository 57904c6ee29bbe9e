"""A movement as a gather by a constant index, where its digits are not known."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from symlayout.optimize_models.spellings.movement_digits import Example, affine, is_number
from symlayout.optimize_models.spellings.movement_steps import Step
from symlayout.optimize_models.spellings.reshape_steps import Shape, target_shape

_MAX_TABLE = 1 << 16  # indices of a Gather


def gather(start: Shape, end: Shape, found: Sequence[Example]) -> list[Step] | None:
    """Return a gather by a constant index along the fewest axes, which become one."""
    tables = [_table(x, start) for x in found]
    first = tables[0]
    if first is None or any(t is None or t[:2] != first[:2] or not np.array_equal(t[2], first[2]) for t in tables):
        return None
    low, high, index = first
    if not 0 < index.size <= _MAX_TABLE:
        return None
    before, whole, after = start[:low], prod(start[low:high]), start[high:]
    runs = affine(index)
    shape = tuple(n for n, _ in reversed(runs)) if runs else (index.size,)
    inner = end[low : len(end) - len(after)]
    if all(map(is_number, inner)) and prod(inner) == index.size:
        shape = tuple(map(int, inner))
    steps = []
    flat = (*before, whole, *after)
    if flat != start:
        if target_shape(start, flat) is None:
            return None
        steps.append(Step("Reshape", (), flat))
    made = (*before, *shape, *after)
    steps.append(Step("Gather", (("indices", index.reshape(shape)), ("axis", low)), made))
    if made != end:
        if target_shape(made, end) is None:
            return None
        steps.append(Step("Reshape", (), end))
    return steps


def _table(x: Example, start: Shape) -> tuple[int, int, np.ndarray[Any, Any]] | None:
    """Return the axes of a gather in an example, and its index."""
    best: tuple[int, int, np.ndarray[Any, Any]] | None = None
    for low in range(len(start)):
        for high in range(low + 1, len(start) + 1):
            if not all(is_number(e) for e in start[low:high]):
                break
            outer, whole, inner = prod(x.start[:low]), prod(x.start[low:high]), prod(x.start[high:])
            if x.reads.size % (outer * inner):
                continue
            reads = x.reads.reshape(outer, -1, inner)
            index = reads[0, :, 0] // inner
            wanted = np.arange(outer)[:, None, None] * whole * inner + index[:, None] * inner + np.arange(inner)
            if index.min() >= 0 and index.max() < whole and (reads == wanted).all():
                if best is None or index.size < best[2].size:
                    best = low, high, index
                break
    return best
