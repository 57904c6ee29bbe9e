"""Fuse an innermost loop with its one leaf: runs become rows, rows a grid, transposes repeat or grow.

    for i < n: copy 3 elements, 5 apart    becomes    n rows of 3 elements, 5 apart

A loop around a grid repeats it.  A loop around a transpose makes an axis of it longer where the copies are contiguous
along that axis: tiles then span whole cache lines even if the extents are small.  Elsewhere the transpose repeats.
Short rows that overlap in the source, each one element on from the row before, become a transpose with the next loop
around them.

Assumes: leaves are selected and alone in their loops where possible (`select_runs_and_transposes`, `distribute`).
Offsets are sums of products in which a loop's name is a factor at most once (`bound_loops`).
Guarantees: the same elements; the terms of a sum in the same order.  A loop of at most `SHORT` steps over one run is
left for `unroll`.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO, equal, linear, names, subtract
from symlayout_codegen.ir.statements import (
    SHORT,
    AccumulateRows,
    AccumulateRun,
    Axis,
    Body,
    CopyGrid,
    CopyRows,
    CopyRun,
    CutGrid,
    Deal,
    FillRows,
    FillRun,
    If,
    JoinGrid,
    Leaf,
    Loop,
    Rows,
    Statement,
    Transpose,
    expressions,
    is_short,
)


def fuse_rows(body: Body) -> Body:
    """Return *body* with each loop around one leaf fused with it, except for loops that `unroll` will unroll."""
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(_, IntLiteral(start), IntLiteral(stop), (CopyRun() | AccumulateRun() | FillRun(),)) if (
                stop - start <= SHORT
            ):
                made.append(statement)
            case Loop():
                loop = replace(statement, body=fuse_rows(statement.body))
                made.append((_fused(loop, loop.body[0]) if len(loop.body) == 1 else None) or loop)
            case If(_, _, inside, outside):
                made.append(replace(statement, inside=fuse_rows(inside), outside=fuse_rows(outside)))
            case _:
                made.append(statement)
    return tuple(made)


def _fused(loop: Loop, leaf: Statement) -> Statement | None:
    """Return *leaf* for all of *loop* as one statement; None where there is no such statement."""
    count = subtract(loop.stop, loop.start)
    if not isinstance(leaf, Leaf | Rows) or _varies(leaf, loop.name):
        return None
    to_step, to = linear(leaf.to, loop.name)
    to = add(mul(to_step, loop.start), to)
    if isinstance(leaf, FillRun):
        return FillRows(to, to_step, leaf.fill, count, leaf.count)
    if isinstance(leaf, FillRows):
        return None
    step, start = linear(leaf.start, loop.name)
    start = add(mul(step, loop.start), start)
    match leaf:
        case CopyRun():
            return CopyRows(to, to_step, leaf.source, start, step, count, leaf.count)
        case CopyRows() if is_short(leaf.count):
            if leaf.step == ONE and equal(to_step, leaf.count):
                columns = Axis(leaf.count, ONE, count, step)
                return Transpose(to, Axis(leaf.rows, leaf.to_step), leaf.source, start, columns)
            if leaf.count == ONE or is_short(count):
                return _grid(leaf, to, to_step, start, step, count)
        case CopyRows() if is_short(count):
            return _grid(leaf, to, to_step, start, step, count)
        case CopyGrid() if leaf.high == ONE:
            return replace(leaf, to=to, start=start, high=count, to_jump=to_step, jump=step)
        case AccumulateRun():
            if leaf.count == ONE:
                return AccumulateRows(to, ZERO, to_step, leaf.source, start, ZERO, step, ONE, count)
            return AccumulateRows(to, to_step, ONE, leaf.source, start, step, ONE, count, leaf.count)
        case AccumulateRows() if leaf.rows == ONE:
            return replace(leaf, to=to, to_step=to_step, start=start, step=step, rows=count)
        case Deal():
            return leaf.repeated((ZERO, ZERO, count, count), (to_step, to), (step, start))
        case CutGrid() if (leaf.before, leaf.high, leaf.after) == (ZERO, ONE, ZERO):
            return replace(leaf, to=to, start=start, high=count, to_jump=to_step, jump=step)
        case JoinGrid() if leaf.count == ONE:
            return replace(leaf, to=to, start=start, count=count, to_jump=to_step, jump=step)
        case JoinGrid() if leaf.high == ONE:
            return replace(leaf, to=to, start=start, high=count, to_leap=to_step, from_leap=step)
        case Transpose():
            return _repeated(replace(leaf, to=to, start=start), count, to_step, step)
    return None


def _grid(leaf: CopyRows, to: Expr, to_step: Expr, start: Expr, step: Expr, turns: Expr) -> CopyGrid:
    """Return *turns* copies of *leaf*, *to_step* and *step* apart."""
    return CopyGrid(to, to_step, leaf.to_step, leaf.source, start, step, leaf.step, turns, leaf.rows, leaf.count)


def _repeated(leaf: Transpose, count: Expr, to_step: Expr, step: Expr) -> Transpose | None:
    """Return *count* copies of *leaf*, *to_step* and *step* apart, as one transpose; None after two repetitions."""
    if leaf.count == ONE and leaf.splits is None and leaf.joins is None:
        if equal(to_step, leaf.columns.extent) and (longer := leaf.columns.within(count, step)):
            return replace(leaf, columns=longer)
        if equal(step, leaf.rows.extent) and (longer := leaf.rows.within(count, to_step)):
            return replace(leaf, rows=longer)
    if leaf.count == ONE:
        return replace(leaf, count=count, to_step=to_step, step=step)
    if leaf.high == ONE:
        return replace(leaf, high=count, to_leap=to_step, leap=step)
    return None


def _varies(leaf: Leaf | Rows, name: str) -> bool:
    """Return whether any expression of *leaf* but its offsets mentions *name*."""
    if isinstance(leaf, Leaf):
        return name in names(leaf.count)
    fixed = replace(leaf, to=ZERO) if isinstance(leaf, FillRows) else replace(leaf, to=ZERO, start=ZERO)
    return any(name in names(e) for e in expressions(fixed))
