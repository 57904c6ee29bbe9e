"""The README's snippets run in order and print what it shows.

``python`` blocks are doctests that share one namespace; in ``console`` blocks, lines that start with ``$`` are
run by a shell, and the other lines are what they print.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def failed_examples(text: str) -> str:
    """Run the Python blocks of *text*; return doctest's report of what differs, empty if nothing does."""
    report: list[str] = []
    # Blank lines for what is no Python keep the line numbers of the README.
    parts = re.split(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    code = "".join(part if k % 2 else "\n" * part.count("\n") + "\n" * (k > 0) for k, part in enumerate(parts))
    test = doctest.DocTestParser().get_doctest(code, {}, "README", "README.md", 0)
    assert test.examples
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    return "".join(report)


def console_steps(text: str) -> list[tuple[str, str]]:
    """Return the commands of the console blocks of *text* with what they are said to print."""
    steps = []
    for block in blocks(text, "console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            steps.append((command, output))
    return steps


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return variables with which `symlayout` and `python` are those of this test."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, words in (("python", [sys.executable]), ("symlayout", [sys.executable, "-m", "symlayout"])):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        (bin_folder / name).chmod(0o755)
    path = os.pathsep.join([str(bin_folder), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "codegen")])}


def test_python_snippets_print_what_is_shown() -> None:
    assert failed_examples(README) == ""


def test_a_wrong_output_is_noticed() -> None:
    assert README.count("(8, 4, 5, 3)") == 1
    assert "(8, 4, 5, 4)" in failed_examples(README.replace("(8, 4, 5, 3)", "(8, 4, 5, 4)"))


def test_commands_print_what_is_shown(environment: dict[str, str], tmp_path: Path) -> None:
    steps = console_steps(README)
    assert len(steps) >= 5
    for command, output in steps:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, text=True, timeout=120, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert (done.stdout, done.returncode) == (output, 0), command
    assert (tmp_path / "b.npy").exists()


def test_make_targets_and_files_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"\bmake (\w+)", "\n".join(blocks(README, "sh")))
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) >= 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_snippet_is_run_or_a_setup_command() -> None:
    languages = re.findall(r"^```(\w*)$", README, re.MULTILINE)
    assert set(languages[::2]) <= {"python", "console", "sh"}
    assert set(languages[1::2]) == {""}
