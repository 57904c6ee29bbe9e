"""Compute a chain on arrays, by a compiled kernel, or by NumPy where there is no compiler.

Arrays are .npy files; - is standard input or output. Arrays larger than --memory are computed block by block.
After an error, the output file is unchanged.

for example:
  symlayout run "N,C,2*h,2*w" "space_to_depth(2)" -i image.npy -o blocks.npy
  symlayout run "N,H,W,C" "batch_to_space([b,b], [[0,0],[0,0]])" --dims b=2 -i a.npy -o b.npy
  symlayout run model.xml -i input.npy -o output.npy
  symlayout run "N,C,H,W" "transpose(0,2,3,1)" -i image.npy -o nhwc.npy --memory 1GB
  symlayout run "K,N" "transpose(1,0)" --dtype uint4x2 -i weights.npy -o turned.npy
"""

from __future__ import annotations

import argparse
import io
import math
import sys
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.output.report import Report
from symlayout.errors import ArrayError, FormatError, one_line
from symlayout.interop.chunked import apply_chunked, bytes_of
from symlayout.show.whole_file import write_with
from symlayout.tensors.bind_dims import bind_shapes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument(
        "-i", "--input", action="append", required=True, metavar="FILE",
        help="the array of an input; repeat -i for each input, in order of first use",
    )  # fmt: skip
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the file for the result")
    parser.add_argument("--dims", metavar="NAME=INT,...", help="dims that the arrays do not determine")
    parser.add_argument(
        "--memory", metavar="SIZE", default="256MB", help="the most bytes of arrays at a time (default: 256MB)"
    )
    parser.add_argument("--strict", action="store_true", help="fail if no kernel can be compiled")


def run(arguments: argparse.Namespace) -> Report:
    """Compute the result and write it."""
    if (arguments.subject + arguments.input).count("-") > 1:
        raise argparse.ArgumentError(None, "standard input can stand for one thing only")
    storage = subject.elements(arguments)
    (t,) = subject.read(arguments)
    arrays = [_load(path) for path in arguments.input]
    arrays = [_typed(a, leaf.dtype) for a, leaf in zip(arrays, t.leaves(), strict=False)] + arrays[len(t.leaves()) :]
    dims, memory = subject.parse_dims(arguments.dims), bytes_of(arguments.memory)
    if arguments.out != "-" and len(arrays) == len(t.leaves()) and sum(array.nbytes for array in arrays) > memory:
        if storage.halves:
            raise ArrayError(f"arrays of {storage} are not computed in blocks\n  help: allow a larger --memory")
        return _in_blocks(t, arrays, dims, arguments)
    kernel = sl.compile(t, dtype=str(storage) if storage.halves else None, strict=arguments.strict)
    result = kernel(*arrays, dims=dims)
    data = {"shape": list(result.shape), "dtype": str(result.dtype), "out": arguments.out}
    if arguments.out == "-":
        if arguments.json:
            raise argparse.ArgumentError(None, "--json and -o - would share standard output")
        stream = io.BytesIO()  # NumPy asks a file for its position; a pipe has none
        np.lib.format.write_array(stream, result, allow_pickle=False)
        sys.stdout.buffer.write(stream.getbuffer())
        return Report("", data)
    write_with(Path(arguments.out), lambda file: np.lib.format.write_array(file, result, allow_pickle=False))
    return Report(f"wrote {arguments.out}: {result.dtype} {result.shape}", data)


def _in_blocks(t: sl.Tensor, arrays: list[Any], dims: dict[str, int], arguments: argparse.Namespace) -> Report:
    """Compute the result from mapped files to a file, block by block."""
    shape = t.bind(bind_shapes(t, [array.shape for array in arrays], dims)).shape
    dtype = arrays[0].dtype

    def write(file: BinaryIO) -> None:
        descr = np.lib.format.dtype_to_descr(dtype)
        np.lib.format.write_array_header_2_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        begin = file.tell()
        file.truncate(begin + math.prod(shape) * dtype.itemsize)
        if 0 not in shape:
            out = np.memmap(file, dtype, "r+", begin, shape)
            apply_chunked(
                t, *arrays, out=out, dims=dims, memory=arguments.memory, progress=None, strict=arguments.strict
            )
            out.flush()

    write_with(Path(arguments.out), write)
    data = {"shape": list(shape), "dtype": str(dtype), "out": arguments.out}
    return Report(f"wrote {arguments.out}: {dtype} {shape}", data)


def _typed(array: Any, declared: np.dtype[Any] | None) -> Any:
    """Return an array of raw bytes with its declared type: .npy files keep no name for types such as bfloat16."""
    if declared is None or array.dtype.kind != "V" or array.dtype.names or array.itemsize != declared.itemsize:
        return array
    return array.view(declared)


_OF_A_HEADER = (  # what NumPy raises as it parses one, and makes an array of that shape
    ValueError, EOFError, SyntaxError, TokenError, RecursionError, MemoryError, TypeError, ArithmeticError,
)  # fmt: skip


def _load(path: str) -> Any:
    """Return the array of the .npy file *path*, mapped unless it is standard input.  Nothing is unpickled."""
    try:
        with np.errstate(over="raise"):  # of the product of the extents
            if path == "-":
                return np.lib.format.read_array(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
            return np.lib.format.open_memmap(path, mode="r")
    except _OF_A_HEADER as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(f"{one_line(path, 4096)} is not a .npy array: {reason}") from None
