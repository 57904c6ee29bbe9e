"""The counts of a run, which add up with those of other runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz_prove.claims import Family
from tests.fuzz_prove.judge import Finding
from tests.support.brute import Chain

MOST_KEPT = 20  # of the slowest claims, and of each kind of UNKNOWN
SEPARATOR = " | "


@dataclass(slots=True)
class Tally:
    """What a run has counted; a pair is named ``seed:i:k``."""

    pairs: int = 0
    families: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)  # kind | verdict | truth
    operations: Counter[str] = field(default_factory=Counter)  # operation | verdict, pairs that have it
    lengths: Counter[str] = field(default_factory=Counter)  # of the longer chain
    refused: Counter[str] = field(default_factory=Counter)  # chains by the kind of error when they are built
    unknown: dict[str, list[str]] = field(default_factory=dict)  # by the kind of obligation
    unknown_count: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, seed: int, family: Family, finding: Finding) -> None:
        """Count what was found of one pair."""
        i, k = finding.pair
        name = f"{seed}:{i}:{k}"
        left, right = family.chains[i], family.chains[k]
        self.pairs += 1
        self.verdicts[SEPARATOR.join((finding.kind, finding.verdict, finding.truth))] += 1
        self.lengths[str(max(len(left.steps), len(right.steps)))] += 1
        for operation in {*operations(left), *operations(right)}:
            self.operations[f"{operation}{SEPARATOR}{finding.verdict}"] += 1
        if finding.verdict in ("unknown", "no answer"):
            kind = f"{kind_of(finding.text)}, {finding.truth}"
            self.unknown_count[kind] += 1
            self.unknown.setdefault(kind, []).append(name)
            del self.unknown[kind][MOST_KEPT:]
        if finding.verdict == "wrong":
            self.wrong.append(f"{name}: {finding.text}")
        self.slowest = sorted([*self.slowest, (round(finding.seconds, 3), name)], reverse=True)[:MOST_KEPT]

    def merge(self, other: Tally) -> None:
        """Add the counts of another run."""
        self.pairs += other.pairs
        self.families += other.families
        self.seconds += other.seconds
        for mine, theirs in (
            (self.verdicts, other.verdicts), (self.operations, other.operations), (self.lengths, other.lengths),
            (self.refused, other.refused), (self.unknown_count, other.unknown_count),
        ):  # fmt: skip
            mine.update(theirs)
        for kind, names in other.unknown.items():
            self.unknown[kind] = [*self.unknown.get(kind, []), *names][:MOST_KEPT]
        self.slowest = sorted([*self.slowest, *other.slowest], reverse=True)[:MOST_KEPT]
        self.wrong += other.wrong

    def report(self) -> Iterator[str]:
        """Yield the counts as lines of text."""
        for key, count in sorted(self.verdicts.items()):
            kind, verdict, truth = key.split(SEPARATOR)
            yield f"{count:9} {kind:12} {verdict:10} {truth}"
        yield "pairs that an operation is in: all, of them undecided"
        names = sorted({key.split(SEPARATOR)[0] for key in self.operations})
        for name in names:
            of_it = {key: n for key, n in self.operations.items() if key.split(SEPARATOR)[0] == name}
            undecided = sum(of_it.get(f"{name}{SEPARATOR}{verdict}", 0) for verdict in ("unknown", "no answer"))
            yield f"{sum(of_it.values()):9} {undecided:9} {name}"
        yield "steps of the longer chain: " + ", ".join(
            f"{n} with {length}" for length, n in sorted(self.lengths.items())
        )
        yield "chains refused when built: " + (", ".join(f"{n} {kind}" for kind, n in self.refused.most_common(12)))
        for kind, count in self.unknown_count.most_common():
            yield f"{count:9} unknown: {kind}; {', '.join(self.unknown[kind][:3])}"
        yield "slowest: " + ", ".join(f"{name} {seconds:.2f} s" for seconds, name in self.slowest[:6])
        unknown = sum(self.unknown_count.values())
        yield f"{self.pairs} pairs of {self.families} families in {self.seconds:.0f} s of one core"
        share = 100 * unknown / max(self.pairs, 1)
        yield f"{unknown} unknown or without an answer ({share:.2f} %), {len(self.wrong)} wrong"
        yield from self.wrong
        yield "a pair is printed as code, and shrunk, by python -m tests.fuzz_prove --show SEED:I:K"

    def write(self, path: Path, **about: Any) -> None:
        """Write the counts as JSON."""
        counts = {name: getattr(self, name) for name in Tally.__dataclass_fields__}
        path.write_text(json.dumps({**about, **counts}, indent=1) + "\n")

    @staticmethod
    def read(found: dict[str, Any]) -> Tally:
        """Return the counts that `write` wrote."""
        names = Tally.__dataclass_fields__
        counters = {"verdicts", "operations", "lengths", "refused", "unknown_count"}
        given: dict[str, Any] = {name: Counter(found[name]) if name in counters else found[name] for name in names}
        given["slowest"] = [(seconds, name) for seconds, name in given["slowest"]]
        return Tally(**given)


def operations(chain: Chain) -> Iterator[str]:
    """Yield the names of the operations of a chain, in branches too."""
    for name, given in chain.steps:
        yield f"pad {given['mode']}" if "mode" in given and name == "pad" else name
        for branch in given.get("branches", ()):
            yield from operations(Chain((), branch))


def kind_of(obligation: str) -> str:
    """Return an obligation without its names and numbers, to count kinds of it."""
    for part, kind in (
        ("the extents of axis", "the extents are equal"),
        ("wherever the other side", "a fill is outside the other side"),
        ("reads inside its input", "reads inside its input"),
        (" == ", "a coordinate is equal"),
        (" >= 1", "an extent is not 0"),
    ):
        if part in obligation:
            return kind
    return obligation
