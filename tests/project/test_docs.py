"""The pages under docs/: their snippets print what they show, their links lead somewhere, and the site has them all."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import symlayout as sl
from tests.support import draw_rooms, snippets
from tests.support.certificates import draw_proof
from tests.support.paths import PACKAGES, ROOT

DOCS = ROOT / "docs"
PAGES = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in sorted(DOCS.rglob("*.md"))}
RUN = [name for name, page in PAGES.items() if any(b.language in ("python", "console") for b in snippets.blocks(page))]
# Beside these, `sh` blocks hold only `make TARGET`.
SETUP = re.compile(r"(git clone|cd|python3? -m (venv|pip)|pip install|\. |source ) ?.*")


def anchors(page: str) -> set[str]:
    """Return the names that headings of a page give to links, as Markdown's toc makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


def whole(page: str) -> str:
    """Return *page* with the files that it includes."""
    return re.sub(r'^--8<-- "(.+)"$', lambda found: (ROOT / found[1]).read_text(encoding="utf-8"), page, flags=re.M)


def nav_entries(config: str) -> Iterator[str]:
    """Yield the pages that mkdocs.yml names; read line by line, since YAML is no dependency of the tests."""
    for line in config.partition("\nnav:\n")[2].splitlines():
        if line and not line.startswith((" ", "-")):
            return
        if found := re.search(r"[\w/.-]+\.md$", line):
            yield found[0]


def test_there_are_pages_with_snippets() -> None:
    assert len(RUN) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_snippets_print_what_is_shown(name: str, tmp_path: Path) -> None:
    absent = [module for module in snippets.needs(PAGES[name]) if importlib.util.find_spec(module) is None]
    if absent:
        pytest.skip(f"{name} needs {', '.join(absent)}")
    assert snippets.failures(PAGES[name], name, tmp_path) == ""


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    page = "```python\n>>> 1 + 1\n3\n\n```\n\n```console\n$ echo one\ntwo\n```\n"
    report = snippets.failures(page, "page", tmp_path)
    assert "Got:\n    2" in report
    assert "expected:\ntwo\nprinted:\none\n" in report


def test_a_block_that_would_not_run_is_noticed(tmp_path: Path) -> None:
    assert "is not run" in snippets.failures("```python\n1 + 1\n```\n", "page", tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_a_page_and_a_heading(name: str) -> None:
    for link in snippets.links(whole(PAGES[name])):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), f"{name} links to {link}"
        assert DOCS in target.resolve().parents, f"{name} links to {link}, which the site does not have"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{name} links to {link}"


@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"docs/cli.md"}))  # whose examples are those of the help
def test_setup_commands_are_targets_of_make_or_installation(name: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in snippets.setup_commands(PAGES[name]):
        if line.startswith("make "):
            assert re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE), line
        else:
            assert SETUP.fullmatch(line), f"{name}: {line} is not run: make it a console block"


