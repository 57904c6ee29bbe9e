"""Compose a chain of index maps into one, in normal form.

The chain is walked from the output to the leaves: each declared map is evaluated on the
coordinates that the maps after it produced.  What comes out is a list of disjoint reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from symlayout.declare import Case
from symlayout.digits import Coordinate, axis_digits
from symlayout.errors import InconclusiveError
from symlayout.facts import Facts
from symlayout.polynomial import Extent
from symlayout.tensor import Tensor, same_size


@dataclass(frozen=True, slots=True)
class Window:
    """The condition ``0 <= value < extent``."""

    value: Extent
    extent: Extent


@dataclass(frozen=True, slots=True)
class Guard:
    """Where *window* fails, the element is *fill*; ``step`` says which operation fills."""

    window: Window
    fill: Any
    step: str


@dataclass(frozen=True, slots=True)
class Read:
    """What one part of the domain reads.

    The part is where all *windows* hold.  There the *guards* are tried in order, and the first
    that fails gives the fill; if all hold, the element is *leaf* at *coords*.  ``facts`` holds
    wherever the leaf is read.
    """

    leaf: Tensor
    coords: tuple[Extent, ...]
    facts: Facts
    windows: tuple[Window, ...] = ()
    guards: tuple[Guard, ...] = ()
    trail: tuple[tuple[str, tuple[Extent, ...]], ...] = field(default=())


@dataclass(slots=True)
class _Visit:
    node: Tensor
    coords: list[Extent]
    facts: Facts
    windows: tuple[Window, ...]
    guards: tuple[Guard, ...]
    trail: tuple[tuple[str, tuple[Extent, ...]], ...]


def normalise(t: Tensor, facts: Facts | None = None, digits: Sequence[Extent] | None = None) -> list[Read]:
    """Return the reads of *t*, over one digit for each output axis.

    Parameters
    ----------
    facts : Facts, optional
        The system to work in, which has the digits; a fork of the tensor's own if None.
    digits : sequence of Extent, optional
        The output coordinate; required with *facts*.

    Raises
    ------
    InconclusiveError
        A read is not shown to be inside its source.
    """
    if facts is None or digits is None:
        facts = t.facts.fork()
        digits = output_digits(t, facts)
    reads: list[Read] = []
    todo = [_Visit(t, list(digits), facts, (), (), ())]
    while todo:
        visit = todo.pop()
        node = visit.node
        if node.declared is None:
            reads.append(Read(node, tuple(visit.coords), visit.facts, visit.windows, visit.guards, visit.trail))
            continue
        single = len(node.declared.cases) == 1
        todo.extend(_enter(case, visit, visit.facts if single else visit.facts.fork()) for case in reversed(node.declared.cases))
    return reads


def output_digits(t: Tensor, facts: Facts) -> list[Extent]:
    """Add the digits of the output axes to *facts*, in which the output is not empty."""
    extents = tuple(facts.reduce(e) for e in t.extents)
    for e in extents:
        facts.assume_nonnegative(e - 1)
    extents = tuple(facts.reduce(e) for e in extents)
    return axis_digits(extents, facts)


def _enter(case: Case, visit: _Visit, facts: Facts) -> _Visit:
    """Evaluate one case of a map on the coordinates of *visit*."""
    node = visit.node
    source = node.inputs[case.source]
    extents = [facts.reduce(e) for e in source.extents]
    given = [Coordinate(facts.reduce(e), facts) for e in visit.coords]
    windows = visit.windows
    if case.where is not None:
        windows = windows + tuple(
            Window(_plain(value), facts.reduce(extent)) for value, extent in case.where(*given)
        )
        for window in windows[len(visit.windows) :]:
            _assume(window, facts)
    if case.fill is None and same_size(extents, node.extents, facts):
        # as many elements as the output, which has one: no axis of the source is empty
        for e in extents:
            facts.assume_nonnegative(e - 1)
    coords = [facts.reduce(_plain(c)) for c in case.coords(*given)]
    guards = visit.guards
    outside = [
        Window(c, e)
        for c, e in zip(coords, extents, strict=True)
        if not (facts.nonnegative(c) and facts.nonnegative(e - 1 - c))
    ]
    if outside and case.fill is None:
        w = outside[0]
        raise InconclusiveError(
            f"{node.name} reads inside its input: 0 <= {facts.spell(w.value)} < {facts.spell(w.extent)}",
            [facts.describe(w.value + w.extent)],
        )
    if outside and case.fill is not None:
        facts = facts.fork()
        guards = guards + tuple(Guard(w, case.fill.value, node.name) for w in outside)
        for w in outside:
            _assume(w, facts)
    for e in extents:
        facts.assume_nonnegative(e - 1)
    trail = (*visit.trail, (node.name, tuple(coords)))
    return _Visit(source, coords, facts, windows, guards, trail)


def _assume(window: Window, facts: Facts) -> None:
    facts.assume_nonnegative(window.value)
    facts.assume_nonnegative(window.extent - 1 - window.value)


def _plain(value: Any) -> Extent:
    return value.e if isinstance(value, Coordinate) else value
