"""The loops that a schedule is made of: what the schedule's passes rewrite and the printer prints.

A statement moves elements by offsets, counts and strides that are expressions in the parameters and the
loops around it.  It knows no digit and no face.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from symlayout_codegen.ir.integer_expressions import Expr, Literal, mul
from symlayout_codegen.ir.queries import ONE, ZERO


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
class Share:
    """``begin <= d < end`` for each ``(begin, end, extent)`` of *loops*, outermost first: a part's steps of them.

    The boxes of the parts are disjoint, and together they are the box of the extents; some may be empty.
    """

    name: str
    loops: tuple[tuple[str, str, Expr], ...]


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
class CopyRows:
    """`Copy` of *count* elements, *rows* times: offsets grow by *to_step* and *step* from each to the next."""

    to: Expr
    to_step: Expr
    source: int
    start: Expr
    step: Expr
    rows: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class CopyGrid:
    """``output[to + t*to_leap + i*to_step] = source[start + t*leap + i*step]`` for t < turns, i < rows."""

    to: Expr
    to_leap: Expr
    to_step: Expr
    source: int
    start: Expr
    leap: Expr
    step: Expr
    turns: Expr
    rows: Expr


@dataclass(frozen=True, slots=True)
class AccumulateRows:
    """``output[to + i*to_step + j*to_each] += source[start + i*step + j*each]`` for i < rows, j < columns.

    To each output element in the order of i, then j.
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
    """`Fill` of *count* elements, *rows* times: the offset grows by *to_step* from each to the next."""

    to: Expr
    to_step: Expr
    fill: int
    rows: Expr
    count: Expr


@dataclass(frozen=True, slots=True)
class Axis:
    """Indices ``k = (t*high + h)*count + low`` of a transpose, at the offsets ``low*step + h*leap + t*jump``."""

    count: Expr
    step: Expr
    high: Expr = ONE
    leap: Expr = ZERO
    top: Expr = ONE
    jump: Expr = ZERO

    @property
    def levels(self) -> tuple[Expr, ...]:
        """The fields that matter: those of the levels up to the last that has more than one index."""
        fields = (self.count, self.step, self.high, self.leap, self.top, self.jump)
        return fields if self.top != ONE else fields[:4] if self.high != ONE else fields[:2]

    @property
    def extent(self) -> Expr:
        """The number of indices."""
        return mul(self.count, self.high, self.top)

    def within(self, count: Expr, step: Expr) -> Axis | None:
        """Return the axis with *count* times as many indices, *step* from one such lot to the next, if it may grow."""
        if self.high == ONE:
            return replace(self, high=count, leap=step)
        return replace(self, top=count, jump=step) if self.top == ONE else None


@dataclass(frozen=True, slots=True)
class Transpose:
    """``output[to + rows(i) + j] = source[start + i + columns(j)]`` for all indices i of *rows*, j of *columns*.

    That *count* times: offsets grow by *to_step* and *step* from each to the next; and all that *high* times, by
    *to_leap* and *leap*.
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
        """What is said of the times that this is done, up to the last level that has more than one."""
        fields = (self.count, self.to_step, self.step, self.high, self.to_leap, self.leap)
        return fields if self.high != ONE else fields[:3] if self.count != ONE else ()

    @property
    def splits(self) -> int | None:
        """The number of streams that the source is known to be split into, if few."""
        return _streams(self.rows, self.columns)

    @property
    def joins(self) -> int | None:
        """The number of streams that are known to be joined to the output, if few."""
        return _streams(self.columns, self.rows)


@dataclass(frozen=True, slots=True)
class Deal:
    """``output[to + i*to_stride + j]`` for i < *streams*, j < *columns*: dealt out, with a margin before and after.

    It is ``source[start + k]`` with ``k = i + streams*j`` where ``low <= k < low + inside``, elsewhere *fill*.
    That *count* times: offsets grow by *to_step* and *step* from each to the next.
    """

    to: Expr
    to_stride: Expr
    streams: int
    columns: Expr
    source: int
    start: Expr
    low: Expr
    inside: Expr
    fill: int
    count: Expr = ONE
    to_step: Expr = ZERO
    step: Expr = ZERO


def _streams(across: Axis, along: Axis) -> int | None:
    match across, along:
        case Axis(Literal(count), high=Literal(1)), Axis(step=Literal(step), top=Literal(1)) if (
            2 <= count == step <= MOST_STREAMS
        ):
            return count
        case _:
            return None


MOST_STREAMS = 4
"""As many streams as the runtime splits and joins in registers."""


Leaf = Copy | Accumulate | Fill
Rows = CopyRows | CopyGrid | AccumulateRows | FillRows | Transpose | Deal
Statement = Let | Interval | Share | Loop | If | Leaf | Rows
Body = tuple[Statement, ...]


def expressions(statement: Statement) -> tuple[Expr, ...]:
    """Return the expressions that *statement* itself holds, those of its body not included."""
    match statement:
        case Let(_, value):
            return (value,)
        case Interval(_, _, base, step, extent, count):
            return (base, step, extent, count)
        case Share(_, loops):
            return tuple(extent for _, _, extent in loops)
        case Loop(_, start, stop):
            return (start, stop)
        case If(value, extent):
            return (value, extent)
        case Copy(to, _, start, count) | Accumulate(to, _, start, count):
            return (to, start, count)
        case Fill(to, _, count):
            return (to, count)
        case CopyRows(to, to_step, _, start, step, rows, count):
            return (to, to_step, start, step, rows, count)
        case CopyGrid(to, to_leap, to_step, _, start, leap, step, turns, rows):
            return (to, to_leap, to_step, start, leap, step, turns, rows)
        case AccumulateRows(to, to_step, to_each, _, start, step, each, rows, columns):
            return (to, to_step, to_each, start, step, each, rows, columns)
        case FillRows(to, to_step, _, rows, count):
            return (to, to_step, rows, count)
        case Deal(to, to_stride, _, columns, _, start, low, inside, _, count, to_step, step):
            return (to, to_stride, columns, start, low, inside, count, to_step, step)
        case Transpose(to, rows, _, start, columns):
            return (to, start, *rows.levels, *columns.levels, *statement.turns)


def mapped(statement: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """Return *statement* with each expression that it holds itself, those of its body not included, changed."""

    def changed(value: object) -> object:
        if isinstance(value, Expr):
            return change(value)
        if isinstance(value, Axis):
            return replace(value, **{f.name: change(getattr(value, f.name)) for f in fields(value)})
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
