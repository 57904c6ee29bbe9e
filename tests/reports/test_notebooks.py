"""The example notebooks run from their first cell to the last, and each answer shows itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def answers(path: Path) -> list[Any]:
    """Run the code cells of a notebook in one namespace, and return what the last expression of each is."""
    names: dict[str, Any] = {}
    found = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            *before, last = ast.parse("".join(cell["source"])).body
            assert isinstance(last, ast.Expr)
            exec(compile(ast.Module(before, []), path.name, "exec"), names)
            found.append(eval(compile(ast.Expression(last.value), path.name, "eval"), names))
    return found


def shown(answer: Any) -> str:
    """Return what a notebook shows of an answer."""
    html = answer._repr_html_() if hasattr(answer, "_repr_html_") else None
    return repr(answer) if html is None else str(html)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_answers(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = answers(path)
    texts = [shown(answer) for answer in found]
    expected = {
        "models": ["<svg", "(N, H, W, 2)", "transposes   6 -&gt; 2", "<b>PROVED</b>", "True"],
        "layouts": ["<svg", "holds both", "PROVED", "Kernel(", "True", "<table>", "(M,N):(1,M)"],
    }[path.stem]
    assert len(texts) == len(expected)
    assert [text for text, part in zip(texts, expected, strict=True) if part not in text] == []


def test_notebooks_hold_no_output_that_may_be_stale() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["layouts", "models"]
    for path in NOTEBOOKS:
        assert all(cell.get("outputs", []) == [] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])
