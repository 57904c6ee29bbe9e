"""A peer in a process of its own: libraries cannot disturb each other, and one that dies takes nothing with it.

The arrays lie in an `Arena`, which the processes share.  The peer's process times its calls itself; this process says
when it is its turn.  Run as ``python -m benchmarks.peer``, this module is the process of a peer.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from benchmarks.arena import Arena, Place
from benchmarks.cases import Case, cases
from benchmarks.hptt import HPTT, Hptt
from benchmarks.states import before, clock
from symlayout.commands.peers.rivals import RIVALS, Prepare
from symlayout.commands.peers.task import Task, agrees
from symlayout.commands.peers.timing import ContenderGoneError, Sampler, repeatedly

ROOT = Path(__file__).parent.parent
PATIENCE = 300.0  # seconds for one answer; the first includes the import of the library
TRIES = 3  # a peer that dies so often in a row is not started again


class Peer:
    """The process of a peer, started when it is needed, and again after it has died.

    Attributes
    ----------
    name : str
        Of the table of peers, ``hptt``, or ``module:function`` for a function as in that table.
    died : str or None
        How the process ended during the last task.
    """

    def __init__(self, name: str, arena: Arena, threads: int, hptt: Hptt | None = None) -> None:
        self.name = name
        self.died: str | None = None
        self._arena, self._threads, self._hptt = arena, threads, hptt
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths = 0

    def prepare(self, case: Case, source: Place, out: Place, expected: Place, junk: Place) -> bool | None:
        """Prepare *case* and return whether its result is the *expected* one; None if the library cannot compute it."""
        self.died = None
        if self._deaths >= TRIES:
            self.died = "not started again"
            return None
        try:
            if self._process is None:
                self._start()
            found: bool | None = self._ask("prepare", case.label, source, out, expected, junk)
        except ContenderGoneError:
            return None
        self._deaths = 0
        return found

    def sample(self, repeats: int) -> float:
        """Return the seconds of a call; a `Sampler`."""
        seconds: float = self._ask("sample", repeats)
        return seconds

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._pipe.close()
            self._process.kill()
            self._process.wait()
            os.close(self._printed)
            self._process = None

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        self._printed = os.memfd_create("symlayout-benchmarks-printed")
        descriptors = (theirs.fileno(), self._arena.descriptor)
        words = [self.name, *map(str, descriptors), str(self._arena.size), str(self._threads)]
        words += [str(self._hptt.folder), str(self._hptt.library)] if self._hptt else []
        paths = [str(ROOT), str(ROOT / "codegen"), *filter(None, [os.environ.get("PYTHONPATH")])]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.peer", *words],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                stdin=subprocess.DEVNULL, stdout=self._printed, stderr=self._printed, pass_fds=descriptors,
            )  # fmt: skip

    def _ask(self, *question: Any) -> Any:
        try:
            self._pipe.send(question)
            if self._pipe.poll(PATIENCE):
                return self._pipe.recv()
            self.died = f"no answer within {PATIENCE:g} s"
        except (EOFError, ConnectionError):
            self.died = self._last_words()
        self._deaths += 1
        self.end()
        raise ContenderGoneError(self.name)

    def _last_words(self) -> str:
        """Return how the process ended, and the last line that it printed."""
        assert self._process is not None  # it was asked
        status = self._process.wait()
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        size = os.fstat(self._printed).st_size
        lines = os.pread(self._printed, size, 0).decode("utf-8", "replace").strip().splitlines()
        return f"{how}: {lines[-1].strip():.200}" if lines else how


# ---------------------------------------------------------------------- in the peer's process


def serve(pipe: Connection, prepare: Prepare, arena: Arena, threads: int, known: dict[str, Case]) -> None:
    """Answer questions until the other end is closed."""
    sampler: Sampler | None = None
    with suppress(EOFError):
        while True:
            what, *given = pipe.recv()
            if what == "sample":
                assert sampler is not None  # prepared before
                pipe.send(sampler(given[0]))
                continue
            label, *where = given
            case = known[label]
            source, out, expected, junk = map(arena.array, where)
            target = None if case.state == "fresh" else out
            try:
                call = prepare(Task(case.chain, source, target, case.shape if case.adjoint else None, threads))
                same: bool | None = agrees(call, out, expected)
                sampler = repeatedly(call, before(case.state, junk), clock(threads))
            except Exception:  # each library has errors of its own for what it lacks: an operation, a rank, a type
                same = None
            pipe.send(same)


def find(name: str, hptt: Hptt | None) -> Prepare:
    """Return the function that prepares a task for the peer *name*."""
    if name == HPTT and hptt:
        return hptt.prepare
    if name in RIVALS:
        return RIVALS[name]
    module, _, function = name.partition(":")
    prepare: Prepare = getattr(import_module(module), function)
    return prepare


def main(words: list[str]) -> None:
    """Run the process of a peer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    for number in ("pipe", "memory", "size", "threads"):
        parser.add_argument(number, type=int)
    parser.add_argument("hptt", type=Path, nargs="*")
    given = parser.parse_args(words)
    hptt = Hptt(*given.hptt) if given.hptt else None
    known = {case.label: case for case in [*cases(), *(hptt.cases() if hptt else [])]}
    arena = Arena(given.size, given.memory)
    serve(Connection(given.pipe), find(given.name, hptt), arena, given.threads, known)


if __name__ == "__main__":
    main(sys.argv[1:])
