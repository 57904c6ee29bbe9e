"""`coalesce` joins digits that are contiguous on both faces, and drops those of extent 1."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, mul
from symlayout_codegen.ir.nest import Add, AffineForm, Carried, Nest, NestGuard, NestPiece, NestWindow, simulate
from symlayout_codegen.passes.coalesce import coalesce
from tests.support import nests

H, W = NamedInt("H"), NamedInt("W")
VALUES = {"H": 2, "W": 3}
ROWS = nests.affine(0, (0, W), (1, 1))
COLUMNS = nests.affine(0, (0, 1), (1, W))


def nest_of(piece: NestPiece, **more: object) -> Nest:
    return nests.nest("one", "H W", [piece], mul(H, W), fills=1, **more)


def rows(offset: AffineForm = ROWS) -> NestPiece:
    return NestPiece(nests.digits(i=H, j=W), ROWS, 0, offset)


def test_contiguous_digits_become_one() -> None:
    made = coalesce(nest_of(rows()))
    face = nests.affine(0, (0, 1))
    assert made.pieces == (NestPiece(nests.digits(j=mul(H, W)), face, 0, face),)
    assert simulate(made, VALUES) == simulate(nest_of(rows()), VALUES)


def test_a_digit_of_extent_one_goes_with_its_terms() -> None:
    piece = NestPiece(nests.digits(i=1, j=W), nests.affine(0, (0, H), (1, 1)), 0, nests.affine(5, (0, 7), (1, -1)))
    made = coalesce(nest_of(piece))
    assert made.pieces == (NestPiece(nests.digits(j=W), nests.affine(0, (0, 1)), 0, nests.affine(5, (0, -1))),)
    assert simulate(made, VALUES) == simulate(nest_of(piece), VALUES)


@pytest.mark.parametrize("offset", [nests.affine(0, (0, H), (1, 1)), COLUMNS, nests.affine(0, (1, 1))])
def test_digits_that_are_contiguous_on_one_face_alone_stay(offset: AffineForm) -> None:
    nest = nest_of(rows(offset))
    assert coalesce(nest) == nest


@pytest.mark.parametrize(
    "more",
    [
        {"windows": (NestWindow(nests.affine(0, (1, 1)), IntLiteral(2)),)},
        {"guards": (NestGuard(NestWindow(nests.affine(0, (0, 1)), IntLiteral(1)), 0),)},
        {"carried": (Carried("k", nests.affine(0, (0, 1)), IntLiteral(2)),)},
        {"apart": (0,)},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_digit_that_is_needed_alone_stays(more: dict[str, object]) -> None:
    nest = nest_of(replace(rows(), **more))  # type: ignore[arg-type]
    assert coalesce(nest) == nest


def test_a_digit_that_tells_elements_apart_stays_though_its_extent_is_one() -> None:
    piece = replace(NestPiece(nests.digits(i=1, j=W), ROWS, 0, ROWS), apart=(0,))
    assert coalesce(nest_of(piece)).pieces == (piece,)


def test_points_that_add_keep_their_order() -> None:
    """All points write element 0, so the order of the terms is the order of the points."""
    nowhere = nests.affine(0)
    sums = {"combine": Add("uint8"), "background": nests.zero(1)}
    swapped = nest_of(NestPiece(nests.digits(i=H, j=W), nowhere, 0, nests.affine(0, (0, 1), (1, H))), **sums)
    assert coalesce(swapped).pieces == swapped.pieces
    ordered = nest_of(replace(rows(), output=nowhere), **sums)
    assert len(coalesce(ordered).pieces[0].digits) == 1
    assert simulate(coalesce(ordered), VALUES) == simulate(ordered, VALUES)
