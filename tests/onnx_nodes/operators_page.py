"""Write the page that says how often each operator was compared, and with what.

python -m tests.onnx_nodes.operators_page counts.json > docs/operators-checked.md
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

_COLUMNS = {
    "both": ("onnxruntime and reference",),
    "onnxruntime": ("onnxruntime",),
    "reference": ("reference",),
    "shape and type only": ("shape of onnxruntime and reference", "shape of onnxruntime", "shape of reference"),
    "undecided": ("undecided",),
    "wrong": ("wrong",),
}


def page(counts: dict[str, dict[str, int]]) -> str:
    """Return the page with the counts of the part ``operators``, one row for each operator."""
    rows: dict[str, tuple[list[int], Counter[str]]] = {}
    for subject, row in counts.items():
        op, _, version = subject.rpartition("-")
        if not version.isdigit():
            continue  # what ends a process, or takes too long
        versions, total = rows.setdefault(op, ([], Counter()))
        compared = {name: sum(row.get(outcome, 0) for outcome in outcomes) for name, outcomes in _COLUMNS.items()}
        if any(compared.values()):
            versions.append(int(version))
        total.update(compared)
    shown = {op: row for op, row in rows.items() if row[0]}
    totals: Counter[str] = Counter()
    for _, total in shown.values():
        totals.update(total)
    pairs = sum(len(versions) for versions, _ in shown.values())
    lines = [
        "# Operators, version by version",
        "",
        "Written by `python -m tests.onnx_nodes.operators_page counts.json`, from the counts of",
        "`python -m tests.attack.operators --counts counts.json`. A case is a model of one node: an operator in one of",
        "its versions since opset 7, with drawn attributes, inputs that are left out, element types and outputs. Our",
        "shape, element type and elements stand beside those of onnxruntime without its optimisation and of the",
        "reference evaluator of the package `onnx`; each column says with which of them a result agrees. Cases that",
        "the standard leaves open are undecided: `UNDECIDED` in that module names them. What no runtime runs is not",
        "counted.",
        "",
        f"{pairs} pairs of an operator and a version were compared, in {sum(totals.values())} cases.",
        "",
        "| operator | versions | " + " | ".join(_COLUMNS) + " |",
        "|---" * (len(_COLUMNS) + 2) + "|",
        "| all | | " + " | ".join(str(totals[c]) for c in _COLUMNS) + " |",
    ]
    for op, (versions, total) in sorted(shown.items()):
        numbers = ", ".join(map(str, sorted(versions)))
        lines.append(f"| {op} | {numbers} | " + " | ".join(str(total[c]) for c in _COLUMNS) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(json.loads(Path(sys.argv[1]).read_text())["operators"]))
