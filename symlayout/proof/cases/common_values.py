"""Find a value that both sides of a claim read at one coordinate, so that what it is made of has not to be decided.

Two chains often end in the same operations, or one of them has a detour that leads back.  Then both ways meet at a
value before they reach the inputs.  From there on the elements are equal, whichever cases apply: no split is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.proof.cases.read_element import OpenSign, Place, Stuck, read_element
from symlayout.proof.classes import Classes, Pairs
from symlayout.tensors.chain import Tensor

Meeting = tuple[Place, Place, Pairs]


def share_operations(left: Tensor, right: Tensor) -> bool:
    """Return whether an operation of the one side may be one of the other side: their names and ranks are the same."""
    kinds = [{(t.name, t.rank) for t in side.nodes() if t.declared is not None} for side in (left, right)]
    return not kinds[0].isdisjoint(kinds[1])


def meetings(
    sides: tuple[Tensor, Tensor], digits: Sequence[Extent], facts: Facts, *, limit: int, shown: bool
) -> list[Meeting]:
    """Return where the ways of both sides meet: two values that are the same operations of equal parts, if these are.

    Those with the fewest parts come first.  *facts* are added to; the other parameters are those of `read_element`.
    """
    classes = Classes(exact=True)  # as a checker compares them
    ways = [way_of(side, digits, facts, number=k, limit=limit, shown=shown) for k, side in enumerate(sides)]
    found: list[Meeting] = []
    for a in ways[0]:
        for b in ways[1]:
            if a.node.declared is None or len(a.coords) != len(b.coords) or not are_one_place(a, b, facts):
                continue
            parts = classes.parts(a.node, b.node)
            if parts is not None and not parts[0]:  # computed values need pairs of their own
                found.append((a, b, parts[1]))
    return sorted(found, key=lambda meeting: len(meeting[2]))


def way_of(
    side: Tensor, digits: Sequence[Extent], facts: Facts, *, number: int, limit: int, shown: bool
) -> list[Place]:
    """Return the values on the way of one side, as far as the facts decide the cases."""
    way: list[Place] = []
    try:
        read_element(side, digits, facts, side=number, limit=limit, shown=shown, way=way)
    except (OpenSign, Stuck, InconclusiveError):
        return way
    except ShapeError as error:
        if error.kind != "infeasible":
            raise
    return way


def are_one_place(a: Place, b: Place, facts: Facts) -> bool:
    """Return whether both values are read at one coordinate."""
    return all(facts.reduce(x - y) == 0 for x, y in zip(a.coords, b.coords, strict=True))
