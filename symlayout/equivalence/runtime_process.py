"""Run ONNX models by a runtime: ``python runtime_process.py RUNTIME FOLDER BYTES``, a process of its own.

The folder has the models, as ``0.onnx``, or as ``0.path`` with the path of one, and the inputs of each, as
``0-0.in.npz``, ``0-1.in.npz``.  The outputs are written beside them, as ``0-0.out.npz``.  Inputs that the runtime does
not take have no such file, and ``0-0.error.txt`` says why.  The process takes, and writes into a file, no more than so
many bytes, where the system can see to it.  This script imports nothing of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray[Any, Any]]
Run = Callable[[Arrays], list[np.ndarray[Any, Any]]]


def limit_memory(most: int) -> None:
    """Let this process take, and write into one file, no more than so many bytes."""
    try:
        import resource
    except ImportError:  # a system without POSIX
        return
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main(runtime: str, folder: Path) -> None:
    """Run each model of *folder* for each of its inputs."""
    for path in sorted([*folder.glob("*.onnx"), *folder.glob("*.path")]):
        file = Path(path.read_text(encoding="utf-8")) if path.suffix == ".path" else path
        feeds = sorted(folder.glob(f"{path.stem}-*.in.npz"))
        try:
            run = RUNTIMES[runtime](file)
        except Exception as error:  # each runtime has its own tree of errors
            _refuse(feeds, error)
            continue
        for feed in feeds:
            try:
                with np.load(feed, allow_pickle=False) as arrays:
                    _write(run(dict(arrays)), Path(str(feed).replace(".in.npz", ".out.npz")))
            except Exception as error:
                _refuse([feed], error)


def _refuse(feeds: list[Path], error: Exception) -> None:
    for feed in feeds:
        Path(str(feed).replace(".in.npz", ".error.txt")).write_text(f"{type(error).__name__}: {error}", "utf-8")


def _write(made: list[np.ndarray[Any, Any]], path: Path) -> None:
    if not all(isinstance(array, np.ndarray | np.generic) for array in made):
        raise TypeError("an output is no array")
    partial = path.with_suffix(".part")
    with partial.open("wb") as file:
        np.savez(file, *made)
    partial.rename(path)  # the process may be ended at any time: a file is there whole, or not


def _onnxruntime(path: Path) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda arrays: session.run(None, arrays)


def _reference(path: Path) -> Run:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(str(path))
    return lambda arrays: evaluator.run(None, arrays)


RUNTIMES: dict[str, Callable[[Path], Run]] = {"onnxruntime": _onnxruntime, "onnx": _reference}

if __name__ == "__main__":
    limit_memory(int(sys.argv[3]))
    main(sys.argv[1], Path(sys.argv[2]))
