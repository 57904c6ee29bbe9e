"""Write docs/onnx.md: how many of ONNX's node tests pass.

python -m tests.onnx_nodes > docs/onnx.md
"""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version

from tests import onnx_nodes
from tests.onnx_nodes.against_onnxruntime import DIFFERENCES


def page() -> str:
    """Return the page."""
    counts = Counter(onnx_nodes.outcome(case) for module in onnx_nodes.modules() for case in onnx_nodes.cases(module))
    lines = [
        "# ONNX's operators",
        "",
        "Written by `python -m tests.onnx_nodes`. The package `onnx` brings tests of nodes: a small graph, its inputs",
        f"and its outputs. These are the counts of version {version('onnx')}. A value is right within the tolerance",
        "that its test states. In a few chains of 16-bit operators it is beyond that, by at most two units of the last",
        "place. Where an operator has a shape and no function, or is random, only the shape is compared. Inputs called",
        "`shape` are taken as constants.",
        "",
        "| outcome | tests |",
        "|---|---|",
        f"| shape and value right | {counts.pop('value')} |",
        f"| shape right, value beyond the tolerance by rounding | {counts.pop('rounded')} |",
        f"| shape right, the value is random or not declared | {counts.pop('shape')} |",
        f"| shape right in the whole model, whose subgraphs have no value | {counts.pop('model')} |",
    ]
    lines += [f"| not run: {reason} | {count} |" for reason, count in counts.most_common()]
    lines += [
        "",
        "`python -m tests.onnx_nodes.against_onnxruntime` compares random nodes with onnxruntime. It differs from ours",
        "in:",
        "",
        "| case | symlayout | onnxruntime | others |",
        "|---|---|---|---|",
        *(f"| {what} | {' | '.join(answers)} |" for what, (_, *answers) in DIFFERENCES.items()),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page())
