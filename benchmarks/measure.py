"""Time contenders in turns, each round beside a memcpy of the same round."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import symlayout as sl
from benchmarks import contenders
from benchmarks.cases import Case, recipe

_SAMPLE_SECONDS = 2e-4  # a sample repeats a shorter call until it takes about this long


@dataclass(frozen=True, slots=True)
class Ratio:
    """A time in units of memcpy's: the median of the rounds and their quartiles."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}-{self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one case.

    Attributes
    ----------
    seconds : float
        The median of memcpy, of the larger side's bytes.
    ratios : dict
        By contender; those that have no such operation are absent.
    wrong : tuple of str
        Contenders whose result differs from the interpreter's, which are not timed.
    """

    case: Case
    size: int
    seconds: float
    ratios: dict[str, Ratio]
    wrong: tuple[str, ...]

    @property
    def best_peer(self) -> str | None:
        """The fastest contender but symlayout."""
        peers = [name for name in self.ratios if name != "symlayout"]
        return min(peers, key=lambda name: self.ratios[name].median, default=None)


def measure(case: Case, peers: Mapping[str, contenders.Prepare], rounds: int) -> Row:
    """Return the times of one case."""
    rng = np.random.default_rng(0)
    source = rng.integers(0, 256, case.shape).astype(case.dtype)
    out = np.empty(recipe(case)[1], case.dtype)
    larger = max(source, out, key=lambda a: a.nbytes)
    spare = np.empty_like(larger)
    expected = sl.interpret(contenders.tensor(case.steps, source.ndim, case.dtype), source)
    calls: dict[str, contenders.Call] = {}
    wrong = []
    for name, prepare in {"symlayout": contenders.symlayout, **peers}.items():
        out.fill(255)
        if (call := _prepared(prepare, case, source, out)) is None:
            continue
        if np.array_equal(np.asarray(call()), expected):
            calls[name] = call
        else:
            wrong.append(name)
    if "symlayout" in wrong:
        raise AssertionError(f"symlayout's kernel is wrong: {case}")
    times = _turns({"memcpy": lambda: np.copyto(spare, larger), **calls}, rounds)
    base = times.pop("memcpy")
    ratios = {n: _ratio([t / b for t, b in zip(taken, base, strict=True)]) for n, taken in times.items()}
    return Row(case, larger.nbytes, statistics.median(base), ratios, tuple(wrong))


def _prepared(prepare: contenders.Prepare, case: Case, source: Any, out: Any) -> contenders.Call | None:
    """Return the call, or None where the peer refuses the case (an element type that it lacks)."""
    try:
        call = prepare(case, source, out)
        if call is not None:
            call()
    except Exception:  # each peer has errors of its own for what it does not support
        if prepare is contenders.symlayout:
            raise
        return None
    return call


def _turns(calls: Mapping[str, contenders.Call], rounds: int) -> dict[str, list[float]]:
    """Return the time of one call, by contender and round."""
    repeats = {name: max(1, round(_SAMPLE_SECONDS / _time(call, 3))) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(_time(call, repeats[name]))
    return times


def _time(call: contenders.Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def _ratio(values: list[float]) -> Ratio:
    low, median, high = statistics.quantiles(values, n=4)
    return Ratio(low, median, high)
