"""Decide by cases whether two chains of movement read the same element at every output coordinate.

Both sides are evaluated at one symbolic output coordinate.  What is computed, and not moved, a subclass compares.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import axis_digits
from symlayout.algebra.polynomial import Extent
from symlayout.proof.cases.case_tree import Agreed, Tree
from symlayout.proof.cases.compare_constants import EqualElements, same_elements
from symlayout.proof.cases.read_element import OpenSign, SideRead, Stuck, read_element
from symlayout.proof.cases.split_cases import MOST_READINGS, CaseDecision
from symlayout.proof.congruence import equal
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import same_fill
from symlayout_codegen.forks import cached_property


class ReadDecision(CaseDecision):
    """The decision whether both *sides* read the same; *starts* are their coordinates, if not the same digits.

    With *shown*, reads without a fill are known to be inside their source (see `read_element`).
    """

    def __init__(
        self,
        sides: tuple[Tensor, Tensor],
        dtype: Any,
        *,
        shown: bool,
        finite: bool,
        limit: int,
        starts: tuple[Sequence[Extent], Sequence[Extent]] | None = None,
    ) -> None:
        super().__init__(finite=finite, limit=limit)
        self.sides, self.dtype, self.shown, self.starts = sides, dtype, shown, starts

    @cached_property
    def one_fill(self) -> bool:
        """Whether no map has cases, and all fills are equal bit for bit."""
        nodes = [node for side in self.sides for node in side.nodes() if node.declared is not None]
        cases = [case for node in nodes if node.declared is not None for case in node.declared.cases]
        if len(cases) != len(nodes) or any(case.where is not None for case in cases):
            return False
        fills = [case.fill.value for case in cases if case.fill is not None]
        return all(same_fill(fills[0], fill, self.dtype) for fill in fills[1:])

    @abstractmethod
    def compare_with_fill(self, read: SideRead, side: int, fill: Any, facts: Facts) -> None:
        """Prove that what *side* reads is a constant, equal to the *fill* of the other side; `Stuck` if that fails."""

    @abstractmethod
    def compare_computed(self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> None:
        """Prove that the computed value *a* at *at* equals *b* at *bt*; `OpenSign` or `Stuck` if that fails."""

    @abstractmethod
    def are_rounded_alike(self, a: SideRead, b: SideRead, facts: Facts) -> bool:
        """Return whether two constants are equal but for how they were rounded, and a law allows that."""

    @abstractmethod
    def are_one_element(self, a: SideRead, b: SideRead, facts: Facts) -> bool:
        """Return whether an element of an input is proved to be equal to a computed one."""

    def leaf(self, facts: Facts, digits: Sequence[Extent], inside: int | None) -> Tree:
        """Return the leaf of a branch at the output coordinate *digits*."""
        found, elements = self._read_both(digits, facts, inside)
        return Agreed(facts, (found[0].path, found[1].path), elements)

    def _read_both(
        self, digits: Sequence[Extent], facts: Facts, inside: int | None
    ) -> tuple[dict[int, SideRead], EqualElements | None]:
        """Prove that both sides read the same element, and return both reads, and what was compared of constants.

        The sides are evaluated again if symbols were solved meanwhile: earlier quotients then use other symbols.
        """
        first = inside or 0  # facts of the side assumed inside help with the other
        for _ in range(MOST_READINGS):
            solved = len(facts.solved)
            starts = self.starts or (digits, digits)
            found = {
                side: self.read(self.sides[side], starts[side], facts, side=side, inside=inside == side)
                for side in (first, 1 - first)
            }
            changed = len(facts.solved) != solved
            try:
                elements = self.compare(found[0], found[1], facts)
            except Stuck:
                if not changed:
                    raise
            else:
                if not changed or not facts.is_written:
                    return found, elements
        raise Stuck("the sides are in the same terms", found[0].coords + found[1].coords)

    def meet(self, facts: Facts) -> list[Extent]:
        """Prove that the shapes are equal, and return the digits of the output coordinate."""
        left, right = ([facts.reduce(e) for e in side.extents] for side in self.sides)
        for axis, (a, b) in enumerate(zip(left, right, strict=True)):
            if not equal(a, b, facts):
                if facts.question(between := facts.reduce(a - b)) != between:  # which operand of a maximum is larger?
                    raise OpenSign(between)
                what = f"the extents of axis {axis} are equal: {facts.spell(a)} and {facts.spell(b)}"
                raise Stuck(what, (a, b))
        facts.meet(left)
        return axis_digits(tuple(facts.reduce(e) for e in left), facts)

    def read(
        self, node: Tensor, coords: Sequence[Extent], facts: Facts, *, side: int, inside: bool = False
    ) -> SideRead:
        """Return the element that *node* reads at *coords*; *inside* assumes that it is no fill."""
        return read_element(node, coords, facts, side=side, limit=self.limit, shown=self.shown, inside=inside)

    def compare(self, a: SideRead, b: SideRead, facts: Facts) -> EqualElements | None:
        """Prove that two reads are equal; `OpenSign` or `Stuck` if that fails.

        What was compared is returned if they are elements of constants.
        """
        if a.leaf is None and b.leaf is None:
            if not same_fill(a.fill, b.fill, self.dtype):
                raise Stuck(f"the fills {a.fill} and {b.fill} are equal")
            return None
        if a.leaf is None or b.leaf is None:
            number, read = (0, b) if a.leaf is None else (1, a)
            self.compare_with_fill(read, 1 - number, (a, b)[number].fill, facts)
            return None
        if a.leaf.key == b.leaf.key:
            pairs = [(facts.reduce(x), facts.reduce(y)) for x, y in zip(a.coords, b.coords, strict=True)]
            apart = next((axis for axis, (x, y) in enumerate(pairs) if not equal(x, y, facts)), None)
            if apart is None:
                return None
            if a.leaf.body is None and a.leaf.values is None:
                x, y = pairs[apart]
                raise Stuck(f"{facts.spell(x)} == {facts.spell(y)} on axis {apart} of {a.leaf.name}", (x, y))
        if a.leaf.body is not None and b.leaf.body is not None:
            self.compare_computed(a.leaf, b.leaf, a.coords, b.coords, facts)
        elif a.leaf.values is not None and b.leaf.values is not None:
            elements = same_elements(a.leaf.values, b.leaf.values, a.coords, b.coords, facts)
            if elements is None and self.are_rounded_alike(a, b, facts):
                return None
            if elements is None:
                raise Stuck(f"{a.leaf.name} and {b.leaf.name} have equal elements", (*a.coords, *b.coords))
            for _, value, low, high in elements.box:
                facts.rest_on(value - low)
                facts.rest_on(high - value)
            return elements
        elif not self.are_one_element(a, b, facts):
            raise Stuck(f"{a.leaf.name} and {b.leaf.name} are one input", (*a.coords, *b.coords))
        return None
