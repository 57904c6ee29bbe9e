"""Enumerate values of the dims of a system within their bounds, smallest first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from symlayout.algebra.fact_store import Dim
from symlayout.algebra.facts import Facts
from symlayout.deadlines import check_time


def sizes(facts: Facts, least: Mapping[str, int | None] | None = None) -> Iterator[dict[str, int]]:
    """Yield values of the dims of *facts* within their bounds.

    Each dim starts at its allowed value nearest to 0.  Values are ordered by the sum of the dims' distances from their
    starts, then by which dims moved.  *least* raises the lower bound of some dims.  Requirements are ignored.

    >>> import itertools
    >>> f = Facts()
    >>> f.declare(Dim("N", 1, 2)), f.declare(Dim("H", 0, None, 2))
    (None, None)
    >>> list(itertools.islice(sizes(f), 3))
    [{'N': 1, 'H': 0}, {'N': 2, 'H': 0}, {'N': 1, 'H': 2}]
    >>> f = Facts()
    >>> f.declare(Dim("s", None))
    >>> [at["s"] for at in itertools.islice(sizes(f), 5)]
    [0, 1, -1, 2, -2]
    """
    dims = [_Values(_from(d, (least or {}).get(d.name))) for d in facts.dims.values()]
    if any(d.count == 0 for d in dims):
        return
    todo: list[tuple[int, tuple[int, ...]]] = [(0, (0,) * len(dims))]
    while todo:
        check_time()
        distance, numbers = heapq.heappop(todo)
        yield {d.name: d.value(k) for d, k in zip(dims, numbers, strict=True)}
        last = max((k for k, n in enumerate(numbers) if n), default=0)
        for k in range(last, len(dims)):  # only from the last nonzero number on: each tuple has one predecessor
            n, d = numbers[k], dims[k]
            if d.count is None or n + 1 < d.count:
                further = distance - d.distance(n) + d.distance(n + 1)
                heapq.heappush(todo, (further, (*numbers[:k], n + 1, *numbers[k + 1 :])))


def _from(d: Dim, least: int | None) -> Dim:
    return d if least is None or (d.min is not None and d.min >= least) else d.replaced(min=least)


class _Values:
    """The values of a dim, numbered from the one nearest to 0."""

    def __init__(self, d: Dim) -> None:
        self.name, self.step, self.first = d.name, d.multiple_of, d.nearest()
        self.up = None if d.max is None else (d.max - self.first) // self.step
        self.down = None if d.min is None else (self.first - d.min) // self.step
        self.count = None if self.up is None or self.down is None else max(self.up + self.down + 1, 0)
        rooms = [room for room in (self.up, self.down) if room is not None]
        self.both = min(rooms, default=None)  # up to this distance there are values on both sides

    def value(self, number: int) -> int:
        """Return the value with this number."""
        return self.first + self._offset(number) * self.step

    def distance(self, number: int) -> int:
        """Return the distance of that value from the first."""
        return abs(self._offset(number)) * self.step

    def _offset(self, number: int) -> int:
        if self.both is None or number <= 2 * self.both:
            return (number + 1) // 2 if number % 2 else -(number // 2)
        beyond = number - self.both
        return -beyond if self.both == self.up else beyond
