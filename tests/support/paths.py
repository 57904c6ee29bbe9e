"""Where things are: the root of the checkout, the C programs of the tests, and the file of a module by its name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").is_file())
"""The folder of the checkout."""

PACKAGES = {"symlayout": ROOT / "symlayout", "symlayout_codegen": ROOT / "codegen" / "symlayout_codegen"}
"""The folder of each package."""

C_SOURCES = ROOT / "tests" / "c"
"""The folder of the C programs of the tests."""

LEAVES = ("transposes", "rows", "deals", "streams")
"""Programs there that compare the runtime's functions with loops over single elements."""


def source(module: str) -> str:
    """Return the file of a module, relative to `ROOT`; its name may leave out the rooms that it stands in.

    >>> source("floor_normal_form")
    'symlayout/algebra/floor_normal_form.py'
    >>> source("symlayout_codegen.jit.kernel")
    'codegen/symlayout_codegen/jit/kernel.py'

    Raises
    ------
    LookupError
        No module, or more than one, has that name.
    """
    return _file(module, PACKAGES.values())


def path_of_test(name: str) -> str:
    """Return the file of a test module, relative to `ROOT`; its name may leave out the rooms that it stands in.

    >>> path_of_test("test_polynomial")
    'tests/algebra/test_polynomial.py'

    Raises
    ------
    LookupError
        No module, or more than one, has that name.
    """
    return _file(name, [ROOT / "tests"])


def _file(module: str, folders: Iterable[Path]) -> str:
    tail = "/" + module.replace(".", "/") + ".py"
    found = [f for folder in folders for f in _files(folder) if f"/{f}".endswith(tail)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} modules are called {module}: {found}")
    return found[0]


@cache
def _files(folder: Path) -> list[str]:
    return [f.relative_to(ROOT).as_posix() for f in sorted(folder.rglob("*.py"))]
