"""Make one statement of an innermost loop: rows of elements, or transposes, at steps that do not change."""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.cir import Literal, add, mul
from symlayout_codegen.expressions import ONE, linear, names, subtract
from symlayout_codegen.loops import Body, Copy, CopyRows, Fill, FillRows, If, Loop, Statement, Transpose
from symlayout_codegen.unroll import SHORT


def gather_rows(body: Body) -> Body:
    """Return *body* with each loop over one leaf replaced, but for those short enough to be written out."""
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(_, Literal(start), Literal(stop), (Copy() | Fill(),)) if stop - start <= SHORT:
                made.append(statement)
            case Loop(_, _, _, (leaf,)):
                made.append(_as_rows(statement, leaf) or replace(statement, body=gather_rows(statement.body)))
            case Loop():
                made.append(replace(statement, body=gather_rows(statement.body)))
            case If(_, _, inside, outside):
                made.append(replace(statement, inside=gather_rows(inside), outside=gather_rows(outside)))
            case _:
                made.append(statement)
    return tuple(made)


def _as_rows(loop: Loop, leaf: Statement) -> Statement | None:
    """Return *leaf* for each turn of *loop* as one statement, or None where it is none of these."""
    rows = subtract(loop.stop, loop.start)
    match leaf:
        case Copy(to, source, start, count) if loop.name not in names(count):
            to_step, to = linear(to, loop.name)
            step, start = linear(start, loop.name)
            to, start = add(mul(to_step, loop.start), to), add(mul(step, loop.start), start)
            return CopyRows(to, to_step, source, start, step, rows, count)
        case Fill(to, fill, count) if loop.name not in names(count):
            to_step, to = linear(to, loop.name)
            return FillRows(add(mul(to_step, loop.start), to), to_step, fill, rows, count)
        case Transpose(to, to_stride, _, start, stride, high, wide, count):
            if count != ONE or loop.name in names(to_stride) | names(stride) | names(high) | names(wide):
                return None
            to_step, to = linear(to, loop.name)
            step, start = linear(start, loop.name)
            to, start = add(mul(to_step, loop.start), to), add(mul(step, loop.start), start)
            return replace(leaf, to=to, start=start, count=rows, to_step=to_step, step=step)
        case _:
            return None
