"""Write out the short loops over single elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, Literal
from symlayout_codegen.ir.queries import substitute
from symlayout_codegen.ir.statements import Body, Fill, If, Leaf, Loop, Statement

SHORT = 4
"""A loop of at most this many single copies is written out."""


def is_short(count: Expr) -> bool:
    """Return whether a loop of *count* steps is known to be short."""
    return isinstance(count, Literal) and count.value <= SHORT


def unroll(body: Body) -> Body:
    """Replace short loops over single elements by their copies, so that the loop around is the inner one."""
    written: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(name, Literal(start), Literal(stop), (leaf,)) if isinstance(leaf, Leaf) and stop - start <= SHORT:
                written += (_map_leaf(leaf, {name: Literal(k)}) for k in range(start, stop))
            case Loop():
                written.append(replace(statement, body=unroll(statement.body)))
            case If(_, _, inside, outside):
                written.append(replace(statement, inside=unroll(inside), outside=unroll(outside)))
            case _:
                written.append(statement)
    return tuple(written)


def _map_leaf(leaf: Leaf, values: Mapping[str, Expr]) -> Leaf:
    to, count = substitute(leaf.to, values), substitute(leaf.count, values)
    if isinstance(leaf, Fill):
        return replace(leaf, to=to, count=count)
    return replace(leaf, to=to, start=substitute(leaf.start, values), count=count)
