"""Say what of the algebra, the backend and the cache the tests run: ``python -m tests.promises.coverage``, after a run.

``make coverage`` makes the run and then this table, of lines and branches together, as coverage.py counts them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from tests.support.paths import source

LEAST = 95.0
"""Per cent of the lines and branches of a group."""

GROUPS = {
    "cache and build": (*map(source, ("jit.cache", "jit.cache_identity", "jit.build", "jit.compiler", "jit.load")),),
    "backend": ("codegen/symlayout_codegen/*.py",),
    "algebra": ("symlayout/*.py",),
}
"""Files by patterns; one that two groups name is the first one's."""

APART = ("symlayout/commands/*", "symlayout/interop/*")
"""The command line, and what needs frameworks."""


def group_of(file: str) -> str | None:
    """Return the group of a file, None for one that is in none."""
    if any(fnmatch(file, pattern) for pattern in APART):
        return None
    return next((name for name, patterns in GROUPS.items() if any(fnmatch(file, p) for p in patterns)), None)


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a group has less than `LEAST`."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.coverage", description=__doc__.splitlines()[0])
    parser.add_argument("--missing", action="store_true", help="name the lines and branches that were not run")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as folder:
        report = Path(folder) / "coverage.json"
        subprocess.run(
            [sys.executable, "-m", "coverage", "json", "--quiet", "--ignore-errors", "-o", str(report)], check=True
        )
        files = json.loads(report.read_text("utf-8"))["files"]
    done, total = dict.fromkeys(GROUPS, 0), dict.fromkeys(GROUPS, 0)
    for file, found in sorted(files.items()):
        group, summary = group_of(file), found["summary"]
        if group is None:
            continue
        run = summary["covered_lines"] + summary["covered_branches"]
        every = summary["num_statements"] + summary["num_branches"]
        done[group] += run
        total[group] += every
        print(f"{100 * run / every if every else 100:6.1f} %  {every - run:4} of {every:5}  {file}")
        if options.missing and run < every:
            print("         lines", *found["missing_lines"], " branches", *found["missing_branches"])
    low = 0
    for group in GROUPS:
        share = 100 * done[group] / max(total[group], 1)
        low += share < LEAST
        print(
            f"{share:6.2f} %  of {total[group]} lines and branches: {group}{'' if share >= LEAST else ', too little'}"
        )
    return low


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
