"""Measure, and write ``docs/benchmarks.md``, ``.json``, ``.svg`` and the README's figures."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
import time
from pathlib import Path

from benchmarks import figures, machine
from benchmarks.cases import cases
from benchmarks.measure import Row, measure
from benchmarks.plot import plot
from benchmarks.report import Run, as_json, as_markdown, duration, publish, summary
from symlayout.commands.peers.rivals import RIVALS, installed
from symlayout_codegen.errors import ProcessorError
from symlayout_codegen.jit.instruction_set import NATIVE, VARIABLE, choose

ROOT = Path(__file__).parent.parent


def main(words: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows, and less time for each")
    parser.add_argument("--rows", metavar="PATTERN", default="", help="a regular expression; nothing is written")
    parser.add_argument("--peers", metavar="NAME,...", help=f"of {', '.join(RIVALS)} (default: the installed ones)")
    parser.add_argument("--threads", type=int, default=1, help="for each contender (default: 1)")
    parser.add_argument("--march", metavar="NAME", help="x86-64-v2, -v3, -v4 or native (default: SYMLAYOUT_MARCH)")
    parser.add_argument("--seconds", type=float, help="to spend on a row")
    arguments = parser.parse_args(words)
    if arguments.march:
        os.environ[VARIABLE] = arguments.march
    try:
        march = choose()
    except ProcessorError as error:
        parser.error(str(error))
    load = machine.load()
    start = time.monotonic()
    machine.restrict_to(arguments.threads)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(arguments.threads)
    peers = installed(arguments.peers.split(",") if arguments.peers else RIVALS)
    seconds = arguments.seconds or (0.15 if arguments.quick else 0.4)
    chosen = [c for c in cases() if re.search(arguments.rows, f"{c.group}: {c}") and (c.quick or not arguments.quick)]
    rows: list[Row] = []
    for number, case in enumerate(chosen, 1):
        rows.append(row := measure(case, peers, seconds, arguments.threads))
        ratios = "  ".join(f"{name} {ratio}" for name, ratio in row.ratios.items())
        memcpy = duration(row.seconds["memcpy"])
        print(f"{number}/{len(chosen)} {case.group}: {case}: memcpy {memcpy}; {ratios}", flush=True)
    if not rows:
        parser.error(f"no row matches {arguments.rows!r}")
    print(summary(rows))
    if not arguments.rows:
        measured = {figure: seconds for figure in figures.FIGURES if (seconds := figures.measure(figure)) is not None}
        _write(Run(
            command=shlex.join(["python", "-m", "benchmarks", *words]), machine=_machine(march),
            versions=machine.versions(["symlayout", *peers]), peers=peers, threads=arguments.threads,
            minutes=(time.monotonic() - start) / 60, load=(load, machine.load()),
        ), rows, measured)  # fmt: skip
    return 0


def _machine(march: str) -> str:
    """Return the machine, and the instruction set of the kernels if it is not the machine's own."""
    return machine.machine() if march == NATIVE else f"{machine.machine()}, kernels for {march}"


def _write(run: Run, rows: list[Row], measured: dict[figures.Figure, float]) -> None:
    docs = ROOT / "docs"
    (docs / "benchmarks.md").write_text(as_markdown(run, rows, measured), encoding="utf-8")
    (docs / "benchmarks.json").write_text(as_json(run, rows, measured), encoding="utf-8")
    (docs / "benchmarks.svg").write_text(plot(rows), encoding="utf-8")
    publish(ROOT / "README.md", summary(rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
