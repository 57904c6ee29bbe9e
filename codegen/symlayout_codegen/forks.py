"""Hold off forks while a thread may hold a lock that its child would wait for.

The child of a fork has one thread.  A lock that another thread held at the fork stays locked in the child for ever.
Python's own locks are such locks: the lock of a module that is imported, a codec's included, and the lock of
`tempfile`.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

T = TypeVar("T")

held_off = threading.RLock()
"""Held while a late module is imported and while a kernel is made, but not while the compiler works; a fork waits."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=held_off.acquire, after_in_parent=held_off.release, after_in_child=held_off.release)


class cached_property(functools.cached_property[T]):
    """`functools.cached_property` without its lock, which Python 3.11 has; two threads may compute the same value."""

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self.lock = nullcontext()
