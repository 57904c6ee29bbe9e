"""The states of memory in which calls are timed: what is done, untimed, before each call."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.arena import Array


def clock(threads: int) -> Callable[[], float]:
    """Return the clock for calls in *threads* threads.

    For one thread it is the time of the processor, so that other work on the machine, which interrupts each call longer
    than a time slice, does not count.
    """
    return time.process_time if threads == 1 else time.perf_counter


def before(state: str, junk: Array) -> Callable[[], None] | None:
    """Return what is called before each call to bring about a state of the machine.

    ``"warm"``: calls follow each other; ``"cold"``: nothing is in the caches, than which *junk* is larger; ``"fresh"``:
    the result is a new array.
    """
    return {"warm": None, "cold": lambda: _flush(junk), "fresh": _release}[state]


def _flush(junk: Array) -> None:
    """Evict the operands from the caches."""
    np.add(junk, 1, out=junk)


def _release() -> None:
    """Return free memory to the system, so that new arrays are touched for the first time."""
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def last_level_cache() -> int:
    """Return the bytes of the largest cache; 32 MiB if the system does not state it."""
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max([int(s[:-1]) << {"K": 10, "M": 20}[s[-1]] for s in sizes if s[-1:] in ("K", "M")], default=32 << 20)
