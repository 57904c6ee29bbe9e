"""Enumerate the sizes of a system's dims within their bounds, the smallest sum first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from symlayout.algebra.facts import Facts


def sizes(facts: Facts, least: Mapping[str, int | None] | None = None) -> Iterator[dict[str, int]]:
    """Yield values of the dims of *facts* within their bounds, by sum, then in lexicographic order.

    *least* has larger least values for some dims.  Requirements are not looked at.

    >>> from symlayout.algebra.fact_store import Dim
    >>> f = Facts()
    >>> f.declare(Dim("N", 1, 2)), f.declare(Dim("H", 0, None, 2))
    (None, None)
    >>> list(itertools.islice(sizes(f), 3))
    [{'N': 1, 'H': 0}, {'N': 2, 'H': 0}, {'N': 1, 'H': 2}]
    """
    dims = list(facts.dims.values())
    lows = [max(d.min, (least or {}).get(d.name) or d.min) for d in dims]
    steps = [d.multiple_of for d in dims]
    starts = [-(-low // step) * step for low, step in zip(lows, steps, strict=True)]
    rooms = [
        None if d.max is None else (d.max - start) // step for d, start, step in zip(dims, starts, steps, strict=True)
    ]
    most = sum(s * r for s, r in zip(steps, rooms, strict=True) if r is not None) if None not in rooms else None
    for total in itertools.count() if most is None else range(most + 1):
        for extra in _compositions(total, steps, rooms):
            yield {d.name: start + e for d, start, e in zip(dims, starts, extra, strict=True)}


def _compositions(total: int, steps: list[int], rooms: list[int | None]) -> Iterator[tuple[int, ...]]:
    """Yield multiples of *steps* that add up to *total*, each at most its room, in lexicographic order."""
    if not steps:
        if total == 0:
            yield ()
        return
    most = total // steps[0] if rooms[0] is None else min(total // steps[0], rooms[0])
    least = 0 if len(steps) > 1 else -(-total // steps[0])  # the last one is what remains
    for k in range(least, most + 1):
        for rest in _compositions(total - k * steps[0], steps[1:], rooms[1:]):
            yield (k * steps[0], *rest)
