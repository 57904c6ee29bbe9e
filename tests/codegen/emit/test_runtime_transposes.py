"""The runtime's transposes and rows, of any extents and strides, for vectors of each width, under the sanitizers."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from symlayout_codegen.emit.header import RUNTIME_HEADER, runtime
from tests.support.paths import ROOT

SANITIZE = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
NATIVE = ["-march=native"]
LARGE = [
    *(*NATIVE, "-DSL_NEAR_BYTES=1", "-DSL_FAR_BYTES=16384", "-DSL_TILES_PER_BLOCK=3", "-DSL_ROWS_OF_PAGES=128"),
    "-DSL_STORES_WAIT=1",
]
"""As if the arrays were large: lines are fetched, or tiles held back that go past the caches."""
PROMPT = [*LARGE[:-1], "-DSL_STORES_WAIT=0"]
"""The same on a processor whose stores do not wait: fewer tiles are held back."""
NEAR = [*NATIVE, "-DSL_NEAR_LEAST=1", "-DSL_STORES_WAIT=1"]
"""As if the arrays were as large as the second-level cache still holds."""
MANY = [*NATIVE, "-DSL_NEAR_BYTES=4096", "-DSL_FAR_BYTES=1048576", "-DSL_TURN_LEAST=64", "-DSL_STORES_WAIT=1"]
"""As if all turns together were large, and each alone were small."""
PANELS = [*NATIVE, "-DSL_NEAR_BYTES=1", "-DSL_STORES_WAIT=0", "-DSL_WAYS=0"]
"""As if the lines of all tiles fell into one set of the first-level cache: they go in panels, or are read whole."""
AVX2 = ["-mavx2"] if platform.machine() == "x86_64" else NATIVE
NARROWER = [[], ["-mno-avx512f"], ["-mno-avx"]] if platform.machine() == "x86_64" else [[]]
"""Flags after which vectors are narrower: of a cache line, of half of one, of a quarter."""
NO_TABLES = [["-mno-avx512vbmi"]] if platform.machine() == "x86_64" else []
"""Flags after which no instruction takes any bytes from vectors of a cache line: x86-64-v4 has none."""
SETS = PANELS[:-1]
"""As it is on a processor whose stores do not wait: strides of whole pages crowd a set."""
STRIPS = [*SETS, "-DSL_WAYS=1000"]
"""As if no lines did: they are transposed in strips and in blocks."""
CROWDED = [*SETS, "-DSL_WAYS=3"]
"""As if a set held few lines: several lines abreast, and blocks where those that are read crowd it."""
TILES = ["-DSL_STREAMS=0", "-DSL_LARGE_ARRAYS=0", "-DSL_SMALL_MATRICES=0"]
"""As in a kernel that is not linked to further ways yet: all are transposed in tiles or bands."""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("checked", ["transposes", "rows"])
@pytest.mark.parametrize(
    ("size", "flags"),
    [(size, flags) for size in (1, 2, 4, 8) for flags in (NATIVE, LARGE, PROMPT)]
    + [(size, [*flags, *narrower]) for size in (1, 2, 4, 8) for flags in (PANELS, STRIPS) for narrower in NARROWER]
    + [(size, [*SETS, *narrower]) for size in (1, 4) for narrower in NARROWER]
    + [(size, [*CROWDED, *narrower]) for size in (4, 8) for narrower in NARROWER]
    + [(size, [*LARGE, *narrower]) for size in (1, 2, 4) for narrower in NARROWER[1:]]
    + [(size, [*NEAR, *narrower]) for size in (1, 2, 4, 8) for narrower in NARROWER]
    + [(size, [*MANY, *narrower]) for size, narrower in ((1, []), *((size, NARROWER[-1]) for size in (2, 4, 8)))]
    + [(size, [*NEAR, *narrower]) for size in (1, 2) for narrower in NO_TABLES]
    + [(size, [*flags, *narrower]) for size in (1, 2) for flags in (NATIVE, LARGE, PANELS) for narrower in NO_TABLES]
    + [(size, [*flags, *TILES]) for size in (1, 2, 4, 8) for flags in (LARGE, SETS)]
    + [(1, AVX2), (1, []), (4, []), (3, [])],
    ids=str,
)
def test_leaves_are_those_of_an_element_at_a_time(size: int, flags: list[str], checked: str, tmp_path: Path) -> None:
    (tmp_path / RUNTIME_HEADER).write_text(runtime(halves=False)[RUNTIME_HEADER], encoding="utf-8")
    program = tmp_path / checked
    words = ["gcc", "-std=c11", *SANITIZE, *flags, f"-DSL_ELEMENT_SIZE={size}", f"-I{tmp_path}", "-o", str(program)]
    built = subprocess.run(
        [*words, str(ROOT / "tests" / "c" / f"{checked}.c")],
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
