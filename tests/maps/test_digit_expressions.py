"""Expressions in digits, computed with other numbers and in the symbols of another system."""

from __future__ import annotations

import itertools

import symlayout as sl
from symlayout.algebra.floor_normal_form import axis_digits, floor_div, floor_mod
from symlayout.maps.digit_expressions import Expression, Translated
from symlayout.tensors.declaration import Operand


def test_an_expression_has_the_values_of_what_it_was_made_of() -> None:
    n, c = sl.dims("n c", min=1)
    facts = sl.tensor((n, c), name="x").facts.fork()
    extents = sl.tensor((n, c), name="x").extents
    i, j = axis_digits(extents, facts)
    number = i * extents[1] + j * 3 + 2
    e = floor_div(facts, number, extents[0]) + floor_mod(facts, j + 5, extents[1]) * 2
    for n_, c_ in itertools.product((1, 2, 3), repeat=2):
        bound = sl.tensor((n_, c_), name="x")
        values = {"n": n_, "c": c_}
        operand = Operand((bound.extents,), bound.facts, "test", values)
        written = Expression(e, Translated(operand, facts))
        for a, b in itertools.product(range(n_), range(c_)):
            expected = (a * c_ + b * 3 + 2) // n_ + (b + 5) % c_ * 2
            names = [next(iter(digit.names)) for digit in (i, j)]  # type: ignore[union-attr]
            assert written(dict(zip(names, (a, b), strict=True))) == expected
