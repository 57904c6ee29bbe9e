"""Counts by part and operator, kept in a JSON file, and the page of the documentation that shows them.

python -m tests.attack.page counts.json > docs/attack.md
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from tests.attack.tally import Tally

COLUMNS = ("PROVED", "REFUTED", "UNKNOWN", "wrong")


def add(path: Path, part: str, tally: Tally) -> None:
    """Add the counts of a part to those of a file, which is made if it is not there."""
    known = json.loads(path.read_text()) if path.exists() else {}
    counts = known.setdefault(part, {})
    for (subject, outcome), count in tally.counts.items():
        row = counts.setdefault(subject, {})
        row[outcome] = row.get(outcome, 0) + count
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def page(known: dict[str, dict[str, dict[str, int]]]) -> str:
    """Return the page with these counts."""
    lines = [
        "# Attacks on verdicts",
        "",
        "Written by `python -m tests.attack.page counts.json`, from the counts that `make attack` adds to that file.",
        "Each part makes claims about small models without end, true and false ones side by side, and asks",
        "`symlayout.verify`. onnxruntime without its optimisation and the reference evaluator of the package `onnx`",
        "judge each answer: PROVED at drawn sizes and special values, REFUTED at its witness. An answer that they",
        "contradict is wrong.",
    ]
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
    print(page(json.loads(Path(sys.argv[1]).read_text())))
