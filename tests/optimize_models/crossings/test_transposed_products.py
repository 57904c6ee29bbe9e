"""Transposes of both operands of a product and of its result are none, under a law: rows and columns are exchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import NodeProto, TensorProto

from tests.optimize_models.run_both import Shape, ops, optimized_and_run
from tests.support.onnx_writer import node

LAWS = ["reassociate"]
MATRICES: dict[str, Shape] = {"a": ("M", "K"), "b": ("K", "L")}
BATCHES: dict[str, Shape] = {"a": ("N", "M", "K"), "b": ("N", "K", "L")}


def exchanged(perm: list[int], last: list[int]) -> list[NodeProto]:
    return [
        node("Transpose", "a", "at", perm=perm),
        node("Transpose", "b", "bt", perm=perm),
        node("MatMul", "bt, at", "m"),
        node("Transpose", "m", "y", perm=last),
    ]


@pytest.mark.parametrize(("inputs", "perm"), [(MATRICES, [1, 0]), (BATCHES, [0, 2, 1])], ids=["matrices", "batches"])
def test_a_product_of_transposes_is_the_product(tmp_path: Path, inputs: dict[str, Shape], perm: list[int]) -> None:
    nodes = exchanged(perm, perm)
    o = optimized_and_run(tmp_path, nodes, inputs, laws=LAWS, rtol=1e-4, special=False)
    assert ops(o) == ["MatMul"]
    assert o.report.laws == ("reassociate",)


def test_without_the_law_floats_stay(tmp_path: Path) -> None:
    o = optimized_and_run(tmp_path, exchanged([1, 0], [1, 0]), MATRICES)
    assert o.report.after.transposes == 3
    assert o.report.laws == ()


def test_integers_need_no_law(tmp_path: Path) -> None:
    types = dict.fromkeys(MATRICES, TensorProto.INT32)
    assert ops(optimized_and_run(tmp_path, exchanged([1, 0], [1, 0]), MATRICES, types=types)) == ["MatMul"]


def test_batches_in_another_order_stay_transposed(tmp_path: Path) -> None:
    nodes = exchanged([0, 2, 1], [1, 2, 0])
    o = optimized_and_run(tmp_path, nodes, BATCHES, laws=LAWS, rtol=1e-4, special=False)
    assert o.report.after.transposes >= 1
