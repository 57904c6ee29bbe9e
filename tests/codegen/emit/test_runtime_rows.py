"""The runtime's streams and rows, copied, filled and dealt out, of any extents and margins, at each level."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from symlayout_codegen.jit.instruction_set import LEVELS, available
from tests.codegen.emit.sanitized_c import build, run
from tests.support.paths import C_SOURCES

ANY_PROCESSOR = ["-include", str(C_SOURCES / "any_processor.h")]
BUILDS = [
    *(("", size) for size in (1, 2, 3, 4, 8)),
    *((level, size) for level in LEVELS for size in (1, 2, 4, 8)),
    ("x86-64-v3", 3),
    ("native", 1),
]
"""Levels and sizes of elements: vectors hold none of 3 bytes, and the processor may take bytes as no level does."""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize(("level", "size"), BUILDS)
@pytest.mark.parametrize("checked", ["deals", "join_grids", "rows", "streams"])
def test_rows_are_those_of_an_element_at_a_time(level: str, size: int, checked: str, tmp_path: Path) -> None:
    if level in LEVELS and level not in available():
        pytest.skip(f"this processor has no {level}")
    flags = [f"-march={level}"] if level else []
    run(build(checked, size, [*ANY_PROCESSOR, *flags], tmp_path))
