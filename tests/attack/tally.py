"""What an attack shows: counts by subject and outcome, and each wrong answer with its files.

The counts are kept in a JSON file.  ``python -m tests.attack.tally counts.json COMMITS > docs/attack.md`` writes the
page of the documentation that shows them; COMMITS says what was attacked.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS = ("PROVED", "REFUTED", "UNKNOWN", "wrong")  # of the page
MOST = 3  # wrong answers of one kind that are kept


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong answer.

    Attributes
    ----------
    kind : str
        What is alike in all answers of this kind: few of each are kept.
    text : str
        The claim, the answer, and what the judges say.
    files : dict of str to bytes
        The files of the claim, by name.
    """

    kind: str
    text: str
    files: Mapping[str, bytes] = field(default_factory=dict)

    def save(self, folder: Path) -> Path:
        """Write the files into a folder of their own inside *folder*, and return it."""
        digest = hashlib.sha256(self.text.encode())
        for data in self.files.values():
            digest.update(data)
        name = "".join(c if c.isalnum() or c in "-." else "_" for c in self.kind)[:80]
        path = folder / f"{name}-{digest.hexdigest()[:8]}"
        path.mkdir(parents=True, exist_ok=True)
        (path / "verdict.txt").write_text(self.text + "\n", "utf-8")
        for file, data in self.files.items():
            (path / file).write_bytes(data)
        return path


@dataclass
class Tally:
    """Counts, and wrong answers.

    Attributes
    ----------
    counts : Counter
        By subject (an operator, a rule) and outcome (``"PROVED"``, ``"wrong"``).
    wrong : list of Wrong
        The first ones of each kind.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)

    def note(self, subject: str, outcome: str) -> None:
        """Count an outcome."""
        self.counts[subject, outcome] += 1

    def note_wrong(self, subject: str, wrong: Wrong) -> None:
        """Count a wrong answer, and keep it if it is one of the first of its kind."""
        self.note(subject, "wrong")
        self.keep([wrong])

    def keep(self, wrong: Iterable[Wrong]) -> list[Wrong]:
        """Keep those that are among the first of their kinds, and return them."""
        kept = []
        for one in wrong:
            if sum(w.kind == one.kind for w in self.wrong) < MOST:
                self.wrong.append(one)
                kept.append(one)
        return kept

    def merge(self, other: Tally) -> list[Wrong]:
        """Add the counts of another tally; return its wrong answers that are kept."""
        self.counts.update(other.counts)
        return self.keep(other.wrong)

    def totals(self) -> Counter[str]:
        """Return the counts by outcome."""
        found: Counter[str] = Counter()
        for (_, outcome), count in self.counts.items():
            found[outcome] += count
        return found


def add(path: Path, part: str, tally: Tally) -> None:
    """Add the counts of a part to those of a file, which is made if it is not there."""
    known = json.loads(path.read_text()) if path.exists() else {}
    counts = known.setdefault(part, {})
    for (subject, outcome), count in tally.counts.items():
        row = counts.setdefault(subject, {})
        row[outcome] = row.get(outcome, 0) + count
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def page(known: dict[str, dict[str, dict[str, int]]], commits: str = "") -> str:
    """Return the page with these counts, of a run of these *commits*."""
    lines = [
        "# Attacks on verdicts",
        "",
        "Written by `python -m tests.attack.tally counts.json COMMITS`, from the counts that attacks add to that file.",
        "Each part makes claims about small models without end, true and false ones side by side, and asks",
        "`symlayout.verify`. onnxruntime without its optimisation and the reference evaluator of the package `onnx`",
        "judge each answer: PROVED at drawn sizes and special values, REFUTED at its witness. An answer that they",
        "contradict is wrong.",
    ]
    lines += ["", f"These are the counts of a run at {commits}."] if commits else []
    for part, counts in sorted(known.items()):
        totals: Counter[str] = Counter()
        for row in counts.values():
            totals.update(row)
        others = [f"{n} {what}" for what, n in totals.most_common() if what not in COLUMNS]
        lines += ["", f"## {part}", "", "| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
        lines.append("| all | " + " | ".join(str(totals[c]) for c in COLUMNS) + " |")
        for subject, row in sorted(counts.items()):
            if any(row.get(c) for c in COLUMNS):
                lines.append(f"| {subject} | " + " | ".join(str(row.get(c, 0)) for c in COLUMNS) + " |")
        if others:
            lines += ["", "Beside these: " + ", ".join(others) + "."]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(json.loads(Path(sys.argv[1]).read_text()), *sys.argv[2:3]))
