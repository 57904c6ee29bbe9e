"""Write the loops of a piece, its windows and guards as the loops' bounds.

Each window and each guard becomes the bounds of the loop of the last digit it mentions; outside a
guard's bounds lie the fill loops, so that no inner loop tests.  Where the last two digits are an axis
cut in blocks, the blocks that are whole are a box of their own.

What cannot be bounded (a guard over a carried digit) is tested in the loop: slower, never wrong.
Guards keep their order: where an outer guard fails, the earlier guards still pending are kept
in its fill region, each with its own fill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, Literal, Name, add, mul
from symlayout_codegen.ir.nest import Affine, Piece, Window
from symlayout_codegen.ir.queries import (
    ONE,
    ZERO,
    Facts,
    equal,
    floor_div,
    is_polynomial,
    magnitude,
    negate,
    substitute,
    subtract,
)
from symlayout_codegen.ir.statements import (
    MOST_STREAMS,
    Accumulate,
    Body,
    Copy,
    Deal,
    Fill,
    If,
    Interval,
    Leaf,
    Let,
    Loop,
    Statement,
)
from symlayout_codegen.passes.align import Aligned, aligned
from symlayout_codegen.passes.bounding_state import Bound, Open, Pending, Target
from symlayout_codegen.passes.rename import identifier


class Bounder:
    """Writes the loops of one piece.  Depth ``i`` is inside the loops of ``order[:i]``."""

    def __init__(
        self,
        piece: Piece,
        order: tuple[int, ...],
        facts: Facts,
        taken: set[str],
        *,
        adds: bool = False,
        deals: bool = True,
    ) -> None:
        self.piece, self.order, self.taken, self.adds, self.deals = piece, order, taken, adds, deals
        self.names = [digit.name for digit in piece.digits] + [carried.name for carried in piece.carried]
        self.facts = facts.and_nonnegative(Name(digit.name) for digit in piece.digits)
        self.ends: dict[str, Expr] = {}
        self.known = {digit: depth + 1 for depth, digit in enumerate(order)}
        for k, carried in enumerate(piece.carried, len(order)):
            self.known[k] = self.ready(carried.value)

    def body(self, before: Body, ranges: Mapping[int, tuple[Expr, Expr]]) -> Body:
        """Return *before* and the loops of the piece, whose digits run over *ranges* where these have them."""
        self.facts = self.facts.and_nonnegative(name for ends in ranges.values() for name in ends)
        windows = tuple(self.bound(window) for window in self.piece.windows if window.value.coefficients())
        guards = tuple(Pending(self.bound(guard.window), guard.fill) for guard in self.piece.guards)
        target = Target(self.piece.source, self.piece.fill)
        body = (*before, *self.enter(0, Open(windows, (), target, ranges).to(target, guards)))
        for window in self.piece.windows:
            if not window.value.coefficients():  # tested before bounds are computed, which may rely on it
                body = _only_if(window.value.constant, window.extent, body)
        return body

    def ready(self, affine: Affine, without: int | None = None) -> int:
        """Return the depth from which on *affine* can be computed, its digit *without* left out."""
        return max((self.known[k] for k in affine.coefficients() if k != without), default=0)

    def value(self, affine: Affine, without: int | None = None) -> Expr:
        """Return *affine* as an expression, its digit *without* left out."""
        terms = [
            mul(coefficient, Name(self.names[k])) for k, coefficient in affine.coefficients().items() if k != without
        ]
        return add(*terms, affine.constant)

    def bound(self, window: Window) -> Bound:
        """Return how *window* is kept: bounds where its last digit in loop order is a loop's own."""
        affine = window.value
        last = max(affine.coefficients(), key=lambda k: (self.known[k], k), default=None)
        ready = self.ready(affine, without=last)
        if last is None or last >= len(self.order) or ready >= self.known[last]:
            return Bound(window, self.ready(affine), self.ready(affine))
        name = self.names[last]
        first, end = identifier(f"{name}_first", self.taken), identifier(f"{name}_last", self.taken)
        return Bound(window, self.known[last] - 1, ready, first, end, self.whole(window, last))

    def whole(self, window: Window, last: int) -> Bound | None:
        """Return the bounds between which *window* holds whatever the smaller of its last two digits is.

        With ``value = base + step*block + small*within`` and ``0 <= within < size`` that is
        ``0 <= base + step*block < extent - small*(size - 1)``.  None where nothing is gained:
        the digits are no axis cut in blocks, or theirs are not the inner loops; or the order matters.
        """
        if self.adds:
            return None
        depth = self.known[last] - 1
        steps = window.value.coefficients()
        if depth < max(1, len(self.order) - 2) or self.order[depth - 1] not in steps:
            return None
        within, block = sorted((last, self.order[depth - 1]), key=lambda k: magnitude(steps[k]))
        size = self.piece.digits[within].extent
        if not self.facts.is_positive(steps[within]) or not equal(mul(size, steps[within]), steps[block]):
            return None
        rest = Affine(window.value.constant, tuple((k, c) for k, c in steps.items() if k != within))
        extent = subtract(window.extent, mul(steps[within], subtract(size, ONE)))
        bound = self.bound(Window(rest, extent))
        return None if bound.tested or bound.ready >= depth else bound

    def enter(self, depth: int, state: Open) -> Body:
        """Return what stands inside the loops of ``order[:depth]``."""
        lets: list[Statement] = [
            Let(carried.name, floor_div(self.value(carried.value), carried.divisor))
            for k, carried in enumerate(self.piece.carried, len(self.order))
            if self.known[k] == depth
        ]
        for bound in state.bounds:
            for each in (bound, bound.whole):
                if each is not None and each.ready == depth and not each.tested:
                    lets += self.interval(each)
        body = self.decide(depth, state)
        for bound in state.windows:
            if bound.depth == depth and bound.tested:
                body = (If(self.value(bound.window.value), bound.window.extent, body, ()),)
        return (*lets, *body)

    def decide(self, depth: int, state: Open) -> Body:
        """Test the guards that only a test can decide here, then open the next loop."""
        guards = state.guards
        if not guards and state.target.is_nothing:
            return ()
        tested = next((g for g in guards if g.bound.tested and g.bound.depth == depth), None)
        if tested is not None:
            at = guards.index(tested)
            window = tested.bound.window
            inside = self.decide(depth, state.to(state.target, guards[:at] + guards[at + 1 :]))
            outside = self.decide(depth, state.to(Target(None, tested.fill), guards[:at]))
            return (If(self.value(window.value), window.extent, inside, outside),)
        if depth == len(self.order):
            return (self.leaf(state.target),)
        blocks = [bound for bound in state.bounds if bound.whole is not None and bound.depth == depth + 1]
        if blocks:
            if (deal := self.dealt(depth, state)) is not None:
                return (deal,)
            whole = self.aligned(depth, state)
            return self.peel(depth, state, blocks) if whole is None else self.beside(whole, depth, state)
        start, stop = state.ranges.get(self.order[depth], (ZERO, self.piece.digits[self.order[depth]].extent))
        lets: list[Statement] = []
        for bound in state.windows:
            if bound.bounds(depth):
                start, stop = self.narrow(bound, start, stop, lets)
        return (*lets, *self.segments(depth, start, stop, state))

    def dealt(self, depth: int, state: Open) -> Deal | None:
        """Return the last two loops as one statement, where they deal a padded row out to a few streams."""
        offset, digits, source = self.piece.offset, self.order[depth:], state.target.source
        left = [bound for bound in state.bounds if bound.depth >= depth]
        if not self.deals or source is None or offset is None or len(digits) != 2 or set(digits) & state.ranges.keys():
            return None
        if len(state.guards) != 1 or left != [state.guards[0].bound]:
            return None
        window, reads, writes = left[0].window, offset.coefficients(), self.piece.output.coefficients()
        within, block = sorted(digits, key=lambda k: magnitude(reads.get(k, ZERO)))
        match self.piece.digits[within].extent:
            case Literal(streams) if 2 <= streams <= MOST_STREAMS:
                pass
            case _:
                return None
        faces = (window.value.coefficients(), reads)
        if writes.get(block) != ONE or any((f.get(within), f.get(block)) != (ONE, Literal(streams)) for f in faces):
            return None
        to, start, low = (_without(affine, digits) for affine in (self.piece.output, offset, window.value))
        return Deal(
            self.value(to),
            writes.get(within, ZERO),
            streams,
            self.piece.digits[block].extent,
            source,
            self.value(start),
            negate(self.value(low)),
            window.extent,
            state.guards[0].fill,
        )

    def aligned(self, depth: int, state: Open) -> Aligned | None:
        """Return the whole blocks of the next two digits, if one window or guard is all that is left to keep."""
        digits = self.order[depth : depth + 2]
        left = [bound for bound in state.bounds if bound.depth >= depth]
        if len(left) != 1 or set(digits) & state.ranges.keys():
            return None
        window = left[0].window
        steps = window.value.coefficients()
        within, block = sorted(digits, key=lambda k: magnitude(steps.get(k, ZERO)))
        size, blocks = self.piece.digits[within].extent, self.piece.digits[block].extent
        return aligned(window, within, block, size, blocks, self.facts)

    def beside(self, whole: Aligned, depth: int, state: Open) -> Body:
        """Return the loops over the whole blocks, and over the margins beside them where a guard asks for these."""
        inside = () if state.target.is_nothing else (self.leaf(state.target, whole),)
        body = self.around(depth, inside, {whole.block: (ZERO, whole.count)})
        margins: list[Statement] = []
        block = self.piece.digits[whole.block].extent
        for guard in state.guards:
            for w, first in enumerate(whole.first):
                fill = self.leaf(Target(None, guard.fill))
                at = substitute(fill.to, {self.names[whole.within]: Literal(w)})
                for start, stop in ((ZERO, Literal(first)), (add(whole.count, first), block)):
                    if not equal(start, stop):
                        ranges = {whole.block: (start, stop)}
                        margins += self.around(depth, (replace(fill, to=at),), ranges, without=whole.within)
        return (*margins, *body)

    def around(self, depth: int, body: Body, ranges: Mapping[int, tuple[Expr, Expr]], without: int = -1) -> Body:
        """Return the loops from *depth* on around *body*: over *ranges* of those that it has, *without* one."""
        for k in reversed(self.order[depth:]):
            digit = self.piece.digits[k]
            if k != without:
                body = (Loop(digit.name, *ranges.get(k, (ZERO, digit.extent)), body, digit.comment),)
        return body

    def filled(self, depth: int, state: Open) -> Body:
        """Return the loops from *depth* on where all is fill: in the order of the output, so that runs are long."""
        writes = self.piece.output.coefficients()
        if any(k >= len(self.order) for k in writes):
            return self.around(depth, (self.leaf(state.target),), state.ranges)
        outwards = sorted(self.order[depth:], key=lambda k: magnitude(writes.get(k, ZERO)))
        body: Body = (self.leaf(state.target),)
        for k in outwards:
            digit = self.piece.digits[k]
            body = (Loop(digit.name, *state.ranges.get(k, (ZERO, digit.extent)), body, digit.comment),)
        return body

    def peel(self, depth: int, state: Open, blocks: Sequence[Bound]) -> Body:
        """Return the next two loops thrice: before, in and after the whole blocks, which no bound cuts."""
        lets: list[Statement] = []
        digit = self.order[max(bound.whole.depth for bound in blocks if bound.whole)]
        start, stop = state.ranges.get(digit, (ZERO, self.piece.digits[digit].extent))
        first, last = start, stop
        peeled = []
        for bound in blocks:
            if bound.whole and self.order[bound.whole.depth] == digit:
                first, last = self.narrow(bound.whole, first, last, lets)
                peeled.append(bound)
        cut, inside = state.cutting(peeled), state.without(peeled)
        return (
            *lets,
            *self.decide(depth, cut.over(digit, start, first)),
            *self.decide(depth, inside.over(digit, first, last)),
            *self.decide(depth, cut.over(digit, last, stop)),
        )

    def segments(self, depth: int, start: Expr, stop: Expr, state: Open) -> Body:
        """Return the loop at *depth* over ``[start, stop)``, split where a guard's bounds end."""
        if equal(start, stop):
            return ()
        guards = state.guards
        at = next((i for i, guard in enumerate(guards) if guard.bound.bounds(depth)), None)
        if at is None:
            if state.target.fill is not None and all(bound.depth <= depth for bound in state.bounds):
                return self.filled(depth, state.over(self.order[depth], start, stop))
            digit = self.piece.digits[self.order[depth]]
            return (Loop(digit.name, start, stop, self.enter(depth + 1, state), digit.comment),)
        # Guards of the same fill, one after the other, are decided at once: order cannot matter.
        end = next((i for i in range(at, len(guards)) if guards[i].fill != guards[at].fill), len(guards))
        decided = [g for g in guards[at:end] if g.bound.bounds(depth)]
        first, last = start, stop
        lets: list[Statement] = []
        for guard in decided:
            first, last = self.narrow(guard.bound, first, last, lets)
        outside = state.to(Target(None, guards[at].fill), guards[:at])
        inside = state.to(state.target, tuple(g for g in guards if g not in decided))
        return (
            *lets,
            *self.segments(depth, start, first, outside),
            *self.segments(depth, first, last, inside),
            *self.segments(depth, last, stop, outside),
        )

    def leaf(self, target: Target, whole: Aligned | None = None) -> Leaf:
        """Return what the innermost loop does, over the digits of the *whole* blocks if they are given."""
        faces = [self.piece.output, self.piece.offset or self.piece.output]
        to, start = (self.value(whole.turned(face) if whole else face) for face in faces)
        if target.source is not None and self.piece.offset is not None:
            kind = Accumulate if self.adds else Copy
            return kind(to, target.source, start, ONE)
        return Fill(to, target.fill or 0, ONE)

    def narrow(self, bound: Bound, start: Expr, stop: Expr, lets: list[Statement]) -> tuple[Expr, Expr]:
        """Return ``[start, stop)`` cut to *bound*: never reversed, both ends inside ``[start, stop]``."""
        digit = self.piece.digits[self.order[bound.depth]]
        first, last = self.ends[bound.first], self.ends[bound.last]
        if start == ZERO and stop == digit.extent:
            return first, last
        first = self.local(identifier(bound.first, self.taken), self.clamp(first, start, stop), lets)
        last = self.local(identifier(bound.last, self.taken), self.clamp(last, first, stop), lets)
        return first, last

    def local(self, name: str, value: Expr, lets: list[Statement]) -> Expr:
        """Return what stands for *value*: itself if it takes no more than sums, else a new local."""
        if is_polynomial(value):
            return value
        lets.append(Let(name, value))
        return Name(name)

    def clamp(self, value: Expr, low: Expr, high: Expr) -> Expr:
        """Return *value* brought into ``[low, high]``; *high* where that is empty."""
        return self.facts.minimum(self.facts.maximum(value, low), high)

    def interval(self, bound: Bound) -> list[Statement]:
        """Return the locals of *bound*: ``first <= last``, both within ``[0, extent of the digit]``.

        With ``value = base + step*d``: for a positive step ``d >= ceil(-base/step)`` and
        ``d < ceil((extent - base)/step)``; for a negative one the ends change places.
        """
        digit = self.order[bound.depth]
        count = self.piece.digits[digit].extent
        step = bound.window.value.coefficients()[digit]
        base, extent = self.value(bound.window.value, without=digit), bound.window.extent
        self.facts = self.facts.and_nonnegative((Name(bound.first), Name(bound.last)))
        if self.facts.is_positive(step):
            begin = _ceil_div(negate(base), step)
            end = _ceil_div(subtract(extent, base), step)
        elif self.facts.is_positive(negate(step)):
            begin = add(floor_div(subtract(base, extent), negate(step)), 1)
            end = add(floor_div(base, negate(step)), 1)
        else:
            self.ends |= {bound.first: Name(bound.first), bound.last: Name(bound.last)}
            return [Interval(bound.first, bound.last, base, step, extent, count)]
        lets: list[Statement] = []
        first = self.local(bound.first, self.clamp(begin, ZERO, count), lets)
        last = self.local(bound.last, self.clamp(end, first, count), lets)
        self.ends |= {bound.first: first, bound.last: last}
        return lets


def _without(affine: Affine, digits: tuple[int, ...]) -> Affine:
    return replace(affine, terms=tuple((k, c) for k, c in affine.terms if k not in digits))


def _only_if(value: Expr, extent: Expr, body: Body) -> Body:
    """Return *body* where ``0 <= value < extent``, and nothing elsewhere."""
    match value, extent:
        case Literal(at), Literal(end):
            return body if 0 <= at < end else ()
        case _:
            return (If(value, extent, body, ()),)


def _ceil_div(numerator: Expr, denominator: Expr) -> Expr:
    """Return ``ceil(numerator / denominator)`` for a positive denominator."""
    return floor_div(add(numerator, denominator, -1), denominator)
