"""Make candidates for inverses of chains that read an axis at listed places, such as those of `take`.

A list has no digits that its entries determine, so the map as a whole has no candidate (see `inverse_candidates`).  The
candidate undoes the steps of the chain, the last one first.  A step that reads one axis at listed places is undone by a
list of the places at which each element is read.  That list is found at one size of the dims.  This module proves
nothing about a candidate; `find_inverse` and `properties` do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.inverses.inverse_candidates import Candidate, candidates
from symlayout.maps.gather_elements import gathers, int_extents
from symlayout.ops.take import take
from symlayout.tensors.apply_operation import apply
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Declared, Fill, Operand, index_map
from symlayout.tensors.substitute_input import demand_shape

_MOST_ENTRIES = 1 << 16  # of a list
_MOST_SIZES = 100  # that are tried for one at which no extent is 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A step that reads *axis* at listed places; *positions* has, for each element, where it is read, or -1.

    *picks* says whether an element is read at several places.
    """

    step: Tensor
    axis: int
    positions: tuple[int, ...]
    picks: bool

    def __call__(self, z: Tensor, undetermined: Any = 0) -> Tensor:
        """Return the step's input, found in *z* of the shape of its output; elements not in *z* are *undetermined*."""
        count = self.step.extents[self.axis]
        if -1 in self.positions:
            z = apply(lengthened, (z,), (self.axis, undetermined), {}, own=True)
        return take(z, [count if k < 0 else k for k in self.positions], self.axis)


def lengthened(z: Operand, axis: int, undetermined: Any) -> Declared:
    """Return *z* with one element more at the end of *axis*."""
    domain = [n + (k == axis) for k, n in enumerate(z.shape)]
    return index_map(domain, lambda *o: list(o), fill=Fill(undetermined))


@dataclass(frozen=True, slots=True)
class StepsCandidate:
    """A function that finds the elements of *leaf* in *t*: it undoes the steps, the last one first.

    *picks* says whether an element may occur in several places of the output; the candidate picks one.
    """

    t: Tensor
    leaf: Tensor
    undo: Sequence[Candidate | Listed]
    picks: bool

    def __call__(self, z: Tensor, undetermined: Any = 0) -> Tensor:
        """Return the input's elements, found in *z* of the output's shape; elements not in *z* are *undetermined*."""
        given = demand_shape(z, self.t)
        for step in self.undo:
            given = step(given, undetermined)
        return given


def all_candidates(t: Tensor, leaf: Tensor) -> Iterator[Candidate | StepsCandidate]:
    """Yield functions that may find the elements of *leaf* in *t*: of the map as a whole, then by steps."""
    yield from candidates(t, leaf)
    yield from by_steps(t, leaf)


def by_steps(t: Tensor, leaf: Tensor) -> Iterator[StepsCandidate]:
    """Yield the candidate that undoes the steps of *t*, if some step reads an axis at listed places."""
    undo: list[Candidate | Listed] = []
    node = t
    while node.key != leaf.key:
        if len(node.inputs) != 1:
            return
        (before,) = node.inputs
        source = Tensor("z", before.dtype, before.extents, before.facts, key="z")
        step = node.remade((source,), {})
        found = _listed(step, source) or next(iter(candidates(step, source)), None)
        if found is None:
            return
        undo.append(found)
        node = before
    if any(isinstance(step, Listed) for step in undo):
        candidate = StepsCandidate(t, leaf, undo, any(step.picks for step in undo))
        try:
            candidate(t)
        except (InconclusiveError, ShapeError):
            return
        yield candidate


def _listed(step: Tensor, source: Tensor) -> Listed | None:
    """Return a step as the list of an axis, as far as one size of its dims shows; the other axes stay as they are."""
    if step.rank != source.rank:
        return None
    facts = step.facts
    changed = [k for k, (n, m) in enumerate(zip(step.extents, source.extents, strict=True)) if facts.reduce(n - m) != 0]
    at = _size(step, source) if len(changed) < 2 else None
    if at is None:
        return None
    for axis in changed or range(step.rank):
        n, m = step.extents[axis], source.extents[axis]
        if isinstance(n, int) and isinstance(m, int) and max(n, m) <= _MOST_ENTRIES:
            entries = _entries(at, axis)
            if entries is not None and len({b - a for a, b in itertools.pairwise(entries)}) > 1:
                positions = [-1] * m
                for place, entry in reversed(list(enumerate(entries))):
                    positions[entry] = place
                return Listed(step, axis, tuple(positions), len(set(entries)) < n)
    return None


def _size(step: Tensor, source: Tensor) -> Tensor | None:
    """Return the step at a size at which no extent is 0."""
    for values in itertools.islice(sizes(step.facts), _MOST_SIZES):
        if step.facts.failing(step.facts.values(values)) is not None:
            continue
        try:
            bound = step.bind(values)
            (leaf,) = bound.leaves() or [source.bind(values)]
        except ShapeError:
            continue
        if 0 not in (*int_extents(bound), *int_extents(leaf)):
            return bound
    return None


def _entries(bound: Tensor, axis: int) -> list[int] | None:
    """Return which element of *axis* each position of that axis reads; None if another axis matters, or a fill."""
    n = int_extents(bound)[axis]
    shape = [1] * bound.rank
    shape[axis] = n
    grid = [np.zeros((1,) * bound.rank, np.int64)] * bound.rank
    grid[axis] = np.arange(n, dtype=np.int64).reshape(shape)
    entries = np.full(n, -1, np.int64)
    for part in gathers(bound, grid):
        mask = np.broadcast_to(part.mask, shape).reshape(-1)
        if not mask.any():
            continue
        if part.key is None:
            return None
        coords = [np.broadcast_to(c, shape).reshape(-1)[mask] for c in part.coords]
        if any(c.any() for k, c in enumerate(coords) if k != axis):
            return None
        entries[mask] = coords[axis]
    return entries.tolist()
