"""The public API as a user's typed program sees it, and what a wheel would hold.

mypy checks the program with everything else (`make lint`); `make dist` checks it against what it builds and installs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.support.paths import ROOT

CONSUMER = ROOT / "tests" / "consumer"
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
SOURCES = {"symlayout": ROOT / "symlayout", "symlayout_codegen": ROOT / "codegen" / "symlayout_codegen"}


def package_of(folder: Path) -> str:
    """Return the dotted name of a folder of one of the two source roots."""
    (name, root), *_ = [(name, root) for name, root in SOURCES.items() if folder.is_relative_to(root)]
    return ".".join([name, *folder.relative_to(root).parts])


@pytest.mark.slow
def test_the_program_runs() -> None:
    path = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'codegen')!r}]"
    code = f"{path}; import runpy; runpy.run_path({str(CONSUMER / 'program.py')!r}, run_name='__main__')"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=600)


def test_pyright_finds_the_types_and_the_mistakes() -> None:
    pyright = shutil.which("pyright", path=f"{Path(sys.executable).parent}") or shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed")
    command = [pyright, "-p", str(CONSUMER), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout
    assert "0 errors, 0 warnings" in done.stdout


def test_every_package_is_built() -> None:
    """A package needs an `__init__`, by which setuptools finds it below one of the two roots."""
    find = SETUPTOOLS["packages"]["find"]
    assert {ROOT / where / name for where in find["where"] for name in SOURCES} >= set(SOURCES.values())
    assert all(any(fnmatch(name, pattern) for pattern in find["include"]) for name in SOURCES)
    assert find["namespaces"] is False
    folders = {file.parent for root in SOURCES.values() for file in root.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_every_other_file_is_built_too() -> None:
    """The C templates, the parts of the C runtime, and the markers of typed packages."""
    kept = SETUPTOOLS["package-data"]
    others = [f for root in SOURCES.values() for f in root.rglob("*.*") if f.suffix not in (".py", ".pyc")]
    assert {f.name for f in others} >= {"py.typed", "copy_rows.h", "symlayout_kernels.h"}
    for file in others:
        package = next(folder for folder in file.parents if (folder / "__init__.py").is_file())
        patterns = [*kept.get(package_of(package), []), *kept.get("*", [])]
        path = file.relative_to(package).as_posix()
        assert any(fnmatch(path, pattern) for pattern in patterns), file
