"""Write a model with less movement, proved to compute the same for all sizes and all inputs.

Transposes that cancel go, and what several moves spell becomes one operation. What is not proved is not done.

for example:
  symlayout optimize model.onnx -o smaller.onnx --svg changes.svg
  symlayout optimize model.onnx -o smaller.onnx --html report.html
  symlayout optimize model.onnx -o smaller.onnx --layout NCHW --json
"""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

import symlayout as sl
from symlayout.commands.output.page_option import add_html, write_html
from symlayout.commands.output.report import Report
from symlayout.errors import one_line
from symlayout.models.write_onnx import DATA
from symlayout.optimize_models.crossings.layouts import LAYOUTS
from symlayout.proof.laws import LAWS
from symlayout.show.whole_file import write_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("model", metavar="MODEL", help="the model, an .onnx")
    parser.add_argument("-o", "--out", metavar="OUT", required=True, help="the .onnx to write")
    parser.add_argument(
        "--data",
        choices=DATA,
        default="copy",
        help="constants in other files, if OUT is in another folder: copied beside it, or found where they are",
    )
    parser.add_argument(
        "--svg", metavar="FILE", type=Path, help="write a picture of what was changed, before and after"
    )
    parser.add_argument(
        "--certificates", metavar="FILE", type=Path, help="write the report as JSON, with the proof of each rewrite"
    )
    parser.add_argument(
        "--kernels",
        metavar="DIR",
        type=Path,
        help="let C kernels move what several operators would: write them, and a library for onnxruntime, to DIR",
    )
    parser.add_argument("--layout", choices=LAYOUTS, help="the layout to carry the whole network to")
    parser.add_argument(
        "--law", metavar="LAW", action="append", default=[], choices=LAWS, help="a law that may be used: %(choices)s"
    )
    add_html(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Return what was changed, with the costs before and after."""
    optimized = sl.optimize(
        arguments.model,
        layout=arguments.layout,
        laws=arguments.law,
        kernels=arguments.kernels is not None,
        time_limit=arguments.time_limit,
    )
    optimized.save(arguments.out, arguments.data)
    text = f"{optimized.report}\nwrote {one_line(str(arguments.out), 4096)}"
    if arguments.kernels:
        files = optimized.kernel_files(_command(arguments))
        for name, content in files.items():
            path = arguments.kernels / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, content.encode("ascii"))
            text += f"\nwrote {one_line(str(path), 4096)}"
        text += "" if files else "\nno region needs a kernel: no file was written"
    if arguments.svg:
        drawn = optimized.report.svg(Path(arguments.model).name, made_by=_command(arguments))
        write_file(arguments.svg, drawn.encode("utf-8"))
        text += f"\nwrote {one_line(str(arguments.svg), 4096)}"
    text += write_html(optimized, arguments.html, arguments.made_by)
    if arguments.certificates:
        data = json.dumps(optimized.report.to_json(certificates=True), indent=1)
        write_file(arguments.certificates, data.encode("utf-8"))
        text += f"\nwrote {arguments.certificates}"
    return Report(text, {**optimized.report.to_json(), "out": arguments.out})


def _command(arguments: argparse.Namespace) -> str:
    """Return the command line that draws the picture again."""
    options = [("-o", arguments.out), ("--layout", arguments.layout), *(("--law", law) for law in arguments.law)]
    given = [word for name, value in options if value for word in (name, value)]
    given += [
        word for name in ("kernels", "svg") if (value := getattr(arguments, name)) for word in (f"--{name}", str(value))
    ]
    return shlex.join(["symlayout", "optimize", arguments.model, *given])
