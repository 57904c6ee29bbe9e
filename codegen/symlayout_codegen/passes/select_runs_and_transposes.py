"""Replace innermost loops by leaves: a loop over contiguous elements by a run, two crossed loops by a transpose.

    for i < n: to[t + i] = from[s + i]                    becomes    copy n elements from s to t
    for i < n: for j < m: to[m*i + j] = from[i + n*j]     becomes    a transpose of n rows, m columns
    for i < n: for j < m: to[m*i + j] = from[n*j - i]     becomes    one whose rows are written from the last on

Assumes: each output element that a `CopyRun` or `FillRun` writes is written by no other statement of its loop
(the nest's definition; `bound_loops` keeps it), so a loop may be done for its statements in turn.  A statement that
adds is not covered: a loop with one is left in its order.  Offsets are sums of products in which a loop's name is a
factor at most once (`bound_loops`).
Guarantees: the same elements; the terms of a sum in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import IntLiteral, add, mul
from symlayout_codegen.ir.queries import ONE, equal, linear, names, negate, subtract
from symlayout_codegen.ir.statements import (
    AccumulateRun,
    Axis,
    Body,
    CopyRun,
    FillRun,
    If,
    Leaf,
    Loop,
    Statement,
    Transpose,
)


def select_runs_and_transposes(body: Body) -> Body:
    """Return *body* with loops replaced by the leaves that do the same, from the inside out."""
    selected: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                selected += _select_loop(replace(statement, body=select_runs_and_transposes(statement.body)))
            case If(_, _, inside, outside):
                selected.append(
                    replace(
                        statement,
                        inside=select_runs_and_transposes(inside),
                        outside=select_runs_and_transposes(outside),
                    )
                )
            case _:
                selected.append(statement)
    return tuple(selected)


def _select_loop(loop: Loop) -> Iterable[Statement]:
    match loop.body:
        case (CopyRun() | AccumulateRun() | FillRun() as leaf,):
            return (_as_run(loop, leaf) or loop,)
        case _ if all(isinstance(inner, Loop | CopyRun | FillRun) for inner in loop.body):
            parts = [(inner, _as_transpose(loop, inner)) for inner in loop.body]
            if any(transpose for _, transpose in parts):
                return tuple(transpose or replace(loop, body=(inner,)) for inner, transpose in parts)
    return (loop,)


def _as_run(loop: Loop, leaf: Leaf) -> Leaf | None:
    """Return *leaf* for all of *loop* as one run; None if the elements are not contiguous."""
    step, to = linear(leaf.to, loop.name)
    if not equal(step, leaf.count):
        return None
    count = mul(leaf.count, subtract(loop.stop, loop.start))
    to = add(mul(step, loop.start), to)
    if isinstance(leaf, FillRun):
        return FillRun(to, leaf.fill, count)
    read_step, start = linear(leaf.start, loop.name)
    if not equal(read_step, leaf.count):
        return None
    return replace(leaf, to=to, start=add(mul(read_step, loop.start), start), count=count)


def _as_transpose(loop: Loop, inner: Statement) -> Transpose | None:
    """Return *loop* around *inner* as a transpose if *loop* is contiguous in the source, *inner* in the output.

    A loop that runs backwards in the source runs backwards in the output instead.
    """
    match inner:
        case Loop(name, start, stop, (CopyRun(to, source, read, IntLiteral(1)),)) if loop.name not in (
            names(start) | names(stop)
        ):
            rows_write, to = linear(to, loop.name)
            columns_write, to = linear(to, name)
            rows_read, read = linear(read, loop.name)
            columns_read, read = linear(read, name)
            backwards = equal(rows_read, negate(ONE))
            if not (equal(rows_read, ONE) or backwards) or not equal(columns_write, ONE):
                return None
            first = subtract(loop.stop, ONE) if backwards else loop.start
            return Transpose(
                add(mul(rows_write, first), start, to),
                Axis(subtract(loop.stop, loop.start), negate(rows_write) if backwards else rows_write),
                source,
                add(mul(rows_read, first), mul(columns_read, start), read),
                Axis(subtract(stop, start), columns_read),
            )
        case _:
            return None
