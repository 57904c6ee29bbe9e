"""The command line: draw chains and compare until there are as many cases as asked for."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import fuzz
from tests.fuzz.chains import draw
from tests.fuzz.judge import judge, plan
from tests.fuzz.shrink import smallest, typed
from tests.fuzz.tally import Summary, Tally
from tests.promises.forked import start

TOGETHER = 10  # chains that one process judges
LIMIT = 600.0  # seconds for these
BYTES = 8 << 30  # of addresses for them


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if a result is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=fuzz.__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=10_000, help="how many, earlier ones included (10000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first chain (0)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--summary", type=Path, help="a JSON file for the counts; if it exists, they go on from there")
    parser.add_argument(
        "--show", type=int, metavar="SEED", help="judge one chain, make it smaller if it fails, and stop"
    )
    options = parser.parse_args(arguments)
    if options.show is not None:
        return show(options.show)
    summary = Summary.read(options.summary)
    source, end = described(), time.monotonic() + options.seconds
    seeds = itertools.count(max(options.seed, summary.next), TOGETHER)
    with tempfile.TemporaryDirectory(prefix="symlayout-fuzz-") as name:
        workers: list[Worker] = []
        while workers or (summary.tally.cases < options.cases and time.monotonic() < end):
            while len(workers) < options.jobs and summary.tally.cases < options.cases and time.monotonic() < end:
                workers.append(Worker(next(seeds), Path(name)))
            worker = workers.pop(0)  # in the order of the seeds, so that none is left out when the run is stopped
            tally = worker.result()
            summary.count(source, worker.first, worker.first + TOGETHER, tally)
            print("".join(f"{failure}\n" for failure in tally.failures), end="", flush=True)
            if options.summary:
                summary.write(options.summary)
            if sys.stderr.isatty():
                print(f"\r{summary.tally.cases} cases ", end="", file=sys.stderr, flush=True)
    print("\n".join(summary.tally.report()))
    return int(bool(summary.tally.failures))


class Worker:
    """A process that judges the chains of a few seeds; what it has found lies in files, so that it may be killed."""

    def __init__(self, first: int, folder: Path) -> None:
        self.first = first
        self.folder = folder / str(first)
        self.folder.mkdir()
        self.started = time.monotonic()
        self.process = start(self._work)

    def _work(self) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        os.environ["SYMLAYOUT_CACHE_DIR"] = str(self.folder / "cache")
        tally = Tally()
        for seed in range(self.first, self.first + TOGETHER):
            (self.folder / "seed").write_text(str(seed), encoding="utf-8")
            judged(seed, tally)
        tally.kernels = len(list((self.folder / "cache").glob("*/kernel.so")))
        tally.seconds = time.process_time()
        (self.folder / "found").write_text(json.dumps(tally.data()), encoding="utf-8")

    def result(self) -> Tally:
        """Return the counts, once the process has ended; a failure where it was killed, or takes too long."""
        while os.waitpid(self.process, os.WNOHANG)[0] == 0:
            if time.monotonic() - self.started > LIMIT:
                os.kill(self.process, 9)
                os.waitpid(self.process, 0)
                break
            time.sleep(0.02)
        found = self.folder / "found"
        if found.exists():
            tally = Tally.read(json.loads(found.read_text(encoding="utf-8")))
        else:
            seed = (self.folder / "seed").read_text(encoding="utf-8")
            tally = Tally(
                failures=[f"seed {seed}: the process was ended, after {time.monotonic() - self.started:.0f} s"]
            )
        shutil.rmtree(self.folder)
        return tally


def judged(seed: int, tally: Tally) -> None:
    """Judge the chain of a seed, and count it."""
    rnd = random.Random(seed)
    drawn = draw(rnd)
    how = plan(rnd, drawn)
    found = judge(drawn, how, seed)
    tally.add(drawn, how, found)
    if found.failure:
        drawn, how, failure = smallest(drawn, how, seed)
        tally.failures.append(f"seed {seed}: {failure}\n{typed(drawn.chain)}\n{how}")


def show(seed: int) -> int:
    """Print what is found of the chain of one seed."""
    tally = Tally()
    judged(seed, tally)
    print("\n".join([*tally.report(), *tally.failures]))
    return int(bool(tally.failures))


def described() -> str:
    """Return the commit of the source, with a mark if it was changed since."""
    try:
        words = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
