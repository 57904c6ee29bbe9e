"""The state of `bound_loops`: which windows and guards are undecided."""

from __future__ import annotations

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt
from symlayout_codegen.ir.nest import NestWindow
from symlayout_codegen.passes.pieces.pending_windows import Enforcement, PendingGuard, PendingWindows, Target
from tests.support import nests


def enforced(k: int, whole: Enforcement | None = None) -> Enforcement:
    window = NestWindow(nests.affine(0, (k, 1)), IntLiteral(9))
    return Enforcement(window, depth=k, ready=0, first=f"first{k}", last=f"last{k}", whole=whole)


FIRST, SECOND = PendingGuard(enforced(0), fill=0), PendingGuard(enforced(1), fill=1)
STATE = PendingWindows((enforced(2),), (FIRST, SECOND), Target(0, None), {})


def test_the_last_guard_goes_if_its_fill_is_written_anyway() -> None:
    assert STATE.to(Target(None, 1), (FIRST, SECOND)).guards == (FIRST,)
    assert STATE.to(Target(None, 0), (FIRST, SECOND)).guards == (FIRST, SECOND)
    assert STATE.to(Target(0, None), (FIRST, SECOND)).guards == (FIRST, SECOND)


def test_a_window_that_holds_is_no_longer_enforced() -> None:
    left = STATE.without([enforced(0), enforced(2)])
    assert (left.windows, left.guards, left.enforced) == ((), (SECOND,), [enforced(1)])


def test_a_window_may_cut_blocks_again() -> None:
    blocks = enforced(2, whole=enforced(3))
    state = PendingWindows((blocks,), (PendingGuard(blocks, 0), FIRST), Target(0, None), {})
    assert state.cutting([blocks]).enforced == [enforced(2), enforced(2), enforced(0)]
    assert state.cutting([]) == state


def test_a_range_replaces_that_of_its_digit() -> None:
    n = NamedInt("n")
    assert STATE.over(1, n, n).over(1, IntLiteral(0), n).ranges == {1: (IntLiteral(0), n)}


def test_a_window_without_bounds_is_tested() -> None:
    tested = Enforcement(enforced(0).window, depth=1, ready=1)
    assert tested.tested
    assert not tested.bounds(1)
    assert enforced(1).bounds(1)
    assert not enforced(1).bounds(0)
