"""Operations on arrays of expressions do what NumPy does with numbers in the place of the dims."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.models.arithmetic.shape_arrays import (
    MAX_TERMS,
    WHOLE_ARRAYS,
    NotComputedError,
    array_of,
    checked,
    count_terms,
    exact_integers,
    gather,
    moved,
)

H, W = sl.dims("H W")


def at(array: Any, h: int, w: int) -> list[int]:
    """Return the numbers that an array has for two sizes."""
    return [int(e.subs({H: h, W: w})) if hasattr(e, "subs") else e for e in array.ravel()]


def test_a_gather_takes_expressions() -> None:
    data = array_of([H, 2 * W, 3, H + W], (2, 2))
    for axis in (0, 1, -1):
        found = gather(data, np.array([1, 0, -1]), axis)
        assert at(found, 5, 7) == np.take(np.array([[5, 14], [3, 12]]), [1, 0, -1], axis).ravel().tolist()


def test_what_moves_elements_moves_expressions() -> None:
    data = array_of([H, W, 3, 4, 5, H * W], (2, 3))
    (found,) = moved("onnx:Transpose", [data], {"perm": [1, 0]}, "a node")
    assert at(found, 2, 9) == [2, 4, 9, 5, 3, 18]
    (padded,) = moved("onnx:Pad", [array_of([H, W])], {"pads": [1, 0]}, "a node")
    assert at(padded, 2, 9) == [0, 2, 9]
    with pytest.raises(NotComputedError, match="only 0 can be put beside"):
        moved("onnx:Pad", [array_of([H, W])], {"pads": [1, 0], "constant_value": 7}, "a node")


def test_shapes_sizes_ranges_and_products() -> None:
    x = sl.tensor((H, W, 3), name="x")
    assert WHOLE_ARRAYS["Shape"](x).tolist() == [H, W, 3]
    assert WHOLE_ARRAYS["Shape"](x, start=1).tolist() == [W, 3]
    assert WHOLE_ARRAYS["Size"](x).item() == 3 * H * W
    assert WHOLE_ARRAYS["Range"](np.array(2), np.array(9), np.array(3)).tolist() == [2, 5, 8]
    assert WHOLE_ARRAYS["ReduceProd"](array_of([H, 2, W])).item() == 2 * H * W
    assert WHOLE_ARRAYS["ConstantOfShape"](np.array([2, 2]), np.array([7])).tolist() == [[7, 7], [7, 7]]
    with pytest.raises(NotComputedError, match="the shape of a value depends on H"):
        WHOLE_ARRAYS["ConstantOfShape"](array_of([H]))


def test_integers_do_not_wrap_and_floats_are_none() -> None:
    assert exact_integers(np.array([2**31 - 1], np.int32)).item() + 1 == 2**31
    with pytest.raises(NotComputedError, match="computed from float32, not from integers"):
        exact_integers(np.zeros(1, np.float32))
    with pytest.raises(sl.ShapeError) as caught:
        checked(array_of([2**63]))
    assert caught.value.kind == "overflow"


def test_long_expressions_are_not_computed() -> None:
    assert count_terms(H + W + 1) == 3
    assert count_terms((H + 1) * (W + 2)) == 4
    with pytest.raises(NotComputedError, match=f"more than {MAX_TERMS} terms"):
        count_terms((H + W) ** 7)


def test_what_quotients_are_made_of_counts_once() -> None:
    rows, columns = ((-e // 4 + (e // 8 + 1) // 2) // 7 for e in (H, W))  # windows of a map with strides
    single = count_terms(rows)
    assert count_terms(rows * columns) == 2 * single - 1  # one term, which has two factors
    assert count_terms(rows * H + rows) == single + 1
    assert count_terms((rows + 1) * (columns + 1)) == count_terms(rows * columns) + 3


def test_quotients_of_quotients_are_not_computed_without_end() -> None:
    deep = H
    for k in range(2, MAX_TERMS):
        deep = (deep + W) // k
    with pytest.raises(NotComputedError, match=f"more than {MAX_TERMS} terms"):
        count_terms(deep)
