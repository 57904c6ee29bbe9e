"""Inputs and outputs of two models are matched by names, by order, or as stated; a layout is a part of the claim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
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


def test_a_witness_is_saved_as_each_model_takes_it(tmp_path: Path) -> None:
    found = sl.verify(nhwc(tmp_path), nchw(tmp_path, turned=True), match=MATCH, layout=LAYOUT).witness
    assert found is not None
    found.save(tmp_path / "there")
    before, after = (np.load(tmp_path / "there" / name) for name in ("inputs.npz", "inputs_after.npz"))
    np.testing.assert_array_equal(before["image"].transpose(0, 3, 1, 2), after["x"])


@pytest.mark.parametrize("match", [{}, {"x": "z"}])
def test_a_witness_has_arrays_of_inputs_that_the_model_after_has_alone(tmp_path: Path, match: dict[str, str]) -> None:
    x, z = value_info("x", ("N", "C")), value_info("z", ("N", "C"))
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    before.write_bytes(model([node("Neg", "x", "y")], [x], ["y"]))
    after.write_bytes(model([node("Sub", "z, x", "y")], [x, z], ["y"]))
    verified = sl.verify(before, after, match=match)
    found = verified.witness
    assert found is not None
    assert found.coord is not None
    arrays = {
        name: np.load(found.save(tmp_path / "there").parent / f"{name}.npz") for name in ("inputs", "inputs_after")
    }
    left = sl.interpret(sl.read_model(before).outputs["y"], arrays["inputs"]["x"])
    y = sl.read_model(after).outputs["y"]
    right = sl.interpret(y, **{t.key: arrays["inputs_after"][t.key] for t in y.arguments()})
    assert (left[found.coord], right[found.coord]) == (found.left, found.right)
    assert "there at" in verified.explain()
    np.testing.assert_array_equal(arrays["inputs"]["x"], arrays["inputs_after"][match.get("x", "x")])
    for printed in verified.printed.values():
        assert [float(text) for text in printed] == [found.left, found.right]


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


def twins(folder: Path, name: str, *outputs: str) -> Path:
    """Write a model with two inputs; *outputs* are the names of their sum's ReLU and of its sigmoid."""
    nodes = [node("Sub", "a, b", "s"), node("Relu", "s", outputs[0]), node("Sigmoid", "s", outputs[1])]
    path = folder / f"{name}.onnx"
    path.write_bytes(model(nodes, [value_info(x, ("N", "N")) for x in "ab"], outputs))
    return path


def test_a_certificate_says_which_outputs_are_one_and_holds_for_no_others(tmp_path: Path) -> None:
    """By position, output r before is q after: by name, the models differ."""
    before, after = twins(tmp_path, "before", "r", "q"), twins(tmp_path, "after", "q", "r")
    assert sl.verify(before, after).verdict is REFUTED
    found = sl.verify(before, after, by_position=True)
    assert "output r before is q after" in found.explain()
    certificate = json.loads(json.dumps(found.certificate))
    assert not sl.check(certificate, before=before, after=after)
    check = partial(sl.check, before=before, after=after, match={"r": "q", "q": "r"})
    assert check(certificate)
    assert sl.check(certificate, before=before, after=after, by_position=True)
    ends = certificate["ends"]
    for change in (
        {"outputs": [["r", "r"], ["q", "q"]]},
        {"outputs": [["q", "r"], ["r", "q"]]},
        {"outputs": [["r", "q"]]},
        {"outputs": [["r", "q"], ["q", "q"]]},
        {"outputs": "rq"},
        {"outputs": [["r", "q"], ["q", 3]]},
        {"inputs": [["a", "b"], ["b", "a"]]},
        {"inputs": [["b", "b"], ["a", "a"]]},
        {"inputs": [["a", "a"]]},
        {"axes": {"a": [1, 0]}},
        {"axes": {"q": [1, 0]}},
        {"axes": {"a": [0]}},
        {"axes": {"a": [0.0, 1.0]}},
        {"axes": {"s": [0, 1]}},
    ):
        altered = sealed({**certificate, "ends": {**ends, **change}})
        assert not check(altered), change
    assert not check({**certificate, "ends": ends | {"axes": {"a": [0, 1]}}})  # unsealed
    others: tuple[Any, ...] = (None, [], {}, {**ends, "more": 1})
    for shown in others:
        assert not check(sealed({**certificate, "ends": shown}))
    without = {key: value for key, value in certificate.items() if key != "ends"}
    assert not check(sealed(without))


