"""The loops are what the nest says, whatever the digits, the order of the guards and the signs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, FloorMod, Literal, Name, Sum, add, evaluate, mul
from symlayout_codegen.ir.nest import (
    Add,
    Affine,
    Carried,
    Digit,
    Guard,
    Local,
    Nest,
    Piece,
    Precondition,
    Term,
    Window,
    simulate,
)
from symlayout_codegen.ir.queries import ONE, ZERO, Facts, names, subtract
from symlayout_codegen.ir.statements import (
    Accumulate,
    AccumulateRows,
    Axis,
    Body,
    Copy,
    CopyGrid,
    CopyRows,
    Deal,
    Fill,
    FillRows,
    If,
    Interval,
    Let,
    Loop,
    Share,
    Statement,
    Transpose,
    expressions,
    walk,
)
from symlayout_codegen.passes import strips
from symlayout_codegen.passes.align import aligned
from symlayout_codegen.passes.hoist import hoist
from symlayout_codegen.passes.schedule import Program, schedule
from symlayout_codegen.passes.stack_pieces import stack
from symlayout_codegen.passes.use_divisibility import exact
from tests.support import nests

Written = dict[int, tuple[Term, ...]]


def run(program: Program, parameters: Mapping[str, int], parts: int = 1) -> Written:
    """Return what the parts together write: the counterpart of `simulate`, by a walk over the statements."""
    values = dict(parameters)
    for step in program.nest.prelude:
        value = evaluate(step.value, values)
        if hasattr(step, "name"):
            values[step.name] = value
    written: Written = {}
    body = (*program.steps, *program.body)
    calls = [execute(body, values | {"part": k, "parts": parts}, program.nest.sources) for k in range(parts)]
    for at, term, adds in itertools.chain(*calls):
        if adds:
            written[at] += (term,)
        else:
            replaced = written.get(at, ())
            filled = program.nest.background is not None and all(source == "fill" for source, _ in replaced)
            assert not replaced or filled, f"offset {at} is written twice"
            written[at] = (term,)
    return written


def execute(body: Body, values: dict[str, int], sources: tuple[str, ...]) -> Iterator[tuple[int, Term, bool]]:
    for statement in body:
        yield from execute_one(statement, values, sources)


def execute_one(
    statement: Statement, values: dict[str, int], sources: tuple[str, ...]
) -> Iterator[tuple[int, Term, bool]]:
    """Yield the offsets that *statement* writes, in order, with what comes there and whether it is added."""

    def value(expr: Expr) -> int:
        return evaluate(expr, values)

    match statement:
        case Let(name, expr):
            values[name] = value(expr)
        case Interval(first, last, base, coefficient, extent, count):
            inside = [d for d in range(value(count)) if 0 <= value(base) + value(coefficient) * d < value(extent)]
            values[first] = inside[0] if inside else 0
            values[last] = inside[-1] + 1 if inside else 0
            assert inside == list(range(values[first], values[last]))
        case Share(_, loops):
            values.update(share([(begin, end, value(extent)) for begin, end, extent in loops], values))
        case Loop(name, start, stop, body):
            for digit in range(value(start), value(stop)):
                yield from execute(body, values | {name: digit}, sources)
        case If(tested, extent, inside_, outside):
            yield from execute(inside_ if 0 <= value(tested) < value(extent) else outside, values, sources)
        case Copy(to, source, start, count) | Accumulate(to, source, start, count):
            for i in range(value(count)):
                yield value(to) + i, (sources[source], value(start) + i), isinstance(statement, Accumulate)
        case Fill(to, fill, count):
            for i in range(value(count)):
                yield value(to) + i, ("fill", fill), False
        case CopyRows(to, to_step, source, start, step, rows, count):
            for i in range(value(rows)):
                for j in range(value(count)):
                    at = value(to) + i * value(to_step) + j
                    yield at, (sources[source], value(start) + i * value(step) + j), False
        case CopyGrid(to, to_leap, to_step, source, start, leap, step, turns, rows):
            for t, i in itertools.product(range(value(turns)), range(value(rows))):
                at = value(to) + t * value(to_leap) + i * value(to_step)
                yield at, (sources[source], value(start) + t * value(leap) + i * value(step)), False
        case AccumulateRows(to, to_step, to_each, source, start, step, each, rows, columns):
            for i, j in itertools.product(range(value(rows)), range(value(columns))):
                at = value(to) + i * value(to_step) + j * value(to_each)
                yield at, (sources[source], value(start) + i * value(step) + j * value(each)), True
        case FillRows(to, to_step, fill, rows, count):
            for i in range(value(rows)):
                for j in range(value(count)):
                    yield value(to) + i * value(to_step) + j, ("fill", fill), False
        case Deal(to, to_stride, streams, columns, source, start, low, inside, fill, count, to_step, step):
            for c, i, j in itertools.product(range(value(count)), range(streams), range(value(columns))):
                at, k = value(to) + c * value(to_step) + i * value(to_stride) + j, i + streams * j
                read: Term = (sources[source], value(start) + c * value(step) + k)
                yield at, read if 0 <= k - value(low) < value(inside) else ("fill", fill), False
        case Transpose(to, rows, source, start, columns, count, to_step, step, high, to_leap, leap):
            for d, c in itertools.product(range(value(high)), range(value(count))):
                at = value(to) + c * value(to_step) + d * value(to_leap)
                offset = value(start) + c * value(step) + d * value(leap)
                for row, below in enumerate(places(rows, values)):
                    for column, beside in enumerate(places(columns, values)):
                        yield at + below + column, (sources[source], offset + beside + row), False


def places(axis: Axis, values: Mapping[str, int]) -> list[int]:
    """Return the offset of each index."""
    tops, highs, lows = (
        [step * k for k in range(count)]
        for count, step in (
            tuple(evaluate(e, values) for e in level)
            for level in ((axis.top, axis.jump), (axis.high, axis.leap), (axis.count, axis.step))
        )
    )
    return [t + h + low for t in tops for h in highs for low in lows]


def share(loops: list[tuple[str, str, int]], values: Mapping[str, int]) -> dict[str, int]:
    """Return the bounds of one part's loops: parts share a step where they are more than there are steps."""
    part, parts = values["part"], values["parts"]
    bounds: dict[str, int] = {}
    for begin, end, extent in loops:
        last = begin == loops[-1][0]
        groups = [[k] for k in range(parts)] if last or extent >= parts else batches(parts, parts // max(extent, 1))
        at = next(k for k, group in enumerate(groups) if part in group)
        each, more = divmod(extent, len(groups))
        bounds[begin] = each * at + min(at, more)
        bounds[end] = bounds[begin] + each + (at < more)
        part, parts = part - groups[at][0], len(groups[at])
    return bounds


def batches(count: int, size: int) -> list[list[int]]:
    return [list(range(at, min(count, at + size))) for at in range(0, count, size)]


def leaves(nest: Nest) -> list[str]:
    kinds = Copy | Accumulate | Fill | CopyRows | CopyGrid | AccumulateRows | FillRows | Transpose | Deal
    return [type(s).__name__ for s in walk(schedule(nest).body) if isinstance(s, kinds)]


# --- what is chosen ---------------------------------------------------------------------------


def test_contiguous_digits_become_one_copy() -> None:
    share, copy = schedule(nests.identity()).body
    assert isinstance(share, Share)
    assert isinstance(copy, Copy)
    ((begin, end, extent),) = share.loops
    assert copy.count == subtract(Name(end), Name(begin))
    assert evaluate(extent, {"N": 2, "C": 3, "H": 4, "W": 5}) == 120


def test_guards_become_loop_bounds_and_fill_runs() -> None:
    body = schedule(nests.pad()).body
    assert [type(s).__name__ for s in body if not isinstance(s, Let)] == ["Share", "Fill", "Loop", "Fill"]
    assert leaves(nests.pad()) == ["Fill", "Fill", "Copy", "Fill", "Fill"]


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
    assert leaves(adds) == ["Fill", *["AccumulateRows"] * 4]


def test_a_window_that_may_lie_outside_its_digit_stays_a_bound() -> None:
    (first, *_) = nests.slices().pieces
    piece = replace(first, windows=(Window(nests.affine(-1, (0, 1)), mul(4, nests.C)),))
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


@pytest.mark.parametrize(
    ("block", "before", "after", "run"), [(2, 0, 2, 3), (2, 1, 1, 3), (2, 3, 1, 3), (5, 5, 10, 1), (3, 3, 6, 2)]
)
@pytest.mark.parametrize("crop", [False, True])
def test_blocks_that_are_whole_need_no_bounds(block: int, before: int, after: int, run: int, *, crop: bool) -> None:
    """One statement does what lies inside; a guard's margins are runs of fill, each as long as it is."""
    nest = nests.deal_whole(block, before, after, run=run, crop=crop)
    assert not any(isinstance(s, Let) and re.match(r"(hi|lo)_last", s.name) for s in walk(schedule(nest).body))
    first = [max(0, -(-(before - lo) // block)) for lo in range(block)]
    margins = [] if crop else [w for f in first for w in (f, (before + after) // block - f) if w]
    chosen = leaves(nest)
    assert len([leaf for leaf in chosen if leaf.startswith("Fill")]) == len(margins)
    assert set(chosen) - {"Fill", "FillRows"} == {"Transpose" if run == 1 else "CopyRows"}
    same_for_small_sizes(nest)


def test_what_a_crop_turns_by_a_part_of_three_is_bounded() -> None:
    """Whole blocks are no box then: an inner part is, and the ends are cut."""
    nest = nests.deal_whole(3, 1, 2, crop=True)
    assert leaves(nest).count("CopyGrid") == 2
    same_for_small_sizes(nest)


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
    window = Window(nests.affine(-pad, (0, 1), (1, size)), Literal(extent))
    found = aligned(window, 0, 1, Literal(size), Literal(blocks), Facts())
    assert (found and found.first) == first
    if found is not None and first is not None:
        counted = {(w, b + first[w]) for w in range(size) for b in range(extent // size)}
        assert found.count == Literal(extent // size)
        assert counted == {(w, b) for w in range(size) for b in range(blocks) if 0 <= size * b + w - pad < extent}


def test_pieces_are_one_where_they_differ_in_where_they_begin_and_nothing_else() -> None:
    def piece(at: int, start: int, source: int = 0, extent: int = 3, step: int = 1) -> Piece:
        return Piece(nests.digits(i=extent), nests.affine(at, (0, 1)), source, nests.affine(start, (0, step)))

    first = piece(0, 0)
    assert len(stack([first, piece(3, 5)], set())) == 1
    assert len(stack([first, piece(3, 5), piece(6, 10)], set())) == 1
    for other in (piece(3, 5, source=1), piece(3, 5, extent=4), piece(3, 5, step=2)):
        assert stack([first, other], set()) == (first, other)
    for third in (piece(6, 11), piece(7, 10)):
        assert len(stack([first, piece(3, 5), third], set())) == 2


@pytest.mark.parametrize(("more", "written"), [(0, mul(2, Name("half"))), (2, mul(2, Name("half"))), (1, Name("n"))])
def test_a_number_is_written_as_twice_its_half_where_it_is_even(more: int, written: Expr) -> None:
    even = Precondition(FloorMod(add(Name("n"), more), Literal(2)), "==", "non_divisible", "")
    face = nests.affine(Name("n"), (0, 1))
    nest = replace(
        nests.halves(),
        prelude=(even, Local("half", FloorDiv(Name("n"), Literal(2)))),
        pieces=(Piece(nests.digits(i=3), face, 0, face),),
    )
    assert exact(nest).pieces[0].output.constant == written


def test_nothing_moves_out_of_a_branch_that_may_not_be_taken() -> None:
    """What is computed there may have no meaning elsewhere: an overflow would be an error of the kernel."""
    product = mul(Name("a"), Name("b"), Name("c"), Name("d"))
    copy = Copy(add(Name("i"), product), 0, Name("i"), ONE)
    steps, body = hoist((If(Name("a"), Name("b"), (copy,), ()),), {"a", "b", "c", "d", "i"})
    assert not steps
    assert isinstance(body[0], If)
    assert body[0].inside == (copy,)
    assert hoist((copy,), {"a", "b", "c", "d", "i"})[0]


def test_blocks_that_are_walked_backwards_are_not_counted_from_the_array() -> None:
    window = Window(nests.affine(-2, (0, -1), (1, 2)), Literal(8))
    assert aligned(window, 0, 1, Literal(2), Literal(6), Facts()) is None


@pytest.mark.parametrize(
    "nest", [nests.deal_whole(2, 1, 1), nests.deal_whole(2, 1, 1, run=3), nests.deal_whole(5, 5, 5)]
)
def test_a_piece_that_only_its_guard_fills_leaves_whole_blocks_alone(nest: Nest) -> None:
    frame = replace(nest, pieces=(replace(nest.pieces[0], source=None, offset=None),))
    assert not [leaf for leaf in leaves(frame) if not leaf.startswith("Fill")]
    same_for_small_sizes(frame)


def same_for_small_sizes(nest: Nest) -> None:
    program = schedule(nest)
    for values in ({"N": 2, "H": 2, "W": 3}, {"N": 1, "H": 1, "W": 1}, {"N": 1, "H": 3, "W": 0}):
        for parts in (1, 3):
            assert run(program, values, parts) == simulate(nest, values)


def test_a_number_known_to_be_even_is_twice_its_half() -> None:
    """So rows of it, each as long as two halves, follow each other."""
    face = nests.affine(0, (0, mul(2, Name("half"))), (1, 1))
    rows = Piece(nests.digits(row=3, i=Name("n")), face, 0, face)
    assert leaves(replace(nests.halves(), pieces=(rows,), output_size=mul(3, Name("n")))) == ["Copy"]


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
                    terms = expr.terms if isinstance(expr, Sum) else (expr,)
                    yield sum(not names(term) & inner and not isinstance(term, Literal) for term in terms)

    assert all(cost <= 3 for cost in costs(program.body, frozenset()))


@pytest.mark.parametrize("nest", [n for n in nests.ALL if n.name != "carried_guard"], ids=lambda nest: nest.name)
def test_only_a_guard_over_a_carried_digit_is_tested_in_a_loop(nest: Nest) -> None:
    assert not any(isinstance(s, If) for s in in_loops(nest))
    assert any(isinstance(s, If) for s in in_loops(nests.carried_guard()))


def in_loops(nest: Nest) -> list[Statement]:
    return [s for loop in walk(schedule(nest).body) if isinstance(loop, Loop) for s in walk(loop.body)]


def test_sums_keep_the_order_of_the_nest() -> None:
    """Though the output is contiguous in another digit, and whole blocks could be taken first."""
    assert leaves(nests.tile_adjoint()) == ["Fill", "AccumulateRows"]
    (sums,) = (s for s in walk(schedule(nests.tile_adjoint()).body) if isinstance(s, AccumulateRows))
    assert (sums.columns, sums.to_step, sums.to_each) == (nests.W, ZERO, ONE)
    loops = [s.name for s in walk(schedule(nests.block_sum()).body) if isinstance(s, Loop)]
    assert loops == ["row", "hi"]
    assert leaves(nests.block_sum()) == ["Fill", "Accumulate"]


def test_a_window_without_digits_is_tested_before_all_else() -> None:
    (part,) = schedule(nests.tile_adjoint()).body
    assert isinstance(part, If)
    fill, test = part.inside
    assert isinstance(fill, Fill)
    assert isinstance(test, If)
    piece = replace(nests.tile_adjoint().pieces[0], windows=(Window(nests.affine(), Literal(1)),))
    body = schedule(replace(nests.tile_adjoint(), pieces=(piece,))).body
    assert [s for s in walk(body) if isinstance(s, If)] == list(body)
    piece = replace(piece, windows=(Window(nests.affine(), Literal(0)),))
    assert leaves(replace(nests.tile_adjoint(), pieces=(piece,))) == ["Fill"]


def test_a_step_of_unknown_sign_gets_its_bounds_at_run_time() -> None:
    assert any(isinstance(s, Interval) for s in walk(schedule(nests.unknown_step()).body))
    assert not any(isinstance(s, Interval) for s in walk(schedule(nests.space_to_batch()).body))


def test_a_digit_of_extent_one_has_no_loop() -> None:
    piece = Piece(
        nests.digits(i=1, j=nests.W),
        nests.affine(0, (0, nests.W), (1, 1)),
        0,
        nests.affine(5, (0, 7), (1, -1)),
    )
    _, rows = schedule(nests.nest("one", "W", [piece], nests.W)).body
    assert isinstance(rows, CopyRows)
    assert (rows.to_step, rows.step, rows.count) == (ONE, Literal(-1), ONE)


def test_names_are_made_legal_and_unique() -> None:
    hostile = Piece(
        (Digit("for", Name("2;x")), Digit("for", Name('n"'))),
        Affine(Literal(0), ((0, Name('n"')), (1, Literal(1)))),
        0,
        Affine(Literal(0), ((0, Literal(1)), (1, Name("2;x")))),
    )
    names = ("2;x", 'n"', "dst")
    program = schedule(Nest("main", names, (), ("*/",), (None,), mul(Name("2;x"), Name('n"')), (hostile,)))
    assert program.nest.name == "main_"
    assert program.nest.parameters == ("v2_x", "n_", "dst_")
    assert program.nest.sources == ("v__",)


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
COEFFICIENTS = st.one_of(st.integers(-3, 4).map(Literal), st.sampled_from(PARAMETERS).map(Name))
EXTENTS = st.one_of(st.integers(0, 4).map(Literal), st.sampled_from(PARAMETERS).map(Name))


@st.composite
def affines(draw: st.DrawFn, digits: int) -> Affine:
    terms = draw(st.lists(st.tuples(st.integers(0, digits - 1), COEFFICIENTS), max_size=3)) if digits else []
    constant = draw(st.one_of(COEFFICIENTS, COEFFICIENTS.map(lambda c: add(c, mul(-1, Name("m"))))))
    return Affine(constant, tuple(terms))


@st.composite
def pieces(draw: st.DrawFn) -> Piece:
    """Draw a box whose output face is row-major in some order of the digits, the rest at random."""
    extents: list[Expr] = draw(st.lists(EXTENTS, max_size=4))
    count = len(extents)

    def row_major() -> Affine:
        terms = []
        stride: Expr = ONE
        for k in draw(st.permutations(range(count))):
            terms.append((k, stride))
            stride = mul(stride, extents[k])
        return Affine(Literal(0), tuple(terms))

    output = row_major()
    # A source face that is row-major too, in this or another order, meets the runs and the transposes.
    offset = draw(st.sampled_from((output, row_major(), draw(affines(count)))))
    carried = [
        Carried(f"c{i}", draw(affines(count + i)), Literal(draw(st.integers(1, 4))))
        for i in range(draw(st.sampled_from((0, 0, 0, 1, 2))))
    ]
    window = st.builds(Window, affines(count + len(carried)), EXTENTS)
    return Piece(
        tuple(Digit("ijkl"[k], extent) for k, extent in enumerate(extents)),
        output,
        0,
        offset,
        tuple(carried),
        tuple(draw(st.lists(window, max_size=2))),
        tuple(draw(st.lists(st.builds(Guard, window, st.integers(0, 2)), max_size=3))),
    )


@settings(max_examples=400, deadline=None)
@given(
    pieces(),
    st.lists(st.tuples(*(st.integers(1, 4) for _ in PARAMETERS)), min_size=1, max_size=3),
    st.integers(2, 9),
)
def test_schedule_of_a_random_nest(piece: Piece, samples: list[tuple[int, ...]], parts: int) -> None:
    positive = frozenset(map(Name, PARAMETERS))
    nest = Nest("random", PARAMETERS, (), ("x",), (None,), None, (piece,), fills=3, positive=positive)
    # Without the facts other bounds are chosen; the meaning is the same.
    programs = [schedule(nest), schedule(replace(nest, positive=frozenset()))]
    for sample in samples:
        values = dict(zip(PARAMETERS, sample, strict=True))
        expected = simulate(nest, values)
        for program in programs:
            assert run(program, values) == expected, values
            assert run(program, values, parts) == expected, values


@settings(max_examples=200, deadline=None)
@given(pieces(), st.tuples(*(st.integers(1, 4) for _ in PARAMETERS)))
def test_schedule_of_a_random_sum(piece: Piece, sample: tuple[int, ...]) -> None:
    """The terms of every element, in order; the faces are swapped so that several points write one element."""
    if piece.offset is None:
        return
    swapped = replace(piece, output=piece.offset, offset=piece.output, guards=())
    ground = Piece(nests.digits(z=801), nests.affine(-400, (0, 1)), None, None, fill=0)
    nest = nests.nest("sum", " ".join(PARAMETERS), [swapped], 1, fills=1, combine=Add("uint8"), background=ground)
    values = dict(zip(PARAMETERS, sample, strict=True))
    for parts in (1, 3):
        assert run(schedule(nest), values, parts) == simulate(nest, values)


def test_random_nests_reach_every_statement() -> None:
    """The strategy above would prove little if it never made, say, a guard that must be tested."""
    missing = {Let, Interval, Share, Loop, If, Copy, Fill, CopyRows, FillRows, Transpose}

    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    @given(pieces())
    def collect(piece: Piece) -> None:
        nest = Nest("random", PARAMETERS, (), ("x",), (None,), None, (piece,), fills=3)
        missing.difference_update(map(type, walk(schedule(nest).body)))

    collect()
    assert not missing


@given(
    st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.integers(-3, 3)), min_size=2, max_size=4),
    st.integers(0, 2),
    st.integers(0, 9),
    st.integers(1, 5),
)
def test_strips_of_short_runs(runs: list[tuple[int, bool, int]], start: int, stop: int, length: int) -> None:
    """Every run of every step, and no other, whether the strips come out even or not."""
    step = sum(count for count, _, _ in runs) + 1
    i, body, at = Name("i"), list[Statement](), 0
    for count, filled, leap in runs:
        to = add(mul(step, i), at)
        leaf = Fill(to, 0, Literal(count)) if filled else Copy(to, 0, add(mul(leap, i), 7 * at), Literal(count))
        body.append(leaf)
        at += count
    loop = Loop("i", Literal(start), Name("stop"), tuple(body))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strips, "STRIP", length)
        made = strips.strip((loop,), {"i", "stop"})
    assert any(isinstance(s, CopyRows | FillRows) for s in walk(made)) == (max(count for count, _, _ in runs) > 1)
    written = sorted(execute((loop,), {"stop": stop}, ("x",)))
    assert sorted(execute(made, {"stop": stop}, ("x",))) == written
