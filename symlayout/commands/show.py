"""Print the index map, the digits that it becomes, and a picture on small dims.

The picture shows for each output element the number of the element that it reads, in row-major
order, and a dot where it is fill.  Dims that are not given are chosen small.

for example:
  symlayout show "N,C,2*h,2*w" "space_to_depth(2)"
  symlayout show "1,H,W,1" "space_to_batch([2,2], [[1,1],[1,1]])" --dims H=4,W=4 --svg map.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

from symlayout import picture, show
from symlayout.commands import subject
from symlayout.commands.report import Report, columns
from symlayout.write import write_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument("--dims", metavar="NAME=INT,...", help="dims of the picture, for example H=4,W=6")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="also draw the picture to FILE")


def run(arguments: argparse.Namespace) -> Report:
    """Show."""
    (t,) = subject.read(arguments)
    digits = show.digits(t)
    rows = [
        ("shape", show.shape(t.shape)),
        ("requires", "\n".join(map(show.words, t.requires)) or "nothing"),
        ("map", str(t.index_map)),
        ("digits", "\n".join(digits)),
    ]
    data = {**show.facts(t), "index_map": str(t.index_map), "digits": digits}
    bound, dims = picture.small(subject.bind(t, arguments.dims))
    dims = subject.parse_dims(arguments.dims) | dims
    drawn = picture.cells(bound)
    chosen = ", ".join(f"{name} = {value}" for name, value in dims.items())
    rows.append((f"{'picture'}", (f"{chosen}\n" if chosen else "") + picture.text(drawn)))
    data |= {"dims": dims, "picture": drawn.numbers.tolist()}
    if arguments.svg:
        write_file(arguments.svg, picture.svg(drawn).encode("utf-8"))
        data["svg"] = str(arguments.svg)
    return Report(columns(rows), data)
