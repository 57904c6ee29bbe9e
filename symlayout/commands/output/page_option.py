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
    parser.set_defaults(made_by="")  # the command line, where there is one
    parser.add_argument("--html", metavar="FILE", type=Path, help=text)


def write_html(found: Model | sl.Verification, path: Path | None, made_by: str, said: str = "\nwrote ") -> str:
    """Write the page if there is a path for it, in a folder that may be new, and return a line that says so."""
    if path is None:
        return ""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, found.html(made_by).encode("utf-8"))
    return f"{said}{one_line(str(path), 4096)}"
