"""The figures to reach, and the measured value of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from benchmarks.cases import KIB, MIB
from benchmarks.measure import MEMCPY, SPECIALISED, Row


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure: *measured* is met if it is at most *limit* (at least, if *more* is better).

    Attributes
    ----------
    missed : tuple of Row
        For a figure that each row must reach, the rows that miss it.
    rows : int
        Of how many rows.
    """

    what: str
    limit: float
    measured: float
    rows: int
    more: bool = False
    missed: tuple[Row, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the figure is reached."""
        return self.measured >= self.limit if self.more else self.measured <= self.limit


def goals(rows: Sequence[Row]) -> list[Goal]:
    """Return the figures that *rows* contain data for."""
    blocks = _of(rows, "block operations")
    large = [r for r in blocks if r.size >= 0.9 * MIB]
    transposes = [r for r in _of(rows, "transposes") if r.size >= 0.9 * MIB]
    powers = _of(rows, "transposes, powers of two")
    beside = [r for r in rows if r.fastest_peer is not None and r.case.state == "warm"]
    found = [
        _mean("block operations >= 1 MiB / memcpy, geometric mean", 1.25, large),
        _each(
            "(each block operation >= 64 KiB - 2 us) / memcpy",
            2.0,
            [r for r in blocks if r.size >= 60 * KIB],
            lambda r: (r.seconds["symlayout"] - 2e-6) / r.seconds[MEMCPY],
        ),
        _mean("transposes >= 1 MiB / memcpy, geometric mean", 2.0, transposes),
        _each("each transpose of power-of-two sides / memcpy", 3.0, powers, lambda r: r.ours.median),
        _mean("fused chains / memcpy of the larger side, geometric mean", 1.5, _of(rows, "chains")),
        _each("each fused chain / memcpy of the larger side", 1.5, _of(rows, "chains"), lambda r: r.ours.median),
        _each("each kernel / the fastest peer", 1.0, beside, margin, tie),
        _each("each call on 3 KB / NumPy's", 1.0, _of(rows, "calls"), _by_numpy),
        _each("each dynamic kernel / the specialised one", 1.2, _of(rows, "dynamic"), _by_specialised),
    ]
    if compared := [r for r in blocks if r.fastest_peer is not None]:
        gain = 1 / geometric_mean(margin(r) for r in compared)
        found.append(Goal("fastest peer / kernel, block operations, geometric mean", 2.5, gain, len(compared), True))
    return [goal for goal in found if goal is not None]


def margin(r: Row) -> float:
    """Return the kernel's time divided by the fastest peer's; 0 without a peer."""
    return 0.0 if r.fastest_peer is None else r.ours.median / r.ratios[r.fastest_peer].median


def tie(r: Row) -> bool:
    """Return whether the quartiles of the kernel and the fastest peer overlap."""
    return r.fastest_peer is not None and r.ours.low <= r.ratios[r.fastest_peer].high


def _of(rows: Iterable[Row], group: str) -> list[Row]:
    return [r for r in rows if r.case.group.startswith(group)]


def _mean(what: str, limit: float, rows: Sequence[Row]) -> Goal | None:
    return Goal(what, limit, geometric_mean(r.ours.median for r in rows), len(rows)) if rows else None


def _each(
    what: str,
    limit: float,
    rows: Sequence[Row],
    value: Callable[[Row], float],
    excused: Callable[[Row], bool] = lambda r: False,
) -> Goal | None:
    """Return a figure that each row must reach: the largest value, and the rows beyond the limit."""
    if not rows:
        return None
    counted = [r for r in rows if not (value(r) > limit and excused(r))]
    missed = sorted((r for r in counted if value(r) > limit), key=value, reverse=True)
    return Goal(what, limit, max(map(value, counted), default=0.0), len(rows), missed=tuple(missed))


def _by_numpy(r: Row) -> float:
    return r.ours.median / r.ratios["numpy"].median


def _by_specialised(r: Row) -> float:
    return r.ours.median / r.ratios[SPECIALISED].median
