"""The time to declare one operation of symbolic shapes: ``python -m benchmarks.operations``.

Each row is an operation of ONNX, applied to the shapes of its example in ``docs/ops.md``, or one of `FORMS`: shapes as
models have them.  Each call gets tensors that are made anew, so it finds nothing that an earlier call computed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import symlayout as sl
from benchmarks.machine import machine
from symlayout.commands.output.ops_page import FRAMEWORK_EXAMPLES
from symlayout.frontends import registry
from symlayout.language.parse import evaluate, names_of, parse_shape, parse_step

GOAL = 50e-6
FORMS: tuple[tuple[str, str, str], ...] = (
    ("onnx:Conv", "N, C, H, W; M, C, 3, 3", ""),
    ("onnx:Conv", "N, C, H, W; M, C, 3, 3", "strides=(2, 2), pads=(1, 1, 1, 1)"),
    ("onnx:Conv", "N, C, H, W; M, C, 3, 3; M", "pads=(1, 1, 1, 1)"),
    ("onnx:Conv", "N, C, H, W; M, C, p, q", ""),
    ("onnx:Conv", "N, 64, H, W; 64, 1, 3, 3", "group=64, pads=(1, 1, 1, 1)"),
    ("onnx:MaxPool", "N, C, H, W", "kernel_shape=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1)"),
    ("onnx:MaxPool", "N, C, H, W", "kernel_shape=(3, 3)"),
    ("onnx:AveragePool", "N, C, H, W", "kernel_shape=(3, 3), strides=(2, 2)"),
    ("onnx:MatMul", "B, H, M, K; B, H, K, N", ""),
    ("onnx:MatMul", "B, M, K; J, N", ""),
    ("onnx:Gemm", "M, K; N, K", "transB=1"),
    ("onnx:Add", "N, C, H, W; N, C, H, W", ""),
    ("onnx:Add", "N, C, H, W; C, 1, 1", ""),
    ("onnx:Softmax", "N, 8, S, T", "axis=3"),
    ("onnx:Transpose", "N, H, W, C", "perm=(0, 3, 1, 2)"),
    ("onnx:Reshape", "N, S, 64", "shape=(0, 0, 8, 8)"),
    ("onnx:Concat", "N, C, H, W; N, D, H, W", "axis=1"),
)
"""Operations, the shapes of their inputs, and their attributes."""

Row = tuple[str, str, str]


def rows() -> list[Row]:
    """Return the operations of ONNX that have an example with a dim, then `FORMS`."""
    examples = [(name, *FRAMEWORK_EXAMPLES[name]) for name in registry.names() if name.startswith("onnx:")]
    return [row for row in examples if re.search("[A-Za-z]", row[1])] + list(FORMS)


def call_of(row: Row) -> tuple[Callable[[], list[sl.Tensor]], Callable[[list[sl.Tensor]], Any]]:
    """Return a function that makes the inputs of a row, and one that applies the operation to them."""
    name, shapes, attributes = row
    step = parse_step(f"{name}({attributes})")
    entries = [parse_shape(text) for text in shapes.split("; ")]
    trees = [*(e for each in entries for e in each), *(tree for _, tree in step.keywords)]
    dims: Mapping[str, Any] = {n: sl.dim(n, *limits) for n, limits in names_of(*trees).items()}
    texts = [tuple(evaluate(e, dims) for e in each) for each in entries]
    given = {key: evaluate(tree, dims) for key, tree in step.keywords}
    function, joint = registry.find(name), registry.is_joint(name)

    def inputs() -> list[sl.Tensor]:
        return [sl.tensor(shape, name=f"x{k}") for k, shape in enumerate(texts)]

    def applied(xs: list[sl.Tensor]) -> Any:
        return function(xs, **given) if joint else function(*xs, **given)

    return inputs, applied


def python_calls(call: Callable[[], Any]) -> int:
    """Return the number of Python functions that *call* calls."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count - 1


def measure(chosen: list[Row], rounds: int) -> dict[Row, tuple[float, int]]:
    """Return the median time of each row over so many rounds, in which the rows take turns, and its Python calls."""
    calls = {row: call_of(row) for row in chosen}
    counts = {}
    for row, (inputs, applied) in calls.items():
        applied(inputs())
        xs = inputs()
        counts[row] = python_calls(lambda applied=applied, xs=xs: applied(xs))  # type: ignore[misc]
    times: dict[Row, list[float]] = {row: [] for row in chosen}
    for _ in range(rounds):
        for row, (inputs, applied) in calls.items():
            for _ in range(3):  # the first call after other operations finds the caches of the processor cold
                xs = inputs()
                start = time.perf_counter()
                applied(xs)
                seconds = time.perf_counter() - start
            times[row].append(seconds)
    return {row: (median(times[row]), counts[row]) for row in chosen}


def main(words: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operations", description=__doc__)
    parser.add_argument("--rows", metavar="PATTERN", default="", help="a regular expression of operations")
    parser.add_argument("--rounds", type=int, default=41, help="how often each row is timed (default: 41)")
    arguments = parser.parse_args(words)
    chosen = [row for row in rows() if re.search(arguments.rows, row[0])]
    measured = measure(chosen, arguments.rounds)
    print(f"{machine()}\n")
    print("| us | Python calls | operation | inputs | attributes |\n|---|---|---|---|---|")
    for row, (seconds, count) in sorted(measured.items(), key=lambda item: -item[1][0]):
        print(f"| {seconds * 1e6:.1f} | {count} | {' | '.join(row)} |")
    listed = [seconds for row, (seconds, _) in measured.items() if row not in FORMS]
    if listed:
        over = sum(seconds > GOAL for seconds in listed)
        print(f"\n{len(listed)} operations: median {median(listed) * 1e6:.1f} us, {over} over {GOAL * 1e6:.0f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
