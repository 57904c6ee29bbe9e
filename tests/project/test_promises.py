"""A short sample of each attack in tests/promises; its own command runs for as long as one likes.

``docs/guarantees.md`` states the promises and gives the commands; ``make promises`` runs them all.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.promises.coverage import GROUPS, group_of
from tests.support.paths import PACKAGES, ROOT

SAMPLES = {
    "compiler": [
        "hangs with its output closed",
        "builds half a library",
        "forgets the symbol",
        "removes its folder",
        "absent",
    ],
    "guard": ["6"],
    "sanitize": ["3"],
    "hostile": ["25"],
    "arrays": ["2000"],
    "concurrent": ["1", "--every", "97"],
    "deterministic": [],
    "integers": ["--chains", "4"],
    "mutation.mutate": ["--list"],
    "mutation.random_mutants": ["--list", "--count", "1"],
    "gcov": ["transpose_2d_x1", "pad_2d_x8", "--draws", "80"],
    "cache": ["--processes", "8", "--rounds", "4", "--every", "37"],
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the attacks use what Linux has")
@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name: str) -> None:
    module = f"tests.{name}" if "." in name else f"tests.promises.{name}"
    command = [sys.executable, "-m", module, *SAMPLES[name]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_group_of_the_coverage_has_files_of_the_source() -> None:
    files = [file.relative_to(ROOT).as_posix() for folder in PACKAGES.values() for file in folder.rglob("*.py")]
    assert {group_of(file) for file in files} == {*GROUPS, None}
    assert group_of("codegen/symlayout_codegen/jit/cache.py") == "cache and build"
