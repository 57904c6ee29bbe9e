"""Print what symlayout finds on this machine: versions, compiler, instruction set, cache, peers for the benchmarks.

Exit status 1 means that no kernel can be compiled here; NumPy then computes the results. It also means that
SYMLAYOUT_MARCH names an instruction set that is unknown or that the processor lacks; then nothing is compiled.

for example:
  symlayout doctor
  CC=clang symlayout doctor --json
  SYMLAYOUT_MARCH=x86-64-v3 symlayout doctor
"""

from __future__ import annotations

import argparse
import os
import platform
from importlib import metadata

import numpy as np

import symlayout as sl
from symlayout.commands import cache_folder
from symlayout.commands.output.report import ExitStatus, Report, columns
from symlayout.errors import CompilerError, ProcessorError
from symlayout_codegen.jit import trampoline
from symlayout_codegen.jit.cache import cache_root
from symlayout_codegen.jit.compiler import find_compiler
from symlayout_codegen.jit.instruction_set import NATIVE, VARIABLE, available, choose

NEEDED = ("sympy", "numpy", "cffi", "platformdirs", "rich", "shtab")
PEERS = ("openvino", "onnx", "onnxruntime", "torch", "tensorflow", "jax", "islpy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare no arguments: the command takes none."""


def run(arguments: argparse.Namespace) -> Report:
    """Return what symlayout finds."""
    needed = {name: _version(name) for name in NEEDED}
    peers = {name: version for name in PEERS if (version := _version(name))}
    march, unusable = _instructions()
    compiler, problem = _compiler(march)
    cache, state = cache_root(), cache_folder.state(cache_root())
    named = f" ({VARIABLE})" if os.environ.get(VARIABLE) else ""
    rows = [
        ("symlayout", f"{sl.__version__}, Python {platform.python_version()}"),
        ("system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"),
        ("needs", _listed({name: version or "absent" for name, version in needed.items()})),
        ("compiler", problem or f"{compiler}: works"),
        ("instructions", unusable or f"{march}{named}; the processor has {', '.join(available()) or 'no known level'}"),
        ("trampoline", trampoline.state()),
        ("cache", f"{cache}: {state}"),
        ("peers", _listed(peers) or "none"),
    ]
    data = {
        "symlayout": sl.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "needs": needed,
        "compiler": {"command": compiler, "works": not problem, "problem": problem or None},
        "instructions": {"march": march, "processor": available(), "problem": unusable or None},
        "trampoline": trampoline.state(),
        "cache": {"path": str(cache), "state": state},
        "peers": peers,
    }
    return Report(columns(rows), data, ExitStatus.FAILS if problem or unusable else ExitStatus.HOLDS)


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _version(package: str) -> str | None:
    """Return the installed version of *package* without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _compiler(march: str | None) -> tuple[str | None, str]:
    """Return the compiler's command, and a problem; the problem is "" if a test kernel computes the right result."""
    command = None
    try:
        command = " ".join(find_compiler())
        kernel = sl.compile(sl.flip(sl.tensor("n", name="x")), strict=True, march=march or NATIVE)
        if kernel(np.arange(5, dtype=np.int32)).tolist() != [4, 3, 2, 1, 0]:
            return command, "the compiled kernel computes a wrong result"
    except CompilerError as error:
        return command, str(error)
    return command, ""


def _instructions() -> tuple[str | None, str]:
    """Return the instruction set that kernels are compiled for, and why it cannot be used."""
    try:
        return choose(), ""
    except ProcessorError as error:
        return None, str(error)
