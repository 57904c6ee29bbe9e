"""Pictures: every element in its place, on both sides, in words and numbers; nothing of the user's text is markup."""

from __future__ import annotations

import functools
import itertools
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings

import symlayout as sl
from symlayout.commands import command_line
from symlayout.show import small_sizes
from symlayout.show.picture import assignments
from symlayout.show.read_numbers import MAX_CELLS, cells
from symlayout.show.theme import escape, style
from tests.layouts.pages import access_page
from tests.support import chains, strategies
from tests.support.effort import examples
from tests.support.paths import ROOT

IMAGES = ROOT / "docs" / "images"
SVG = "{http://www.w3.org/2000/svg}"


def concatenated() -> sl.Tensor:
    return sl.flip(sl.concatenate([sl.tensor("H, W", name="x"), sl.tensor("K, W", name="y")], axis=0), 1)


def drawings() -> dict[str, sl.Tensor]:
    x = sl.tensor("N, H, W, C", name="x")
    made = {
        "space_to_batch": sl.space_to_batch(x, [2, 2], [[1, 1], [1, 1]]),
        "chain": sl.transpose(sl.space_to_depth(x, 2, depth_axis=3), (0, 3, 1, 2)),
        "concatenated": concatenated(),
        "cropped": sl.tensor("6, 6", name="x")[1:5, ::2],
        "tiled": sl.tile(sl.tensor("2, 3", name="x"), (2, 2)),
        "reflected": sl.pad(sl.tensor("3, 4", name="x"), 2, mode="reflect"),
        "many pieces": sl.pad(sl.tensor("A, B, C, D", name="x"), 1, mode="reflect"),
        "two fills": sl.pad(sl.pad(sl.tensor("2, 2", name="x"), 1), 1, constant_values=7),
        "long line": sl.reshape(sl.tensor("4, 12", name="x"), (48,)),
        "large": sl.transpose(sl.tensor("1000, 2000", name="x")),
        "large depth": sl.space_to_depth(sl.tensor("8, 224, 224, 64", name="x"), 2, depth_axis=3),
        "huge": sl.flip(sl.tensor((2**40,), name="x")),
        "empty": sl.transpose(sl.tensor("0, 3", name="x")),
        "all fill": sl.pad(sl.tensor("0, 3", name="x"), 1),
        "leaf": x,
    }
    for rank in range(7):
        leaf = sl.tensor((["a", "b", "c", "d", "e", "f"][:rank] and ", ".join("abcdef"[:rank])) or (), name="x")
        made[f"rank {rank}"] = sl.transpose(leaf)
    return made


DRAWINGS = drawings()


def elements(svg: str) -> list[tuple[str, list[tuple[float, float]], list[str], bool]]:
    """Return for each element its title, the corners of its cells, their labels, and whether it is hatched."""
    found = []
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        corners = [(float(r.attrib["x"]), float(r.attrib["y"])) for r in group.findall(f"{SVG}rect")]
        labels = [text.text or "" for text in group.findall(f"{SVG}text")]
        found.append((group.findtext(f"{SVG}title") or "", corners, labels, group.find(f"{SVG}path") is not None))
    return found


