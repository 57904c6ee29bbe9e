"""Peers of the benchmark that fail: each is named ``tests.support.peers:name`` in a process of its own."""

from __future__ import annotations

import os
import sys

from symlayout.commands.peers.program import UnsupportedError
from symlayout.commands.peers.rivals import RIVALS
from symlayout.commands.peers.task import Call, Task


def lacks(task: Task) -> Call:
    raise UnsupportedError("everything")


def wrong(task: Task) -> Call:
    return lambda: task.source


def aborts(task: Task) -> Call:
    print("LLVM ERROR: inconsistency in registered CommandLine options", file=sys.stderr, flush=True)
    os.abort()


def exits_later(task: Task) -> Call:
    """Compute the result once, and end when it is timed."""
    call, calls = RIVALS["numpy"](task), iter(range(2))

    def run() -> None:
        if next(calls) == 1:
            os._exit(3)
        call()

    return run
