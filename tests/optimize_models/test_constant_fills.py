"""Values of one constant that are cut, joined and expanded are filled at once, in the shape that the model computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from symlayout.models.read_model import read_model
from symlayout.optimize_models.constant_fills import make_fills
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.products.test_split_products import optimized
from tests.optimize_models.spellings.dilation_spellings import Parts


def states(way: str, value: float = 0.0, other: float | None = None) -> onnx.ModelProto:
    """Return what begins a layer of a batch of dynamic size: states of one constant, added to a maximum."""
    n = Parts(opset=17)
    batch = n("Slice", n("Shape", "x"), n.integers(0), n.integers(1), n.integers(0))
    one = n.given([value], np.float32)
    if way == "slice":
        shape = n("Concat", n.integers(4), batch, n.integers(3), axis=0)
        fill = onnx.numpy_helper.from_array(np.array([value], np.float32))
        y = n("Slice", n("ConstantOfShape", shape, value=fill), n.integers(1), n.integers(3), n.integers(0))
    else:
        shape = n("Concat", batch, n.integers(3), axis=0)
        first = n("Unsqueeze", n("Expand", one, shape), n.integers(0))
        last = (
            first if other is None else n("Unsqueeze", n("Expand", n.given([other], np.float32), shape), n.integers(0))
        )
        y = n("Concat", first, last, axis=0)
    return n.model(["N", 5], n("Add", y, n("ReduceMax", "x", keepdims=1, axes=[1])), 3)


@pytest.mark.parametrize("value", [0.0, 2.5])
@pytest.mark.parametrize("way", ["slice", "expand and join"])
def test_states_of_one_constant_are_filled(tmp_path: Path, way: str, value: float) -> None:
    o = optimized(tmp_path, states(way, value))
    assert o.report.after.total == 0
    assert [n.op_type for n in o.source.graph.node].count("ConstantOfShape") == 1
    changes = [each for c in o.report.changes if c.rule == "fills" for each in c.rewritten]
    assert [proof.verdict.name for each in changes for proof in each.proofs] == ["PROVED"]
    x = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()


@pytest.mark.parametrize("other", [1.0, -0.0])
def test_parts_of_two_constants_are_joined(tmp_path: Path, other: float) -> None:
    onnx.save(states("expand and join", 0.0, other), tmp_path / "m.onnx")
    changed = [each.value for each in make_fills(read_model(tmp_path / "m.onnx"))[1]]
    made = {n.op_type: n.output[0] for n in onnx.load(tmp_path / "m.onnx").graph.node}
    assert made["Concat"] not in changed
