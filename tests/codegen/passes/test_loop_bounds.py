"""`bound_loops` writes the loops of a nest; its windows and guards become bounds of loops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import Add, Carried, Nest, NestGuard, NestPiece, NestWindow, simulate
from symlayout_codegen.ir.queries import ONE, ZERO, SignFacts
from symlayout_codegen.ir.statements import (
    PART,
    Body,
    CopyRun,
    Deal,
    FillRun,
    If,
    Interval,
    Let,
    Loop,
    PartRanges,
    Share,
    walk,
)
from symlayout_codegen.passes.loop_bounds import bound_loops
from tests.support import nests
from tests.support.loop_interpreter import elements

i, n, m, p = map(NamedInt, "inmp")
FACTS = SignFacts.of(positive=[n, m], nonnegative=[p])
FACE = nests.affine(0, (0, 1))
ALL = {"part": 0, "parts": 1}  # of the arguments of a kernel: one call does all of the work


def line(*windows: NestWindow, guards: tuple[NestGuard, ...] = (), **more: object) -> Nest:
    piece = NestPiece(nests.digits(i=n), FACE, 0, FACE, windows=windows, guards=guards)
    return nests.nest("line", "n m p", [piece], n, fills=2, **more)


def body_of(nest: Nest, facts: SignFacts = FACTS) -> Body:
    return bound_loops(nest, (None,) * len(nest.boxes), facts, {"i", "n", "m", "p"})


def loops_of(nest: Nest, facts: SignFacts = FACTS) -> Body:
    """Return the loops of the one piece, which part 0 does alone."""
    (alone,) = body_of(nest, facts)
    assert isinstance(alone, If)
    assert (alone.value, alone.extent, alone.outside) == (PART, ONE, ())
    return alone.inside


def assert_same(nest: Nest, facts: SignFacts = FACTS) -> None:
    """Assert that the loops write what the nest does, each element once."""
    for values in (
        {"n": 5, "m": 2, "p": 1},
        {"n": 4, "m": 4, "p": 2},
        {"n": 3, "m": 1, "p": 7},
        {"n": 2, "m": 9, "p": 0},
    ):
        written = elements(body_of(nest, facts), {**values, **ALL})
        expected = simulate(nest, values)
        assert len(written) == len(expected)
        assert {at: (term,) for at, term, _ in written} == expected


def test_a_piece_without_windows_is_its_loops() -> None:
    assert loops_of(line()) == (Loop("i", ZERO, n, (CopyRun(i, 0, i, ONE),)),)


def test_a_window_bounds_the_loop() -> None:
    nest = line(NestWindow(nests.affine(mul(-1, p), (0, 1)), m))
    *lets, loop = loops_of(nest)
    assert [let.name for let in lets if isinstance(let, Let)] == ["i_first", "i_last"]
    assert loop == Loop("i", NamedInt("i_first"), NamedInt("i_last"), (CopyRun(i, 0, i, ONE),))
    assert_same(nest)


def test_outside_of_a_guards_bounds_lie_fill_loops() -> None:
    nest = line(guards=(NestGuard(NestWindow(nests.affine(mul(-1, p), (0, 1)), m), 1),))
    loops = [s for s in loops_of(nest) if isinstance(s, Loop)]
    assert [type(inner).__name__ for loop in loops for inner in loop.body] == ["FillRun", "CopyRun", "FillRun"]
    assert loops[0].stop == loops[1].start == NamedInt("i_first")
    assert_same(nest)


def test_the_first_guard_that_fails_fills() -> None:
    low, high = (NestWindow(nests.affine(base, (0, 1)), m) for base in (mul(-1, p), 0))
    for windows in ((low, high), (high, low)):
        assert_same(line(guards=tuple(NestGuard(window, k) for k, window in enumerate(windows))))


def test_a_step_of_unknown_sign_has_its_bounds_computed_at_run_time() -> None:
    nest = line(NestWindow(nests.affine(0, (0, add(p, -1))), m))
    assert any(isinstance(s, Interval) for s in loops_of(nest))
    assert not any(isinstance(s, Interval) for s in loops_of(line(NestWindow(nests.affine(0, (0, m)), m))))
    assert_same(nest)


def test_a_guard_on_a_carried_digit_is_tested_in_the_loop() -> None:
    nest = line(guards=(NestGuard(NestWindow(nests.affine(0, (1, 1)), m), 0),))
    carried = Carried("k", FACE, IntLiteral(2))
    nest = replace(nest, pieces=(replace(nest.pieces[0], carried=(carried,)),))
    (loop,) = loops_of(nest)
    assert isinstance(loop, Loop)
    let, test = loop.body
    assert isinstance(let, Let)
    assert test == If(NamedInt("k"), m, (CopyRun(i, 0, i, ONE),), (FillRun(i, 0, ONE),))
    assert_same(nest)


def test_a_window_without_digits_is_tested_before_bounds_are_computed() -> None:
    inside = NestWindow(nests.affine(mul(-1, p), (0, 1)), m)
    (test,) = loops_of(line(NestWindow(nests.affine(p), m), inside))
    assert isinstance(test, If)
    assert (test.value, test.extent, test.outside) == (p, m, ())
    assert_same(line(NestWindow(nests.affine(p), m), inside))
    assert loops_of(line(NestWindow(nests.affine(1), IntLiteral(2)))) == loops_of(line())
    assert body_of(line(NestWindow(nests.affine(2), IntLiteral(2)))) == ()


def test_the_loop_of_a_part_runs_over_its_range() -> None:
    share = Share("share", (("begin", "end", n),))
    body = bound_loops(line(), (PartRanges(share, (0,)),), FACTS, set())
    assert body == (share, Loop("i", NamedInt("begin"), NamedInt("end"), (CopyRun(i, 0, i, ONE),)))


def test_a_nest_that_is_not_split_is_done_by_part_0() -> None:
    (alone,) = bound_loops(replace(line(), pieces=line().pieces * 2), None, FACTS, set())
    assert isinstance(alone, If)
    assert [type(s) for s in alone.inside] == [Loop, Loop]


def blocks(before: int, *, guard: bool = False, row: bool = False) -> Nest:
    """Return a copy of ``m`` blocks of 3, cut to ``n`` elements after the first *before*, by a window or a guard."""
    window = NestWindow(nests.affine(-before, (0, 3), (1, 1)), n)
    kept = {"guards": (NestGuard(window, 0),)} if guard else {"windows": (window,)}
    write = nests.affine(0, (1, m), (0, 1)) if row else nests.affine(0, (0, 3), (1, 1))
    read = nests.affine(-before, (0, 3), (1, 1))
    piece = NestPiece(nests.digits(hi=m, lo=3), write, 0, read, **kept)
    return nests.nest("blocks", "n m p", [piece], mul(3, m), fills=1)


def count_of(body: Body, kind: type) -> int:
    return sum(isinstance(statement, kind) for statement in walk(body))


@pytest.mark.parametrize("guard", [False, True])
def test_whole_blocks_have_loops_of_their_own(guard: bool) -> None:
    nest = blocks(1, guard=guard)
    assert_same(nest)
    inner = [loop for loop in walk(loops_of(nest)) if isinstance(loop, Loop) and loop.name == "lo"]
    whole = [loop for loop in inner if (loop.start, loop.stop) == (ZERO, IntLiteral(3))]
    assert any(isinstance(leaf, CopyRun) for loop in whole for leaf in loop.body)


def test_points_that_add_have_no_whole_blocks_first() -> None:
    """The terms of an element come in the order of the nest."""
    window = NestWindow(nests.affine(-1, (0, 1), (1, 3)), n)
    read = nests.affine(-1, (0, 1), (1, 3))
    piece = NestPiece(nests.digits(lo=3, hi=m), nests.affine(), 0, read, windows=(window,))
    more = {"fills": 1, "combine": Add("uint8"), "background": nests.zero(1)}
    nest = nests.nest("sum", "n m p", [piece], 1, **more)
    values = {"n": 7, "m": 4, "p": 0}
    terms = tuple(term for _, term, _ in elements(bound_loops(nest, None, FACTS, set()), {**values, **ALL}))
    assert terms == simulate(nest, values)[0]


def test_a_padded_row_that_is_dealt_out_is_one_statement() -> None:
    *_, deal = loops_of(blocks(1, guard=True, row=True))  # after bounds that nothing reads: `prune` drops them
    assert deal == Deal(ZERO, m, 3, m, 0, ZERO, IntLiteral(-1), ONE, n, 0)
    assert_same(blocks(1, guard=True, row=True))


def test_half_bytes_are_not_dealt_out() -> None:
    assert count_of(loops_of(replace(blocks(1, guard=True, row=True), halves=True)), Deal) == 0


@pytest.mark.parametrize("nest", [n for n in nests.ALL if n.combine is None], ids=lambda nest: nest.name)
def test_the_loops_write_what_the_nest_says(nest: Nest) -> None:
    facts = SignFacts.of(nest.positive, nest.nonnegative)
    for values, expected in nests.simulated(nest):
        known = nests.with_locals(nest, values)
        written = elements(bound_loops(nest, None, facts, set(known)), {**known, **ALL}, nest.sources)
        assert {at: (term,) for at, term, _ in written} == expected
