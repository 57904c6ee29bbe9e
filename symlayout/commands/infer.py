"""Print the output shape, its requirements with the steps that state them, and the bounds of each extent.

for example:
  symlayout infer "N,C,2*h,2*w" "onnx:SpaceToDepth(blocksize=2)" "transpose(0,2,3,1)"
  symlayout infer "1..8, 3, ?, 224" "[:, ::-1]" --json
  symlayout infer "N,H,W,C" "space_to_batch([2,2], [[1,1],[1,1]])" --solve "8,5,?,3"
  symlayout infer model.xml --html model.html
  symlayout infer model.onnx --all --write with_shapes.onnx
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.output import model_table
from symlayout.commands.output.page_option import add_html, write_html
from symlayout.commands.output.report import Report, columns, exit_status
from symlayout.errors import FormatError, one_line
from symlayout.models.write_onnx import DATA, write_shapes
from symlayout.show import wording
from symlayout.tensors.requirements import origins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument(
        "--solve", metavar="SHAPE", help="find the input shapes that give this output shape; ? is any extent"
    )
    parser.add_argument("--all", action="store_true", help="list every value of a MODEL, not only inputs and outputs")
    parser.add_argument("--write", metavar="OUT", help="write a MODEL of ONNX with the shapes of its values")
    parser.add_argument(
        "--data",
        choices=DATA,
        default="copy",
        help="constants in other files, if OUT is in another folder: copied beside it, or found where they are",
    )
    add_html(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Return the shape, its requirements and bounds; for a model those of its values."""
    if _is_whole_model(arguments):
        return _of_model(arguments)
    if arguments.all or arguments.write or arguments.html:
        raise FormatError("--all, --write and --html take a MODEL, without steps and without --output")
    texts, tensors = zip(*subject.trace(arguments), strict=True)
    t = tensors[-1]
    bounds = t.bounds()
    nodes = subject.demanding(arguments)
    steps = [name_of_step(k, text) if k else subject.name_of_start(tensors[0]) for k, text in enumerate(texts)]
    names = [*(name for name, _ in nodes), *steps]
    stages = [x.facts for x in (*(value for _, value in nodes), *tensors)]
    asked_by = [[names[k] for k in numbers] for numbers in origins(t.facts, stages)]
    requires = [f"{wording.words(r)}  [{'; '.join(by)}]" for r, by in zip(t.requires, asked_by, strict=True)]
    intervals = [f"axis {k}: {wording.interval(low, high)}" for k, (low, high) in enumerate(bounds)]
    rows = [
        ("shape", wording.shape(t.shape)),
        ("requires", "\n".join(requires) or "nothing"),
        ("bounds", "\n".join(intervals) or "no axes"),
    ]
    data = {**wording.facts(t), "bounds": [list(interval) for interval in bounds], "asked_by": asked_by}
    if notes := subject.notes(arguments):
        rows.append(("note", "\n".join(notes)))
        data["notes"] = list(notes)
    if arguments.solve is None:
        return Report(columns(rows), data)
    solution = sl.solve_shape(t, arguments.solve)
    rows += solution_rows(solution)
    return Report(columns(rows), {**data, "solve": solution_data(solution)}, exit_status(solution.status))


def _is_whole_model(arguments: argparse.Namespace) -> bool:
    """Return whether the command is about a model, and not about the chain that ends in one output."""
    words = arguments.subject
    if len(words) != 1 or not words[0].endswith(subject.MODELS) or arguments.output or arguments.solve:
        return False
    if arguments.all or arguments.write or arguments.html:
        return True
    outputs = sl.load(words[0]).values()
    return len(outputs) > 1 or any(t.rank is None for t in outputs)


def _of_model(arguments: argparse.Namespace) -> Report:
    model = sl.read_model(arguments.subject[0], dims=subject.parse_known(arguments.dim))
    text = model_table.table(model, every=arguments.all)
    if arguments.write:
        count = write_shapes(model, arguments.write, arguments.data)
        text += f"\nwrote     {count} shapes to {one_line(str(arguments.write), 4096)}"
    text += write_html(model, arguments.html, arguments.made_by, "\npage      ")
    first = next(iter(model.outputs.values()))
    bounds = first.bounds()
    found = {
        **wording.facts(first),
        "bounds": None if bounds is None else [list(interval) for interval in bounds],
        "asked_by": model.asked_by(first),
        "values": model_table.data(model, every=arguments.all),
        "notes": list(model.notes),
    }
    return Report(text, found)


def name_of_step(number: int, text: str) -> str:
    """Return the name of a step in answers: its number in the chain, and its text without the arguments."""
    return f"step {number}: {text.partition('(')[0].partition('[')[0] or 'index'}"


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
