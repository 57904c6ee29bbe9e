"""The command line: ask, write, compare."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from tests import freeze
from tests.freeze.ask import Answer, Question
from tests.freeze.compare import changes, counts, report
from tests.freeze.questions import GROUPS, skipped
from tests.freeze.run import asked


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return 1 if something is worse than in the file to compare with."""
    parser = argparse.ArgumentParser(prog="python -m tests.freeze", description=freeze.__doc__)
    parser.add_argument("--out", type=Path, help="the file to write")
    parser.add_argument(
        "--compare", type=Path, nargs="+", metavar="FILE",
        help="OLD, or OLD and NEW: say what changed between two files; without NEW, the questions are asked now",
    )  # fmt: skip
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of questions ({','.join(GROUPS)})")
    parser.add_argument(
        "--sample", type=int, help="at most so many questions of a group, evenly chosen; all without it"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument(
        "--limit-seconds",
        type=float,
        default=120.0,
        help="processor time for one question, then there is no answer (120)",
    )
    options = parser.parse_args(arguments)
    files = options.compare or []
    if len(files) > 2 or not (options.out or files) or (len(files) == 2 and options.out):
        parser.error("give --out FILE, --compare OLD, both, or --compare OLD NEW")
    if unknown := set(options.only.split(",")) - set(GROUPS):
        parser.error(f"there is no group {' '.join(sorted(unknown))}")
    old = read(files[0]) if files else {}
    new = read(files[1]) if len(files) == 2 else ask(options)
    if len(files) < 2:
        print(counts(new.values()))
    if not files:
        return 0
    print(report(old, new))
    return int(changes(old, new).is_worse)


def read(path: Path) -> dict[str, Answer]:
    """Return the answers of a file by their keys."""
    answers = map(Answer.from_json, path.read_text(encoding="utf-8").splitlines())
    return {a.key: a for a in answers}


def ask(options: argparse.Namespace) -> dict[str, Answer]:
    """Ask the questions of the chosen groups, and write each answer as soon as those before it are there."""
    chosen: dict[str, Question] = {}
    for group in options.only.split(","):
        chosen |= {q.key: q for q in spread(list(GROUPS[group]()), options.sample)}
        if group == "tools":
            print(*(f"skipped {reason}" for reason in skipped()), sep="\n", file=sys.stderr)
    found: dict[str, Answer] = {}
    with options.out.open("w", encoding="utf-8") if options.out else contextlib.nullcontext() as file:
        for a in asked(list(chosen.values()), options.jobs, options.limit_seconds):
            found[a.key] = a
            if file:
                print(a.to_json(), file=file, flush=True)
    return found


def spread(questions: list[Question], most: int | None) -> list[Question]:
    """Return at most so many questions, evenly chosen."""
    count = len(questions) if most is None else min(most, len(questions))
    return [questions[k * len(questions) // count] for k in range(count)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
