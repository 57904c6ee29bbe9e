"""`align` counts an axis cut in blocks from where the array begins, where a window leaves whole blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import NamedInt, add, mul
from symlayout_codegen.ir.nest import Add, Nest, NestGuard, NestPiece, NestWindow, simulate
from symlayout_codegen.ir.queries import SignFacts
from symlayout_codegen.passes.align import align
from tests.support import nests

m = NamedInt("m")
FACTS = SignFacts.of(nonnegative=[m])


def cropped(size: int, before: int, blocks: int) -> Nest:
    """``size*m`` elements of ``m + blocks`` blocks, after *before* elements that are cropped."""
    window = NestWindow(nests.affine(-before, (0, size), (1, 1)), mul(size, m))
    digits = nests.digits(block=add(m, blocks), w=size)
    plane = add(m, blocks)
    write, read = nests.affine(-before, (0, size), (1, 1)), nests.affine(0, (0, 1), (1, plane))
    return nests.nest("cropped", "m", [NestPiece(digits, write, 0, read, windows=(window,))], mul(size, m))


def test_whole_blocks_are_counted_from_the_first_of_them() -> None:
    nest = cropped(3, before=3, blocks=2)
    (piece,) = align(nest, FACTS).pieces
    read = nests.affine(1, (0, 1), (1, add(m, 2)))
    assert piece == NestPiece(nests.digits(block=m, w=3), nests.affine(0, (0, 3), (1, 1)), 0, read)
    assert simulate(align(nest, FACTS), {"m": 2}) == simulate(nest, {"m": 2})


def test_blocks_of_two_are_turned_by_an_odd_margin() -> None:
    nest = cropped(2, before=1, blocks=1)
    (piece,) = align(nest, FACTS).pieces
    assert piece.windows == ()
    assert piece.output == nests.affine(0, (0, 2), (1, 1))  # block b + w, within 1 - w: at 2*b + 1 + w - 1
    assert simulate(align(nest, FACTS), {"m": 2}) == simulate(nest, {"m": 2})


@pytest.mark.parametrize(
    "nest",
    [
        cropped(3, before=1, blocks=1),  # of three, no two digits turn into two
        cropped(2, before=2, blocks=0),  # the last block is cut off
        cropped(2, before=-2, blocks=2),  # the first block is cut off
    ],
)
def test_blocks_that_are_cut_stay(nest: Nest) -> None:
    assert align(nest, FACTS) == nest


def test_a_margin_that_is_not_known_to_be_there_stays() -> None:
    assert align(cropped(2, 2, 1), SignFacts()) == cropped(2, 2, 1)


def test_points_that_add_keep_their_order() -> None:
    nest = replace(cropped(2, before=1, blocks=1), combine=Add("uint8"), background=nests.zero(mul(2, m)))
    assert align(nest, FACTS) == nest


def test_a_digit_that_tells_elements_apart_is_not_turned() -> None:
    nest = cropped(2, before=2, blocks=2)
    nest = replace(nest, pieces=(replace(nest.pieces[0], apart=(0,)),))
    assert align(nest, FACTS) == nest


def test_a_guard_stays() -> None:
    """Its fill is written outside of the whole blocks: `bound_loops` writes both."""
    (piece,) = cropped(2, before=2, blocks=2).pieces
    guarded = replace(piece, windows=(), guards=(NestGuard(piece.windows[0], 0),))
    nest = nests.nest("padded", "m", [guarded], 99, fills=1)
    assert align(nest, FACTS) == nest
