"""Time the kernel beside memcpy, NumPy and the other installed libraries that can compute the chain.

All results are first compared bit for bit. Then the kernel, memcpy and the others run in turns, in rounds. For each
of them, the median time is printed, and the quartiles of its time divided by that of memcpy in the same round. Dims
that are not given get values for which the larger of input and output has about 1 MiB. An operation of a framework is
compared with that framework only.

for example:
  symlayout bench "N,C,2*h,2*w" "onnx:SpaceToDepth(blocksize=2)" --dtype uint8
  symlayout bench "N,H,W,C" "transpose(0,3,1,2)" --dims N=8,H=224,W=224,C=3 --peers numpy,torch
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.output.report import ExitStatus, Report, columns
from symlayout.commands.peers.program import Chain, Move
from symlayout.commands.peers.rivals import OF_FRAMEWORK, RIVALS, installed
from symlayout.commands.peers.task import Call, Task, agrees
from symlayout.commands.peers.timing import ratios, repeatedly, take_turns
from symlayout.errors import FormatError, ShapeError, shortened, shown
from symlayout.language.grammar_trees import ParsedStep
from symlayout.language.parse import evaluate, parse_step
from symlayout.show import small_sizes

TARGET_BYTES = 1 << 20  # of the larger of input and output, where the dims are chosen
LARGEST_BYTES = 1 << 32  # of the larger of input and output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument("--dims", metavar="NAME=INT,...", help="values of dims; the others are chosen")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds to spend on measuring (default: 2)")
    parser.add_argument(
        "--peers",
        metavar="NAME,...",
        help=f"the libraries to compare with: {', '.join(RIVALS)} (default: the installed ones)",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Return the times of the kernel and of the peers."""
    names = list(RIVALS) if arguments.peers is None else arguments.peers.split(",")
    if unknown := [name for name in names if name not in RIVALS]:
        raise FormatError(f"--peers: {shown(unknown[0])} is not a peer\n  known: {', '.join(RIVALS)}")
    arguments.subject = subject.expand(arguments.subject)
    (t,) = subject.read(arguments)
    dtype = np.dtype(np.float32) if t.dtype is None else t.dtype
    dims = subject.parse_dims(arguments.dims)
    bound, chosen = enlarged(subject.bind(t, arguments.dims), dtype.itemsize)
    dims |= chosen
    if (needed := _bytes(bound, dtype.itemsize)) > LARGEST_BYTES:
        raise ShapeError(f"the input or the output has {needed} bytes, more than {LARGEST_BYTES}", "overflow")
    (leaf, *more) = bound.leaves()
    if more:
        raise ShapeError(f"bench takes chains of one input, not {1 + len(more)}", "length_mismatch")
    source = np.random.default_rng(0).integers(0, 100, leaf.shape).astype(dtype)
    kernel = sl.compile(t, strict=True)
    result = np.empty(bound.shape, dtype)
    larger = max(source, result, key=lambda array: array.nbytes)
    spare = np.empty_like(larger)
    expected = sl.interpret(t, source, dims=dims)
    calls: dict[str, Call] = {
        "memcpy": lambda: np.copyto(spare, larger),
        "kernel": lambda: kernel(source, out=result, dims=dims),
        "interpreter": lambda: sl.interpret(t, source, dims=dims),
    }
    chain = _chain(arguments.subject, dims, bound.shape)
    if chain is not None:
        calls |= _peers(names, chain, Task(chain, source, result))
    differs = [name for name, call in calls.items() if name != "memcpy" and not agrees(call, result, expected)]
    times = take_turns(
        {name: repeatedly(call) for name, call in calls.items() if name not in differs},
        arguments.seconds,
        progress=_progress if sys.stderr.isatty() else None,
    )
    if sys.stderr.isatty():
        print("\r" + " " * 20 + "\r", end="", file=sys.stderr)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    spreads = ratios(times, "memcpy")
    lines = {name: f"{1e6 * seconds:10.1f} us" for name, seconds in medians.items()}
    rows = [
        ("shapes", f"{leaf.shape} -> {bound.shape}, {dtype}, {larger.nbytes} bytes"),
        *((name, f"{line}  {spreads[name]} x memcpy" if name in spreads else line) for name, line in lines.items()),
        *((name, "not timed: its result differs") for name in differs),
    ]
    data = {
        "input": list(leaf.shape), "output": list(bound.shape), "dtype": str(dtype), "bytes": larger.nbytes,
        "dims": dims, "differs": differs,
        "seconds": {
            name: {"median": medians[name], "least": min(taken), "rounds": len(taken)} for name, taken in times.items()
        },
    }  # fmt: skip
    return Report(columns(rows), data, ExitStatus.FAILS if "kernel" in differs else ExitStatus.HOLDS)


def enlarged(t: sl.Tensor, itemsize: int) -> tuple[sl.Tensor, dict[str, int]]:
    """Return *t* bound to dims for which the larger of input and output has about `TARGET_BYTES`, and the dims."""
    bound, values = small_sizes.small(t) if t.facts.dims else (t, {})
    growing = True
    while growing:
        growing = False
        for name in values:
            wider = values | {name: 2 * values[name]}
            try:
                candidate = t.subs(wider)
            except ShapeError:
                continue  # this dim has reached its bound
            if values[name] and _bytes(bound, itemsize) < _bytes(candidate, itemsize) <= TARGET_BYTES:
                bound, values, growing = candidate, wider, True
    return bound, values


def _bytes(t: sl.Tensor, itemsize: int) -> int:
    return max(int(prod(part.shape)) for part in (t, *t.leaves())) * itemsize


def _progress(rounds: int) -> None:
    print(f"\r{rounds} rounds ", end="", file=sys.stderr)


# --- peers -------------------------------------------------------------------------------------


def _chain(words: Sequence[str], dims: Mapping[str, int], shape: tuple[int, ...]) -> Chain | Move | None:
    """Return the chain of *words* for the peers.

    None for a model, and for several steps with an operation of a framework among them.
    """
    if words[0].endswith(subject.MODELS):
        return None
    steps = [parse_step(word) for word in words[1:]]
    if not any(":" in step.name for step in steps):
        return lambda op, x: _applied(op, x, steps, dims)
    if len(steps) > 1:
        return None
    return Move(steps[0].name, (0,), _evaluated(steps[0], dims), shape)


def _applied(op: Any, x: Any, steps: Sequence[ParsedStep], dims: Mapping[str, int]) -> Any:
    for step in steps:
        values, keywords = _evaluated(step, dims)
        if step.name == "[]":
            x = x[tuple(values)]
            continue
        if step.name in ("transpose", "reshape") and values and all(isinstance(value, int) for value in values):
            values = [tuple(values)]
        x = getattr(op, step.name)(x, *values, **keywords)
    return x


def _evaluated(step: ParsedStep, dims: Mapping[str, int]) -> tuple[list[Any], dict[str, Any]]:
    return [evaluate(v, dims) for v in step.positional], {k: evaluate(v, dims) for k, v in step.keywords}


def _peers(names: Sequence[str], chain: Chain | Move, task: Task) -> dict[str, Call]:
    """Return a call for each peer in *names* that is installed and can compute *chain*; report those that cannot."""
    if isinstance(chain, Move):
        names = [name for name in names if name == OF_FRAMEWORK[chain.verb.partition(":")[0]]]
    calls = {}
    for name in installed(names):
        try:
            call = RIVALS[name](task)
            call()
        except Exception as error:  # each library raises its own errors for what it does not support
            print(f"{name} is left out: {shortened(str(error).splitlines()[0], 100)}", file=sys.stderr)
            continue
        calls[name] = call
    return calls
