"""The figures to reach, and the measured value of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from benchmarks.cases import KIB, MIB
from benchmarks.hptt import GROUP, HPTT
from benchmarks.measure import MEMCPY, Row, specialised


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


def goals(rows: Sequence[Row], kernel: str) -> list[Goal]:
    """Return the figures of the contender *kernel* that *rows* contain data for.

    The cases of HPTT's own benchmark count only in the comparison with HPTT, so that the figures with HPTT and without
    it are about the same rows.
    """
    blocks = _of(rows, "block operations")
    large = [r for r in blocks if r.size >= 0.9 * MIB]
    transposes = [r for r in _of(rows, "transposes") if r.size >= 0.9 * MIB and r.case.group != GROUP]
    powers = _of(rows, "transposes, powers of two")
    floats = [r for r in transposes if r.case.dtype == "float32"]
    beside = [r for r in rows if r.fastest_peer is not None and r.case.state == "warm" and r.case.group != GROUP]
    chains = _of(rows, "chains")

    def by_memcpy(r: Row) -> float:
        return r.ratios[kernel].median

    def mean(what: str, limit: float, of: Sequence[Row]) -> Goal | None:
        return Goal(what, limit, geometric_mean(map(by_memcpy, of)), len(of)) if of else None

    found = [
        mean("block operations >= 1 MiB / memcpy, geometric mean", 1.25, large),
        _each(
            "(each block operation >= 64 KiB - 2 us) / memcpy",
            2.0,
            [r for r in blocks if r.size >= 60 * KIB],
            lambda r: (r.seconds[kernel] - 2e-6) / r.seconds[MEMCPY],
        ),
        mean("transposes >= 1 MiB / memcpy, geometric mean", 2.0, transposes),
        mean("float32 transposes >= 1 MiB / memcpy, geometric mean", 1.4, floats),
        _each("each of these, not of power-of-two sides", 2.5, [r for r in floats if r not in powers], by_memcpy),
        _each("each transpose of power-of-two sides / memcpy", 3.0, powers, by_memcpy),
        mean("fused chains / memcpy of the larger side, geometric mean", 1.5, chains),
        _each("each fused chain / memcpy of the larger side", 1.5, chains, by_memcpy),
        _each(
            "each call on 3 KB / NumPy's", 1.0, [r for r in _of(rows, "calls") if "numpy" in r.ratios],
            lambda r: by_memcpy(r) / r.ratios["numpy"].median,
        ),
        _each(
            "each dynamic kernel / the specialised one", 1.2, _of(rows, "dynamic"),
            lambda r: by_memcpy(r) / r.ratios[specialised(kernel)].median,
        ),
    ]  # fmt: skip
    if beside:
        lost = [r for r in beside if margin(r, kernel) > 1 and not tie(r, kernel)]
        found.append(Goal("rows in which a peer is faster, outside the spread", 3, len(lost), len(beside)))
    if compared := [r for r in blocks if r.fastest_peer is not None]:
        gain = 1 / geometric_mean(margin(r, kernel) for r in compared)
        found.append(Goal("fastest peer / kernel, block operations, geometric mean", 2.5, gain, len(compared), True))
    if compared := [r for r in _of(rows, "transposes") if HPTT in r.ratios]:
        ratio = geometric_mean(by_memcpy(r) / r.ratios[HPTT].median for r in compared)
        found.append(Goal("transposes / HPTT, geometric mean", 1.0, ratio, len(compared)))
    return [goal for goal in found if goal is not None]


def margin(r: Row, kernel: str) -> float:
    """Return the time of *kernel* divided by the fastest peer's; 0 without a peer."""
    return 0.0 if r.fastest_peer is None else r.ratios[kernel].median / r.ratios[r.fastest_peer].median


def tie(r: Row, kernel: str) -> bool:
    """Return whether the quartiles of *kernel* and the fastest peer overlap."""
    return r.fastest_peer is not None and r.ratios[kernel].low <= r.ratios[r.fastest_peer].high


def _of(rows: Iterable[Row], group: str) -> list[Row]:
    return [r for r in rows if r.case.group.startswith(group)]


def _each(
    what: str,
    limit: float,
    rows: Sequence[Row],
    value: Callable[[Row], float],
) -> Goal | None:
    """Return a figure that each row must reach: the largest value, and the rows beyond the limit."""
    if not rows:
        return None
    missed = sorted((r for r in rows if value(r) > limit), key=value, reverse=True)
    return Goal(what, limit, max(map(value, rows)), len(rows), missed=tuple(missed))
