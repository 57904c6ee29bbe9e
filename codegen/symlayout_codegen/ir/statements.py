"""Loop statements: the passes rewrite them, the printer prints them.

A statement moves elements by offsets, counts and steps.  These are expressions in the kernel's parameters, in its
locals and in the loops around the statement.  A statement knows no digit and no piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from symlayout_codegen.ir.formula import Formula
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO, subtract


@dataclass(frozen=True, slots=True)
class Let:
    """The local ``name = value``, computed where it stands."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Entry:
    """The local ``name = table[at]``, computed where it stands; *at* is inside the table."""

    name: str
    table: tuple[int, ...]
    at: Expr


@dataclass(frozen=True, slots=True)
class Interval:
    """The locals *first* and *last*: in ``0 <= d < count``, ``first <= d < last`` is ``0 <= base + step*d < extent``.

    The sign of *step* need not be known, and *step* may be 0.
    """

    first: str
    last: str
    base: Expr
    step: Expr
    extent: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class Share:
    """The locals ``begin`` and ``end`` of each of *loops*: the range of the loop that a call of the kernel does.

    *loops* are triples ``(begin, end, extent)``, outermost loop first.  The boxes of the parts are disjoint.  Their
    union is the box of the extents.  Some may be empty.
    """

    name: str
    loops: tuple[tuple[str, str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """*body* for each ``start <= name < stop``.

    *streams* is the number of a load if statement k of *body* computes a point of stream k (`compute_streams`): then
    the loop does `OCTET` steps at a time.
    """

    name: str
    start: Expr
    stop: Expr
    body: tuple[Statement, ...]
    comment: str = ""
    streams: int | None = None


@dataclass(frozen=True, slots=True)
class If:
    """*inside* if ``0 <= value < extent``, else *outside*."""

    value: Expr
    extent: Expr
    inside: tuple[Statement, ...]
    outside: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class CopyRun:
    """Copy *count* elements from *source* at offset *start* to the output at offset *to*."""

    to: Expr
    source: int
    start: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class AccumulateRun:
    """Add *count* elements from *source* at offset *start* to the output at offset *to*, in order."""

    to: Expr
    source: int
    start: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class FillRun:
    """Write fill number *fill* to *count* elements of the output from offset *to* on."""

    to: Expr
    fill: int
    count: Expr


@dataclass(frozen=True, slots=True)
class CopyRows:
    """*rows* times `CopyRun` of *count* elements; from one to the next *to* grows by *to_step*, *start* by *step*."""

    to: Expr
    to_step: Expr
    source: int
    start: Expr
    step: Expr
    rows: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class CopyGrid:
    """*turns* times `CopyRows` of *rows* runs: from one to the next *to* grows by *to_leap*, *start* by *leap*.

    All of that is done *high* times; from one to the next *to* grows by *to_jump*, *start* by *jump*.
    """

    to: Expr
    to_leap: Expr
    to_step: Expr
    source: int
    start: Expr
    leap: Expr
    step: Expr
    turns: Expr
    rows: Expr
    count: Expr = ONE
    high: Expr = ONE
    to_jump: Expr = ZERO
    jump: Expr = ZERO


@dataclass(frozen=True, slots=True)
class AccumulateRows:
    """``output[to + i*to_step + j*to_each] += source[start + i*step + j*each]`` for ``i < rows``, ``j < columns``.

    Each output element gets its terms in the order of ``i``, then ``j``.
    """

    to: Expr
    to_step: Expr
    to_each: Expr
    source: int
    start: Expr
    step: Expr
    each: Expr
    rows: Expr
    columns: Expr


@dataclass(frozen=True, slots=True)
class FillRows:
    """*rows* times `FillRun` of *count* elements; from one to the next *to* grows by *to_step*."""

    to: Expr
    to_step: Expr
    fill: int
    rows: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a transpose: the index ``(t*high + h)*count + low`` is at the offset ``low*step + h*leap + t*jump``.

    Here ``low < count``, ``h < high`` and ``t < top``: up to three levels, of which most axes have one.
    """

    count: Expr
    step: Expr
    high: Expr = ONE
    leap: Expr = ZERO
    top: Expr = ONE
    jump: Expr = ZERO

    @property
    def levels(self) -> tuple[Expr, ...]:
        """The fields of each level up to the last one that has more than one index."""
        fields = (self.count, self.step, self.high, self.leap, self.top, self.jump)
        return fields if self.top != ONE else fields[:4] if self.high != ONE else fields[:2]

    @property
    def extent(self) -> Expr:
        """The number of indices."""
        return mul(self.count, self.high, self.top)

    def within(self, count: Expr, step: Expr) -> Axis | None:
        """Return *count* copies of the axis as one, *step* apart; None if all three levels are in use."""
        if self.high == ONE:
            return replace(self, high=count, leap=step)
        return replace(self, top=count, jump=step) if self.top == ONE else None


@dataclass(frozen=True, slots=True)
class Transpose:
    """``output[to + rows(i) + j] = source[start + i + columns(j)]`` for each index ``i`` of *rows*, ``j`` of *columns*.

    This is done *count* times; from one to the next *to* grows by *to_step*, *start* by *step*.  All of that is done
    *high* times; from one to the next *to* grows by *to_leap*, *start* by *leap*.
    """

    to: Expr
    rows: Axis
    source: int
    start: Expr
    columns: Axis
    count: Expr = ONE
    to_step: Expr = ZERO
    step: Expr = ZERO
    high: Expr = ONE
    to_leap: Expr = ZERO
    leap: Expr = ZERO

    @property
    def turns(self) -> tuple[Expr, ...]:
        """The fields of each level of repetition, up to the last one that repeats."""
        fields = (self.count, self.to_step, self.step, self.high, self.to_leap, self.leap)
        return fields if self.high != ONE else fields[:3] if self.count != ONE else ()

    @property
    def splits(self) -> int | None:
        """The number of streams into which the source is split, if that is a literal up to `MOST_STREAMS`."""
        return _streams(self.rows, self.columns)

    @property
    def joins(self) -> int | None:
        """The number of streams that are joined in the output, if that is a literal up to `MOST_STREAMS`."""
        return _streams(self.columns, self.rows)


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns of a loop, *to_step* apart in the output: *count* of them, *step* apart in the source, between others.

    The *before* turns before them and the *after* ones after them are fill.
    """

    before: Expr = ZERO
    count: Expr = ONE
    after: Expr = ZERO
    to_step: Expr = ZERO
    step: Expr = ZERO


ONCE = Turns()
"""A loop of one turn."""


@dataclass(frozen=True, slots=True)
class Deal:
    """Deal padded rows out to *streams* streams of *columns* elements each.

    ``output[to + i*to_stride + j]`` for ``i < streams``, ``j < columns`` becomes ``source[start + k]`` with
    ``k = i + streams*j`` if ``low <= k < low + inside``, else *fill*.  This is done for all turns of *rows*, *planes*
    and *images*; what is before or after in any of these is *fill*.

    Attributes
    ----------
    to : where the first turn is written, which may be fill.
    start : where the first row inside begins.
    size : the number of elements of the source, 0 if it is not known: vectors may read beside a row.
    """

    to: Expr
    to_stride: Expr
    streams: int
    columns: Expr
    source: int
    size: Expr
    start: Expr
    low: Expr
    inside: Expr
    fill: int
    rows: Turns = ONCE
    planes: Turns = ONCE
    images: Turns = ONCE

    def repeated(
        self, ends: tuple[Expr, Expr, Expr, Expr], to: tuple[Expr, Expr], start: tuple[Expr, Expr]
    ) -> Deal | None:
        """Return so many of it: see `dealt_rows.repeated`; of *to* and *start*, the step and what is left.

        None where all three loops are in use.
        """
        free = [name for name in ("rows", "planes", "images") if getattr(self, name) == ONCE]
        if not free:
            return None
        begin, first, last, end = ends
        turns = Turns(subtract(first, begin), subtract(last, first), subtract(end, last), to[0], start[0])
        loop: Any = {free[0]: turns}
        return replace(self, to=add(mul(to[0], begin), to[1]), start=add(mul(start[0], first), start[1]), **loop)


@dataclass(frozen=True, slots=True)
class CutGrid:
    """Copy the runs of a grid whose numbers are inside, and fill or leave the others.

    ``output[to + i*to_leap + j*to_step + r]`` for ``i < turns``, ``j < rows``, ``r < count`` becomes
    ``source[start + i*leap + j*step + r]`` if ``low <= i + turns*j < low + inside``; else *fill*, or stays where *fill*
    is None.  This is done *high* times; from one to the next *to* grows by *to_jump*, *start* by *jump*.  *before* such
    grids before them, the first one at *to*, and *after* grids after them are *fill*.
    """

    to: Expr
    to_leap: Expr
    to_step: Expr
    source: int
    start: Expr
    leap: Expr
    step: Expr
    turns: Expr
    rows: Expr
    count: Expr
    low: Expr
    inside: Expr
    fill: int | None
    before: Expr = ZERO
    high: Expr = ONE
    after: Expr = ZERO
    to_jump: Expr = ZERO
    jump: Expr = ZERO

    def repeated(
        self, ends: tuple[Expr, Expr, Expr, Expr], to: tuple[Expr, Expr], start: tuple[Expr, Expr]
    ) -> CutGrid | None:
        """Return so many such grids: see `dealt_rows.repeated`; of *to* and *start*, the step and what is left.

        None where the loop is in use.
        """
        begin, first, last, end = ends
        if (self.before, self.high, self.after) != (ZERO, ONE, ZERO):
            return None
        return replace(
            self,
            to=add(mul(to[0], begin), to[1]),
            start=add(mul(start[0], first), start[1]),
            before=subtract(first, begin),
            high=subtract(last, first),
            after=subtract(end, last),
            to_jump=to[0],
            jump=start[0],
        )


@dataclass(frozen=True, slots=True)
class JoinGrid:
    """Join *streams* streams to rows of *columns* elements that follow each other: all rows and columns, or a part.

    ``output[to + r*columns + e]`` for ``r < rows``, ``e < columns`` becomes ``source[start + p % turns*leap +
    p // turns*step + q % streams*stride + q // streams]`` with ``p = first + r`` and ``q = low + e``.  This is done
    *count* times, with *to* and *start* advanced by *to_jump* and *jump*, and all of that *high* times, with them
    advanced by *to_leap* and *from_leap*.

    Attributes
    ----------
    size : the number of elements of the source: vectors may read beside a row.
    """

    to: Expr
    streams: int
    source: int
    start: Expr
    size: Expr
    stride: Expr
    low: Expr
    columns: Expr
    first: Expr
    rows: Expr
    turns: Expr
    leap: Expr
    step: Expr
    count: Expr = ONE
    to_jump: Expr = ZERO
    jump: Expr = ZERO
    high: Expr = ONE
    to_leap: Expr = ZERO
    from_leap: Expr = ZERO


@dataclass(frozen=True, slots=True)
class LoadAt:
    """The element at offset *start* of *source*, or of the load's tile if it is *staged*.

    *guards* are triples ``(value, extent, bits)``: the first one without ``0 <= value < extent`` gives the element with
    these bits instead.
    """

    source: int
    start: Expr
    guards: tuple[tuple[Expr, Expr, int], ...] = ()
    staged: bool = False

    def mapped(self, change: Callable[[Expr], Expr]) -> LoadAt:
        """Return the load with *change* made to each expression in it."""
        guards = tuple((change(value), change(extent), bits) for value, extent, bits in self.guards)
        return replace(self, start=change(self.start), guards=guards)

    @property
    def expressions(self) -> Iterator[Expr]:
        """The expressions of the load."""
        yield self.start
        for value, extent, _ in self.guards:
            yield from (value, extent)


@dataclass(frozen=True, slots=True)
class StartFolds:
    """Give each fold of *formula* its start, in a variable whose name begins with *name*."""

    name: str
    formula: Formula


@dataclass(frozen=True, slots=True)
class FoldTerms:
    """Add one term to each fold of *formula*; *loads* are the elements that it loads, by number."""

    name: str
    formula: Formula
    loads: tuple[LoadAt, ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """Write the value of *formula* to the output at offset *to*; its folds are done (*name*)."""

    to: Expr
    name: str
    formula: Formula
    loads: tuple[LoadAt, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """``tile[rows(i) + j] = source[start + i + columns(j)]``: a tile for load *number*, which reads rows of it."""

    rows: Axis
    number: int
    source: int
    start: Expr
    columns: Axis

    @property
    def transpose(self) -> Transpose:
        """The stage as a transpose whose output is the tile."""
        return Transpose(ZERO, self.rows, self.source, self.start, self.columns)


def _streams(across: Axis, along: Axis) -> int | None:
    match across, along:
        case Axis(IntLiteral(count), high=IntLiteral(1)), Axis(step=IntLiteral(step), top=IntLiteral(1)) if (
            2 <= count == step <= MOST_STREAMS
        ):
            return count
        case _:
            return None


MOST_STREAMS = 4
"""The runtime splits and joins up to this many streams in registers."""

OCTET = 8
"""The runtime converts so many elements of a stream at a time to floats."""

SHORT = 4
"""A loop of at most this many steps over a single element is unrolled."""


def is_short(count: Expr) -> bool:
    """Return whether a loop of *count* steps is known to be short."""
    return isinstance(count, IntLiteral) and count.value <= SHORT


PART = NamedInt("part")
"""The argument of a kernel that says which part of its work the call does."""


Leaf = CopyRun | AccumulateRun | FillRun
Rows = CopyRows | CopyGrid | AccumulateRows | FillRows | Transpose | Deal | CutGrid | JoinGrid
Computing = StartFolds | FoldTerms | Compute
Statement = Let | Entry | Interval | Share | Loop | If | Leaf | Rows | Computing | Stage
Body = tuple[Statement, ...]


def _named_fields(annotation: str) -> dict[type, tuple[str, ...]]:
    """Return for each kind of statement the names of its fields with this *annotation*."""
    return {kind: tuple(f.name for f in fields(kind) if f.type == annotation) for kind in get_args(Statement)}


_EXPRESSIONS, _AXES, _TURNS = _named_fields("Expr"), _named_fields("Axis"), _named_fields("Turns")


def expressions(statement: Statement) -> Iterator[Expr]:
    """Yield the expressions that *statement* itself holds, without those of its body."""
    for name in _EXPRESSIONS[type(statement)]:
        yield getattr(statement, name)
    for name in _AXES[type(statement)]:
        yield from getattr(statement, name).levels
    for name in _TURNS[type(statement)]:
        yield from (getattr(getattr(statement, name), f.name) for f in fields(Turns))
    if isinstance(statement, Share):
        yield from (extent for _, _, extent in statement.loops)
    if isinstance(statement, FoldTerms | Compute):
        for load in statement.loads:
            yield from load.expressions


def mapped(statement: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """Return *statement* with *change* made to each expression that it holds itself; its body stays as it is.

    A `Share` stays as it is too: it stands outside of all loops.
    """

    def changed(value: object) -> object:
        if isinstance(value, Expr):
            return change(value)
        if isinstance(value, Axis | Turns):
            return type(value)(**{f.name: change(getattr(value, f.name)) for f in fields(value)})
        if isinstance(value, tuple) and value and isinstance(value[0], LoadAt):
            return tuple(load.mapped(change) for load in value)
        return value

    values: dict[str, Any] = {f.name: changed(getattr(statement, f.name)) for f in fields(statement)}
    return type(statement)(**values)


def walk(body: Sequence[Statement]) -> Iterator[Statement]:
    """Yield every statement of *body*, outer before inner."""
    for statement in body:
        yield statement
        if isinstance(statement, Loop):
            yield from walk(statement.body)
        elif isinstance(statement, If):
            yield from walk(statement.inside)
            yield from walk(statement.outside)


@dataclass(frozen=True, slots=True)
class PartRanges:
    """The ranges that one part does of a piece's loops.

    Attributes
    ----------
    share : computes the ends of the ranges.
    digits : the number of the piece's digit for each loop of *share*.
    """

    share: Share
    digits: tuple[int, ...]

    @property
    def ranges(self) -> dict[int, tuple[Expr, Expr]]:
        """``{digit: (begin, end)}``."""
        loops = zip(self.digits, self.share.loops, strict=True)
        return {k: (NamedInt(begin), NamedInt(end)) for k, (begin, end, _) in loops}
