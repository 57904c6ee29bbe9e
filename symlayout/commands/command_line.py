"""The command line ``symlayout COMMAND ...``.  Each command is a module of `symlayout.commands`.

`symlayout.commands.output.report.ExitStatus` has the exit statuses.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import re
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import NoReturn, TextIO

from symlayout import __version__
from symlayout.commands.output import paint
from symlayout.commands.output.describe import SEPARATOR, add_common
from symlayout.commands.output.progress import progress
from symlayout.commands.output.report import ExitStatus, Report, columns
from symlayout.deadlines import within
from symlayout.errors import SymlayoutError, TimeLimitError, legible, shown


class _Commands(Mapping[str, ModuleType]):
    """The commands by name; a module is imported when it is asked for, which takes most of the time of a start."""

    _NAMES = (
        "infer",
        "show",
        "explain",
        "prove",
        "verify",
        "check",
        "optimize",
        "emit",
        "run",
        "bench",
        "ops",
        "doctor",
        "cache",
        "completion",
        "help",
    )

    def __getitem__(self, name: str) -> ModuleType:
        if name not in self._NAMES:
            raise KeyError(name)
        return import_module(f"symlayout.commands.{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)

    def text(self, name: str) -> str:
        """Return what a command says of itself; its module is not imported for it."""
        spec = find_spec(f"symlayout.commands.{name}")
        source = getattr(spec.loader, "get_source", lambda _: None)(spec.name) if spec else None
        return (ast.get_docstring(ast.parse(source)) if source else self[name].__doc__) or ""


COMMANDS = _Commands()
_ANSWER_IN_PART = ("prove", "verify", "optimize")
EXAMPLES = f"""
for example:
  symlayout infer "N,C,2*h,2*w" "onnx:SpaceToDepth(blocksize=2)" "transpose(0,2,3,1)"
  symlayout prove "N,H,W,C" "space_to_batch([2,2], [[1,1],[1,1]])" "batch_to_space([2,2], [[1,1],[1,1]])"
  symlayout show "H,W" "pad(1)" "flip(0)" --svg map.svg
  symlayout help explain

exit status:
{columns([(f"  {status}", status.meaning) for status in ExitStatus])}
"""


class UsageError(Exception):
    """A command line that is wrong; *prog* is the command whose help says what is right."""

    def __init__(self, message: str, prog: str) -> None:
        super().__init__(message)
        self.prog = prog


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are exceptions."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` with *message*."""
        typed = re.search(r"COMMAND: invalid choice: '([^']*)'", message)
        if typed is not None:
            near = difflib.get_close_matches(typed[1], COMMANDS, n=1)
            meant = f"; the nearest is {near[0]}" if near else ""
            message = f"no command is called {shown(typed[1])}{meant}"
        raise UsageError(message, self.prog)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line *argv*, by default the process's own, and return the exit status."""
    words, right = _split(list(sys.argv[1:] if argv is None else argv))
    as_json, prog = "--json" in words, "symlayout"
    try:
        parser = make_parser(next((word for word in words if not word.startswith("-")), ""))
        arguments, unknown = parser.parse_known_args([_guarded(word) for word in words])
        prog = f"{parser.prog} {arguments.command}"
        _join(arguments, unknown)
        if unknown:
            raise UsageError(f"unrecognized arguments: {' '.join(unknown)}", prog)
        arguments.right, arguments.commands = right, COMMANDS
        arguments.made_by = shlex.join(["symlayout", *words, *(["--", *right] if right else [])])
        if right and arguments.command != "prove":
            raise argparse.ArgumentError(
                None, f"-- separates the two sides of prove; {arguments.command} does not take it"
            )
        with _leaving_when_terminated(), warnings.catch_warnings():
            warnings.showwarning = _show_warning
            with nullcontext() if arguments.command == "bench" else progress(arguments.command, sys.stderr):
                report = _answered(arguments)
        _print(report, as_json)
        return report.status
    except argparse.ArgumentError as error:
        return _refuse_usage(UsageError(error.message, prog), as_json)
    except UsageError as error:
        return _refuse_usage(error, as_json)
    except SystemExit as leaving:  # argparse: --help and --version
        return leaving.code if isinstance(leaving.code, int) else ExitStatus.USAGE
    except BrokenPipeError:
        # The reader of standard output is gone: discard what Python still buffers for it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.ERROR
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except (SymlayoutError, OSError, MemoryError) as error:
        return _refuse(error, "\n  ".join([str(error), *getattr(error, "__notes__", ())]), as_json)
    except Exception as error:  # a defect of symlayout: print one message instead of a traceback
        if os.environ.get("SYMLAYOUT_TRACEBACK"):
            raise
        defect = f"{error}\n  help: this is a defect of symlayout; SYMLAYOUT_TRACEBACK=1 shows where it is"
        return _refuse(error, defect, as_json)


