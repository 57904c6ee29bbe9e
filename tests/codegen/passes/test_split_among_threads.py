"""`split_among_threads` gives each part disjoint ranges of the outer loops, which together are the whole loops."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, evaluate
from symlayout_codegen.ir.nest import Add, Nest, NestGuard, NestPiece, NestWindow
from symlayout_codegen.ir.statements import PartRanges, Share
from symlayout_codegen.passes.split_among_threads import split_among_threads
from tests.support import nests
from tests.support.loop_interpreter import share

A, B = NamedInt("A"), NamedInt("B")


def piece(*extents: Expr | int, **more: object) -> NestPiece:
    digits = nests.digits(**dict(zip("ijklm", extents, strict=False)))
    return replace(NestPiece(digits, nests.affine(), 0, nests.affine()), **more)  # type: ignore[arg-type]


def nest_of(*pieces: NestPiece, **more: object) -> Nest:
    return nests.nest("one", "A B", list(pieces), 9, fills=1, **more)


def split(*extents: Expr | int, **more: object) -> str:
    """Return the digits whose loops are split."""
    (part,) = split_among_threads(nest_of(piece(*extents, **more)), set()) or ()
    return "" if part is None else "".join("ijklm"[k] for k in part.digits)


def test_a_part_does_a_range_of_the_outer_loop() -> None:
    taken = {"i_begin"}
    parts = split_among_threads(nest_of(piece(A, B, 9)), taken)
    assert parts == (PartRanges(Share("share", (("i_begin_2", "i_end", A), ("j_begin", "j_end", B))), (0, 1)),)
    assert parts[0] is not None
    assert parts[0].ranges[1] == (NamedInt("j_begin"), NamedInt("j_end"))
    assert taken == {"i_begin", "i_begin_2", "i_end", "j_begin", "j_end", "share"}


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_the_ranges_of_the_parts_are_the_whole_loops(count: int) -> None:
    (part,) = split_among_threads(nest_of(piece(A, 5, B, 9)), set()) or ()
    assert part is not None
    loops = [(begin, end, evaluate(extent, {"A": 3})) for begin, end, extent in part.share.loops]
    done: list[tuple[int, ...]] = []
    for number in range(count):
        bounds = share(loops, {"part": number, "parts": count})
        done += itertools.product(*(range(bounds[begin], bounds[end]) for begin, end, _ in loops))
    assert sorted(done) == list(itertools.product(range(3), range(5)))


@pytest.mark.parametrize(
    ("extents", "digits"),
    [
        ((), ""),
        ((A,), "i"),
        ((A, B), "ij"),
        ((A, B, 9), "ij"),
        ((A, 4, 9), "i"),  # the inner two may be a short transpose
        ((A, B, 9, 9), "ij"),  # not the inner two
        ((64, B, 9, 9), "i"),  # long enough
        ((63, B, 9, 9), "ij"),
        ((A, 2, 9, 9), "i"),  # a short loop is unrolled instead
        ((2, A, 9), "j"),  # a grid of runs has all of a short loop
        ((2, A, B, 9), "ij"),
    ],
)
def test_the_loops_outside_of_the_inner_two_are_split(extents: tuple[Expr | int, ...], digits: str) -> None:
    assert split(*extents) == digits


def test_an_inner_loop_that_is_cut_stays_whole() -> None:
    window = NestWindow(nests.affine(-1, (1, 1)), B)
    assert split(A, B, windows=(window,)) == split(A, B, guards=(NestGuard(window, 0),)) == "i"


GROUND = NestPiece(nests.digits(z=B, y=A), nests.affine(), None, None, fill=0)


@pytest.mark.parametrize(
    "more", [{"background": GROUND}, {"background": GROUND, "combine": Add("uint8")}, {"halves": True}]
)
def test_points_that_may_meet_are_for_one_part(more: dict[str, object]) -> None:
    assert split_among_threads(nest_of(piece(A, B), **more), set()) is None


def test_what_tells_elements_apart_is_split_of_all_boxes() -> None:
    parts = split_among_threads(nest_of(piece(A, B, apart=(1,)), background=replace(GROUND, apart=(0,))), set())
    assert parts is not None
    assert [part and (part.digits, part.share.loops[0][2]) for part in parts] == [((0,), B), ((1,), B)]


def test_a_piece_without_loops_is_for_one_part() -> None:
    assert split_among_threads(nest_of(piece(), piece(IntLiteral(9))), set()) != (None, None)
    assert (split_among_threads(nest_of(piece(), piece(9)), set()) or ())[0] is None
