"""`whole_blocks` finds the whole blocks that a window leaves of an axis cut in blocks."""

from __future__ import annotations

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import NestWindow
from symlayout_codegen.ir.queries import SignFacts
from symlayout_codegen.passes.pieces.whole_blocks import whole_blocks
from tests.support import nests


@pytest.mark.parametrize(
    ("pad", "extent", "blocks", "size", "first"),
    [
        (2, 8, 6, 2, (1, 1)),
        (2, 8, 5, 2, (1, 1)),
        (2, 8, 4, 2, None),  # the last block is cut off
        (1, 8, 5, 2, (1, 0)),
        (1, 8, 4, 2, None),
        (3, 9, 4, 3, (1, 1, 1)),
        (1, 9, 5, 3, None),  # of three, no two digits turn into two
        (-2, 8, 9, 2, None),  # the first block is cut off
        (2, 7, 6, 2, None),  # the last block is a part of one
    ],
)
def test_blocks_are_counted_from_the_array_where_they_are_whole(
    pad: int, extent: int, blocks: int, size: int, first: tuple[int, ...] | None
) -> None:
    window = NestWindow(nests.affine(-pad, (0, 1), (1, size)), IntLiteral(extent))
    found = whole_blocks(window, 0, 1, IntLiteral(size), IntLiteral(blocks), SignFacts())
    assert (found and found.first) == first
    if found is not None and first is not None:
        counted = {(w, b + first[w]) for w in range(size) for b in range(extent // size)}
        assert found.count == IntLiteral(extent // size)
        assert counted == {(w, b) for w in range(size) for b in range(blocks) if 0 <= size * b + w - pad < extent}


@pytest.mark.parametrize("steps", [((0, -1), (1, 2)), ((0, 1), (1, 3)), ((0, 1),), ((0, 1), (1, 2), (2, 9))])
def test_other_digits_are_no_axis_cut_in_blocks(steps: tuple[tuple[int, int], ...]) -> None:
    window = NestWindow(nests.affine(-2, *steps), IntLiteral(8))
    assert whole_blocks(window, 0, 1, IntLiteral(2), IntLiteral(6), SignFacts()) is None


def test_a_count_of_unknown_sign_has_no_blocks() -> None:
    m = NamedInt("m")
    window = NestWindow(nests.affine(-2, (0, 1), (1, 2)), mul(2, m))
    arguments = window, 0, 1, IntLiteral(2), add(m, 1)
    assert whole_blocks(*arguments, SignFacts()) is None
    found = whole_blocks(*arguments, SignFacts.of(nonnegative=[m]))
    assert found is not None
    assert found.count == m


@pytest.mark.parametrize(("pad", "blocks"), [(2, 5), (1, 5)])
def test_a_form_in_the_turned_digits_has_the_same_values(pad: int, blocks: int) -> None:
    window = NestWindow(nests.affine(-pad, (0, 1), (1, 2)), IntLiteral(8))
    found = whole_blocks(window, 0, 1, IntLiteral(2), IntLiteral(blocks), SignFacts())
    assert found is not None
    form = nests.affine(3, (0, 70), (1, 5), (2, 1000))
    inside = {form.at([w, b, 4], {}) for w in range(2) for b in range(blocks) if 0 <= 2 * b + w - pad < 8}
    assert {found.turned(form).at([w, b, 4], {}) for w in range(2) for b in range(4)} == inside
