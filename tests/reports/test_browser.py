"""Pages are opened in a browser without a network: what is drawn, found, evaluated and saved."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import symlayout as sl
from symlayout.language.expression_tree import tree
from symlayout.reports.page import html_page
from tests.commands.outcome import MODELS
from tests.reports.browser import chromium, opened
from tests.reports.test_pages import HOSTILE, written
from tests.support.onnx_writer import node

pytestmark = pytest.mark.slow
_PAGE: dict[str, Any] = {
    "title": "t", "made_by": "", "verdict": None, "summary": [], "dims": [], "values": {},
    "requires": [], "shapes": [], "graphs": [], "sections": [], "files": [],
}  # fmt: skip
_TEXT = "return symlayoutPage.panes[0].get('cy').$(arguments[0]).map(e => e.data('text'))"
_EVALUATED = """
const dims = new Map(Object.entries(arguments[1]).map(([name, value]) => [name, BigInt(value)]));
return arguments[0].map((tree) => {
  const value = symlayoutPage.evaluate(tree, dims);
  return value === null || typeof value === "boolean" ? value : `${value[0]}/${value[1]}`;
});"""


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with chromium() as started:
        yield started


def test_a_model_is_drawn_and_its_sizes_and_requirements_follow_the_inputs(driver: Any, tmp_path: Path) -> None:
    opened(driver, sl.read_model(MODELS / "unet.onnx").html(), tmp_path)
    assert driver.execute_script(_TEXT, ".input") == ["image\n(N, H, W, 3)"]
    states = "return [...document.querySelectorAll('#requires li')].map(e => e.className)"
    assert set(driver.execute_script(states)) == {"holds"}
    box = driver.find_element("id", "dim-H")
    box.clear()
    box.send_keys("10")
    failing = [e.text for e in driver.find_elements("css selector", "#requires .fails")]
    assert len(failing) == 1
    assert "H is a multiple of 4" in failing[0]
    driver.find_element("id", "numbers").click()
    assert driver.execute_script(_TEXT, ".input") == ["image\n(1, 10, 4, 3)"]


def test_a_node_is_found_by_name_and_shows_every_shape(driver: Any, tmp_path: Path) -> None:
    opened(driver, sl.read_model(MODELS / "unet.onnx").html(), tmp_path)
    driver.find_element("id", "search").send_keys("CONV_23")
    (first, *_) = driver.find_elements("css selector", "#found button")
    first.click()
    details = driver.find_element("id", "details").text
    assert "conv_23" in details
    assert "(N, 4, H, W) = (1, 4, 4, 4)" in details
    assert driver.execute_script("return symlayoutPage.panes[0].get('cy').$(':selected').length") == 1


def test_a_verdict_shows_both_sides_at_the_region_and_saves_the_witness(driver: Any, tmp_path: Path) -> None:
    a = written(tmp_path / "a.onnx", node("Transpose", "x", "t", perm=[1, 0]), node("Relu", "t", "y"), shape=("N", "N"))
    b = written(tmp_path / "b.onnx", node("Identity", "x", "t"), node("Relu", "t", "y"), shape=("N", "N"))
    opened(driver, sl.verify(a, b).html(), tmp_path)
    assert driver.find_element("class name", "badge").text == "REFUTED"
    marked = "return symlayoutPage.panes.map(p => p.get('cy').$('.marked').map(e => e.data('text')))"
    before, after = driver.execute_script(marked)
    assert before == ["Relu\n(N, N)"]
    assert after == ["Relu\n(N, N)"]
    files = [a.get_attribute("download") for a in driver.find_elements("class name", "file")]
    assert files == ["inputs.npz"]
    assert all(a.get_attribute("href").startswith("blob:") for a in driver.find_elements("class name", "file"))


def test_hostile_names_run_nothing_and_are_shown_as_text(driver: Any, tmp_path: Path) -> None:
    m = written(
        tmp_path / "m.onnx", node("Transpose", "x", HOSTILE, perm=[1, 0], name=HOSTILE), node("Relu", HOSTILE, "y")
    )
    opened(driver, m.html(made_by=HOSTILE), tmp_path)
    driver.find_element("id", "search").send_keys("script")
    assert driver.find_element("css selector", "#found button").text.startswith("onnx:Transpose </script><script>")
    assert driver.title == "m.onnx"
    assert driver.execute_script("return document.querySelectorAll('img, iframe, script[src], link').length") == 0


def test_trees_are_evaluated_as_sympy_does(driver: Any, tmp_path: Path) -> None:
    """Random expressions of all operations, at sizes beyond what a float holds, too."""
    import sympy

    N, M = sl.dims("N M", min=None)
    draw = random.Random(5)

    def expression(depth: int) -> Any:
        if depth == 0:
            return draw.choice([N, M, N, M, sympy.Integer(draw.randrange(-9, 10)), sympy.Integer(10**17 + 1)])
        a, b, k = expression(depth - 1), expression(depth - 1), draw.randrange(1, 9)
        forms: list[Callable[[], Any]] = [
            lambda: a + b, lambda: a * b, lambda: a / k, lambda: sympy.floor(a / k), lambda: sympy.ceiling(b / -k),
            lambda: sympy.Mod(a, k), lambda: sympy.Mod(a, -k), lambda: sympy.Min(a, b), lambda: sympy.Max(a, b, k),
            lambda: a**2,
        ]  # fmt: skip
        return draw.choice(forms)()

    made = [expression(draw.randrange(1, 4)) for _ in range(150)]
    made += [
        relation(made[k], made[-k]) for k, relation in enumerate([sympy.Ge, sympy.Lt, sympy.Eq, sympy.Ne, sympy.Gt] * 4)
    ]
    opened(driver, html_page(_PAGE), tmp_path)
    for sizes in ({"N": 7, "M": -3}, {"N": 0, "M": 12}, {"N": 2**61 + 1, "M": 2**60 - 5}):
        at = {N: sizes["N"], M: sizes["M"]}
        wanted: list[Any] = []
        for e in made:
            value = e.subs(at)
            wanted.append(bool(value) if value.is_Boolean else f"{value.p}/{value.q}")
        trees = [tree(e) for e in made]
        assert None not in trees
        found = driver.execute_script(_EVALUATED, trees, {name: str(value) for name, value in sizes.items()})
        assert [(e, a, b) for e, a, b in zip(made, wanted, found, strict=True) if a != b] == []


def test_what_has_no_value_is_said(driver: Any, tmp_path: Path) -> None:
    opened(driver, html_page(_PAGE), tmp_path)
    trees = [["/", "N", 0], ["%", "N", 0], "M", None, ["table", 5, 6, "N"], ["table", 5, 6, 1], ["**", 0, -1],
             ["or", ["==", "M", 1], ["==", "N", 2]], ["and", ["==", "M", 1], ["==", "N", 2]], ["not", ["==", "N", 3]],
             ["cases", ["case", 4, ["<", "N", 1]], ["case", 9, ["and"]]]]  # fmt: skip
    found = driver.execute_script(_EVALUATED, trees, {"N": "2"})
    assert found == [None, None, None, None, None, "6/1", None, True, None, True, "9/1"]


def test_a_graph_of_thousands_of_nodes_can_be_used(driver: Any, tmp_path: Path) -> None:
    draw = random.Random(1)
    nodes, at = [], "x"
    for k in range(1500):
        op = draw.choice(["Softmax", "Transpose"])
        more = {"perm": [1, 0]} if op == "Transpose" else {"axis": draw.choice([0, 1])}
        nodes.append(node(op, at, f"v{k}", name=f"node.{k}", **more))
        at = f"v{k}"
    m = written(tmp_path / "m.onnx", *nodes, node("Relu", at, "y"), shape=("N", "N"))
    opened(driver, m.html(), tmp_path)
    driver.find_element("id", "search").send_keys("node.1234")
    driver.find_element("css selector", "#found button").click()
    assert "node.1234" in driver.find_element("id", "details").text
    views = driver.find_elements("class name", "view")
    for view in views[::-1]:
        view.click()
        shown = driver.execute_script("return symlayoutPage.panes[0].get('cy').$('.box').length")
        assert f"({shown})" in view.text