@functools.cache
def drawing(name: str) -> sl.Picture:
    return DRAWINGS[name].show()


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", DRAWINGS)
def test_a_picture_has_every_element_once_on_each_side(name: str) -> None:
    t = DRAWINGS[name]
    drawn = drawing(name)
    seen = cells(t.subs(drawn.dims))
    shown = elements(drawn.svg)
    numbers = Counter(seen.numbers.ravel().tolist())
    places = [corner for _, corners, _, _ in shown for corner in corners]
    assert len(set(places)) == len(places), "two cells in one place"
    assert sum(hatched for _, _, _, hatched in shown) == sum(k for n, k in numbers.items() if n < 0)
    labels = Counter(label for _, _, labels, hatched in shown if not hatched for label in labels)
    sources = Counter(
        str(source.start + sum(c * int(np.prod(source.shape[k + 1 :])) for k, c in enumerate(coordinate)))
        for source in seen.sources
        for coordinate in itertools.product(*source.axes)
    )
    assert labels == sources + Counter({str(n): k for n, k in numbers.items() if n >= 0})
    for title, _, _, _ in shown:
        assert title


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_picture_stays_on_its_paper(name: str) -> None:
    drawn = drawing(name)
    root = ElementTree.fromstring(drawn.svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    assert width == 460
    for rect in root.iter(f"{SVG}rect"):
        if "%" in rect.attrib["width"]:
            continue
        x, y, w, h = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert w > 0
        assert h > 0
        assert x + w <= width
        assert y + h <= height
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height


@settings(max_examples=examples(25), deadline=None)
@given(strategies.cases(most_steps=3))
def test_cells_are_what_the_interpreter_reads(case: strategies.Case) -> None:
    t = chains.build(sl.tensor(case.shape, name="x"), case.steps)
    seen = cells(t)
    size = int(np.prod(case.shape, dtype=int))
    expected = sl.interpret(t, np.arange(size).reshape(case.shape))
    part = expected[np.ix_(*seen.output.axes)] if t.rank else expected
    assert (seen.numbers >= 0).tolist() == np.asarray(
        inside(t)[np.ix_(*seen.output.axes)] if t.rank else inside(t)
    ).tolist()
    assert part[seen.numbers >= 0].tolist() == seen.numbers[seen.numbers >= 0].tolist()
    assert elements(t.show().svg) is not None


def inside(t: sl.Tensor) -> Any:
    """Return where *t* reads an element: where what is read differs as the input does."""
    (leaf,) = t.leaves()
    zero, one = (sl.interpret(t, np.full(leaf.shape, value, dtype="i8")) for value in (100, 101))
    return zero != one


def test_large_shapes_are_cut_to_what_can_be_drawn() -> None:
    for name in ("large", "large depth", "huge"):
        seen = cells(DRAWINGS[name])
        assert not seen.output.whole
        assert 0 < seen.numbers.size <= MAX_CELLS
        for grid in (seen.output, *seen.sources):
            assert np.prod([len(axis) for axis in grid.axes]) <= MAX_CELLS
    last = DRAWINGS["huge"].show().text
    assert str(2**40 - 1) in last


def test_blocks_are_where_the_digits_begin() -> None:
    seen = cells(DRAWINGS["space_to_batch"].subs({"N": 1, "H": 4, "W": 4, "C": 1}))
    assert seen.sources[0].borders[1] == {1: 2, 3: 2}  # padded by 1: blocks of 2 begin at odd coordinates
    assert seen.output.borders[0] == {2: 2}
    assert cells(sl.tile(sl.tensor("2, 3"), (2, 2))).output.borders == ({2: 2}, {3: 3})
    x, y = sl.tensor("2, 3", name="x"), sl.tensor("4, 3", name="y")
    assert cells(sl.concatenate([x, y], axis=0)).output.borders == ({2: 1}, {})


def test_a_followed_element_is_marked_on_both_sides() -> None:
    drawn = DRAWINGS["space_to_batch"].show({"N": 1, "H": 4, "W": 4, "C": 1}, at=(0, 1, 1, 0))
    (marked,) = [g for g in ElementTree.fromstring(drawn.svg).iter(f"{SVG}g") if "at" in g.attrib["class"].split()]
    assert marked.findtext(f"{SVG}title") == "x[0, 1, 1, 0] is read at (0, 1, 1, 0)"
    assert [text.text for text in marked.findall(f"{SVG}text")] == ["5", "5"]
    assert 'class="way"' in drawn.svg


def test_a_picture_has_text_alternatives() -> None:
    drawn = sl.transpose(sl.tensor("2, 3", name="x")).show()
    root = ElementTree.fromstring(drawn.svg)
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], description.attrib["id"]]
    assert title.text == "Index map of transpose: (3, 2)"
    assert "reads elements 0, 3, 1, 4, 2, 5" in (description.text or "")


