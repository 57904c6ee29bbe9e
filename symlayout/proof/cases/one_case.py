"""Prove that an operation is a map: at each coordinate one of its cases holds, and reads inside its source or fills."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import Coordinate, axis_digits
from symlayout.algebra.polynomial import Extent
from symlayout.proof.cases.case_tree import Chosen, Tree
from symlayout.proof.cases.read_element import Stuck, coords_of_case, first_outside, window_outside
from symlayout.proof.cases.split_cases import MOST_READINGS, CaseDecision
from symlayout.tensors.chain import Tensor, same_size
from symlayout.tensors.declaration import Case


def show_map(node: Tensor, facts: Facts, *, effort: int) -> Tree:
    """Prove that *node* is a map: at each coordinate one case holds, and it reads inside its source or has a fill.

    Raises
    ------
    InconclusiveError
        The claim is not proved.
    """
    facts.splits = {}
    return _MapDecision(node, facts.effort + effort).decide(facts, None)


class _MapDecision(CaseDecision):
    """The decision for a single operation: which of its cases holds at each of its coordinates."""

    def __init__(self, node: Tensor, limit: int) -> None:
        super().__init__(finite=True, limit=limit)
        self.node = node

    def meet(self, facts: Facts) -> list[Extent]:
        """Return the digits of the operation's coordinate."""
        extents = [facts.reduce(e) for e in self.node.extents]
        facts.meet(extents)
        return axis_digits(tuple(facts.reduce(e) for e in extents), facts)

    def leaf(self, facts: Facts, digits: Sequence[Extent], inside: int | None) -> Tree:
        """Return the case that holds at the coordinate *digits*, and where each other fails (see `ReadDecision`)."""
        for _ in range(MOST_READINGS):
            solved = len(facts.solved)
            chosen = self._choose(facts, digits)
            if len(facts.solved) == solved:
                return chosen
        raise Stuck(f"the cases of {self.node.name} are in the same terms")

    def _choose(self, facts: Facts, digits: Sequence[Extent]) -> Chosen:
        node = self.node
        assert node.declared is not None
        given = [Coordinate(facts.reduce(e), facts) for e in digits]
        apart = [window_outside(case, given, facts) for case in node.declared.cases]
        holding = [number for number, window in enumerate(apart) if window is None]
        if len(holding) != 1:
            raise Stuck(f"at each coordinate one case of {node.name} holds, and no other")
        case = node.declared.cases[holding[0]]
        if case.fill is None:
            self._show_inside(node, case, given, facts)
        return Chosen(facts, holding[0], tuple(window for window in apart if window is not None))

    def _show_inside(self, node: Tensor, case: Case, given: list[Coordinate], facts: Facts) -> None:
        extents = [facts.reduce(e) for e in node.inputs[case.source].extents]
        if same_size(extents, node.extents, facts):
            facts.assume_factors(extents, [facts.reduce(e) for e in node.extents])
        coords = coords_of_case(case, given, extents, facts)
        if first_outside(coords, extents, facts) is not None:
            raise Stuck(f"{node.name} reads inside its input", (*coords, *extents))
