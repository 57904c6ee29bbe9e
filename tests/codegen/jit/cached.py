"""Entries of a cache of kernels, for tests: kernels of small elements, whose libraries are linked to no object."""

from __future__ import annotations

from pathlib import Path

from symlayout_codegen import compile_nest
from symlayout_codegen.jit import build
from tests.support import nests

PROGRAM = """
import numpy as np
from symlayout_codegen import compile_nest
from tests.support import nests
x, out = np.arange(6, dtype=np.int16).reshape(2, 3), np.empty((2, 3), np.int16)
compile_nest(nests.flip(), 2)((2, 3), [x], out)
assert np.array_equal(out, x[::-1, ::-1])
"""


def compile_and_forget() -> None:
    build._loaded.clear()
    compile_nest(nests.flip(), 2)


def entries(root: Path) -> list[Path]:
    return sorted(root.iterdir())
