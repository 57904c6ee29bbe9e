"""The law `requantize`: a quantized value may be one unit off, and nothing else is granted."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.cases.quantized_units import explained_by_units, noise_of_units

onnx = pytest.importorskip("onnx")
PROVED, REFUTED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.REFUTED, sl.Verdict.UNKNOWN
LAW = ("requantize",)
LAWS = ("reassociate", "real", "fold-batchnorm", "requantize")
op = sl.onnx
RANDOM = np.random.default_rng(5)


def scale(value: float) -> sl.Tensor:
    return sl.constant(np.asarray(value, np.float32))


def point(value: int, dtype: Any = np.uint8) -> sl.Tensor:
    return sl.constant(np.asarray(value, dtype))


A, B = (sl.tensor("N, 8", "uint8", name=name) for name in "ab")
IMAGE = sl.tensor("N, 2, H, W", "uint8", name="image")
KERNEL = sl.constant(RANDOM.integers(-99, 99, (3, 2, 3, 3)).astype(np.int8))
BIAS = sl.constant(RANDOM.integers(-900, 900, 3).astype(np.int32))
MATRIX = sl.constant(RANDOM.integers(-99, 99, (8, 3)).astype(np.int8))
COLUMNS = sl.constant(np.asarray([0.01, 0.02, 0.05], np.float32))
ZEROS = sl.constant(np.asarray([0, 3, -2], np.int8))
SA, SB, SY, ZA, ZB, ZY = scale(0.1), scale(0.2), scale(0.3), point(3), point(7), point(11)
SW, ZW = scale(0.05), point(0, np.int8)
A_OF, B_OF = op.dequantize_linear(A, SA, ZA), op.dequantize_linear(B, SB, ZB)
IMAGE_OF = op.dequantize_linear(IMAGE, SA, ZA)


def quantized(real: sl.Tensor) -> sl.Tensor:
    made: sl.Tensor = op.quantize_linear(real, SY, ZY)
    return made


def linear(name: str, *operands: sl.Tensor | None, **given: Any) -> sl.Tensor:
    made: sl.Tensor = sl.op(f"microsoft:{name}")(*operands, **given)
    return made


def columns() -> sl.Tensor:
    made: sl.Tensor = op.dequantize_linear(MATRIX, COLUMNS, ZEROS, axis=1)
    return made


def conv(zero: sl.Tensor = ZA) -> sl.Tensor:
    given = {"pads": [1, 1, 1, 1]}
    made: sl.Tensor = op.q_linear_conv(IMAGE, SA, zero, KERNEL, SW, ZW, SY, ZY, BIAS, **given)
    return made


OF_BIAS = op.dequantize_linear(BIAS, scale(float(np.float32(0.1) * np.float32(0.05))), point(0, np.int32))
CONV = quantized(op.conv(IMAGE_OF, op.dequantize_linear(KERNEL, SW, ZW), OF_BIAS, pads=[1, 1, 1, 1]))

SAME: dict[str, tuple[sl.Tensor, sl.Tensor]] = {
    "QLinearAdd": (quantized(op.add(A_OF, B_OF)), linear("QLinearAdd", A, SA, ZA, B, SB, ZB, SY, ZY)),
    "QLinearMul": (quantized(op.mul(A_OF, B_OF)), linear("QLinearMul", A, SA, ZA, B, SB, ZB, SY, ZY)),
    "QLinearSigmoid": (quantized(op.sigmoid(A_OF)), linear("QLinearSigmoid", A, SA, ZA, SY, ZY)),
    "QLinearLeakyRelu": (
        quantized(op.leaky_relu(A_OF, alpha=0.5)),
        linear("QLinearLeakyRelu", A, SA, ZA, SY, ZY, alpha=0.5),
    ),
    "QLinearSoftmax": (
        quantized(op.softmax(A_OF, axis=1)),
        linear("QLinearSoftmax", A, SA, ZA, SY, ZY, axis=-1, opset=13),
    ),
    "QLinearConcat": (
        quantized(op.concat([A_OF, B_OF], axis=1)),
        linear("QLinearConcat", SY, ZY, A, SA, ZA, B, SB, ZB, axis=1),
    ),
    "QLinearAveragePool": (
        quantized(op.average_pool(IMAGE_OF, kernel_shape=[2, 2])),
        linear("QLinearAveragePool", IMAGE, SA, ZA, SY, ZY, kernel_shape=[2, 2]),
    ),
    "QLinearGlobalAveragePool": (
        sl.transpose(quantized(op.global_average_pool(IMAGE_OF)), (0, 2, 3, 1)),
        linear("QLinearGlobalAveragePool", sl.transpose(IMAGE, (0, 2, 3, 1)), SA, ZA, SY, ZY, channels_last=1),
    ),
    "QLinearConv": (CONV, conv()),
    "QLinearMatMul": (
        quantized(op.mat_mul(A_OF, columns())),
        op.q_linear_mat_mul(A, SA, ZA, MATRIX, COLUMNS, ZEROS, SY, ZY),
    ),
    "QGemm": (quantized(op.gemm(A_OF, columns())), linear("QGemm", A, SA, ZA, MATRIX, COLUMNS, ZEROS, None, SY, ZY)),
    "MatMulIntegerToFloat": (
        op.mat_mul(A_OF, columns()),
        linear("MatMulIntegerToFloat", A, MATRIX, SA, COLUMNS, ZA, ZEROS),
    ),
}
DIFFERENT: dict[str, tuple[sl.Tensor, sl.Tensor]] = {
    "zero points of another tensor": (SAME["QLinearAdd"][0], linear("QLinearAdd", A, SA, ZB, B, SB, ZA, SY, ZY)),
    "scales of another tensor": (SAME["QLinearAdd"][0], linear("QLinearAdd", A, SB, ZA, B, SA, ZB, SY, ZY)),
    "the zero point of the result": (SAME["QLinearSigmoid"][0], linear("QLinearSigmoid", A, SA, ZA, SY, ZA)),
    "the axis of a softmax": (
        SAME["QLinearSoftmax"][0],
        linear("QLinearSoftmax", A, SA, ZA, SY, ZY, axis=0, opset=13),
    ),
    "a zero point of pads": (CONV, conv(ZY)),
    "pads that are no zeros": (
        CONV,
        op.q_linear_conv(sl.pad(IMAGE, [(0, 0), (0, 0), (1, 1), (1, 1)]), SA, ZA, KERNEL, SW, ZW, SY, ZY, BIAS),
    ),
    "columns in another order": (
        SAME["QLinearMatMul"][0],
        op.q_linear_mat_mul(A, SA, ZA, MATRIX, sl.constant(np.asarray([0.05, 0.02, 0.01], np.float32)), ZEROS, SY, ZY),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_a_runtime_rounds_is_its_formula_under_the_law_only(name: str) -> None:
    left, right = SAME[name]
    without = tuple(law for law in LAWS if law not in LAW)
    assert sl.prove_equal(left, right, laws=without, budget=20).verdict is not PROVED
    found = sl.prove_equal(left, right, laws=LAWS)
    assert found.verdict is PROVED
    assert "requantize" in found.laws
    if found.laws == LAW:  # constants that are folded have no certificate
        shown = found.certificate
        assert shown is not None
        assert shown["without_rounding"] is True
        assert sl.check(json.loads(json.dumps(shown)))
        assert not sl.check({**shown, "laws": []})


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_zero_point_scale_or_axis_is_refuted(name: str) -> None:
    assert sl.prove_equal(*DIFFERENT[name], laws=LAWS).verdict is REFUTED


def test_one_unit_refutes_nothing_under_the_law_and_two_units_do() -> None:
    one, two = (sl.op("onnx:QuantizeLinear")(op.add(A_OF, scale(n * 0.3)), SY, ZY) for n in (1, 2))
    plain = quantized(A_OF)
    assert sl.prove_equal(plain, one).verdict is REFUTED
    assert sl.prove_equal(plain, one, laws=LAW, budget=60).verdict is UNKNOWN
    assert sl.prove_equal(plain, two, laws=LAW, budget=60).verdict is REFUTED


def test_values_that_both_sides_share_are_not_off() -> None:
    shared = op.dequantize_linear(quantized(A_OF), SY, ZY)
    left, right = op.mul(shared, scale(2)), op.mul(shared, scale(3))
    bound = [t.subs({"N": 2}) for t in (left, right)]
    arrays = {leaf.key: RANDOM.integers(0, 255, (2, 8)).astype(np.uint8) for leaf in bound[0].arguments()}
    assert noise_of_units(bound, arrays) == 0
    values = [sl.interpret(t, *arrays.values()) for t in bound]
    assert not explained_by_units(bound, arrays, values).any()


def test_a_product_of_integers_that_stays_one_is_not_touched() -> None:
    left, right = op.mat_mul_integer(A, MATRIX, ZA), op.mat_mul_integer(A, MATRIX, ZB)
    assert sl.prove_equal(left, right, laws=LAWS).verdict is REFUTED
    assert sl.prove_equal(left, left, laws=LAWS).laws == ()


def model(y: sl.Tensor) -> Any:
    return SimpleNamespace(
        inputs={"a": A, "b": B}, outputs={"y": y}, tensors={"a": A, "b": B, "y": y}, can_run=lambda: False
    )


def test_models_are_compared_under_the_law(tmp_path: Path) -> None:
    left, right = SAME["QLinearAdd"]
    found = sl.verify(model(left), model(right), laws=LAW)
    assert (found.verdict, found.laws) == (PROVED, LAW)
    open_ = sl.verify(model(left), model(right), run=False)
    assert open_.verdict is UNKNOWN
    assert "requantize" in str(open_)
    assert sl.verify(model(left), model(DIFFERENT["zero points of another tensor"][1]), laws=LAW).verdict is REFUTED
