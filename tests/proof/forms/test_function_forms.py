"""What functions make of elements that are read and of numbers; none of what forms do not have."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symlayout.proof.forms.function_forms import form_of
from symlayout.tensors.declaration import Body

ONCE, SQUARED = ((0, Fraction(1)),), ((0, Fraction(2)),)


@pytest.mark.parametrize(
    ("function", "numbers", "terms"),
    [
        (np.subtract, [None, 2], {(ONCE, ()): 1, ((), ()): -2}),
        (np.multiply, [-1, None], {(ONCE, ()): -1}),
        (np.square, [None], {(SQUARED, ()): 1}),
        (lambda x, y: x * y - y * x, [None, None], {}),
    ],
)
def test_a_function_is_a_sum_of_products(
    function: Callable[..., Any], numbers: list[Any], terms: dict[Any, int]
) -> None:
    made, _ = form_of(Body("f", function), numbers)
    assert made is not None
    assert {key: float(value.array) for key, value in made.terms.items() if value.array.any()} == terms


@pytest.mark.parametrize("function", [np.sort, lambda x: [x], lambda x, y: x, lambda x: x.missing, lambda _: 1.0])
def test_what_forms_do_not_have_is_none(function: Callable[..., Any]) -> None:
    assert form_of(Body("f", function), [None])[0] is None
