"""Measure, and write ``docs/benchmarks.md`` and the README's figures: ``python -m benchmarks [--quick]``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes, element types and rounds")
    parser.add_argument("--only", default="", help="only cases whose name contains this; nothing is written")
    arguments = parser.parse_args()
    from benchmarks import contenders

    contenders.restrict_threads()
    from benchmarks.cases import cases
    from benchmarks.measure import measure
    from benchmarks.report import publish, report, summary

    load = other_work()
    peers = contenders.installed()
    rounds = 9 if arguments.quick else 31
    chosen = [case for case in cases(quick=arguments.quick) if arguments.only in str(case)]
    rows = []
    for number, case in enumerate(chosen, 1):
        rows.append(row := measure(case, peers, rounds))
        ratios = "  ".join(f"{name} {ratio}" for name, ratio in row.ratios.items())
        print(f"{number}/{len(chosen)} {case}: memcpy {1e6 * row.seconds:.1f} us; {ratios}", flush=True)
    if not rows:
        parser.error(f"no case contains {arguments.only!r}")
    print(summary(rows))
    if not arguments.only:
        command = "python -m benchmarks --quick" if arguments.quick else "python -m benchmarks"
        text = report(rows, list(peers), command, rounds, load)
        (ROOT / "docs" / "benchmarks.md").write_text(text, encoding="utf-8")
        publish(ROOT / "README.md", summary(rows))
    return 0


def other_work() -> str:
    """Return how busy the machine is before anything is measured."""
    if not hasattr(os, "getloadavg"):
        return "How busy the machine was with other work is not known."
    busy = os.getloadavg()[0]
    shared = ": the machine was shared with other work, and the figures are noisy" if busy > 0.5 else ""
    return f"The load average before the run was {busy:.1f} on {os.cpu_count()} processors{shared}."


if __name__ == "__main__":
    sys.exit(main())
