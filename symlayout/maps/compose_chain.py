"""Compose a chain of index maps into one, in normal form.

The chain is walked from the output to the leaves.  Each declared map is evaluated on the coordinates that the maps
after it produced.  The result is a list of disjoint reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import Coordinate, axis_digits, extent_of
from symlayout.algebra.polynomial import Extent
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.tensors.chain import Tensor, same_size
from symlayout.tensors.declaration import Case


@dataclass(frozen=True, slots=True)
class Window:
    """The condition ``0 <= value < extent``.

    *value* and *extent* are written in the symbols of *facts*.  These facts hold wherever the condition is tested:
    wherever all earlier windows and guards hold.  Facts that assume the condition itself must not rewrite it.
    """

    value: Extent
    extent: Extent
    facts: Facts = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard: the element is *fill* where *window* fails.  ``step`` is the number of the operation that fills."""

    window: Window
    fill: Any
    step: str


@dataclass(frozen=True, slots=True)
class Branch:
    """The place of a map with cases in a read: how many steps, windows and guards come before it."""

    steps: int
    windows: int
    guards: int


@dataclass(frozen=True, slots=True)
class Read:
    """A part of the domain with the coordinates that it reads.

    The part is the set of output coordinates at which all *windows* hold.  There the *guards* are tested in order.  The
    first guard that fails gives the fill.  If all hold, the element is *leaf* at *coords*, or *fill* if *leaf* is None.
    ``facts`` hold wherever all guards hold.

    A map with cases states windows about its own coordinates only.  A guard before such a map (see *branches*) may fail
    at points where the windows of no case hold.  `within` and `around` separate these points from the reads of the
    cases.
    """

    leaf: Tensor | None
    coords: tuple[Extent, ...]
    facts: Facts
    windows: tuple[Window, ...] = ()
    guards: tuple[Guard, ...] = ()
    trail: tuple[tuple[str, tuple[Extent, ...]], ...] = ()
    fill: Any = None
    path: tuple[int, ...] = ()  # the number of the case at each step
    branches: tuple[Branch, ...] = ()  # one for each map with cases

    def within(self) -> Read:
        """Return the read, restricted to where the guards before its last branch hold."""
        count = self.branches[-1].guards if self.branches else 0
        held = tuple(guard.window for guard in self.guards[:count])
        return replace(self, windows=(*self.windows, *held), guards=self.guards[count:], branches=())

    def around(self, first: int, last: int) -> Read:
        """Return the fills by guards between two branches, which all cases share; other elements are left alone.

        *first* and *last* count the steps before each branch; 0 is the output.
        """
        branch = next(b for b in self.branches if b.steps == last)
        before = next((b.guards for b in self.branches if b.steps == first), 0)
        held = tuple(guard.window for guard in self.guards[:before])
        windows, guards = (*self.windows[: branch.windows], *held), self.guards[before : branch.guards]
        return replace(self, leaf=None, coords=(), windows=windows, guards=guards, fill=NOTHING, branches=())


NOTHING = object()
"""The fill of a read that leaves elements as they are."""


@dataclass(slots=True)
class _Visit:
    node: Tensor
    coords: list[Extent]
    facts: Facts
    windows: tuple[Window, ...]
    guards: tuple[Guard, ...]
    trail: tuple[tuple[str, tuple[Extent, ...]], ...]
    path: tuple[int, ...]
    branches: tuple[Branch, ...] = ()


def normalise(
    t: Tensor,
    facts: Facts | None = None,
    digits: Sequence[Extent] | None = None,
    *,
    shown: bool = False,
    path: tuple[int, ...] | None = None,
    split: bool = False,
) -> list[Read]:
    """Return the reads of *t* over one digit for each output axis; an empty list if the output is always empty.

    Parameters
    ----------
    t : Tensor
        The chain to compose.
    facts : Facts, optional
        The system to work in; it contains the digits.  None means a fork of the tensor's facts.
    digits : sequence of Extent, optional
        The output coordinate; required with *facts*.
    shown : bool
        Skip the proof that every read is inside its source, because it was made over other digits.
    path : tuple of int, optional
        Return only the read with this path, if there is one.
    split : bool
        Split digits at the radices of the chain, so that reads are affine in the new digits; each read splits its own.

    Raises
    ------
    InconclusiveError
        A read is not proved to be inside its source within ``limits.normal_form_goals``, or there are more than
        ``limits.normal_form_parts`` parts.
    """
    if facts is None or digits is None:
        facts = t.facts.fork()
        try:
            digits = output_digits(t, facts)
        except ShapeError:
            return []
    if split:
        facts.splits = {}
    reads: list[Read] = []
    todo: list[_Visit | Read] = [_Visit(t, list(digits), facts, (), (), (), ())]
    limit = facts.effort + limits.normal_form_goals
    while todo:
        visit = todo.pop()
        if isinstance(visit, Read):
            reads.append(visit)
            continue
        if facts.effort > limit:
            raise InconclusiveError(f"{t.name} reads inside its input, within {limits.normal_form_goals} goals")
        if len(reads) > limits.normal_form_parts:
            most = limits.normal_form_parts
            raise InconclusiveError(f"{t.name} reads inside its input, in no more than {most} parts")
        if visit.node.declared is None:
            coords = tuple(visit.coords)
            reads.append(
                Read(
                    visit.node, coords, visit.facts, visit.windows, visit.guards, visit.trail, None, visit.path,
                    visit.branches,
                )
            )  # fmt: skip
            continue
        cases = visit.node.declared.cases
        reached = path is not None and len(path) > len(visit.path)
        for number, case in reversed(list(enumerate(cases))):
            if path is not None and path[len(visit.path) : len(visit.path) + 1] != (number,):
                continue
            entered = _enter(case, number, visit, visit.facts if len(cases) == 1 else visit.facts.fork(), shown)
            if entered is not None:
                todo.append(entered)
            reached |= entered is not None
        if not reached and (left := _fills(visit, visit.windows, visit.branches, visit.path)) is not None:
            reads.append(left)
    return reads


