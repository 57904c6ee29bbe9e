"""Write what was measured: as Markdown for people, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean
from textwrap import fill

from benchmarks.figures import Figure
from benchmarks.goals import Goal, goals, margin, tie
from benchmarks.measure import MEMCPY, Row, specialised
from benchmarks.results import as_data

_METHOD = """
Each number in the tables is a time divided by the time of a memcpy (`numpy.copyto`) of the larger side's bytes in the
same round. It is the median of up to 41 rounds, with the quartiles in parentheses; differences smaller than the
quartiles mean nothing. In a round, the contenders take turns; slow ones have fewer rounds. Before the timing, all
results are compared byte by byte with the interpreter's. symlayout uses one kernel for all shapes, compiled for each
instruction set that has a column; the libraries choose instructions by the processor. Each library runs in a process of
its own; the arrays lie in memory that the processes share. Every contender runs in {threads}, by its own
setting{clock}. The processes are restricted to as many processors; OpenVINO takes its number of threads from that.
symlayout, NumPy and torch are given `out=`. onnxruntime and OpenVINO write to bound memory. tensorflow and jax can do
neither. If a peer lacks an operation, it runs reshapes, permutations, pads and slices of its own; `-` means that it
cannot compute the chain. In rows of cold caches, the last-level cache is overwritten before each call. In rows of fresh
memory, no contender is given `out=`, and free memory is returned to the system before each call, so that the result is
touched for the first time; onnxruntime's arena keeps its memory.
"""
BEGIN, END = "<!-- figures: written by python -m benchmarks -->", "<!-- end of figures -->"


@dataclass(slots=True)
class Run:
    """How something was measured: the command, and what `benchmarks.machine` says."""

    command: str
    machine: str
    versions: str
    peers: list[str]
    threads: int
    minutes: float = 0.0
    load: tuple[float | None, float | None] = (None, None)

    @property
    def noise(self) -> str:
        """How far other work on the machine disturbed the figures."""
        before, after = self.load
        if before is None or after is None:
            return "It is not known how busy the machine was with other work."
        said = f"The load average was {before:.1f} before the run and {after:.1f} after it (the run itself is 1 of it)"
        if max(before, after - 1) > 0.5:
            return (
                f"{said}. The machine was shared with other work, which takes its part of the caches and of the "
                "memory's bandwidth: the figures are noisy."
            )
        return f"{said}. Nothing else ran."


def as_markdown(run: Run, rows: Sequence[Row], figures: Mapping[Figure, float]) -> str:
    """Return the text of ``docs/benchmarks.md``."""
    kernels = rows[0].kernels
    highest = kernels[-1]
    reached = {kernel: goals(rows, kernel) for kernel in kernels}
    threads = "one thread" if run.threads == 1 else f"{run.threads} threads"
    clock = "; times are the processor's, without those of other work" if run.threads == 1 else ""
    parts = [
        "# Benchmarks",
        f"Written by `{run.command}` in {run.minutes:.0f} minutes. Do not edit.",
        f"{run.machine}; {run.versions}.",
        fill(_METHOD.format(threads=threads, clock=clock).strip(), 120),
        fill(run.noise, 120),
        "![Times in units of a memcpy](benchmarks.svg)",
        "## Figures to reach",
        _goal_table(reached),
        _figure_table(figures),
        "## Summary",
        "Geometric means over the rows: of the kernels' times divided by memcpy's, and of the time of each row's "
        "fastest peer divided by the kernel's.",
        summary(rows),
    ]
    if died := [f"| {r.case.label} | {name} | {how} |" for r in rows for name, how in r.died.items()]:
        parts += ["## Peers that died", "\n".join(["| case | peer | how |", "|---|---|---|", *died])]
    if wrong := [f"| {r.case.label} | {name} |" for r in rows for name in r.differs]:
        parts += ["## Wrong results: not timed", "\n".join(["| case | peer |", "|---|---|", *wrong])]
    for kernel in kernels:
        lost = sorted((r for r in rows if margin(r, kernel) > 1), key=lambda r: margin(r, kernel), reverse=True)
        clear = [r for r in lost if not tie(r, kernel)]
        compared = sum(r.fastest_peer is not None for r in rows)
        parts += [
            f"## Rows where a peer is faster than {kernel}: {len(clear)} of {compared}",
            _table(clear, run.peers, grouped=False) if clear else "None.",
            f"Ties (the quartiles overlap): {_names([r for r in lost if tie(r, kernel)])}.",
        ]
    for goal in reached[highest]:
        if goal.missed:
            title = f"## Rows in which {highest} misses {goal.limit:g}: {goal.what}"
            parts += [title, _table(goal.missed, run.peers, grouped=False)]
    for group in _groups(rows):
        parts += [f"## All rows: {group}", _table([r for r in rows if r.case.group == group], run.peers)]
    return "\n\n".join(filter(None, parts)) + "\n"


def as_json(run: Run, rows: Sequence[Row], figures: Mapping[Figure, float]) -> str:
    """Return the results as JSON: times in seconds, one row on each line."""
    lines = [json.dumps(as_data(r)) for r in rows]
    head = {"run": asdict(run), "figures": {figure.what: seconds for figure, seconds in figures.items()}}
    return json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(lines) + "\n]}\n"


def summary(rows: Sequence[Row]) -> str:
    """Return a table with one line for each group, and two columns for each instruction set."""
    kernels = rows[0].kernels
    heads = [f"{kernel} / memcpy" for kernel in kernels] + [f"fastest peer / {kernel}" for kernel in kernels]
    lines = ["| what | rows | " + " | ".join(heads) + " |", "|---" * (len(heads) + 2) + "|"]
    for group in _groups(rows):
        mine = [r for r in rows if r.case.group == group]
        beside = [r for r in mine if r.fastest_peer is not None]
        cells = [f"{geometric_mean(r.ratios[kernel].median for r in mine):.2f}" for kernel in kernels]
        for kernel in kernels:
            cells.append(f"{1 / geometric_mean(margin(r, kernel) for r in beside):.1f}" if beside else "-")
        lines.append(f"| {group} | {len(mine)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def publish(path: Path, run: Run, rows: Sequence[Row]) -> None:
    """Replace the figures between the marks of a Markdown file: the processor, and the summary."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{path} has no figures between {BEGIN} and {END}")
    path.write_text(
        f"{before}{BEGIN}\n{fill(f'On {run.machine}:', 120)}\n\n{summary(rows)}\n{END}{after}", encoding="utf-8"
    )


