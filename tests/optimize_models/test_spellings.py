"""Whatever operations spell a movement, `sl.optimize` makes the same of it: its composed map decides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.movement_cost import bytes_of
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.spellings.movement_spellings import KINDS, REORDERINGS, WAYS, moved, spelled

OPERATORS = {
    "SpaceToDepth": "SpaceToDepth",
    "DepthToSpace DCR": "DepthToSpace",
    "pixel shuffle": "DepthToSpace",
    "pixel unshuffle": "SpaceToDepth",
}
"""What moves the elements of a family; of another one a Transpose does."""
TABLE = [
    pytest.param(family, way, kind, marks=() if (i + j + k) % len(KINDS) == 0 else pytest.mark.exhaustive)
    for i, family in enumerate(REORDERINGS)
    for j, way in enumerate(WAYS)
    for k, kind in enumerate(KINDS)
]
"""All combinations; each pair of choices is in one that is not exhaustive."""
MOVES = ("Transpose", "SpaceToDepth", "DepthToSpace", "Slice", "Concat", "Split", "Gather", "Pad", "Expand", "Tile")


def check(folder: Path, family: str, way: str, kind: str) -> None:
    """Assert that one node moves all elements, that this is proved, and that onnxruntime agrees at random sizes."""
    what = REORDERINGS[family]
    path = folder / "before.onnx"
    path.write_bytes(spelled(family, way, kind))
    o = sl.optimize(path)
    o.save(folder / "after.onnx")
    assert sl.verify(path, folder / "after.onnx").verdict is sl.Verdict.PROVED
    assert o.report.after.at_most(o.report.before, o.outputs["y"].requires)
    operator = OPERATORS.get(family, "Transpose")
    floats = [n.op_type for n in o.source.graph.node if n.op_type in MOVES and o.tensors[n.output[0]].dtype == "f4"]
    if operator != "Transpose" or o.report.before.transposes:
        assert floats == [operator]
        assert o.report.after.total == bytes_of(o.inputs["x"])
    else:  # a transpose would be more than the model had
        assert not o.report.after.transposes
    again = sl.optimize(folder / "after.onnx")
    assert again.source.SerializeToString() == (folder / "after.onnx").read_bytes()
    random = np.random.default_rng(len(family) + len(way))
    for _ in range(2):
        x = random.uniform(0, 1, what.arrays(lambda n: int(random.integers(n)), kind)).astype(np.float32)
        np.testing.assert_allclose(sl.interpret(o.outputs["y"], x), np.exp(moved(what, x)), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "way", "kind"), TABLE)
def test_every_spelling_becomes_one_operation(tmp_path: Path, family: str, way: str, kind: str) -> None:
    check(tmp_path, family, way, kind)
    what = REORDERINGS[family]
    random = np.random.default_rng(0)
    for _ in range(3):
        x = random.uniform(0, 1, what.arrays(lambda n: int(random.integers(n)), kind)).astype(np.float32)
        before, after = (outputs(tmp_path / name, {"x": x}) for name in ("before.onnx", "after.onnx"))
        np.testing.assert_array_equal(before[0], after[0])
        np.testing.assert_allclose(after[0], np.exp(moved(what, x)), rtol=1e-5)


@pytest.mark.parametrize("opset", [9, 11, 12])
def test_the_operators_are_those_of_the_version(tmp_path: Path, opset: int) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(spelled("pixel shuffle", "reshape, transpose, reshape", "dynamic batch", opset))
    o = sl.optimize(path)
    (moving,) = [n for n in o.source.graph.node if n.op_type in MOVES]
    assert moving.op_type == "DepthToSpace"
    assert any(a.name == "mode" for a in moving.attribute) == (opset >= 11)
    made = onnx.shape_inference.infer_shapes(o.source, strict_mode=True)
    onnx.checker.check_model(made)
