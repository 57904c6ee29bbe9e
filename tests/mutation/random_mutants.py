"""Change one thing at random and see whether a test notices: ``python -m tests.mutation.random_mutants [GROUP...]``.

`tests.mutation.mutants` says what can change; of each group of modules a sample is drawn by ``--seed``.  The tests are
collected once.  For each mutant a child of that process takes over the changed code of the function, then runs the
tests that call it, until one fails: first those that noticed another change of that function, then the quickest, as
many as take ``--seconds``.  One that takes more than four times as long as without a change fails too.

A survivor is a missing test, unless `tests.mutation.survivors` says why the change does no harm.  With ``--journal
FILE`` outcomes are kept, and a mutant that the file has is not run again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import pickle
import resource
import signal
import sys
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from tests.mutation.mutants import Mutant, mutants
from tests.mutation.survivors import EXPLAINED
from tests.support.paths import ROOT, path_of_test, source

BYTES = 8 << 30
Function = tuple[str, str]
"""A file of the project and the qualified name of a function in it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Modules, and the tests that are about them."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


def _modules(names: str) -> tuple[str, ...]:
    return tuple(map(source, names.split()))


def _tests(names: str) -> tuple[str, ...]:
    return tuple(map(path_of_test, names.split()))


GROUPS = {
    "prover": Group(
        _modules(
            "split_cases choose_split read_element compare_reads constant_reads one_case compare_computed "
            "decide_equal defined_symbols floor_normal_form solve_divisibility facts nonnegative intervals "
            "compose_chain proof.prove proof.attempts sample_points fact_store counterexample"
        ),
        _tests(
            "test_choose_split test_read_element test_compare_reads test_constant_reads test_one_case "
            "test_nonnegative test_nonnegative_rules test_fragment test_facts test_floor_normal_form test_new_op "
            "test_checker_sides test_requirements test_assumptions test_shape_solver test_claims test_find_inverse "
            "test_write test_prove"
        ),
    ),
    "checker": Group(
        _modules("checker.polynomials checker.schema checker.known checker.rules checker.readings checker.blocks"),
        _tests("test_checker_sides test_checker test_checker_blocks test_checker_data test_forge test_write"),
    ),
    "certifier": Group(
        _modules("claim write logged_inequalities logged_facts logged_equations"),
        _tests("test_checker_sides test_checker test_checker_blocks test_write test_claims"),
    ),
    "lowering": Group(
        _modules("lower split_digits entry_checks call_plan run.kernel computed_kernel compile_tensor repeat_calls"),
        _tests(
            "test_new_op test_kernel test_repeat_calls test_chains test_numpy_calls test_adjoint_map test_fills "
            "test_threads test_printer test_generated"
        ),
    ),
    "bounds": Group(
        _modules(
            "loop_bounds pending_windows whole_blocks queries nest distribute coalesce align use_divisibility "
            "factor_polynomial order hoist narrow_digit_ranges prune fuse_rows split_among_threads stack_pieces "
            "strips unroll"
        ),
        _tests(
            "test_integer_expressions test_whole_blocks test_pending_windows test_schedule test_compile_nest "
            "test_chains test_printer test_generated test_rename test_use_divisibility test_narrow_digit_ranges "
            "test_align test_stack_pieces test_coalesce test_order test_split_among_threads test_loop_bounds "
            "test_select_runs_and_transposes test_distribute test_fuse_rows test_unroll test_strips test_prune "
            "test_hoist"
        ),
    ),
    "cache": Group(
        _modules("jit.cache build compiler jit.load"),
        _tests("test_build test_cache test_tune"),
    ),
}


# ---------------------------------------------------------------------- a function's code


def changed_function(m: Mutant) -> tuple[FunctionType, CodeType]:
    """Return the outermost function that a mutant is in, as it is loaded, and its changed code.

    Raises
    ------
    LookupError
        The mutant is in no function, or in one that cannot be found by its name.
    """
    path = ROOT / m.file
    code = compile(m.apply(path.read_text("utf-8")), str(path), "exec", dont_inherit=True)
    owner: Any = importlib.import_module(".".join(Path(m.file.removeprefix("codegen/")).with_suffix("").parts))
    for name in m.where.split("."):
        inner = [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name]
        inner = [c for c in inner if c.co_firstlineno <= m.line]  # a property and its setter have one name
        owner = vars(owner).get(name)
        if not inner or owner is None:
            break
        code = inner[-1]
        if not isinstance(owner, type):
            for wrapped in ("__func__", "fget", "func", "__wrapped__"):
                owner = getattr(owner, wrapped, owner)
            if isinstance(owner, FunctionType):
                return owner, code
            break
    raise LookupError(m.name)


