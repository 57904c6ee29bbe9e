"""Models of a repository are compared with what they were at a commit."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

import symlayout as sl
from symlayout.commands.ci.changed_models import changed_models
from symlayout.commands.output.report import ExitStatus
from symlayout.errors import FormatError, MissingFileError
from tests.commands.ci.repository import commit, git, repository, write
from tests.commands.outcome import MODELS, Command


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = repository(tmp_path / "repo")
    monkeypatch.chdir(made)
    return made


def test_what_was_changed_is_found_with_its_old_file(repo: Path) -> None:
    write(repo / "nets" / "same.onnx")
    write(repo / "new.onnx")
    git(repo, "add", "new.onnx")
    git(repo, "mv", "nets/other.onnx", "nets/moved.onnx")
    (repo / "settings.xml").write_text("<project>net</project>")
    with changed_models("HEAD") as found:
        assert [(m.name, m.before is None) for m in found] == [
            ("nets/moved.onnx", False), ("nets/same.onnx", False), ("new.onnx", True),
        ]  # fmt: skip
        old = found[1].before
        assert old is not None
        assert len(sl.read_model(old).nodes) == 3
        assert len(sl.read_model(found[1].after).nodes) == 1
    assert not old.exists()


def test_the_index_of_the_repository_is_left_alone(repo: Path) -> None:
    write(repo / "nets" / "same.onnx")
    git(repo, "add", "-A")
    write(repo / "left.onnx", op="Abs")
    before = git(repo, "status", "--porcelain")
    with changed_models("HEAD"):
        pass
    assert git(repo, "status", "--porcelain") == before


def test_constants_beside_a_model_come_with_it(repo: Path) -> None:
    for name in ("space_to_depth.xml", "space_to_depth.bin"):
        (repo / name).write_bytes((MODELS / name).read_bytes())
    commit(repo)
    (repo / "space_to_depth.bin").write_bytes((MODELS / "space_to_depth.bin").read_bytes() + b"more")
    with changed_models("HEAD") as found:
        assert [m.name for m in found] == ["space_to_depth.xml"]
        assert found[0].before is not None
        assert found[0].before.with_suffix(".bin").is_file()


def test_only_the_files_that_are_named_are_looked_at(repo: Path) -> None:
    write(repo / "nets" / "same.onnx")
    write(repo / "left.onnx", op="Abs")
    os.chdir(repo / "nets")
    with changed_models("HEAD", ["same.onnx"]) as found:
        assert [m.name for m in found] == ["nets/same.onnx"]
    with pytest.raises(MissingFileError), changed_models("HEAD", ["nowhere.onnx"]):
        pass


@pytest.mark.parametrize("since", ["nothing", "--output=x", "HEAD:left.onnx", ""])
def test_what_is_no_commit_is_refused(repo: Path, since: str) -> None:
    with pytest.raises(FormatError, match="git"), changed_models(since):
        pass


def test_a_link_in_the_old_folder_leads_nowhere(repo: Path) -> None:
    (repo / "nets" / "link.bin").symlink_to("/etc/hostname")
    commit(repo)
    write(repo / "nets" / "same.onnx")
    with changed_models("HEAD") as found:
        (model,) = found
        assert model.before is not None
        assert not (model.before.parent / "link.bin").is_symlink()


def test_verify_says_what_became_of_each_model(symlayout: Command, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo / "nets" / "same.onnx")
    write(repo / "left.onnx", op="Abs")
    (repo / "nets" / "other.onnx").write_bytes(b"no model")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repo / "summary.md"))
    done = symlayout(
        "verify", "--since", "HEAD", "--json", "--junit", "r.xml", "--github", "--html", "pages", "--no-run"
    )
    assert done.status == ExitStatus.FAILS
    data = json.loads(done.out)
    results = {name: found["result"] for name, found in data["models"].items()}
    assert results == {"left.onnx": "REFUTED", "nets/other.onnx": "ERROR", "nets/same.onnx": "PROVED"}
    suite = ElementTree.parse(repo / "r.xml").getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert sorted(p.name for p in (repo / "pages").iterdir()) == ["left.onnx.html", "nets%2Fsame.onnx.html"]
    assert "| left.onnx | ❌ REFUTED |" in (repo / "summary.md").read_text(encoding="utf-8")
    assert [line.partition(" ")[0] for line in done.err.splitlines()] == ["::error", "::error", "::notice"]


def test_nothing_to_compare_is_no_failure(symlayout: Command, repo: Path) -> None:
    done = symlayout("verify", "--since", "HEAD")
    assert (done.status, done.out) == (ExitStatus.HOLDS, "no model was changed since 'HEAD'\n")
