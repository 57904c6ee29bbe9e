"""A git repository with models, for tests of what continuous integration does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.onnx_writer import model, node, value_info

_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "t"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "t@t"),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True, env=_ENVIRONMENT
    ).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "m")
    return git(folder, "rev-parse", "HEAD")


def write(path: Path, *perms: tuple[int, int], op: str = "Relu") -> Path:
    """Write a model that moves by each of *perms*, and then computes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nodes = [node("Transpose", f"v{k}", f"v{k + 1}", perm=list(perm)) for k, perm in enumerate(perms)]
    path.write_bytes(model([*nodes, node(op, f"v{len(perms)}", "y")], [value_info("v0", ("N", "M"))]))
    return path


def repository(folder: Path) -> Path:
    """Return a repository with three models that are committed."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    write(folder / "nets" / "same.onnx", (1, 0), (1, 0))
    write(folder / "nets" / "other.onnx", (1, 0))
    write(folder / "left.onnx")
    (folder / "settings.xml").write_text("<project/>")
    commit(folder)
    return folder
