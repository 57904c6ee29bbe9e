"""Show that long work goes on: on a terminal only, after a while, and gone when it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_AFTER = 1.0  # seconds before anything is shown


@contextmanager
def progress(what: str, stream: TextIO, *, after: float = _AFTER) -> Iterator[None]:
    """Write *what* and the time that passed to *stream* while the block runs, if it is a terminal."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    shown: list[Any] = []
    timer = threading.Timer(after, lambda start: shown.append(_shown(what, stream, start)), [time.monotonic()])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for display in shown:
            display.stop()


def _shown(what: str, stream: TextIO, start: float) -> Any:
    """Return a display of rich that has begun, and counts from *start*."""
    from rich.console import Console  # for those who wait only: 0.1 s
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    console = Console(file=stream, force_terminal=True)
    display = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    task = display.add_task(what, total=None)
    display.tasks[task].start_time = start
    display.start()
    return display
