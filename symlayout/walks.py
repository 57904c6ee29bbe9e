"""Walks over graphs without recursion: each value once, or each after what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Walk(Generic[T]):
    """What is reached from *starts*, each once; what was found last comes first.

    Attributes
    ----------
    seen : dict
        What was reached, in order.

    Examples
    --------
    >>> walk = Walk([12])
    >>> for number in walk:
    ...     walk.to(d for d in (2, 3) if number % d == 0 and number > d)
    >>> list(walk.seen)
    [12, 3, 2]
    """

    def __init__(self, starts: Iterable[T]) -> None:
        self.seen: dict[T, None] = {}
        self._waiting = list(starts)

    def __iter__(self) -> Iterator[T]:
        while self._waiting:
            at = self._waiting.pop()
            if at not in self.seen:
                self.seen[at] = None
                yield at

    def to(self, more: Iterable[T]) -> None:
        """Let the walk go to these, too."""
        self._waiting += more


def settle(start: T, parts: Callable[[T], Iterable[T]], made: dict[T, R], make: Callable[[T], R]) -> R:
    """Return what is made of *start*, after what is made of its parts, and of theirs; *made* keeps it.

    >>> settle(4, lambda n: range(max(n - 2, 0), n), {0: 0, 1: 1}, lambda n: n * 10)
    40
    """
    waiting = [start]
    while waiting:
        at = waiting[-1]
        if at in made:
            waiting.pop()
        elif missing := [part for part in parts(at) if part not in made]:
            waiting += missing
        else:
            made[at] = make(at)
    return made[start]
