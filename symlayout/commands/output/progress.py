"""Show that long work goes on: on a terminal only, after a while, and gone when it ends."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_AFTER = 1.0  # seconds before anything is shown
_EVERY = 0.2
_ERASE = "\r\x1b[2K"


@contextmanager
def progress(what: str, stream: TextIO, *, after: float = _AFTER) -> Iterator[None]:
    """Write *what* and the seconds that passed to *stream* while the block runs, if it is a terminal."""
    if not stream.isatty():
        yield
        return
    done = threading.Event()
    shower = threading.Thread(target=_show, args=(what, stream, done, after), daemon=True)
    shower.start()
    try:
        yield
    finally:
        done.set()
        shower.join()


def _show(what: str, stream: TextIO, done: threading.Event, after: float) -> None:
    start = time.monotonic()
    if done.wait(after):
        return
    for mark in itertools.cycle("|/-\\"):
        stream.write(f"{_ERASE}{mark} {what}, {time.monotonic() - start:.0f} s")
        stream.flush()
        if done.wait(_EVERY):
            break
    stream.write(_ERASE)
    stream.flush()
