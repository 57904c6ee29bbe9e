"""Show the elapsed time of long work on a terminal."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_AFTER = 1.0  # seconds until the display appears


@contextmanager
def progress(what: str, stream: TextIO, *, after: float = _AFTER) -> Iterator[None]:
    """Show *what* and the elapsed time on *stream* while the block runs, if it is a terminal.

    The display appears *after* seconds, and is removed when the block ends.
    """
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    shown: list[Any] = []
    timer = threading.Timer(
        after, lambda start: shown.append(_started_display(what, stream, start)), [time.monotonic()]
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for display in shown:
            display.stop()


def _started_display(what: str, stream: TextIO, start: float) -> Any:
    """Return a running display of rich that counts from the time *start*."""
    from rich.console import Console  # here, because the import takes 0.1 s
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    console = Console(file=stream, force_terminal=True)
    display = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    task = display.add_task(what, total=None)
    display.tasks[task].start_time = start
    display.start()
    return display
