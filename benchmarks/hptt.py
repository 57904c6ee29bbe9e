"""HPTT, a library of tensor transposes, as a peer: built from a checkout that the user names, outside of it.

The build has the flags of HPTT's own Makefile (its target ``avx`` on x86-64, else ``scalar``).  The cases of its own
benchmark are read from the checkout too, so that nothing of it is copied into this project.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from symlayout.commands.peers.program import UnsupportedError
from symlayout.commands.peers.task import Call, Task
from symlayout_codegen.jit.instruction_set import cpu_flags

HPTT = "hptt"
GROUP = "transposes, HPTT's own benchmark"
SHIM = Path(__file__).parent / "hptt_plan.cpp"

_FLAGS = ("-std=c++11", "-O3", "-DNDEBUG", "-fopenmp", "-fPIC", "-shared")
_CASE = re.compile(r"benchmark\.exe\s+([\d ]+)")


class BuildError(Exception):
    """HPTT cannot be built."""


@dataclass(frozen=True, slots=True)
class Hptt:
    """A checkout of HPTT, and the library that was built of it."""

    folder: Path
    library: Path

    def cases(self) -> Iterator[Case]:
        """Yield the cases of HPTT's own benchmark: of each, its permutation and extents, as they are row-major."""
        text = (self.folder / "benchmark" / "benchmark.sh").read_text(encoding="utf-8")
        for number, words in enumerate(_CASE.findall(text)):
            rank, *given = map(int, words.split())
            order, extents = given[:rank], given[rank:]
            # There the first axis is contiguous, here the last.
            axes = tuple(rank - 1 - axis for axis in reversed(order))
            shape = tuple(reversed(extents))
            yield transposed(axes, shape, quick=number % 8 == 0)

    def prepare(self, task: Task) -> Call:
        """Return a call that executes a plan, which is made before: HPTT measures what is fastest."""
        task.only_forward()
        dtype = task.source.dtype.name
        if dtype not in ("float32", "float64") or task.out is None:
            raise UnsupportedError(dtype)
        moves, _ = task.program({"transpose": lambda *_: None})
        if len(moves) != 1:
            raise UnsupportedError("chain")
        library = ctypes.CDLL(str(self.library))
        make, run = library[f"plan_{dtype}"], library[f"run_{dtype}"]
        make.restype, run.argtypes, run.restype = ctypes.c_void_p, [ctypes.c_void_p], None
        rank = task.source.ndim
        plan = make(
            (ctypes.c_int * rank)(*moves[0].arguments[0]), rank, (ctypes.c_int * rank)(*task.shape),
            _pointer(task.source), _pointer(task.out), task.threads,
        )  # fmt: skip
        if plan is None:
            raise UnsupportedError("plan")
        held = ctypes.c_void_p(plan)
        return lambda: run(held)


def transposed(axes: tuple[int, ...], shape: tuple[int, ...], *, quick: bool) -> Case:
    """Return the case of a float32 transpose."""
    name = f"transpose {''.join(map(str, axes))}"
    return Case(GROUP, name, lambda op, x: op.transpose(x, axes), shape, 4, quick=quick)


def build(folder: Path, target: Path) -> Hptt:
    """Build the checkout *folder* to a library in *target*, if it is not there: this takes minutes.

    Raises
    ------
    BuildError
        There is no such checkout, or the compiler refuses it.
    """
    sources = sorted((folder / "src").glob("*.cpp"))
    if not sources or not (folder / "include" / "hptt.h").is_file():
        raise BuildError(f"{folder} is no checkout of HPTT: it has no src/*.cpp and include/hptt.h")
    avx = ["-march=native", "-mavx", "-DHPTT_ARCH_AVX"] if platform.machine() in ("x86_64", "AMD64") else []
    compiler = os.environ.get("CXX", "g++")
    command = [compiler, *_FLAGS, *avx, f"-I{folder / 'include'}", *map(str, sources), str(SHIM)]
    digest = hashlib.sha256(f"{command} {sorted(cpu_flags())}".encode())
    for file in [*sources, *sorted((folder / "include").glob("*.h")), SHIM]:
        digest.update(file.read_bytes())
    library = target / f"libhptt-{digest.hexdigest()[:16]}.so"
    if not library.exists():
        target.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        try:
            done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, check=False)
        except OSError as error:
            raise BuildError(f"HPTT cannot be built: {error}\n  help: set CXX") from error
        if done.returncode:
            raise BuildError(f"HPTT cannot be built: {compiler} says\n{done.stderr[:2000]}")
        made.rename(library)
    return Hptt(folder, library)


def _pointer(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
