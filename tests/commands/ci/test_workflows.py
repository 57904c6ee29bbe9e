"""The action, the hook and the plugin of pytest, as services and pytest run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pytest

import symlayout_pytest
from tests.commands.ci.repository import git, repository, write
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment in which ``symlayout`` is this checkout's command."""
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "symlayout"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m symlayout "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(ROOT), str(ROOT / "codegen")])
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path, **more}


def test_the_action_verifies_what_a_push_changes(tmp_path: Path) -> None:
    """Its last step runs as the runner runs it, in a clone without history."""
    origin = repository(tmp_path / "repo")
    base = git(origin, "rev-parse", "HEAD")
    write(origin / "nets" / "same.onnx")
    git(origin, "commit", "-q", "-a", "-m", "m")
    git(tmp_path, "clone", "-q", "--depth=1", origin.as_uri(), "clone")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    steps = (ROOT / "action.yml").read_text(encoding="utf-8")
    script = dedent(steps.rpartition("run: |\n")[2])
    assert set(re.findall(r"\$\{?([A-Z]+)\b", script)) == {"SINCE", "MODELS", "LAWS", "LIMIT", "PAGES"}
    settings = {"SINCE": base, "MODELS": "", "LAWS": "signed-zero reassociate", "LIMIT": "100", "PAGES": "pages"}
    summary = tmp_path / "summary.md"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path / "clone",
        capture_output=True,
        text=True,
        env=environment(tmp_path, **settings, GITHUB_STEP_SUMMARY=str(summary)),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "::notice file=nets/same.onnx,title=symlayout%3A PROVED::" in done.stdout
    assert "| nets/same.onnx | ✅ PROVED |" in summary.read_text(encoding="utf-8")
    assert sorted(p.name for p in (tmp_path / "clone" / "pages").iterdir()) == ["nets%2Fsame.onnx.html", "results.xml"]


def test_the_hook_refuses_a_commit_that_changes_what_a_model_computes(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    write(repo / "left.onnx", op="Abs")
    write(repo / "nets" / "same.onnx")
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (entry,) = re.findall(r"^  entry: (.*)$", hook, re.MULTILINE)
    (files,) = re.findall(r"^  files: (.*)$", hook, re.MULTILINE)
    assert re.search(files, "nets/same.onnx")
    env = environment(tmp_path)
    statuses = [
        subprocess.run([*entry.split(), name], cwd=repo, env=env, capture_output=True, check=False).returncode
        for name in ("left.onnx", "nets/same.onnx")
    ]
    assert statuses == [1, 0]


def test_the_fixture_of_pytest_fails_with_a_page_and_notes_the_verdict(tmp_path: Path) -> None:
    write(tmp_path / "a.onnx", (1, 0), (1, 0))
    write(tmp_path / "b.onnx")
    write(tmp_path / "c.onnx", op="Abs")
    (tmp_path / "test_models.py").write_text(
        dedent("""
            def test_same(assert_same_model):
                assert_same_model("a.onnx", "b.onnx")

            def test_other(assert_same_model):
                assert_same_model("a.onnx", "c.onnx", run=False)
        """)
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    plugin = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["pytest11"]
    assert plugin == {"symlayout": symlayout_pytest.__name__}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", plugin["symlayout"], "--symlayout-html", "pages", "--junitxml", "r.xml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "REFUTED: the models differ." in done.stdout
    assert [p.name for p in (tmp_path / "pages").iterdir()] == ["test_models.py-test_other-1.html"]
    properties = [p.get("value") for p in ElementTree.parse(tmp_path / "r.xml").iter("property")]
    assert properties == ["PROVED", "REFUTED"]
