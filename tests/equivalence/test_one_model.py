"""A model is proved equal to itself, and to a copy with other names and another order of its nodes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, numpy_helper

import symlayout as sl
from tests.equivalence.renamed_copy import renamed_copy
from tests.support.onnx_writer import model, node, tensor, value_info

PROVED = sl.Verdict.PROVED
EXPORTED = Path(__file__).parent.parent / "models" / "exported"


def assert_proved(before: Path, after: Path) -> None:
    """Assert that both are proved to be one model, and that the certificate is accepted."""
    found = sl.verify(before, after, run=False)
    assert found.verdict is PROVED, found.explain()
    assert sl.check(json.loads(json.dumps(found.certificate)), before=before, after=after)


def pyramid(*, wrong: str = "", levels: int = 3) -> ModelProto:
    """Return a feature pyramid with heads: strides of 2, upsampling to the size below, sums, heads side by side."""
    rng = np.random.default_rng(0)
    constants = [tensor([2], name="two"), tensor([4], name="four"), tensor([0, 0, -1], name="flat")]
    nodes: list[NodeProto] = []

    def conv(source: str, target: str, channels: int, size: int, stride: int = 1) -> None:
        weights = rng.normal(size=(4, channels, size, size)).astype("float32")
        constants.append(numpy_helper.from_array(weights, f"weights of {target}"))
        low = size // 2
        pads = [low, low, low, low] if target != wrong else [low + 1, low, low - 1, low]
        nodes.append(node("Conv", f"{source}, weights of {target}", target, strides=[stride, stride], pads=pads))

    for k in range(levels):
        conv(f"f{k - 1}" if k else "x", f"c{k}", 4 if k else 3, 3, 2)
        nodes.append(node("Relu", f"c{k}", f"f{k}"))
        conv(f"f{k}", f"l{k}", 4, 1)
    top = f"l{levels - 1}"
    for k in reversed(range(levels)):
        if k + 1 < levels:
            nodes += [
                node("Shape", f"l{k}", f"s{k}"),
                node("Slice", f"s{k}, two, four", f"hw{k}"),
                node("Shape", top, f"t{k}", end=2),
                node("Concat", f"t{k}, hw{k}", f"size{k}", axis=0),
                node(
                    "Resize",
                    f"{top}, , , size{k}",
                    f"up{k}",
                    mode="nearest",
                    coordinate_transformation_mode="asymmetric",
                    nearest_mode="ceil" if wrong == f"up{k}" else "floor",
                ),
                node("Add", f"up{k}, l{k}", f"p{k}"),
            ]
            top = f"p{k}"
        conv(top, f"o{k}", 4, 3)
        nodes.append(node("Reshape", f"o{k}, flat", f"flat{k}"))
    heads = [f"flat{k}" for k in range(levels)]
    if wrong == "order":
        heads.reverse()
    nodes += [node("Concat", ", ".join(heads), "all", axis=2), node("Transpose", "all", "y", perm=[0, 2, 1])]
    image = value_info("x", ("N", 3, "H", "W"))
    return ModelProto.FromString(model(nodes, [image], constants=constants))


def saved(made: ModelProto, path: Path) -> Path:
    onnx.save(made, path)
    return path


def test_a_pyramid_whose_heads_stand_side_by_side_is_itself(tmp_path: Path) -> None:
    before = saved(pyramid(), tmp_path / "before.onnx")
    assert_proved(before, before)
    copy = saved(renamed_copy(pyramid()), tmp_path / "copy.onnx")
    assert_proved(before, copy)
    assert_proved(copy, before)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["o0", "o2", "up0", "order"])
def test_a_pyramid_with_one_thing_wrong_is_not_proved(wrong: str, tmp_path: Path) -> None:
    before, after = saved(pyramid(), tmp_path / "before.onnx"), saved(pyramid(wrong=wrong), tmp_path / "after.onnx")
    assert sl.verify(before, after, run=False, budget=100).verdict is not PROVED
    shown = sl.verify(before, before).certificate
    assert not sl.check(shown, before=before, after=after)


def twice(*nodes: NodeProto) -> ModelProto:
    return ModelProto.FromString(model(nodes, [value_info("x", ("N", 4, 4))]))


def test_what_one_model_computes_twice_is_in_the_certificate(tmp_path: Path) -> None:
    once = saved(
        twice(node("Relu", "x", "r"), node("Sub", "r, r", "s"), node("MatMul", "s, r", "y")),
        tmp_path / "once.onnx",
    )
    copies = saved(
        twice(
            node("Relu", "x", "r"),
            node("Relu", "x", "q"),
            node("Sub", "r, q", "s"),
            node("MatMul", "s, q", "y"),
        ),
        tmp_path / "twice.onnx",
    )
    assert_proved(once, copies)
    assert_proved(copies, once)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in EXPORTED.glob("*.onnx")))
def test_an_exported_model_is_itself_and_its_renamed_copy(name: str, tmp_path: Path) -> None:
    before = EXPORTED / f"{name}.onnx"
    assert_proved(before, before)
    copy = saved(renamed_copy(onnx.load(before)), tmp_path / "copy.onnx")
    assert_proved(before, copy)
    assert_proved(copy, before)
