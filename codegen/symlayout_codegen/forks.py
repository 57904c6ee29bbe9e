"""Hold off forks while a module is imported for the first time.

The child of a fork has one thread.  Where another one was importing, its lock of the module stays locked there, and
who imports the module waits for ever.
"""

from __future__ import annotations

import os
import threading

held_off = threading.RLock()
"""Held while what is imported late is imported; a fork waits for it."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=held_off.acquire, after_in_parent=held_off.release, after_in_child=held_off.release)
