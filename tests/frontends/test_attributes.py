"""Attributes are read to exact integers, pairs, axes and modes, or refused by kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import attributes
from symlayout.frontends.attributes import MAX_VALUES
from symlayout.frontends.common import concat
from symlayout.frontends.pads import padded
from symlayout.frontends.rank import require_rank, require_tensors
from symlayout.frontends.slices import slice_of, sliced
from symlayout.language.sympy_arithmetic import at_least

H = sl.dim("H")
READ: dict[str, tuple[Callable[[], Any], Any]] = {
    "an array": (lambda: attributes.vector("a", np.array([1, 2])), [1, 2]),
    "unknown values": (lambda: attributes.vector("a", None, 2), [None, None]),
    "unknown pairs": (lambda: attributes.pairs("a", [None, (1, 2)], None), [[None, None], [1, 2]]),
    "one for each": (lambda: attributes.each("a", 3, 2), [3, 3]),
    "one in a list": (lambda: attributes.listed("a", 3), [3]),
    "axes from the end": (lambda: attributes.axes("a", [-1, 0, 2], 3), [2, 0]),
    "a flag": (lambda: [attributes.flag("a", 1), attributes.flag("a", False)], [True, False]),
    "no fill": (lambda: attributes.fill_value("a", None), 0),
    "copied axes": (lambda: attributes.copied_axes("a", [0, 3, 0], 3), [0, 2]),
    "a bound that is proved": (lambda: at_least(H + 1, 1), True),
    "a bound that is not": (lambda: at_least(H, 1), False),
}


@pytest.mark.parametrize("name", READ)
def test_attributes_are_read(name: str) -> None:
    call, expected = READ[name]
    assert call() == expected


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a list for one": (lambda: attributes.scalar("a", [1], 0), "length_mismatch"),
    "one for a list": (lambda: attributes.vector("a", 1), "length_mismatch"),
    "too many": (lambda: attributes.vector("a", range(MAX_VALUES + 1)), "length_mismatch"),
    "another length": (lambda: attributes.vector("a", [1], 2), "length_mismatch"),
    "a fraction": (lambda: attributes.vector("a", [1.5]), "attr_dtype"),
    "a truth value": (lambda: attributes.vector("a", [True]), "attr_dtype"),
    "no pair": (lambda: attributes.pairs("a", [[1]], None), "length_mismatch"),
    "a symbolic axis": (lambda: attributes.constants("a", [H]), "attr_dtype"),
    "an axis out of range": (lambda: attributes.axes("a", 3, 3), "bad_axis"),
    "an axis twice": (lambda: attributes.distinct("a", [0, -3], 3), "bad_axis"),
    "a negative axis": (lambda: attributes.permutation("a", [-1]), "bad_axis"),
    "another mode": (lambda: attributes.choice("a", "Edge", ("edge",)), "bad_mode"),
    "a flag of 2": (lambda: attributes.flag("a", 2), "attr_dtype"),
    "a list as fill": (lambda: attributes.fill_value("a", [1]), "length_mismatch"),
    "an axis that is not there": (lambda: attributes.copied_axes("a", [1, 0], 1), "bad_axis"),
    "a rank": (lambda: require_rank("Op", sl.tensor("N"), 2, 2), "rank"),
    "a number beyond the element type": (lambda: sl.onnx.clip(sl.tensor("N", "int8"), 300), "attr_dtype"),
    "kernels of another rank": (
        lambda: sl.onnx.conv_transpose(sl.tensor("N, 2, 8, 8"), sl.tensor("2, 3, 3"), output_shape=[9, 9]),
        "rank",
    ),
    "no tensors": (lambda: require_tensors("Op", []), "length_mismatch"),
    "bounds of two lengths": (lambda: sliced(sl.tensor("N"), [0], [1, 2], None, None), "length_mismatch"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_has_a_kind(name: str) -> None:
    call, kind = REFUSED[name]
    with pytest.raises(sl.ShapeError) as caught:
        call()
    assert caught.value.kind == kind


def test_an_unknown_value_is_a_dim_of_its_own() -> None:
    first, second = attributes.fill("a", [None, None], 1)
    assert first != second
    assert at_least(first, 1)
    assert attributes.fill_pairs("a", [[1, 2]]) == [[1, 2]]


def test_what_is_no_tensor_is_a_type_error() -> None:
    for call in (lambda: require_rank("Op", 3, 0), lambda: require_tensors("Op", sl.tensor("N"))):
        with pytest.raises(TypeError):
            call()


def test_a_negative_pad_takes_elements_away_in_the_order_of_the_framework() -> None:
    x, a = sl.tensor((5,), name="x"), np.arange(5)
    constant = padded(x, [[-1, 2]], "constant", 7, crops_first=True)
    assert sl.interpret(constant, a).tolist() == [1, 2, 3, 4, 7, 7]
    first = padded(x, [[-1, 2]], "reflect", 0, crops_first=True)
    assert sl.interpret(first, a).tolist() == np.pad(a[1:], (0, 2), "reflect").tolist()
    after = padded(x, [[-1, 2]], "reflect", 0, crops_first=False)
    assert sl.interpret(after, a).tolist() == np.pad(a, (0, 2), "reflect")[1:].tolist()


def test_bounds_beyond_every_axis_are_left_out() -> None:
    far = 2**63 - 1
    assert slice_of(0, far, 1) == slice(0, None, 1)
    assert slice_of(-1, -far, -1) == slice(-1, None, -1)
    x = sl.tensor((5,), name="x")
    assert sl.interpret(sliced(x, [1], [far], [2], [0]), np.arange(5)).tolist() == [1, 3]


def test_a_joint_operation_of_two_frameworks_is_one_function() -> None:
    x, y = sl.tensor("A, B", name="x"), sl.tensor("C, B", name="y")
    assert concat([x, y], -2).shape == sl.onnx.concat([x, y], 0).shape


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("name", ["cum_sum", "trilu", "range", "openvino cum_sum", "gather", "axes of gather"])
def test_one_number_is_neither_none_nor_two(name: str, count: int) -> None:
    x, numbers = sl.tensor("N, 4", "float32"), np.arange(count)
    calls: dict[str, Callable[[], object]] = {
        "cum_sum": lambda: sl.onnx.cum_sum(x, numbers),
        "trilu": lambda: sl.onnx.trilu(x, numbers),
        "range": lambda: sl.onnx.range(numbers, 5, 1),
        "openvino cum_sum": lambda: sl.openvino.cum_sum(x, numbers),
        "gather": lambda: sl.onnx.gather(x, sl.tensor("N", "int64"), axis=numbers),
        "axes of gather": lambda: sl.onnx.gather(x, sl.tensor("N", "int64"), axis=numbers.tolist()),
    }
    with pytest.raises(sl.ShapeError, match=r"is one (number|axis), got "):
        calls[name]()
