"""Compute a chain on arrays: one compiled kernel, or NumPy where there is no compiler.

Arrays are .npy files; - is standard input or output.  The result is written whole or not at all.

for example:
  symlayout run "N,C,2*h,2*w" "space_to_depth(2)" -i image.npy -o blocks.npy
  symlayout run "N,H,W,C" "batch_to_space([b,b], [[0,0],[0,0]])" --dims b=2 -i a.npy -o b.npy
  symlayout run model.xml -i input.npy -o output.npy
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.report import Report
from symlayout.errors import FormatError
from symlayout.write import write_with


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument(
        "-i", "--input", action="append", required=True, metavar="FILE",
        help="an input array; again for each further input, in order of first use",
    )  # fmt: skip
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="where the result goes")
    parser.add_argument("--dims", metavar="NAME=INT,...", help="dims that the arrays do not determine")
    parser.add_argument("--strict", action="store_true", help="fail where no kernel can be compiled")


def run(arguments: argparse.Namespace) -> Report:
    """Run."""
    if (arguments.subject + arguments.input).count("-") > 1:
        raise argparse.ArgumentError(None, "standard input can stand for one thing only")
    (t,) = subject.read(arguments)
    arrays = [_load(path) for path in arguments.input]
    kernel = sl.compile(t, strict=arguments.strict)
    result = kernel(*arrays, dims=subject.parse_dims(arguments.dims))
    data = {"shape": list(result.shape), "dtype": str(result.dtype), "out": arguments.out}
    if arguments.out == "-":
        if arguments.json:
            raise argparse.ArgumentError(None, "--json and -o - would share standard output")
        stream = io.BytesIO()  # NumPy asks a file for its position, which a pipe has not
        np.lib.format.write_array(stream, result, allow_pickle=False)
        sys.stdout.buffer.write(stream.getbuffer())
        return Report("", data)
    write_with(Path(arguments.out), lambda file: np.lib.format.write_array(file, result, allow_pickle=False))
    return Report(f"wrote {arguments.out}: {result.dtype} {result.shape}", data)


def _load(path: str) -> Any:
    """Return the array in the .npy file *path*, mapped where it is a file; nothing is unpickled."""
    try:
        if path == "-":
            return np.lib.format.read_array(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
        return np.lib.format.open_memmap(path, mode="r")
    except (
        ValueError,
        EOFError,
        SyntaxError,
        TokenError,
        RecursionError,
        MemoryError,
    ) as error:  # numpy parses a header
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(f"{path} is not a .npy array: {reason}") from None
