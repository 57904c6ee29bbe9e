"""Remove side conditions of the prover's rules, one at a time: ``python -m tests.mutation.mutate [WORD...]``.

Each mutation of `tests.mutation.mutations` is made in a copy of the tree, where the prover's tests then run.  They
notice it, or it survives: a test is missing, unless the list says why the mutation is harmless.  A run that takes four
times as long as the tests of the unchanged copy, or more than 4 GiB, counts as noticed.  ``--list`` only says whether
each text still occurs once in its file.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.mutations import MUTATIONS, Mutation
from tests.support.paths import ROOT, path_of_test

COPIED = ("pyproject.toml", "symlayout", "codegen", "tests", "examples")
TESTS = (
    *("test_nonnegative", "test_fragment", "test_facts", "test_nonnegative_rules", "test_floor_normal_form"),
    *(
        "test_new_op",
        "test_checker_sides",
        "test_checker",
        "test_checker_blocks",
        "test_chains",
        "test_claims",
        "test_prove",
    ),
)
CHECKER_TESTS = (
    *("test_checker", "test_checker_blocks", "test_checker_data", "test_checker_sides", "test_forge"),
    *("test_common_values", "test_check_constants"),
)
BYTES = 4 << 30


def stale(m: Mutation, root: Path = ROOT) -> str:
    """Return why a mutation no longer fits its file; empty if it does."""
    times = (root / m.file).read_text("utf-8").count(m.old)
    return "" if times == 1 else f"{m.file}: {m.name}: the text occurs {times} times"


def mutated(m: Mutation, source: str) -> str:
    """Return *source* with the mutation, which is still Python.

    Raises
    ------
    SyntaxError
        It is not.
    """
    changed = source.replace(m.old, m.new)
    compile(changed, m.file, "exec")
    return changed


def outcome(root: Path, tests: Sequence[str], limit: float | None) -> str:
    """Return what notices a change of the tree at *root*; empty if no test does."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "codegen"), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",  # two mutations of one size and second would look like one file
        "PYTHONHASHSEED": "0",
    }
    try:
        done = subprocess.run(
            [*command, *map(path_of_test, tests)],
            cwd=root, env=environment, capture_output=True, text=True, timeout=limit, preexec_fn=_limit_memory,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it hangs"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].partition(" - ")[0] if lines else f"pytest ended with {done.returncode}: {done.stderr[-300:]}"


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def attack(mutations: Sequence[Mutation], root: Path) -> int:
    """Try each mutation in the copy at *root*; return how many survive that the list does not call harmless."""
    started = time.monotonic()
    if noticed := outcome(root, TESTS, None):
        raise SystemExit(f"the tests fail without a mutation: {noticed}")
    limit = 60 + 4 * (time.monotonic() - started)
    survivors = 0
    for m in mutations:
        path = root / m.file
        source = path.read_text("utf-8")
        path.write_text(mutated(m, source), "utf-8")
        noticed = outcome(root, CHECKER_TESTS if "/checker/" in m.file else TESTS, limit)
        path.write_text(source, "utf-8")
        survivors += not noticed and not m.harmless
        verdict = f"noticed by {noticed}" if noticed else f"harmless: {m.harmless}" if m.harmless else "SURVIVES"
        print(f"{m.file}: {m.name}\n  {verdict}", flush=True)
    return survivors


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless the list is stale or a mutation survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.mutate", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only mutations whose file or name has one of these")
    parser.add_argument("--list", action="store_true", help="only say whether the list still fits the sources")
    options = parser.parse_args(arguments)
    chosen = [m for m in MUTATIONS if not options.words or any(w in f"{m.file}: {m.name}" for w in options.words)]
    if reasons := [reason for m in MUTATIONS if (reason := stale(m))]:
        print("the list is stale", *reasons, sep="\n  ")
        return 1
    for m in MUTATIONS:
        mutated(m, (ROOT / m.file).read_text("utf-8"))
    if options.list:
        print(*(f"{m.file}: {m.name}" for m in chosen), sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        for entry in COPIED:
            copy = shutil.copytree if (ROOT / entry).is_dir() else shutil.copy
            copy(ROOT / entry, Path(name) / entry)
        survivors = attack(chosen, Path(name))
    print(f"{len(chosen)} mutations, {survivors} survive that are not explained")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
