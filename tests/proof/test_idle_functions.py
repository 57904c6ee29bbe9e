"""A function that returns one of its operands is that operand; those that only nearly do are others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof import idle_functions
from symlayout.proof.idle_functions import without_idle_functions
from symlayout.tensors.element_types import end_of_type

FLOATS = (np.float16, np.float32, np.float64)
INTEGERS = (np.int8, np.uint8, np.int32, np.int64, np.uint64)
Function = Callable[[sl.Tensor, Any], sl.Tensor]


def end(dtype: Any, *, lowest: bool) -> Any:
    return np.array(end_of_type(np.dtype(dtype), lowest=lowest), dtype)


IDLE: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "x * 1": (lambda x, t: sl.onnx.mul(x, t(1)), (*FLOATS, *INTEGERS)),
    "1 * x": (lambda x, t: sl.onnx.mul(np.array(1, t), x), (*FLOATS, *INTEGERS)),
    "x * ones": (lambda x, t: sl.onnx.mul(x, np.ones(4, t)), (np.float32, np.int64)),
    "x / 1": (lambda x, t: sl.onnx.div(x, t(1)), (*FLOATS, *INTEGERS)),
    "x - 0": (lambda x, t: sl.onnx.sub(x, t(0)), (*FLOATS, *INTEGERS)),
    "x + -0": (lambda x, t: sl.onnx.add(x, t(-0.0)), FLOATS),
    "x + 0": (lambda x, t: sl.onnx.add(x, t(0)), INTEGERS),
    "x ** 1": (lambda x, t: sl.onnx.pow(x, t(1)), (np.float32, np.float64, np.int32)),
    "where(True, x, 7)": (lambda x, t: sl.onnx.where(np.True_, x, t(7)), (*FLOATS, *INTEGERS)),
    "where(False, 7, x)": (lambda x, t: sl.onnx.where(np.False_, t(7), x), (*FLOATS, *INTEGERS)),
    "max(x, lowest)": (lambda x, t: sl.onnx.max(x, end(t, lowest=True)), (*FLOATS, *INTEGERS)),
    "min(x, highest)": (lambda x, t: sl.onnx.min(end(t, lowest=False), x), (*FLOATS, *INTEGERS)),
    "x and True": (lambda x, t: sl.op("onnx:And")(x, np.True_), (np.bool_,)),
    "x or False": (lambda x, t: sl.op("onnx:Or")(x, np.False_), (np.bool_,)),
    "x xor False": (lambda x, t: sl.op("onnx:Xor")(x, np.False_), (np.bool_,)),
    "x & 255": (lambda x, t: sl.onnx.bitwise_and(x, t(255)), (np.uint8,)),
}
BUSY: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "min(x, lowest)": (lambda x, t: sl.onnx.min(x, end(t, lowest=True)), (*FLOATS, *INTEGERS)),
    "max(x, least finite)": (lambda x, t: sl.onnx.max(x, np.array(np.finfo(t).min, t)), FLOATS),
    "x + 0": (lambda x, t: sl.onnx.add(x, t(0)), FLOATS),
    "x - -0": (lambda x, t: sl.onnx.sub(x, t(-0.0)), FLOATS),
    "0 - x": (lambda x, t: sl.onnx.sub(np.array(0, t), x), (*FLOATS, np.int64)),
    "1 / x": (lambda x, t: sl.onnx.div(np.array(1, t), x), FLOATS),
    "x * -1": (lambda x, t: sl.onnx.mul(x, t(-1)), FLOATS),
    "x * almost 1": (lambda x, t: sl.onnx.mul(x, np.array([1, 1, 1, 0.5], t)), FLOATS),
    "x * (1 + eps)": (lambda x, t: sl.onnx.mul(x, np.nextafter(t(1), t(2))), (np.float32, np.float64)),
    "x ** 2": (lambda x, t: sl.onnx.pow(x, t(2)), (np.float32, np.int32)),
    "where(False, x, 7)": (lambda x, t: sl.onnx.where(np.False_, x, t(7)), FLOATS),
    "x and False": (lambda x, t: sl.op("onnx:And")(x, np.False_), (np.bool_,)),
    "x xor True": (lambda x, t: sl.op("onnx:Xor")(x, np.True_), (np.bool_,)),
    "x & 127": (lambda x, t: sl.onnx.bitwise_and(x, t(127)), (np.uint8,)),
    "x & -2": (lambda x, t: sl.onnx.bitwise_and(x, t(-2)), (np.int64,)),
}


def cases(table: dict[str, tuple[Function, tuple[Any, ...]]]) -> list[Any]:
    return [
        pytest.param(function, np.dtype(t), id=f"{name} {np.dtype(t)}")
        for name, (function, types) in table.items()
        for t in types
    ]


def elements(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return elements of a type in rows of four, among them the signs of zero, infinities and NaN."""
    if dtype.kind == "b":
        return np.array([[True, False, True, False]])
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([[0, 1, ends.min, ends.max], [ends.max - 1, ends.min + 1, 5, 77]], dtype)
    return np.array([[0, -0.0, 1.5, -2.25], [np.inf, -np.inf, np.nan, 1e-7], [3e4, -3e4, 0.1, 7]]).astype(dtype)


