"""Time calls in turns, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

Call = Callable[[], Any]
Sampler = Callable[[int], float]
"""Makes a number of calls, one after another, and returns the seconds of one."""

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


class ContenderGoneError(Exception):
    """A contender cannot be called any more."""


def take_turns(
    samplers: Mapping[str, Sampler],
    seconds: float,
    *,
    least: int = 3,
    most: int = 10**6,
    single: bool = False,
    progress: Callable[[int], None] | None = None,
) -> dict[str, list[float]]:
    """Return the seconds of a call of each contender in each of its rounds.

    In a round, the contenders run one after another.  The first runs in every round.  Any other stops after *least*
    rounds and its share of *seconds*, so that a slow one does not take the time of the others.  A contender whose
    sampler raises `ContenderGoneError` is left out.

    Parameters
    ----------
    samplers : what calls each contender, by name; `repeatedly` makes one of a function.
    seconds : the time for all of them together, if that allows *least* rounds.
    least, most : bounds of the number of rounds.
    single : whether a sample is a single call; otherwise short calls are repeated.
    progress : a function to call with the number of each finished round.
    """
    repeats: dict[str, int] = {}
    for name, sampler in samplers.items():
        with suppress(ContenderGoneError):
            # The first call may find nothing in the caches.
            repeats[name] = 1 if single else max(1, round(_SAMPLE_SECONDS / min(sampler(1) for _ in range(3))))
    times: dict[str, list[float]] = {name: [] for name in repeats}
    base, *others = repeats
    left = dict.fromkeys(others, seconds / len(repeats))
    for done in range(1, most + 1):
        for name in (base, *left):
            start = time.perf_counter()
            try:
                times[name].append(samplers[name](repeats[name]))
            except ContenderGoneError:
                if name == base:
                    raise
                del times[name], left[name]
                continue
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


def repeatedly(call: Call, before: Call | None = None, clock: Callable[[], float] = time.perf_counter) -> Sampler:
    """Return the sampler of a function, timed by *clock*; *before* is called before each sample, untimed."""

    def sample(repeats: int) -> float:
        if before is not None:
            before()
        start = clock()
        for _ in range(repeats):
            call()
        return (clock() - start) / repeats

    return sample
