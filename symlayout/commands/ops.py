"""List the operations: core operations by name, and those of frameworks as framework:Name.

for example:
  symlayout ops
  symlayout ops openvino
  symlayout ops space depth
  symlayout ops --markdown > docs/ops.md
"""

from __future__ import annotations

import argparse
import inspect
from dataclasses import asdict, dataclass

from symlayout.commands import subject
from symlayout.commands.output import ops_page
from symlayout.commands.output.report import ExitStatus, Report, columns
from symlayout.frontends import registry


@dataclass(frozen=True, slots=True)
class _Op:
    """An operation: its name, its parameters, and the first line of its docstring."""

    name: str
    parameters: list[str]
    summary: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("words", nargs="*", metavar="WORD", help="list only the names that contain every WORD")
    parser.add_argument("--markdown", action="store_true", help="print the page of all operations, with examples")


def run(arguments: argparse.Namespace) -> Report:
    """Return the operations, or the page of all operations."""
    if arguments.markdown:
        page = ops_page.markdown()
        return Report(page, {"markdown": page})
    wanted = [word.lower() for word in arguments.words]
    names = [name for name in (*subject.CORE_OPS, *registry.names()) if all(w in name.lower() for w in wanted)]
    described = [_describe(name) for name in names]
    rows = [(op.name, f"({', '.join(op.parameters)})  {op.summary}".rstrip()) for op in described]
    data = {"ops": [asdict(op) for op in described]}
    return Report(
        columns(rows) or "no operation has such a name", data, ExitStatus.HOLDS if names else ExitStatus.FAILS
    )


def _describe(name: str) -> _Op:
    function = subject.find(name)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    shown = [str(p.replace(annotation=inspect.Parameter.empty)) for p in parameters]
    return _Op(name, shown, (inspect.getdoc(function) or "").partition("\n")[0])
