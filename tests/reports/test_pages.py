"""A page is data in one template: what the data says, and that names of a model stay text."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.language.expression_tree import Tree
from symlayout.models.model import Model
from symlayout.reports.page import html_page
from symlayout.reports.pages import data_of_model, data_of_optimized, data_of_verification
from tests.commands.outcome import MODELS
from tests.support.onnx_writer import model, node, value_info

HOSTILE = "</script><script>document.title='bad'</script><img src=x onerror=alert(1)>\u202e\x1b[2J'\"&amp;`${1}"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text in each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def data_in(page: str) -> Any:
    """Return the data that a page has."""
    return json.loads(Elements(page).scripts[0])


def written(path: Path, *nodes: Any, shape: tuple[int | str, ...] = ("N", 4), name: str = "x") -> Model:
    path.write_bytes(model(list(nodes), [value_info(name, shape)]))
    return sl.read_model(path)


def table(data: Any, title: str) -> Any:
    (found,) = [section["rows"] for section in data["sections"] if section["title"] == title]
    return found


def test_a_page_of_a_model_has_each_shape_as_text_and_as_a_tree(tmp_path: Path) -> None:
    m = written(tmp_path / "m.onnx", node("Transpose", "x", "t", perm=[1, 0]), node("Softmax", "t", "y", axis=0))
    data = data_of_model(m)
    assert data["shapes"] == [
        {"text": "(N, 4)", "extents": ["N", 4]},
        {"text": "(4, N)", "extents": [4, "N"]},
    ]
    assert [box[0] for box in data["graphs"][0]["boxes"]] == ["input", "move", "compute", "output"]
    assert data["dims"] == [{"name": "N", "min": "0", "max": None, "step": 1}]
    assert data["values"] == {"N": "1"}


@pytest.mark.slow
def test_requirements_are_there_with_the_nodes_that_state_them() -> None:
    data = data_of_model(sl.read_model(MODELS / "unet.onnx"))
    assert [(r["text"], r["tree"]) for r in data["requires"] if "multiple" in r["text"]] == [
        ("H is a multiple of 4", ["==", ["%", "H", 4], 0]),
        ("W is a multiple of 4", ["==", ["%", "W", 4], 0]),
    ]
    assert all(r["by"] for r in data["requires"])
    assert data["values"] == {"N": "1", "H": "4", "W": "4"}


def test_a_part_that_repeats_is_drawn_once_and_each_of_its_nodes_leads_to_it(tmp_path: Path) -> None:
    nodes = []
    for k in range(6):
        nodes += [node("Softmax", f"a{k}", f"b{k}"), node("Transpose", f"b{k}", f"c{k}", perm=[1, 0])]
        nodes += [node("Softmax", f"c{k}", f"d{k}"), node("Transpose", f"d{k}", f"a{k + 1}", perm=[1, 0])]
    m = written(tmp_path / "m.onnx", *nodes, node("Relu", "a6", "y"), name="a0")
    (graph,) = data_of_model(m)["graphs"]
    once, every = graph["views"]
    assert (once["title"], every["title"]) == ("repeats once", "every box")
    assert len(every["boxes"]) == len(graph["boxes"]) == 27
    assert len(once["boxes"]) < len(every["boxes"])
    assert once["frames"][0][4].startswith("x ")
    assert {once["boxes"][place][0] for place in once["place"]} == {first for first, *_ in once["boxes"]}
    ends = {tuple(route[:2]) for _, _, route in every["edges"]}
    assert len(ends) == len(every["edges"])


@pytest.mark.slow
def test_a_verdict_has_its_domain_laws_and_certificate() -> None:
    m = sl.read_model(MODELS / "unet.onnx")
    found = sl.verify(m, sl.optimize(m))
    data = data_of_verification(found)
    assert data["verdict"] == "PROVED"
    claim = table(data, "The claim")
    assert [text for what, text in claim if what == "domain"] == ["H % 4 == 0", "W % 4 == 0"]
    assert ["laws", "none: equal bit for bit"] in claim
    (file,) = data["files"]
    assert json.loads(base64.b64decode(file["content"])) == json.loads(json.dumps(found.certificate))
    assert data["values"] == {str(dim): str(value) for dim, value in (found.point or {}).items()}


@pytest.mark.slow
def test_a_refutation_has_its_witness_the_values_and_both_sides_of_the_region(tmp_path: Path) -> None:
    a = written(tmp_path / "a.onnx", node("Transpose", "x", "t", perm=[1, 0]), node("Relu", "t", "y"), shape=(2, 2))
    b = written(tmp_path / "b.onnx", node("Identity", "x", "t"), node("Relu", "t", "y"), shape=(2, 2))
    found = sl.verify(a, b)
    data = data_of_verification(found)
    assert data["verdict"] == "REFUTED"
    rows = dict(table(data, "The witness"))
    assert rows["output"] == f"y at {found.witness.coord}"  # type: ignore[union-attr]
    assert "float32 of shape (2, 2)" in rows["input x"]
    assert [graph["marks"] for graph in data["graphs"]] == [[pair[k] for pair in found.frontier] for k in (0, 1)]
    path = tmp_path / "inputs.npz"
    path.write_bytes(base64.b64decode(data["files"][0]["content"]))
    assert np.array_equal(np.load(path)["x"], found.witness.inputs["x"])  # type: ignore[union-attr]


def test_dims_of_the_model_after_are_those_before(tmp_path: Path) -> None:
    """A shape after is shown for sizes of the dims before, whatever it calls them, also where names change places."""
    a = written(tmp_path / "a.onnx", node("Transpose", "x", "y", perm=[1, 0]), shape=("N", "M"))
    b = written(tmp_path / "b.onnx", node("Transpose", "x", "y", perm=[1, 0]), shape=("M", "K"))
    data = data_of_verification(sl.verify(a, b))
    assert data["verdict"] == "PROVED"
    assert [d["name"] for d in data["dims"]] == ["N", "M"]
    after = data["graphs"][1]["boxes"]
    assert [data["shapes"][box[2]] for box in after] == [
        {"text": "(M, K)", "extents": ["N", "M"]},
        {"text": "(K, M)", "extents": ["M", "N"]},
        {"text": "(K, M)", "extents": ["M", "N"]},
    ]
    assert ["dims", "M after is N"] in table(data, "The claim")


@pytest.mark.slow
def test_an_optimised_model_has_regions_with_bytes_and_proofs_in_words() -> None:
    data = data_of_optimized(sl.optimize(MODELS / "unet.onnx"))
    assert table(data, "What it costs")[1][1] == {"text": "170*H*N*W", "tree": ["*", 170, "H", "N", "W"]}
    assert {row[0] for row in table(data, "Region 1")} == {"before", "after"}
    proofs = table(data, "Rewrites and their proofs")
    assert any(verdict == "PROVED" and "for all such sizes" in words for _, _, verdict, words in proofs)
    assert data["graphs"][0]["marks"]


def test_names_stay_text(tmp_path: Path) -> None:
    h = HOSTILE
    m = written(tmp_path / "m.onnx", node("Transpose", "x", "t", perm=[1, 0], name=h), node("Relu", "t", "y"), name="x")
    m.path = tmp_path / f"{h.replace('/', '')}.onnx"
    page = m.html(made_by=h)
    elements = Elements(page)
    assert {tag for tag, _ in elements.found} <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "noscript",
        "script",
    }
    assert len(elements.scripts) == 4
    data = data_in(page)
    assert all(c.isprintable() for c in json.dumps(data, ensure_ascii=False))
    assert any(h[:40] in n[1] for n in data["graphs"][0]["nodes"])


def test_a_page_asks_for_nothing_outside_and_its_policy_forbids_it() -> None:
    page = html_page({"title": "t"})
    elements = Elements(page)
    assert not [a for _, attributes in elements.found for a in attributes if a in ("src", "href", "integrity")]
    assert not re.search(r"@import|url\(", page.partition("<script")[0])
    (policy,) = [a["content"] for _, a in elements.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "'unsafe-eval'" not in policy


@pytest.mark.parametrize("subject", ["model", pytest.param("optimized", marks=pytest.mark.slow), "verification"])
def test_each_answer_makes_its_page(subject: str) -> None:
    m = sl.read_model(MODELS / "pixel_unshuffle.onnx")
    makers: dict[str, Callable[[], Model | sl.Verification]] = {
        "model": lambda: m,
        "optimized": lambda: sl.optimize(m),
        "verification": lambda: sl.verify(m, m),
    }
    assert data_in(makers[subject]().html("the command"))["kind"] == subject


def names_in(e: Tree) -> set[str]:
    if isinstance(e, list):
        return set().union(*map(names_in, e[1:])) if e[0] != "int" else set()
    return {e} if isinstance(e, str) else set()


@pytest.mark.slow
def test_every_dim_in_a_tree_has_a_value() -> None:
    for path in sorted(MODELS.glob("*.onnx")) + sorted(MODELS.glob("*.xml")):
        data = data_of_model(sl.read_model(path))
        trees = [e for shape in data["shapes"] for e in shape["extents"] or ()] + [r["tree"] for r in data["requires"]]
        assert set().union(*map(names_in, trees)) <= data["values"].keys() == {d["name"] for d in data["dims"]}
