"""`narrow_digit_ranges` turns a window on one digit into the digit's range, where it lies in the digit's extent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import Carried, Nest, NestGuard, NestPiece, NestWindow, simulate
from symlayout_codegen.ir.queries import ONE, SignFacts
from symlayout_codegen.passes.narrow_digit_ranges import narrow_digit_ranges
from tests.support import nests

C = NamedInt("C")
FACTS = SignFacts.of(nonnegative=[C])


def quarter(constant: Expr | int, sign: int = 1, extent: Expr | int = C) -> Nest:
    """Return a copy of every second element, for the ``i < 4*C`` where ``0 <= constant + sign*i < extent``."""
    window = NestWindow(nests.affine(constant, (0, sign)), add(extent))
    piece = NestPiece(nests.digits(i=mul(4, C)), nests.affine(5, (0, 1)), 0, nests.affine(0, (0, 2)), windows=(window,))
    return nests.nest("quarter", "C", [piece], 99)


def test_the_range_that_a_window_leaves_becomes_the_digits() -> None:
    nest = quarter(mul(-1, C))
    (piece,) = narrow_digit_ranges(nest, FACTS).pieces
    face = nests.affine(add(C, 5), (0, 1)), nests.affine(mul(2, C), (0, 2))
    assert piece == NestPiece(nests.digits(i=C), face[0], 0, face[1])
    assert simulate(narrow_digit_ranges(nest, FACTS), {"C": 3}) == simulate(nest, {"C": 3})


def test_a_window_that_counts_down_leaves_a_range_too() -> None:
    nest = quarter(add(mul(3, C), -1), sign=-1)  # 2*C <= i < 3*C
    made = narrow_digit_ranges(nest, FACTS)
    assert made.pieces[0].windows == ()
    assert made.pieces[0].output == nests.affine(add(mul(2, C), 5), (0, 1))
    assert simulate(made, {"C": 3}) == simulate(nest, {"C": 3})


@pytest.mark.parametrize(
    "nest",
    [
        quarter(1),  # from -1 on
        quarter(mul(-4, C)),  # beyond the extent
        quarter(add(mul(5, C), -1), sign=-1),  # from 4*C on
        quarter(mul(-3, C), extent=add(C, 1)),  # one more than there is
        quarter(mul(-1, NamedInt("unknown"))),
    ],
)
def test_a_window_that_may_lie_outside_stays(nest: Nest) -> None:
    assert narrow_digit_ranges(nest, FACTS) == nest


def test_a_window_with_another_coefficient_or_two_digits_stays() -> None:
    for terms in (((0, 2),), ((0, 1), (1, 1))):
        piece = NestPiece(nests.digits(i=9, j=9), nests.affine(0, (0, 9), (1, 1)), None, None, fill=0)
        piece = replace(piece, windows=(NestWindow(nests.affine(-1, *terms), ONE),))
        nest = nests.nest("other", "", [piece], 81, fills=1)
        assert narrow_digit_ranges(nest, FACTS) == nest


def test_a_digit_that_tells_elements_apart_keeps_its_extent() -> None:
    """All pieces over a background have digits of the same extents for this."""
    nest = quarter(mul(-1, C))
    nest = replace(nest, pieces=(replace(nest.pieces[0], apart=(0,)),))
    assert narrow_digit_ranges(nest, FACTS) == nest


def test_guards_and_carried_digits_count_from_the_new_first_value() -> None:
    nest = quarter(mul(-1, C))
    (piece,) = nest.pieces
    carried = Carried("k", nests.affine(0, (0, 1)), IntLiteral(2))
    guard = NestGuard(NestWindow(nests.affine(0, (1, 1)), C), 0)
    nest = replace(nest, pieces=(replace(piece, carried=(carried,), guards=(guard,)),), fills=1)
    made = narrow_digit_ranges(nest, FACTS)
    assert made.pieces[0].carried[0].value == nests.affine(C, (0, 1))
    assert simulate(made, {"C": 3}) == simulate(nest, {"C": 3})
