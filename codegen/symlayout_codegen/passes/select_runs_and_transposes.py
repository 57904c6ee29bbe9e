"""Choose the leaves: loops over contiguous elements become runs, two loops of crossed faces a transpose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Literal, add, mul
from symlayout_codegen.ir.queries import ONE, equal, linear, names, subtract
from symlayout_codegen.ir.statements import Accumulate, Axis, Body, Copy, Fill, If, Leaf, Loop, Statement, Transpose


def select(body: Body) -> Body:
    """Replace loops by the leaves that do the same, from the inside out."""
    selected: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                selected += _select_loop(replace(statement, body=select(statement.body)))
            case If(_, _, inside, outside):
                selected.append(replace(statement, inside=select(inside), outside=select(outside)))
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
                Axis(subtract(loop.stop, loop.start), rows_write),
                source,
                add(loop.start, mul(columns_read, start), read),
                Axis(subtract(stop, start), columns_read),
            )
        case _:
            return None