@pytest.mark.parametrize(("function", "dtype"), cases(IDLE))
def test_a_function_that_returns_its_operand_is_that_operand(function: Function, dtype: np.dtype[Any]) -> None:
    x = sl.tensor("N, 4", dtype=dtype, name="x")
    y = function(x, dtype.type)
    proof = sl.prove_equal(y, x)
    assert proof.verdict is sl.Verdict.PROVED
    assert proof.laws == ()
    assert sl.check(proof.certificate)
    assert str(proof.requires) == str(sl.prove_equal(x, x).requires)
    a = elements(dtype)
    made = sl.interpret(y, a)
    assert made.dtype == a.dtype
    same = (made == a) & (np.signbit(made.astype(np.float64)) == np.signbit(a.astype(np.float64)))
    assert (same | (np.isnan(made.astype(np.float64)) & np.isnan(a.astype(np.float64)))).all()


@pytest.mark.parametrize(("function", "dtype"), cases(BUSY))
def test_a_function_that_changes_some_element_is_not_its_operand(function: Function, dtype: np.dtype[Any]) -> None:
    x = sl.tensor("N, 4", dtype=dtype, name="x")
    y = function(x, dtype.type)
    assert sl.prove_equal(y, x, budget=20).verdict is not sl.Verdict.PROVED
    made, changed = without_idle_functions({"y": y})
    assert made["y"] is y
    assert not changed


def test_functions_are_taken_out_where_they_are_read() -> None:
    x = sl.tensor("N, 4", dtype="float32", name="x")
    left = sl.onnx.relu(sl.transpose(sl.onnx.mul(x, np.ones(4, np.float32))))
    proof = sl.prove_equal(left, sl.transpose(sl.onnx.relu(x)))
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)


def test_a_factor_of_one_that_makes_an_axis_longer_is_no_identity() -> None:
    x = sl.tensor("N, 1", dtype="float32", name="x")
    y = sl.onnx.mul(x, np.ones(4, np.float32))
    assert sl.prove_equal(y, sl.broadcast_to(x, (x.shape[0], 4))).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(y, x).verdict is sl.Verdict.REFUTED


C = sl.tensor("N, 4", dtype="bool", name="c")
FLAGS = sl.tensor("4, N", dtype="bool", name="flags")
A, B = (sl.tensor("N, 4", dtype="float32", name=name) for name in "ab")
NOT = sl.op("onnx:Not")
CHOICES = {
    "negated": (sl.onnx.where(NOT(C), A, B), sl.onnx.where(C, B, A), True),
    "twice": (sl.onnx.where(NOT(NOT(C)), A, B), sl.onnx.where(C, A, B), True),
    "moved": (sl.onnx.where(sl.transpose(NOT(FLAGS)), A, B), sl.onnx.where(sl.transpose(FLAGS), B, A), True),
    "a constant": (sl.onnx.where(NOT(C), A, np.float32(3)), sl.onnx.where(C, np.float32(3), A), True),
    "not exchanged": (sl.onnx.where(NOT(C), A, B), sl.onnx.where(C, A, B), False),
    "exchanged alone": (sl.onnx.where(C, A, B), sl.onnx.where(C, B, A), False),
    "of another comparison": (sl.onnx.where(sl.onnx.less(A, B), A, B), sl.onnx.where(NOT(C), A, B), False),
}


@pytest.mark.parametrize(("left", "right", "same"), CHOICES.values(), ids=CHOICES)
def test_a_choice_by_a_negation_is_the_other_choice(left: sl.Tensor, right: sl.Tensor, *, same: bool) -> None:
    proof = sl.prove_equal(left, right)
    assert proof.verdict is (sl.Verdict.PROVED if same else sl.Verdict.REFUTED)
    assert not same or sl.check(proof.certificate)
    draw = np.random.default_rng(0)
    arrays = {"c": draw.random((3, 4)) < 0.5, "flags": draw.random((4, 3)) < 0.5, "a": draw.random((3, 4)).astype("f4"),
              "b": draw.random((3, 4)).astype("f4")}  # fmt: skip
    made = [sl.interpret(t, *(arrays[leaf.name] for leaf in t.arguments())) for t in (left, right)]
    assert np.array_equal(made[0], made[1]) == same


def test_a_function_that_a_graph_has_many_times_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []
    plain = idle_functions._operand

    def noted(*given: Any) -> int | None:
        tried.append(given)
        return plain(*given)

    monkeypatch.setattr(idle_functions, "_operand", noted)
    x = sl.tensor("N", dtype="float32", name="x")
    y = x
    for _ in range(20):
        y = sl.onnx.add(sl.onnx.mul(y, np.float32(1.5)), np.float32(-0.0))
    idle_functions._kept_operand.cache_clear()
    made, _ = idle_functions.without_idle_functions({"y": y, "z": sl.onnx.add(x, np.float32(0.0))})
    assert len(tried) == 3  # 0.0 is another constant than -0.0
    assert (made["z"].name, made["y"].name) == ("Add", "broadcast_jointly")
