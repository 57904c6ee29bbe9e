"""What the loops written so far leave open: windows to keep, guards to decide, and what a point then gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symlayout_codegen.ir.integer_expressions import Expr
from symlayout_codegen.ir.nest import Window


@dataclass(frozen=True, slots=True)
class Target:
    """What a point gets when no pending guard fails: an element of a source, a fill, or nothing."""

    source: int | None
    fill: int | None

    @property
    def is_nothing(self) -> bool:
        """Whether what is there stays."""
        return self.source is None and self.fill is None


@dataclass(frozen=True, slots=True)
class Bound:
    """How a window is kept: by the bounds of the loop at *depth*, or by a test on entering *depth*.

    The bounds are the locals *first* and *last*, computed at depth *ready*.  Where the window's
    last two digits are an axis cut in blocks, *whole* bounds the blocks that lie inside it entirely.
    """

    window: Window
    depth: int
    ready: int
    first: str = ""
    last: str = ""
    whole: Bound | None = None

    @property
    def tested(self) -> bool:
        """Whether it is kept by a test."""
        return not self.first

    def bounds(self, depth: int) -> bool:
        """Return whether the loop at *depth* is the one that it bounds."""
        return self.depth == depth and not self.tested


@dataclass(frozen=True, slots=True)
class Pending:
    """A guard that the loops so far have not decided."""

    bound: Bound
    fill: int


@dataclass(frozen=True, slots=True)
class Open:
    """What the loops so far leave open.

    Attributes
    ----------
    windows : those that are not known to hold.
    guards : those that are not decided, in order.
    target : what a point gets when none of them fails.
    ranges : ``{digit: (start, stop)}`` of the digits that run over less than their extent.
    """

    windows: tuple[Bound, ...]
    guards: tuple[Pending, ...]
    target: Target
    ranges: Mapping[int, tuple[Expr, Expr]]

    @property
    def bounds(self) -> list[Bound]:
        """Those of the windows, then those of the guards."""
        return [*self.windows, *(guard.bound for guard in self.guards)]

    def to(self, target: Target, guards: tuple[Pending, ...]) -> Open:
        """Return what is open where *target* is reached and *guards* are left."""
        while guards and target.source is None and guards[-1].fill == target.fill:
            guards = guards[:-1]  # the point gets this fill anyway
        return replace(self, guards=guards, target=target)

    def over(self, digit: int, start: Expr, stop: Expr) -> Open:
        """Return what is open where *digit* runs from *start* to *stop*."""
        return replace(self, ranges={**self.ranges, digit: (start, stop)})

    def without(self, bounds: Sequence[Bound]) -> Open:
        """Return what is open where *bounds* are known to hold."""
        windows = tuple(bound for bound in self.windows if bound not in bounds)
        left = tuple(guard for guard in self.guards if guard.bound not in bounds)
        return replace(self, windows=windows).to(self.target, left)

    def cutting(self, bounds: Sequence[Bound]) -> Open:
        """Return what is open where *bounds* may cut every block."""
        cut = {bound: replace(bound, whole=None) for bound in bounds}
        return replace(
            self,
            windows=tuple(cut.get(bound, bound) for bound in self.windows),
            guards=tuple(replace(guard, bound=cut.get(guard.bound, guard.bound)) for guard in self.guards),
        )
