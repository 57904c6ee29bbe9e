"""Inputs and outputs of two models are matched by names, by order, or as stated; a layout is a part of the claim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

import symlayout as sl
from symlayout.commands.command_line import main
from symlayout.equivalence.shared_ends import EndsAsStated, matched_names
from symlayout.equivalence.unknown_ranks import with_handles
from symlayout.proof.certificate.checker.schema import sealed
from tests.support.onnx_writer import model, node, value_info

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED
LAYOUT = {"image": "NHWC:NCHW", "mask": "NHWC:NCHW"}
WEIGHTS = np.random.default_rng(0).normal(size=(4, 3, 3, 3)).astype(np.float32)


def nhwc(folder: Path) -> Path:
    """Write a network that takes and gives NHWC, as a converter from Keras leaves it."""
    nodes = [
        node("Transpose", "image", "t", perm=[0, 3, 1, 2]),
        node("Conv", "t, w", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("Transpose", "r", "mask", perm=[0, 2, 3, 1]),
    ]
    path = folder / "nhwc.onnx"
    path.write_bytes(
        model(nodes, [value_info("image", ("N", "H", "W", 3))], ["mask"], [numpy_helper.from_array(WEIGHTS, "w")])
    )
    return path


def nchw(folder: Path, *, turned: bool = False) -> Path:
    """Write the same network in NCHW with other names; *turned*: with the kernel's rows and columns exchanged."""
    kernel = np.ascontiguousarray(WEIGHTS.swapaxes(2, 3)) if turned else WEIGHTS
    nodes = [node("Conv", "x, w", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "y")]
    path = folder / f"nchw{turned}.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("B", 3, "h", "v"))], ["y"], [numpy_helper.from_array(kernel, "w")]))
    return path


MATCH = {"image": "x", "mask": "y"}


def test_a_network_in_another_layout_is_proved_under_the_stated_layout(tmp_path: Path) -> None:
    before, after = nhwc(tmp_path), nchw(tmp_path)
    found = sl.verify(before, after, match=MATCH, layout=LAYOUT)
    assert found.verdict is PROVED
    assert "axes [0, 3, 1, 2] of image before are its axes after" in found.explain()
    certificate = json.loads(json.dumps(found.certificate))
    assert sl.check(certificate, before=before, after=after)
    for change in ({"image": [0, 3, 2, 1]}, {"image": [0, 3, 1, 2]}, {"image": [0, 0, 0, 0]}, {"other": [0]}, 3):
        altered = sealed({**certificate, "ends": {**certificate["ends"], "axes": change}})
        assert not sl.check(altered, before=before, after=after)
    back = {"x": "NCHW:NHWC", "y": "NCHW:NHWC"}
    assert sl.verify(after, before, match={"x": "image", "y": "mask"}, layout=back).verdict is PROVED
    assert sl.verify(before, after, by_position=True, layout=LAYOUT).verdict is PROVED


@pytest.mark.parametrize("layout", [{**LAYOUT, "image": "NHWC:NCWH"}, {**LAYOUT, "mask": "NHWC:NCWH"}])
def test_another_layout_is_another_claim(tmp_path: Path, layout: Mapping[str, str]) -> None:
    found = sl.verify(nhwc(tmp_path), nchw(tmp_path), match=MATCH, layout=layout)
    assert found.verdict is REFUTED


def test_a_witness_counts_in_the_axes_before(tmp_path: Path) -> None:
    before, after = nhwc(tmp_path), nchw(tmp_path, turned=True)
    found = sl.verify(before, after, match=MATCH, layout=LAYOUT)
    assert found.verdict is REFUTED
    assert found.witness is not None
    assert found.witness.coord is not None
    image = found.witness.inputs["image"]
    left = sl.interpret(sl.read_model(before).outputs["mask"], image)
    right = sl.interpret(sl.read_model(after).outputs["y"], image.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)
    assert left[found.witness.coord] != right[found.witness.coord]
    for printed in found.printed.values():
        np.testing.assert_allclose(
            [float(text) for text in printed], [a[found.witness.coord] for a in (left, right)], 1e-4
        )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"match": {"picture": "x"}}, "before has no input and no output 'picture'"),
        ({"match": {"image": "z"}}, "after has no input and no output 'z'"),
        ({"match": {"image": "y"}}, "not both inputs"),
        ({"match": MATCH, "layout": {"picture": "NC:CN"}}, "whose layout is given"),
        ({"match": MATCH, "layout": {"image": "NHWC"}}, "one letter for each axis"),
        ({"match": MATCH, "layout": {"image": "NHWC:NCHH"}}, "one letter for each axis"),
        ({"match": MATCH, "layout": {"image": "NNWC:NCNW"}}, "one letter for each axis"),
        ({"match": MATCH, "layout": {"image": 3}}, "one letter for each axis"),
        ({"match": MATCH, "layout": {"image": "NC:CN"}}, "has 2 axes, 'image' has rank 4"),
    ],
)
def test_what_names_nothing_is_refused(tmp_path: Path, options: dict[str, Any], text: str) -> None:
    with pytest.raises(sl.SymlayoutError, match=text):
        sl.verify(nhwc(tmp_path), nchw(tmp_path), **options)


def test_two_names_before_have_two_names_after() -> None:
    x = sl.tensor("N", name="x")
    with pytest.raises(sl.FormatError, match="two outputs before are matched with one after"):
        matched_names("output", {"a": x, "b": x}, {"y": x, "z": x}, by_position=False, match={"a": "y", "b": "y"})
    assert matched_names("output", {"a": x, "b": x}, {"b": x, "y": x}, False, {"a": "y"}) == [("a", "y"), ("b", "b")]
    assert matched_names("output", {"a": x, "b": x}, {"z": x, "y": x}, True, {"a": "y"}) == [("a", "y"), ("b", "z")]


def test_names_of_one_model_only_are_refused() -> None:
    x, y = sl.tensor("N", name="x"), sl.tensor("N", name="y")
    with pytest.raises(sl.FormatError, match="match them by position"):
        matched_names("output", {"x": x}, {"y": y}, by_position=False)
    assert matched_names("output", {"x": x}, {"y": y}, by_position=True) == [("x", "y")]


def test_a_value_of_unknown_rank_has_no_layout(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(model([node("Foo", "x", "y")], [value_info("x", ("N",))]))
    m = with_handles(sl.read_model(path))
    with pytest.raises(sl.ShapeError, match="no known rank"):
        EndsAsStated(layout={"y": "N:N"}).of(m, m)


def test_the_command_takes_names_and_layouts(tmp_path: Path) -> None:
    files = str(nhwc(tmp_path)), str(nchw(tmp_path))
    names = ["--match", "image=x", "--match", "mask=y"]
    layouts = ["--layout", "image=NHWC:NCHW", "--layout", "mask=NHWC:NCHW"]
    assert main(["verify", *files, *names, *layouts]) == 0
    assert main(["verify", *files, "--match", "image"]) == 4
