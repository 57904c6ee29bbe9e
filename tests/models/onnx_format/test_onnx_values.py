"""Attributes and constants of an ONNX file as numbers, texts and arrays; what is damaged is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.models.onnx_values import (
    array,
    attributes,
    dtype_of,
    dtype_or_none,
    label,
    number_of,
    plain_attribute,
)
from symlayout.tensors.element_types import STRING, strings


def test_attributes_are_plain_values() -> None:
    node = helper.make_node("Op", ["x"], ["y"], i=1, f=0.5, s="text", ints=[1, 2], t=numpy_helper.from_array(np.eye(2)))
    found = attributes(node)
    assert found["t"].tolist() == [[1, 0], [0, 1]]  # type: ignore[union-attr]
    assert {k: v for k, v in found.items() if k != "t"} == {"i": 1, "f": 0.5, "s": "text", "ints": [1, 2]}


def test_an_attribute_that_stands_twice_is_refused() -> None:
    node = helper.make_node("Op", ["x"], ["y"], name="n", axis=1)
    node.attribute.append(node.attribute[0])
    with pytest.raises(sl.FormatError, match="attribute 'axis' stands twice\n  in: node 'n', Op"):
        attributes(node)


def test_a_node_without_a_name_is_called_by_its_output() -> None:
    assert label(helper.make_node("Relu", ["x"], ["y"])) == "node 'y', Relu"
    assert label(helper.make_node("Relu", ["x"], ["y" * 200])) == f"node '{'y' * 79}…', Relu"


@pytest.mark.parametrize("values", [np.arange(6).reshape(2, 3), np.array(1.5, "f2"), np.zeros((0, 2), "u1")], ids=str)
def test_constants_are_the_arrays_that_were_written(values: Any) -> None:
    found = array(numpy_helper.from_array(values), "here")
    assert (found.dtype, found.shape, found.tobytes()) == (values.dtype, values.shape, values.tobytes())


def test_a_constant_without_the_bytes_of_its_shape_is_refused() -> None:
    tensor = numpy_helper.from_array(np.arange(6))
    tensor.dims[:] = [7]
    with pytest.raises(sl.FormatError, match=r"constant is no int64 \[7\].*\n  in: here"):
        array(tensor, "here")


def test_element_types_without_a_fixed_size_have_none_here() -> None:
    assert dtype_of(TensorProto.INT8, "here") == np.int8
    assert dtype_of(TensorProto.STRING, "here") == STRING
    assert number_of(STRING) == TensorProto.STRING
    assert dtype_or_none(TensorProto.UNDEFINED) is None
    with pytest.raises(sl.FormatError, match="element type number 99 has no elements of fixed size"):
        dtype_of(99, "here")


def test_two_strings_are_one_element_only_if_their_bytes_are_equal() -> None:
    texts = [b"", b"\0", b"a", b"a\0", b"a", b"b" * 40]
    array = strings(texts)
    assert array.tobytes()[: STRING.itemsize] == bytes(STRING.itemsize)
    assert [[a == b for a in array] for b in array] == [[a == b for a in texts] for b in texts]


def test_plain_attributes_are_equal_where_the_attributes_are() -> None:
    zero, minus = (helper.make_attribute("a", value) for value in (0.0, -0.0))
    assert plain_attribute(zero) == plain_attribute(helper.make_attribute("a", 0.0)) != plain_attribute(minus)
    assert plain_attribute(helper.make_attribute("a", [1, 2])) == (1, 2)
