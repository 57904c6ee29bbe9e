"""Attack the kernel cache: ``python -m tests.promises.cache``.

Three attacks, each on folders of its own:

- faults: each file call in turn fails (disk full, read-only, input/output error, stale handle), once or from then on,
  or the process is killed there.  The call still gives NumPy's result, and the next process finds a sound cache.
- race: processes compile on one empty cache while some are killed, entries are spoiled or discarded, and half of the
  processes are another version.  No process fails, and one library for each kernel and version is left.
- nothing that killed processes left outlives the next one that compiles.

The processes are forked from one that has everything imported.  Most of them run a compiler that copies a library
made before, so that the races are about the cache.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import symlayout as sl
from symlayout_codegen.jit import build, cache, cache_identity, trampoline

SHIM = "SYMLAYOUT_TEST_SHIM"
ONCE, FROM_THEN_ON, KILL = 1, 2, 3
ANY, NEEDS_SPACE, CHANGES = 0, 1, 2
FAULTS = (  # name, errno, which calls, how
    ("full disk", errno.ENOSPC, NEEDS_SPACE, ONCE),
    ("full disk from then on", errno.ENOSPC, NEEDS_SPACE, FROM_THEN_ON),
    ("read-only from then on", errno.EROFS, CHANGES, FROM_THEN_ON),
    ("no permission from then on", errno.EACCES, ANY, FROM_THEN_ON),
    ("input/output error", errno.EIO, ANY, ONCE),
    ("stale handle", errno.ESTALE, ANY, ONCE),
    ("killed", 0, ANY, KILL),
)
KERNELS = ("rows", "flip")  # which are one file each
UNREACHED = 77
CALLS = 300  # about as many file calls does a process make that compiles
STARTS = ("empty", "kept", "spoiled", "leftovers")


class Arena:
    """A folder with a cache, a folder for temporary files, and compilers."""

    def __init__(self, folder: Path, shim: ctypes.CDLL) -> None:
        self.folder, self.cache, self.temporary = folder, folder / "cache", folder / "tmp"
        self.shim = shim
        self.temporary.mkdir()
        self.compilers = {name: self._copying(name) for name in KERNELS}
        os.environ["SYMLAYOUT_CACHE_DIR"] = str(self.cache)

    def _copying(self, name: str) -> str:
        """Return a compiler that copies the library of kernel *name*, which is built now."""
        os.environ.pop("CC", None)
        os.environ.update(SYMLAYOUT_CACHE_DIR=str(self.folder / "made"), TMPDIR=str(self.temporary))
        tempfile.tempdir = None
        sl.compile(tensor(name), strict=True)
        library, module, compiler = (self.folder / f"{name}.so", self.folder / "calls.so", self.folder / f"cc-{name}")
        for made in (self.folder / "made").glob("*/kernel.so"):
            is_module = "PyInit" in made.with_name("kernel.c").read_text("ascii")
            made.rename(module if is_module else library)
        shutil.rmtree(self.folder / "made")
        build._loaded.clear()
        trampoline._own = trampoline._Trampoline()
        compiler.write_text(
            f'#!/bin/sh\ncase "$*" in *-I*) exec cp "{module}" kernel.so;; *) exec cp "{library}" kernel.so;; esac\n'
        )
        compiler.chmod(0o755)
        return str(compiler)

    def child(self, name: str, *, version: str = "1", real: bool = False, arm: tuple[int, int, int, int] | None) -> int:
        """Start a process that compiles and calls kernel *name*; return its number.

        Its exit status is 0 if the result is right, with or without a warning, and `UNREACHED` if it is right and
        the call at which *arm* wanted a fault was not reached.
        """
        if pid := os.fork():
            return pid
        status = 1
        try:
            if not real:
                os.environ["CC"] = self.compilers[name]
            tempfile.tempdir = None  # to be looked for again
            cache_identity.VERSION = version  # type: ignore[attr-defined]
            x = np.arange(6, dtype=np.float16).reshape(2, 3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                if arm:
                    self.shim.shim_arm(str(self.folder).encode(), *arm)
                result = sl.compile(tensor(name))(x)
            reached = not arm or self.shim.shim_seen() > arm[0]
            self.shim.shim_arm(b"", 0, 0, 0, 0)
            assert np.array_equal(result, x[::-1] if name == "rows" else x[::-1, ::-1]), result
            status = 0 if reached else UNREACHED
        except BaseException:
            self.shim.shim_arm(b"", 0, 0, 0, 0)
            traceback.print_exc()
        finally:
            os._exit(status)

    def run(self, name: str, *, arm: tuple[int, int, int, int] | None = None) -> int:
        """Return the status, as of `os.waitpid`, of such a process."""
        return os.waitpid(self.child(name, arm=arm), 0)[1]

    def entries(self) -> list[Path]:
        """Return the cache's entries."""
        return [path for path in sorted(self.cache.glob("*")) if not path.name.startswith(".")]

    def leftovers(self) -> list[Path]:
        """Return what is in the cache and beside it and is no entry.

        Python's own search for a temporary folder writes a file, which is not ours to remove.
        """
        return [*self.cache.glob(".*"), *self.temporary.glob("symlayout-*")]

    def expect_sound(self, entries: int = 4) -> None:
        """Assert that the next processes work, that the cache is sound then, and that nothing else is left.

        Each kernel has a compiler, and so an entry for the trampoline, of its own.
        """
        for name in KERNELS:
            assert self.run(name) == 0, "the process after fails"
        found = self.entries()
        assert len(found) == entries, found
        assert [entry for entry in found if cache.load(entry.name) is None] == []
        left = self.leftovers()
        assert left == [], left

    def clear(self) -> None:
        """Empty the cache and the folder of temporary files."""
        shutil.rmtree(self.cache, ignore_errors=True)
        shutil.rmtree(self.temporary)
        self.temporary.mkdir()

    def start_with(self, start: str, name: str) -> None:
        """Bring the cache into one of the states of `STARTS`."""
        self.clear()
        if start != "empty":
            assert self.run(name) == 0
        if start == "spoiled":
            spoil(self.entries()[0], random.Random(0))
        if start == "leftovers":
            shutil.rmtree(self.entries()[0])
            for prefix, parent in ((cache.STAGING, self.cache), ("symlayout-build-", self.temporary)):
                left = parent / f"{prefix}{cache._machine()}-999999999-x"
                left.mkdir()
                (left / "kernel.so").write_bytes(b"half")


