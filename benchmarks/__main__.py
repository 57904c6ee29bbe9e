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
from benchmarks.cases import Case, cases
from benchmarks.hptt import HPTT, BuildError, Hptt, build
from benchmarks.measure import Row, arena, measure
from benchmarks.peer import Peer
from benchmarks.plot import plot
from benchmarks.report import Run, as_json, as_markdown, duration, publish, summary
from benchmarks.results import Kept, ResumeError
from symlayout.commands.peers.rivals import RIVALS, installed
from symlayout_codegen.errors import ProcessorError
from symlayout_codegen.jit.cache_identity import code_hash
from symlayout_codegen.jit.instruction_set import NATIVE, available, choose

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "benchmarks"
"""Where the results of a run are kept as they come, and the library of HPTT."""

_SECONDS_BESIDE = 1.2  # of a row, beside what is given to it: kernels are compiled, results compared


def main(words: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows, and less time for each")
    parser.add_argument("--rows", metavar="PATTERN", default="", help="a regular expression; nothing is written")
    parser.add_argument(
        "--peers",
        metavar="NAME,...",
        help=f"of {', '.join(RIVALS)} (default: the installed ones), or module:function",
    )
    parser.add_argument("--hptt", metavar="DIR", type=Path, help="a checkout of HPTT: build it, and measure it too")
    parser.add_argument("--threads", type=int, default=1, help="for each contender (default: 1)")
    parser.add_argument(
        "--march",
        metavar="NAME,...",
        help="measure kernels for each of x86-64-v2, -v3, -v4, native (default: each level that the processor has)",
    )
    parser.add_argument("--seconds", type=float, help="to spend on a row")
    parser.add_argument("--resume", action="store_true", help="go on where the same command ended")
    arguments = parser.parse_args(words)
    words = [word for word in words if word != "--resume"]
    try:
        marches = [choose(name) for name in (arguments.march.split(",") if arguments.march else available())]
        hptt = build(arguments.hptt, BUILD) if arguments.hptt else None
    except (ProcessorError, BuildError) as error:
        parser.error(str(error))
    marches = marches or [NATIVE]
    load, start = machine.load(), time.monotonic()
    machine.restrict_to(arguments.threads)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(arguments.threads)
    names = _peers(arguments.peers.split(",") if arguments.peers else list(RIVALS))
    seconds = arguments.seconds or (0.15 if arguments.quick else 0.4)
    known = [*cases(), *(hptt.cases() if hptt else [])]
    chosen = [c for c in known if re.search(arguments.rows, c.label) and (c.quick or not arguments.quick)]
    if not chosen:
        parser.error(f"no row matches {arguments.rows!r}")
    run = Run(
        command=shlex.join(["python", "-m", "benchmarks", *words]), machine=machine.machine(),
        versions=machine.versions(["symlayout", *names]), peers=[*names, *([HPTT] if hptt else [])],
        threads=arguments.threads,
    )  # fmt: skip
    about = {"command": run.command, "machine": run.machine, "versions": run.versions}
    about["kernels"] = code_hash(ROOT / "codegen" / "symlayout_codegen")
    file = BUILD / f"{re.sub('[^a-z0-9]+', '-', run.command.lower()).strip('-')}.jsonl"
    try:
        kept = Kept(file, about, resume=arguments.resume)
    except ResumeError as error:
        parser.error(str(error))
    print(f"{run.machine}: kernels for {', '.join(marches)}; beside {', '.join(run.peers)}")
    rows = _measured(chosen, kept, run.peers, hptt, marches, seconds, arguments.threads)
    print(summary(rows))
    for row in rows:
        for name, how in row.died.items():
            print(f"{name} died: {row.case.label}: {how}")
    if not arguments.rows:
        measured = {figure: value for figure in figures.FIGURES if (value := figures.measure(figure)) is not None}
        run.minutes, run.load = (time.monotonic() - start) / 60, (load, machine.load())
        _write(run, rows, measured)
    return 0


def _measured(
    chosen: list[Case],
    kept: Kept,
    names: list[str],
    hptt: Hptt | None,
    marches: list[str],
    seconds: float,
    threads: int,
) -> list[Row]:
    """Return the rows, in order; each is kept as soon as it is measured."""
    rows = kept.rows(chosen)
    left = [case for case in chosen if case.label not in rows]
    minutes = len(left) * (seconds + _SECONDS_BESIDE) / 60
    print(f"{len(left)} rows, about {minutes:.0f} minutes; go on after an interruption with --resume", flush=True)
    memory = arena(chosen)
    peers = [Peer(name, memory, threads, hptt) for name in names]
    start = time.monotonic()
    try:
        for number, case in enumerate(left, 1):
            rows[case.label] = row = measure(case, memory, peers, marches, seconds, threads)
            kept.add(row)
            words = [f"{name} {ratio}" for name, ratio in row.ratios.items()]
            words += [f"{name} died" for name in row.died] + [f"{name} wrong" for name in row.differs]
            rest = (time.monotonic() - start) / number * (len(left) - number) / 60
            print(
                f"{number}/{len(left)} ({rest:.0f} min left) {case.label}: memcpy {duration(row.seconds['memcpy'])}; "
                f"{'  '.join(words)}",
                flush=True,
            )
    finally:
        for peer in peers:
            peer.end()
    return [rows[case.label] for case in chosen]


def _peers(names: list[str]) -> list[str]:
    """Return the installed ones of *names*; a ``module:function`` is taken as it is."""
    present = installed([name for name in names if name in RIVALS])
    return [name for name in names if name in present or ":" in name]


def _write(run: Run, rows: list[Row], measured: dict[figures.Figure, float]) -> None:
    docs = ROOT / "docs"
    (docs / "benchmarks.md").write_text(as_markdown(run, rows, measured), encoding="utf-8")
    (docs / "benchmarks.json").write_text(as_json(run, rows, measured), encoding="utf-8")
    (docs / "benchmarks.svg").write_text(plot(rows), encoding="utf-8")
    publish(ROOT / "README.md", run, rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