def output_digits(t: Tensor, facts: Facts) -> list[Extent]:
    """Add the digits of the output axes to *facts*, and that the output is not empty; return the output coordinate.

    Raises
    ------
    ShapeError
        ``infeasible`` if the output is always empty.
    """
    facts.meet(t.extents)
    return axis_digits(tuple(facts.reduce(e) for e in t.extents), facts)


def _enter(case: Case, number: int, visit: _Visit, facts: Facts, shown: bool) -> _Visit | Read | None:
    """Evaluate one case of a map on the coordinates of *visit*.

    Return a read if no coordinate is ever inside the source, and None if the case never holds.
    """
    node = visit.node
    source = node.inputs[case.source]
    given = [Coordinate(facts.reduce(e), facts) for e in visit.coords]
    windows, branches = visit.windows, visit.branches
    if case.where is not None:
        branches = (*branches, Branch(len(visit.path), len(windows), len(visit.guards)))
        windows += tuple(Window(extent_of(value), facts.reduce(extent), facts) for value, extent in case.where(*given))
        facts = facts.fork()
        given = [Coordinate(e.e, facts) for e in given]
        try:
            for window in windows[len(visit.windows) :]:
                assume(window, facts)
            unsolved = len(facts.solved)
            facts.resolve_maxima()
            if len(facts.solved) > unsolved:  # a floor by a maximum is another symbol than one by its value
                for at, size in case.where(*given):
                    assume(Window(extent_of(at), facts.reduce(size), facts), facts)
        except ShapeError:
            return None
    extents = [facts.reduce(e) for e in source.extents]
    if case.fill is None:
        filled = [e for e in extents if facts.positive(e)]
        if len(filled) < len(extents) and same_size(extents, node.extents, facts):
            filled = (
                extents  # the source has as many elements as the output, so at least one: none of its axes is empty
            )
        try:
            for e in filled:
                facts.assume_nonnegative(e - 1)
        except ShapeError:
            return _fills(visit, windows, branches, (*visit.path, number))
    coords = [facts.reduce(extent_of(c)) for c in case.coords(*given)]
    trail, path = (*visit.trail, (node.name, tuple(coords))), (*visit.path, number)
    outside: list[Window] = []
    if case.fill is not None or not shown:
        outside = [Window(c, e, facts) for c, e in zip(coords, extents, strict=True) if not _is_inside(c, e, facts)]
    if not outside:
        try:
            for e in extents:
                facts.assume_nonnegative(e - 1)
        except ShapeError:  # the source is empty, so the case has no point
            return _fills(visit, windows, branches, (*visit.path, number))
        return _Visit(source, coords, facts, windows, visit.guards, trail, path, branches)
    if case.fill is None and any(_never_holds(guard.window) for guard in visit.guards):
        return _fills(visit, windows, branches, (*visit.path, number))
    if case.fill is None:
        value, extent = facts.spell(outside[0].value), facts.spell(outside[0].extent)
        raise InconclusiveError(
            f"{node.name} reads inside its input: 0 <= {value} < {extent}",
            [facts.describe(outside[0].value + outside[0].extent)],
        )
    facts = facts.fork()
    try:
        for e in extents:
            facts.assume_nonnegative(e - 1)
        for w in outside:
            assume(w, facts)
    except ShapeError:  # no coordinate can be inside
        return Read(None, (), facts, windows, visit.guards, trail, case.fill.value, path, branches)
    guards = visit.guards + tuple(Guard(w, case.fill.value, node.name) for w in outside)
    return _Visit(source, coords, facts, windows, guards, trail, path, branches)


def _fills(
    visit: _Visit, windows: tuple[Window, ...], branches: tuple[Branch, ...], path: tuple[int, ...]
) -> Read | None:
    """Return the read of a case that no coordinate reaches, or of all cases: only the fills of the guards before it."""
    if not visit.guards:
        return None
    fill = visit.guards[-1].fill  # never used: the guards hold nowhere all together
    return Read(None, (), visit.facts, windows, visit.guards, visit.trail, fill, path, branches)


def assume(window: Window, facts: Facts) -> None:
    """Add to *facts* that *window* holds; raise ``infeasible`` if the facts exclude it."""
    facts.assume_nonnegative(window.extent - 1)
    facts.assume_nonnegative(window.value)
    facts.assume_nonnegative(window.extent - 1 - window.value)


def _never_holds(window: Window) -> bool:
    """Return whether the facts before a window prove that it fails everywhere."""
    facts = window.facts
    return facts.excludes(window.value) or facts.excludes(window.extent - 1 - window.value)


def _is_inside(coordinate: Extent, extent: Extent, facts: Facts) -> bool:
    return facts.nonnegative(coordinate) and facts.nonnegative(extent - 1 - coordinate)
