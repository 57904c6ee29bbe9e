"""The state of `bound_loops`: windows and guards that the loops written so far have not decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symlayout_codegen.ir.integer_expressions import Expr
from symlayout_codegen.ir.nest import NestWindow


@dataclass(frozen=True, slots=True)
class Target:
    """What a point writes if no pending guard fails: an element of a source, a fill, a computed value, or nothing."""

    source: int | None
    fill: int | None
    computes: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether the point writes nothing."""
        return self.source is None and self.fill is None and not self.computes


@dataclass(frozen=True, slots=True)
class Enforcement:
    """How a window is enforced: by the bounds of the loop at *depth*, or by a test inside the loops up to *depth*.

    Attributes
    ----------
    ready : the depth at which the bounds are computed.
    first, last : the names of the bounds; empty for a test.
    whole : how the blocks are bounded that lie entirely in the window, if the last two of its digits are an axis cut
        in blocks.
    """

    window: NestWindow
    depth: int
    ready: int
    first: str = ""
    last: str = ""
    whole: Enforcement | None = None

    @property
    def tested(self) -> bool:
        """Whether a test enforces the window."""
        return not self.first

    def bounds(self, depth: int) -> bool:
        """Return whether the bounds of the loop at *depth* enforce the window."""
        return self.depth == depth and not self.tested


@dataclass(frozen=True, slots=True)
class PendingGuard:
    """A guard that the loops so far have not decided."""

    enforced: Enforcement
    fill: int


@dataclass(frozen=True, slots=True)
class PendingWindows:
    """What the loops written so far leave undecided.

    Attributes
    ----------
    windows : the windows that are not known to hold.
    guards : the guards that are not decided, in order.
    target : what a point writes if none of the guards fails.
    ranges : ``{digit: (start, stop)}`` for the digits that run over less than their extent.
    """

    windows: tuple[Enforcement, ...]
    guards: tuple[PendingGuard, ...]
    target: Target
    ranges: Mapping[int, tuple[Expr, Expr]]

    @property
    def enforced(self) -> list[Enforcement]:
        """How the windows are enforced, then the guards."""
        return [*self.windows, *(guard.enforced for guard in self.guards)]

    def to(self, target: Target, guards: tuple[PendingGuard, ...]) -> PendingWindows:
        """Return the state where *target* is reached if none of *guards* fails."""
        while guards and target.source is None and guards[-1].fill == target.fill:
            guards = guards[:-1]  # the point gets this fill anyway
        return replace(self, guards=guards, target=target)

    def over(self, digit: int, start: Expr, stop: Expr) -> PendingWindows:
        """Return the state where *digit* runs from *start* to *stop*."""
        return replace(self, ranges={**self.ranges, digit: (start, stop)})

    def without(self, held: Sequence[Enforcement]) -> PendingWindows:
        """Return the state where the windows of *held* are known to hold."""
        windows = tuple(window for window in self.windows if window not in held)
        guards = tuple(guard for guard in self.guards if guard.enforced not in held)
        return replace(self, windows=windows).to(self.target, guards)

    def cutting(self, cut: Sequence[Enforcement]) -> PendingWindows:
        """Return the state where the windows of *cut* may cut every block."""
        without_whole = {each: replace(each, whole=None) for each in cut}
        return replace(
            self,
            windows=tuple(without_whole.get(window, window) for window in self.windows),
            guards=tuple(
                replace(guard, enforced=without_whole.get(guard.enforced, guard.enforced)) for guard in self.guards
            ),
        )
