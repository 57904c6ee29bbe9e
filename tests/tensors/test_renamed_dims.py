"""A dim of a computed value that gets another name, and then a number, has that number."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.algebra.polynomial import symbol
from symlayout.maps.gather_elements import int_extents
from symlayout.tensors.computation import compute, constant
from symlayout.tensors.declaration import Body


@pytest.mark.parametrize("renamed", ["b", "2*b"])
def test_a_dim_that_is_renamed_and_then_bound_is_bound(renamed: str) -> None:
    """The extent of the result is no operand's: ``a``, then ``b`` or ``2*b``, then a number."""
    zeros = Body("zeros", lambda *views, axes=(): np.zeros(3), over=True)
    y = compute(zeros, [constant(np.zeros(1))], batch=0, result=(sl.dim("a"),))
    b = symbol("b")
    again = y.bind({"a": b if renamed == "b" else b * 2})
    assert [str(e) for e in again.extents] == [renamed]
    assert again.bind({"b": 4}).extents == ((4,) if renamed == "b" else (8,))
    other = again.bind({"a": 7})  # of which nothing is left
    assert [str(e) for e in other.extents] == [renamed]
    with pytest.raises(sl.ShapeError, match=f"the extent {renamed.replace('*', '.')} of zeros has no value"):
        int_extents(again)


@pytest.mark.parametrize("rank", [63, 64])
def test_arrays_of_as_many_axes_as_numpy_has_are_interpreted(rank: int) -> None:
    shape = (*(1,) * (rank - 3), 2, 3, 2)
    x = sl.tensor(shape, name="x")
    array = np.arange(12).reshape(shape)
    for y, expected in (
        (x, array),
        (sl.transpose(x), array.transpose()),
        (sl.flip(x, -2), np.flip(array, -2)),
        (sl.reshape(x, (3, 4)), array.reshape(3, 4)),
        (sl.onnx.relu(x), array),
    ):
        assert np.array_equal(sl.interpret(y, array), expected)
