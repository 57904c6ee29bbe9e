"""Compute points of bytes that lie in turn, as the colours of an image do, in vectors.

    for i < 3: for j: to[n*i + j] = f(from[i + 3*j])
    becomes    for j: to[j] = f(from[3*j]); to[n + j] = f(from[3*j + 1]); to[2*n + j] = f(from[3*j + 2])

The new loop is marked: each of its statements reads one stream, and `OCTET` steps of it are done at a time.  One load
brings the bytes of all streams, a shuffle makes integers of those of one stream, and a conversion makes floats.

Assumes: the digits are ordered (`order`): the fastest digit of the source is right outside of the output's.
Guarantees: the same values, in another order.  What is not converted to float32 right away, and functions that are not
those of vectors in C, are left to `stage_tiles`.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.formula import Formula
from symlayout_codegen.ir.integer_expressions import IntLiteral
from symlayout_codegen.ir.queries import ONE, ZERO, expanded, linear, names, substitute
from symlayout_codegen.ir.statements import MOST_STREAMS, Body, Compute, If, Loop, Statement, mapped

BYTES = ("uint8", "int8")
"""The types of which the runtime makes floats."""

IN_VECTORS = frozenset({"add", "subtract", "multiply", "divide"})
"""The functions that C has for vectors of floats."""


def compute_streams(body: Body, types: tuple[str, ...]) -> Body:
    """Return *body* with loops over streams as one loop that does a step of each.

    Parameters
    ----------
    types : the type of each source, then of the output.
    """
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(body=(Loop(body=(Compute() as point,)) as inner,)) if not point.name:
                made.append(_in_streams(statement, inner, point, types) or statement)
            case Loop():
                made.append(replace(statement, body=compute_streams(statement.body, types)))
            case If(_, _, inside, outside):
                kept, other = (compute_streams(each, types) for each in (inside, outside))
                made.append(replace(statement, inside=kept, outside=other))
            case _:
                made.append(statement)
    return tuple(made)


def _in_streams(outer: Loop, inner: Loop, point: Compute, types: tuple[str, ...]) -> Loop | None:
    """Return one loop that computes a point of each stream; None if there are no streams, or no vectors of them."""
    if outer.start != ZERO or not isinstance(outer.stop, IntLiteral) or not 2 <= outer.stop.value <= MOST_STREAMS:
        return None
    if types[-1] != "float32" or linear(point.to, inner.name)[0] != ONE:
        return None
    if outer.name in names(inner.start) | names(inner.stop) or any(load.guards for load in point.loads):
        return None
    steps = [linear(load.start, inner.name)[0] for load in point.loads]
    crossing = [k for k, step in enumerate(steps) if step != ZERO]
    if len(crossing) != 1:
        return None
    (number,) = crossing
    load = point.loads[number]
    if steps[number] != outer.stop or linear(load.start, outer.name)[0] != ONE or types[load.source] not in BYTES:
        return None
    if not is_of_vectors(point.formula, number):
        return None
    body = tuple(
        mapped(point, lambda e, k=k: expanded(substitute(e, {outer.name: IntLiteral(k)})))  # type: ignore[misc]
        for k in range(outer.stop.value)
    )
    return replace(inner, body=body, streams=number)


def in_vectors(formula: Formula, number: int) -> list[int]:
    """Return the numbers of the steps that depend on load *number*, in order."""
    found: list[int] = []
    for k, step in enumerate(formula.steps):
        if (step.function == "load" and step.number == number) or any(o in found for o in step.operands):
            found.append(k)
    return found


def is_of_vectors(formula: Formula, number: int) -> bool:
    """Return whether load *number* is cast to float32, and what depends on it are functions of vectors of floats."""
    found = in_vectors(formula, number)
    first = [k for k in found if formula.steps[k].function == "load"]
    for k in found:
        step = formula.steps[k]
        if k in first:
            continue
        if step.type != "float32":
            return False
        if any(o in first for o in step.operands) != (step.function == "cast"):
            return False
        if step.function != "cast" and step.function not in IN_VECTORS:
            return False
        if any(formula.steps[o].type != "float32" for o in step.operands if o not in first):
            return False
    return formula.steps[-1].type == "float32" and found[-1:] == [len(formula.steps) - 1] != first
