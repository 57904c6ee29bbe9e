"""Describe the commands and their arguments as data, for the reference page and its tests."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

SEPARATOR = "--"  # between the two sides of a claim


@dataclass(frozen=True, slots=True)
class Option:
    """An argument of a command.  ``names`` has its flags; it is empty for a positional argument."""

    names: tuple[str, ...]
    metavar: str
    help: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """A command: its name, the first line of its module's docstring, the rest, the examples in it, its arguments."""

    name: str
    summary: str
    text: str
    examples: tuple[str, ...]
    options: tuple[Option, ...]


class _Recorder(argparse.ArgumentParser):
    """A parser that records the arguments that a command declares."""

    def __init__(self) -> None:
        super().__init__(add_help=False)
        self.found: list[Option] = []

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Declare an argument, and record it."""
        action = super().add_argument(*names, **options)
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        flags = tuple(name for name in names if name.startswith("-"))
        choices = tuple(map(str, action.choices or ()))
        text = (action.help or "").replace("%(choices)s", ", ".join(choices))
        self.found.append(Option(flags, metavar or ("" if flags else action.dest), text, choices))
        return action


def describe(name: str, module: ModuleType) -> Described:
    """Return the description of the command *name*, from its module."""
    recorder = _Recorder()
    module.add_arguments(recorder)
    add_common(recorder)
    summary, _, rest = (module.__doc__ or "").partition("\n")
    text, _, listed = rest.partition("for example:")
    examples = tuple(line.strip() for line in listed.splitlines() if line.strip())
    return Described(name, summary, text.strip(), examples, tuple(recorder.found))


def describe_all(commands: Mapping[str, ModuleType]) -> list[Described]:
    """Return the description of each command."""
    return [describe(name, module) for name, module in commands.items()]


def add_common(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that all commands have."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    seconds = "the most time that this may take: a verdict is UNKNOWN then, a model is the best one that was proved"
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help=seconds)
