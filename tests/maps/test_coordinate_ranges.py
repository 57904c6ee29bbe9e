"""Interval arithmetic on coordinates, compared with all values of small boxes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout.declare import Declared, Operand, index_map
from symlayout.maps.coordinate_ranges import CoordinateRange
from symlayout.tensors.apply_operation import apply

EXPRESSIONS: dict[str, tuple[Callable[..., Any], bool]] = {  # and whether the ends are values of the expression
    "sum": (lambda i, j: 3 + i + j + 1, True),
    "difference": (lambda i, j: 5 - i - 2 * j, True),
    "product": (lambda i, j: (i - 2) * (j - 1), True),
    "negative factor": (lambda i, j: -3 * i + 0 * j, True),
    "quotient": (lambda i, j: (7 * i - 4) // 3 + j, True),
    "remainder": (lambda i, j: (i + j) % 4, False),
    "remainder and factor": (lambda i, j: 2 * ((i + 4) % 3) - j, False),
}


def ends_of(f: Callable[..., Any], shape: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the ends of ``f(*coordinates)`` for the coordinates of a shape, as a declaration computes them."""
    found: list[tuple[Any, Any]] = []

    def declaration(x: Operand) -> Declared:
        ranges = [CoordinateRange(0, n - 1, x) for n in x.shape]
        made = f(*ranges)
        found.append((made.low, made.high))
        return index_map(x.shape, lambda *o: o)

    _ = apply(declaration, (sl.tensor(shape),), (), {}, own=False).shape
    return found[0]


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("shape", [(4, 3), (1, 5), (6, 1)], ids=str)
def test_the_ends_hold_all_values(name: str, shape: tuple[int, int]) -> None:
    f, attained = EXPRESSIONS[name]
    values = [f(i, j) for i, j in itertools.product(*map(range, shape))]
    low, high = ends_of(f, shape)
    assert low <= min(values) <= max(values) <= high
    assert not attained or (low, high) == (min(values), max(values))


def test_ends_are_expressions_in_dims() -> None:
    low, high = ends_of(lambda i: 2 * i + 1, (sl.dim("N"),))
    assert low == 1
    assert str(high) == "2*N - 1"


def test_an_empty_range_stays_empty() -> None:
    low, high = ends_of(lambda i: 3 * i + 2, (0,))
    assert high < low
