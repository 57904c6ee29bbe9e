"""The README's snippets run in order and print what it shows; its links and targets exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import snippets
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_snippets_print_what_is_shown(tmp_path: Path) -> None:
    assert sum(block.language in ("python", "console") for block in snippets.blocks(README)) >= 5
    assert snippets.failures(README, "README.md", tmp_path) == ""


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [line.split()[1] for line in snippets.setup_commands(README) if line.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_files_that_are_linked_exist() -> None:
    linked = [link.partition("#")[0] for link in snippets.links(README) if not re.match(r"https?:|#", link)]
    assert len(linked) >= 5
    assert [link for link in linked if not (ROOT / link).exists()] == []


def test_every_snippet_is_run_or_a_setup_command() -> None:
    assert {block.language for block in snippets.blocks(README)} == {"python", "console", "sh"}
