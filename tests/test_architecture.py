"""The imports run the way that docs/architecture.md says, read from its three fenced blocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {"symlayout": ROOT / "symlayout", "symlayout_codegen": ROOT / "codegen" / "symlayout_codegen"}
RUNS_WHAT_IT_READS = {"eval", "exec", "sympify", "parse_expr", "__import__"}
LOADS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}


def source_modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module of both packages, by dotted name."""
    modules = {}
    for package, folder in SOURCES.items():
        for file in sorted(folder.rglob("*.py")):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            if parts[-1] == "__init__" and len(parts) > 2:
                parts.pop()
            modules[".".join(parts)] = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return modules


MODULES = source_modules()


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
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(arg.value) for arg in node.args if isinstance(arg, ast.Constant))


def run_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of *tree* that run on import: no bodies of functions, nothing for type checkers."""
    for node in ast.iter_child_nodes(tree):
        is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not is_for_types and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from run_at_once(node)


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


STAIRCASE = [line.partition(":")[2].strip() for line in block("staircase")]
DEFERRED = dict(line.split(": ") for line in block("deferred"))
IMPORTS = {name: sorted(set(imports(name, ast.walk(tree)))) for name, tree in MODULES.items()}
AT_ONCE = {name: sorted(set(imports(name, run_at_once(tree)))) for name, tree in MODULES.items()}
ALGEBRA = sorted(name for name in MODULES if name.startswith("symlayout."))


def step(name: str) -> int:
    """Return the step on which the module *name* stands: the first line of the staircase that names it."""
    lines = [k for k, patterns in enumerate(STAIRCASE) if matches(short(name), patterns)]
    assert lines, f"{name} is on no step of docs/architecture.md"
    return lines[0]


def test_the_sources_are_found() -> None:
    assert {"symlayout.__init__", "symlayout_codegen.__init__"} <= MODULES.keys()
    assert sum(len(names) for names in IMPORTS.values()) > len(MODULES)


@pytest.mark.parametrize("name", ALGEBRA)
def test_a_module_imports_only_from_lower_steps(name: str) -> None:
    above = [found for i in IMPORTS[name] if (found := ours(i)) in ALGEBRA and step(found) >= step(name)]
    assert [other for other in above if not matches(short(other), DEFERRED.get(short(name), ""))] == []
    assert set(above).isdisjoint(ours(i) for i in AT_ONCE[name])


@pytest.mark.parametrize("name", DEFERRED)
def test_deferred_imports_exist(name: str) -> None:
    found = {short(other) for i in IMPORTS[f"symlayout.{name}"] if (other := ours(i))}
    assert set(DEFERRED[name].split()) <= found


@pytest.mark.parametrize("pattern", " ".join(STAIRCASE).split())
def test_every_name_on_the_staircase_is_a_module(pattern: str) -> None:
    assert any(matches(short(name), pattern) for name in ALGEBRA)


@pytest.mark.parametrize("rule", [line for line in block("rules") if " imports only: " in line])
def test_imports_only(rule: str) -> None:
    importers, allowed = rule.split(" imports only: ")
    edges = [(name, i) for name in MODULES if matches(short(name), importers) for i in IMPORTS[name]]
    assert edges, "the rule is about no module"
    assert [e for e in edges if (found := ours(e[1])) and not matches(short(found), allowed)] == []


@pytest.mark.parametrize("rule", [line for line in block("rules") if " only in: " in line])
def test_only_in(rule: str) -> None:
    imported, allowed = rule.split(" only in: ")
    edges = [(n, i) for n, names in IMPORTS.items() for i in names if matches(short(ours(i) or i), imported)]
    assert edges, "the rule is about no import"
    assert [e for e in edges if not matches(short(e[0]), allowed)] == []


def test_no_circular_imports() -> None:
    graph = {
        name: {found for i in imported if (found := ours(i)) is not None and found != name}
        for name, imported in AT_ONCE.items()
    }
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_nothing_runs_what_it_reads(name: str) -> None:
    names = {node.id for node in ast.walk(MODULES[name]) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(MODULES[name]) if isinstance(node, ast.Attribute)}
    names |= {a.name for n in ast.walk(MODULES[name]) if isinstance(n, ast.ImportFrom) for a in n.names}
    assert names & RUNS_WHAT_IT_READS == set()
    assert {i.split(".")[0] for i in IMPORTS[name]} & LOADS_CODE == set()
