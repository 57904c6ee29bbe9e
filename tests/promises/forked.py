"""Run a function in a process of its own, forked from this one, and say how it ended."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable

SECONDS = 30.0


def forked(work: Callable[[], object], seconds: float = SECONDS) -> int:
    """Return the status of a process that does *work*, as of `os.waitpid`: 0 if it returns.

    Raises
    ------
    AssertionError
        It has not ended after *seconds*; it is killed then.
    """
    pid = start(work)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError(f"a process hangs for {seconds:g} s")


def start(work: Callable[[], object]) -> int:
    """Return the number of a process that does *work* and exits with 0, or prints what was raised and exits with 1."""
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
