"""Ask the installed frameworks and ourselves the same random questions: ``python -m tests.fuzz_peers --cases 2000``.

Half of the cases are valid, the others have one thing or two changed.  Answers agree if both refuse or both give
the same bits.  Bounds of extents that are not known must lie within the framework's, and be exact.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

from tests.peers.case import Case
from tests.peers.compare import compare
from tests.peers.draws import DRAWS, drawn
from tests.peers.worker import NEEDED, Worker, missing


def cases(framework: str, count: int, first: int = 0) -> Iterator[Case]:
    """Yield *count* cases, from each operation of a framework in turn."""
    ops = [op for op in sorted(DRAWS) if op.startswith(f"{framework}:")]
    for k in range(count):
        yield drawn(ops[k % len(ops)], first + k // len(ops))


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if an answer differs without a reason, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_peers", description=__doc__.splitlines()[0])
    parser.add_argument("--frontend", choices=sorted(NEEDED), action="append", help="which framework (all)")
    parser.add_argument("--cases", type=int, default=2000, help="how many cases for each framework (2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each operation (0)")
    parser.add_argument("--op", help="only this operation")
    options = parser.parse_args(arguments)
    wrong = 0
    for framework in options.frontend or sorted(NEEDED):
        if (package := missing(framework)) is not None:
            print(f"{framework}: {package} is not installed")
            continue
        started = time.perf_counter()
        counts: Counter[str] = Counter()
        with Worker(framework) as peer:
            for case in cases(framework, options.cases, options.first):
                if options.op not in (None, case.op):
                    continue
                counts["cases"] += 1
                for difference in compare(case, peer):
                    counts[difference.reason or f"WRONG {difference.what}"] += 1
                    if difference.reason is None:
                        wrong += 1
                        print(difference, flush=True)
        print(f"{framework}: {time.perf_counter() - started:.0f} seconds")
        for what, number in sorted(counts.items()):
            print(f"{number:9} {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
