"""Distribute a loop over the statements in it, where a transpose is one of them.

    for i:  margin(i); transpose(i); margin(i)    becomes    for i: margin(i)
                                                             for i: transpose(i)
                                                             for i: margin(i)

and the loops of a margin that do not depend on ``i`` go around the one over ``i``.  What is left is a
transpose, a run or an element for each ``i``, which `rows` makes one statement.  Each output element is
written once, so all orders write the same; sums are no transposes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symlayout_codegen.ir.queries import names
from symlayout_codegen.ir.statements import Body, Deal, If, Interval, Let, Loop, Statement, Transpose, expressions


def distribute(body: Body) -> Body:
    """Return statements that do the same, each transpose alone in the loop around it."""
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                loop = replace(statement, body=distribute(statement.body))
                apart = any(isinstance(inner, Transpose | Deal) for inner in loop.body) and _is_free(loop.body)
                made += (each for inner in loop.body for each in _around(loop, inner)) if apart else (loop,)
            case If(_, _, inside, outside):
                made.append(replace(statement, inside=distribute(inside), outside=distribute(outside)))
            case _:
                made.append(statement)
    return tuple(made)


def _is_free(body: Body) -> bool:
    """Return whether no statement of *body* needs what another computes."""
    return not any(isinstance(statement, Let | Interval | If) for statement in body)


def _around(loop: Loop, inner: Statement) -> Iterator[Statement]:
    """Yield *inner* for each turn of *loop*, the loop as far inside as it may go."""
    if isinstance(inner, Loop) and loop.name not in names(inner.start) | names(inner.stop):
        lets = tuple(each for each in inner.body if isinstance(each, Let | Interval))
        rest = inner.body[len(lets) :]
        fixed = not any(loop.name in names(e) for each in lets for e in expressions(each))
        if fixed and inner.body[: len(lets)] == lets and _is_free(rest):
            yield replace(inner, body=(*lets, *(each for one in rest for each in _around(loop, one))))
            return
    yield replace(loop, body=(inner,))
