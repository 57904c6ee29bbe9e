"""The operation that CONTRIBUTING.md adds as an example, added to a copy of the package."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import snippets
from tests.support.paths import ROOT

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIED = ("symlayout", "codegen", "docs", "tests", "pyproject.toml", "mkdocs.yml", "README.md", "Makefile")
# What has to be said of an operation is asked for by these.
ASKED = ["tests/ops/test_quarter_turn.py", "tests/project/test_docstrings.py", "symlayout/ops/quarter_turn.py"]


def title(block: snippets.Block) -> str:
    found = re.fullmatch(r'title="(.+)"', block.info)
    return found[1] if found else ""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with what the guide adds."""
    copy = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, copy / name)
    for block in snippets.blocks(GUIDE):
        file = copy / title(block)
        if block.language == "python":
            assert not file.exists()
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "diff":
            before = "".join(line[1:] for line in block.text.splitlines(keepends=True) if line[0] != "+")
            after = "".join(line[1:] for line in block.text.splitlines(keepends=True) if line[0] != "-")
            text = file.read_text(encoding="utf-8")
            assert text.count(before) == 1, f"{title(block)} does not have the lines that the guide shows, once"
            file.write_text(text.replace(before, after), encoding="utf-8")
    return copy


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, env=snippets.environment(folder, folder), text=True, timeout=600,
        check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
def test_the_operation_passes_the_tests_that_ask_for_its_parts(changed: Path) -> None:
    assert " passed" in run(changed, "pytest", "-q", "-p", "no:cacheprovider", "-k", "quarter_turn", *ASKED)


@pytest.mark.slow
def test_the_operation_is_in_the_table(changed: Path) -> None:
    page = run(changed, "symlayout", "ops", "--markdown")
    assert "| `quarter_turn` | `numpy.rot90` |" in page


@pytest.mark.slow
def test_the_command_line_has_it(changed: Path) -> None:
    (block,) = [block for block in snippets.blocks(GUIDE) if block.language == "console"]
    ((command, output),) = snippets.steps(block.text)
    assert run(changed, *shlex.split(command)) == output


def test_targets_and_files_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", "\n".join(snippets.setup_commands(GUIDE)), re.MULTILINE)
    assert targets
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []
    named = re.findall(r"`((?:symlayout|docs|tests|generated|\.ci)/[\w/.-]+)`", GUIDE)
    assert [n for n in named if not (ROOT / n).exists() and "FRAMEWORK" not in n] == []
    assert [link for link in snippets.links(GUIDE) if not (ROOT / link).exists()] == []
