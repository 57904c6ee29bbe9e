"""The runtime's streams and rows that are dealt out, of any extents and margins, at each level, under sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from symlayout_codegen.emit.header import RUNTIME_HEADER, runtime
from symlayout_codegen.jit.instruction_set import LEVELS, available
from tests.support.paths import ROOT

SANITIZE = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
PROGRAMS = ROOT / "tests" / "c"
ANY_PROCESSOR = ["-include", str(PROGRAMS / "any_processor.h")]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("level", ["", *LEVELS])
@pytest.mark.parametrize("checked", ["deals", "streams"])
def test_rows_are_those_of_an_element_at_a_time(size: int, level: str, checked: str, tmp_path: Path) -> None:
    if level and level not in available():
        pytest.skip(f"this processor has no {level}")
    flags = [f"-march={level}"] if level else []
    (tmp_path / RUNTIME_HEADER).write_text(runtime(halves=False)[RUNTIME_HEADER], encoding="utf-8")
    program = tmp_path / checked
    words = ["gcc", "-std=c11", *SANITIZE, *ANY_PROCESSOR, *flags, f"-DSL_ELEMENT_SIZE={size}", f"-I{tmp_path}"]
    built = subprocess.run(
        [*words, "-o", str(program), str(PROGRAMS / f"{checked}.c")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if "asan" in built.stderr or "ubsan" in built.stderr:
        pytest.skip("this gcc has no sanitizers")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
