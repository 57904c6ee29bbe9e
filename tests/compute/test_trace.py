"""Bodies become steps of a processor; what has none is refused; reductions have one order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symlayout.compute import reductions, scalars
from symlayout.compute.trace import BodyTrace, UntraceableError, fold, larger, smaller

Array = np.ndarray[Any, Any]


def traced(function: Callable[..., Any], *dtypes: str) -> list[tuple[str, str]]:
    """Return the functions and types of the steps of *function*, without its loads."""
    trace = BodyTrace()
    trace.call(function, *(trace.load(k, dtype, reduced=False) for k, dtype in enumerate(dtypes)))
    return [(step.function, step.type) for step in trace.steps if step.function != "load"]


def test_steps_have_the_types_that_numpy_chooses() -> None:
    assert traced(lambda x: x + 1, "uint8") == [("literal", "uint8"), ("add", "uint8")]
    assert traced(np.add, "uint8", "float32") == [("cast", "float32"), ("add", "float32")]
    assert traced(np.divide, "int32", "int32")[-1] == ("divide", "float64")
    assert traced(lambda x: np.where(x > 0, x, 0), "float16")[-1] == ("where", "float16")
    assert traced(np.logical_and, "int8", "bool") == [("cast", "bool"), ("bitwise_and", "bool")]


def test_a_step_that_is_done_twice_is_written_once() -> None:
    assert traced(lambda x: (x + x) * (x + x), "float32") == [("add", "float32"), ("multiply", "float32")]


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (np.exp, "float32"),
        (scalars.erf, "float32"),
        (lambda x: x if x > 0 else -x, "float32"),
        (lambda x: x.sum(), "float32"),
        (lambda x: x + np.arange(3), "int32"),
        (lambda x: np.array([x]), "int32"),
        (np.add.reduce, "float32"),
        (np.add, "complex64"),
        (lambda x: x + 300, "uint8"),
        (lambda x: np.clip(x, np.nan, 1), "float32"),
    ],
    ids=["exp", "erf", "truth", "method", "array", "list", "reduce", "complex", "large", "nan"],
)
def test_what_has_no_steps_is_refused(function: Callable[..., Any], dtype: str) -> None:
    trace = BodyTrace()
    with pytest.raises(UntraceableError):
        trace.call(function, *[trace.load(0, dtype, reduced=False)] * (2 if function is np.add else 1))


def test_a_reduction_of_a_reduction_is_refused() -> None:
    trace = BodyTrace()
    once = trace.call(reductions.total, trace.load(0, "float32", reduced=True), axes=(-1,))
    with pytest.raises(UntraceableError, match="a reduction of a reduction"):
        trace.call(reductions.total, once, axes=(-1,))


def in_sequence(x: Array) -> float:
    """Return the sum of the elements in float64, one after the other."""
    total = 0.0
    for value in x.reshape(-1).tolist():
        total += value
    return total


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_sum_is_added_in_float64_in_row_major_order_however_the_terms_are_stored(dtype: str) -> None:
    x = (np.random.default_rng(2).standard_normal((3, 17, 29)) * 1000).astype(dtype)
    expected = np.array([in_sequence(each) for each in x]).astype(dtype)
    stored = np.asfortranarray(x), x[:, ::-1].copy()[:, ::-1], np.repeat(x, 2, axis=2)[..., ::2], x
    for a in stored:
        assert reductions.total(a, (-2, -1)).tobytes() == expected.tobytes()
    assert not fold(np.add, x[:, :0], (-2, -1), 0.0).any()


def test_zeros_have_one_maximum_and_one_minimum() -> None:
    for size in (1, 3, 16, 33):
        low, high = np.full(size, -0.0, np.float32), np.zeros(size, np.float32)
        for x, y in ((low, high), (high, low)):
            assert not np.signbit(larger(x, y)).any()
            assert np.signbit(smaller(x, y)).all()
            pair = np.stack([x, y])
            assert not np.signbit(reductions.greatest(pair.T, (-1,))).any()
            assert np.signbit(reductions.least(pair.T, (-1,))).all()
        assert np.signbit(reductions.greatest(np.stack([low, low], -1), (-1,))).all()
    assert np.isnan(larger(np.float32(np.nan), np.float32(1)))
    assert np.isnan(larger(np.float32(1), np.float32(np.nan)))
