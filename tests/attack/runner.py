"""Run a part: numbered cases in processes of their own, for a time; a case that ends its process is a finding too."""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import pkgutil
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tests.attack
from tests.attack.runtimes import share_place, was_in_runtime
from tests.attack.tally import Tally, Wrong, add

Attack = Callable[[int, Tally], None]

STEP = 2.0  # seconds after which a process reports
LIMIT = 8.0  # seconds of the processor that one case may take
MEMORY = 6 << 30  # bytes that a process may map
_STRIDE = 10_000_000  # numbers of cases that one process may use
_FORK = multiprocessing.get_context("fork")  # a fork has the imports already


class TooLongError(Exception):
    """A case takes longer than `LIMIT`."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in the block after some seconds of the processor."""

    def expired(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def unhurried() -> Iterator[None]:
    """Stop the clock of `limited` in the block."""
    left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, left)


def parts() -> dict[str, Attack]:
    """Return the attacks of the package by the names of their modules."""
    found = {}
    for module in pkgutil.iter_modules(tests.attack.__path__):
        if module.name != "__main__":
            attack = getattr(importlib.import_module(f"tests.attack.{module.name}"), "attack", None)
            if attack is not None:
                found[module.name] = attack
    return found


def run(attack: Attack, seed: int, cases: int, seconds: float) -> Iterator[tuple[int, Tally]]:
    """Yield the number of the next case, and the counts since the last ones, until time or cases are used up."""
    end, last = time.monotonic() + seconds, seed + cases
    share_place()
    while seed < last and time.monotonic() < end:
        here, there = _FORK.Pipe(duplex=False)
        child = _FORK.Process(target=_work, args=(there, attack, seed, last, end))
        child.start()
        there.close()
        done, at = False, seed
        try:
            while not done:
                if not here.poll(10 * LIMIT):
                    break
                kind, number, tally = here.recv()
                at = number
                if tally is not None:
                    seed = number
                    yield seed, tally
                done = kind == "end"
        except EOFError:
            pass
        finally:
            child.kill()
            child.join()
        if not done:
            lost = Tally()
            if was_in_runtime() and (child.exitcode or 0) < 0:  # a signal ended it
                lost.note("process", "ended by a runtime")
            else:
                lost.note_wrong(
                    "process", Wrong("process", f"case {at} ends its process, with status {child.exitcode}")
                )
            seed = at + 1
            yield seed, lost


def _work(pipe: Any, attack: Attack, seed: int, last: int, end: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)  # runtimes print what they refuse
    tally, shown = Tally(), time.monotonic()
    for number in range(seed, last):
        if time.monotonic() > end:
            break
        pipe.send(("case", number, None))
        try:
            with limited(LIMIT):
                attack(number, tally)
        except TooLongError:
            tally.note("time", f"longer than {LIMIT:.0f} s")
            where = "".join(traceback.format_exc().splitlines(keepends=True)[-40:])
            tally.keep([Wrong("time", f"case {number} takes more than {LIMIT:.0f} s; interrupted in\n{where}")])
        except MemoryError:
            tally.note("memory", "out of memory")
        except Exception:  # a crash is a finding as well
            text = traceback.format_exc(limit=-6)
            tally.note_wrong("crash", Wrong(f"crash-{text.splitlines()[-1][:60]}", f"case {number}: {text}"))
        if time.monotonic() - shown > STEP:
            pipe.send(("tally", number + 1, tally))
            tally, shown = Tally(), time.monotonic()
    pipe.send(("end", last, tally))


def main(named: dict[str, Attack], arguments: list[str], about: str | None) -> int:
    """Run the command line of one part or more; return 1 if an answer is wrong."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, for all parts together (60)")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case (0)")
    parser.add_argument(
        "--cases", type=int, default=_STRIDE, help="how many cases of each part; as many as there is time"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--out", type=Path, help="a folder for the wrong answers, each with its files")
    parser.add_argument("--counts", type=Path, help="add the counts to this JSON file: see tests.attack.tally")
    options = parser.parse_args(arguments)
    wrong = False
    for name, attack in named.items():
        totals = _run_jobs(name, attack, options, options.seconds / len(named)).totals()
        print(f"{name}: " + ", ".join(f"{count} {outcome}" for outcome, count in totals.most_common()), flush=True)
        wrong |= bool(totals["wrong"])
    return int(wrong)


def _run_jobs(name: str, attack: Attack, options: argparse.Namespace, seconds: float) -> Tally:
    """Run one part in as many processes as asked for; print its wrong answers as they come."""
    tally = Tally()
    queue = _FORK.Queue()

    def job(k: int) -> None:
        for _, found in run(attack, options.seed + k * _STRIDE, options.cases, seconds):
            queue.put(found)
        queue.put(None)

    processes = [_FORK.Process(target=job, args=(k,)) for k in range(options.jobs)]
    for process in processes:
        process.start()
    open_ = len(processes)
    while open_:
        found = queue.get()
        if found is None:
            open_ -= 1
            continue
        if options.counts:
            add(options.counts, name, found)
        for one in tally.merge(found):
            where = f" ({one.save(options.out / name)})" if options.out else ""
            print(f"WRONG {name} {one.kind}{where}\n  " + "\n  ".join(one.text.splitlines()), flush=True)
    for process in processes:
        process.join()
    return tally


def main_of(module: str, attack: Attack, about: str | None) -> None:
    """Run the command line of one part, and exit."""
    sys.exit(main({module.rpartition(".")[2]: attack}, sys.argv[1:], about))
