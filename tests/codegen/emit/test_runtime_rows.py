"""The runtime's streams and rows, copied, filled and dealt out, of any extents and margins, at each level."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from symlayout_codegen.jit.instruction_set import LEVELS, available
from tests.codegen.emit.sanitized_c import build, run
from tests.support.paths import C_SOURCES

ANY_PROCESSOR = ["-include", str(C_SOURCES / "any_processor.h")]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("level", ["", *LEVELS, "native"])
@pytest.mark.parametrize("checked", ["deals", "join_grids", "rows", "streams"])
def test_rows_are_those_of_an_element_at_a_time(size: int, level: str, checked: str, tmp_path: Path) -> None:
    if level in LEVELS and level not in available():
        pytest.skip(f"this processor has no {level}")
    flags = [f"-march={level}"] if level else []
    run(build(checked, size, [*ANY_PROCESSOR, *flags], tmp_path))
