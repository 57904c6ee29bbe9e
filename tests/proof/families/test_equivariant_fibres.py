"""Functions of fibres that move as their fibres do: what is true is proved under a law, the rest has a witness."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_of_computed
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.tensors.apply_operation import operand_of

N, C, H, W, c = sl.dims("N C H W c")
LAWS = ("reassociate",)
x = sl.tensor((N, C, H, W), name="x", dtype="float32")
y = sl.tensor((N, C), name="y", dtype="float32")
z = sl.tensor((C, W), name="z", dtype="float32")
square = sl.tensor((N, H, H), name="square", dtype="float32")
grouped = sl.tensor((N, 4 * c, H, W), name="grouped", dtype="float32")
scale, bias = (sl.tensor((C,), name=name, dtype="float32") for name in ("scale", "bias"))
wide_scale, wide_bias = (sl.tensor((4 * c,), name=name, dtype="float32") for name in ("wide_scale", "wide_bias"))


def _flipped(t: sl.Tensor, *turned: bool) -> sl.Tensor:
    axes = [axis for axis, is_turned in enumerate(turned) if is_turned]
    return sl.flip(t, axes) if axes else t


def _softmax(t: sl.Tensor, axis: int = -1) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.softmax(t, axis=axis)
    return made


def _of_all(t: sl.Tensor) -> sl.Tensor:
    made: sl.Tensor = sl.op("onnx:Softmax-11")(t, axis=1)
    return made


def _instance(t: sl.Tensor) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.instance_normalization(t, scale, bias)
    return made


def _group(t: sl.Tensor) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.group_normalization(t, wide_scale, wide_bias, num_groups=4)
    return made


def _turned(t: sl.Tensor) -> sl.Tensor:
    return sl.swapaxes(t, -1, -2)


def _sum(t: sl.Tensor) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.reduce_sum(t, sl.constant(np.array([1])))
    return made


def _less_the_least(v: Any, axes: tuple[int, ...]) -> Any:
    return v - v.min(axes, keepdims=True)


@pytest.mark.sample(85)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("turned", list(itertools.product([False, True], repeat=6)))
def test_a_softmax_with_axes_reversed(turned: tuple[bool, ...], axis: int) -> None:
    left = _flipped(_softmax(_flipped(y, *turned[:2]), axis), *turned[2:4])
    right = _flipped(_softmax(y, axis), *turned[4:])
    proof = sl.prove_equal(left, right, laws=LAWS)
    same = all(sum(turned[k::2]) % 2 == 0 for k in (0, 1))
    assert proof.verdict is (sl.Verdict.PROVED if same else sl.Verdict.REFUTED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (_softmax(sl.flip(y, 1)), sl.flip(_softmax(y), 1)),
        (sl.onnx.log_softmax(sl.flip(y, 1)), sl.flip(sl.onnx.log_softmax(y), 1)),
        (sl.onnx.lp_normalization(sl.flip(y, 1)), sl.flip(sl.onnx.lp_normalization(y), 1)),
        (_softmax(_softmax(sl.flip(y, 1))), sl.flip(_softmax(_softmax(y)), 1)),
        (_of_all(_turned(square)), _turned(_of_all(square))),
        (_of_all(sl.flip(_turned(x), (2, 3))), sl.flip(_turned(_of_all(x)), (2, 3))),
        (_instance(sl.flip(x, (2, 3))), sl.flip(_instance(x), (2, 3))),
        (_instance(_turned(x)), _turned(_instance(x))),
        (_group(sl.flip(grouped, (2, 3))), sl.flip(_group(grouped), (2, 3))),
        (_group(_turned(grouped)), _turned(_group(grouped))),
        (
            sl.onnx.layer_normalization(sl.flip(y, 1), sl.flip(scale), sl.flip(bias)),
            sl.flip(sl.onnx.layer_normalization(y, scale, bias), 1),
        ),
        (
            sl.onnx.rms_normalization(sl.flip(y, 1), sl.flip(scale)),
            sl.flip(sl.onnx.rms_normalization(y, scale), 1),
        ),
        (sl.onnx.mat_mul(_softmax(sl.flip(y, 1)), sl.flip(z, 0)), sl.onnx.mat_mul(_softmax(y), z)),
        (_sum(_softmax(sl.flip(y, 1))), _sum(_softmax(y))),
    ],
)
def test_fibres_that_move(left: sl.Tensor, right: sl.Tensor) -> None:
    proof = sl.prove_equal(left, right, laws=LAWS)
    assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, LAWS)
    assert sl.check(proof.certificate)
    assert sl.prove_equal(left, right).verdict is sl.Verdict.UNKNOWN


def test_axes_of_a_fibre_that_are_joined_in_order_need_no_law() -> None:
    joined = sl.reshape(_instance(sl.reshape(x, (N, C, H * W))), (N, C, H, W))
    for sides in ((joined, _instance(x)), (_instance(x), joined)):
        proof = sl.prove_equal(*sides)
        assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, ())
        assert sl.check(proof.certificate)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (_softmax(sl.flip(y, 1)), _softmax(y)),
        (sl.flip(_softmax(sl.flip(y, 1)), 0), sl.flip(_softmax(y), 0)),
        (_softmax(_softmax(sl.flip(y, 1))), _softmax(_softmax(y))),
        (_of_all(_turned(square)), _of_all(square)),
        (_of_all(_turned(square)), sl.flip(_of_all(square), 1)),
        (_softmax(_turned(square)), _turned(_softmax(square))),
        (_instance(sl.flip(x, (2, 3))), sl.flip(_instance(x), 2)),
        (_instance(sl.flip(x, 1)), sl.flip(_instance(x), 1)),
        (sl.reshape(_instance(sl.reshape(_turned(x), (N, C, H * W))), (N, C, H, W)), _instance(x)),
        (sl.onnx.mat_mul(_softmax(sl.flip(y, 1)), z), sl.onnx.mat_mul(_softmax(y), z)),
        (_sum(sl.onnx.mul(_softmax(sl.flip(y, 1)), y)), _sum(sl.onnx.mul(_softmax(y), y))),
        (
            sl.onnx.layer_normalization(sl.flip(y, 1), scale, sl.flip(bias)),
            sl.flip(sl.onnx.layer_normalization(y, scale, bias), 1),
        ),
        (sl.onnx.hardmax(sl.flip(y, 1)), sl.flip(sl.onnx.hardmax(y), 1)),
    ],
)
def test_fibres_of_which_one_part_moves_differ(left: sl.Tensor, right: sl.Tensor) -> None:
    assert sl.prove_equal(left, right, laws=LAWS).verdict is sl.Verdict.REFUTED


@pytest.mark.slow
def test_whether_a_function_is_equivariant_is_declared() -> None:
    def made(t: sl.Tensor, **declared: Any) -> sl.Tensor:
        body = sl.Body("less_the_least", _less_the_least, over=True, **declared)
        return sl.compute(body, [t], batch=1, result=lambda _, views: views[0].extents[1:])

    for declared, verdict, laws in (
        ({}, sl.Verdict.UNKNOWN, ()),
        ({"equivariant": True}, sl.Verdict.PROVED, LAWS),
        ({"equivariant": True, "exact": True}, sl.Verdict.PROVED, ()),
    ):
        proof = sl.prove_equal(made(sl.flip(y, 1), **declared), sl.flip(made(y, **declared), 1), laws=laws)
        assert proof.verdict is verdict


@pytest.mark.parametrize(
    "forge",
    [
        lambda pair: pair["box"].__setitem__(3, []),
        lambda pair: pair["box"].__setitem__(3, [1]),
        lambda pair: pair.__setitem__("law", ""),
    ],
)
def test_a_forged_box_is_refused(forge: Callable[[Any], None]) -> None:
    left, right = _softmax(sl.flip(y, 1)), sl.flip(_softmax(y), 1)
    certificate = sl.prove_equal(left, right, laws=LAWS).certificate
    assert certificate is not None
    (pair,) = certificate["pairs"]
    assert pair["box"][3] == [0]
    sides = {"": left}, {"": right}, operand_of("joint", (left, right)).facts
    assert refusal_of_computed(certificate, *sides) == ""
    forged = copy.deepcopy(certificate)
    forge(forged["pairs"][0])
    assert refusal_of_computed(sealed(forged), *sides) not in (
        "",
        "the seal does not match: the certificate was altered",
    )
    assert refusal_of_computed(certificate, {"": left}, {"": _softmax(y)}, sides[2]) != ""