def test_pictures_know_light_dark_and_paper() -> None:
    drawn = sl.transpose(sl.tensor("2, 3")).show()
    assert "@media (prefers-color-scheme:dark)" in drawn.svg
    assert "@media print" in drawn.svg
    assert "data-jp-theme-light" not in drawn.svg
    assert "data-jp-theme-light" in drawn.html


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb``, as WCAG 2 defines it."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_number_can_be_read_on_its_colour_in_light_and_dark() -> None:
    schemes = re.findall(r"--paper:(#\w{6});--ink:(#\w{6});--soft:(#\w{6});.*?(--h0:[^}]*)", style())
    assert len(schemes) >= 2
    for paper, ink, soft, hues in schemes:
        pairs = [(ink, paper), (soft, paper), *((ink, colour) for colour in re.findall(r"#\w{6}", hues))]
        for text, ground in pairs:
            dark, light = sorted((luminance(text), luminance(ground)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


def test_two_pictures_on_a_page_share_no_names() -> None:
    pages = [DRAWINGS[name].show().html for name in ("tiled", "cropped", "rank 2")]
    names = [name for page in pages for name in re.findall(r' id="([^"]+)"', page)]
    assert len(set(names)) == len(names) == 6


def test_a_picture_is_the_same_every_time() -> None:
    assert concatenated().show().svg == concatenated().show().svg


HOSTILE = '<script>alert("x")</script>&\x00\ud800]]>-->'


def test_the_users_text_is_not_markup() -> None:
    """A name of an input is an identifier; that of an operation is whatever a declaration is called."""
    from symlayout.tensors.declaration import Declared, Operand, index_map

    def mirrored(x: Operand) -> Declared:
        (n,) = x.shape
        return index_map((n,), lambda i: (n - 1 - i,))

    mirrored.__name__ = HOSTILE
    t = sl.operation(mirrored)(sl.pad(sl.tensor("3", dtype="U4", name="x"), 1, constant_values="<b>&"))
    drawn = t.show()
    for document in (drawn.svg, drawn.html):
        root = ElementTree.fromstring(document)
        assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
            "svg", "title", "desc", "style", "rect", "text", "path", "g",
        }  # fmt: skip
    proof = sl.prove_equal(t, t)
    assert "<script" not in proof._repr_html_()
    assert "<b>" not in drawn.svg
    assert escape(HOSTILE).isprintable()


# --- notebooks ----------------------------------------------------------------------------------


def test_tensors_maps_and_proofs_show_themselves_in_notebooks() -> None:
    x = sl.tensor("N, C", name="x")
    t = sl.transpose(x)
    assert t._repr_html_() == t.index_map._repr_html_() == t.show().html
    assert t._repr_latex_() == t.index_map._repr_latex_()
    assert t.show()._repr_html_() == t.show().html
    proved = sl.prove_equal(sl.transpose(t), x)._repr_html_()
    assert "PROVED" in proved
    assert proved.count("<svg") == 2
    assert "derivation" in proved


def test_both_sides_of_a_claim_are_drawn_on_the_same_sizes() -> None:
    x = sl.tensor("N, H, W", name="x")
    y = sl.space_to_batch(x, [2, 2], [[1, 1], [1, 1]])
    page = sl.prove_equal(sl.batch_to_space(y, [2, 2], [[1, 1], [1, 1]]), x)._repr_html_()
    examples = re.findall(r">example: ([^<]*)<", page)
    assert len(examples) == 2
    assert len(set(examples)) == 1


def test_a_picture_is_saved(tmp_path: Path) -> None:
    drawn = sl.transpose(sl.tensor("2, 3", name="x")).show()
    drawn.save(tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text(encoding="utf-8") == drawn.svg


def test_a_refutation_marks_where_the_sides_differ() -> None:
    x = sl.tensor("N, C", name="x")
    proof = sl.prove_equal(sl.flip(x, 0), sl.flip(x, 1))
    assert proof.witness is not None
    page = proof._repr_html_()
    assert page.count('<g class="e at">') == 2
    assert ", ".join(f"{d} = {n}" for d, n in proof.witness.dims.items()) in page


def test_shapes_that_differ_are_drawn_too() -> None:
    x = sl.tensor("N, C", name="x")
    page = sl.prove_equal(sl.transpose(x), x)._repr_html_()
    assert "REFUTED" in page
    assert page.count("<svg") == 2


def test_what_has_no_example_has_no_picture() -> None:
    x = sl.tensor("N", name="x")
    t = sl.reshape(x, (7919, 7919, -1, 104729))
    with pytest.raises(sl.InconclusiveError):
        small_sizes.illustrative_sizes(sl.assume(t, sl.dim("N") >= 10**9))
    assert sl.assume(t, sl.dim("N") >= 10**9)._repr_html_() is None


# --- images of the documentation ----------------------------------------------------------------


def drawn_by() -> dict[str, list[str]]:
    """Return for each picture of the documentation the words of the command that draws it."""
    commands = {p.name: ElementTree.parse(p).findtext(f"{SVG}metadata") for p in IMAGES.glob("*.svg")}
    return {name: shlex.split(command or "") for name, command in sorted(commands.items())}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (program, *_) in drawn_by().items() if program == "symlayout"])
def test_the_images_are_current(name: str, tmp_path: Path) -> None:
    image = IMAGES / name
    text = image.read_text(encoding="utf-8")
    words = drawn_by()[name][1:]
    assert words[-2] == "--svg"
    written = [word for option, word in itertools.pairwise(words) if option in ("-o", "--svg")]
    elsewhere = {word: str(tmp_path / Path(word).name) for word in written}
    assert command_line.main([elsewhere.get(word, word) for word in words]) == 0
    again = (tmp_path / image.name).read_text(encoding="utf-8")
    for old, new in elsewhere.items():
        again = again.replace(new, old)
    assert again == text, f"run: symlayout {shlex.join(words)}"


def test_each_image_is_drawn_by_the_command_line_or_by_a_page_that_has_its_own_test() -> None:
    others = {name: shlex.join(words) for name, words in drawn_by().items() if words[0] != "symlayout"}
    assert others.keys() < drawn_by().keys()
    drawn = {Path(name).name for name in access_page.files()}
    assert {name for name in others if others[name] == access_page.COMMAND and name in drawn} == others.keys()


def test_sizes_are_written_as_assignments() -> None:
    assert assignments({"H": 2, "W": 3}) == "H = 2, W = 3"
