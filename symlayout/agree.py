"""Decide by cases that two tensors read the same at every output coordinate.

Both sides are evaluated at one output coordinate.  Where the facts do not tell which case of a map
applies, or whether a coordinate is inside a source that has a fill, the decision splits on the sign
of the polynomial in question and starts again in each branch, which knows more.  What comes out is a
tree whose leaves each say what is read there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.arrays import same_fill
from symlayout.declare import Case
from symlayout.digits import Coordinate
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.facts import Facts
from symlayout.polynomial import Extent
from symlayout.tensor import Tensor, same_size

MAX_SPLITS = 400  # in one decision


@dataclass(frozen=True, slots=True)
class Split:
    """Two branches: ``value >= 0`` and ``value < 0``."""

    facts: Facts
    value: Extent
    yes: Tree
    no: Tree


@dataclass(frozen=True, slots=True)
class Agreed:
    """Both sides read the same: the case taken at each step, and the axis and side where one reads outside."""

    facts: Facts
    paths: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Absurd:
    """No point is left."""

    facts: Facts


Tree = Split | Agreed | Absurd
Path = tuple[tuple[int, tuple[int, str] | None], ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What one side reads: *leaf* at *coords*, or *fill* where *leaf* is None."""

    leaf: Tensor | None
    coords: tuple[Extent, ...]
    fill: Any
    path: Path


class _Open(Exception):
    """The sign of *value* is not known here, and matters."""

    def __init__(self, value: Extent) -> None:
        super().__init__(value)
        self.value = value


def agree(
    left: Tensor, right: Tensor, facts: Facts, digits: Sequence[Extent], dtype: Any, *, shown: bool = False
) -> Tree:
    """Return why both sides read the same at the output coordinate *digits*, wherever *facts* hold.

    Parameters
    ----------
    facts : Facts
        A system that has the digits; it is added to.
    shown : bool
        That every read without a fill is inside its source has been shown before: do not show it again.

    Raises
    ------
    InconclusiveError
        It is not shown; the message names what is missing.
    """
    return _Decision(left, right, digits, dtype, shown).decide(facts, ())


class _Decision:
    def __init__(self, left: Tensor, right: Tensor, digits: Sequence[Extent], dtype: Any, shown: bool) -> None:
        self.sides, self.digits, self.dtype, self.shown = (left, right), digits, dtype, shown
        self.splits = 0

    def decide(self, facts: Facts, taken: tuple[Extent, ...]) -> Tree:
        """Return the tree below a place where *facts* hold, with the assumptions *taken* on the way."""
        try:
            found = [self._read(side, facts) for side in self.sides]
            obligation = self._compare(found[0], found[1], facts)
        except _Open as question:
            return self._split(facts.question(question.value), facts, taken)
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return Absurd(facts)
        if not obligation:
            return Agreed(facts, (found[0].path, found[1].path))
        for value in reversed(taken):
            if facts.excludes(value):
                return Absurd(facts)
        raise InconclusiveError(obligation)

    def _split(self, value: Extent, facts: Facts, taken: tuple[Extent, ...]) -> Tree:
        self.splits += 1
        if self.splits > MAX_SPLITS:
            raise InconclusiveError(f"the sides agree in more than {MAX_SPLITS} cases")
        branches = []
        for bound in (value, -1 - value):
            local = facts.fork()
            try:
                local.suppose(bound)
                branches.append(self.decide(local, (*taken, bound)))
            except ShapeError as error:
                if error.kind != "infeasible":
                    raise
                branches.append(Absurd(local))
        return Split(facts, value, *branches)

    # ------------------------------------------------------------------ one side

    def _read(self, node: Tensor, facts: Facts) -> _Found:
        """Return what *node* reads at the digits."""
        coords: Sequence[Extent] = self.digits
        path: list[tuple[int, tuple[int, str] | None]] = []
        while node.declared is not None:
            given = [Coordinate(facts.reduce(e), facts) for e in coords]
            number = _case(node.declared.cases, given, facts)
            case = node.declared.cases[number]
            source = node.inputs[case.source]
            extents = [facts.reduce(e) for e in source.extents]
            if case.fill is None and same_size(extents, node.extents, facts):
                # as many elements as the output, which has one: no axis of the source is empty
                facts.assume_factors(extents, [facts.reduce(e) for e in node.extents])
            coords = [facts.reduce(_plain(c)) for c in case.coords(*given)]
            outside = None
            if case.fill is not None or not (self.shown and node.own):
                outside = _outside(coords, extents, facts)
            path.append((number, outside))
            if outside is not None:
                if case.fill is None:
                    raise InconclusiveError(f"{node.name} reads inside its input")
                return _Found(None, (), case.fill.value, tuple(path))
            facts.assume_inhabited(coords, extents)
            node = source
        return _Found(node, tuple(coords), None, tuple(path))

    def _compare(self, a: _Found, b: _Found, facts: Facts) -> str:
        """Return what keeps two reads from being equal; empty if nothing does."""
        if a.leaf is None and b.leaf is None:
            return "" if same_fill(a.fill, b.fill, self.dtype) else f"the fills {a.fill} and {b.fill} are equal"
        if a.leaf is None or b.leaf is None:
            return "one side reads a fill only where the other does"
        if a.leaf.key != b.leaf.key:
            return f"{a.leaf.name} and {b.leaf.name} are one input"
        for axis, (x, y) in enumerate(zip(a.coords, b.coords, strict=True)):
            difference = facts.reduce(facts.reduce(x) - facts.reduce(y))
            if difference != 0 and not facts.vanishes(difference):
                return f"{facts.reduce(x)} == {facts.reduce(y)} on axis {axis} of {a.leaf.name}"
        return ""


def _case(cases: Sequence[Case], given: Sequence[Coordinate], facts: Facts) -> int:
    """Return the number of the case that applies."""
    undecided: Extent | None = None
    for number, case in enumerate(cases):
        if case.where is None:
            return number
        windows = [(facts.reduce(_plain(value)), facts.reduce(extent)) for value, extent in case.where(*given)]
        try:
            if _outside([value for value, _ in windows], [extent for _, extent in windows], facts) is None:
                return number
        except _Open as question:
            undecided = question.value if undecided is None else undecided
    if undecided is None:
        raise InconclusiveError("one of the cases of a map applies")
    raise _Open(undecided)


def _outside(values: Sequence[Extent], extents: Sequence[Extent], facts: Facts) -> tuple[int, str] | None:
    """Return the first axis where ``0 <= value < extent`` fails and on which side, or None if it holds on all."""
    undecided: Extent | None = None
    for axis, (value, extent) in enumerate(zip(values, extents, strict=True)):
        for side, inside in (("below", value), ("above", extent - 1 - value)):
            if not facts.nonnegative(inside):
                if facts.nonnegative(-1 - inside):
                    facts.rest_on(-1 - inside)
                    return axis, side
                undecided = inside if undecided is None else undecided
    if undecided is not None:
        raise _Open(facts.reduce(undecided))
    for value, extent in zip(values, extents, strict=True):
        facts.rest_on(value)
        facts.rest_on(extent - 1 - value)
    return None


def _plain(value: Any) -> Extent:
    return value.e if isinstance(value, Coordinate) else value
