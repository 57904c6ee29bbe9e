"""Snippets of Markdown pages, run in the order of the page, and what they print compared with what is shown.

``python`` blocks are doctests that share one namespace.  In ``console`` blocks a line that starts with ``$`` is run by
a shell, and the lines up to the next one are what it prints.  Both run in one folder, so that one may read what the
other wrote.  ``sh`` blocks are not run: they set something up, and `setup_commands` gives their lines to a test.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

_FENCE = re.compile(r"^```(\w*)([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXTRA = re.compile(r"^`pip install symlayout\[(\w+)\]`", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, what else the fence says, its text, and the number of its first line from 0."""

    language: str
    info: str
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    for found in _FENCE.finditer(page):
        yield Block(found[1], found[2].strip(), found[3], page.count("\n", 0, found.start(3)))


def needs(page: str) -> list[str]:
    """Return the packages without which the snippets cannot run: those of the extras that the page says to install."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return [re.split(r"[^\w]", wanted)[0] for name in _EXTRA.findall(page) for wanted in extras[name]]


def links(page: str) -> list[str]:
    """Return the targets of the links and pictures of a page, outside its fenced blocks."""
    text = _FENCE.sub("", page)
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"""(?:src|srcset|href)=["']([^"'\s]+)["']""", text)


def setup_commands(page: str) -> list[str]:
    """Return the lines of the ``sh`` blocks, without comments."""
    lines = [line.partition("#")[0].strip() for b in blocks(page) if b.language == "sh" for line in b.text.splitlines()]
    return [line for line in lines if line]


def failures(page: str, name: str, folder: Path) -> str:
    """Run the snippets of a page in *folder*; return what differs, empty if nothing does."""
    variables, report = environment(folder), list[str]()
    shared: dict[str, Any] = {}
    for models in ("examples", "tests"):  # pages read the models that a checkout has
        (folder / models).symlink_to(ROOT / models)
    back = Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks(page):
            if block.language == "python":
                _run_python(block, name, shared, report)
            elif block.language == "console":
                report += [_difference(*step, variables, folder) for step in steps(block.text)]
    finally:
        os.chdir(back)
    return "".join(report)


def _run_python(block: Block, name: str, shared: dict[str, Any], report: list[str]) -> None:
    """Run one block as a doctest in the namespace of those before it."""
    test = doctest.DocTestParser().get_doctest(block.text, shared, name, name, block.line)
    if not test.examples:
        report.append(f"{name}:{block.line}: a python block without >>> is not run\n")
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    shared.update(test.globs)


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with what it is said to print."""
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        yield command, output


def _difference(command: str, output: str, variables: Mapping[str, str], folder: Path) -> str:
    """Return how a command fails or prints something else; empty if it prints *output*."""
    done = subprocess.run(
        command, shell=True, cwd=folder, env=variables, text=True, timeout=600, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    # 0 holds, 1 does not; other statuses are accidents, unless the page shows the error message
    if done.stdout == output and (done.returncode in (0, 1) or "error: " in output):
        return ""
    return f"$ {command}\nstatus {done.returncode}, expected:\n{output}printed:\n{done.stdout}"


def environment(folder: Path, root: Path = ROOT) -> dict[str, str]:
    """Return variables with which ``symlayout`` and ``python`` are this Python's, and the package that in *root*."""
    bin_folder = folder / ".bin"
    bin_folder.mkdir(exist_ok=True)
    for name, words in (("python", [sys.executable]), ("symlayout", [sys.executable, "-m", "symlayout"])):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        (bin_folder / name).chmod(0o755)
    path = os.pathsep.join([str(bin_folder), os.environ["PATH"]])
    sources = os.pathsep.join([str(root), str(root / "codegen")])
    return {**os.environ, "PATH": path, "PYTHONPATH": sources}
