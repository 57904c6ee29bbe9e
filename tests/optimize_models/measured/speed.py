"""Measure how long `sl.optimize` takes: by nodes over the model set, and as one architecture grows.

    python -m tests.optimize_models.measured.speed --docs

The unit is the processor time of a loop of 10^7 additions in a script, which is measured beside each model, so that
figures of two machines compare.  Each model runs in a process of its own, after a small one that loads all modules.
``--docs`` writes ``docs/optimize-times.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import symlayout as sl
from benchmarks.machine import load, processor
from tests.equivalence.tools import EXPORTED
from tests.optimize_models.measured.deep_models import transformer
from tests.support.paths import ROOT

ADDITIONS = 10**7  # of the loop that is the unit
GROWTH = (13, 26, 64, 128)  # layers of the architecture that grows: 500 to 5000 nodes
SMALL = ROOT / "examples" / "models" / "pixel_unshuffle.onnx"
LIMIT = 1800  # seconds for one model
number = total = 0  # of the loop
SLOWEST = 15  # models that the page lists


@dataclass(frozen=True)
class Time:
    """What one model took.

    Attributes
    ----------
    name : str
        The model.
    nodes : int
        Its nodes.
    units : float
        Processor time of `sl.optimize`, reading included, in units.
    """

    name: str
    nodes: int
    units: float

    @property
    def by_nodes(self) -> float:
        """Units for 1000 nodes."""
        return 1000 * self.units / self.nodes


def unit() -> float:
    """Return the processor seconds of a loop of 10^7 additions, with global variables as in a script."""
    global number, total
    begin, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return time.process_time() - begin


def measured(path: Path) -> Time:
    """Optimize a model in this process, and return what it took."""
    sl.optimize(SMALL)
    nodes = len(sl.read_model(path).nodes)
    before = unit()
    begin = time.process_time()
    sl.optimize(path)
    seconds = time.process_time() - begin
    return Time(path.stem, nodes, 2 * seconds / (before + unit()))


def in_a_child(path: Path) -> Time | None:
    """Return what a model took in a process of its own; None if it failed or took too long."""
    command = [sys.executable, "-m", __spec__.name, "--one", str(path)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else Time(**json.loads(done.stdout.splitlines()[-1]))


def exponent(times: Sequence[Time]) -> float:
    """Return the exponent with which the time grows from the first to the last."""
    first, last = times[0], times[-1]
    return math.log(last.units / first.units) / math.log(last.nodes / first.nodes)


PAGE = """# How long optimize takes

Processor time of `sl.optimize`, reading and verification included, on the models of
[the figures](optimize-figures.md) that are exported, and on a transformer of more and more layers. The unit is the
processor time of a loop of 10^7 additions in a script on the same machine, which is about half a second.

`python -m tests.optimize_models.measured.speed --docs` measures again and writes this page.
"""


def page(times: Sequence[Time], growth: Sequence[Time], failed: Sequence[str]) -> str:
    """Return the page."""
    slowest = sorted(times, key=lambda t: -t.units)[:SLOWEST]
    grows = f"- growth from {growth[0].nodes} to {growth[-1].nodes} nodes: n^{exponent(growth):.2f}." if growth else ""
    lines = [
        PAGE,
        f"- measured on {processor()}, load average {load() or 0:.0f} at the end.",
        f"- {len(times)} models: {median(t.by_nodes for t in times):.1f} units for 1000 nodes in the median, "
        f"{median(t.units for t in times):.1f} units for a model.",
        f"- the longest: {slowest[0].units:.1f} units ({slowest[0].name}, {slowest[0].nodes} nodes).",
        *([grows] if grows else []),
        *(f"- {name}: not measured." for name in failed),
        "",
        "## The models that take longest",
        "",
        "| model | nodes | units | units for 1000 nodes |",
        "|---|--:|--:|--:|",
        *(f"| {t.name} | {t.nodes} | {t.units:.1f} | {t.by_nodes:.1f} |" for t in slowest),
        "",
        "## One architecture that grows",
        "",
        "| nodes | units | units for 1000 nodes |",
        "|--:|--:|--:|",
        *(f"| {t.nodes} | {t.units:.1f} | {t.by_nodes:.1f} |" for t in growth),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", action="store_true", help="write docs/optimize-times.md")
    parser.add_argument("--model", action="append", default=[], help="models whose name begins so; all without it")
    parser.add_argument("--results", type=Path, help="add a line of JSON for each model, and take what is there")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(asdict(measured(arguments.one))))
        return 0
    known: dict[str, Time] = {}
    if arguments.results and arguments.results.exists():
        known = {t.name: t for t in (Time(**json.loads(line)) for line in arguments.results.read_text().splitlines())}
    times, failed, growth = list[Time](), list[str](), list[Time]()
    with tempfile.TemporaryDirectory() as made:
        paths = sorted(EXPORTED.glob("*.onnx"))
        deep = [Path(made) / f"transformer_{layers}.onnx" for layers in GROWTH]
        for path, layers in zip(deep, GROWTH, strict=True):
            transformer(path, layers)
        for path in [*paths, *deep]:
            if arguments.model and not path.stem.startswith(tuple(arguments.model)):
                continue
            found = known.get(path.stem) or in_a_child(path)
            if found is None:
                failed.append(path.stem)
                continue
            (growth if path in deep else times).append(found)
            print(f"{found.name}: {found.nodes} nodes, {found.units:.2f} units", flush=True)
            if arguments.results and path.stem not in known:
                with arguments.results.open("a") as file:
                    file.write(json.dumps(asdict(found)) + "\n")
    text = page(times, growth, failed) if times else ""
    print(text)
    if arguments.docs:
        (ROOT / "docs" / "optimize-times.md").write_text(text, encoding="utf-8")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
