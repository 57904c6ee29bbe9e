"""Print kernels, keys and maps in processes that differ: ``python -m tests.promises.deterministic PYTHON...``.

Each process has a hash seed, a locale, a folder, a time zone and, where they are installed, a Python of its own, and
says a digest of every text: shapes, requirements, maps, proofs, C, headers and cache keys.  All have to be equal.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn

import symlayout as sl
from symlayout.commands import emit, subject
from symlayout_codegen.jit import build, cache_identity, compiler, kernel
from tests.promises.guard import blocks
from tests.promises.hostile_inputs.seeds import STEPS
from tests.support.paths import ROOT

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
LOCALES = ("C", "C.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8")
NEEDED = "import sympy, numpy, cffi, platformdirs"


def texts() -> Iterator[tuple[str, str]]:
    """Yield names, and the texts that have to be the same everywhere."""
    found: list[tuple[str, str]] = []

    def record(
        identity: str, files: Callable[[], Mapping[str, str]], declarations: Mapping[str, str], march: str = ""
    ) -> NoReturn:
        key = cache_identity.cache_key(
            identity, compiler.find_compiler(), build.kernel_flags()
        )  # the same for all of them
        found.append((f"C {len(found)}", "\n".join([*files().values(), *declarations, *declarations.values(), key])))
        raise sl.CompilerError("only printed")

    kernel.build = record  # type: ignore[attr-defined]
    chains = {f"block {name}": t for name, t in blocks().items()}
    for step in STEPS:
        try:
            (chains[f"step {step}"],) = subject.build(["N, 2*h, 2*w, C", step])
        except sl.SymlayoutError as error:
            yield f"error {step}", f"{type(error).__name__}: {error}"
    for name, t in chains.items():
        yield name, "\n".join(map(str, (t, t.shape, t.requires, t.bounds(), t.index_map, t.index_map.latex())))
        proof = sl.prove_equal(sl.transpose(sl.transpose(t)), t)
        yield f"proof {name}", f"{proof.explain()}\n{json.dumps(proof.certificate)}"
        try:
            sl.compile(t, dtype="f4", strict=True)
        except sl.SymlayoutError as error:
            yield f"compiled {name}", str(error)
    yield from found
    yield from emit.catalogue().items()


def say() -> None:
    """Print the digest of each text."""
    for name, text in texts():
        print(f"{hashlib.sha256(text.encode()).hexdigest()} {name!a}")


def environments(given: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the interpreters that have what is needed where they are run, and what is set for each."""
    rnd = random.Random(0)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "codegen")])
    pythons = [sys.executable, *given, *filter(None, map(shutil.which, PYTHONS))]
    for k, python in enumerate([sys.executable, sys.executable, *dict.fromkeys(pythons)]):
        language = LOCALES[k % len(LOCALES)]
        settings = {"PYTHONHASHSEED": str(rnd.randrange(1 << 32)), "LC_ALL": language, "TZ": f"UTC{k}"}
        environment = {**os.environ, **settings, "PYTHONPATH": paths}
        if subprocess.run([python, "-c", NEEDED], capture_output=True, env=environment, cwd=ROOT).returncode == 0:
            yield python, environment


def main(arguments: list[str]) -> int:
    """Compare the Pythons that are given, and those on the path; return 0 if all say the same."""
    if arguments == ["say"]:
        say()
        return 0
    said: dict[str, list[str]] = {}
    for python, environment in environments(arguments):
        command = [python, "-m", "tests.promises.deterministic", "say"]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        name = f"{python} {[environment[k] for k in ('PYTHONHASHSEED', 'LC_ALL', 'TZ')]}"
        said[name] = done.stdout.splitlines()
        first_name, first = next(iter(said.items()))
        different = sorted(set(first) ^ set(said[name]))
        assert not different, f"{first_name} and {name} differ in:\n" + "\n".join(different[:10])
        print(f"{len(first)} texts: {name}", flush=True)
    assert len(said) >= 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
