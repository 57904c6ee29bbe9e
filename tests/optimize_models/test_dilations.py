"""Space to batch, a convolution and batch to space become one dilated convolution, whatever the spelling."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.dilations import dilate
from symlayout.optimize_models.optimize_model import OptimizedModel
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.spellings.dilation_spellings import (
    BLOCK,
    CHANNELS,
    SHAPES,
    WAYS,
    WRONG,
    Parts,
    dilated,
    network,
)

CROPPED = ("more pads, and a crop", "all dynamic")
"""The crop stays: with the pads the model takes pictures of no rows, which a convolution without them refuses."""
SAMPLE = [
    ("reshapes", "all dynamic"),
    ("as tf2onnx", "dynamic batch"),
    ("slices, then parts", "static"),
    ("channels last", "all dynamic"),
    ("pads of the convolution", "dynamic batch"),
    ("more pads, and a crop", "all dynamic"),
]


def optimized(folder: Path, made: onnx.ModelProto) -> OptimizedModel:
    """Return the optimized network, after the checks that hold for every result."""
    onnx.save(made, folder / "before.onnx")
    o = sl.optimize(folder / "before.onnx")
    o.save(folder / "after.onnx")
    onnx.checker.check_model(onnx.load(folder / "after.onnx"))
    assert sl.verify(folder / "before.onnx", folder / "after.onnx").verdict is sl.Verdict.PROVED
    again = sl.optimize(folder / "after.onnx")
    assert again.source.SerializeToString() == (folder / "after.onnx").read_bytes()
    return o


def check(folder: Path, way: str, kind: str) -> None:
    o = optimized(folder, network(WAYS[way], kind))
    cropped = (way, kind) == CROPPED
    assert [n.op_type for n in o.source.graph.node] == ["Relu", "Conv", *["Slice"] * cropped, "Exp"]
    conv = {a.name: onnx.helper.get_attribute_value(a) for a in o.source.graph.node[1].attribute}
    assert (conv["dilations"], conv["pads"]) == ([BLOCK] * 2, [BLOCK * (1 + cropped)] * 4)
    assert cropped or o.report.after.total == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize(("way", "kind"), SAMPLE)
def test_a_spelling_becomes_a_dilated_convolution(tmp_path: Path, way: str, kind: str) -> None:
    check(tmp_path, way, kind)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "kind"), list(itertools.product(WAYS, SHAPES)))
def test_every_spelling_becomes_a_dilated_convolution(tmp_path: Path, way: str, kind: str) -> None:
    check(tmp_path, way, kind)
    random = np.random.default_rng(0)
    for sizes in ((1, 4, 8), (3, 10, 2)) if kind == "all dynamic" else ((2, 8, 6),):
        x = random.normal(size=(sizes[0], CHANNELS, *sizes[1:])).astype(np.float32)
        before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
        np.testing.assert_allclose(after, before, rtol=1e-5)
        np.testing.assert_allclose(after, dilated(x, network(WAYS[way], kind)), rtol=1e-4)


def test_a_constant_that_is_joined_stays(tmp_path: Path) -> None:
    """What a convolution reads may have elements of a constant besides."""
    n = Parts(opset=18)
    x = n("Concat", n("Relu", "x"), n.weights(2, 1, 8, 6), axis=1)
    x = n("Conv", n.turn(x, 0, 1, 3, 2), n.weights(5, CHANNELS + 1, 3, 3), pads=[1] * 4)
    onnx.save(n.model(SHAPES["static"], n("Exp", n.turn(x, 0, 1, 3, 2)), 4), tmp_path / "m.onnx")
    assert dilate(sl.read_model(tmp_path / "m.onnx"))[1] == []


def test_groups_stay(tmp_path: Path) -> None:
    o = optimized(tmp_path, network(WAYS["as tf2onnx"], "all dynamic", groups=CHANNELS))
    (conv,) = [n for n in o.source.graph.node if n.op_type == "Conv"]
    assert {a.name: onnx.helper.get_attribute_value(a) for a in conv.attribute}["group"] == CHANNELS


@pytest.mark.slow
@pytest.mark.parametrize("way", WRONG)
@pytest.mark.parametrize("kind", ["static", "all dynamic"])
def test_parts_that_do_not_fit_stay(tmp_path: Path, way: str, kind: str) -> None:
    o = optimized(tmp_path, network(WRONG[way], kind))
    assert "dilation" not in {c.rule for c in o.report.changes}


def test_a_crop_that_is_larger_than_the_pads_stays(tmp_path: Path) -> None:
    """Conv has no pads below 0."""
    o = optimized(tmp_path, network(WAYS["reshapes"], "static", crop=3))
    assert [n.op_type for n in o.source.graph.node] == ["Relu", "Conv", "Slice", "Exp", "Identity"]


def test_convolutions_that_are_dilated_stay(tmp_path: Path) -> None:
    o = optimized(tmp_path, network(WAYS["reshapes"], "static"))
    assert dilate(o)[1] == []