def test_a_certificate_of_crossed_inputs_does_not_prove_the_claim_about_straight_outputs(tmp_path: Path) -> None:
    nodes = [node("Relu", "a", "r"), node("Relu", "b", "q")]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info(x, ("N",)) for x in "ab"], "rq"))
    straight = sl.verify(path, path).certificate
    names = {"a": "b", "b": "a", "r": "q", "q": "r"}
    crossed = sl.verify(path, path, match=names).certificate
    assert straight is not None
    assert crossed is not None
    for one, other, match in ((straight, crossed, None), (crossed, straight, names)):
        assert sl.check(one, before=path, after=path, match=match)
        for part in ("inputs", "outputs"):
            altered = sealed({**one, "ends": {**one["ends"], part: other["ends"][part]}})
            assert not sl.check(altered, before=path, after=path, match=match)


def test_names_that_both_models_have_are_crossed_only_where_that_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The crossed claim is true, so its certificate is one; it is not about the models whose names agree."""
    path = tmp_path / "m.onnx"
    path.write_bytes(model([node("Add", "a, b", "r")], [value_info(x, ("N",)) for x in "ab"], "r"))
    names = {"a": "b", "b": "a"}
    straight, crossed = (sl.verify(path, path, match=match).certificate for match in ({}, names))
    assert sl.check(straight, before=path, after=path)
    assert sl.check(crossed, before=path, after=path, match=names)
    assert not sl.check(crossed, before=path, after=path)
    assert not sl.check(straight, before=path, after=path, match=names)
    assert not sl.check(crossed, before=path, after=path, match={"a": "b"})
    assert not sl.check(crossed, before=path, after=path, by_position=True)
    assert sl.check(straight, before=path, after=path, by_position=True)
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(sealed({**straight, "ends": crossed["ends"]})))  # type: ignore[dict-item, index]
    assert main(["check", str(proof), str(path), str(path)]) == 3
    assert "unasked" in capsys.readouterr().out
    proof.write_text(json.dumps(crossed))
    assert main(["check", str(proof), str(path), str(path), "--match", "a=b", "--match", "b=a"]) == 0
    assert "input a before is b after" in capsys.readouterr().out


def test_the_command_check_says_what_a_certificate_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = str(nhwc(tmp_path)), str(nchw(tmp_path))
    proof = tmp_path / "proof.json"
    options = [f"--match={name}={other}" for name, other in MATCH.items()]
    options += [f"--layout={name}={text}" for name, text in LAYOUT.items()]
    assert main(["verify", *files, *options, "--certificate", str(proof)]) == 0
    said = capsys.readouterr().out
    assert main(["check", str(proof), *files]) == 0
    claim = capsys.readouterr().out
    assert claim.splitlines() == [line for line in said.splitlines() if not line.startswith("  certificate: ")]
    assert "input image before is x after" in claim
    assert "axes [0, 2, 3, 1] of mask before" not in claim
    assert "axes [0, 3, 1, 2] of mask before are its axes after" in claim
    certificate = json.loads(proof.read_text())
    certificate["ends"]["axes"]["image"] = [0, 3, 2, 1]
    proof.write_text(json.dumps(sealed(certificate)))
    assert main(["check", str(proof), *files]) == 3
    assert capsys.readouterr().out.startswith("REFUSED: ")
    proof.write_text("[" * 100_000)
    assert main(["check", str(proof), *files]) == 4
    assert main(["check", str(tmp_path / "none.json"), *files]) == 4
    assert main(["verify", files[0], str(nchw(tmp_path, turned=True)), *options, "--certificate", str(proof)]) == 1
    assert "no certificate was written" in capsys.readouterr().out
