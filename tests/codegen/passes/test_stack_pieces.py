"""`stack_pieces` joins pieces that differ in where they begin and in nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, mul
from symlayout_codegen.ir.nest import Add, Carried, Digit, Nest, NestGuard, NestPiece, NestWindow, simulate
from symlayout_codegen.passes.stack_pieces import stack_pieces
from tests.support import nests

n = NamedInt("n")


def piece(at: Expr | int, start: int, source: int = 0, extent: int = 3, step: int = 1) -> NestPiece:
    return NestPiece(nests.digits(i=extent), nests.affine(at, (0, 1)), source, nests.affine(start, (0, step)))


def nest_of(*pieces: NestPiece) -> Nest:
    return nests.nest("pieces", "n", list(pieces), 99, sources=("x", "y"), source_sizes=(None, None))


def stack(*pieces: NestPiece) -> tuple[NestPiece, ...]:
    return stack_pieces(nest_of(*pieces), set()).pieces


def test_pieces_at_equal_steps_become_one_with_a_digit_that_counts_them() -> None:
    pieces = [piece(mul(k, n), 5 * k) for k in range(3)]
    taken = {"piece"}
    nest = stack_pieces(nest_of(*pieces), taken)
    digits = (*nests.digits(i=3), Digit("piece_2", IntLiteral(3), "3 pieces alike"))
    assert nest.pieces == (NestPiece(digits, nests.affine(0, (0, 1), (1, n)), 0, nests.affine(0, (0, 1), (1, 5))),)
    assert taken == {"piece", "piece_2"}
    assert simulate(nest, {"n": 4}) == simulate(nest_of(*pieces), {"n": 4})


def test_rows_of_pieces_become_one_by_one() -> None:
    pieces = [piece(3 * i + 20 * j, 7 * i + 100 * j) for j in range(2) for i in range(2)]
    (made,) = stack(*pieces)
    assert [digit.extent for digit in made.digits] == [IntLiteral(3), IntLiteral(2), IntLiteral(2)]
    assert simulate(nest_of(made), {"n": 0}) == simulate(nest_of(*pieces), {"n": 0})


@pytest.mark.parametrize("other", [piece(3, 5, source=1), piece(3, 5, extent=4), piece(3, 5, step=2)])
def test_pieces_that_differ_in_more_stay(other: NestPiece) -> None:
    assert stack(piece(0, 0), other) == (piece(0, 0), other)


@pytest.mark.parametrize("third", [piece(6, 11), piece(7, 10)])
def test_a_third_piece_at_another_step_stays(third: NestPiece) -> None:
    made = stack(piece(0, 0), piece(3, 5), third)
    assert len(made) == 2
    assert made[1] == third


WINDOW = NestWindow(nests.affine(0, (0, 1)), IntLiteral(2))


@pytest.mark.parametrize(
    "more",
    [
        {"windows": (WINDOW,)},
        {"guards": (NestGuard(WINDOW, 0),)},
        {"carried": (Carried("k", nests.affine(0, (0, 1)), IntLiteral(2)),)},
        {"apart": (0,)},
        {"source": None, "offset": None, "fill": 0},
    ],
    ids=lambda more: next(iter(more)),
)
def test_pieces_with_more_than_two_faces_stay(more: dict[str, object]) -> None:
    pieces = tuple(replace(piece(3 * k, 5 * k), **more) for k in range(2))  # type: ignore[arg-type]
    assert stack(*pieces) == pieces


def test_pieces_that_add_stay_in_their_order() -> None:
    nest = replace(nest_of(piece(0, 0), piece(0, 5)), combine=Add("uint8"), background=nests.zero(3))
    assert stack_pieces(nest, set()) == nest
