"""Show the elapsed time of long work on a terminal, what it is at, and how much of that is done."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from symlayout.deadlines import told_phases

_AFTER = 1.0  # seconds until the display appears


@contextmanager
def progress(what: str, stream: TextIO, *, after: float = _AFTER) -> Iterator[None]:
    """Show *what*, the phase and the elapsed time on *stream* while the block runs, if it is a terminal.

    The display appears *after* seconds, and is removed when the block ends.
    """
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    shown = _Display(what, stream)
    timer = threading.Timer(after, shown.start)
    timer.daemon = True
    timer.start()
    try:
        with told_phases(shown.at):
            yield
    finally:
        timer.cancel()
        timer.join()
        shown.stop()


class _Display:
    """A display of rich; until it is started, it keeps the phase only."""

    def __init__(self, what: str, stream: TextIO) -> None:
        self._what, self._stream, self._begun = what, stream, time.monotonic()
        self._phase: tuple[str, int, int] = ("", 0, 0)
        self._display: Any = None

    def at(self, phase: str, done: int, total: int) -> None:
        """Note the phase, and how much of it is done."""
        self._phase = phase, done, total

    def start(self) -> None:
        """Show it from now on."""
        from rich.console import Console  # here, because the import takes 0.1 s
        from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
        from rich.text import Text

        display = self

        class Phase(ProgressColumn):
            """What the work is at, asked for as often as the terminal is drawn."""

            def render(self, task: Task) -> Text:
                phase, done, total = display._phase
                share = f" {100 * done // total} %" if total else ""
                return Text(f"{phase}{share}" if phase else "")

        columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), Phase(), TimeElapsedColumn())
        console = Console(file=self._stream, force_terminal=True)
        self._display = Progress(*columns, console=console, transient=True, redirect_stdout=False)
        task = self._display.add_task(self._what, total=None)
        self._display.tasks[task].start_time = self._begun
        self._display.start()

    def stop(self) -> None:
        """Remove it."""
        if self._display is not None:
            self._display.stop()
