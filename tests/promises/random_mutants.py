"""Change one thing at random and see whether a test notices: ``python -m tests.promises.random_mutants [GROUP...]``.

`tests.promises.mutants` says what can change.  Of each group of modules a sample is drawn by ``--seed``; each mutant
is made in a copy of the tree, where first the group's quick tests run and then, if these notice nothing, its slow ones.
What takes more than three times the processor time of the unchanged copy counts as noticed.

A survivor is a missing test, unless `tests.promises.survivors` says why the change does no harm.  With ``--journal
FILE`` outcomes are kept, and a mutant that the file has is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.promises.mutants import Mutant, mutants
from tests.promises.survivors import EXPLAINED

ROOT = Path(__file__).parents[2]
COPIED = ("pyproject.toml", "symlayout", "codegen", "generated", "tests", "examples")
BYTES = 4 << 30
SHORTEST = 20.0  # seconds of processor time that every run is given


@dataclass(frozen=True, slots=True)
class Group:
    """Modules that the same tests are about."""

    files: tuple[str, ...]
    quick: tuple[str, ...]
    slow: tuple[str, ...]


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}.py" for name in names.split())


MADE = "tests/test_generated.py::test_the_folder_holds_what_the_catalogue_makes"

GROUPS = {
    "prover": Group(
        _in(
            "symlayout",
            "agree derived digits divisions facts inequalities intervals normalise prove samples system witness",
        ),
        _in("tests", "test_inequalities test_fragment test_facts test_digits test_claims"),
        _in("tests", "test_new_op test_infer test_prove test_solve test_assume test_certify test_inverse"),
    ),
    "checker": Group(
        _in("symlayout", "check"),
        _in("tests", "test_check_sides test_check"),
        _in("tests", "test_certify"),
    ),
    "certifier": Group(
        _in("symlayout", "claim certify notes record solving_notes"),
        _in("tests", "test_check_sides test_check test_certify"),
        _in("tests", "test_claims"),
    ),
    "lowering": Group(
        _in("symlayout", "lower refine prelude call compile"),
        (MADE, *_in("tests", "test_new_op test_compile")),
        _in("tests", "test_chains test_numpy_calls test_adjoint test_fills test_threads test_printer"),
    ),
    "bounds": Group(
        _in("codegen/symlayout_codegen", "bound pending expressions nest distribute coalesce"),
        (MADE, *_in("tests", "test_schedule")),
        _in("tests", "test_kernel_backend test_chains test_printer test_adjoint"),
    ),
    "cache": Group(
        _in("codegen/symlayout_codegen", "cache build compiler load"),
        _in("tests", "test_build test_cache"),
        _in("tests", "test_tune test_compile"),
    ),
}


def _limits(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))


def outcome(root: Path, tests: Sequence[str], seconds: float) -> str:
    """Return what notices the change of the tree at *root*; empty if no test does."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "codegen"), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "SYMLAYOUT_CACHE_DIR": str(root / "cache"),
    }
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=root, env=environment, capture_output=True, text=True, timeout=60 + 10 * seconds,
            preexec_fn=lambda: _limits(seconds),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it hangs"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].partition(" - ")[0] if lines else f"pytest ended with {done.returncode}"


class Copy:
    """A copy of the tree, where a group's mutants are made one after the other."""

    def __init__(self, group: Group, root: Path, quick: bool) -> None:
        self.group, self.root, self.quick = group, root, quick
        self.limits: dict[tuple[str, ...], float] = {}
        for entry in COPIED:
            copy = shutil.copytree if (ROOT / entry).is_dir() else shutil.copy
            copy(ROOT / entry, root / entry)

    def attack(self, m: Mutant) -> str:
        """Make the mutant; return what notices it, empty for nothing."""
        path = self.root / m.file
        source = path.read_text("utf-8")
        for tests in (self.group.quick, self.group.slow)[: 1 if self.quick else 2]:
            limit = self.limit(tests)
            path.write_text(m.apply(source), "utf-8")
            try:
                noticed = outcome(self.root, tests, limit)
            finally:
                path.write_text(source, "utf-8")
                shutil.rmtree(self.root / "cache", ignore_errors=True)
            if noticed:
                return noticed
        return ""

    def limit(self, tests: tuple[str, ...]) -> float:
        """Return the processor time that *tests* may take: measured once, without a mutant."""
        if tests not in self.limits:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            if noticed := outcome(self.root, tests, 3600):
                raise SystemExit(f"the tests fail without a mutation: {noticed}")
            self.limits[tests] = SHORTEST + 3 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        return self.limits[tests]


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a mutant survives that is not explained."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.promises.random_mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--count", type=int, default=20, help="mutants of each group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--file", default="", help="only files whose path has this")
    parser.add_argument("--journal", type=Path, help="keep outcomes here, one JSON object a line")
    parser.add_argument("--quick", action="store_true", help="only the quick tests")
    parser.add_argument("--list", action="store_true", help="only name the mutants")
    options = parser.parse_args(arguments)
    known: dict[str, str] = {}
    if options.journal is not None and options.journal.exists():
        known = {row["mutant"]: row["noticed"] for row in map(json.loads, options.journal.read_text().splitlines())}
    every = {m.name for group in GROUPS.values() for file in group.files for m in mutants(ROOT, file)}
    if stale := EXPLAINED.keys() - every:
        print("explained, and no mutants any more:", *sorted(stale), sep="\n  ")
        return 1
    survivors = total = 0
    for name in options.groups or GROUPS:
        group = GROUPS[name]
        found = [m for file in group.files if options.file in file for m in mutants(ROOT, file)]
        sources = {file: (ROOT / file).read_text("utf-8") for file in group.files}
        shuffled = sorted(found, key=lambda m: m.rank(options.seed))
        chosen = list(islice((m for m in shuffled if m.is_python(sources[m.file])), options.count))
        if options.list:
            print(f"{name}: {len(found)} mutants", *(m.name for m in chosen), sep="\n  ")
            continue
        todo = [m for m in chosen if m.name not in known]
        with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as folder:
            copy = Copy(group, Path(folder), options.quick)
            for m in todo:
                known[m.name] = copy.attack(m)
                if options.journal is not None:
                    with options.journal.open("a") as journal:
                        print(json.dumps({"mutant": m.name, "noticed": known[m.name]}), file=journal)
        for m in chosen:
            verdict = known[m.name] or (f"harmless: {EXPLAINED[m.name]}" if m.name in EXPLAINED else "SURVIVES")
            print(f"{m.name} (line {m.line})\n  {verdict}", flush=True)
            survivors += verdict == "SURVIVES"
        total += len(chosen)
    print(f"{total} mutants, {survivors} survive that are not explained")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
