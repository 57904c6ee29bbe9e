"""What the package ``onnx`` knows of one operation."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import symlayout as sl
from symlayout.models.onnx_types import output_types
from tests.support.onnx_writer import model, node, value_info


def test_extents_that_an_operation_copies_are_those_of_its_operand(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(model([node("Hardmax", "x", "y")], [value_info("x", ("N", 3))]))
    m = sl.read_model(tmp_path / "m.onnx")
    (made,) = output_types(m.nodes[0], [m.tensors["x"]], [m.tensors["x"]], {})
    assert made is not None
    assert made.dtype == np.float32
    assert made.shape is not None
    assert made.shape[1] == 3
