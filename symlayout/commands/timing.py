"""Time calls in turns, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Call = Callable[[], Any]

_SAMPLE_SECONDS = 2e-4  # a sample repeats a shorter call for about this many seconds


@dataclass(frozen=True, slots=True)
class Spread:
    """The quartiles of a sample, printed as ``median (low-high)``.

    >>> print(Spread.of([3.0, 1.0, 2.0, 5.0, 4.0]))
    3.00 (2.00-4.00)
    """

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the quartiles of at least two values."""
        return cls(*statistics.quantiles(values, n=4, method="inclusive"))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}-{self.high:.2f})"


def take_turns(
    calls: Mapping[str, Call],
    seconds: float,
    *,
    least: int = 3,
    most: int = 10**6,
    before: Call | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, list[float]]:
    """Return the seconds of a call of each of *calls* in each of its rounds.

    In a round, the calls run one after another.  The first of *calls* runs in every round.  Any other stops after
    *least* rounds and its share of *seconds*, so that a slow call does not take the time of the others.

    Parameters
    ----------
    calls : the functions to time, by name.
    seconds : the time for all of them together, if that allows *least* rounds.
    least, most : bounds of the number of rounds.
    before : a function to call, untimed, before each call.  With it, a sample is a single call.
    progress : a function to call with the number of each finished round.
    """
    repeats = {name: 1 if before else max(1, round(_SAMPLE_SECONDS / _sample(call, 1))) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    base, *others = calls
    left = dict.fromkeys(others, seconds / len(calls))
    for done in range(1, most + 1):
        for name in (base, *left):
            if before is not None:
                before()
            start = time.perf_counter()
            times[name].append(_sample(calls[name], repeats[name]))
            if name != base:
                left[name] -= time.perf_counter() - start
        if progress is not None:
            progress(done)
        if done >= least:
            left = {name: share for name, share in left.items() if share > 0}
            if not left:
                break
    return times


def ratios(times: Mapping[str, Sequence[float]], base: str) -> dict[str, Spread]:
    """Return for each name the quartiles, over its rounds, of its time divided by that of *base* in the same round."""
    return {
        name: Spread.of([t / b for t, b in zip(taken, times[base], strict=False)])
        for name, taken in times.items()
        if name != base
    }


def _sample(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats
