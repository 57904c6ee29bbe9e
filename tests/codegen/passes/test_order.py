"""`order` puts the digits of a piece in the order of its loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import Add, AffineForm, Carried, Nest, NestPiece, NestWindow, simulate
from symlayout_codegen.ir.queries import SignFacts
from symlayout_codegen.passes.order import order
from tests.support import nests

A, B, C = map(NamedInt, "ABC")
VALUES = {"A": 2, "B": 3, "C": 4}


def nest_of(output: AffineForm, offset: AffineForm | None, **extents: Expr | int) -> Nest:
    piece = NestPiece(nests.digits(**extents), output, None if offset is None else 0, offset, fill=0)
    return nests.nest("one", "A B C", [piece], 99, fills=1)


def loops(nest: Nest, walk: str = "output") -> str:
    made = order(nest, walk)
    assert simulate(made, VALUES) == simulate(nest, VALUES)
    return " ".join(digit.name for digit in made.pieces[0].digits)


def test_terms_follow_their_digits() -> None:
    write, read = nests.affine(0, (0, 1), (1, A)), nests.affine(7, (0, 1), (1, 50))
    made = order(nest_of(write, read, i=A, j=B))
    assert made.pieces[0].digits == nests.digits(j=B, i=A)
    assert made.pieces[0].output == AffineForm(IntLiteral(0), ((1, IntLiteral(1)), (0, A)))
    assert made.pieces[0].offset == AffineForm(IntLiteral(7), ((1, IntLiteral(1)), (0, IntLiteral(50))))


def test_the_output_is_written_in_memory_order() -> None:
    write = nests.affine(0, (0, B), (1, 1), (2, mul(A, B)))
    assert loops(nest_of(write, None, i=A, j=B, k=C)) == "k i j"
    assert loops(nest_of(write, write, i=A, j=B, k=C)) == "k i j"


def test_the_fastest_digits_of_both_faces_are_the_inner_two() -> None:
    write = nests.affine(0, (0, mul(B, C)), (1, C), (2, 1))
    read = nests.affine(0, (0, 1), (1, A), (2, mul(A, B)))
    assert loops(nest_of(write, read, i=A, j=B, k=C)) == "j i k"


def test_the_source_is_read_in_its_own_order_if_asked() -> None:
    write = nests.affine(0, (0, mul(B, C)), (1, C), (2, 1))
    read = nests.affine(0, (0, C), (1, mul(A, C)), (2, 1))
    nest = nest_of(write, read, i=A, j=B, k=C)
    assert (loops(nest), loops(nest, "source")) == ("i j k", "j i k")


def test_a_short_loop_goes_outside_of_the_long_loop_around_a_run() -> None:
    write = nests.affine(0, (0, mul(3, C)), (1, C), (2, 1))
    read = nests.affine(0, (0, mul(5, C)), (1, mul(100, C)), (2, 1))
    assert loops(nest_of(write, read, i=B, j=3, k=C)) == "j i k"


def test_loops_that_move_little_in_either_array_are_the_inner_ones() -> None:
    """The transpose 140532, and 410325, whose inner loop copies: there the output says which rows are copied."""
    sizes = [NamedInt(name) for name in "ABCDEF"]

    def strides(axes: Sequence[int]) -> AffineForm:
        steps: list[tuple[int, Expr]] = []
        step: Expr = IntLiteral(1)
        for axis in reversed(axes):
            steps.append((axis, step))
            step = mul(step, sizes[axis])
        return nests.affine(0, *steps)

    extents = dict(zip("abcdef", sizes, strict=True))
    values = {"A": 2, "B": 3, "C": 2, "D": 3, "E": 2, "F": 3}
    for axes, expected in (([1, 4, 0, 5, 3, 2], "b a e d f c"), ([4, 1, 0, 3, 2, 5], "b a d e c f")):
        piece = NestPiece(nests.digits(**extents), strides(axes), 0, strides(range(6)), fill=0)
        nest = nests.nest("one", "A B C D E F", [piece], 99, fills=1)
        made = order(nest)
        assert " ".join(digit.name for digit in made.pieces[0].digits) == expected
        assert simulate(made, values) == simulate(nest, values)


def test_points_that_add_stay_in_order() -> None:
    write, read = nests.affine(0, (0, 1)), nests.affine(0, (0, 1), (1, A))
    nest = nest_of(write, read, i=A, j=B)
    sums = replace(nest, combine=Add("uint8"), background=nests.zero(A))
    assert order(sums) == sums
    assert order(replace(nest, combine=None)).pieces != sums.pieces


H, W = nests.H, nests.W
NO_DIM = SignFacts.of(nonnegative=(nests.C, H, W))


def order_of_sum(nest: Nest, facts: SignFacts = NO_DIM) -> str:
    made = order(nest, facts=facts)
    for values, written in nests.simulated(nest):
        assert simulate(made, values) == written  # terms in their order
    return " ".join(digit.name for digit in made.pieces[0].digits)


def changed(nest: Nest, **fields: object) -> Nest:
    return replace(nest, pieces=(replace(nest.pieces[0], **fields),))  # type: ignore[arg-type]


@pytest.mark.parametrize("run", [2, 3, 16])
def test_short_runs_that_overlap_are_added_along_them(run: int) -> None:
    assert order_of_sum(nests.image_adjoint(run)) == "y c k x l"


def test_runs_that_are_long_or_do_not_overlap_stay_in_order() -> None:
    assert order_of_sum(nests.image_adjoint(17)) == "y x c k l"
    assert order_of_sum(nests.image_adjoint(1)) == "y x c k l"
    nest = nests.image_adjoint(2)
    wide = add(mul(2, W), 2)
    for step, names in ((1, "y c k x l"), (2, "y x c k l")):
        output = nests.affine(0, (0, wide), (1, step), (2, mul(add(H, 1), wide)), (3, wide), (4, 1))
        size = mul(nests.C, add(H, 1), wide)
        ground = replace(nests.zero(1), digits=nests.digits(c=nests.C, z=mul(add(H, 1), wide)), apart=(0,))
        ground = replace(ground, output=nests.affine(0, (0, mul(add(H, 1), wide)), (1, 1)))
        assert order_of_sum(replace(changed(nest, output=output), background=ground, output_size=size)) == names


def test_a_sum_keeps_its_order_where_the_element_does_not_determine_the_other_digits() -> None:
    nest = nests.image_adjoint()
    names = "y x c k l"
    assert order_of_sum(changed(nest, apart=())) == names  # c might be any digit: its step is not proved to be large
    narrow = replace(
        nest.pieces[0].output, terms=((0, W), (1, IntLiteral(1)), (2, mul(9, H, W)), (3, W), (4, IntLiteral(1)))
    )
    assert " ".join(d.name for d in order(changed(nest, output=narrow), facts=NO_DIM).pieces[0].digits) == names
    down = nests.affine(0, (0, W), (1, 1), (2, mul(9, H, W)), (3, mul(-1, W)), (4, 1))
    assert " ".join(d.name for d in order(changed(nest, output=down), facts=NO_DIM).pieces[0].digits) == names
    carried = Carried("q", nests.affine(0, (1, 1)), IntLiteral(2))
    assert order_of_sum(changed(nest, carried=(carried,))) == names
    assert order_of_sum(nest, SignFacts()) == names  # nothing is known of the steps' signs


def test_the_background_of_a_sum_is_ordered() -> None:
    ground = NestPiece(nests.digits(i=A, j=B), nests.affine(0, (0, 1), (1, A)), None, None, fill=0)
    (piece,) = nest_of(nests.affine(0), nests.affine(0, (0, 1)), i=A).pieces
    made = order(nests.nest("sum", "A B C", [piece], 99, fills=1, combine=Add("uint8"), background=ground))
    assert made.background is not None
    assert [digit.name for digit in made.background.digits] == ["j", "i"]


def test_half_bytes_are_moved_in_the_longer_of_the_inner_loops() -> None:
    write, read = nests.affine(0, (0, 2), (1, 1)), nests.affine(0, (0, 4), (1, 100))
    nest = nest_of(write, read, i=C, j=2)
    assert loops(nest) == "i j"
    assert loops(replace(nest, halves=True)) == "j i"
    contiguous = replace(nest, pieces=(replace(nest.pieces[0], offset=nests.affine(0, (0, 4), (1, 1))),), halves=True)
    assert loops(contiguous) == "i j"


@pytest.mark.parametrize("nest", [n for n in nests.ALL if n.combine is None], ids=lambda nest: nest.name)
@pytest.mark.parametrize("walk", ["output", "source"])
def test_the_points_stay_the_same(nest: Nest, walk: str) -> None:
    expected = nests.simulated(nest)
    assert expected
    for values, written in expected:
        assert simulate(order(nest, walk), values) == written


def test_carried_digits_and_what_tells_apart_are_renumbered() -> None:
    write, read = nests.affine(0, (0, 1), (1, A)), nests.affine(0, (2, 1))
    (piece,) = nest_of(write, read, i=A, j=B).pieces
    carried = Carried("k", nests.affine(0, (0, 1), (1, 5)), IntLiteral(2))
    window = NestWindow(nests.affine(0, (0, 1)), IntLiteral(1))
    nest = nests.nest("one", "A B C", [replace(piece, carried=(carried,), windows=(window,), apart=(1,))], 99)
    made = order(nest).pieces[0]
    assert [digit.name for digit in made.digits] == ["j", "i"]
    assert made.apart == (0,)
    assert made.windows[0].value.coefficients() == {1: IntLiteral(1)}
    assert simulate(order(nest), VALUES) == simulate(nest, VALUES)
