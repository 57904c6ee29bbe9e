"""Imports run the way that docs/architecture.md says; the page's two fenced blocks are read here."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import symlayout as sl
from tests.support.draw_rooms import PLACES
from tests.support.paths import PACKAGES, ROOT

RUNS_WHAT_IT_READS = {"eval", "exec", "sympify", "parse_expr", "__import__"}
LOADS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}


def source_modules() -> dict[str, Path]:
    """Return the file of every module of both packages, by dotted name."""
    modules = {}
    for package, folder in PACKAGES.items():
        for file in sorted(folder.rglob("*.py")):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            if parts[-1] == "__init__" and len(parts) > 2:
                parts.pop()
            modules[".".join(parts)] = file
    return modules


MODULES = source_modules()


@cache
def nodes_of(name: str) -> tuple[ast.AST, ...]:
    """Return all nodes of the syntax tree of the module *name*."""
    return tuple(ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"), name)))


@cache
def imports_of(name: str) -> list[str]:
    """Return what the module *name* imports, also inside functions, sorted."""
    return sorted(set(imports(name, nodes_of(name))))


def imports_at_run_time(name: str) -> list[str]:
    """Return the imports of a module, for the facade without those that are for annotations."""
    if name != FACADE:
        return imports_of(name)
    blocks = [n for n in nodes_of(name) if isinstance(n, ast.If) and _last_name(n.test) == "TYPE_CHECKING"]
    annotations = {node for block in blocks for node in ast.walk(block)}
    return sorted(set(imports(name, (n for n in nodes_of(name) if n not in annotations))))


def imports(name: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the absolute names that the imports among *nodes* of the module *name* ask for.

    ``from package import name`` yields ``package.name`` if that is a module of ours, else ``package``.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name.split(".")[: -node.level]
                base = ".".join([*package, base]).rstrip(".")
            for alias in node.names:
                yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base
        elif isinstance(node, ast.Call) and _last_name(node.func) == "import_module":
            yield from (str(arg.value) for arg in node.args if isinstance(arg, ast.Constant))


def _last_name(function: ast.expr) -> str | None:
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return str(name)
    return None


def ours(imported: str) -> str | None:
    """Return the module of this project that *imported* names, a package standing for its ``__init__``."""
    for candidate in (imported, f"{imported}.__init__"):
        if candidate in MODULES:
            return candidate
    return None


def short(name: str) -> str:
    """Return the name that the blocks use: modules of symlayout without the package."""
    return name.removeprefix("symlayout.")


def block(kind: str) -> list[str]:
    """Return the lines of the fenced block *kind* of docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"docs/architecture.md has {len(found)} blocks {kind!r}"
    return [line for line in found[0].splitlines() if line.strip()]


def matches(name: str, patterns: str) -> bool:
    """Tell whether *name* is one of the space-separated *patterns*; ``p.*`` includes ``p`` itself."""
    return any(fnmatchcase(name, p) or name == p.removesuffix(".*") for p in patterns.split())


ROOMS = [line.partition(":")[0].strip() for line in block("rooms")]
FACADE = "symlayout.facade"
MOST_MODULES = 20
MOST_LINES = 600


def room(name: str) -> int:
    """Return the place of the room in which the module *name* stands: the longest line that it begins with."""
    if name.endswith(".__init__") and name.count(".") == 1:
        name = name.removesuffix(".__init__")
    lines = [r for r in ROOMS if name == r or name.startswith(f"{r}.")]
    assert lines, f"{name} is in no room of docs/architecture.md"
    found = max(lines, key=len)
    assert found != "symlayout" or name == found, f"{name} is in no room of docs/architecture.md"
    return ROOMS.index(found)


def test_the_sources_are_found() -> None:
    assert {"symlayout.__init__", "symlayout_codegen.__init__"} <= MODULES.keys()
    assert sum(len(imports_of(name)) for name in MODULES) > len(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_from_its_own_room_and_from_lower_ones(name: str) -> None:
    if name == "symlayout_codegen.__init__":  # the face, which imports what it offers when it is used
        return
    assert [i for i in imports_at_run_time(name) if (found := ours(i)) and room(found) > room(name)] == []


@pytest.mark.parametrize("name", ROOMS)
def test_every_room_has_a_module(name: str) -> None:
    assert any(room(module) == ROOMS.index(name) for module in MODULES)


def test_the_picture_has_every_room_that_is_a_folder() -> None:
    folders = {name for name in ROOMS if (PACKAGES["symlayout"] / name.removeprefix("symlayout.")).is_dir()}
    assert "symlayout.models" in folders
    assert folders - PLACES.keys() == set()


def test_no_modules_import_each_other() -> None:
    """Imports in functions and for annotations count; only the facade has annotations of higher rooms."""
    faces = {"symlayout.__init__", "symlayout_codegen.__init__"}
    graph = {
        name: {found for i in imports_at_run_time(name) if (found := ours(i)) is not None and found != name} - faces
        for name in MODULES
        if name not in faces
    }
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES) - len(faces)


def test_what_is_registered_for_the_facade_is_there() -> None:
    functions = {node.name for node in nodes_of(FACADE) if isinstance(node, ast.FunctionDef)}
    assert functions == sl.facade.registered.keys() == sl._REGISTERED.keys()
    for place in sl._REGISTERED.values():
        module, function = place.split()
        assert callable(getattr(import_module(f"symlayout.{module}"), function))


def test_no_folder_has_too_many_modules() -> None:
    counts = Counter(file.parent for folder in PACKAGES.values() for file in folder.rglob("*.py"))
    assert {folder.name: n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_no_module_is_too_long() -> None:
    lengths = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in MODULES.items()}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


@pytest.mark.parametrize("rule", [line for line in block("rules") if " imports only: " in line])
def test_imports_only(rule: str) -> None:
    importers, allowed = rule.split(" imports only: ")
    edges = [(name, i) for name in MODULES if matches(short(name), importers) for i in imports_of(name)]
    assert edges, "the rule is about no module"
    assert [e for e in edges if (found := ours(e[1])) and not matches(short(found), allowed)] == []


@pytest.mark.parametrize("rule", [line for line in block("rules") if " only in: " in line])
def test_only_in(rule: str) -> None:
    imported, allowed = rule.split(" only in: ")
    edges = [(n, i) for n in MODULES for i in imports_of(n) if matches(short(ours(i) or i), imported)]
    assert edges, "the rule is about no import"
    assert [e for e in edges if not matches(short(e[0]), allowed)] == []


@pytest.mark.sample(131)
@pytest.mark.parametrize("name", MODULES)
def test_nothing_runs_what_it_reads(name: str) -> None:
    names = {node.id for node in nodes_of(name) if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes_of(name) if isinstance(node, ast.Attribute)}
    names |= {a.name for n in nodes_of(name) if isinstance(n, ast.ImportFrom) for a in n.names}
    assert names & RUNS_WHAT_IT_READS == set()
    assert {i.split(".")[0] for i in imports_of(name)} & LOADS_CODE == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_one_class_name_is_one_thing(package: str) -> None:
    """A reader who meets a name knows which class it is; names with an underscore stay in their module."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in PACKAGES[package].rglob("*.py"))
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1 and not name.startswith("_")] == []
