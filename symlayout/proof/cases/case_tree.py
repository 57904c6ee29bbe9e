"""The cases of a proof, as a tree: each leaf says what both sides read there."""

from __future__ import annotations

from dataclasses import dataclass

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent


@dataclass(frozen=True, slots=True)
class Split:
    """Two branches: ``value >= 0`` and ``value < 0``; *first* says that the shapes are compared in the branches."""

    facts: Facts
    value: Extent
    yes: Tree
    no: Tree
    first: bool = False


@dataclass(frozen=True, slots=True)
class Agreed:
    """Both sides read the same element.

    Each path holds the case at each step, and, if the step reads outside its source, the axis and the end: ``below``,
    ``above``, or ``empty`` if the source has no element on that axis.
    """

    facts: Facts
    paths: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Masked:
    """All fills are equal, so two branches suffice: all windows of the left side hold, and all of the right side hold.

    At all other points both sides read the fill.
    """

    facts: Facts
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Absurd:
    """The facts exclude all points."""

    facts: Facts


@dataclass(frozen=True, slots=True)
class Chosen:
    """Case *number* of one operation holds; each other case fails at a window, on the named end.

    The end is ``below`` or ``above``, as in `Agreed`.
    """

    facts: Facts
    number: int
    others: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Same:
    """Both sides are the same operations of equal leaves."""

    facts: Facts


Tree = Split | Agreed | Masked | Absurd | Chosen | Same
Path = tuple[tuple[int, tuple[int, str] | None], ...]
