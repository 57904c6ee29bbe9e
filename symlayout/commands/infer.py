"""Print the output shape, its requirements with the steps that state them, and the bounds of each extent.

for example:
  symlayout infer "N,C,2*h,2*w" "onnx:SpaceToDepth(blocksize=2)" "transpose(0,2,3,1)"
  symlayout infer "1..8, 3, ?, 224" "[:, ::-1]" --json
  symlayout infer "N,H,W,C" "space_to_batch([2,2], [[1,1],[1,1]])" --solve "8,5,?,3"
  symlayout infer model.xml
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.output.report import Report, columns
from symlayout.show import wording
from symlayout.tensors.requirements import origins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument(
        "--solve", metavar="SHAPE", help="find the input shapes that give this output shape; ? is any extent"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Return the shape, its requirements and bounds."""
    stages = subject.trace(arguments)
    texts, tensors = zip(*stages, strict=True)
    t = tensors[-1]
    bounds = t.bounds()
    asked_by = [
        [name_of_step(k, texts[k]) for k in numbers] for numbers in origins(t.facts, [x.facts for x in tensors])
    ]
    requires = [f"{wording.words(r)}  [{'; '.join(steps)}]" for r, steps in zip(t.requires, asked_by, strict=True)]
    intervals = [f"axis {k}: {wording.interval(low, high)}" for k, (low, high) in enumerate(bounds)]
    rows = [
        ("shape", wording.shape(t.shape)),
        ("requires", "\n".join(requires) or "nothing"),
        ("bounds", "\n".join(intervals) or "no axes"),
    ]
    data = {**wording.facts(t), "bounds": [list(interval) for interval in bounds], "asked_by": asked_by}
    if arguments.solve is None:
        return Report(columns(rows), data)
    solution = sl.solve_shape(t, arguments.solve)
    rows += solution_rows(solution)
    solved = solution.status in (sl.Status.UNIQUE, sl.Status.FAMILY)
    return Report(columns(rows), {**data, "solve": solution_data(solution)}, solved)


def name_of_step(number: int, text: str) -> str:
    """Return the name of a step in answers: its number in the chain, and its text without the arguments."""
    return f"step {number}: {text.partition('(')[0].partition('[')[0] or 'index'}" if number else "the input"


def solution_rows(solution: sl.Solution) -> list[tuple[str, str]]:
    """Return a solution as rows of text."""
    rows = [("solve", solution.status.value + (f": {solution.reason}" if solution.reason else ""))]
    rows += [(name, wording.shape(extents)) for name, extents in solution.inputs.items()]
    values = [f"{dim} = {value}" for dim, value in solution.dims.items() if dim != value]
    if values:
        rows.append(("where", "\n".join(values)))
    if solution.relations:
        rows.append(("if", "\n".join(map(wording.words, solution.relations))))
    return rows


def solution_data(solution: sl.Solution) -> Mapping[str, Any]:
    """Return a solution as JSON data."""
    points = solution.points
    return {
        "status": solution.status.value,
        "dims": {str(dim): value if isinstance(value, int) else str(value) for dim, value in solution.dims.items()},
        "relations": [wording.relation(r) for r in solution.relations],
        "points": None if points is None else [{str(dim): n for dim, n in point.items()} for point in points],
        "inputs": {
            name: [e if isinstance(e, int) else str(e) for e in extents] for name, extents in solution.inputs.items()
        },
        "reason": solution.reason,
    }
