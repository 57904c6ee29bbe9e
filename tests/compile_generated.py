"""Compile every file of ``generated/`` by every compiler at every level, all warnings errors.

The tests compile each file once, by one of the combinations; this takes all of them, and some minutes.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.paths import ROOT

GENERATED = ROOT / "generated"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
LEVELS = ["-O2", "-O3"]
NATIVE = [[], ["-march=native"]]


def complaint(compiler: str, flags: list[str], file: Path) -> str:
    """Return what the compiler prints about *file*, or that it fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, "-std=c11", *flags, *WARNINGS, "-c", str(file), "-o", str(Path(folder) / "file.o")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    printed = done.stdout + done.stderr
    return printed or (f"status {done.returncode}" if done.returncode else "")


def main() -> int:
    """Compile all."""
    failed = 0
    for compiler, level, native in itertools.product(COMPILERS, LEVELS, NATIVE):
        files = sorted(GENERATED.glob("*.c"))
        for file in files:
            if text := complaint(compiler, [level, *native], file):
                failed += 1
                print(f"{compiler} {level} {' '.join(native)} {file.name}: {text}")
        print(f"{compiler} {level} {' '.join(native)}: {len(files)} files", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
