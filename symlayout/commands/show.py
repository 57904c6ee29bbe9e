"""Print the index map, its digits, and a picture for small dims.

For each output element, the picture has the row-major number of the element that it reads, or a dot for
a fill. Dims that are not given get small values. With --svg the picture is also written to a file, with
the chain and the loops; --at marks one output element and the element that it reads.

A MODEL that computes, or has several outputs, is shown as the graph of what moves and what computes:
constants and computed shapes are left out, what moves from one value to another is one box, and parts
that repeat are drawn once. --output shows the map of one output instead.

for example:
  symlayout show "N,C,2*h,2*w" "space_to_depth(2)"
  symlayout show "1,H,W,1" "space_to_batch([2,2], [[1,1],[1,1]])" --dims H=4,W=4 --svg map.svg
  symlayout show "H,W" "transpose()" --dims H=3,W=4 --at 3,1 --svg map.svg --json
  symlayout show model.onnx --svg graph.svg
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.output.report import Report, columns
from symlayout.errors import FormatError, InconclusiveError, one_line
from symlayout.models.model import Model
from symlayout.reports import model_outline
from symlayout.show import wording
from symlayout.show.picture import assignments, picture
from symlayout.show.read_numbers import cells
from symlayout.show.whole_file import write_file
from symlayout.tensors.chain import Tensor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument(
        "--dims", metavar="NAME=INT,...", help="values of dims, for example H=4,W=6; the others are chosen"
    )
    parser.add_argument("--svg", metavar="FILE", type=Path, help="also draw the picture into FILE")
    parser.add_argument("--at", metavar="I,J,...", help="an output coordinate to mark in the SVG")


def run(arguments: argparse.Namespace) -> Report:
    """Return the map, its digits and the picture."""
    arguments.subject = subject.expand(arguments.subject)  # so that the SVG's metadata has the words of standard input
    if (model := _whole_model(arguments)) is not None:
        return _of_model(model, arguments)
    (t,) = subject.read(arguments)
    given = subject.parse_dims(arguments.dims)
    subject.check_dims(t, given)
    at = None if arguments.at is None else subject.parse_coordinate(arguments.at)
    drawn = picture(t, given, at, made_by=_command(arguments))
    digits, reason = _digits(t)
    chosen = assignments(drawn.dims)
    rows = [
        ("shape", wording.shape(t.shape)),
        ("requires", "\n".join(map(wording.words, t.requires)) or "nothing"),
        ("map", str(t.index_map)),
        ("digits", reason or "\n".join(digits)),
        ("picture", (f"{chosen}\n" if chosen else "") + drawn.text),
    ]
    seen = cells(t.subs(drawn.dims))
    data = {
        **wording.facts(t),
        "index_map": str(t.index_map),
        "digits": digits,
        "dims": drawn.dims,
        "picture": seen.numbers.clip(-1).tolist(),
        "shown": [list(axis) for axis in seen.output.axes],
    }
    if arguments.svg:
        write_file(arguments.svg, drawn.svg.encode("utf-8"))
        rows.append(("drawn", one_line(str(arguments.svg), 4096)))
        data["svg"] = str(arguments.svg)
    return Report(columns(rows), data)


def _whole_model(arguments: argparse.Namespace) -> Model | None:
    """Return the model that is shown as a graph; None if the command is about the map of a tensor."""
    words = arguments.subject
    if len(words) != 1 or not words[0].endswith(subject.MODELS) or arguments.output:
        return None
    model = sl.read_model(words[0], subject.parse_known(arguments.dim))
    if len(model.outputs) == 1 and all(isinstance(t, Tensor) and not t.computes for t in model.outputs.values()):
        return None
    if arguments.dims or arguments.at or arguments.dtype:
        raise FormatError("--dims, --at and --dtype take the map of a tensor\n  help: name an output with --output")
    return model


def _of_model(model: Model, arguments: argparse.Namespace) -> Report:
    """Return the graph of a model."""
    graph = model_outline.outline(model)
    data = dict(model_outline.data(graph))
    rows = [
        ("inputs", "\n".join(f"{name} {wording.shape(t.shape)}" for name, t in model.inputs.items()) or "none"),
        ("outputs", "\n".join(f"{name} {wording.shape(t.shape)}" for name, t in model.outputs.items())),
        ("graph", model_outline.text(graph)),
    ]
    if arguments.svg:
        drawn = model_outline.picture(model, graph, made_by=_command(arguments))
        write_file(arguments.svg, drawn.encode("utf-8"))
        rows.append(("drawn", one_line(str(arguments.svg), 4096)))
        data["svg"] = str(arguments.svg)
    return Report(columns(rows), data)


def _digits(t: Tensor) -> tuple[list[str], str]:
    """Return the digits of *t*, and ""; or no digits, and why there are none."""
    try:
        return wording.digits(t), ""
    except InconclusiveError as error:
        return [], f"none: {str(error).splitlines()[0]}"


def _command(arguments: argparse.Namespace) -> str:
    """Return the command line that draws the picture again."""
    known = [word for value in arguments.dim for word in ("--dim", value)]
    options = {"--dtype": arguments.dtype, "--output": arguments.output, "--dims": arguments.dims, "--at": arguments.at}
    given = [word for name, value in options.items() if value for word in (name, value)]
    return shlex.join(["symlayout", "show", *arguments.subject, *known, *given, "--svg", str(arguments.svg)])
