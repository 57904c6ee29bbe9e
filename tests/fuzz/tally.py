"""The counts of a run, which add up with those of other runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tests.fuzz.chains import Drawn
from tests.fuzz.judge import Findings, Plan


@dataclass(slots=True)
class Tally:
    """What a run has counted; each counter but the first counts cases."""

    chains: Counter[str] = field(default_factory=Counter)  # by what became of them
    operations: Counter[str] = field(default_factory=Counter)
    lengths: Counter[str] = field(default_factory=Counter)
    dtypes: Counter[str] = field(default_factory=Counter)
    inputs: Counter[str] = field(default_factory=Counter)  # layouts
    outputs: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)  # of inputs and outputs
    modes: Counter[str] = field(default_factory=Counter)  # what was known when the kernel was compiled
    cases: int = 0
    interpreted: int = 0  # compared with brute force alone, since there is no kernel
    refused: int = 0  # points without a meaning, refused by the interpreter and the kernel
    elements: int = 0
    kernels: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, drawn: Drawn, how: Plan, found: Findings) -> None:
        """Count what was found of a chain."""
        chain, count = drawn.chain, len(found.cases)
        self.chains[found.state] += 1
        self.operations.update({link.name: count for link in {link.name: link for link in chain.links}.values()})
        self.lengths[str(len(chain.links))] += count
        self.modes["some dims fixed" if how.fixed else "all dims symbolic"] += count
        self.modes[f"element type of the {how.declared}" if how.declared else "any element type"] += count
        self.modes[f"{how.optimise} {how.march}"] += count
        sizes = {tuple(point.items()): grid.size for point, grid in drawn.points}
        for case in found.cases:
            self.dtypes[case.dtype] += 1
            self.outputs[case.out.partition(" ")[0]] += 1
            self.elements += sizes[case.point]
            self.inputs.update({name.partition(" ")[0] for name in case.inputs})
            self.places.update(name.partition(" ")[2] for name in (*case.inputs, case.out) if " " in name)
            self.modes["empty results"] += sizes[case.point] == 0
        self.cases += count
        self.interpreted += found.interpreted
        self.refused += found.refused

    def merge(self, other: Tally) -> None:
        """Add the counts of another run."""
        for f in fields(self):
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if isinstance(mine, Counter):
                mine.update(theirs)
            else:
                setattr(self, f.name, mine + theirs)

    def report(self) -> Iterator[str]:
        """Yield the counts as lines of text."""
        for name in ("chains", "operations", "lengths", "dtypes", "inputs", "outputs", "places", "modes"):
            yield f"{name}:"
            yield from (f"{count:11} {what}" for what, count in sorted(getattr(self, name).items()))
        yield f"{self.cases:11} cases, of {self.elements} elements; {self.kernels} kernels compiled"
        yield f"{self.interpreted:11} points by the interpreter alone, where no kernel is shown to be right"
        yield f"{self.refused:11} points without a meaning, refused"
        yield f"{self.seconds:11.0f} seconds, {len(self.failures)} failures"

    def data(self) -> dict[str, Any]:
        """Return the counts as JSON has them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @staticmethod
    def read(found: dict[str, Any]) -> Tally:
        """Return the counts that `data` returned."""
        tally = Tally()
        for f in fields(tally):
            value = found[f.name]
            setattr(tally, f.name, Counter(value) if isinstance(value, dict) else value)
        return tally


@dataclass(slots=True)
class Summary:
    """The counts of all runs, and which seeds were run on which state of the source."""

    tally: Tally = field(default_factory=Tally)
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def next(self) -> int:
        """The first seed that was not run."""
        return max((run["next"] for run in self.runs), default=0)

    def count(self, source: str, first: int, upto: int, tally: Tally) -> None:
        """Add the counts of the seeds from *first* to before *upto*."""
        self.tally.merge(tally)
        last = self.runs[-1] if self.runs else None
        if last is not None and last["source"] == source and last["next"] == first:
            last["next"], last["cases"] = upto, last["cases"] + tally.cases
        else:
            self.runs.append({"source": source, "first": first, "next": upto, "cases": tally.cases})

    def write(self, path: Path) -> None:
        """Write everything as JSON, whole or not at all."""
        made = path.with_name(f"{path.name}.new")
        made.write_text(json.dumps({"runs": self.runs, **self.tally.data()}, indent=1) + "\n", encoding="utf-8")
        made.replace(path)

    @staticmethod
    def read(path: Path | None) -> Summary:
        """Return what was written to *path*; nothing if there is no such file."""
        if path is None or not path.exists():
            return Summary()
        found = json.loads(path.read_text(encoding="utf-8"))
        runs = found.pop("runs")
        return Summary(Tally.read(found), runs)
