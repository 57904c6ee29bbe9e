"""Run random chains for as long as asked, and count what was run: ``python -m tests.fuzz 100000``.

Most chains go through the interpreter, which takes a fraction of a millisecond; one in *every* is compiled,
which takes a compiler's start.  A failure prints the smallest chain that shows it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from hypothesis import HealthCheck, Phase, given, settings

from tests.chains import check_dynamic, check_interpreter, check_kernel
from tests.strategies import DYNAMIC, Case, cases


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a check fails, which raises."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("examples", type=int, nargs="?", default=10_000, help="how many chains (10000)")
    parser.add_argument("--every", type=int, default=50, help="compile one chain in this many (50)")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    long = settings(
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )

    def count(case: Case, what: str) -> None:
        counts[what] += 1
        counts.update(name for name, _ in case.steps)
        counts[f"dtype {case.dtype}"] += 1
        counts[f"layout {case.layout}"] += 1

    @settings(long, max_examples=options.examples)
    @given(cases())
    def interpreted(case: Case) -> None:
        count(case, "interpreted")
        check_interpreter(case)
        if counts["interpreted"] % options.every == 0:
            count(case, "compiled")
            check_kernel(case)

    @settings(long, max_examples=options.examples // 4)
    @given(cases(only=DYNAMIC, most_steps=3))
    def dynamic(case: Case) -> None:
        count(case, "dynamic")
        compiled = counts["dynamic"] % options.every == 0
        shown = check_dynamic(case, compiled=compiled)
        if compiled:
            counts["dynamic, compiled" if shown else "dynamic, not shown to be in bounds"] += 1

    started = time.perf_counter()
    interpreted()
    dynamic()
    for what, number in sorted(counts.items()):
        print(f"{number:9} {what}")
    print(f"{time.perf_counter() - started:9.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
