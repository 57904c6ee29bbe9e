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
from benchmarks.measure import MEMCPY, OURS, SPECIALISED, Row

_METHOD = """
Each number in the tables is a time divided by the time of a memcpy (`numpy.copyto`) of the larger side's bytes in the
same round. It is the median of up to 41 rounds, with the quartiles in parentheses; differences smaller than the
quartiles mean nothing. In a round, the contenders take turns; slow ones have fewer rounds. Before the timing, all
results are compared byte by byte with the interpreter's. symlayout uses one kernel for all shapes. Every contender
runs in {threads}, by its own setting. The process is restricted to as many processors; OpenVINO takes its number of
threads from that. symlayout, NumPy and torch are given `out=`. onnxruntime and OpenVINO write to bound memory.
tensorflow and jax can do neither. If a peer lacks an operation, it runs reshapes, permutations, pads and slices of its
own; `-` means that it cannot compute the chain. In rows of cold caches, the last-level cache is overwritten before each
call. In rows of fresh memory, no contender is given `out=`, and free memory is returned to the system before each call,
so that the result is touched for the first time; onnxruntime's arena keeps its memory.
"""
BEGIN, END = "<!-- figures: written by python -m benchmarks -->", "<!-- end of figures -->"


@dataclass(frozen=True, slots=True)
class Run:
    """How something was measured: the command, and what `benchmarks.machine` says."""

    command: str
    machine: str
    versions: str
    peers: list[str]
    threads: int
    minutes: float
    load: tuple[float | None, float | None]

    @property
    def noise(self) -> str:
        """How far other work on the machine disturbed the figures."""
        before, after = self.load
        if before is None or after is None:
            return "It is not known how busy the machine was with other work."
        said = f"The load average was {before:.1f} before the run and {after:.1f} after it (the run itself is 1 of it)"
        if max(before, after - 1) > 0.5:
            return (
                f"{said}. The machine was shared with other work, and the figures are noisy. Calls on 16 MiB and more "
                "take longer than a time slice, so other work interrupts them: their lower quartile says more than the "
                "median."
            )
        return f"{said}. Nothing else ran."


def as_markdown(run: Run, rows: Sequence[Row], figures: Mapping[Figure, float]) -> str:
    """Return the text of ``docs/benchmarks.md``."""
    lost = sorted((r for r in rows if margin(r) > 1), key=margin, reverse=True)
    clear = [r for r in lost if not tie(r)]
    reached = goals(rows)
    threads = "one thread" if run.threads == 1 else f"{run.threads} threads"
    parts = [
        "# Benchmarks",
        f"Written by `{run.command}` in {run.minutes:.0f} minutes. Do not edit.",
        f"{run.machine}; {run.versions}.",
        fill(_METHOD.format(threads=threads).strip(), 120),
        fill(run.noise, 120),
        "![Times in units of a memcpy](benchmarks.svg)",
        "## Figures to reach",
        _goal_table(reached, figures),
        "## Summary",
        "Geometric means over the rows. The last column is the time of the fastest peer of each row, divided by "
        "symlayout's.",
        summary(rows),
        f"## Rows where a peer is faster: {len(clear)} of {sum(r.fastest_peer is not None for r in rows)}",
        _table(clear, run.peers, grouped=False) if clear else "None.",
        f"Ties (the quartiles overlap): {_names([r for r in lost if tie(r)])}.",
    ]
    for goal in reached:
        if goal.missed and "peer" not in goal.what:
            parts += [f"## Rows that miss {goal.limit:g}: {goal.what}", _table(goal.missed, run.peers, grouped=False)]
    for group in _groups(rows):
        parts += [f"## All rows: {group}", _table([r for r in rows if r.case.group == group], run.peers)]
    if wrong := [f"- {name}: {r.case}" for r in rows for name in r.differs]:
        parts += ["## Not timed: the result differs from the interpreter's", "\n".join(wrong)]
    return "\n\n".join(parts) + "\n"


def as_json(run: Run, rows: Sequence[Row], figures: Mapping[Figure, float]) -> str:
    """Return the results as JSON: times in seconds, one row on each line."""
    lines = [
        json.dumps(
            {
                "group": r.case.group, "case": r.case.name, "shape": r.case.shape, "dtype": r.case.dtype,
                "state": r.case.state, "bytes": r.size, "rounds": r.rounds,
                "seconds": {name: float(f"{s:.4g}") for name, s in r.seconds.items()},
                "by_memcpy": {n: [float(f"{v:.4g}") for v in (s.low, s.median, s.high)] for n, s in r.ratios.items()},
                "differs": r.differs,
            }
        )
        for r in rows
    ]  # fmt: skip
    head = {"run": asdict(run), "figures": {figure.what: seconds for figure, seconds in figures.items()}}
    return json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(lines) + "\n]}\n"


def summary(rows: Sequence[Row]) -> str:
    """Return a table with one line for each group."""
    lines = ["| what | rows | symlayout / memcpy | fastest peer / symlayout |", "|---|---|---|---|"]
    for group in _groups(rows):
        mine = [r for r in rows if r.case.group == group]
        ours = geometric_mean(r.ours.median for r in mine)
        margins = [margin(r) for r in mine if r.fastest_peer is not None]
        gain = f"{1 / geometric_mean(margins):.1f}" if margins else "-"
        lines.append(f"| {group} | {len(mine)} | {ours:.2f} | {gain} |")
    return "\n".join(lines)


def publish(path: Path, table: str) -> None:
    """Replace the figures between the marks of a Markdown file."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{path} has no figures between {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def duration(seconds: float) -> str:
    """Return *seconds* as text, in microseconds or milliseconds.

    >>> duration(1.5e-5), duration(0.25)
    ('15.0 us', '250 ms')
    """
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"


def _goal_table(reached: Sequence[Goal], figures: Mapping[Figure, float]) -> str:
    lines = ["| figure | goal | measured | rows | |", "|---|---|---|---|---|"]
    for goal in reached:
        sign = ">=" if goal.more else "<="
        worst = "at most " if goal.missed or "each" in goal.what else ""
        word = "reached" if goal.met else f"missed in {len(goal.missed)}" if goal.missed else "missed"
        lines.append(f"| {goal.what} | {sign} {goal.limit:g} | {worst}{goal.measured:.2f} | {goal.rows} | {word} |")
    for figure, value in figures.items():
        shown = duration if figure.is_time else "{:.2f}".format
        limit = f"<= {shown(figure.goal)}" if figure.goal else "-"
        word = "" if not figure.goal else "reached" if value <= figure.goal else "missed"
        lines.append(f"| {figure.what} | {limit} | {shown(value)} | | {word} |")
    return "\n".join(lines)


def _table(rows: Sequence[Row], peers: Sequence[str], *, grouped: bool = True) -> str:
    """Return the rows as a table; each names its group unless the table is *grouped*."""
    known = {name for r in rows for name in r.ratios}
    names = [name for name in (OURS, SPECIALISED, *peers) if name in known]
    lines = ["| case | memcpy | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for r in rows:
        cells = [str(r.ratios[name]) if name in r.ratios else "-" for name in names]
        group = "" if grouped else f"{r.case.group}: "
        lines.append(f"| {group}{r.case} | {1e6 * r.seconds[MEMCPY]:.1f} us | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _groups(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(r.case.group for r in rows))


def _names(rows: Sequence[Row]) -> str:
    return "; ".join(f"{r.case.group}: {r.case} ({r.fastest_peer})" for r in rows) or "none"
