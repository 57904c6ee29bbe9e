"""Give kernels compilers that are absent, fail, hang, print garbage or lie: ``python -m tests.promises.compiler``.

Each compiler serves two processes.  In one, three kernels give NumPy's results, with one warning.  In the other,
``strict=True`` raises `CompilerError` with the compiler's log.  Nothing that a bad compiler made is kept.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from symlayout_codegen.limits import limits
from tests.promises.forked import forked

REAL = shutil.which("cc")
LIMIT = 2.0  # seconds, in which a shell starts
BAD = {  # what it does: the script, words of the error, words of the log
    "fails": ("echo no, no >&2; exit 1", "failed with status 1", "no, no"),
    "is killed": ("echo so far; kill -9 $$", "failed with status -9", "so far"),
    "hangs": ("echo begun; sleep 100000", f"took longer than {LIMIT:g} s", "begun"),
    "hangs with its output closed": ("exec >&- 2>&-; sleep 100000", f"took longer than {LIMIT:g} s", ""),
    "leaves a child that hangs": ("echo begun; sleep 100000 & exit 0", "reported success and built nothing", "begun"),
    "ignores requests to end": ("trap '' TERM INT HUP; while :; do sleep 1; done", "took longer than", ""),
    "prints without end": ("yes", "printed more than", "y\n"),
    "prints garbage and fails": ("head -c 5000 /dev/urandom; exit 1", "failed with status 1", ""),
    "builds nothing": ("echo done", "reported success and built nothing", "done"),
    "builds a folder": ("mkdir kernel.so", "reported success and built nothing", ""),
    "builds an empty file": (": > kernel.so; echo done", "unusable", "done"),
    "builds garbage": ("head -c 20000 /dev/urandom > kernel.so", "unusable", ""),
    "builds a file without end": ("truncate -s 100G kernel.so; echo ok", "built a file of 107374182400 bytes", "ok"),
    "builds half a library": (f'{REAL} "$@" && truncate -s 9000 kernel.so; echo ok', "not all of it", "ok"),
    "builds the head of a library": (f'{REAL} "$@" && truncate -s 40 kernel.so', "unusable", ""),
    "builds a program": (f"echo 'int main(void){{return 0;}}' | {REAL} -x c -o kernel.so -", "unusable", ""),
    "builds an object": (f'{REAL} -c -o kernel.so kernel.c', "unusable", ""),
    "forgets the symbol": (f"echo 'int other; ' | {REAL} -shared -fPIC -x c -o kernel.so -; echo ok", "unusable", "ok"),
    "needs what is absent": (f'echo "int f(void); int g(void){{return f();}}">>kernel.c; {REAL} "$@"', "unusable", ""),
    "removes its folder": ('rm -rf "$PWD"', "built nothing", ""),
}  # fmt: skip


def attack(what: str, folder: Path) -> None:
    """Assert in new processes that the promise holds with this compiler; an absent one is called ``absent``."""
    script, words, log = BAD.get(what, ("", "no C compiler found", ""))
    compiler = folder / "cc"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    os.environ.update(CC=str(compiler) if script else "/no/such/compiler", SYMLAYOUT_CACHE_DIR=str(folder / "cache"))
    limits.compiler_seconds = LIMIT if "took longer" in words else 600
    t = sl.flip(sl.tensor("n, m", name="x"))
    x = np.arange(6.0).reshape(2, 3)

    def falls_back() -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for dtype in ("f2", "i2", "u1"):  # whose kernels are one text each
                assert np.array_equal(sl.compile(t)(x.astype(dtype)), x[::-1, ::-1])
        messages = [str(warning.message) for warning in caught]
        assert len(messages) == 1, messages
        assert words in messages[0], messages

    def raises() -> None:
        with pytest.raises(sl.CompilerError) as caught:
            sl.compile(t, dtype="f2", strict=True)
        assert words in str(caught.value)
        assert log in caught.value.log
        assert log.strip() in str(caught.value)

    assert forked(falls_back) == 0, what
    assert forked(raises) == 0, what
    kept = list((folder / "cache").glob("*"))
    assert kept == [], what


def main(arguments: list[str]) -> int:
    """Run the compilers whose names are given, or all; return 0 unless a promise is broken, which raises."""
    names = arguments or [*BAD, "absent"]
    for what in names:
        with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
            attack(what, Path(name))
        print(f"holds: the compiler {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
