"""Use kernels from threads, forks and spawned processes, and interrupt them: ``python -m tests.promises.concurrent N``.

- Eight threads compile the same kernels at once, and call one kernel on different shapes, with threads of its own too.
- A process forks while its threads compile and call: the child does both within 30 s, by fork, forkserver and spawn.
- Ctrl-C at N moments of compiling and calling: the next call is right, and no folder or process is left.
- `MemoryError` at each allocation of a kernel's first and later calls in turn: the next call is right.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout_codegen.jit import build, cache
from tests.promises.forked import forked

SECONDS = 30
THREADS = 8
Array = np.ndarray[Any, Any]


def right(kernel: sl.Kernel, n: int, m: int, **options: Any) -> None:
    """Assert that the kernel transposes an array of n by m."""
    x = np.arange(n * m, dtype=np.float32).reshape(n, m)
    assert np.array_equal(kernel(x, **options), x.T)
    out = np.empty((m, n), np.float32)
    assert kernel(x, out=out, **options) is out
    assert np.array_equal(out, x.T)


def transpose() -> sl.Kernel:
    """Return a new kernel of a new tensor."""
    return sl.compile(sl.transpose(sl.tensor("n, m")), strict=True)


def forget() -> None:
    """Forget the libraries that are loaded, as a new process would."""
    build._loaded.clear()


def threads(rounds: int) -> None:
    """Compile and call from eight threads, which begin together."""
    for turn in range(rounds):
        forget()
        if turn % 4 == 0:
            for entry in cache.cache_root().glob("[0-9a-f]*"):
                cache.discard(entry)
        shared = sl.compile(sl.transpose(sl.tensor("n, m")))
        begin = threading.Barrier(THREADS)

        def work(k: int, shared: sl.Kernel = shared, begin: threading.Barrier = begin) -> None:
            begin.wait(SECONDS)
            right(transpose() if k % 2 else shared, 3 + k, 5)
            for n in (1, 7, 64 + k, 300):
                right(shared, n, 33, threads=1 + k % 3)
            right(shared, 900, 700, threads=2)

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(THREADS)))


def in_child() -> None:
    """Compile, from the cache and anew, and call, on threads too: what a child process does."""
    kernel = transpose()
    right(kernel, 3, 4)
    right(kernel, 900, 700, threads=2)
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        os.environ["SYMLAYOUT_CACHE_DIR"] = name
        forget()
        right(transpose(), 4, 3)


def forks(rounds: int) -> None:
    """Fork while other threads compile and call."""
    kernel = sl.compile(sl.transpose(sl.tensor("n, m")))
    right(kernel, 900, 700, threads=2)  # the pool of threads exists
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            forget()
            right(sl.compile(sl.flip(sl.transpose(sl.flip(sl.tensor("n, m"))))), 4, 5)
            right(sl.compile(sl.transpose(sl.tensor("n, m"))), 5, 4)
            right(kernel, 900, 700, threads=2)

    def child() -> None:
        right(kernel, 900, 700, threads=2)
        in_child()

    workers = [threading.Thread(target=busy) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
            for _ in range(rounds):
                assert forked(child, SECONDS) == 0, "a forked child fails"
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    for method in ("forkserver", "spawn"):
        process = multiprocessing.get_context(method).Process(target=in_child)  # type: ignore[attr-defined]
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            raise AssertionError(f"a process by {method} hangs")
        assert process.exitcode == 0, method


def interrupts(rounds: int, folder: Path, counts: Counter[str]) -> None:
    """Press Ctrl-C at moments spread over a compilation and a call; *folder* is for temporary files."""
    usual_folder, tempfile.tempdir = tempfile.tempdir, str(folder)
    x = np.zeros((3000, 3000), np.float32)
    started = time.perf_counter()
    transpose()(x)
    usual = time.perf_counter() - started
    signal.signal(signal.SIGALRM, signal.default_int_handler)  # as SIGINT, at a moment of our choice
    for turn in range(rounds):
        for entry in cache.cache_root().glob("[0-9a-f]*"):
            cache.discard(entry)
        forget()
        kernel = sl.compile(sl.transpose(sl.tensor("n, m")))
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + 1.2 * usual * turn / rounds)
            kernel(x)
            signal.setitimer(signal.ITIMER_REAL, 0)
            counts["Ctrl-C: after the call"] += 1
        except KeyboardInterrupt:
            counts["Ctrl-C: inside"] += 1
        right(kernel, 3, 4)
        right(transpose(), 4, 3)
        gc.collect()  # a generator that was interrupted ends with its frame
        assert [p for p in cache.cache_root().iterdir() if cache.load(p.name) is None] == [], "something is left"
        left = os.listdir(folder)
        assert left == [], left
    tempfile.tempdir = usual_folder


def memory(every: int, counts: Counter[str]) -> None:
    """Let each allocation, or one in so many, of a later call fail in turn, and then of a first one."""
    try:
        from _testcapi import remove_mem_hooks, set_nomemory  # type: ignore[import-not-found]
    except ImportError:
        print("this Python cannot make an allocation fail")
        return
    x, out = np.arange(12, dtype=np.float32).reshape(3, 4), np.empty((4, 3), np.float32)

    def attempt(call: Callable[[], object], at: int) -> bool:
        """Return whether the failure was reached."""
        set_nomemory(at, at + 1)
        try:
            call()
        except MemoryError:
            return True
        except SystemError as error:  # of CPython itself: a function of C lost the MemoryError
            if "without setting an exception" not in str(error):
                raise
            return True
        finally:
            remove_mem_hooks()
        return False

    for what, start in (("a later call", 1), ("a first call", 0)):
        at, missed = 1, 0
        while missed < 20 and at < 3000:
            kernel = transpose()
            for _ in range(2 * start):
                kernel(x, out=out)
            reached = attempt(partial(kernel, x, out=out), at)
            missed = 0 if reached else missed + 1
            counts[f"MemoryError in {what}"] += reached
            right(kernel, 3, 4)
            right(kernel, 5, 4)
            at += every


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a promise is broken, which raises."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.concurrent", description=__doc__.splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=40, help="of each attack (40)")
    parser.add_argument("--every", type=int, default=1, help="let one allocation in this many fail (1)")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        (Path(name) / "tmp").mkdir()
        os.environ["SYMLAYOUT_CACHE_DIR"] = str(Path(name) / "cache")
        attacks: dict[str, Callable[[], None]] = {
            "threads": lambda: threads(options.rounds),
            "forks": lambda: forks(options.rounds),
            "interrupts": lambda: interrupts(options.rounds, Path(name) / "tmp", counts),
            "memory": lambda: memory(options.every, counts),
        }
        for what, attack in attacks.items():
            started = time.perf_counter()
            attack()
            print(f"holds: {what}, {time.perf_counter() - started:.1f} s", flush=True)
    for what, number in sorted(counts.items()):
        print(f"{number:7} {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
