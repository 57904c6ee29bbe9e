"""Unroll short loops over one leaf, so that the loop around is the innermost one.

    for k < 2: to[2*i + k] = from[i + n*k]    becomes    to[2*i] = from[i]; to[2*i + 1] = from[i + n]

Assumes: runs and rows are made (`select_runs_and_transposes`, `fuse_rows`): what is short and still a loop stays short.
Guarantees: the same elements in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral
from symlayout_codegen.ir.queries import substitute
from symlayout_codegen.ir.statements import SHORT, Body, Compute, FillRun, If, Leaf, Loop, Statement, mapped


def unroll(body: Body) -> Body:
    """Return *body* with each loop of at most `SHORT` steps over one leaf replaced by its steps."""
    written: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(name, IntLiteral(start), IntLiteral(stop), (leaf,)) if (
                isinstance(leaf, Leaf | Compute) and stop - start <= SHORT
            ):
                written += (_step(leaf, {name: IntLiteral(k)}) for k in range(start, stop))
            case Loop():
                written.append(replace(statement, body=unroll(statement.body)))
            case If(_, _, inside, outside):
                written.append(replace(statement, inside=unroll(inside), outside=unroll(outside)))
            case _:
                written.append(statement)
    return tuple(written)


def _step(leaf: Leaf | Compute, values: Mapping[str, Expr]) -> Statement:
    if isinstance(leaf, Compute):
        return mapped(leaf, partial(substitute, values=values))
    to, count = substitute(leaf.to, values), substitute(leaf.count, values)
    if isinstance(leaf, FillRun):
        return replace(leaf, to=to, count=count)
    return replace(leaf, to=to, start=substitute(leaf.start, values), count=count)
