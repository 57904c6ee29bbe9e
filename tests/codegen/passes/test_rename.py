"""`rename` gives every name a legal, unique C identifier and keeps the meaning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, mul
from symlayout_codegen.ir.nest import AffineForm, Carried, Digit, Local, Nest, NestPiece, simulate
from symlayout_codegen.passes.rename import rename
from tests.support import nests


def hostile() -> Nest:
    """Rows of ``n"`` out of ``2;x``, with names that C does not allow."""
    rows, wide = NamedInt("2;x"), NamedInt('n"')
    face = AffineForm(IntLiteral(0), ((0, wide), (1, IntLiteral(1))))
    piece = NestPiece((Digit("for", rows), Digit("for", wide)), face, 0, face)
    return Nest("main", ("2;x", 'n"', "dst"), (), ("*/",), (None,), mul(rows, wide), (piece,))


def test_names_become_legal_and_unique() -> None:
    nest, taken = rename(hostile())
    assert (nest.name, nest.parameters, nest.sources) == ("main_", ("v2_x", "n_", "dst_"), ("v__",))
    assert [digit.name for digit in nest.pieces[0].digits] == ["for_", "for__2"]
    assert taken == {"main_", "main__part", "main__packed", "main__ways", "v2_x", "n_", "dst_", "v__", "for_", "for__2"}


def test_expressions_follow_their_names() -> None:
    nest, _ = rename(hostile())
    assert nest.output_size == mul(NamedInt("v2_x"), NamedInt("n_"))
    before = simulate(hostile(), {"2;x": 2, 'n"': 3, "dst": 0})
    after = simulate(nest, {"v2_x": 2, "n_": 3, "dst_": 0})
    assert {at: [offset for _, offset in terms] for at, terms in after.items()} == {
        at: [offset for _, offset in terms] for at, terms in before.items()
    }


@pytest.mark.parametrize("nest", [nests.pad(), nests.halves(), nests.carried_guard()], ids=lambda nest: nest.name)
def test_legal_names_stay(nest: Nest) -> None:
    assert rename(nest)[0] == nest


def test_no_digit_takes_the_name_of_a_parameter_or_local() -> None:
    face = nests.affine(0, (0, 1), (1, 1))
    piece = NestPiece(nests.digits(n=3), face, 0, face, (Carried("half", nests.affine(0, (0, 1)), IntLiteral(2)),))
    nest, _ = rename(replace(nests.halves(), pieces=(piece, piece)))
    assert isinstance(nest.prelude[-1], Local)
    assert nest.prelude[-1].name == "half"
    for renamed in nest.pieces:  # their loops never nest, so that both may have the same names
        assert (renamed.digits[0].name, renamed.carried[0].name) == ("n_2", "half_2")
