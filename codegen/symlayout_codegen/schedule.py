"""Turn a nest into loops: coalesce, order, bound, and choose the leaves.

Only digits and faces decide; no op has a name here.  Per piece:

1. *coalesce*: drop digits of extent 1, join two digits that are contiguous on both faces;
2. *order*: the output's fastest digit innermost, the source's fastest digit next to it;
3. *bound*: each window and each guard becomes the bounds of the loop of the last digit it
   mentions; outside a guard's bounds lie the fill loops, so that no inner loop tests; where the
   last two digits are an axis cut in blocks, the blocks that are whole are a box of their own;
4. *select*: loops over contiguous elements become runs, loops whose two fastest digits differ
   become a tiled transpose, short loops are written out.

Points that add keep the order of the nest, since a sum of floats depends on it: their digits are not
reordered, and blocks not taken out of their turn.

What cannot be bounded (a guard over a carried digit) is tested in the loop: slower, never wrong.
Guards keep their order: where an outer guard fails, the earlier guards still pending are kept
in its fill region, each with its own fill.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, permutations

from symlayout_codegen.cir import Expr, Literal, Name, Product, Sum, add, mul
from symlayout_codegen.expressions import (
    ONE,
    ZERO,
    Facts,
    equal,
    floor_div,
    linear,
    magnitude,
    names,
    negate,
    substitute,
    subtract,
)
from symlayout_codegen.nest import Affine, Nest, Piece, Window
from symlayout_codegen.rename import identifier, rename

SHORT = 4
"""A loop of at most this many single copies is written out."""


@dataclass(frozen=True, slots=True)
class Let:
    """``name = value``, computed once where it stands."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Interval:
    """``first <= d < last`` is where ``0 <= base + step*d < extent`` within ``0 <= d < count``.

    For a step whose sign is not proved; it may be 0.
    """

    first: str
    last: str
    base: Expr
    step: Expr
    extent: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class Loop:
    """*body* for each ``start <= name < stop``."""

    name: str
    start: Expr
    stop: Expr
    body: tuple[Statement, ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class If:
    """*inside* where ``0 <= value < extent``, else *outside*."""

    value: Expr
    extent: Expr
    inside: tuple[Statement, ...]
    outside: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """*count* elements from *source* at offset *start* to the output at offset *to*."""

    to: Expr
    source: int
    start: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class Accumulate:
    """*count* elements from *source* at offset *start* are added to the output at offset *to*, in order."""

    to: Expr
    source: int
    start: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class Fill:
    """Fill number *fill*, *count* times, to the output at offset *to*."""

    to: Expr
    fill: int
    count: Expr


@dataclass(frozen=True, slots=True)
class Transpose:
    """``output[to + i*to_stride + j] = source[start + i + j*stride]`` for i < rows, j < columns."""

    to: Expr
    to_stride: Expr
    source: int
    start: Expr
    stride: Expr
    rows: Expr
    columns: Expr


Leaf = Copy | Accumulate | Fill
Statement = Let | Interval | Loop | If | Copy | Accumulate | Fill | Transpose
Body = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A scheduled nest: the nest under legal names, its statements, and the facts that hold in them."""

    nest: Nest
    body: Body
    facts: Facts


def schedule(nest: Nest) -> Program:
    """Return the loops that do what *nest* says."""
    nest, taken = rename(nest)
    facts = Facts.of(nest.positive, nest.nonnegative)
    body: list[Statement] = []
    digits: list[Expr] = []
    background = () if nest.background is None else (nest.background,)
    for piece in (*background, *nest.pieces):
        adds = nest.combine is not None and piece.source is not None
        piece = _coalesce(piece, in_order=adds)
        order = tuple(range(len(piece.digits))) if adds else _order(piece)
        body += _Bounder(piece, order, facts, taken, adds=adds).body()
        digits += [Name(digit.name) for digit in piece.digits]
    selected = _write_out(_select(tuple(body)))
    return Program(nest, _prune(selected), facts.and_nonnegative(digits))


# --- coalesce ---------------------------------------------------------------------------------


def _coalesce(piece: Piece, *, in_order: bool = False) -> Piece:
    """Return the same points and elements with as few digits as this finds.

    Digits ``hi, lo`` with ``coefficient(hi) == extent(lo) * coefficient(lo)`` on the output and
    on the source, and in no window, guard or carried digit, are one digit of extent
    ``extent(hi) * extent(lo)``; with *in_order*, only where ``lo`` comes right after ``hi``.
    """
    faces = (piece.output,) if piece.offset is None else (piece.output, piece.offset)
    coefficients = [_coefficients(face) for face in faces]
    tied = {k for affine in _conditions(piece) for k in _coefficients(affine)}
    extents = {k: digit.extent for k, digit in enumerate(piece.digits)}
    for k in [k for k, extent in extents.items() if extent == ONE]:
        del extents[k]

    def joined(hi: int, lo: int) -> bool:
        return not tied & {hi, lo} and all(
            equal(face.get(hi, ZERO), mul(extents[lo], face.get(lo, ZERO))) for face in coefficients
        )

    pairs = pairwise if in_order else partial(permutations, r=2)
    while pair := next(((hi, lo) for hi, lo in pairs(extents) if joined(hi, lo)), None):
        hi, lo = pair
        extents[lo] = mul(extents[hi], extents[lo])
        del extents[hi]
    kept = [k for k in range(len(piece.digits)) if k in extents]
    number = {k: i for i, k in enumerate(kept)}
    number |= {len(piece.digits) + i: len(kept) + i for i in range(len(piece.carried))}

    def affine(old: Affine) -> Affine:
        # A digit of extent 1 is always 0, so its term goes with it.
        terms = ((number[k], c) for k, c in _coefficients(old).items() if k in number)
        return Affine(old.constant, tuple(terms))

    def window(old: Window) -> Window:
        return replace(old, value=affine(old.value))

    return replace(
        piece,
        digits=tuple(replace(piece.digits[k], extent=extents[k]) for k in kept),
        carried=tuple(replace(c, value=affine(c.value)) for c in piece.carried),
        output=affine(piece.output),
        offset=affine(piece.offset) if piece.offset is not None else None,
        windows=tuple(map(window, piece.windows)),
        guards=tuple(replace(g, window=window(g.window)) for g in piece.guards),
    )


def _coefficients(affine: Affine) -> dict[int, Expr]:
    """Return ``{digit: coefficient}``, one entry per digit, none that is literally 0."""
    total: dict[int, Expr] = {}
    for k, coefficient in affine.terms:
        total[k] = add(total[k], coefficient) if k in total else coefficient
    return {k: coefficient for k, coefficient in total.items() if coefficient != ZERO}


def _conditions(piece: Piece) -> Iterator[Affine]:
    """Yield every affine value of *piece* besides its faces."""
    yield from (window.value for window in piece.windows)
    yield from (guard.window.value for guard in piece.guards)
    yield from (carried.value for carried in piece.carried)


# --- order ------------------------------------------------------------------------------------


def _order(piece: Piece) -> tuple[int, ...]:
    """Return the digits from the outermost loop to the innermost.

    The output is written in memory order, except that the source's fastest digit comes right
    outside the output's: the two make a transpose.
    """
    writes = _coefficients(piece.output)
    order = sorted(range(len(piece.digits)), key=lambda k: -magnitude(writes.get(k, ZERO)))
    if piece.offset is None:
        return tuple(order)
    reads = _coefficients(piece.offset)
    fast_write = next((k for k in order if writes.get(k) == ONE), None)
    fast_read = next((k for k in order if reads.get(k) == ONE), None)
    if fast_write is None or fast_read is None or fast_write == fast_read:
        return tuple(order)
    order.remove(fast_read)
    order.remove(fast_write)
    return (*order, fast_read, fast_write)


# --- bound ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Target:
    """What a point gets when no pending guard fails: an element of a source, or a fill."""

    source: int | None
    fill: int | None


@dataclass(frozen=True, slots=True)
class _Bound:
    """How a window is kept: by the bounds of the loop at *depth*, or by a test on entering *depth*.

    The bounds are the locals *first* and *last*, computed at depth *ready*.  Where the window's
    last two digits are an axis cut in blocks, *whole* bounds the blocks that lie inside it entirely.
    """

    window: Window
    depth: int
    ready: int
    first: str = ""
    last: str = ""
    whole: _Bound | None = None

    @property
    def tested(self) -> bool:
        return not self.first

    def bounds(self, depth: int) -> bool:
        """Return whether the loop at *depth* is the one that it bounds."""
        return self.depth == depth and not self.tested


@dataclass(frozen=True, slots=True)
class _Pending:
    """A guard that the loops so far have not decided."""

    bound: _Bound
    fill: int


@dataclass(frozen=True, slots=True)
class _Open:
    """What the loops so far leave open.

    Attributes
    ----------
    windows : those that are not known to hold.
    guards : those that are not decided, in order.
    target : what a point gets when none of them fails.
    ranges : ``{digit: (start, stop)}`` of the digits that run over less than their extent.
    """

    windows: tuple[_Bound, ...]
    guards: tuple[_Pending, ...]
    target: _Target
    ranges: Mapping[int, tuple[Expr, Expr]]

    @property
    def bounds(self) -> list[_Bound]:
        """Those of the windows, then those of the guards."""
        return [*self.windows, *(guard.bound for guard in self.guards)]

    def to(self, target: _Target, guards: tuple[_Pending, ...]) -> _Open:
        """Return what is open where *target* is reached and *guards* are left."""
        while guards and target.source is None and guards[-1].fill == target.fill:
            guards = guards[:-1]  # the point gets this fill anyway
        return replace(self, guards=guards, target=target)

    def over(self, digit: int, start: Expr, stop: Expr) -> _Open:
        """Return what is open where *digit* runs from *start* to *stop*."""
        return replace(self, ranges={**self.ranges, digit: (start, stop)})

    def without(self, bounds: Sequence[_Bound]) -> _Open:
        """Return what is open where *bounds* are known to hold."""
        windows = tuple(bound for bound in self.windows if bound not in bounds)
        left = tuple(guard for guard in self.guards if guard.bound not in bounds)
        return replace(self, windows=windows).to(self.target, left)

    def cutting(self, bounds: Sequence[_Bound]) -> _Open:
        """Return what is open where *bounds* may cut every block."""
        cut = {bound: replace(bound, whole=None) for bound in bounds}
        return replace(
            self,
            windows=tuple(cut.get(bound, bound) for bound in self.windows),
            guards=tuple(replace(guard, bound=cut.get(guard.bound, guard.bound)) for guard in self.guards),
        )


class _Bounder:
    """Writes the loops of one piece.  Depth ``i`` is inside the loops of ``order[:i]``."""

    def __init__(
        self, piece: Piece, order: tuple[int, ...], facts: Facts, taken: set[str], *, adds: bool = False
    ) -> None:
        self.piece, self.order, self.taken, self.adds = piece, order, taken, adds
        self.names = [digit.name for digit in piece.digits] + [carried.name for carried in piece.carried]
        self.facts = facts.and_nonnegative(Name(digit.name) for digit in piece.digits)
        self.ends: dict[str, Expr] = {}
        self.known = {digit: depth + 1 for depth, digit in enumerate(order)}
        for k, carried in enumerate(piece.carried, len(order)):
            self.known[k] = self.ready(carried.value)

    def body(self) -> Body:
        """Return the loops of the piece."""
        windows = tuple(self.bound(window) for window in self.piece.windows if _coefficients(window.value))
        guards = tuple(_Pending(self.bound(guard.window), guard.fill) for guard in self.piece.guards)
        target = _Target(self.piece.source, self.piece.fill)
        body = self.enter(0, _Open(windows, (), target, {}).to(target, guards))
        for window in self.piece.windows:
            if not _coefficients(window.value):  # tested before bounds are computed, which may rely on it
                body = _only_if(window.value.constant, window.extent, body)
        return body

    def ready(self, affine: Affine, without: int | None = None) -> int:
        """Return the depth from which on *affine* can be computed, its digit *without* left out."""
        return max((self.known[k] for k in _coefficients(affine) if k != without), default=0)

    def value(self, affine: Affine, without: int | None = None) -> Expr:
        """Return *affine* as an expression, its digit *without* left out."""
        terms = [
            mul(coefficient, Name(self.names[k])) for k, coefficient in _coefficients(affine).items() if k != without
        ]
        return add(*terms, affine.constant)

    def bound(self, window: Window) -> _Bound:
        """Return how *window* is kept: bounds where its last digit in loop order is a loop's own."""
        affine = window.value
        last = max(_coefficients(affine), key=lambda k: (self.known[k], k), default=None)
        ready = self.ready(affine, without=last)
        if last is None or last >= len(self.order) or ready >= self.known[last]:
            return _Bound(window, self.ready(affine), self.ready(affine))
        name = self.names[last]
        first, end = identifier(f"{name}_first", self.taken), identifier(f"{name}_last", self.taken)
        return _Bound(window, self.known[last] - 1, ready, first, end, self.whole(window, last))

    def whole(self, window: Window, last: int) -> _Bound | None:
        """Return the bounds between which *window* holds whatever the smaller of its last two digits is.

        With ``value = base + step*block + small*within`` and ``0 <= within < size`` that is
        ``0 <= base + step*block < extent - small*(size - 1)``.  None where nothing is gained:
        the digits are no axis cut in blocks, or theirs are not the inner loops; or the order matters.
        """
        if self.adds:
            return None
        depth = self.known[last] - 1
        steps = _coefficients(window.value)
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

    def enter(self, depth: int, state: _Open) -> Body:
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

    def decide(self, depth: int, state: _Open) -> Body:
        """Test the guards that only a test can decide here, then open the next loop."""
        guards = state.guards
        tested = next((g for g in guards if g.bound.tested and g.bound.depth == depth), None)
        if tested is not None:
            at = guards.index(tested)
            window = tested.bound.window
            inside = self.decide(depth, state.to(state.target, guards[:at] + guards[at + 1 :]))
            outside = self.decide(depth, state.to(_Target(None, tested.fill), guards[:at]))
            return (If(self.value(window.value), window.extent, inside, outside),)
        if depth == len(self.order):
            return (self.leaf(state.target),)
        blocks = [bound for bound in state.bounds if bound.whole is not None and bound.depth == depth + 1]
        if blocks:
            return self.peel(depth, state, blocks)
        start, stop = state.ranges.get(self.order[depth], (ZERO, self.piece.digits[self.order[depth]].extent))
        lets: list[Statement] = []
        for bound in state.windows:
            if bound.bounds(depth):
                start, stop = self.narrow(bound, start, stop, lets)
        return (*lets, *self.segments(depth, start, stop, state))

    def peel(self, depth: int, state: _Open, blocks: Sequence[_Bound]) -> Body:
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

    def segments(self, depth: int, start: Expr, stop: Expr, state: _Open) -> Body:
        """Return the loop at *depth* over ``[start, stop)``, split where a guard's bounds end."""
        if equal(start, stop):
            return ()
        guards = state.guards
        at = next((i for i, guard in enumerate(guards) if guard.bound.bounds(depth)), None)
        if at is None:
            digit = self.piece.digits[self.order[depth]]
            return (Loop(digit.name, start, stop, self.enter(depth + 1, state), digit.comment),)
        # Guards of the same fill, one after the other, are decided at once: order cannot matter.
        end = next((i for i in range(at, len(guards)) if guards[i].fill != guards[at].fill), len(guards))
        decided = [g for g in guards[at:end] if g.bound.bounds(depth)]
        first, last = start, stop
        lets: list[Statement] = []
        for guard in decided:
            first, last = self.narrow(guard.bound, first, last, lets)
        outside = state.to(_Target(None, guards[at].fill), guards[:at])
        inside = state.to(state.target, tuple(g for g in guards if g not in decided))
        return (
            *lets,
            *self.segments(depth, start, first, outside),
            *self.segments(depth, first, last, inside),
            *self.segments(depth, last, stop, outside),
        )

    def leaf(self, target: _Target) -> Leaf:
        to = self.value(self.piece.output)
        if target.source is not None and self.piece.offset is not None:
            kind = Accumulate if self.adds else Copy
            return kind(to, target.source, self.value(self.piece.offset), ONE)
        return Fill(to, target.fill or 0, ONE)

    def narrow(self, bound: _Bound, start: Expr, stop: Expr, lets: list[Statement]) -> tuple[Expr, Expr]:
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
        if _is_polynomial(value):
            return value
        lets.append(Let(name, value))
        return Name(name)

    def clamp(self, value: Expr, low: Expr, high: Expr) -> Expr:
        """Return *value* brought into ``[low, high]``; *high* where that is empty."""
        return self.facts.minimum(self.facts.maximum(value, low), high)

    def interval(self, bound: _Bound) -> list[Statement]:
        """Return the locals of *bound*: ``first <= last``, both within ``[0, extent of the digit]``.

        With ``value = base + step*d``: for a positive step ``d >= ceil(-base/step)`` and
        ``d < ceil((extent - base)/step)``; for a negative one the ends change places.
        """
        digit = self.order[bound.depth]
        count = self.piece.digits[digit].extent
        step = _coefficients(bound.window.value)[digit]
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


def _is_polynomial(expr: Expr) -> bool:
    match expr:
        case Literal() | Name():
            return True
        case Sum(parts) | Product(parts):
            return all(map(_is_polynomial, parts))
        case _:
            return False


# --- select -----------------------------------------------------------------------------------


def _select(body: Body) -> Body:
    """Replace loops by the leaves that do the same, from the inside out."""
    selected: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                selected += _select_loop(replace(statement, body=_select(statement.body)))
            case If(_, _, inside, outside):
                selected.append(replace(statement, inside=_select(inside), outside=_select(outside)))
            case _:
                selected.append(statement)
    return tuple(selected)


def _select_loop(loop: Loop) -> Iterable[Statement]:
    match loop.body:
        case (Copy() | Accumulate() | Fill() as leaf,):
            return (_as_run(loop, leaf) or loop,)
        case (Loop(), *_) if all(isinstance(inner, Loop | Copy | Fill) for inner in loop.body):
            # Each output element is written once, so the loop may run over its parts in turn.
            parts = [(inner, _as_transpose(loop, inner)) for inner in loop.body]
            if any(transpose for _, transpose in parts):
                return tuple(transpose or replace(loop, body=(inner,)) for inner, transpose in parts)
    return (loop,)


def _as_run(loop: Loop, leaf: Leaf) -> Leaf | None:
    """Return *leaf* over the whole of *loop* if its elements follow each other, else None."""
    step, to = linear(leaf.to, loop.name)
    if loop.name in names(leaf.count) or not equal(step, leaf.count):
        return None
    count = mul(leaf.count, subtract(loop.stop, loop.start))
    to = add(mul(step, loop.start), to)
    if isinstance(leaf, Fill):
        return Fill(to, leaf.fill, count)
    read_step, start = linear(leaf.start, loop.name)
    if not equal(read_step, leaf.count):
        return None
    return replace(leaf, to=to, start=add(mul(read_step, loop.start), start), count=count)


def _as_transpose(loop: Loop, inner: Statement) -> Transpose | None:
    """Return the two loops as a transpose if the outer is fastest in the source, the inner in the output."""
    match inner:
        case Loop(name, start, stop, (Copy(to, source, read, Literal(1)),)) if loop.name not in (
            names(start) | names(stop)
        ):
            rows_write, to = linear(to, loop.name)
            columns_write, to = linear(to, name)
            rows_read, read = linear(read, loop.name)
            columns_read, read = linear(read, name)
            if not (equal(rows_read, ONE) and equal(columns_write, ONE)):
                return None
            return Transpose(
                add(mul(rows_write, loop.start), start, to),
                rows_write,
                source,
                add(loop.start, mul(columns_read, start), read),
                columns_read,
                subtract(loop.stop, loop.start),
                subtract(stop, start),
            )
        case _:
            return None


def _write_out(body: Body) -> Body:
    """Replace short loops over single elements by their copies, so that the loop around is the inner one."""
    written: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(name, Literal(start), Literal(stop), (leaf,)) if isinstance(leaf, Leaf) and stop - start <= SHORT:
                written += (_map_leaf(leaf, {name: Literal(k)}) for k in range(start, stop))
            case Loop():
                written.append(replace(statement, body=_write_out(statement.body)))
            case If(_, _, inside, outside):
                written.append(replace(statement, inside=_write_out(inside), outside=_write_out(outside)))
            case _:
                written.append(statement)
    return tuple(written)


def _map_leaf(leaf: Leaf, values: Mapping[str, Expr]) -> Leaf:
    to, count = substitute(leaf.to, values), substitute(leaf.count, values)
    if isinstance(leaf, Fill):
        return replace(leaf, to=to, count=count)
    return replace(leaf, to=to, start=substitute(leaf.start, values), count=count)


def _prune(body: Body) -> Body:
    """Drop the locals that nothing reads, and the loops with nothing in them."""
    kept: list[Statement] = []
    used: set[str] = set()
    for statement in reversed(body):
        match statement:
            case Let(name) if name not in used:
                continue
            case Interval(first, last) if not used & {first, last}:
                continue
            case Loop():
                statement = replace(statement, body=_prune(statement.body))
                if not statement.body:
                    continue
            case If(_, _, inside, outside):
                statement = replace(statement, inside=_prune(inside), outside=_prune(outside))
                if not statement.inside and not statement.outside:
                    continue
            case _:
                pass
        kept.append(statement)
        used |= statement_names(statement)
    return tuple(reversed(kept))


def expressions(statement: Statement) -> tuple[Expr, ...]:
    """Return the expressions that *statement* itself holds, those of its body not included."""
    match statement:
        case Let(_, value):
            return (value,)
        case Interval(_, _, base, step, extent, count):
            return (base, step, extent, count)
        case Loop(_, start, stop):
            return (start, stop)
        case If(value, extent):
            return (value, extent)
        case Copy(to, _, start, count) | Accumulate(to, _, start, count):
            return (to, start, count)
        case Fill(to, _, count):
            return (to, count)
        case Transpose(to, to_stride, _, start, stride, rows, columns):
            return (to, to_stride, start, stride, rows, columns)


def walk(body: Sequence[Statement]) -> Iterator[Statement]:
    """Yield every statement of *body*, outer before inner."""
    for statement in body:
        yield statement
        if isinstance(statement, Loop):
            yield from walk(statement.body)
        elif isinstance(statement, If):
            yield from walk(statement.inside)
            yield from walk(statement.outside)


def statement_names(statement: Statement) -> frozenset[str]:
    """Return the names that *statement* and what is inside it read."""
    return frozenset().union(*(names(e) for inner in walk((statement,)) for e in expressions(inner)))
