"""Work counted in steps, which are the same on every machine, fast or slow, idle or busy.

A step is a call of a function, of Python or of C, in the thread that counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STEPS = 3_000_000
"""As many as a machine of 2020 takes in about a second; attacks on what reads text and files end within them."""


class TooManyStepsError(AssertionError):
    """The body has taken more steps than it may."""


class Steps:
    """The steps so far."""

    count = 0


@contextmanager
def counted(most: float = float("inf")) -> Iterator[Steps]:
    """Count the steps of the body.

    >>> with counted() as steps:
    ...     _ = [abs(n) for n in range(100)]
    >>> 100 <= steps.count < 110
    True

    Raises
    ------
    TooManyStepsError
        There are more than *most*: the body is ended there, even if it would go on without end.
    """
    steps = Steps()

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            steps.count += 1
            if steps.count > most:
                sys.setprofile(None)
                raise TooManyStepsError(f"more than {most} steps")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield steps
    finally:
        sys.setprofile(before)
    if steps.count > most:  # and what was raised was caught on the way
        raise TooManyStepsError(f"more than {most} steps")
