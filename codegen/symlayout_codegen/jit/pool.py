"""Do the parts of a job on several threads.

The threads are started when they are first wanted, and wait for the next job.  The caller works too, so that a
job ends however many others are under way.  After a fork the child starts threads of its own.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

Call = Callable[[int], int]


class _Job:
    """Parts that are not begun, and what those that are done returned or raised."""

    __slots__ = ("_busy", "_call", "_changed", "_left", "errors", "statuses")

    def __init__(self, call: Call, parts: int) -> None:
        self._call = call
        self._left = deque(range(parts))
        self._changed = threading.Condition()
        self._busy = 0
        self.statuses: list[int] = []
        self.errors: list[BaseException] = []

    def help(self) -> None:
        """Do parts until none is left."""
        with self._changed:
            self._busy += 1
        try:
            self._work()
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def lead(self) -> None:
        """Do parts until none is left and all are done: whatever happens, no thread is in a part afterwards."""
        try:
            self._work()
        finally:
            self._left.clear()
            with self._changed:
                self._changed.wait_for(lambda: not self._busy)

    def _work(self) -> None:
        while True:
            try:
                part = self._left.popleft()
            except IndexError:
                return
            try:
                self.statuses.append(self._call(part))
            except BaseException as error:  # it is the caller's, who raises it
                self.errors.append(error)
                self._left.clear()


class _Pool:
    """Threads that wait for jobs; as many as were ever wanted at once."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._started = 0
        self._lock = threading.Lock()

    def offer(self, job: _Job, helpers: int) -> None:
        """Have up to *helpers* threads help with *job*."""
        with self._lock:
            while self._started < helpers:
                try:
                    threading.Thread(target=self._serve, name="symlayout", daemon=True).start()
                except RuntimeError:  # the system has no more threads, or the interpreter ends: the caller does it
                    break
                self._started += 1
        for _ in range(helpers):
            self._jobs.put(job)

    def _serve(self) -> None:
        while True:
            job = self._jobs.get()
            job.help()
            del job  # and with it the memory it works on


_pool = _Pool()


def run(call: Call, parts: int, threads: int) -> int:
    """Call *call* with each of ``0, ..., parts - 1``, on up to *threads* threads at once.

    Returns the first status that is not 0, else 0; an exception of a call is raised again.

    >>> done = []
    >>> run(lambda part: done.append(part) or 0, 4, threads=2)
    0
    >>> sorted(done)
    [0, 1, 2, 3]
    """
    job = _Job(call, parts)
    _pool.offer(job, min(threads, parts) - 1)
    job.lead()
    if job.errors:
        raise job.errors[0]
    return next((status for status in job.statuses if status), 0)


def _after_fork() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
