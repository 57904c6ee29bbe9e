"""The cases of a proof, as a tree: each leaf says what both sides read there."""

from __future__ import annotations

from dataclasses import dataclass

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.proof.cases.compare_constants import EqualElements
from symlayout.tensors.chain import Tensor


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
    ``above``, or ``empty`` if the source has no element on that axis.  The *elements* are those of two constants, if
    the element is one of each.
    """

    facts: Facts
    paths: tuple[Path, Path]
    elements: EqualElements | None = None


@dataclass(frozen=True, slots=True)
class Met:
    """Both sides read one value at one coordinate: each path leads to one of *nodes*, which are one expression.

    They are the same operations of *parts*, pairs of values that are equal at every coordinate, each with its proof.
    """

    facts: Facts
    paths: tuple[Path, Path]
    nodes: tuple[Tensor, Tensor]
    parts: tuple[tuple[Tensor, Tensor, Tree], ...]


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


Tree = Split | Agreed | Met | Masked | Absurd | Chosen | Same
Path = tuple[tuple[int, tuple[int, str] | None], ...]
