"""ONNX's own tests of its operators: the shape is right in all, the value wherever a function is declared."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from tests import onnx_nodes
from tests.onnx_nodes import against_onnxruntime as peer
from tests.onnx_nodes.__main__ import page
from tests.onnx_nodes.draw_nodes import Case
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(not onnx_nodes.is_installed(), reason="onnx, whose package has the tests, is missing")
MODULES = onnx_nodes.modules() if onnx_nodes.is_installed() else []


@pytest.mark.sample(3)
@pytest.mark.parametrize("module", MODULES)
def test_the_tests_of_an_operator_pass(module: str) -> None:
    for case in onnx_nodes.cases(module):
        onnx_nodes.outcome(case)


@pytest.mark.slow
def test_the_page_has_the_counts() -> None:
    assert page() + "\n" == (ROOT / "docs" / "onnx.md").read_text(encoding="utf-8"), "run: python -m tests.onnx_nodes"


@pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
def test_random_nodes_have_the_shapes_types_and_values_of_onnxruntime() -> None:
    for number, case in peer.cases(88):
        model = peer.model_of(case)
        expected = peer.theirs(model, case)
        if expected is not None:
            found = peer.difference(case, expected, model)
            assert found in ("", "no value") if case.op in peer.NO_VALUE else found == "", f"{number}: {case}: {found}"


def outputs(tmp_path: Path, case: Case) -> dict[str, sl.Tensor]:
    path = tmp_path / "m.onnx"
    path.write_bytes(peer.model_of(case).SerializeToString())
    return dict(sl.read_model(path).outputs)


def test_all_outputs_of_a_node_in_a_model_are_declared(tmp_path: Path) -> None:
    x, w, r = (np.ones(shape, np.float32) for shape in ((2, 1, 3), (1, 8, 3), (1, 8, 2)))
    made = outputs(tmp_path, Case("LSTM", 14, [x, w, r], {"hidden_size": 2}, outputs=3))
    assert all(node.body.function is not None for y in made.values() for node in y.graph() if node.body)
    pooled = outputs(tmp_path, Case("MaxPool", 12, [x], {"kernel_shape": [2]}, outputs=2))
    assert sl.interpret(pooled["y1"], x).tolist() == [[[0, 1]], [[3, 4]]]


def test_an_equation_in_a_model_is_a_sum_of_products(tmp_path: Path) -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 4), np.float32)
    (y,) = outputs(tmp_path, Case("Einsum", 12, [a, b], {"equation": "ij,jk->ik"})).values()
    assert (sl.interpret(y, a, b) == a @ b).all()


@pytest.mark.parametrize(
    ("call", "arrays", "shape"),
    [
        (lambda x: sl.onnx.hardmax(x, axis=-2), [np.zeros((0, 4, 2), np.float32)], (0, 4, 2)),
        (lambda x, i: sl.onnx.gather(x, i, axis=1), [np.zeros((2, 3)), np.zeros((0,), np.int64)], (2, 0)),
        (
            lambda x, w: sl.onnx.conv_transpose(x, w, strides=(2,), auto_pad="SAME_UPPER"),
            [np.ones((1, 1, 4)), np.ones((1, 1, 2))],
            (1, 1, 8),
        ),
    ],
)
def test_empty_arrays_and_small_kernels_have_values(call: Any, arrays: list[Any], shape: tuple[int, ...]) -> None:
    leaves = [sl.tensor(a.shape if k else (None,) * a.ndim, a.dtype, f"x{k}") for k, a in enumerate(arrays)]
    assert sl.interpret(call(*leaves), *arrays).shape == shape


def test_pads_that_are_computed_count_where_they_are_asked_to() -> None:
    x = np.ones((1, 1, 3))
    y = sl.onnx.average_pool(
        sl.tensor("N, C, H", "float64", name="x"),
        kernel_shape=(2,),
        auto_pad="SAME_LOWER",
        count_include_pad=1,
        ceil_mode=1,
    )
    assert sl.interpret(y, x).tolist() == [[[0.5, 1.0, 1.0]]]


def test_sizes_at_which_computed_pads_would_be_negative_are_left_out() -> None:
    x = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 5)
    for mode in ("SAME_UPPER", "SAME_LOWER"):
        y = sl.onnx.average_pool(sl.tensor("N, C, H", "float32", name="x"), (1,), auto_pad=mode, strides=(4,))
        assert sl.interpret(y, x).tolist() == [[[1.0, 5.0]]]
        with pytest.raises(sl.ShapeError, match="windows leave out 3 elements") as caught:
            y.subs({"H": 8})
        assert caught.value.kind == "left_out"


def test_products_of_int32_wrap_as_in_the_reference() -> None:
    y = sl.onnx.reduce_prod(sl.tensor("N, C", "int32", name="x"), axes=[1])
    assert sl.interpret(y, np.full((1, 21), 3, np.int32)).tolist() == [[3**21 - 2 * 2**32]]


@pytest.mark.parametrize("bounds", [{}, {"min": -1.0}, {"max": 1.0}])
def test_a_bound_of_clip_that_is_left_out_is_the_last_number_of_the_type(bounds: dict[str, float]) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.5], np.float16)
    y = sl.onnx.clip(sl.tensor("N", "float16", name="x"), **bounds)
    # onnxruntime 1.32 at opset 13: [65504, -65504, nan, 0.5] without bounds; an infinity never comes out
    expected = [bounds.get("max", 65504.0), bounds.get("min", -65504.0), np.nan, 0.5]
    np.testing.assert_array_equal(sl.interpret(y, x), np.array(expected, np.float16))
    assert sl.prove_equal(y, sl.tensor("N", "float16", name="x"), budget=50).verdict is not sl.Verdict.PROVED


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "demands"),
    [
        ("ScatterElements", ("N, C", "K, L", "P, Q"), {"axis": 1}, ("Eq(P, K)", "Eq(Q, L)")),
        ("ScatterND", ("N, C, D", "K, 2", "P, Q"), {}, ("Eq(P, K)", "Eq(Q, D)")),
        ("ReverseSequence", ("T, N, C", "M"), {}, ("Eq(M, N)",)),
        ("Det", ("N, A, B",), {}, ("Eq(A, B)",)),
        ("MaxUnpool", ("N, C, H", "A, B, D"), {"kernel_shape": (2,)}, ("Eq(N, A)", "Eq(C, B)", "Eq(H, D)")),
        (
            "DeformConv",
            ("N, C, 8, 8", "M, D, 3, 3", "P, Q, 6, R"),
            {},
            ("Eq(C, D)", "Eq(P, N)", "Eq(Q, 18)", "Eq(R, 6)"),
        ),
        (
            "RNN",
            ("T, N, C", "A, B, D", "E, F, G"),
            {"hidden_size": 2},
            ("Eq(A, 1)", "Eq(B, 2)", "Eq(D, C)", "Eq(G, 2)"),
        ),
        ("Conv", ("N, C, 8", "M, C, 3", "B"), {}, ("Eq(B, M)",)),
        ("ConvTranspose", ("N, C, 8", "C, M, 3", "B"), {"group": 1}, ("Eq(B, M)",)),
    ],
)
def test_operands_fit_each_other(
    op: str, shapes: tuple[str, ...], attributes: dict[str, Any], demands: tuple[str, ...]
) -> None:
    """Onnxruntime 1.32 and the reference evaluator refuse all sizes that do not fit."""
    places = {"ScatterElements", "ScatterND", "ReverseSequence", "MaxUnpool"}
    dtypes = ["int64" if k == 1 and op in places else "float32" for k in range(len(shapes))]
    operands = [sl.tensor(s, d, name=f"x{k}") for k, (s, d) in enumerate(zip(shapes, dtypes, strict=True))]
    found = {str(r) for r in sl.op(f"onnx:{op}")(*operands, **attributes).requires}
    assert set(demands) <= found


def test_integers_have_no_infinity_that_clip_takes_away() -> None:
    x = sl.tensor("N", "int32", name="x")
    assert sl.prove_equal(sl.onnx.clip(x), x).verdict is sl.Verdict.PROVED


def test_a_pool_requires_that_its_window_fits() -> None:
    y = sl.onnx.lp_pool(sl.tensor("N, C, H", name="x"), (3,), dilations=(3,))
    assert [str(r) for r in y.requires] == ["C >= 1", "H >= 7"]
    with pytest.raises(sl.ShapeError, match="a window of 7 does not fit 6 elements"):
        y.subs({"H": 6})


def test_an_index_of_einsum_that_runtimes_may_repeat_is_left_out() -> None:
    """NumPy and onnxruntime take one element for several; the extents of two inputs may be that."""
    x, y, z = (sl.tensor(shape, "float32") for shape in ("B, I, J", "B, K, L", "B, K >= 2, L"))
    two = sl.tensor("B, I, J >= 2", "float32", name="w")
    product = sl.op("onnx:Einsum")
    kinds = [[r.kind for r in product(*xs, equation="bij,bjk->bik").facts.requirements] for xs in ((x, y), (two, z))]
    assert kinds == [["left_out"], ["size_mismatch"]]


def test_a_deformed_convolution_has_as_many_channels_in_each_group() -> None:
    x, w = sl.tensor("1, C, 5, 5", "float32"), sl.tensor("M, K, 2, 2", "float32")
    offsets = sl.tensor("1, 16, 4, 4", "float32")
    made = sl.op("onnx:DeformConv")(x, w, offsets, kernel_shape=[2, 2], group=3, offset_group=2)
    with pytest.raises(sl.ShapeError) as error:
        made.bind({"C": 3, "K": 1, "M": 3})
    assert error.value.kind == "non_divisible"
    made.bind({"C": 6, "K": 2, "M": 3})
