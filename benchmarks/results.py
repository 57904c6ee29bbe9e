"""Rows as JSON lines, kept as they come, so that a run can go on where it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.measure import Row
from symlayout.commands.peers.timing import Spread


class ResumeError(Exception):
    """A run cannot go on from the kept results."""


def as_data(row: Row) -> dict[str, Any]:
    """Return a row as JSON data: times in seconds."""
    case = row.case
    return {
        "group": case.group, "case": case.name, "shape": list(case.shape), "dtype": case.dtype, "state": case.state,
        "bytes": row.size, "rounds": row.rounds,
        "seconds": {name: float(f"{s:.4g}") for name, s in row.seconds.items()},
        "by_memcpy": {n: [float(f"{v:.4g}") for v in (s.low, s.median, s.high)] for n, s in row.ratios.items()},
        "differs": list(row.differs), "died": row.died,
    }  # fmt: skip


def as_row(data: Mapping[str, Any], case: Case) -> Row:
    """Return the row that `as_data` wrote."""
    spreads = {name: Spread(*quartiles) for name, quartiles in data["by_memcpy"].items()}
    return Row(
        case, data["bytes"], data["rounds"], data["seconds"], spreads, tuple(data["differs"]), dict(data["died"])
    )


class Kept:
    """The file of a run: a line that says what is measured, then a line for each row.

    Parameters
    ----------
    path : the file.
    about : what is measured: only results of the same are added to.
    resume : whether to keep the rows that are there.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], *, resume: bool) -> None:
        self._path = path
        self._rows: dict[str, dict[str, Any]] = {}
        if resume:
            self._read(about)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dict(about)) + "\n", encoding="utf-8")

    def add(self, row: Row) -> None:
        """Write a row, after those before."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(as_data(row)) + "\n")

    def rows(self, cases: Sequence[Case]) -> dict[str, Row]:
        """Return the rows of *cases* that were there, by label."""
        return {case.label: as_row(self._rows[case.label], case) for case in cases if case.label in self._rows}

    def _read(self, about: Mapping[str, Any]) -> None:
        try:
            text = self._path.read_text(encoding="utf-8")
        except OSError as error:
            raise ResumeError(f"no earlier run: {error}\n  help: leave out --resume") from error
        # A run that was killed while it wrote leaves half a line.
        first, *lines = text[: text.rfind("\n") + 1].splitlines()
        before = json.loads(first)
        for name, value in about.items():
            if before.get(name) != value:
                raise ResumeError(
                    f"--resume: the {name} of the earlier run was {before.get(name)!r}, now it is {value!r}\n"
                    "  help: leave out --resume"
                )
        for line in lines:
            data = json.loads(line)
            shape = "x".join(map(str, data["shape"]))
            self._rows[f"{data['group']}: {data['case']}, {data['dtype']} {shape}"] = data
        self._path.write_text("".join(f"{line}\n" for line in [first, *lines]), encoding="utf-8")
