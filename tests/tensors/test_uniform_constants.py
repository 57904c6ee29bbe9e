"""Constants whose elements are all one, compared by their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.tensors.uniform_constants import as_bits, everywhere, uniform


def test_a_constant_is_one_element_only_if_all_bits_are_equal() -> None:
    assert uniform(np.array([0.0, -0.0])) is None
    assert uniform(np.array([np.nan, np.nan])) is not None
    assert uniform(np.zeros(0)) is None


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "f2", "f8"])
def test_floats_are_compared_as_integers_of_their_bits(dtype: str) -> None:
    a = np.array([1.5, np.nan, -0.0, 0.0], dtype)
    assert len(set(as_bits(a).tolist())) == 4
    assert as_bits(a).tolist() == as_bits(a.copy()).tolist()
    assert as_bits(np.arange(3)).dtype == np.arange(3).dtype


def number(value: Any) -> sl.Tensor:
    return sl.constant(np.array(value, np.float32))


def test_views_of_constants_have_one_element_everywhere() -> None:
    threes = sl.transpose(sl.broadcast_to(number(3.0), (2, 4)))
    assert everywhere([threes]) == everywhere([threes, number([3, 3])]) == 3
    assert everywhere([threes, number(4.0)]) is None


def test_inputs_pads_and_constants_that_vary_have_none() -> None:
    assert everywhere([sl.tensor("N", "float32")]) is None
    assert everywhere([number([3, 4])]) is None
    assert everywhere([sl.pad(number([3, 3]), 1)]) is None


def test_nothing_that_is_reflected_has_no_element() -> None:
    nothing = sl.constant(np.zeros(0, np.float32))
    assert everywhere([sl.pad(nothing, [(0, 0)], mode="reflect", bounded=True)]) is None
