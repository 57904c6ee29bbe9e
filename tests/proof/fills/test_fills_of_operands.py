"""Functions go through pads whose fills they make of other fills, bit for bit, and certificates say so."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_of_computed
from symlayout.proof.fills.copies_of_terms import neutral
from symlayout.proof.fills.fills_of_operands import fills_of_operands
from symlayout.proof.pull_functions import pulled
from symlayout.tensors.apply_operation import operand_of
from symlayout.tensors.declaration import Fill
from symlayout.tensors.element_types import fill_text

N, C, H = sl.dims("N C H", min=1)
op: Any = sl.onnx
x = sl.tensor((N, C, H), "float32", name="x")
Function = Callable[[sl.Tensor], sl.Tensor]
WIDTHS = [(0, 0), (1, 2), (3, 0)]


def number(value: Any, dtype: Any = np.float32) -> sl.Tensor:
    """Return a constant."""
    return sl.constant(np.array(value, dtype))


FUNCTIONS: dict[str, tuple[Function, float, float]] = {
    "relu": (op.relu, 0.0, 0.0),
    "leaky relu": (op.leaky_relu, 0.0, 0.0),
    "sigmoid": (op.sigmoid, 0.0, 0.5),
    "exponential of 0": (op.exp, 0.0, 1.0),
    "exponential of minus infinity": (op.exp, -np.inf, 0.0),
    "negative of 0": (op.neg, 0.0, -0.0),
    "product with a constant": (lambda t: op.mul(t, number(3.0)), 0.0, 0.0),
    "sum with a constant": (lambda t: op.add(number(3.0), t), 0.0, 3.0),
    "sum of two": (lambda t: op.add(t, op.tanh(t)), 0.0, 0.0),
    "rounded": (lambda t: op.quantize_linear(t, number(0.1), number(128, np.uint8)), 0.0, 128),
    "chosen": (lambda t: op.where(op.greater(t, number(0.0)), t, number(0.0)), 0.0, 0.0),
}
WRONG: dict[str, tuple[Function, float, float]] = {
    "relu": (op.relu, 1.0, 0.0),
    "sigmoid": (op.sigmoid, 0.0, 0.0),
    "negative of 0, which is another zero": (op.neg, 0.0, 0.0),
    "product with a negative number": (lambda t: op.mul(t, number(-3.0)), 0.0, 0.0),
    "product with infinity": (lambda t: op.mul(t, number(np.inf)), 0.0, 0.0),
    "sum with a constant": (lambda t: op.add(t, number(3.0)), 0.0, 0.0),
}


def _sides(function: Function, inner: float, outer: float) -> tuple[sl.Tensor, sl.Tensor]:
    left = function(sl.pad(x, WIDTHS, constant_values=inner))
    return left, sl.pad(function(x), WIDTHS, constant_values=outer)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_goes_through_a_pad_and_has_a_certificate(name: str) -> None:
    left, right = _sides(*FUNCTIONS[name])
    proof = sl.prove_equal(left, right)
    assert proof.verdict is sl.Verdict.PROVED
    assert (
        refusal_of_computed(proof.certificate, {"": left}, {"": right}, operand_of("joint", (left, right)).facts) == ""
    )
    (new,), _ = pulled([right])
    assert new.declared is None, "the function is not outermost"
    array = np.random.default_rng(0).standard_normal((1, 2, 3)).astype(np.float32)
    assert sl.interpret(new, array).tobytes() == sl.interpret(right, array).tobytes()


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", WRONG)
def test_a_fill_that_the_function_does_not_make_is_not_passed(name: str) -> None:
    left, right = _sides(*WRONG[name])
    assert sl.prove_equal(left, right).verdict is not sl.Verdict.PROVED
    (new,), _ = pulled([right])
    array = np.random.default_rng(0).standard_normal((1, 2, 3)).astype(np.float32)
    assert sl.interpret(new, array).tobytes() == sl.interpret(right, array).tobytes()


def test_an_undetermined_fill_stays() -> None:
    t = sl.pad(op.relu(x), WIDTHS, constant_values=np.nan)
    (new,), _ = pulled([t])
    array = np.array([[[1, -1]]], np.float32)
    assert np.array_equal(sl.interpret(new, array), sl.interpret(t, array), equal_nan=True)


@pytest.mark.parametrize("channels", [(), (1, 4, 1)])
@pytest.mark.parametrize("wrong", [False, True])
def test_a_factor_before_a_padded_convolution_moves_into_the_weights_under_a_law(
    channels: tuple[int, ...], wrong: bool
) -> None:
    """What exporters and optimisers do with the half of a Gelu, and with scales of channels."""
    rng = np.random.default_rng(0)
    weights, factor = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 4, 3), channels or (1,)))
    y = op.erf(sl.tensor((N, 4, H), "float32", name="y"))
    folded = weights * factor.reshape((1, 4, 1) if channels else (1,)) * np.float32(2 if wrong else 1)
    left = op.conv(op.mul(y, number(factor)), number(weights), pads=(1, 1))
    right = op.conv(y, number(folded), pads=(1, 1))
    laws = ("reassociate", "fold-batchnorm")
    proof = sl.prove_equal(left, right, laws=laws)
    assert proof.verdict is (sl.Verdict.REFUTED if wrong else sl.Verdict.PROVED)
    if not wrong:
        assert proof.laws == ("fold-batchnorm",)
        assert sl.prove_equal(left, right).verdict is sl.Verdict.UNKNOWN


def test_models_with_such_a_factor_are_verified() -> None:
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((5, 4, 3)).astype(np.float32)
    y = sl.tensor((N, 4, H), "float32", name="y")
    gelu = op.mul(y, op.add(op.erf(op.div(y, number(np.sqrt(2)))), number(1.0)))

    def model(out: sl.Tensor) -> SimpleNamespace:
        return SimpleNamespace(inputs={"y": y}, outputs={"out": out}, tensors={"y": y, "out": out})

    before = model(op.conv(op.mul(gelu, number(0.5)), number(weights), pads=(1, 1)))
    for factor, verdict in ((0.5, sl.Verdict.PROVED), (0.25, sl.Verdict.REFUTED)):
        after = model(op.conv(gelu, number(weights * np.float32(factor)), pads=(1, 1)))
        assert sl.verify(before, after, laws=("reassociate", "reciprocal", "fold-batchnorm")).verdict is verdict


def test_a_fill_that_a_factor_does_not_keep_is_no_factor_of_the_pad() -> None:
    y, weights = op.sigmoid(sl.tensor((N, 4, H), "float32", name="y")), number(np.ones((5, 4, 3)))
    padded = sl.pad(op.mul(y, number(0.5)), [(0, 0), (0, 0), (1, 1)], constant_values=1.0)
    outside = sl.pad(y, [(0, 0), (0, 0), (1, 1)], constant_values=1.0)
    halves = number(np.full((5, 4, 3), 0.5))
    laws = ("reassociate", "fold-batchnorm")
    assert sl.prove_equal(op.conv(padded, weights), op.conv(outside, halves), laws=laws).verdict is (sl.Verdict.REFUTED)


def test_what_changes_nothing_in_a_fold() -> None:
    for dtype, least in (("float32", -np.inf), ("int8", -128), ("uint8", 0)):
        t = sl.tensor("N, C", dtype, name="t")
        top = op.reduce_max(t, axes=[1], keepdims=0)
        assert neutral(top.body, top.dtype) == least
    total = op.reduce_sum(sl.tensor("N, C", "float32", name="t"), axes=[1], keepdims=0)
    assert neutral(total.body, total.dtype) == 0
    mean = op.reduce_mean(sl.tensor("N, C", "float32", name="t"), axes=[1], keepdims=0)
    assert neutral(mean.body, mean.dtype) is None


def test_each_operand_gets_a_fill_and_constants_keep_theirs() -> None:
    y = op.mul(x, number(3.0))
    assert y.body is not None
    found = fills_of_operands(y.body, [[view] for view in y.inputs], [Fill(0.0)], y.dtype)
    text = fill_text(0.0, y.dtype)
    assert found is not None
    assert [fills[text].value for fills in found] == [0, 3]
    assert fills_of_operands(y.body, [[view] for view in y.inputs], [Fill(1.0)], y.dtype) is None


def test_a_root_is_another_number_than_the_power_at_minus_0() -> None:
    x = sl.tensor("N", "float32", name="x")
    half = sl.constant(np.float32(0.5))
    y = sl.onnx.pow(x, half)
    assert fills_of_operands(y.body, [[view] for view in y.inputs], [Fill(-0.0)], y.dtype) is None
    made = sl.interpret(y, np.array([-0.0, -np.inf], np.float32))
    assert (made.tolist(), np.signbit(made).tolist()) == ([0.0, np.inf], [False, False])
