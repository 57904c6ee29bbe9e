"""Entries of a cache of kernels, for tests."""

from __future__ import annotations

from pathlib import Path

from symlayout_codegen import compile_nest
from symlayout_codegen.jit import build
from tests.support import nests

PROGRAM = """
import numpy as np
from symlayout_codegen import compile_nest
from tests.support import nests
x, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.empty((2, 3), np.float32)
compile_nest(nests.flip(), 4)((2, 3), [x], out)
assert np.array_equal(out, x[::-1, ::-1])
"""


def compile_and_forget() -> None:
    build._loaded.clear()
    compile_nest(nests.flip(), 4)


def entries(root: Path) -> list[Path]:
    return sorted(root.iterdir())
