"""Compile every file of ``generated/`` by every compiler, all warnings errors.

The tests compile each file once, by one of the combinations.  This takes all levels of gcc and clang, and one of each
numbered version that is installed (gcc-14, clang-19): some minutes for each compiler.  Compilers that the command line
names are taken once for each instruction set: ``python -m tests.compile_generated gcc-14 --march x86-64-v2 x86-64-v3``.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.paths import ROOT

GENERATED = ROOT / "generated"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
LEVELS = ["-O2", "-O3"]
NATIVE = [[], ["-march=native"]]
ONCE = "-O3"


def complaint(compiler: str, flags: list[str], file: Path) -> str:
    """Return what the compiler prints about *file*, or that it fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, "-std=c11", *flags, *WARNINGS, "-c", str(file), "-o", str(Path(folder) / "file.o")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    printed = done.stdout + done.stderr
    return printed or (f"status {done.returncode}" if done.returncode else "")


def combinations(named: Sequence[str] = (), march: Sequence[str] = ("native",)) -> list[tuple[str, list[str]]]:
    """Return compilers with their flags: the *named* ones once for each of *march*, or all that are installed."""
    if named:
        return [(name, [ONCE, f"-march={level}"]) for level, name in itertools.product(march, named)]
    versions = [f"{name}-{number}" for name in ("gcc", "clang") for number in range(9, 40)]
    return [
        *((compiler, [level, *native]) for compiler, level, native in itertools.product(COMPILERS, LEVELS, NATIVE)),
        *((name, [ONCE, "-march=native"]) for name in versions if shutil.which(name)),
    ]


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if a compiler has something to say."""
    parser = argparse.ArgumentParser(prog="python -m tests.compile_generated", description=__doc__.splitlines()[0])
    parser.add_argument("compilers", nargs="*", help="which, once for each instruction set; default: all installed")
    parser.add_argument("--march", nargs="+", default=["native"], help="instruction sets for these (native)")
    options = parser.parse_args(arguments)
    failed = 0
    for compiler, flags in combinations(options.compilers, options.march):
        files = sorted(GENERATED.glob("*.c"))
        for file in files:
            if text := complaint(compiler, flags, file):
                failed += 1
                print(f"{compiler} {' '.join(flags)} {file.name}: {text}")
        print(f"{compiler} {' '.join(flags)}: {len(files)} files", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
