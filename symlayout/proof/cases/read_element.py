"""Which element a chain of movement reads at a symbolic coordinate, or what has to be known to say that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import Coordinate, extent_of
from symlayout.algebra.polynomial import Extent
from symlayout.errors import InconclusiveError
from symlayout.proof.cases.case_tree import Path
from symlayout.tensors.chain import Tensor, same_size
from symlayout.tensors.declaration import Case


@dataclass(frozen=True, slots=True)
class Place:
    """A value on the way of a read: *node*, read at *coords*, after the cases of *path*."""

    node: Tensor
    coords: tuple[Extent, ...]
    path: Path


@dataclass(frozen=True, slots=True)
class SideRead:
    """The element that one side reads: *leaf* at *coords*, or *fill* if *leaf* is None."""

    leaf: Tensor | None
    coords: tuple[Extent, ...]
    fill: Any
    path: Path


class OpenSign(Exception):
    """The decision needs the sign of *value*, which the facts do not determine."""

    def __init__(self, value: Extent) -> None:
        super().__init__(value)
        self.value = value


class Stuck(Exception):
    """*obligation*, about *values*, is not proved here, and no expression suggests a split."""

    def __init__(self, obligation: str, values: Sequence[Extent] = ()) -> None:
        super().__init__(obligation)
        self.obligation, self.values = obligation, values


def read_element(
    node: Tensor,
    coords: Sequence[Extent],
    facts: Facts,
    *,
    side: int,
    limit: int,
    shown: bool,
    inside: bool = False,
    way: list[Place] | None = None,
) -> SideRead:
    """Return the element that *node* reads at *coords*.

    Parameters
    ----------
    node : Tensor
        A chain of movement; the way ends at its leaf, or at a fill.
    coords : sequence of Extent
        The coordinate, within the extents of *node* wherever *facts* hold.
    facts : Facts
        What is known there.  What follows from the read is added: the axes that are read are not empty.
    side : int
        The side of the claim, for certificates: 0 or 1.
    limit : int
        The most goals that *facts* may have visited.
    shown : bool
        Whether reads without a fill are known to be inside their source, for operations of this package.
    inside : bool
        Whether the branch assumes that the way ends at no fill.
    way : list of Place, optional
        The values on the way are added to it, also where an error ends the read.

    Raises
    ------
    OpenSign
        The facts do not say which case applies, or whether a coordinate is inside its source.
    Stuck
        A read without a fill is not shown to be inside its source.
    InconclusiveError
        The limit is reached.
    """
    path: list[tuple[int, tuple[int, str] | None]] = []
    if way is not None:
        way.append(Place(node, tuple(coords), ()))
    while node.declared is not None:
        if facts.effort > limit:
            raise InconclusiveError("the sides agree, within the budget of goals")
        given = [Coordinate(facts.reduce(e), facts) for e in coords]
        number = case_that_applies(node.declared.cases, given, facts)
        case = node.declared.cases[number]
        source = node.inputs[case.source]
        extents = [facts.reduce(e) for e in source.extents]
        if case.fill is None and same_size(extents, node.extents, facts):
            # the source has as many elements as the output, so at least one: none of its axes is empty
            facts.assume_factors(extents, [facts.reduce(e) for e in node.extents])
        trusted = case.fill is None and shown and node.own
        outside = (extents.index(0), "empty") if case.fill is not None and 0 in extents else None
        if outside is None:
            coords = coords_of_case(case, given, extents, facts)
            if inside and case.fill is not None:
                facts.assume_inside(coords, extents, (side, (*path, (number, None))))
            outside = None if trusted else first_outside(coords, extents, facts)
        path.append((number, outside))
        if outside is not None:
            if case.fill is None:
                raise Stuck(f"{node.name} reads inside its input", (*coords, *extents))
            return SideRead(None, (), case.fill.value, tuple(path))
        facts.assume_inhabited(coords, extents, (side, tuple(path)) if trusted else None)
        node = source
        if way is not None:
            way.append(Place(node, tuple(coords), tuple(path)))
    return SideRead(node, tuple(coords), None, tuple(path))


def coords_of_case(case: Case, given: list[Coordinate], extents: list[Extent], facts: Facts) -> list[Extent]:
    """Return the coordinate that a case reads; its divisors are extents, so they are >= 1."""
    try:
        return [facts.reduce(extent_of(c)) for c in case.coords(*given)]
    except InconclusiveError as error:
        raise Stuck(error.claim, extents) from error


def case_that_applies(cases: Sequence[Case], given: Sequence[Coordinate], facts: Facts) -> int:
    """Return the number of the case that applies."""
    undecided: Extent | None = None
    for number, case in enumerate(cases):
        try:
            if window_outside(case, given, facts) is None:
                return number
        except OpenSign as question:
            undecided = question.value if undecided is None else undecided
    if undecided is None:
        raise Stuck("one of the cases of a map applies")
    raise OpenSign(undecided)


def window_outside(case: Case, given: Sequence[Coordinate], facts: Facts) -> tuple[int, str] | None:
    """Return the first window of a case that fails, with the end at which it fails; None if the case applies."""
    if case.where is None:
        return None
    windows = [(facts.reduce(extent_of(value)), facts.reduce(extent)) for value, extent in case.where(*given)]
    return first_outside([value for value, _ in windows], [extent for _, extent in windows], facts)


def first_outside(values: Sequence[Extent], extents: Sequence[Extent], facts: Facts) -> tuple[int, str] | None:
    """Return the first axis on which ``0 <= value < extent`` fails, with the end; None if it holds on all axes."""
    undecided: Extent | None = None
    for axis, (value, extent) in enumerate(zip(values, extents, strict=True)):
        for side, inside in (("below", value), ("above", extent - 1 - value)):
            if not facts.nonnegative(inside):
                if facts.nonnegative(-1 - inside):
                    facts.rest_on(-1 - inside)
                    return axis, side
                undecided = inside if undecided is None else undecided
    if undecided is not None:
        raise OpenSign(facts.reduce(undecided))
    for value, extent in zip(values, extents, strict=True):
        facts.rest_on(value)
        facts.rest_on(extent - 1 - value)
    return None