def functions_called(call: Callable[[], object]) -> set[Function]:
    """Return the functions of the project that run while *call* does."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    root = f"{ROOT}{os.sep}"
    return {
        (code.co_filename.removeprefix(root), code.co_qualname.partition(".<locals>")[0])
        for code in codes
        if code.co_filename.startswith(root)
    }


# ---------------------------------------------------------------------- children


def in_a_child(work: Callable[[], Any], seconds: float | None = None) -> Any:
    """Return what *work* returns in a child of this process; None if the child has no more time or memory."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reading)
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            if seconds is not None:
                resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
                signal.alarm(int(60 + 2 * seconds))  # for what waits and takes no time
            with open(writing, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(content) if status == 0 else None


class Attack:
    """A plugin of pytest: instead of the tests themselves it runs them once for each mutant."""

    def __init__(self, chosen: Sequence[Mutant], seconds: float, done: Callable[[Mutant, str], None]) -> None:
        self.chosen, self.seconds, self.done = chosen, seconds, done
        self.calls: dict[str, set[Function]] = {}
        self.times: dict[str, float] = {}
        self.noticed: Counter[tuple[Function, str]] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests without a mutant, to see what they call, then for each mutant; nothing is left to run."""
        self.calls, self.times, failed = in_a_child(partial(self.measure, session.items))
        for test in failed:
            print(f"left out, since it fails without a mutant while it is watched: {test}", flush=True)
        items = [item for item in session.items if item.nodeid not in failed]
        for m in self.chosen:
            self.done(m, self.attack(m, items))
        return True

    def measure(self, items: Sequence[pytest.Item]) -> tuple[dict[str, set[Function]], dict[str, float], list[str]]:
        """Return the functions that each test calls, the processor time it takes, and the tests that fail."""
        failed: list[str] = []

        def run(item: pytest.Item) -> None:
            failed.extend(item.nodeid for report in runtestprotocol(item, log=False) if report.failed)

        for item in items:
            start = time.process_time()
            self.calls[item.nodeid] = functions_called(partial(run, item))
            self.times[item.nodeid] = time.process_time() - start
        return self.calls, self.times, failed

    def attack(self, m: Mutant, items: Sequence[pytest.Item]) -> str:
        """Return what notices the mutant; empty if no test does."""
        try:
            function, code = changed_function(m)
        except LookupError:
            return "not tried: in no function"
        of = (m.file, function.__qualname__)
        callers = [item for item in items if of in self.calls[item.nodeid]]
        callers.sort(key=lambda item: (-self.noticed[of, item.nodeid], self.times[item.nodeid]))
        spent = list(accumulate(self.times[item.nodeid] for item in callers))
        callers = callers[: 1 + bisect(spent, self.seconds)]
        limit = 5 + 4 * sum(self.times[item.nodeid] for item in callers)

        def work() -> str:
            try:
                function.__code__ = code
            except ValueError:  # other variables of the function around it
                return "not tried: a closure"
            for item in callers:
                if any(report.failed for report in runtestprotocol(item, log=False)):
                    return item.nodeid
            return ""

        noticed = in_a_child(work, limit)
        self.noticed[of, noticed or ""] += 1
        return "time or memory runs out" if noticed is None else str(noticed)


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a mutant survives that is not explained."""
    summary = __doc__.splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.random_mutants", description=summary)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--count", type=int, default=20, help="mutants of each group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="of tests for each mutant")
    parser.add_argument("--file", default="", help="only files whose path has this")
    parser.add_argument("--journal", type=Path, help="keep outcomes here, one JSON object a line")
    parser.add_argument("--list", action="store_true", help="only name the mutants")
    options = parser.parse_args(arguments)
    known: dict[str, str] = {}
    if options.journal is not None and options.journal.exists():
        known = {row["mutant"]: row["noticed"] for row in map(json.loads, options.journal.read_text().splitlines())}
    every = {m.name for group in GROUPS.values() for file in group.files for m in mutants(ROOT, file)}
    if stale := EXPLAINED.keys() - every:
        print("explained, and no mutants any more:", *sorted(stale), sep="\n  ")
        return 1

    def done(m: Mutant, noticed: str) -> None:
        known[m.name] = noticed
        if options.journal is not None:
            with options.journal.open("a") as journal:
                print(json.dumps({"mutant": m.name, "noticed": noticed}), file=journal)

    settings.register_profile("mutants", deadline=None, suppress_health_check=list(HealthCheck), database=None)
    settings.load_profile("mutants")
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
        if todo := [m for m in chosen if m.name not in known]:
            words = ["-qq", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
            if status := pytest.main([*words, *group.tests], plugins=[Attack(todo, options.seconds, done)]):
                return int(status)
        for m in chosen:
            verdict = known[m.name] or (f"harmless: {EXPLAINED[m.name]}" if m.name in EXPLAINED else "SURVIVES")
            print(f"{m.name} (line {m.line})\n  {verdict}", flush=True)
            survivors += verdict == "SURVIVES"
        total += len(chosen)
    print(f"{total} mutants, {survivors} survive that are not explained")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
