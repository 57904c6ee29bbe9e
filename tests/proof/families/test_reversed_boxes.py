"""Functions that take their terms in any order read a box backwards: what is true is proved, the rest has a witness."""

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

N, C, H, W, K = sl.dims("N C H W K")
LAWS = ("reassociate",)
x = sl.tensor((N, C, H, W), name="x", dtype="float32")
kernel = sl.tensor((K, C, 3, 3), name="kernel", dtype="float32")


def _flipped(t: sl.Tensor, *turned: bool) -> sl.Tensor:
    axes = [axis for axis, is_turned in enumerate(turned) if is_turned]
    return sl.flip(t, axes) if axes else t


def _axes(*axes: int) -> sl.Tensor:
    return sl.constant(np.array(axes))


def _max_pool(t: sl.Tensor) -> sl.Tensor:
    pooled: sl.Tensor = sl.onnx.max_pool(t, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    return pooled


def _conv(t: sl.Tensor, w: sl.Tensor) -> sl.Tensor:
    made: sl.Tensor = sl.onnx.conv(t, w, pads=[1, 1, 1, 1])
    return made


@pytest.mark.sample(19)
@pytest.mark.parametrize("turned", list(itertools.product([False, True], repeat=6)))
def test_a_product_of_matrices_with_axes_reversed(turned: tuple[bool, ...]) -> None:
    p, q = (sl.tensor(shape, name=name, dtype="int64") for shape, name in (((N, K), "p"), ((K, C), "q")))
    left = sl.onnx.mat_mul(_flipped(p, *turned[:2]), _flipped(q, *turned[2:4]))
    right = _flipped(sl.onnx.mat_mul(p, q), *turned[4:])
    proof = sl.prove_equal(left, right)
    a, b = np.arange(6).reshape(2, 3) ** 2, np.arange(6).reshape(3, 2) + 1
    steps = [-1 if is_turned else 1 for is_turned in turned]
    same = np.array_equal(a[:: steps[0], :: steps[1]] @ b[:: steps[2], :: steps[3]], (a @ b)[:: steps[4], :: steps[5]])
    assert proof.verdict is (sl.Verdict.PROVED if same else sl.Verdict.REFUTED)
    if same:
        assert sl.check(proof.certificate)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "right", "laws"),
    [
        (_conv(sl.flip(x, 3), sl.flip(kernel, 3)), sl.flip(_conv(x, kernel), 3), LAWS),
        (_conv(sl.flip(x, 1), sl.flip(kernel, 1)), _conv(x, kernel), LAWS),
        (_max_pool(sl.flip(x, (2, 3))), sl.flip(_max_pool(x), (2, 3)), ()),
        (sl.onnx.global_average_pool(sl.flip(x, 2)), sl.onnx.global_average_pool(x), LAWS),
        (
            sl.onnx.reduce_max(sl.reshape(sl.flip(x, 2), (N, C, H * W)), _axes(2), keepdims=0),
            sl.onnx.reduce_max(x, _axes(2, 3), keepdims=0),
            (),
        ),
    ],
)
def test_images_with_axes_reversed(left: sl.Tensor, right: sl.Tensor, laws: tuple[str, ...]) -> None:
    proof = sl.prove_equal(left, right, laws=laws)
    assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, laws)
    assert sl.check(proof.certificate)
    if laws:
        assert sl.prove_equal(left, right).verdict is sl.Verdict.UNKNOWN


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (_conv(sl.flip(x, 3), kernel), sl.flip(_conv(x, kernel), 3)),
        (_conv(sl.flip(x, 3), sl.flip(kernel, 2)), sl.flip(_conv(x, kernel), 3)),
        (_conv(sl.flip(x, 1), kernel), _conv(x, kernel)),
        (_max_pool(sl.flip(x, 2)), sl.flip(_max_pool(x), 3)),
        (sl.onnx.reduce_max(sl.flip(x, 2), _axes(3)), sl.onnx.reduce_max(x, _axes(3))),
    ],
)
def test_images_of_which_one_part_is_reversed_differ(left: sl.Tensor, right: sl.Tensor) -> None:
    assert sl.prove_equal(left, right, laws=LAWS).verdict is sl.Verdict.REFUTED


def test_a_function_of_an_ordered_vector_reads_it_in_order() -> None:
    total = sl.onnx.cum_sum(sl.flip(x, 3), sl.constant(np.array(3)))
    assert sl.prove_equal(total, sl.onnx.cum_sum(x, sl.constant(np.array(3))), laws=LAWS).verdict is sl.Verdict.REFUTED


@pytest.mark.parametrize(
    "forge",
    [
        lambda pair: pair["box"].__setitem__(3, []),
        lambda pair: pair["box"].__setitem__(3, [1]),
        lambda pair: pair["box"].__setitem__(3, [0, 0]),
        lambda pair: pair["box"].__setitem__(3, [-1]),
        lambda pair: pair.__setitem__("law", ""),
    ],
)
def test_a_forged_box_is_refused(forge: Callable[[Any], None]) -> None:
    p, q = (sl.tensor(shape, name=name, dtype="float32") for shape, name in (((N, K), "p"), ((K, C), "q")))
    left, right = sl.onnx.mat_mul(sl.flip(p, 1), sl.flip(q, 0)), sl.onnx.mat_mul(p, q)
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
