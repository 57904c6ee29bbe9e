"""A constant that a node makes is not folded where onnxruntime would pack it, and round in another way by that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import symlayout as sl
from symlayout.optimize_models.fewer_nodes.packed_operands import keeps_bits, packed_constants
from tests.optimize_models.measured.kernel_bits import cases, differing
from tests.optimize_models.run_both import Shape, constants, ops, optimized_and_run
from tests.support.onnx_writer import node

TURNED = node("Transpose", "v", "w", perm=[1, 0])
LAWS = ["reassociate"]


def weights(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("bias", [False, True])
def test_weights_of_a_product_stay_transposed_without_a_law(tmp_path: Path, bias: bool) -> None:
    """At one row, and for so many terms at any number of rows, the sums are rounded in another way."""
    last = node("Gemm", "x, w, b", "y") if bias else node("MatMul", "x, w", "y")
    given = constants(v=weights(256, 256), b=weights(256))
    o = optimized_and_run(tmp_path, [TURNED, last], {"x": ("N", 256)}, given, runs=6)
    assert ops(o) == ["Transpose", last.op_type]
    o = optimized_and_run(tmp_path, [TURNED, last], {"x": ("N", 256)}, given, laws=LAWS, rtol=1e-3, special=False)
    assert ops(o) == [last.op_type]
    assert o.report.laws == ("reassociate",)


@pytest.mark.parametrize("shape", [(4, 64), ("N", 7, 64)])
def test_few_terms_and_several_rows_are_rounded_alike(tmp_path: Path, shape: Shape) -> None:
    o = optimized_and_run(
        tmp_path, [TURNED, node("MatMul", "x, w", "y")], {"x": shape}, constants(v=weights(32, 64)), runs=6
    )
    assert ops(o) == ["MatMul"]
    assert o.report.laws == ()


def test_transposes_that_cancel_leave_one_before_a_product(tmp_path: Path) -> None:
    nodes = [TURNED, node("Transpose", "w", "u", perm=[1, 0]), node("MatMul", "x, u", "y")]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 256)}, constants(v=weights(256, 16)), runs=6)
    assert ops(o) == ["Transpose", "MatMul"]


@pytest.mark.parametrize("op", ["MatMul", "Add"])
def test_other_operands_are_folded(tmp_path: Path, op: str) -> None:
    """The first operand of a product, and what is no product, are not packed."""
    nodes = [TURNED, node(op, "w, x", "y")]
    o = optimized_and_run(tmp_path, nodes, {"x": (256, 256)}, constants(v=weights(256, 256)), runs=2)
    assert ops(o) == [op]


def test_a_copy_of_weights_stays_a_copy(tmp_path: Path) -> None:
    nodes = [node("Identity", "v", "w"), node("MatMul", "x, w", "y"), node("Relu", "y", "z")]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 256)}, constants(v=weights(256, 16)), outputs=("z",), runs=6)
    assert ops(o) == ["Identity", "MatMul", "Relu"]


def test_which_constants_are_packed(tmp_path: Path) -> None:
    given = constants(v=weights(256, 256), r=weights(1, 64, 16), i=weights(1, 64, 32))
    nodes = [TURNED, node("MatMul", "x, w", "m"), node("Transpose", "v", "k", perm=[1, 0]), node("Mul", "m, k", "y")]
    optimized_and_run(tmp_path, nodes, {"x": (256, 256)}, given, runs=2)
    model = sl.read_model(tmp_path / "before.onnx")
    assert packed_constants(model) == {"w"}
    tensors = {name: model.tensors[name] for name in ("x", "w", "m")}
    assert not keeps_bits("w", [nodes[1]], tensors)
    assert keeps_bits("x", [nodes[1]], tensors)


def test_a_cast_to_float16_crosses_no_transpose(tmp_path: Path) -> None:
    nodes = [
        node("Transpose", "x", "t", perm=[1, 0]),
        node("Cast", "t", "c", to=TensorProto.FLOAT16),
        node("Transpose", "c", "u", perm=[1, 0]),
        node("Mul", "u, u", "y"),
    ]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 8)}, special=False)
    assert ops(o) == ["Transpose", "Cast", "Transpose", "Mul"]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 8)}, laws=LAWS, rtol=1e-2, special=False)
    assert ops(o) == ["Cast", "Mul"]


@pytest.mark.slow
def test_what_was_measured_is_so_here() -> None:
    """Where bits differ, the operand is among those that are packed."""
    pytest.importorskip("onnxruntime")
    found = {case.what for case in cases() if differing(case) and "float16" not in case.what}
    assert found <= {"MatMul, second operand", "Gemm, second operand", "LSTM, recurrence", "GRU, recurrence"}
