"""The option ``--html``: what a command found, as a page that needs no network."""

from __future__ import annotations

import argparse
from pathlib import Path

import symlayout as sl
from symlayout.errors import one_line
from symlayout.models.model import Model
from symlayout.show.whole_file import write_file


def add_html(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    text = "write a page with the graph and every shape to FILE, which needs no network"
    parser.add_argument("--html", metavar="FILE", type=Path, help=text)


def write_html(found: Model | sl.Verification, arguments: argparse.Namespace, said: str = "\nwrote ") -> str:
    """Write the page if it is asked for, and return a line that says so."""
    if arguments.html is None:
        return ""
    write_file(arguments.html, found.html(arguments.made_by).encode("utf-8"))
    return f"{said}{one_line(str(arguments.html), 4096)}"
