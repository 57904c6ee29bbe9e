"""Kernels that move computed values without axes, and names of dims that a tensor has not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl

A = np.arange(6, dtype=np.float32).reshape(2, 3)
SQUARE = np.array([[2, 1, 0], [0, 3, 1], [1, 0, 1]], np.float32)


def _x() -> sl.Tensor:
    return sl.tensor("N >= 1, C >= 1", dtype="float32", name="x")


def _vector(name: str) -> sl.Tensor:
    return sl.tensor("N >= 1", dtype="float32", name=name)


# Each operation, its arrays, and the value that NumPy gives.
SCALARS: dict[str, tuple[Callable[[], sl.Tensor], tuple[Any, ...], Any]] = {
    "place of the greatest": (
        lambda: sl.onnx.arg_max(sl.reshape(_x(), (-1,)), axis=0, keepdims=0),
        (A,),
        np.argmax(A),
    ),
    "sum after a roll": (
        lambda: sl.onnx.reduce_sum(sl.roll(_x(), 1, 0), axes=[0, 1], keepdims=0),
        (A,),
        A.sum(),
    ),
    "determinant": (
        lambda: sl.onnx.det(sl.roll(sl.tensor((3, 3), dtype="float32", name="x"), 1, 0)),
        (SQUARE,),
        np.float32(np.linalg.det(np.roll(SQUARE, 1, 0))),
    ),
    "product of vectors": (lambda: sl.onnx.matmul(_vector("u"), _vector("v")), (A[0], A[1]), A[0] @ A[1]),
    "a function of a scalar, repeated": (
        lambda: sl.broadcast_to(sl.onnx.neg(sl.tensor((), dtype="float32", name="s")), (2, 3)),
        (np.float32(3),),
        np.full((2, 3), -3, np.float32),
    ),
    "a sum beside its terms": (
        lambda: sl.onnx.mul(_x(), sl.onnx.reduce_sum(_x(), axes=[0, 1], keepdims=0)),
        (A,),
        A * A.sum(),
    ),
}


@pytest.mark.parametrize("name", SCALARS)
def test_a_kernel_of_a_computed_scalar_runs(name: str) -> None:
    make, arrays, expected = SCALARS[name]
    y = make()
    for found in (sl.compile(y, strict=True)(*arrays), sl.interpret(y, *arrays)):
        assert found.shape == np.shape(expected)
        assert np.allclose(found, expected)


CALLS: dict[str, Callable[[sl.Tensor], Any]] = {
    "interpret": lambda x: sl.interpret(x, A, dims={"Q": 3}),
    "compile": lambda x: sl.compile(x, dims={"Q": 3}),
    "kernel": lambda x: sl.compile(x)(A, dims={"Q": 3}),
    "computed kernel": lambda x: sl.compile(sl.onnx.neg(x))(A, dims={"Q": 3}),
    "show": lambda x: x.show(dims={"Q": 3}),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_value_for_a_dim_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(sl.ShapeError, match=r"dims: 'Q' is not a dim of the tensor\n  known: N, C") as error:
        CALLS[name](_x())
    assert error.value.kind == "unknown_dim"


def _one(name: str) -> sl.Tensor:
    return sl.tensor((1,) * 64, dtype="float64", name=name)


RANK_64: dict[str, Callable[[], sl.Tensor]] = {
    "flip": lambda: sl.flip(_one("x"), 0),
    "pad": lambda: sl.pad(_one("x"), [(1, 1)] + [(0, 0)] * 63),
    "function": lambda: sl.onnx.neg(_one("x")),
    "product": lambda: sl.onnx.matmul(_one("x"), _one("y")),
    "sum": lambda: sl.onnx.reduce_sum(_one("x"), axes=[0]),
    "softmax": lambda: sl.onnx.softmax(_one("x"), axis=0),
}


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="NumPy 1 has arrays of at most 32 axes")
@pytest.mark.parametrize("name", RANK_64)
def test_as_many_axes_as_numpy_has_are_computed_or_refused(name: str) -> None:
    y, a = RANK_64[name](), np.ones((1,) * 64)
    try:
        found = sl.interpret(y, *[a] * len(y.arguments()))
    except sl.SymlayoutError:
        assert name in ("product", "sum", "softmax")
    else:
        assert found.shape == y.shape


@pytest.mark.parametrize("to", ["uint8", "int32", "uint32", "int64"])
def test_floats_that_no_integer_holds_change_no_other_element(to: str) -> None:
    """What C does not define is some integer of the type; the docs say so."""
    a = np.array([1.9, np.nan, 2.0, np.inf, 3.5, -np.inf, 4.0, 1e20, 5.0], np.float32)
    y = sl.onnx.cast(sl.tensor("N", dtype="float32", name="x"), to=to)
    with np.errstate(invalid="ignore"):
        for found in (sl.compile(y, strict=True)(a), sl.interpret(y, a)):
            assert found.dtype == to
            assert found[::2].tolist() == [1, 2, 3, 4, 5]
