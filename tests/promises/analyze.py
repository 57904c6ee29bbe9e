"""Read generated C with gcc's analyzer and the warnings of gcc and clang: ``python -m tests.promises.analyze N``.

The kernels are those of random chains and of the blocks of `tests.promises.guard`, for all shapes, and the catalogue's.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import symlayout as sl
from symlayout_codegen.jit import kernel
from tests.promises.corpus import each_chain
from tests.promises.guard import blocks
from tests.support.chains import check_dynamic, check_kernel
from tests.support.paths import ROOT
from tests.support.strategies import Case

GENERATED = ROOT / "generated"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef", "-Werror", "-c"]
READERS = {
    "gcc": ["-O2", "-fanalyzer", *STRICT],
    "clang": ["-O2", "--analyze", "--analyzer-output", "text", *STRICT],
    "clang, warnings": ["-O2", "-Wimplicit-fallthrough", "-Wcomma", "-Wcast-align", "-Wcast-qual", *STRICT],
}


def texts(chains: int, seed: int, last: Path) -> Iterator[Mapping[str, str]]:
    """Yield the files of each kernel, the C text as ``kernel.c`` and beside it what is compiled apart."""
    found: list[Mapping[str, str]] = []

    def record(
        identity: str, files: Callable[[], Mapping[str, str]], declarations: Mapping[str, str], march: str = ""
    ) -> NoReturn:
        found.append(files())
        raise sl.CompilerError("only read")

    def fixed(case: Case) -> None:
        with suppress(sl.CompilerError):
            check_kernel(case)

    def for_all(case: Case) -> None:
        with suppress(sl.CompilerError):
            check_dynamic(case, compiled=True)

    build, kernel.build = kernel.build, record  # type: ignore[attr-defined]
    try:
        each_chain(chains, seed, last, fixed, for_all)
        for t in blocks().values():
            for dtype in ("u1", "u4", "c16"):
                with suppress(sl.CompilerError):
                    sl.compile(t, dtype=dtype, strict=True)
    finally:
        kernel.build = build  # type: ignore[attr-defined]
    yield from found


def read(folder: Path, source: Path) -> None:
    """Assert that no reader that is installed has anything to say of *source*, whose headers are in *folder*."""
    for name, flags in READERS.items():
        if program := shutil.which(name.partition(",")[0]):
            command = [program, *flags, f"-I{folder}", "-o", "/dev/null", str(source)]
            done = subprocess.run(command, capture_output=True, text=True)
            said = done.stdout + done.stderr
            assert done.returncode == 0, f"{name}: {said}\n{source.read_text('ascii')}"
            assert said == "", f"{name}: {said}\n{source.read_text('ascii')}"


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a compiler warns."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.analyze", description=__doc__.splitlines()[0])
    parser.add_argument("chains", type=int, nargs="?", default=30, help="how many, and half as many for all shapes")
    parser.add_argument("--seed", type=int, default=0, help="of the chains (0)")
    parser.add_argument("--catalogue", action="store_true", help="read all files of generated/ too")
    options = parser.parse_args(arguments)
    count = 0
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        folder = Path(name)
        for files in texts(options.chains, options.seed, folder / "last"):
            for file, text in files.items():
                (folder / file).write_text(text, encoding="ascii")
            for file in files:
                if file.endswith(".c"):  # the kernel's, and what is compiled apart
                    read(folder, folder / file)
            count += 1
    for source in sorted(GENERATED.glob("*.c")) if options.catalogue else ():
        read(GENERATED, source)
        count += 1
    print(f"{count:7} kernels without a warning of {', '.join(n for n in READERS if shutil.which(n))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
