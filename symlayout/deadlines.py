"""The time that a question may take: ``time_limit=`` of the functions that read, prove and optimise.

Work is counted in goals (see `symlayout.budgets`), so that an answer is the same on every machine.  A deadline is for
those who cannot wait for it: each goal, each operation of a model and each size of a search looks at the clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from symlayout.errors import FormatError, shown

R = TypeVar("R")

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


_goals: ContextVar[list[int] | None] = ContextVar("goals", default=None)  # those that are left


_question: ContextVar[list[int] | None] = ContextVar("question", default=None)  # those that are left of a question


_listener: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("listener", default=None)


class OutOfGoals(Exception):
    """The goals of `goals_within` are used up.  It is no `SymlayoutError`, as `OutOfTime` is none."""


class OutOfTime(Exception):
    """The deadline has passed.  It is no `SymlayoutError`, so that nothing takes it for an answer on its way out."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Let `check_time` raise in the block once it has taken so many seconds, or an outer deadline has passed.

    Raises
    ------
    FormatError
        *seconds* is no positive number.

    Examples
    --------
    >>> with deadline(3600.0):
    ...     remaining() <= 3600.0
    True
    >>> remaining()
    inf
    """
    if seconds is None:
        yield
        return
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise FormatError(f"time_limit {shown(seconds)} is no positive number of seconds")
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def no_deadline() -> Iterator[None]:
    """Let nothing in the block end by a deadline or by goals: what it does is short, and completes an answer."""
    tokens = _deadline.set(math.inf), _goals.set(None)
    try:
        yield
    finally:
        _deadline.reset(tokens[0])
        _goals.reset(tokens[1])


def within(seconds: float | None, answer: Callable[[], R], otherwise: Callable[[], R]) -> R:
    """Return what *answer* returns; what *otherwise* returns if that takes more than so many seconds.

    Examples
    --------
    >>> import itertools
    >>> within(0.01, lambda: [check_time() for _ in itertools.count()], lambda: "too long")
    'too long'
    """
    try:
        with deadline(seconds):
            return answer()
    except OutOfTime:
        if seconds is None:  # the deadline is that of a question around this one
            raise
        return otherwise()


def out_of_time(seconds: float | None) -> str:
    """Return the claim that is open once a question has taken so many seconds, for what follows UNKNOWN."""
    return f"the claim holds, within {seconds} seconds"


def remaining() -> float:
    """Return the seconds until the deadline, at least 0; infinity if there is none."""
    return max(0.0, _deadline.get() - time.monotonic())


def check_time() -> None:
    """Raise `OutOfTime` if the deadline has passed."""
    until = _deadline.get()
    if until != math.inf and time.monotonic() > until:
        raise OutOfTime


def at_phase(what: str, done: int = 0, total: int = 0) -> None:
    """Tell who waits for the answer what it is at, and how much of that is done; a *total* of 0 is not known."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def told_phases(listener: Callable[[str, int, int], None]) -> Iterator[None]:
    """Let *listener* be told of the phases of what runs in the block.

    Examples
    --------
    >>> with told_phases(print):
    ...     at_phase("read", 3, 10)
    read 3 10
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def goals_within(most: int, answer: Callable[[], R], otherwise: Callable[[], R]) -> R:
    """Return what *answer* returns; what *otherwise* returns if that visits more than about so many goals.

    Other budgets are about one decision.  This one is about all that *answer* decides, one after the other.
    """
    outer = _goals.get()
    left = [most if outer is None else min(most, outer[0])]
    token = _goals.set(left)
    try:
        return answer()
    except OutOfGoals:
        if outer is not None and outer[0] <= most:  # those of a question around this one
            raise
        return otherwise()
    finally:
        _goals.reset(token)
        if outer is not None:
            outer[0] -= (most if outer[0] > most else outer[0]) - left[0]


def spend_goals(count: int) -> None:
    """Count goals; raise `OutOfGoals` if none are left (see `goals_within`)."""
    left = _goals.get()
    if left is not None:
        left[0] -= count
        if left[0] < 0:
            raise OutOfGoals


def work(steps: int) -> None:
    """Count steps that are no goals, such as nodes that are read, as goals, and look at the clock."""
    spend_goals(steps)
    check_time()


@contextmanager
def question(goals: int) -> Iterator[None]:
    """Let the attempts in the block visit about so many goals together: see `in_question`."""
    token = _question.set([goals])
    try:
        yield
    finally:
        _question.reset(token)


def in_question(attempt: Callable[[], R], otherwise: Callable[[], R]) -> R:
    """Return what *attempt* returns; what *otherwise* returns if the goals of the question around it are used up.

    Only attempts are ended: a search for a witness goes on, and so do attempts that need no goals.

    Examples
    --------
    >>> with question(10):
    ...     [in_question(lambda: spend_goals(4), lambda: "used up") for _ in range(4)]
    [None, None, 'used up', 'used up']
    """
    left, outer = _question.get(), _goals.get()
    if left is None or left is outer:
        return attempt()
    begin = left[0]
    token = _goals.set(left)
    try:
        return attempt()
    except OutOfGoals:
        return otherwise()
    finally:
        _goals.reset(token)
        if outer is not None:
            outer[0] -= begin - left[0]
