"""Trace one element from the output to the input, or print the reason of each requirement.

With --at, the answer follows an output coordinate through each step to the input element that it reads,
or to a fill. Without --at, it lists each requirement with the step that states it, the rule behind it,
and small sizes that break it. Dims that are not given get small values.

for example:
  symlayout explain "N,H,W,C" "space_to_batch([2,2], [[1,1],[1,1]])" "transpose(0,3,1,2)" --at 3,0,1,1
  symlayout explain "H,W" "pad(1)" "flip(0)" --at 0,2 --dims H=4,W=4
  symlayout explain "N,C,H,W" "onnx:SpaceToDepth(blocksize=2)" "reshape(N,-1,6)"
  symlayout explain model.xml --at 0,1,0,2 --json
"""

from __future__ import annotations

import argparse
from typing import Any

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.output.report import Report, columns
from symlayout.show import wording
from symlayout.show.picture import assignments
from symlayout.show.trace_element import number_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument("--at", metavar="I,J,...", help="the output coordinate to follow; '' for a scalar")
    parser.add_argument(
        "--dims", metavar="NAME=INT,...", help="values of dims, for example H=4,W=6; the others are chosen"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Return a trace of one element, or the reasons of the requirements."""
    stages = subject.trace(arguments)
    if arguments.at is None:
        if arguments.dims:
            raise argparse.ArgumentError(None, "--dims is for the trace of an element: give --at too")
        return requirements(stages, subject.demanding(arguments))
    return walk(stages, subject.parse_coordinate(arguments.at), subject.parse_dims(arguments.dims))


def walk(stages: list[tuple[str, sl.Tensor]], at: tuple[int, ...], dims: dict[str, int]) -> Report:
    """Return the trace of the element at *at*; *stages* has the text of each step and the tensor after it."""
    t = stages[-1][1]
    subject.check_dims(t, dims)
    found = sl.trace(t, at, dims)
    labels = {}
    nodes = t.nodes()
    for number, (text, after) in reversed(list(enumerate(stages))):
        for node in after.nodes():
            place = next((k for k, other in enumerate(nodes) if other is node), None)
            if place is not None and text:
                labels[place] = f"step {number}, {_step_name(text, node.name)}"
            elif place is not None:
                labels.pop(place, None)
    leaves = {leaf.name: leaf for leaf in t.leaves()}
    data: dict[str, Any] = {
        "dims": found.dims,
        "shape": list(found.shape),
        "at": list(found.coord),
        "steps": [
            {
                "step": labels.get(step.number, step.name), "operation": step.name,
                "shape": list(step.shape), "at": list(step.coord),
                "source": step.source, "source_shape": list(step.source_shape), "reads": list(step.read),
                "map": step.formula, "values": step.values, "where": step.where, "outside": step.outside,
            }
            for step in found.steps
        ],
        "source": found.source,
        "reads": None if found.read is None else list(found.read),
        "number": None,
        "fill": None if found.source is not None else str(found.fill),
    }  # fmt: skip
    lines = found.lines(labels)
    if found.source is not None:
        shape = found.steps[-1].source_shape if found.steps else found.shape
        data["number"] = number_of(found, shape)
        lines[-1] += f", element {data['number']} of {leaves[found.source].name} in row-major order"
    return Report("\n".join(lines), data)


def requirements(stages: list[tuple[str, sl.Tensor]], nodes: list[tuple[str, sl.Tensor]]) -> Report:
    """Return the reason of each requirement of the last stage; *nodes* are those of a model before the first one."""
    texts, tensors = zip(*stages, strict=True)
    blocks, data = [], []
    for reason in sl.reasons(tensors[-1], (*(value for _, value in nodes), *tensors)):
        steps = [
            nodes[k][0]
            if k < len(nodes)
            else f"step {k - len(nodes)}, {_step_name(texts[k - len(nodes)], reason.operation)}"
            if k > len(nodes)
            else subject.name_of_start(tensors[0])
            for k in reason.stages
        ]
        rows = [("asked by", "; ".join(steps)), ("because", reason.rule)]
        if reason.breaks:
            rows.append(("else", f"{assignments(reason.breaks)}: {reason.message}"))
        rows.append(("error", f"ShapeError ({reason.kind})"))
        lines = (f"  {r}" for r in columns(rows).splitlines())
        blocks.append("\n".join((wording.words(reason.relation), *lines)))
        data.append(
            {
                "requires": wording.relation(reason.relation),
                "words": wording.words(reason.relation),
                "asked_by": steps,
                "kind": reason.kind,
                "because": reason.rule,
                "breaks": reason.breaks,
                "message": reason.message,
            }
        )
    return Report("\n\n".join(blocks) or "no requirements: every size is valid", {"requires": data})


def _step_name(text: str, operation: str) -> str:
    """Return the name of a step as it was typed, with the core operation behind it."""
    typed = text.partition("(")[0].partition("[")[0] or "index"
    return typed if typed == operation else f"{typed} ({operation})"
