"""`use_divisibility` writes a checked multiple as that multiple of its quotient, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, FloorMod, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import Local, Nest, NestPiece, Precondition, simulate
from symlayout_codegen.passes.use_divisibility import use_divisibility
from tests.support import nests

n, half, third = map(NamedInt, ("n", "half", "third"))


def rows(*prelude: Local | Precondition) -> Nest:
    """Three rows of ``n`` elements, ``n`` apart."""
    face = nests.affine(0, (0, n), (1, 1))
    piece = NestPiece(nests.digits(row=3, i=n), face, 0, face)
    return nests.nest("rows", "n", [piece], mul(3, n), prelude=(*nests.not_negative("n"), *prelude))


def divides(divisor: int, more: int = 0) -> Precondition:
    return Precondition(FloorMod(add(n, more), IntLiteral(divisor)), "==", "non_divisible", "")


def quotient(name: str, divisor: int) -> Local:
    return Local(name, FloorDiv(n, IntLiteral(divisor)))


def stride(nest: Nest) -> Expr:
    return nest.pieces[0].output.coefficients()[0]


@pytest.mark.parametrize("more", [0, 2, -4])
def test_an_even_number_is_twice_its_half(more: int) -> None:
    nest = rows(divides(2, more), quotient("half", 2))
    made = use_divisibility(nest)
    assert stride(made) == made.pieces[0].digits[1].extent == mul(2, half)
    assert simulate(made, {"n": 6}) == simulate(nest, {"n": 6})


def test_the_largest_divisor_is_used() -> None:
    made = use_divisibility(rows(divides(2), divides(3), quotient("third", 3), quotient("half", 2)))
    assert stride(made) == mul(3, third)


@pytest.mark.parametrize(
    "prelude",
    [
        (quotient("half", 2),),  # nothing says that n is even
        (divides(2),),  # there is no name for the half
        (divides(2, more=1), quotient("half", 2)),  # n + 1 is even, so that n is odd
        (divides(4), quotient("half", 2)),  # another divisor than the quotient's
    ],
    ids=["unchecked", "unnamed", "odd", "other"],
)
def test_a_number_that_is_not_known_to_be_even_stays(prelude: tuple[Local | Precondition, ...]) -> None:
    nest = rows(*prelude)
    assert use_divisibility(nest).pieces == nest.pieces


def test_signs_are_known_of_both_spellings_and_of_what_is_checked() -> None:
    checked = add(n, -2)
    prelude = (Precondition(checked, ">=", "rank", ""), divides(2), quotient("half", 2))
    made = use_divisibility(replace(rows(*prelude), positive=frozenset({n})))
    assert made.positive == {n, mul(2, half)}
    assert {checked, add(mul(2, half), -2), n, mul(2, half)} <= made.nonnegative
