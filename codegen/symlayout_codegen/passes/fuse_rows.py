"""Make one statement of an innermost loop: rows of elements, or transposes, at steps that do not change.

A loop around a transpose makes one of its axes longer where that stays contiguous on its face, so that
tiles span whole cache lines though the extents be small; else it does the transpose many times.  Short rows that
overlap in the source, an element from one to the next, are a transpose once a loop lays them beside each other.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Literal, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO, equal, linear, names, subtract
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
    Loop,
    Statement,
    Transpose,
    expressions,
)
from symlayout_codegen.passes.unroll import SHORT, is_short


def gather_rows(body: Body) -> Body:
    """Return *body* with each loop over one leaf replaced, but for those short enough to be written out."""
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(_, Literal(start), Literal(stop), (Copy() | Accumulate() | Fill(),)) if stop - start <= SHORT:
                made.append(statement)
            case Loop():
                loop = replace(statement, body=gather_rows(statement.body))
                made.append((_as_rows(loop, loop.body[0]) if len(loop.body) == 1 else None) or loop)
            case If(_, _, inside, outside):
                made.append(replace(statement, inside=gather_rows(inside), outside=gather_rows(outside)))
            case _:
                made.append(statement)
    return tuple(made)


def _as_rows(loop: Loop, leaf: Statement) -> Statement | None:
    """Return *leaf* for each turn of *loop* as one statement, or None where it is none of these."""
    turns = subtract(loop.stop, loop.start)
    match leaf:
        case Copy(to, source, start, count) if loop.name not in names(count):
            to_step, to = linear(to, loop.name)
            step, start = linear(start, loop.name)
            to, start = add(mul(to_step, loop.start), to), add(mul(step, loop.start), start)
            return CopyRows(to, to_step, source, start, step, turns, count)
        case CopyRows(to, to_step, source, start, step, rows, count) if is_short(count) and not _varies(
            leaf, loop.name
        ):
            to_leap, to = linear(to, loop.name)
            leap, start = linear(start, loop.name)
            to, start = add(mul(to_leap, loop.start), to), add(mul(leap, loop.start), start)
            if step == ONE and equal(to_leap, count):
                return Transpose(to, Axis(rows, to_step), source, start, Axis(count, ONE, turns, leap))
            return CopyGrid(to, to_leap, to_step, source, start, leap, step, turns, rows) if count == ONE else None
        case Accumulate(to, source, start, count) if loop.name not in names(count):
            to_step, to = linear(to, loop.name)
            step, start = linear(start, loop.name)
            to, start = add(mul(to_step, loop.start), to), add(mul(step, loop.start), start)
            if count == ONE:
                return AccumulateRows(to, ZERO, to_step, source, start, ZERO, step, ONE, turns)
            return AccumulateRows(to, to_step, ONE, source, start, step, ONE, turns, count)
        case AccumulateRows(to, _, to_each, source, start, _, each, Literal(1), columns) if not _varies(
            leaf, loop.name
        ):
            to_step, to = linear(to, loop.name)
            step, start = linear(start, loop.name)
            to, start = add(mul(to_step, loop.start), to), add(mul(step, loop.start), start)
            return AccumulateRows(to, to_step, to_each, source, start, step, each, turns, columns)
        case Fill(to, fill, count) if loop.name not in names(count):
            to_step, to = linear(to, loop.name)
            return FillRows(add(mul(to_step, loop.start), to), to_step, fill, turns, count)
        case Deal(to, start=start, count=Literal(1)) if not _varies(leaf, loop.name):
            to_step, to = linear(to, loop.name)
            step, start = linear(start, loop.name)
            to, start = add(mul(to_step, loop.start), to), add(mul(step, loop.start), start)
            return replace(leaf, to=to, start=start, count=turns, to_step=to_step, step=step)
        case Transpose(to, rows, _, start, columns, count) if not _varies(leaf, loop.name):
            to_step, to = linear(to, loop.name)
            step, start = linear(start, loop.name)
            moved = replace(leaf, to=add(mul(to_step, loop.start), to), start=add(mul(step, loop.start), start))
            streams = leaf.splits is not None or leaf.joins is not None
            if count == ONE and not streams:
                if equal(to_step, columns.extent) and (longer := columns.within(turns, step)):
                    return replace(moved, columns=longer)
                if equal(step, rows.extent) and (longer := rows.within(turns, to_step)):
                    return replace(moved, rows=longer)
            if count == ONE:
                return replace(moved, count=turns, to_step=to_step, step=step)
            if leaf.high == ONE:
                return replace(moved, high=turns, to_leap=to_step, leap=step)
            return None
        case _:
            return None


def _varies(leaf: AccumulateRows | CopyRows | Deal | Transpose, name: str) -> bool:
    """Return whether anything but the offsets of *leaf* mentions *name*."""
    fixed = replace(leaf, to=ZERO, start=ZERO)
    return any(name in names(e) for e in expressions(fixed))
