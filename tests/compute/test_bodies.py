"""Operations that compute do what NumPy does, at sizes that are known only when arrays come."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute import (
    along_axis,
    attention,
    contractions,
    demands,
    elementwise,
    gather,
    normalization,
    pooling,
    quantization,
    recurrent,
    reductions,
    resample,
    sampling,
    scalars,
    text,
    trace,
    training,
    whole,
)
from symlayout.compute.contractions import Spatial
from symlayout.frontends.onnx import (
    data_dependent,
    element_types,
    indexing,
    layers,
    operator,
    products,
    resampling,
    shape_values,
    types,
    windows,
)
from symlayout.frontends.onnx import (
    elementwise as onnx_elementwise,
)
from symlayout.frontends.onnx import (
    normalization as onnx_normalization,
)
from symlayout.frontends.onnx import (
    reductions as onnx_reductions,
)
from tests.support.paths import ROOT

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(1)
A, B = RNG.random((3, 1, 4)), RNG.random((5, 4))


def softmax(a: Array) -> Array:
    e = np.exp(a - a.max(1, keepdims=True))
    return np.asarray(e / e.sum(1, keepdims=True))


def body(function: Callable[..., Any]) -> sl.Body:
    return sl.Body(function.__name__, function)


ROWS: dict[ModuleType, tuple[Callable[..., sl.Tensor], Callable[..., Array]]] = {
    contractions: (lambda x, y: contractions.matmul(x, sl.transpose(y)), lambda a, b: a @ b.T),
    elementwise: (lambda x, y: elementwise.elementwise(body(np.add), x, y), np.add),
    gather: (lambda x, y: gather.take(x, np.array([2, 0]), 0) or x, lambda a, b: a[[2, 0]]),
    normalization: (
        lambda x, y: along_axis.along(x, [2], normalization.normalized, (("epsilon", 1e-5),)),
        lambda a, b: (a - a.mean(2, keepdims=True)) / np.sqrt(a.var(2, keepdims=True) + 1e-5),
    ),
    along_axis: (lambda x, y: along_axis.along(y, [1], along_axis.softmax), lambda a, b: softmax(b)),
    pooling: (
        lambda x, y: pooling.max_pool(x, (2,), Spatial((1,), (1,), ((0, 0),))),
        lambda a, b: np.maximum(a[..., 1:], a[..., :-1]),
    ),
    quantization: (
        lambda x, y: elementwise.elementwise(
            sl.Body("cast", quantization.cast, (("to", np.dtype("float32")),)), x, dtype=np.float32
        ),
        lambda a, b: a.astype(np.float32),
    ),
    reductions: (
        lambda x, y: reductions.reduced(x, [0, 2], reductions.total, keepdims=True),
        lambda a, b: a.sum((0, 2), keepdims=True),
    ),
    resample: (
        lambda x, y: resample.resample(x, 2, 8, (("scale", 2.0), ("mode", "nearest"), ("coordinates", "half_pixel"))),
        lambda a, b: a.repeat(2, 2),
    ),
    whole: (
        lambda x, y: whole.whole("determinant", [y[:4]], (), function=whole.determinant),
        lambda a, b: np.linalg.det(b[:4]),
    ),
    demands: (lambda x, y: demands.demanding(x, "{} and {}", [(x.shape[1], 1)]), lambda a, b: a),
    trace: (lambda x, y: elementwise.elementwise(body(trace.larger), x, y), np.maximum),
    scalars: (lambda x, y: elementwise.elementwise(body(scalars.sigmoid), x), lambda a, b: 1 / (1 + np.exp(-a))),
    attention: (lambda x, y: along_axis.along(y, [1], attention.softmax_or_zero), lambda a, b: softmax(b)),
    recurrent: (
        lambda x, y: sl.onnx.rnn(x, np.ones((1, 2, 4)), np.zeros((1, 2, 2)), hidden_size=2),
        lambda a, b: np.broadcast_to(np.tanh(a.sum(-1))[:, None, :, None], (3, 1, 1, 2)),
    ),
    sampling: (lambda x, y: sl.onnx.col2im(x, image_shape=(4,), block_shape=(1,)), lambda a, b: a),
    training: (
        lambda x, y: elementwise.elementwise(
            sl.Body(
                "adagrad",
                training.adagrad,
                tuple({"decay_factor": 0.0, "epsilon": 1.0, "norm_coefficient": 0.0, "output": 0}.items()),
            ),
            x,
            x,
            x,
            x,
            x,
        ),
        lambda a, b: a - a * a / (np.sqrt(a + a * a) + 1),
    ),
    text: (
        lambda x, y: elementwise.elementwise(sl.Body("matches", text.matches, (("pattern", ".*"),)), x, dtype=np.bool_),
        lambda a, b: a >= 0,
    ),
}


def test_every_module_has_a_row() -> None:
    files = {file.stem for file in (ROOT / "symlayout" / "compute").glob("*.py")} - {
        "__init__",
        "fixed_kinds",
    }  # a table of functions of others
    assert {module.__name__.rpartition(".")[2] for module in ROWS} == files


@pytest.mark.parametrize("module", ROWS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_it_does_what_numpy_does(module: ModuleType) -> None:
    operation, expected = ROWS[module]
    y = operation(sl.tensor("N, 1, C", name="x"), sl.tensor("M, C", name="y"))
    arrays: dict[str, Any] = {x.name: {"x": A, "y": B}[x.name] for x in y.arguments()}
    for made in (y, pickle.loads(pickle.dumps(y))):
        found = sl.interpret(made, **arrays)
        np.testing.assert_allclose(found, expected(A, B), rtol=1e-6)


def test_half_precision_adds_in_float32_and_rounds_once() -> None:
    a = np.full((1, 5000), 0.1, np.float16)
    y = sl.onnx.reduce_sum(sl.tensor("N, C", "float16", "x"), axes=[1])
    assert sl.interpret(y, a) == np.float16(a.astype(np.float32).sum())
    y = sl.onnx.mat_mul(sl.tensor("N, C", "float16", "x"), sl.tensor("C, M", "float16", "w"))
    assert sl.interpret(y, a, np.ones((5000, 1), np.float16)) == np.float16(a.astype(np.float32).sum())


def test_arrays_are_constants_and_constants_are_attributes() -> None:
    x = sl.tensor("N, C", "float32", "x")
    y = sl.onnx.add(x, np.float32(1))
    assert [leaf.name for leaf in y.arguments()] == ["x"]
    assert sl.onnx.reduce_max(x, sl.constant(np.array([1])), keepdims=0).shape == x.shape[:1]
    with pytest.raises(sl.ShapeError) as error:
        sl.onnx.reduce_max(x, sl.tensor("1", "int64", "axes"))
    assert error.value.kind == "attr_dtype"
    with pytest.raises(TypeError):
        sl.onnx.add(x, None)


def test_names_may_lack_underscores() -> None:
    assert sl.onnx.matmul is sl.onnx.mat_mul is sl.op("onnx:MatMul")
    with pytest.raises(AttributeError):
        _ = sl.onnx.no_operator


def test_an_attribute_that_an_operator_lacks_is_refused() -> None:
    with pytest.raises(sl.ShapeError) as error:
        sl.onnx.leaky_relu(sl.tensor("N", name="x"), beta=1.0)
    assert error.value.kind == "attr_unknown"


def test_element_types_have_numbers() -> None:
    assert element_types.of_number("to", 11) == np.float64
    with pytest.raises(sl.ShapeError):
        element_types.of_number("to", 999)


def test_an_index_that_is_constant_is_movement() -> None:
    x = sl.tensor("N, C", name="x")
    y = indexing.gather(x, np.array([3, 1]), axis=1)
    assert sl.prove_equal(y, x[:, 3:0:-2]).verdict is not sl.Verdict.REFUTED
    assert not y.computes
    assert indexing.gather(x, sl.tensor("K", "int64", "i"), axis=1).computes


@pytest.mark.parametrize("kind", ["bad_axis", "size_mismatch", "infeasible"])
def test_errors_have_the_same_kind_early_and_late(kind: str) -> None:
    def made(h: Any) -> sl.Tensor:
        x = sl.tensor((1, 3, h), name="x")
        if kind == "bad_axis":
            return products.mat_mul(x, sl.onnx.softmax(sl.tensor((3, 4), name="y"), axis=5 if h == 4 else 1))
        if kind == "size_mismatch":
            return products.mat_mul(x, sl.tensor((5, 4), name="y"))
        return windows.conv(x, sl.tensor((1, 3, 5), name="w"))

    with pytest.raises(sl.ShapeError) as early:
        made(4)
    assert early.value.kind == kind
    if kind != "bad_axis":
        with pytest.raises(sl.ShapeError) as late:
            made(sl.dim("h")).subs({"h": 4})
        assert late.value.kind == kind


def test_a_cast_to_its_own_type_is_nothing() -> None:
    x = sl.tensor("N", "float32", "x")
    assert types.cast(x, to=1) is x
    assert operator.snake_case("ReduceL1") == "reduce_l1"


def test_a_row_of_a_table_is_an_operator() -> None:
    for name in (*onnx_elementwise.ROWS, *onnx_reductions.ROWS):
        assert sl.op(f"onnx:{name}") is getattr(sl.onnx, operator.snake_case(name))


def test_softmax_before_opset_13_is_over_all_axes_that_follow() -> None:
    x = sl.tensor("N, C, H", name="x")
    flat = sl.reshape(sl.onnx.softmax(sl.reshape(x, (sl.dim("N"), -1)), axis=1), x.shape)
    a = RNG.random((2, 3, 4))
    np.testing.assert_allclose(sl.interpret(onnx_normalization.softmax_11(x), a), sl.interpret(flat, a))


def test_extents_that_depend_on_data_are_named_and_bounded() -> None:
    y = data_dependent.non_zero(sl.tensor("N, C", name="x"))
    rank, count = y.shape
    assert rank == 2
    assert len(y.requires) == 1
    a = np.array([[1, 0, 2], [0, 0, 3]])
    assert sl.interpret(y, a, dims={count: 3}).tolist() == [[0, 0, 1], [0, 2, 2]]
    with pytest.raises(sl.ShapeError) as error:
        y.subs({count: 7, "N": 2, "C": 3})
    assert error.value.kind == "infeasible"


@pytest.mark.slow
def test_what_is_random_equals_nothing() -> None:
    x = sl.tensor("N, C", name="x")
    left, right = (layers.bernoulli(x) for _ in range(2))
    assert sl.prove_equal(left, right).verdict is not sl.Verdict.PROVED
    assert sl.prove_equal(sl.onnx.dropout(x), x).verdict is sl.Verdict.PROVED


def test_nearest_resize_is_an_index_map_where_it_rounds_alike() -> None:
    x = sl.tensor("N, C, H, W", name="x")
    y = resampling.resize(x, scales=[1, 1, 2, 2])
    assert sl.prove_equal(y, sl.resize_nearest(x, scale=2, axes=(2, 3))).verdict is sl.Verdict.PROVED
    assert resampling.resize(x, scales=[1, 1, 2, 2], mode="linear").shape == y.shape


def test_shapes_of_known_extents_are_constants() -> None:
    assert sl.interpret(shape_values.shape(sl.tensor("2, 3", name="x"))).tolist() == [2, 3]
    assert shape_values.shape(sl.tensor("N, 3", name="x")).shape == (2,)
    n = sl.dim("n")
    y = shape_values.range(0, np.array(n, object), 2)
    assert sl.interpret(y, dims={n: 5}).tolist() == [0, 2, 4]


def test_a_product_of_integers_is_exact() -> None:
    a, b = np.array([[200, 3]], np.uint8), np.array([[200], [1]], np.uint8)
    left, right = sl.tensor("M, K", "uint8", "a"), sl.tensor("K, N", "uint8", "b")
    y = products.mat_mul_integer(left, right, sl.constant(np.asarray(100, np.uint8)))
    assert sl.interpret(y, a, b).tolist() == [[100 * 200 - 97]]


def test_parameters_of_channels_are_not_broadcast() -> None:
    x, p = sl.tensor("N, C, H", name="x"), [sl.tensor("K", name=name) for name in "sbmv"]
    y = sl.onnx.batch_normalization(x, *p)
    assert y.shape == x.shape
    assert len(y.requires) == 1
    with pytest.raises(sl.ShapeError) as error:
        y.subs({"K": 1, "C": 3})
    assert error.value.kind == "size_mismatch"
