"""Write what was measured as Markdown."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean

from benchmarks.measure import Row

BEGIN, END = "<!-- figures: written by python -m benchmarks -->", "<!-- end of figures -->"


def report(rows: Sequence[Row], peers: Sequence[str], command: str, rounds: int, load: str) -> str:
    """Return the text of ``docs/benchmarks.md``; *load* says how busy the machine was."""
    lost = sorted((r for r in rows if _margin(r) > 1), key=_margin, reverse=True)
    parts = [
        "# Benchmarks",
        f"Written by `{command}`. Do not edit.",
        f"{_processor()}, {platform.system()}, Python {platform.python_version()}; {_versions(peers)}.",
        "Numbers are times divided by the time of a memcpy (`numpy.copyto`) of the larger side's bytes in the same\n"
        f"round: the median of {rounds} rounds, with the quartiles in parentheses. In a round every contender has its\n"
        "turn. All results are first compared with the interpreter's. symlayout uses one kernel for all shapes. One\n"
        "thread each, but OpenVINO has its default number of threads; `out=` is given to symlayout, NumPy, torch,\n"
        "onnxruntime and OpenVINO, the others have none. Differences smaller than the quartiles are none.\n"
        f"{load}",
        "## Summary",
        "Geometric means over the rows. The last column is the time of the fastest peer of each row, by symlayout's.",
        summary(rows),
        "## Rows where a peer is faster",
        _table(lost, peers) if lost else "None.",
        "Ties, since the quartiles overlap: "
        + ("; ".join(f"{r.case} ({r.best_peer})" for r in lost if _tie(r)) or "none")
        + ".",
    ]
    for group in _groups(rows):
        parts += [f"## All rows: {group}", _table([r for r in rows if r.case.group == group], peers)]
    wrong = [f"- {name}: {r.case}" for r in rows for name in r.wrong]
    if wrong:
        parts += ["## Not timed, since the result differs from the interpreter's", "\n".join(wrong)]
    return "\n\n".join(parts) + "\n"


def summary(rows: Sequence[Row]) -> str:
    """Return a table with one row per group."""
    lines = ["| what | rows | symlayout / memcpy | fastest peer / symlayout |", "|---|---|---|---|"]
    for group in _groups(rows):
        mine = [r for r in rows if r.case.group == group]
        ours = geometric_mean(r.ratios["symlayout"].median for r in mine)
        margins = [_margin(r) for r in mine if r.best_peer is not None]
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


def _table(rows: Sequence[Row], peers: Sequence[str]) -> str:
    names = ["symlayout", *peers]
    lines = ["| case | memcpy | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for r in rows:
        cells = [str(r.ratios[name]) if name in r.ratios else "-" for name in names]
        lines.append(f"| {r.case} | {1e6 * r.seconds:.1f} us | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _groups(rows: Sequence[Row]) -> list[str]:
    return sorted({r.case.group: None for r in rows}, key=lambda group: group.startswith("call"))


def _margin(r: Row) -> float:
    """Return symlayout's time by the fastest peer's."""
    return 0.0 if r.best_peer is None else r.ratios["symlayout"].median / r.ratios[r.best_peer].median


def _tie(r: Row) -> bool:
    return r.best_peer is not None and r.ratios["symlayout"].low <= r.ratios[r.best_peer].high


def _versions(peers: Sequence[str]) -> str:
    found = []
    for name in ("symlayout", *peers):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(name)
    return ", ".join(found)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
