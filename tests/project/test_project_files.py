"""What a project that one can join has beside its code: files that say the same as each other, and that exist."""

from __future__ import annotations

import re
import shlex
import tomllib

import symlayout as sl
from symlayout.commands.command_line import make_parser
from tests.support import snippets
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_one() -> None:
    cited = re.search(r"^version: (.+)$", text("CITATION.cff"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == PROJECT["version"] == sl.__version__
    assert f"\n## [{sl.__version__}]" in text("CHANGELOG.md")


def test_the_authors_and_the_licence_are_one() -> None:
    cited = text("CITATION.cff")
    assert [f"  - name: {author['name']}" in cited for author in PROJECT["authors"]] == [True]
    assert f"\nlicense: {PROJECT['license']}\n" in cited


def test_the_workflow_runs_what_a_change_must_pass() -> None:
    workflow = text(".github/workflows/ci.yml")
    assert "run: bash .ci/run" in workflow
    assert "run: make dist" in workflow
    tried = re.findall(r'"(3\.\d+)"', workflow.partition("matrix:")[2].partition("\n")[0])
    stated = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert set(stated) <= set(tried)
    assert f">={tried[0]}" == PROJECT["requires-python"]


def test_each_question_leads_to_a_command_that_is_read() -> None:
    rows = [line for line in text("docs/which-question.md").splitlines() if line.startswith("| ") and "](" in line]
    commands = [shlex.split(found) for row in rows for found in re.findall(r"`symlayout ([^`]+)`", row)]
    assert len(rows) == 7
    assert [make_parser(words[0]).parse_known_args(words)[1] for words in commands] == [[]] * len(commands)
    assert {words[0] for words in commands} == {"verify", "optimize", "emit", "run", "infer", "prove"}


def test_pages_at_the_root_link_to_what_exists() -> None:
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md"):
        for link in snippets.links(text(name)):
            assert re.match(r"https?:", link) or (ROOT / link.partition("#")[0]).exists(), f"{name} links to {link}"


def test_contributors_are_told_of_the_rules() -> None:
    guide = text("CONTRIBUTING.md")
    for name in ("CODE_OF_CONDUCT.md", "SECURITY.md", "docs/releasing.md"):
        assert f"({name})" in guide


def test_completion_offers_public_names_only() -> None:
    offered = {name for name in dir(sl) if not name.startswith("__")}
    assert offered == set(sl.__all__)
