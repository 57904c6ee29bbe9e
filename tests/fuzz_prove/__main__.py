"""The command line: judge random families until there are as many pairs as asked for."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import multiprocessing
import random
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import symlayout
from tests import fuzz_prove
from tests.fuzz_prove.claims import Family, random_family, short_family
from tests.fuzz_prove.judge import Judge, WrongError
from tests.fuzz_prove.shrink import shrunk
from tests.fuzz_prove.tally import Tally

FAMILIES = 20  # that a process judges at a time
SHORT_GOALS = 100  # that a proof about short chains may visit


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if a verdict is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_prove", description=fuzz_prove.__doc__)
    parser.add_argument("--pairs", type=int, default=10_000, help="how many pairs to judge (10000)")
    parser.add_argument("--seed", type=int, default=0, help="the first family's seed (0)")
    parser.add_argument("--budget", type=int, default=100, help="points that a search evaluates (100)")
    parser.add_argument(
        "--limit",
        type=float,
        default=60.0,
        help="seconds of the processor for a proof; after them it counts as no answer (60)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument(
        "--summary", type=Path, help="a JSON file for the counts; if it exists, the run goes on from it"
    )
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"many short chains in a family, and {SHORT_GOALS} goals for a proof: milliseconds for a pair",
    )
    parser.add_argument("--show", metavar="SEED:I:K", help="print one pair of a family, shrunk, and stop")
    options = parser.parse_args(arguments)
    if options.short:
        symlayout.limits.decision_goals = SHORT_GOALS
    if options.show:
        return show(options.show, options.budget, options.limit, options.short)
    source = digest() + "-short" * options.short
    tally, seed = resumed(options.summary, options.seed, source)
    tasks = ((start, options.budget, options.limit, options.short) for start in itertools.count(seed, FAMILIES))
    shown = time.monotonic()
    for part in run(tasks, options.jobs):
        tally.merge(part)
        seed += FAMILIES
        for text in part.wrong:
            print(f"WRONG {text}", flush=True)
        done = tally.pairs >= options.pairs
        if options.summary and (done or part.wrong or time.monotonic() - shown > 30):
            tally.write(options.summary, source=source, first=options.seed, next=seed)
            shown = time.monotonic()
        if sys.stderr.isatty():
            print(f"\r{tally.pairs} pairs, {len(tally.wrong)} wrong ", end="", file=sys.stderr, flush=True)
        if done:
            break
    print("\n".join(tally.report()))
    return 1 if tally.wrong else 0


def resumed(path: Path | None, seed: int, source: str) -> tuple[Tally, int]:
    """Return the counts so far and the next seed, of a run of the same source."""
    if path is None or not path.exists():
        return Tally(), seed
    found = json.loads(path.read_text())
    if found["source"] != source:
        sys.exit(f"{path} has counts of another source: give another file, or delete it")
    return Tally.read(found), found["next"]


def digest() -> str:
    """Return what tells one source, of the package and of the claims, from another."""
    state = hashlib.sha256()
    folders = Path(symlayout.__file__).parent, Path(__file__).parent
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


Task = tuple[int, int, float, bool]  # the first seed, the budget, the limit, and whether chains are short


def run(tasks: Iterator[Task], jobs: int) -> Iterator[Tally]:
    """Yield the counts of one task after the other, in order."""
    if jobs == 1:
        yield from map(judged, tasks)
        return
    context = multiprocessing.get_context("fork")  # the processes have the limits of this one
    with context.Pool(jobs) as pool:
        waiting = [pool.apply_async(judged, (task,)) for task in itertools.islice(tasks, 2 * jobs)]
        while True:
            yield waiting.pop(0).get()
            waiting.append(pool.apply_async(judged, (next(tasks),)))


def judged(task: Task) -> Tally:
    """Return the counts of `FAMILIES` families from a seed on."""
    start, budget, limit, short = task
    tally = Tally()
    started = time.process_time()
    for seed in range(start, start + FAMILIES):
        rnd = random.Random(seed)
        family = family_of(rnd, short)
        tally.families += 1
        try:
            judge = Judge(family, rnd, budget, limit)
            judge.build()
            tally.refused.update(kind.split(":")[0] for kind in judge.refused)
            for finding in judge.findings():
                tally.add(seed, family, finding)
        except WrongError as error:
            tally.wrong.append(f"{seed}: {error}")
        except Exception:  # a crash is a finding as well
            tally.wrong.append(f"{seed}: {traceback.format_exc(limit=-5)}")
    tally.seconds = time.process_time() - started
    return tally


def family_of(rnd: random.Random, short: bool) -> Family:
    """Return a random family, of short chains or not."""
    return short_family(rnd) if short else random_family(rnd)


def show(name: str, budget: int, limit: float, short: bool) -> int:
    """Print a pair as code to type, as it is and shrunk; return 1 if its verdict is wrong."""
    seed, i, k = (int(part) for part in name.split(":"))
    rnd = random.Random(seed)
    family = family_of(rnd, short)
    kind = next((kind for a, b, kind in family.pairs() if (a, b) == (i, k)), "chosen")
    claim = fuzz_prove.Claim(family.chains[i], family.chains[k], kind, family.dims)
    for text in shrunk(claim, budget, limit):
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
