"""Time the kernel beside memcpy, NumPy and the framework that the step is from, where installed.

All results are compared first, bit for bit. The contenders then take turns, one call each, in one
thread of ours; the median and the least are printed. Dims that are not given are chosen so that
the larger side has about 1 MiB.

for example:
  symlayout bench "N,C,2*h,2*w" "onnx:SpaceToDepth(blocksize=2)" --dtype uint8
  symlayout bench "N,H,W,C" "transpose(0,3,1,2)" --dims N=8,H=224,W=224,C=3
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

import symlayout as sl
from symlayout import picture
from symlayout.commands import subject
from symlayout.commands.report import Report, columns
from symlayout.errors import ShapeError, SymlayoutError
from symlayout.parse import evaluate, parse_step
from symlayout.syntax import Step

Array = np.ndarray[Any, Any]
Contender = Callable[[], Any]
TARGET_BYTES = 1 << 20
LARGEST_BYTES = 1 << 32
NUMPY: dict[str, Callable[..., Any]] = {
    "transpose": np.transpose,
    "reshape": np.reshape,
    "pad": np.pad,
    "flip": np.flip,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)
    parser.add_argument("--dims", metavar="NAME=INT,...", help="sizes to measure")
    parser.add_argument("--seconds", type=float, default=2.0, help="time to spend measuring (default: 2)")


def run(arguments: argparse.Namespace) -> Report:
    """Measure."""
    (t,) = subject.read(arguments)
    dtype = np.dtype(np.float32) if t.dtype is None else t.dtype
    dims = subject.parse_dims(arguments.dims)
    bound, chosen = enlarged(subject.bind(t, arguments.dims), dtype.itemsize)
    dims |= chosen
    if (needed := _bytes(bound, dtype.itemsize)) > LARGEST_BYTES:
        raise ShapeError(f"one side has {needed} bytes, more than {LARGEST_BYTES}", "overflow")
    (leaf, *more) = bound.leaves()
    if more:
        raise ShapeError(f"bench takes chains of one input, not {1 + len(more)}", "length_mismatch")
    source = np.random.default_rng(0).integers(0, 100, leaf.shape).astype(dtype)
    kernel = sl.compile(t, strict=True)
    result = np.empty(bound.shape, dtype)
    kernel(source, out=result, dims=dims)
    larger = max(source, result, key=lambda array: array.nbytes)
    spare = np.empty_like(larger)
    contenders: dict[str, Contender] = {
        "kernel": lambda: kernel(source, out=result, dims=dims),
        "memcpy": lambda: np.copyto(spare, larger),
        "interpreter": lambda: sl.interpret(t, source, dims=dims),
        **_peers(arguments.subject, source, dims),
    }
    expected = sl.interpret(t, source, dims=dims)
    wrong = [
        name for name, call in contenders.items() if name != "memcpy" and not np.array_equal(_array(call()), expected)
    ]
    times = _measure({n: call for n, call in contenders.items() if n not in wrong}, arguments.seconds)
    base = statistics.median(times["memcpy"])
    rows = [
        ("shapes", f"{leaf.shape} -> {bound.shape}, {dtype}, {larger.nbytes} bytes"),
        *((name, _line(taken, base)) for name, taken in times.items()),
        *((name, "not timed: its result differs") for name in wrong),
    ]
    data = {
        "input": list(leaf.shape), "output": list(bound.shape), "dtype": str(dtype), "bytes": larger.nbytes,
        "dims": dims, "differs": wrong,
        "seconds": {
            name: {"median": statistics.median(taken), "least": min(taken), "calls": len(taken)}
            for name, taken in times.items()
        },
    }  # fmt: skip
    return Report(columns(rows), data, holds="kernel" not in wrong)


def enlarged(t: sl.Tensor, itemsize: int) -> tuple[sl.Tensor, dict[str, int]]:
    """Return *t* with its dims bound so that its larger side has about `TARGET_BYTES`, and the dims."""
    bound, values = picture.small(t) if t.facts.dims else (t, {})
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


def _line(taken: Sequence[float], base: float) -> str:
    median = statistics.median(taken)
    ratio = f"{median / base:.2f} x memcpy"
    return f"{1e6 * median:10.1f} us median  {1e6 * min(taken):10.1f} us least  {ratio}"


def _measure(contenders: dict[str, Contender], seconds: float) -> dict[str, list[float]]:
    """Return the times of the calls, taken in turns until *seconds* are over, at least 3 each."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times["memcpy"]) < 3:
        for name, call in contenders.items():
            before = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - before)
        if sys.stderr.isatty():
            print(f"\r{len(times['memcpy'])} rounds ", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 20 + "\r", end="", file=sys.stderr)
    return times