def test_the_site_has_every_page() -> None:
    entries = list(nav_entries((ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert len(entries) == len(set(entries))
    assert set(entries) == {name.removeprefix("docs/") for name in PAGES if not re.search("/decisions/[0-9]", name)}


def test_the_reference_has_every_public_name() -> None:
    text = "\n".join(page for name, page in PAGES.items() if not name.endswith("/interop.md"))
    shown = re.findall(r"^::: symlayout\.([\w.]+)$", text, re.MULTILINE)
    frontends = {name.rpartition(".")[2] for name in shown if name.startswith("frontends.")}
    assert frontends | {name.rpartition(".")[2] for name in shown} == set(sl.__all__)


def test_the_index_of_decisions_is_complete() -> None:
    """One line for each note, in order, with the note's own title."""
    notes = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    titles = [note.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") for note in notes]
    numbers = [int(note.name[:4]) for note in notes]
    assert numbers == sorted(set(numbers))
    assert [title.partition(".")[0] for title in titles] == [str(number) for number in numbers]
    index = re.findall(r"^- \[(.+)\]\((.+)\)$", PAGES["docs/decisions/index.md"], re.MULTILINE)
    assert index == [(title, note.name) for title, note in zip(titles, notes, strict=True)]


def test_decisions_say_whether_they_hold() -> None:
    """What amends or replaces a note is a later one."""
    for note in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        status = note.read_text(encoding="utf-8").splitlines()[2]
        said = re.fullmatch(r"\*\*Status:\*\* (holds|holds, amended by .+|replaced by .+)\.", status)
        assert said, note.name
        later = re.findall(r"\((\d{4})-", said[1])
        assert all(number > note.name[:4] for number in later), note.name
        assert bool(later) == (said[1] != "holds"), note.name


WRITTEN = ("docs/ops.md", "docs/benchmarks.md", "docs/benchmarks-epyc.md", "docs/changelog.md")
PROSE = {name: PAGES[name] for name in PAGES if name not in WRITTEN}
PROSE |= {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")}
# Where a path may begin: at the root of the checkout, or at a package, so that pages can write `maps/box_image.py`.
BASES = (ROOT, *PACKAGES.values(), PACKAGES["symlayout_codegen"] / "templates")
OURS = re.compile(r"(symlayout|symlayout_codegen|tests|benchmarks)(\.\w+)+")


def named_in(page: str) -> Iterator[str]:
    """Yield the words that a page writes as code outside its snippets: between backticks, and behind ``:::``."""
    text = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    for span in re.findall(r"`([^`\n]+)`|^::: (\S+)$", text, re.MULTILINE):
        yield from "".join(span).split()


def defines(path: str) -> set[str]:
    """Return the names that the files *path*, below any of the `BASES`, define at their top level."""
    trees = [ast.parse(f.read_text(encoding="utf-8")) for base in BASES if (f := base / path).is_file()]
    nodes = [node for tree in trees for node in tree.body]
    names = {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return names | {ast.unparse(t) for node in nodes if isinstance(node, ast.Assign) for t in node.targets}


def is_there(name: str) -> bool:
    """Return whether *name* is a module, a package, or an attribute of one; a module may need an absent library."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:k]))
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in (*PACKAGES, "tests", "benchmarks"):
                return k == len(parts) or parts[k] in defines("/".join(parts[1:k]) + ".py")
            continue
        for part in parts[k:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def made_on_the_page(page: str) -> set[str]:
    """Return the files that the titles of a page's blocks name: a test adds them to a copy (see CONTRIBUTING.md)."""
    return set(re.findall(r"""title=["']([^"']+)["']""", page))


@pytest.mark.parametrize("name", PROSE)
def test_files_that_a_page_names_exist(name: str) -> None:
    paths = [word.rstrip(".,;:") for word in named_in(PROSE[name]) if re.fullmatch(r"[\w./-]+\.(py|c|h)[.,;:]?", word)]
    paths = [path for path in paths if path not in made_on_the_page(PROSE[name])]
    assert [path for path in paths if not any((base / path).is_file() for base in BASES)] == []


@pytest.mark.parametrize("name", PROSE)
def test_modules_that_a_page_names_exist(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # old paths of modules give it
        dotted = {word.rstrip("*.,;:") for word in named_in(PROSE[name]) if OURS.match(word)}
        assert [word for word in sorted(dotted) if OURS.fullmatch(word) and not is_there(word)] == []


def test_the_glossary_names_what_a_file_defines() -> None:
    pairs = re.findall(r"`(\w+)` in `([\w/]+\.py)`", PROSE["docs/glossary.md"])
    assert len(pairs) > 30
    assert [(name, path) for name, path in pairs if name not in defines(path)] == []


@pytest.mark.slow
def test_the_drawing_of_the_rooms_is_current() -> None:
    assert draw_rooms.FILE.read_text(encoding="utf-8") == draw_rooms.drawing(), "run: make images"


def test_the_drawing_of_a_proof_is_current_and_of_the_claim_of_its_page() -> None:
    assert draw_proof.FILE.read_text(encoding="utf-8") == draw_proof.drawing(), "run: make images"
    page = draw_proof.FILE.with_suffix(".md").read_text(encoding="utf-8")
    assert "".join(f">>> {line}\n" for line in draw_proof.SOURCE.splitlines()) in page


def test_the_architecture_page_lists_every_module() -> None:
    """Once, in the table of its room; `name.*` stands for the modules of a folder below the room."""
    listed: list[str] = []
    for title, table in re.findall(r"^### (.+)\n((?:\n|\|.*\n)+)", PAGES["docs/architecture.md"], re.MULTILINE):
        room = re.findall(r"`([\w.]+)`", title)[0]
        base = ROOT / "codegen" if room.startswith("symlayout_codegen") else ROOT
        for cell in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE):
            for name in re.findall(r"`([\w.*]+)`", cell):
                path = base / f"{room}.{name}".replace(".", "/").replace("/*", "")
                found = path.glob("*.py") if name.endswith("*") else [path.with_suffix(".py")]
                listed += [
                    f.relative_to(ROOT).as_posix() for f in found if f.name != "__init__.py" or name == "__init__"
                ]
    files = {f for folder in PACKAGES.values() for f in folder.rglob("*.py")}
    modules = [f for f in files if f.name != "__init__.py" or f.parent in PACKAGES.values()]
    assert sorted(listed) == sorted(f.relative_to(ROOT).as_posix() for f in modules)
