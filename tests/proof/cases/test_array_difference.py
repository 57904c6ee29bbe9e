"""Two computed arrays differ where rounding does not explain it: of the results, or of the inputs."""

from __future__ import annotations

import numpy as np

from symlayout.proof.cases.array_difference import ArrayDifference, difference_of, is_float

ONES = np.ones((2, 3), np.float32)


def changed(by: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    b = ONES.copy()
    b[1, 2] += by
    return b


def test_a_difference_has_a_coordinate_and_both_elements() -> None:
    assert difference_of(ONES, changed(1.0), lambda: ONES) == ArrayDifference((1, 2), 1.0, 2.0)
    assert difference_of(ONES, ONES, lambda: None) is None


def test_rounding_in_another_order_is_no_difference() -> None:
    assert difference_of(ONES, changed(1e-5), lambda: ONES) is None
    found = difference_of(ONES, changed(3e-3), lambda: ONES)
    assert found is not None
    assert not found.is_plain


def test_a_side_that_moves_with_its_inputs_explains_the_difference() -> None:
    assert difference_of(ONES, changed(1.0), lambda: ONES + np.float32(0.02)) is None
    assert difference_of(ONES, changed(1.0), lambda: None) is None


def test_shapes_differ_only_if_they_stay_with_other_inputs() -> None:
    assert difference_of(ONES, ONES[:1], lambda: ONES) == ArrayDifference(None, (2, 3), (1, 3))
    assert difference_of(ONES, ONES[:1], lambda: ONES[:1]) is None


def test_an_element_that_is_finite_on_both_sides_is_shown() -> None:
    a, b = np.array([np.inf, 1.0], np.float32), np.array([1.0, 2.0], np.float32)
    assert difference_of(a, b, lambda: a) == ArrayDifference((1,), 1.0, 2.0)


def test_integers_differ_by_one() -> None:
    assert difference_of(np.array([1000]), np.array([1001]), lambda: None) == ArrayDifference((0,), 1000, 1001)
    assert is_float(np.dtype(np.float16))
    assert not is_float(np.dtype(np.int64))