def _answered(arguments: argparse.Namespace) -> Report:
    """Return the answer of a command; those whose function has a time limit of its own answer in part."""

    def refused() -> NoReturn:
        raise TimeLimitError(f"{arguments.command} has no answer within {arguments.time_limit:g} seconds")

    run: Callable[[argparse.Namespace], Report] = COMMANDS[arguments.command].run
    seconds = None if arguments.command in _ANSWER_IN_PART else arguments.time_limit
    return within(seconds, lambda: run(arguments), refused)


@contextmanager
def _leaving_when_terminated() -> Iterator[None]:
    """Let SIGTERM end the block as an error does, so that a file is complete or removed."""
    if threading.current_thread() is not threading.main_thread():  # only that one may set handlers
        yield
        return

    def leave(*_: object) -> NoReturn:
        raise SystemExit(ExitStatus.TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the arguments of one *command*, or of all."""
    parser = _Parser(
        prog="symlayout",
        description="Tensor layouts as index maps: shapes, kernels and proofs.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"symlayout {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        text = COMMANDS.text(name)
        made = commands.add_parser(
            name,
            help=text.partition("\n")[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command in (None, name):
            COMMANDS[name].add_arguments(made)
            add_common(made)
    return parser


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words before ``--`` and the steps after it.  argparse would join the two."""
    if SEPARATOR not in words:
        return words, []
    at = words.index(SEPARATOR)
    right = words[at + 1 :]
    return words[:at] + ["--json"] * ("--json" in right), [word for word in right if word != "--json"]


def _join(arguments: argparse.Namespace, unknown: list[str]) -> None:
    """Move steps that stand after an option from *unknown* to their subject, which argparse ends at the option."""
    subject = getattr(arguments, "subject", None)
    if subject and not any(word.startswith("-") and word != "-" for word in unknown):
        subject += unknown
        unknown.clear()


def _guarded(word: str) -> str:
    """Return *word* with a space before a leading minus: argparse would take the shape ``-1,3`` for an option."""
    return f" {word}" if re.match(r"-\d", word) else word


def _print(report: Report, as_json: bool) -> None:
    """Print the report on standard output."""
    if as_json:
        print(json.dumps(report.data, indent=2, ensure_ascii=True))
    elif report.text:
        paint.write(report.text, sys.stdout, paint.ANSWER)
    sys.stdout.flush()


def _refuse(error: Exception, message: str, as_json: bool) -> int:
    """Print an error with its type and kind, and return the exit status."""
    name, kind = type(error).__name__, getattr(error, "kind", None)
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if as_json:
        _print_error(name, kind, message)
    text = f"{name}{f' ({kind})' if kind else ''}: {message}".rstrip(": ")
    paint.write(text, sys.stderr, paint.ERROR)
    return ExitStatus.ERROR


def _refuse_usage(error: UsageError, as_json: bool) -> int:
    """Print what is wrong with the command line and whose help to read, and return the exit status."""
    if as_json:
        _print_error("UsageError", None, str(error))
    print(f"{error.prog}: {legible(str(error))}\n  help: {error.prog} --help", file=sys.stderr)
    return ExitStatus.USAGE


def _print_error(name: str, kind: str | None, message: str) -> None:
    """Print an error as data on standard output."""
    data = {"error": {"type": name, "kind": kind, "message": message}}
    print(json.dumps(data, indent=2, ensure_ascii=True), flush=True)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning without its source line."""
    print(f"{category.__name__}: {legible(str(message))}", file=sys.stderr)