def tensor(name: str) -> sl.Tensor:
    """Return what kernel *name* computes."""
    x = sl.tensor("n, m", dtype="float16", name="x")
    return sl.flip(x) if name == "flip" else sl.flip(x, 0)


def spoil(entry: Path, rnd: random.Random) -> None:
    """Damage an entry; another process may be faster."""
    try:
        library = entry / "kernel.so"
        match rnd.randrange(5):
            case 0:
                library.write_bytes(library.read_bytes()[: rnd.randrange(1, 4000)])
            case 1:
                content = bytearray(library.read_bytes())
                content[rnd.randrange(len(content))] ^= 1 << rnd.randrange(8)
                library.write_bytes(content)
            case 2:
                (entry / "manifest.json").unlink()
            case 3:
                library.chmod(0o666)
            case 4:
                entry.chmod(0o777)
    except OSError:
        return


def faults(arena: Arena, every: int, counts: Counter[str]) -> None:
    """Let each file call in turn fail, or one in so many, from each start."""
    for start in STARTS:
        for what, code, which, how in FAULTS:
            for at in range(0, 1000, every):
                arena.start_with(start, KERNELS[0])
                status = arena.run(KERNELS[0], arm=(at, code, which, how))
                killed = how == KILL and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
                ended = os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, UNREACHED)
                assert killed or ended, f"{start}, {what} at call {at}: status {status}"
                arena.expect_sound()
                if ended and os.WEXITSTATUS(status) == UNREACHED:
                    break
                counts[f"{what}: {'ended there' if killed else 'right result'}"] += 1


def race(arena: Arena, processes: int, rounds: int, rnd: random.Random, counts: Counter[str]) -> None:
    """Let processes compile at once, kill some of them, and spoil or discard entries meanwhile."""
    arena.clear()
    for turn in range(rounds):
        if turn % 2:
            arena.clear()
        real = turn % 10 == 0
        doomed = processes // 4 if turn % 3 else 0
        running = {}
        for number in range(processes):
            arm = (rnd.randrange(CALLS), 0, ANY, KILL) if number < doomed else None
            running[arena.child(rnd.choice(KERNELS), version=rnd.choice("12"), real=real, arm=arm)] = arm
            if arm:
                disturb(arena, rnd)
        for pid, arm in running.items():
            _, status = os.waitpid(pid, 0)
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            right = os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, UNREACHED)
            assert right or (killed and arm), f"round {turn}: status {status}"
            counts["race: killed" if killed else "race: right result"] += 1
        if turn % 2 and not doomed:  # nothing was disturbed
            sound = [entry for entry in arena.entries() if cache.load(entry.name)]
            assert len(sound) == len(arena.entries()) <= 8, "a library for each kernel and version"
    for entry in arena.entries():
        cache.discard(entry)
    for name in KERNELS:
        assert os.waitpid(arena.child(name, version="2", arm=None), 0)[1] == 0
    arena.expect_sound(entries=8)


def disturb(arena: Arena, rnd: random.Random) -> None:
    """Spoil or discard an entry, if there is one."""
    for entry in arena.entries()[:1]:
        if rnd.random() < 0.5:
            spoil(entry, rnd)
        else:
            with contextlib.suppress(FileNotFoundError):  # discarded by another process
                cache.discard(entry)


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a promise is broken, which raises."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.cache", description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=32, help="at once (32)")
    parser.add_argument("--rounds", type=int, default=50, help="of the race (50)")
    parser.add_argument("--every", type=int, default=1, help="let one file call in this many fail (1)")
    parser.add_argument("--seed", type=int, default=0, help="of the kills (0)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        if SHIM not in os.environ:  # once more, with the shim before the C library
            shim = Path(name) / "shim.so"
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-o", shim, Path(__file__).with_name("shim.c"), "-ldl"], check=True
            )
            again = [sys.executable, "-m", "tests.promises.cache", *arguments]
            return subprocess.run(again, env={**os.environ, SHIM: str(shim), "LD_PRELOAD": str(shim)}).returncode
        arena = Arena(Path(name), ctypes.CDLL(os.environ[SHIM]))
        counts: Counter[str] = Counter()
        race(arena, options.processes, options.rounds, random.Random(options.seed), counts)
        faults(arena, options.every, counts)
    for what, number in sorted(counts.items()):
        print(f"{number:7} {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
