"""A fork waits while a module is imported for the first time."""

from __future__ import annotations

import os
import threading

import pytest

from symlayout_codegen.forks import held_off


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_can_take_the_lock_that_another_thread_held_at_the_fork() -> None:
    held, forking = threading.Event(), threading.Event()

    def importing() -> None:
        with held_off:
            held.set()
            forking.wait(600)

    thread = threading.Thread(target=importing)
    thread.start()
    held.wait()
    threading.Timer(0.05, forking.set).start()
    child = os.fork()
    if not child:
        os._exit(0 if held_off.acquire(timeout=600) else 1)
    thread.join()
    assert forking.is_set()  # the fork waited for the import
    assert os.waitpid(child, 0)[1] == 0
