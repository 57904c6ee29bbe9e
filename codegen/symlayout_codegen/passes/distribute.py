"""Distribute a loop over its statements where a transpose, or a row dealt out, is one of them.

    for i:  margin(i); transpose(i); margin(i)    becomes    for i: margin(i)
                                                             for i: transpose(i)
                                                             for i: margin(i)

The loops of a margin whose bounds do not mention ``i`` go around the loop over ``i``.  Each loop over ``i`` then has
one leaf inside, and `fuse_rows` makes one statement of the two.

Assumes: transposes are selected (`select_runs_and_transposes`).  Each output element that a loop with a transpose
writes is written once, so all orders of its statements write the same.
Guarantees: the same elements.  A loop whose statements need locals of the loop, or tests, is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symlayout_codegen.ir.queries import names
from symlayout_codegen.ir.statements import (
    Body,
    CutGrid,
    Deal,
    Entry,
    If,
    Interval,
    JoinGrid,
    Let,
    Loop,
    Statement,
    Transpose,
    expressions,
)


def distribute(body: Body) -> Body:
    """Return statements that do the same, with each transpose alone in the loop around it."""
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                loop = replace(statement, body=distribute(statement.body))
                wanted = any(isinstance(inner, Transpose | Deal | CutGrid | JoinGrid) for inner in loop.body)
                divisible = wanted and _are_independent(loop.body)
                made += (each for inner in loop.body for each in _around(loop, inner)) if divisible else (loop,)
            case If(_, _, inside, outside):
                made.append(replace(statement, inside=distribute(inside), outside=distribute(outside)))
            case _:
                made.append(statement)
    return tuple(made)


def _are_independent(body: Body) -> bool:
    """Return whether no statement of *body* computes what another one needs."""
    return not any(isinstance(statement, Let | Entry | Interval | If) for statement in body)


def _around(loop: Loop, inner: Statement) -> Iterator[Statement]:
    """Yield *inner* inside of *loop*, with *loop* moved as far inside as it may go."""
    if isinstance(inner, Loop) and loop.name not in names(inner.start) | names(inner.stop):
        lets = tuple(each for each in inner.body if isinstance(each, Let | Entry | Interval))
        rest = inner.body[len(lets) :]
        fixed = not any(loop.name in names(e) for each in lets for e in expressions(each))
        if fixed and inner.body[: len(lets)] == lets and _are_independent(rest):
            yield replace(inner, body=(*lets, *(each for one in rest for each in _around(loop, one))))
            return
    yield replace(loop, body=(inner,))
