"""What is cut out of a join is the part that was joined, where nothing else is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.optimize_models.test_optimize_model import optimized
from tests.support.onnx_writer import node

JOINED = [node("Relu", "x", "r"), node("Exp", "x", "e"), node("Concat", "r, e", "c", axis=1)]


def ops(o: Any) -> list[str]:
    return sorted(n.op_type for n in o.source.graph.node)


def numbers(**values: int) -> list[onnx.TensorProto]:
    return [onnx.numpy_helper.from_array(np.array([value]), name) for name, value in values.items()]


@pytest.mark.parametrize(("begin", "end", "part"), [(0, 4, "Relu"), (4, 8, "Exp"), (-4, 8, "Exp")])
def test_a_slice_is_the_part_that_it_reads(tmp_path: Path, begin: int, end: int, part: str) -> None:
    nodes = [*JOINED, node("Slice", "c, begin, end, one", "s"), node("Neg", "s", "y")]
    o = optimized(tmp_path, nodes, ("N", 4), numbers(begin=begin, end=end, one=1))
    assert ops(o) == sorted([part, "Neg"])


@pytest.mark.parametrize(("begin", "end"), [(3, 7), (0, 5), (4, 8)])
def test_a_slice_of_two_parts_stays(tmp_path: Path, begin: int, end: int) -> None:
    joined = [node("Relu", "x", "r"), node("Exp", "x", "e"), node("Concat", "r, e, r", "c", axis=1)]
    nodes = [*joined, node("Slice", "c, begin, end, one", "s"), node("Neg", "s", "y")]
    o = optimized(tmp_path, nodes, ("N", 3), numbers(begin=begin, end=end, one=1))
    assert "Concat" in ops(o)


def test_a_split_gives_back_the_parts(tmp_path: Path) -> None:
    nodes = [*JOINED, node("Split", "c", "a, b", axis=1, num_outputs=2), node("Sub", "b, a", "y")]
    o = optimized(tmp_path, nodes, ("N", 4))
    assert ops(o) == ["Exp", "Relu", "Sub"]


def test_a_split_elsewhere_stays(tmp_path: Path) -> None:
    joined = [*JOINED[:2], node("Concat", "r, e", "c", axis=0)]
    nodes = [*joined, node("Split", "c", "a, b", axis=1, num_outputs=2), node("Sub", "b, a", "y")]
    o = optimized(tmp_path, nodes, ("N", 4))
    assert "Split" in ops(o)
