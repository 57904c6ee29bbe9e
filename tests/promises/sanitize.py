"""Run kernels of random chains under gcc's sanitizers: ``python -m tests.promises.sanitize N``.

The kernels are built with ``CFLAGS=-fsanitize=address,undefined`` and run in a Python whose allocations the sanitizers
watch, so that one element before or after an array is found.  Results are compared with brute force too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.promises.corpus import each_chain
from tests.support.chains import check_dynamic, check_kernel

HERE = "SYMLAYOUT_TEST_SANITIZED"
FLAGS = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a Python that the sanitizer watches, with a cache and a log in *folder*."""
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], check=True, capture_output=True, text=True)
    return {
        **os.environ,
        HERE: str(folder),
        "CC": "gcc",
        "CFLAGS": FLAGS,
        "LD_PRELOAD": library.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "PYTHONMALLOC": "malloc",  # else small objects share blocks, and their ends go unwatched
        "SYMLAYOUT_CACHE_DIR": str(folder / "cache"),
    }


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a sanitizer or a comparison finds something."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.sanitize", description=__doc__.splitlines()[0])
    parser.add_argument("chains", type=int, nargs="?", default=200, help="how many, and half as many for all shapes")
    parser.add_argument("--seed", type=int, default=0, help="of the chains (0)")
    options = parser.parse_args(arguments)
    if HERE in os.environ:
        folder = Path(os.environ[HERE])
        done = each_chain(
            options.chains, options.seed, folder / "last", check_kernel, lambda case: check_dynamic(case, compiled=True)
        )
        libraries = [path.read_bytes() for path in (folder / "cache").glob("*/kernel.so")]
        assert libraries
        assert all(b"__asan_init" in library for library in libraries), "not all were built with the sanitizer"
        print(f"{done:7} chains, {len(libraries)} kernels under the sanitizers")
        return 0
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        again = [sys.executable, "-m", "tests.promises.sanitize", *arguments]
        status = subprocess.run(again, env=environment(Path(name))).returncode
        if status:
            print(f"status {status} at {(Path(name) / 'last').read_text(encoding='utf-8')}", file=sys.stderr)
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
