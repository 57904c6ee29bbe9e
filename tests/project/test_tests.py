"""The tests mirror the package: each module is named by a test, folders are small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import PACKAGES, ROOT

MOST_MODULES = 20


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, and those of modules that it has as text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


MODULES = [
    ".".join([package, *file.relative_to(folder).with_suffix("").parts])
    for package, folder in PACKAGES.items()
    for file in sorted(folder.rglob("*.py"))
    if file.stem != "__init__"
]
FOLDERS = sorted({file.parent.relative_to(ROOT).as_posix() for file in (ROOT / "tests").rglob("*.py")})


@pytest.fixture(scope="module")
def named() -> set[str]:
    return {name for file in (ROOT / "tests").rglob("test_*.py") for name in imported(file)}


@pytest.mark.sample(100)
@pytest.mark.parametrize("module", MODULES)
def test_some_test_names_the_module(module: str, named: set[str]) -> None:
    assert module in named, f"no test imports {module}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_has_few_modules(folder: str) -> None:
    assert len(list((ROOT / folder).glob("*.py"))) <= MOST_MODULES


def test_no_two_tests_have_one_name() -> None:
    names = [file.stem for file in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
