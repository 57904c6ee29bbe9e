"""A product and the row that is added to it are one Gemm, where onnxruntime computes the same bits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from tests.equivalence import unoptimized_onnxruntime
from tests.optimize_models.fewer_nodes.node_models import ops


def written(path: Path, terms: int, row: tuple[int, ...], text: str) -> Path:
    made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'.replace("TERMS", str(terms)))
    random = np.random.default_rng(0)
    for name, shape in (("w", (terms, 6)), ("b", row)):
        made.graph.initializer.append(onnx.numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name))
    onnx.save(made, path)
    return path


PRODUCT = """g (float[N,TERMS] x) => (float[N,6] y) {
    p = MatMul(x, w)
    s = Add(b, p)
    y = Relu(s)
}"""


@pytest.mark.parametrize("terms", [1, 5, 64, 128])
@pytest.mark.parametrize("row", [(6,), (1, 6)], ids=str)
def test_few_terms_and_a_row_are_one_gemm(tmp_path: Path, terms: int, row: tuple[int, ...]) -> None:
    path = written(tmp_path / "before.onnx", terms, row, PRODUCT)
    o = sl.optimize(path)
    assert ops(o) == ["Gemm", "Relu"]
    assert sl.verify(path, o).verdict is sl.Verdict.PROVED
    o.save(tmp_path / "after.onnx")
    for rows in (0, 1, 2, 7, 33):
        x = np.random.default_rng(rows).normal(size=(rows, terms)).astype(np.float32)
        before, after = (unoptimized_onnxruntime.outputs(tmp_path / f"{n}.onnx", {"x": x}) for n in ("before", "after"))
        assert before[0].tobytes() == after[0].tobytes()


TOKENS = """g (float[N,3,TERMS] x) => (float[N,3,6] y, float[N,3,6] z) {
    p = MatMul(x, w)
    y = Add(b, p)
    q = Relu(x)
    r = MatMul(q, w)
    s = Add(r, b)
    t = MatMul(q, e)
    u = Sigmoid(t)
    v = MatMul(x, e)
    o = Add(v, c)
    a = Add(s, u)
    z = Mul(a, o)
}"""
"""Three products with a row, two of them of one value, and a product without a row."""


@pytest.mark.parametrize("row", [(6,), (1, 6)], ids=str)
def test_axes_before_the_rows_join_these(tmp_path: Path, row: tuple[int, ...]) -> None:
    path = written(tmp_path / "before.onnx", 16, row, TOKENS)
    made = onnx.load(path)
    for name, shape in (("c", row), ("e", (16, 6))):
        other = np.random.default_rng(1).normal(size=shape).astype(np.float32)
        made.graph.initializer.append(onnx.numpy_helper.from_array(other, name))
    onnx.save(made, path)
    o = sl.optimize(path)
    assert Counter(ops(o)) == {"Gemm": 3, "Reshape": 5, "MatMul": 1, "Relu": 1, "Sigmoid": 1, "Add": 1, "Mul": 1}
    assert sl.verify(path, o).verdict is sl.Verdict.PROVED
    o.save(tmp_path / "after.onnx")
    assert sl.optimize(tmp_path / "after.onnx").source.SerializeToString() == (tmp_path / "after.onnx").read_bytes()
    for count in (0, 1, 2, 11) if unoptimized_onnxruntime.is_installed() else ():
        x = np.random.default_rng(count).normal(size=(count, 3, 16)).astype(np.float32)
        before, after = (unoptimized_onnxruntime.outputs(tmp_path / f"{n}.onnx", {"x": x}) for n in ("before", "after"))
        assert [a.tobytes() for a in before] == [a.tobytes() for a in after]


@pytest.mark.parametrize(
    ("terms", "row", "text"),
    [
        (129, (6,), PRODUCT),
        (5, (), PRODUCT),
        (5, (6,), PRODUCT.replace("N,", "N,M,")),
        (5, (1, 1, 6), PRODUCT.replace("N,", "N,3,")),
        (5, (6,), PRODUCT.replace("y)", "y, float[N,6] p)")),
    ],
    ids=["terms", "scalar", "two dims before the rows", "rank of the row", "output"],
)
def test_other_products_stay(tmp_path: Path, terms: int, row: tuple[int, ...], text: str) -> None:
    o = sl.optimize(written(tmp_path / "before.onnx", terms, row, text))
    assert ops(o)[:2] == ["MatMul", "Add"]
