"""The loops are what the nest says, whatever the digits, the order of the guards and the signs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symlayout_codegen.ir.integer_expressions import (
    Expr,
    IntLiteral,
    NamedInt,
    Summation,
    add,
    evaluate,
    mul,
)
from symlayout_codegen.ir.nest import (
    Add,
    AffineForm,
    Carried,
    Digit,
    Nest,
    NestGuard,
    NestPiece,
    NestWindow,
    simulate,
)
from symlayout_codegen.ir.queries import ONE, ZERO, names, subtract
from symlayout_codegen.ir.statements import (
    AccumulateRows,
    AccumulateRun,
    Body,
    CopyGrid,
    CopyRows,
    CopyRun,
    CutGrid,
    Deal,
    FillRows,
    FillRun,
    If,
    Interval,
    JoinGrid,
    Let,
    Loop,
    Share,
    Statement,
    Transpose,
    expressions,
    walk,
)
from symlayout_codegen.passes import loop_bounds
from symlayout_codegen.passes.schedule import schedule
from tests.support import nests
from tests.support.effort import examples
from tests.support.loop_interpreter import run


def leaves(nest: Nest) -> list[str]:
    kinds = CopyRun | AccumulateRun | FillRun | CopyRows | CopyGrid | CutGrid | AccumulateRows | FillRows | Transpose
    kinds |= Deal | JoinGrid
    return [type(s).__name__ for s in walk(schedule(nest).body) if isinstance(s, kinds)]


# --- what is chosen ---------------------------------------------------------------------------


def test_contiguous_digits_become_one_copy() -> None:
    share, copy = schedule(nests.identity()).body
    assert isinstance(share, Share)
    assert isinstance(copy, CopyRun)
    ((begin, end, extent),) = share.loops
    assert copy.count == subtract(NamedInt(end), NamedInt(begin))
    assert evaluate(extent, {"N": 2, "C": 3, "H": 4, "W": 5}) == 120


def test_guards_become_loop_bounds_and_fill_runs() -> None:
    body = schedule(nests.pad()).body
    assert [type(s).__name__ for s in body if not isinstance(s, Let)] == ["Share", "FillRun", "Loop", "FillRun"]
    assert leaves(nests.pad()) == ["FillRun", "FillRun", "CopyRun", "FillRun", "FillRun"]


@pytest.mark.parametrize(
    "nest",
    [nests.transpose(), nests.space_to_depth(2), nests.depth_to_space(), nests.channels_last()],
    ids=lambda nest: nest.name,
)
def test_different_fastest_digits_become_a_transpose(nest: Nest) -> None:
    assert leaves(nest) == ["Transpose"]


def test_whole_blocks_of_a_cut_axis_become_one_transpose() -> None:
    """Only the blocks at the ends are cut: those between them are read and written in one pass."""
    chosen = leaves(nests.deal_rows_back())
    assert chosen.count("Transpose") == 1
    assert chosen.count("CopyRows") == 2


@pytest.mark.parametrize("nest", [nests.slices(), nests.slices(backwards=True)], ids=lambda nest: nest.name)
def test_pieces_that_are_alike_become_one(nest: Nest) -> None:
    """The four read each line in turn: two of them at a time, and each line once."""
    (transpose,) = (s for s in walk(schedule(nest).body) if isinstance(s, Transpose))
    assert transpose.splits == 2
    assert leaves(nest) == ["Transpose"]


def test_pieces_that_differ_in_more_than_their_begin_stay_apart() -> None:
    first, second, *rest = nests.slices().pieces
    assert second.offset is not None
    other = replace(
        second, offset=replace(second.offset, terms=((0, mul(4, nests.H, nests.W)), (1, nests.W), (2, ONE)))
    )
    assert leaves(replace(nests.slices(), pieces=(first, other, *rest))) == ["CopyGrid", "CopyRows", "CopyGrid"]
    adds = replace(nests.slices(), combine=Add("float32"), background=nests.zero(mul(4, nests.C, nests.H, nests.W)))
    assert leaves(adds) == ["FillRun", *["AccumulateRows"] * 4]


def test_a_window_that_may_lie_outside_its_digit_stays_a_bound() -> None:
    (first, *_) = nests.slices().pieces
    piece = replace(first, windows=(NestWindow(nests.affine(-1, (0, 1)), mul(4, nests.C)),))
    assert any(
        "_last" in s.name for s in walk(schedule(replace(nests.slices(), pieces=(piece,))).body) if isinstance(s, Let)
    )


def test_elements_at_any_strides_are_a_grid() -> None:
    """Which of its loops is the inner one is for the extents of a call to say: margins are short."""
    assert leaves(nests.strided()) == ["CopyGrid"]


def test_short_rows_that_overlap_are_a_transpose() -> None:
    (transpose,) = (s for s in walk(schedule(nests.windows()).body) if isinstance(s, Transpose))
    assert (transpose.rows.count, transpose.columns.step) == (nests.W, ONE)


@pytest.mark.parametrize("nest", [nests.deal_whole(2, 1, 1), nests.deal_whole(3, 1, 2), nests.deal_whole(4, 0, 4)])
def test_a_padded_row_is_dealt_out_by_one_statement(nest: Nest) -> None:
    """Its margins too, whether these are numbers or not: each line is written once."""
    assert leaves(nest) == leaves(nests.deal_rows()) == ["Deal"]
    same_for_small_sizes(nest)


def test_rows_of_fill_before_and_after_are_part_of_that_statement() -> None:
    (deal,) = (s for s in walk(schedule(nests.deal_padded_rows()).body) if isinstance(s, Deal))
    assert ZERO not in (deal.rows.before, deal.rows.count, deal.rows.after)
    assert leaves(nests.deal_padded_rows()) == ["Deal"]
    assert len(leaves(nests.deal_padded_rows(1))) > 1  # of another fill


def test_where_rows_begin_is_computed_in_the_loop_that_it_depends_on() -> None:
    nest = nests.deal_sheared_rows()
    assert leaves(nest) == ["Deal"]
    same_for_small_sizes(nest, tuple({"C": 3, "H": 2, "W": w, "p": p, "q": q} for w, p, q in ((3, 1, 2), (0, 2, 0))))


def test_padded_planes_of_many_images_are_dealt_out_by_one_statement() -> None:
    """The loops over the planes and over the images run inside of those over the blocks, in strips."""
    nest = nests.deal_padded_images()
    assert leaves(nest) == ["Deal"]
    body = schedule(nest).body
    (deal,) = (s for s in walk(body) if isinstance(s, Deal))
    assert ZERO not in (deal.planes.before, deal.planes.count, deal.planes.after)
    assert (deal.images.before, deal.images.after) == (ZERO, ZERO)
    loops = [s.name for s in walk(body) if isinstance(s, Loop)]
    assert loops == ["img_strip", "plane_strip", "a", "b"]


@pytest.mark.parametrize("elements", [1, 9, 30, 100])
def test_strips_of_any_size_deal_out_all_images(elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_bounds, "STRIP", elements)
    for margin in (1, 2):
        nest = nests.deal_padded_images(margin)
        program = schedule(nest)
        for sizes in ((1, 2, 3, 3), (2, 1, 4, 2), (1, 1, 2, 0), (1, 1, 0, 3)):
            values = dict(zip("HWpq", sizes, strict=True))
            for parts in (1, 3):
                assert run(program, values, parts) == simulate(nest, values)


@pytest.mark.parametrize("nest", [nests.joined_rows(2, 0, 1), nests.joined_rows(3, 1, 1), nests.joined_rows(4, 2, 2)])
def test_streams_that_are_joined_and_cut_are_one_statement(nest: Nest) -> None:
    """Of all rows between the cuts, in the order of the output, and with the ends of each; of all planes too."""
    (grid,) = (s for s in schedule(nest).body if isinstance(s, JoinGrid))
    assert leaves(nest) == ["JoinGrid"]
    assert ZERO not in (grid.size, grid.leap, grid.step, grid.stride, grid.to_jump, grid.jump)
    assert (grid.count, grid.high) != (ONE, ONE)
    same_for_small_sizes(nest, CUT)


def test_streams_that_are_joined_whole_are_one_statement() -> None:
    """The rows of all planes follow each other in both arrays, so that no loop is left."""
    nest = nests.joined_rows(3, 0, 0)
    (grid,) = (s for s in schedule(nest).body if isinstance(s, JoinGrid))
    assert (grid.low, grid.count, grid.high) == (ZERO, ONE, ONE)
    same_for_small_sizes(nest, CUT)


def test_cuts_that_may_lie_outside_are_no_such_statement() -> None:
    assert "JoinGrid" not in leaves(nests.joined_rows(3, -1, 1))
    assert "JoinGrid" not in leaves(nests.joined_rows(5, 1, 1))
    same_for_small_sizes(nests.joined_rows(5, 1, 1), CUT)


@pytest.mark.parametrize(
    ("block", "before", "after", "run"), [(2, 0, 2, 3), (2, 1, 1, 3), (2, 3, 1, 3), (5, 5, 10, 1), (3, 3, 6, 2)]
)
@pytest.mark.parametrize("crop", [False, True])
def test_blocks_that_are_whole_need_no_bounds(block: int, before: int, after: int, run: int, *, crop: bool) -> None:
    """One statement does what lies inside; a guard's margins are its own, or runs of fill, each as long as it is."""
    nest = nests.deal_whole(block, before, after, run=run, crop=crop)
    assert not any(isinstance(s, Let) and re.match(r"(hi|lo)_last", s.name) for s in walk(schedule(nest).body))
    first = [max(0, -(-(before - lo) // block)) for lo in range(block)]
    grid = run > 1 and not crop
    margins = [] if crop or grid else [w for f in first for w in (f, (before + after) // block - f) if w]
    chosen = leaves(nest)
    assert len([leaf for leaf in chosen if leaf.startswith("Fill")]) == len(margins)
    assert set(chosen) - {"FillRun", "FillRows"} == {"Transpose" if run == 1 else "CutGrid" if grid else "CopyGrid"}
    same_for_small_sizes(nest)


def test_what_a_crop_turns_by_a_part_of_three_is_bounded() -> None:
    """Whole blocks are no box then: an inner part is, and the ends are cut."""
    nest = nests.deal_whole(3, 1, 2, crop=True)
    assert leaves(nest).count("CopyGrid") == 2
    same_for_small_sizes(nest)


@pytest.mark.parametrize(
    "nest", [nests.deal_whole(2, 1, 1), nests.deal_whole(2, 1, 1, run=3), nests.deal_whole(5, 5, 5)]
)
def test_a_piece_that_only_its_guard_fills_leaves_whole_blocks_alone(nest: Nest) -> None:
    frame = replace(nest, pieces=(replace(nest.pieces[0], source=None, offset=None),))
    assert not [leaf for leaf in leaves(frame) if not leaf.startswith("Fill")]
    same_for_small_sizes(frame)


SMALL = ({"N": 2, "H": 2, "W": 3}, {"N": 1, "H": 1, "W": 1}, {"N": 1, "H": 3, "W": 0})
CUT = ({"C": 2, "H": 2, "W": 3}, {"C": 1, "H": 1, "W": 1}, {"C": 3, "H": 3, "W": 2})  # that lose rows and columns


def same_for_small_sizes(nest: Nest, sizes: tuple[dict[str, int], ...] = SMALL) -> None:
    program = schedule(nest)
    for values in sizes:
        for parts in (1, 3):
            assert run(program, values, parts) == simulate(nest, values)


def test_a_number_known_to_be_even_is_twice_its_half() -> None:
    """So rows of it, each as long as two halves, follow each other."""
    face = nests.affine(0, (0, mul(2, NamedInt("half"))), (1, 1))
    rows = NestPiece(nests.digits(row=3, i=NamedInt("n")), face, 0, face)
    assert leaves(replace(nests.halves(), pieces=(rows,), output_size=mul(3, NamedInt("n")))) == ["CopyRun"]


@pytest.mark.parametrize("nest", nests.ALL, ids=lambda nest: nest.name)
def test_what_does_not_change_in_a_loop_is_computed_before_it(nest: Nest) -> None:
    """No expression of a statement has more than two operations on what was known outside of its loop."""
    program = schedule(nest)

    def costs(body: Body, inner: frozenset[str]) -> Iterator[int]:
        for statement in body:
            if isinstance(statement, Loop):
                yield from costs(statement.body, frozenset((statement.name,)))
            elif isinstance(statement, Let):
                inner |= {statement.name}
            elif inner and not isinstance(statement, If | Interval | Share):
                for expr in expressions(statement):
                    terms = expr.terms if isinstance(expr, Summation) else (expr,)
                    yield sum(not names(term) & inner and not isinstance(term, IntLiteral) for term in terms)

    assert all(cost <= 3 for cost in costs(program.body, frozenset()))


@pytest.mark.parametrize("nest", [n for n in nests.ALL if n.name != "carried_guard"], ids=lambda nest: nest.name)
def test_only_a_guard_over_a_carried_digit_is_tested_in_a_loop(nest: Nest) -> None:
    assert not any(isinstance(s, If) for s in in_loops(nest))
    assert any(isinstance(s, If) for s in in_loops(nests.carried_guard()))


def in_loops(nest: Nest) -> list[Statement]:
    return [s for loop in walk(schedule(nest).body) if isinstance(loop, Loop) for s in walk(loop.body)]


def test_sums_keep_the_order_of_the_nest() -> None:
    """Though the output is contiguous in another digit, and whole blocks could be taken first."""
    assert leaves(nests.tile_adjoint()) == ["FillRun", "AccumulateRows"]
    (sums,) = (s for s in walk(schedule(nests.tile_adjoint()).body) if isinstance(s, AccumulateRows))
    assert (sums.columns, sums.to_step, sums.to_each) == (nests.W, ZERO, ONE)
    loops = [s.name for s in walk(schedule(nests.block_sum()).body) if isinstance(s, Loop)]
    assert loops == ["row", "hi"]
    assert leaves(nests.block_sum()) == ["FillRun", "AccumulateRun"]


def test_a_window_without_digits_is_tested_before_all_else() -> None:
    (part,) = schedule(nests.tile_adjoint()).body
    assert isinstance(part, If)
    fill, test = part.inside
    assert isinstance(fill, FillRun)
    assert isinstance(test, If)
    piece = replace(nests.tile_adjoint().pieces[0], windows=(NestWindow(nests.affine(), IntLiteral(1)),))
    body = schedule(replace(nests.tile_adjoint(), pieces=(piece,))).body
    assert [s for s in walk(body) if isinstance(s, If)] == list(body)
    piece = replace(piece, windows=(NestWindow(nests.affine(), IntLiteral(0)),))
    assert leaves(replace(nests.tile_adjoint(), pieces=(piece,))) == ["FillRun"]


def test_a_step_of_unknown_sign_gets_its_bounds_at_run_time() -> None:
    assert any(isinstance(s, Interval) for s in walk(schedule(nests.unknown_step()).body))
    assert not any(isinstance(s, Interval) for s in walk(schedule(nests.space_to_batch()).body))


def test_a_digit_of_extent_one_has_no_loop() -> None:
    piece = NestPiece(
        nests.digits(i=1, j=nests.W),
        nests.affine(0, (0, nests.W), (1, 1)),
        0,
        nests.affine(5, (0, 7), (1, -1)),
    )
    _, rows = schedule(nests.nest("one", "W", [piece], nests.W)).body
    assert isinstance(rows, CopyRows)
    assert (rows.to_step, rows.step, rows.count) == (ONE, IntLiteral(-1), ONE)


# --- the same meaning -------------------------------------------------------------------------


@pytest.mark.parametrize("nest", nests.ALL, ids=lambda nest: nest.name)
def test_schedule_of_a_hand_made_nest(nest: Nest) -> None:
    program = schedule(nest)
    for scale in range(12):
        values = {name: (scale * (k + 2)) % 5 for k, name in enumerate(nest.parameters)}
        try:
            expected = simulate(nest, values)
        except ValueError:
            continue
        assert run(program, values) == expected, values


PARAMETERS = ("m", "n", "k")
COEFFICIENTS = st.one_of(st.integers(-3, 4).map(IntLiteral), st.sampled_from(PARAMETERS).map(NamedInt))
EXTENTS = st.one_of(st.integers(0, 4).map(IntLiteral), st.sampled_from(PARAMETERS).map(NamedInt))


@st.composite
def affines(draw: st.DrawFn, digits: int) -> AffineForm:
    terms = draw(st.lists(st.tuples(st.integers(0, digits - 1), COEFFICIENTS), max_size=3)) if digits else []
    constant = draw(st.one_of(COEFFICIENTS, COEFFICIENTS.map(lambda c: add(c, mul(-1, NamedInt("m"))))))
    return AffineForm(constant, tuple(terms))


@st.composite
def pieces(draw: st.DrawFn) -> NestPiece:
    """Draw a box whose output face is row-major in some order of the digits, the rest at random."""
    extents: list[Expr] = draw(st.lists(EXTENTS, max_size=4))
    count = len(extents)

    def row_major() -> AffineForm:
        terms = []
        stride: Expr = ONE
        for k in draw(st.permutations(range(count))):
            terms.append((k, stride))
            stride = mul(stride, extents[k])
        return AffineForm(IntLiteral(0), tuple(terms))

    output = row_major()
    # A source face that is row-major too, in this or another order, meets the runs and the transposes.
    offset = draw(st.sampled_from((output, row_major(), draw(affines(count)))))
    carried = [
        Carried(f"c{i}", draw(affines(count + i)), IntLiteral(draw(st.integers(1, 4))))
        for i in range(draw(st.sampled_from((0, 0, 0, 1, 2))))
    ]
    window = st.builds(NestWindow, affines(count + len(carried)), EXTENTS)
    return NestPiece(
        tuple(Digit("ijkl"[k], extent) for k, extent in enumerate(extents)),
        output,
        0,
        offset,
        tuple(carried),
        tuple(draw(st.lists(window, max_size=2))),
        tuple(draw(st.lists(st.builds(NestGuard, window, st.integers(0, 2)), max_size=3))),
    )


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(
    pieces(),
    st.lists(st.tuples(*(st.integers(1, 4) for _ in PARAMETERS)), min_size=1, max_size=3),
    st.integers(2, 9),
)
def test_schedule_of_a_random_nest(piece: NestPiece, samples: list[tuple[int, ...]], parts: int) -> None:
    positive = frozenset(map(NamedInt, PARAMETERS))
    nest = Nest("random", PARAMETERS, (), ("x",), (None,), None, (piece,), fills=3, positive=positive)
    # Without the facts other bounds are chosen; the meaning is the same.
    programs = [schedule(nest), schedule(replace(nest, positive=frozenset()))]
    for sample in samples:
        values = dict(zip(PARAMETERS, sample, strict=True))
        expected = simulate(nest, values)
        for program in programs:
            assert run(program, values) == expected, values
            assert run(program, values, parts) == expected, values


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(pieces(), st.tuples(*(st.integers(1, 4) for _ in PARAMETERS)))
def test_schedule_of_a_random_sum(piece: NestPiece, sample: tuple[int, ...]) -> None:
    """The terms of every element, in order; the faces are swapped so that several points write one element."""
    if piece.offset is None:
        return
    swapped = replace(piece, output=piece.offset, offset=piece.output, guards=())
    ground = NestPiece(nests.digits(z=801), nests.affine(-400, (0, 1)), None, None, fill=0)
    nest = nests.nest("sum", " ".join(PARAMETERS), [swapped], 1, fills=1, combine=Add("uint8"), background=ground)
    values = dict(zip(PARAMETERS, sample, strict=True))
    for parts in (1, 3):
        assert run(schedule(nest), values, parts) == simulate(nest, values)


@pytest.mark.slow
def test_random_nests_reach_every_statement() -> None:
    """The strategy above would prove little if it never made, say, a guard that must be tested."""
    missing = {Let, Interval, Share, Loop, If, CopyRun, FillRun, CopyRows, FillRows, Transpose}

    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    @given(pieces())
    def collect(piece: NestPiece) -> None:
        nest = Nest("random", PARAMETERS, (), ("x",), (None,), None, (piece,), fills=3)
        missing.difference_update(map(type, walk(schedule(nest).body)))

    collect()
    assert not missing
