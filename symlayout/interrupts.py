"""``python -m symlayout`` while the package is loaded: an interrupt from the keyboard ends it without a traceback.

Python loads the package before `symlayout.__main__`, which therefore cannot catch that interrupt.  The import of this
module acts, and only where Python loads the package for ``-m symlayout``.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # as `symlayout.commands.output.report.ExitStatus` has it, which is not loaded yet


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(INTERRUPTED)


def _leave_quietly() -> None:
    """Let an interrupt end the process with its exit status, if Python loads the package for ``-m symlayout``.

    Python then has ``-m`` in the place of the program's name.  An interrupt that is ignored stays ignored.
    """
    if sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] == "symlayout":
        _replace(signal.default_int_handler, _leave)


def raise_again() -> None:
    """Let an interrupt be a `KeyboardInterrupt` again, as commands expect it."""
    _replace(_leave, signal.default_int_handler)


def _replace(before: object, after: object) -> None:
    if signal.getsignal(signal.SIGINT) is before:
        signal.signal(signal.SIGINT, after)  # type: ignore[arg-type]


_leave_quietly()