def duration(seconds: float) -> str:
    """Return *seconds* as text, in microseconds or milliseconds.

    >>> duration(1.5e-5), duration(0.25)
    ('15.0 us', '250 ms')
    """
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"


def _goal_table(reached: Mapping[str, Sequence[Goal]]) -> str:
    """Return a line for each figure, and a column for each kernel."""
    lines = [f"| figure | goal | {' | '.join(reached)} | rows |", "|---" * (len(reached) + 3) + "|"]
    for goals_of_kernels in zip(*reached.values(), strict=True):
        goal = goals_of_kernels[0]
        sign = ">=" if goal.more else "<="
        cells = " | ".join(map(_measured, goals_of_kernels))
        lines.append(f"| {goal.what} | {sign} {goal.limit:g} | {cells} | {goal.rows} |")
    return "\n".join(lines)


def _measured(goal: Goal) -> str:
    word = "reached" if goal.met else f"missed in {len(goal.missed)}" if goal.missed else "missed"
    return f"{'at most ' * ('each' in goal.what)}{goal.measured:.3g}, {word}"


def _figure_table(figures: Mapping[Figure, float]) -> str:
    lines = ["| figure | goal | measured | |", "|---|---|---|---|"]
    for figure, value in figures.items():
        shown = duration if figure.is_time else "{:.2f}".format
        limit = f"<= {shown(figure.goal)}" if figure.goal else "-"
        word = "" if not figure.goal else "reached" if value <= figure.goal else "missed"
        lines.append(f"| {figure.what} | {limit} | {shown(value)} | {word} |")
    return "\n".join(lines) if figures else ""


def _table(rows: Sequence[Row], peers: Sequence[str], *, grouped: bool = True) -> str:
    """Return the rows as a table; each names its group unless the table is *grouped*."""
    known = {name for r in rows for name in [*r.ratios, *r.differs, *r.died]}
    kernels = rows[0].kernels
    names = [name for name in (*kernels, *map(specialised, kernels), *peers) if name in known]
    lines = ["| case | memcpy | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for r in rows:
        cells = [_cell(r, name) for name in names]
        group = "" if grouped else f"{r.case.group}: "
        lines.append(f"| {group}{r.case} | {1e6 * r.seconds[MEMCPY]:.1f} us | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(r: Row, name: str) -> str:
    if name in r.died:
        return "died"
    if name in r.differs:
        return "wrong"
    return str(r.ratios[name]) if name in r.ratios else "-"


def _groups(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(r.case.group for r in rows))


def _names(rows: Sequence[Row]) -> str:
    return "; ".join(f"{r.case.group}: {r.case} ({r.fastest_peer})" for r in rows) or "none"