def _array(value: Any) -> Array:
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value[0] if isinstance(value, list) else value)


# --- who else can do it ------------------------------------------------------------------------


def _peers(words: Sequence[str], source: Array, dims: dict[str, int]) -> dict[str, Contender]:
    """Return the contenders that can compute the chain as it is written."""
    if words[0].endswith(subject.MODELS) or "-" in words:
        return {}
    steps = [parse_step(word) for word in words[1:]]
    if all(step.name == "[]" or step.name in NUMPY for step in steps):
        return {"numpy": lambda: np.ascontiguousarray(_numpy(source, steps, dims))}
    framework, _, name = steps[0].name.partition(":")
    if len(steps) != 1 or framework not in _FRAMEWORKS:
        return {}
    values, keywords = _evaluated(steps[0], dims)
    try:
        return {framework: _FRAMEWORKS[framework](name, source, values, keywords)}
    except (ImportError, AttributeError) as error:
        print(f"{framework} is left out: {error}", file=sys.stderr)
        return {}


def _evaluated(step: Step, dims: dict[str, int]) -> tuple[list[Any], dict[str, Any]]:
    return [evaluate(v, dims) for v in step.positional], {k: evaluate(v, dims) for k, v in step.keywords}


def _numpy(x: Array, steps: Sequence[Step], dims: dict[str, int]) -> Array:
    for step in steps:
        values, keywords = _evaluated(step, dims)
        if step.name == "[]":
            x = x[tuple(values)]
            continue
        if values and all(isinstance(value, int) for value in values):
            values = [tuple(values)]
        x = NUMPY[step.name](x, *values, **keywords)
    return x


def _tensorflow(name: str, source: Array, values: list[Any], keywords: dict[str, Any]) -> Contender:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tensorflow = importlib.import_module("tensorflow")
    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    operation, x = getattr(tensorflow.raw_ops, name), tensorflow.constant(source)
    if values:
        raise SymlayoutError(f"tensorflow takes {name}'s attributes by name")
    return lambda: operation(input=x, **keywords)


def _torch(name: str, source: Array, values: list[Any], keywords: dict[str, Any]) -> Contender:
    torch = importlib.import_module("torch")
    operation, x = getattr(torch.nn.functional, name), torch.from_numpy(source)
    torch.set_num_threads(1)
    return lambda: operation(x, *values, **keywords).contiguous()


def _onnx(name: str, source: Array, values: list[Any], keywords: dict[str, Any]) -> Contender:
    helper = importlib.import_module("onnx").helper
    runtime = importlib.import_module("onnxruntime")
    element = helper.np_dtype_to_tensor_dtype(source.dtype)
    ends = [helper.make_tensor_value_info(n, element, s) for n, s in (("x", source.shape), ("y", None))]
    node = helper.make_node(name, ["x"], ["y"], **keywords)
    graph = helper.make_graph([node], "bench", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": source})


_FRAMEWORKS: dict[str, Callable[[str, Array, list[Any], dict[str, Any]], Contender]] = {
    "tensorflow": _tensorflow, "torch": _torch, "onnx": _onnx,
}  # fmt: skip
