"""Write the loops of a nest, with its windows and guards as bounds of loops.

    for i < n where 0 <= i - p < m: f(i)           becomes    for p <= i < min(p + m, n): f(i)
    for i < n: f(i), or fill unless 0 <= i - p < m   becomes    for i < p: fill
                                                              for p <= i < p + m: f(i)
                                                              for p + m <= i < n: fill

So no inner loop tests.  A window bounds the loop of the last digit that it mentions.  Where its last two digits are
an axis cut in blocks, the whole blocks get loops of their own, without bounds.  A window that no loop can be bounded
by, such as one on a carried digit, is tested inside of the loops.

Guards keep their order: where a guard fails, the earlier guards that are still pending are tested in its fill region,
each with its own fill.

Assumes: the digits of a piece stand in the order of its loops (`order`).  Every name is a C identifier of its own
(`rename`).  A window without digits that fails makes the rest of its piece meaningless, so that it is tested first.
Guarantees: each point of each piece is one `CopyRun`, `AccumulateRun` or `FillRun` of one element, or one `Compute`
with its folds before it.  Points that add, and the terms of folds, stand in the order of the nest.  Offsets are sums of
products in which each digit is a factor at most once, as `queries.linear` needs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from symlayout_codegen.ir.formula import Formula, literal
from symlayout_codegen.ir.identifiers import identifier
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import AffineForm, Carried, Nest, NestLoad, NestPiece, NestWindow
from symlayout_codegen.ir.queries import (
    ONE,
    ZERO,
    SignFacts,
    equal,
    floor_div,
    is_polynomial,
    magnitude,
    maximum,
    minimum,
    names,
    negate,
    substitute,
    subtract,
)
from symlayout_codegen.ir.statements import (
    PART,
    AccumulateRun,
    Body,
    Compute,
    CopyRun,
    CutGrid,
    Deal,
    Entry,
    FillRun,
    FoldTerms,
    If,
    Interval,
    JoinGrid,
    Leaf,
    Let,
    LoadAt,
    Loop,
    PartRanges,
    StartFolds,
    Statement,
    mapped,
)
from symlayout_codegen.passes.pieces.dealt_rows import repeated, runs_of, streams_of
from symlayout_codegen.passes.pieces.joined_rows import GRID, joined_rows
from symlayout_codegen.passes.pieces.pending_windows import Enforcement, PendingGuard, PendingWindows, Target
from symlayout_codegen.passes.pieces.whole_blocks import WholeBlocks, whole_blocks

MOST_UNROLLED = 16
"""Folds of at most this many terms are written term by term: the compiler then makes vectors of the loop around."""


STRIP = 1 << 15
"""A strip of a loop reads at most so many elements of the source, but for one step: a near cache has them."""


def bound_loops(
    nest: Nest,
    parts: tuple[PartRanges | None, ...] | None,
    facts: SignFacts,
    taken: set[str],
    strips: Sequence[range] = (),
) -> Body:
    """Return the loops of *nest*.

    Parameters
    ----------
    parts : the ranges of a part in each box of the nest, as `split_among_threads` returns them.
    facts : signs that hold wherever the preconditions do.
    taken : the names in use; the names of new locals are added.
    strips : the digits of each box that run in strips, as `deal_in_strips` returns them.
    """
    body: list[Statement] = []
    for k, piece in enumerate(nest.boxes):
        part = parts[k] if parts is not None else None
        deals = not nest.halves and not nest.types
        sizes = nest.source_sizes if deals else None
        writer = _LoopWriter(piece, facts, taken, adds=nest.adds(piece), sizes=sizes, constants=_fills(nest))
        loops = writer.loops(part, strips[k] if strips else range(0))
        body += _by_part_0(loops) if parts is not None and part is None else loops
    return _by_part_0(tuple(body)) if parts is None else tuple(body)


def _by_part_0(body: Body) -> Body:
    """Return *body* for part 0 alone."""
    return (If(PART, ONE, body, ()),) if body else ()


def _fills(nest: Nest) -> tuple[Formula, ...]:
    """Return the fills of a nest that computes as formulas."""
    return tuple(literal(nest.types[-1], bits) for bits in nest.fill_bits)


class _LoopWriter:
    """Writes the loops of one piece.  Depth ``i`` is inside of the loops of the first ``i`` digits."""

    def __init__(
        self,
        piece: NestPiece,
        facts: SignFacts,
        taken: set[str],
        *,
        adds: bool,
        sizes: tuple[Expr | None, ...] | None,
        constants: tuple[Formula, ...],
    ) -> None:
        self.piece, self.taken, self.adds = piece, taken, adds
        self.sizes = sizes  # the elements of each source, where rows may be dealt out
        self.constants = constants
        self.names = [digit.name for digit in piece.digits] + [carried.name for carried in piece.carried]
        self.facts = facts.and_nonnegative(NamedInt(digit.name) for digit in piece.digits)
        self.ends: dict[str, Expr] = {}  # what stands for each bound that is computed
        self.inmost = piece.written
        self.known = {k: k + 1 for k in range(self.inmost)}  # the depth from which on each digit has a value
        for k, carried in enumerate(piece.carried, self.inmost):
            self.known[k] = self.ready(carried.value)

    def loops(self, part: PartRanges | None, strips: range = range(0)) -> Body:
        """Return the loops of the piece over the ranges of *part*, after the statement that computes these.

        Outside of them are loops over the *strips* of some digits.
        """
        ranges = part.ranges if part else {}
        around = {k: self.strip(k, *ranges.get(k, (ZERO, self.piece.digits[k].extent))) for k in strips}
        ranges = ranges | {k: ends for k, (ends, _, _) in around.items()}
        self.facts = self.facts.and_nonnegative(name for ends in ranges.values() for name in ends)
        windows = tuple(self.enforced(window) for window in self.piece.windows if window.value.coefficients())
        guards = tuple(PendingGuard(self.enforced(guard.window), guard.fill) for guard in self.piece.guards)
        target = Target(self.piece.source, self.piece.fill, self.piece.formula is not None)
        state = PendingWindows(windows, (), target, ranges).to(target, guards)
        body = self.enter(0, state)
        for k in reversed(strips):
            _, size, loop = around[k]
            body = (size, replace(loop, body=(*loop.body, *body)))
        body = (*((part.share,) if part else ()), *body)
        for window in self.piece.windows:
            if not window.value.coefficients():  # tested before bounds are computed, which may rely on it
                body = _only_if(window.value.constant, window.extent, body)
        return body

    def strip(self, digit: int, begin: Expr, end: Expr) -> tuple[tuple[Expr, Expr], Let, Loop]:
        """Return the ends of a strip of *digit*, its steps, and the loop over the strips from *begin* to *end*."""
        name = self.names[digit]
        number, size, first, last = (
            identifier(f"{name}_{what}", self.taken) for what in ("strip", "size", "from", "to")
        )
        offset = self.piece.offset
        step = offset.coefficients().get(digit, ONE) if offset is not None else ONE
        steps = Let(size, maximum(floor_div(IntLiteral(STRIP), maximum(step, ONE)), ONE))
        inside = (
            Let(first, add(mul(NamedInt(size), NamedInt(number)), begin)),
            Let(last, minimum(add(NamedInt(first), NamedInt(size)), end)),
        )
        count = _ceil_div(subtract(end, begin), NamedInt(size))
        comment = self.piece.digits[digit].comment
        return (NamedInt(first), NamedInt(last)), steps, Loop(number, ZERO, count, inside, f"strips: {comment}")

    def ready(self, form: AffineForm, without: int | None = None) -> int:
        """Return the depth from which on *form* has a value, the digit *without* left out."""
        return max((self.known[k] for k in form.coefficients() if k != without), default=0)

    def value(self, form: AffineForm, without: int | None = None) -> Expr:
        """Return *form* as an expression, the digit *without* left out."""
        terms = [
            mul(coefficient, NamedInt(self.names[k])) for k, coefficient in form.coefficients().items() if k != without
        ]
        return add(*terms, form.constant)

    def enforced(self, window: NestWindow) -> Enforcement:
        """Return how *window* is enforced: by bounds if the last of its digits to get a value is a loop's own."""
        form = window.value
        last = max(form.coefficients(), key=lambda k: (self.known[k], k), default=None)
        ready = self.ready(form, without=last)
        if last is None or last >= self.inmost:
            return Enforcement(window, self.ready(form), self.ready(form))
        name = self.names[last]
        first, end = identifier(f"{name}_first", self.taken), identifier(f"{name}_last", self.taken)
        return Enforcement(window, last, ready, first, end, self.whole(window, last))

    def whole(self, window: NestWindow, last: int) -> Enforcement | None:
        """Return the bounds between which *window* holds for all values of the smaller of its last two digits.

        With ``value = base + step*block + small*within`` and ``0 <= within < size`` these are the bounds of
        ``0 <= base + step*block < extent - small*(size - 1)``.  Return None where the two digits are no axis cut in
        blocks, where their loops are not the inner two, and where the order of the points matters.
        """
        if self.adds or self.piece.formula is not None:
            return None
        steps = window.value.coefficients()
        if last < max(1, self.inmost - 2) or last - 1 not in steps:
            return None
        within, block = sorted((last, last - 1), key=lambda k: magnitude(steps[k]))
        size = self.piece.digits[within].extent
        if not self.facts.is_positive(steps[within]) or not equal(mul(size, steps[within]), steps[block]):
            return None
        rest = AffineForm(window.value.constant, tuple((k, c) for k, c in steps.items() if k != within))
        extent = subtract(window.extent, mul(steps[within], subtract(size, ONE)))
        whole = self.enforced(NestWindow(rest, extent))
        return None if whole.tested or whole.ready >= last else whole

    def enter(self, depth: int, state: PendingWindows) -> Body:
        """Return the statements inside of the loops up to *depth*."""
        lets: list[Statement] = [
            self.carried(carried) for k, carried in enumerate(self.piece.carried, self.inmost) if self.known[k] == depth
        ]
        for enforced in state.enforced:
            for each in (enforced, enforced.whole):
                if each is not None and each.ready == depth and not each.tested:
                    lets += self.interval(each)
        body = self.decide(depth, state)
        for enforced in state.windows:
            if enforced.depth == depth and enforced.tested:
                body = (If(self.value(enforced.window.value), enforced.window.extent, body, ()),)
        return (*lets, *body)

    def carried(self, carried: Carried) -> Let | Entry:
        """Return the local that is a carried digit.  Where its place in a table may be outside, it is moved inside."""
        value = self.value(carried.value)
        if not carried.table:
            return Let(carried.name, floor_div(value, carried.divisor))
        last = len(carried.table) - 1
        low, high = self.ends_of(carried.value)
        if low is None or low < 0:
            value = maximum(value, ZERO)
        if high is None or high > last:
            value = minimum(value, IntLiteral(last))
        return Entry(carried.name, carried.table, value)

    def ends_of(self, form: AffineForm) -> tuple[int | None, int | None]:
        """Return bounds of *form* over all values of the digits; None where sizes decide them."""
        if not isinstance(form.constant, IntLiteral):
            return None, None
        low = high = form.constant.value
        for k, step in form.coefficients().items():
            extent = self.piece.digits[k].extent if k < len(self.piece.digits) else None
            if not isinstance(step, IntLiteral) or not isinstance(extent, IntLiteral):
                return None, None
            reach = step.value * max(extent.value - 1, 0)
            low, high = low + min(reach, 0), high + max(reach, 0)
        return low, high

    def decide(self, depth: int, state: PendingWindows) -> Body:
        """Return the tests of the guards that only a test decides at *depth*, around the next loop."""
        guards = state.guards
        if not guards and state.target.is_nothing:
            return ()
        tested = next((g for g in guards if g.enforced.tested and g.enforced.depth == depth), None)
        if tested is not None:
            at = guards.index(tested)
            window = tested.enforced.window
            inside = self.decide(depth, state.to(state.target, guards[:at] + guards[at + 1 :]))
            outside = self.decide(depth, state.to(Target(None, tested.fill), guards[:at]))
            return (If(self.value(window.value), window.extent, inside, outside),)
        if depth == self.inmost:
            return self.computed() if state.target.computes else (self.leaf(state.target),)
        if (joined := self.joined(depth, state)) is not None:
            return joined
        blocks = [each for each in state.enforced if each.whole is not None and each.depth == depth + 1]
        if blocks:
            if (deal := self.dealt(depth, state)) is not None:
                return (deal,)
            whole = self.whole_blocks(depth, state)
            return self.peel(depth, state, blocks) if whole is None else self.beside(whole, depth, state)
        start, stop = self.range_of(depth, state)
        lets: list[Statement] = []
        for enforced in state.windows:
            if enforced.bounds(depth):
                start, stop = self.narrow(enforced, start, stop, lets)
        return (*lets, *self.segments(depth, start, stop, state))

    def range_of(self, digit: int, state: PendingWindows) -> tuple[Expr, Expr]:
        """Return the range of *digit* in *state*."""
        return state.ranges.get(digit, (ZERO, self.piece.digits[digit].extent))

    def dealt(self, depth: int, state: PendingWindows) -> Deal | CutGrid | None:
        """Return the last loops as one statement, where they deal a padded row out to a few streams, or are a grid."""
        offset, digits, source = self.piece.offset, range(depth, self.inmost), state.target.source
        left = [each for each in state.enforced if each.depth >= depth]
        if not self.sizes or source is None or offset is None or set(digits) & state.ranges.keys():
            return None
        if len(left) != 1 or len(digits) not in (2, 3) or [g.enforced for g in state.guards] not in ([], left):
            return None
        window = left[0].window
        if len(digits) == 3:
            return self.cut(depth, offset, window, source, state.guards[0].fill if state.guards else None)
        if not state.guards:
            return None
        streams = streams_of(self.piece, offset, window, digits)
        faces = tuple(form.without(digits) for form in (self.piece.output, offset, window.value))
        if streams is None or any(self.ready(form) > depth for form in faces):
            return None
        size = self.sizes[source] or ZERO
        return streams.deal(window, list(map(self.value, faces)), source, size, state.guards[0].fill)

    def cut(self, depth: int, offset: AffineForm, window: NestWindow, source: int, fill: int | None) -> CutGrid | None:
        """Return the last three loops as one statement, where they are a grid of runs that *window* cuts."""
        digits = range(depth, self.inmost)
        runs = runs_of(self.piece, offset, window, digits)
        faces = tuple(form.without(digits) for form in (self.piece.output, offset, window.value))
        if runs is None or any(self.ready(form) > depth for form in faces):
            return None
        return runs.grid(self.piece, window, list(map(self.value, faces)), source, fill)

    def rows_dealt(
        self, depth: int, inside: PendingWindows, outside: Target, ends: tuple[Expr, Expr, Expr, Expr]
    ) -> Deal | CutGrid | None:
        """Return the loops from *depth* on as one statement, where each step of the first deals out one row.

        Parameters
        ----------
        inside : the state of the rows that are dealt out.
        outside : what the rows before and after these write.
        ends : where the rows begin, where those inside do, where these end, and where all rows end.
        """
        deal = self.one_deal(depth + 1, inside)
        return None if deal is None or deal.fill != outside.fill else repeated(deal, self.names[depth], ends)

    def one_deal(self, depth: int, state: PendingWindows) -> Deal | CutGrid | None:
        """Return the loops from *depth* on as one statement, inside of which no local is computed."""
        if depth >= self.inmost or any(self.known[k] == depth for k in range(self.inmost, len(self.names))):
            return None
        if (deal := self.dealt(depth, state)) is not None:
            return deal
        guards = [guard for guard in state.guards if guard.enforced.bounds(depth)]
        if len(guards) != 1 or guards[0].enforced.ready >= depth or depth in state.ranges:
            return None
        if any(each.bounds(depth) or each.ready == depth for each in state.enforced if each != guards[0].enforced):
            return None
        at = state.guards.index(guards[0])
        end = self.piece.digits[depth].extent
        first, last = self.narrow(guards[0].enforced, ZERO, end, [])
        outside = state.to(Target(None, guards[0].fill), state.guards[:at])
        inside = state.to(state.target, (*state.guards[:at], *state.guards[at + 1 :]))
        return None if outside.guards else self.rows_dealt(depth, inside, outside.target, (ZERO, first, last, end))

    def joined(self, depth: int, state: PendingWindows) -> Body | None:
        """Return the last loops as one statement, where they join a few streams to the rows of a grid."""
        source, offset = state.target.source, self.piece.offset
        if depth != self.inmost - GRID or not self.sizes or source is None or offset is None or self.adds:
            return None
        grid, size = joined_rows(self.piece), self.sizes[source]
        if grid is None or size is None or (grid.digits - {grid.block}) & state.ranges.keys():
            return None
        all_rows, all_columns = (
            mul(number, self.piece.digits[k].extent)
            for number, k in ((grid.turns, grid.block), (IntLiteral(grid.streams), grid.along))
        )
        beside = (grid.first, grid.low, subtract(all_rows, add(grid.first, grid.rows)))
        if not all(map(self.facts.is_nonnegative, (*beside, subtract(all_columns, add(grid.low, grid.columns))))):
            return None
        lets: list[Statement] = []
        first, rows = grid.first, grid.rows
        if grid.block in state.ranges:
            begin, end = (mul(grid.turns, at) for at in state.ranges[grid.block])
            if (first, rows) != (ZERO, all_rows):
                end = self.local(identifier("row_end", self.taken), self.facts.minimum(add(first, rows), end), lets)
                begin = self.local(identifier("row", self.taken), self.facts.maximum(first, begin), lets)
            first, rows = begin, subtract(end, begin)
        to, start = (self.value(form.without(grid.digits)) for form in (self.piece.output, offset))
        return (*lets, grid.join(offset, source, size, (to, start), (first, rows)))

    def whole_blocks(self, depth: int, state: PendingWindows) -> WholeBlocks | None:
        """Return the whole blocks of the next two digits, if one window or guard is all that is left to enforce."""
        digits = range(depth, depth + 2)
        left = [each for each in state.enforced if each.depth >= depth]
        if len(left) != 1 or set(digits) & state.ranges.keys():
            return None
        window = left[0].window
        steps = window.value.coefficients()
        within, block = sorted(digits, key=lambda k: magnitude(steps.get(k, ZERO)))
        size, blocks = self.piece.digits[within].extent, self.piece.digits[block].extent
        return whole_blocks(window, within, block, size, blocks, self.facts)

    def beside(self, whole: WholeBlocks, depth: int, state: PendingWindows) -> Body:
        """Return the loops over the whole blocks, and over the margins beside them where a guard fills these."""
        inside = () if state.target.is_nothing else (self.leaf(state.target, whole),)
        body = self.around(depth, inside, {whole.block: (ZERO, whole.count)})
        margins: list[Statement] = []
        block = self.piece.digits[whole.block].extent
        for guard in state.guards:
            for w, first in enumerate(whole.first):
                fill = self.leaf(Target(None, guard.fill))
                at = substitute(fill.to, {self.names[whole.within]: IntLiteral(w)})
                for start, stop in ((ZERO, IntLiteral(first)), (add(whole.count, first), block)):
                    if not equal(start, stop):
                        ranges = {whole.block: (start, stop)}
                        margins += self.around(depth, (replace(fill, to=at),), ranges, without=whole.within)
        return (*margins, *body)

    def around(self, depth: int, body: Body, ranges: Mapping[int, tuple[Expr, Expr]], without: int = -1) -> Body:
        """Return the loops from *depth* on around *body*, over *ranges* where given, *without* one digit's."""
        for k in reversed(range(depth, self.inmost)):
            digit = self.piece.digits[k]
            if k != without:
                body = (Loop(digit.name, *ranges.get(k, (ZERO, digit.extent)), body, digit.comment),)
        return body

    def filled(self, depth: int, state: PendingWindows) -> Body:
        """Return the loops from *depth* on where each point is fill, in memory order of the output."""
        writes = self.piece.output.coefficients()
        if any(k >= self.inmost for k in writes):
            return self.around(depth, (self.leaf(state.target),), state.ranges)
        outwards = sorted(range(depth, self.inmost), key=lambda k: magnitude(writes.get(k, ZERO)))
        body: Body = (self.leaf(state.target),)
        for k in outwards:
            digit = self.piece.digits[k]
            body = (Loop(digit.name, *self.range_of(k, state), body, digit.comment),)
        return body

    def peel(self, depth: int, state: PendingWindows, blocks: Sequence[Enforcement]) -> Body:
        """Return the next two loops three times: before, in and after the whole blocks, which no bound cuts."""
        lets: list[Statement] = []
        digit = max(each.whole.depth for each in blocks if each.whole)
        start, stop = self.range_of(digit, state)
        first, last = start, stop
        peeled = []
        for enforced in blocks:
            if enforced.whole and enforced.whole.depth == digit:
                first, last = self.narrow(enforced.whole, first, last, lets)
                peeled.append(enforced)
        cut, inside = state.cutting(peeled), state.without(peeled)
        return (
            *lets,
            *self.decide(depth, cut.over(digit, start, first)),
            *self.decide(depth, inside.over(digit, first, last)),
            *self.decide(depth, cut.over(digit, last, stop)),
        )

    def segments(self, depth: int, start: Expr, stop: Expr, state: PendingWindows) -> Body:
        """Return the loop at *depth* over ``[start, stop)``, split where a guard's bounds end."""
        if equal(start, stop):
            return ()
        guards = state.guards
        at = next((i for i, guard in enumerate(guards) if guard.enforced.bounds(depth)), None)
        if at is None:
            if state.target.fill is not None and all(each.depth <= depth for each in state.enforced):
                return self.filled(depth, state.over(depth, start, stop))
            digit = self.piece.digits[depth]
            body = self.enter(depth + 1, state)
            # What is computed before such a statement is no part of the loop if it is the same in all turns.
            fixed = body[:-1] if body and isinstance(body[-1], Deal | JoinGrid) else ()
            if not all(isinstance(each, Let) and digit.name not in names(each.value) for each in fixed):
                fixed = ()
            return (*fixed, Loop(digit.name, start, stop, body[len(fixed) :], digit.comment))
        # Consecutive guards of the same fill are decided together: their order does not matter.
        end = next((i for i in range(at, len(guards)) if guards[i].fill != guards[at].fill), len(guards))
        decided = [g for g in guards[at:end] if g.enforced.bounds(depth)]
        first, last = start, stop
        lets: list[Statement] = []
        for guard in decided:
            first, last = self.narrow(guard.enforced, first, last, lets)
        outside = state.to(Target(None, guards[at].fill), guards[:at])
        inside = state.to(state.target, tuple(g for g in guards if g not in decided))
        if not outside.guards and (deal := self.rows_dealt(depth, inside, outside.target, (start, first, last, stop))):
            return (*lets, deal)
        return (
            *lets,
            *self.segments(depth, start, first, outside),
            *self.segments(depth, first, last, inside),
            *self.segments(depth, last, stop, outside),
        )

    def computed(self) -> Body:
        """Return the statements of one point that computes: its folds over the reduced digits, and then its value."""
        formula = self.piece.formula
        assert formula is not None
        to = self.value(self.piece.output)
        value = self.loads(formula.needed((len(formula.steps) - 1,)), formula)
        if not formula.folds:
            return (Compute(to, "", formula, value),)
        name = identifier("fold", self.taken)
        terms: Body = (FoldTerms(name, formula, self.loads(formula.terms, formula)),)
        digits = self.piece.digits[self.inmost :]
        extents = [digit.extent for digit in digits]
        if prod(e.value if isinstance(e, IntLiteral) else MOST_UNROLLED + 1 for e in extents) <= MOST_UNROLLED:
            for digit in reversed(digits):
                assert isinstance(digit.extent, IntLiteral)
                steps = [{digit.name: IntLiteral(k)} for k in range(digit.extent.value)]
                terms = tuple(mapped(term, partial(substitute, values=at)) for at in steps for term in terms)
        else:
            for digit in reversed(digits):
                terms = (Loop(digit.name, ZERO, digit.extent, terms, digit.comment),)
        return (StartFolds(name, formula), *terms, Compute(to, name, formula, value))

    def loads(self, steps: list[int], formula: Formula) -> tuple[LoadAt, ...]:
        """Return the loads of the piece, those that *steps* need with their offsets."""
        needed = set(formula.loads(steps))
        return tuple(self.load(a) if k in needed else LoadAt(a.source, ZERO) for k, a in enumerate(self.piece.loads))

    def load(self, load: NestLoad) -> LoadAt:
        """Return *load* as expressions in the digits."""
        guards = ((self.value(g.window.value), g.window.extent, g.fill) for g in load.guards)
        return LoadAt(load.source, self.value(load.offset), tuple(guards))

    def leaf(self, target: Target, whole: WholeBlocks | None = None) -> Leaf | Compute:
        """Return the statement of one point, in the digits of the *whole* blocks if they are given."""
        faces = (self.piece.output, self.piece.offset or self.piece.output)
        to, start = (self.value(whole.turned(face) if whole else face) for face in faces)
        if target.source is not None and self.piece.offset is not None:
            kind = AccumulateRun if self.adds else CopyRun
            return kind(to, target.source, start, ONE)
        if self.constants:
            return Compute(to, "", self.constants[target.fill or 0], ())
        return FillRun(to, target.fill or 0, ONE)

    def narrow(self, enforced: Enforcement, start: Expr, stop: Expr, lets: list[Statement]) -> tuple[Expr, Expr]:
        """Return ``[start, stop)`` cut to the bounds: never reversed, with both ends inside ``[start, stop]``."""
        digit = self.piece.digits[enforced.depth]
        first, last = self.ends[enforced.first], self.ends[enforced.last]
        if start == ZERO and stop == digit.extent:
            return first, last
        first = self.local(identifier(enforced.first, self.taken), self.clamp(first, start, stop), lets)
        last = self.local(identifier(enforced.last, self.taken), self.clamp(last, first, stop), lets)
        return first, last

    def local(self, name: str, value: Expr, lets: list[Statement]) -> Expr:
        """Return what stands for *value*: itself if it is a polynomial, else a new local."""
        if is_polynomial(value):
            return value
        lets.append(Let(name, value))
        return NamedInt(name)

    def clamp(self, value: Expr, low: Expr, high: Expr) -> Expr:
        """Return *value* brought into ``[low, high]``; *high* where that is empty."""
        return self.facts.minimum(self.facts.maximum(value, low), high)

    def interval(self, enforced: Enforcement) -> list[Statement]:
        """Return the locals of the bounds: ``first <= last``, both within ``[0, extent of the digit]``.

        With ``value = base + step*d`` and a positive step they are ``d >= ceil(-base/step)`` and
        ``d < ceil((extent - base)/step)``.  For a negative step the two ends change places.
        """
        digit = enforced.depth
        count = self.piece.digits[digit].extent
        step = enforced.window.value.coefficients()[digit]
        base, extent = self.value(enforced.window.value, without=digit), enforced.window.extent
        self.facts = self.facts.and_nonnegative((NamedInt(enforced.first), NamedInt(enforced.last)))
        if self.facts.is_positive(step):
            begin = _ceil_div(negate(base), step)
            end = _ceil_div(subtract(extent, base), step)
        elif self.facts.is_positive(negate(step)):
            begin = add(floor_div(subtract(base, extent), negate(step)), 1)
            end = add(floor_div(base, negate(step)), 1)
        else:
            self.ends |= {enforced.first: NamedInt(enforced.first), enforced.last: NamedInt(enforced.last)}
            return [Interval(enforced.first, enforced.last, base, step, extent, count)]
        lets: list[Statement] = []
        first = self.local(enforced.first, self.clamp(begin, ZERO, count), lets)
        last = self.local(enforced.last, self.clamp(end, first, count), lets)
        self.ends |= {enforced.first: first, enforced.last: last}
        return lets


def _only_if(value: Expr, extent: Expr, body: Body) -> Body:
    """Return *body* where ``0 <= value < extent``, and nothing elsewhere."""
    match value, extent:
        case IntLiteral(at), IntLiteral(end):
            return body if 0 <= at < end else ()
        case _:
            return (If(value, extent, body, ()),)


def _ceil_div(numerator: Expr, denominator: Expr) -> Expr:
    """Return ``ceil(numerator / denominator)`` for a positive denominator."""
    return floor_div(add(numerator, denominator, -1), denominator)
