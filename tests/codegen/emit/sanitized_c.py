"""Programs of `tests/c`, built under gcc's sanitizers with the runtime that kernels have, and run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from symlayout_codegen.emit.header import RUNTIME_HEADER, runtime
from tests.support.paths import C_SOURCES

SANITIZE = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
PATIENCE = 600.0  # seconds for the compiler, or one run


def build(name: str, size: int, flags: Sequence[str], folder: Path) -> Path:
    """Return the program *name* for elements of *size* bytes, compiled with *flags* in *folder*.

    The test that calls is skipped where gcc has no sanitizers.
    """
    (folder / RUNTIME_HEADER).write_text(runtime(halves=False)[RUNTIME_HEADER], encoding="utf-8")
    program = folder / name
    words = ["gcc", "-std=c11", *SANITIZE, *flags, f"-DSL_ELEMENT_SIZE={size}", f"-I{folder}", "-o", str(program)]
    built = subprocess.run(
        [*words, str(C_SOURCES / f"{name}.c")], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if "asan" in built.stderr or "ubsan" in built.stderr:
        pytest.skip("this gcc has no sanitizers")
    assert built.returncode == 0, built.stderr
    return program


def run(program: Path, *arguments: str) -> None:
    """Run *program*, which ends well."""
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
