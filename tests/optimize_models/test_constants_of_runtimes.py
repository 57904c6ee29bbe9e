"""What `optimize` returns is read as a file is: constants that runtimes round in their own way are folded in both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import numpy_helper

import symlayout as sl
from tests.support.onnx_writer import model, node, value_info


def test_a_model_in_memory_is_proved_as_its_file_is(tmp_path: Path) -> None:
    angles = numpy_helper.from_array(np.linspace(0, 3, 4, dtype=np.float32), "angles")
    path = tmp_path / "before.onnx"
    nodes = [
        node("Cos", "angles", "cosines"),
        node("Transpose", "x", "t", perm=[1, 0]),
        node("Transpose", "t", "u", perm=[1, 0]),
        node("Mul", "u, cosines", "v"),
        node("Transpose", "v", "y", perm=[1, 0]),
    ]
    path.write_bytes(model(nodes, [value_info("x", ("N", 4))], constants=[angles]))
    before = sl.read_model(path)
    after = sl.optimize(before)
    assert after.report.nodes[1] < after.report.nodes[0]
    assert sl.verify(before, after, run=False).verdict is sl.Verdict.PROVED
    after.save(tmp_path / "after.onnx")
    assert sl.verify(path, tmp_path / "after.onnx", run=False).verdict is sl.Verdict.PROVED
    assert sl.verify(before, tmp_path / "after.onnx", run=False).verdict is sl.Verdict.PROVED
    assert str(after.outputs["y"].shape) == str(sl.read_model(tmp_path / "after.onnx").outputs["y"].shape)
