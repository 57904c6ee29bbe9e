"""Make rows of the short runs that stand side by side in an innermost loop.

    for i: copy 3; fill 1       becomes       for each strip of i: rows of copies; rows of fills

so that many runs move at once.  A strip is short enough that the lines it writes are still in the nearest
cache when the next rows write them.  Each output element is written once, so all orders write the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Literal, Name, add, mul
from symlayout_codegen.ir.queries import ZERO, equal, floor_div, linear, minimum, subtract
from symlayout_codegen.ir.statements import Body, Copy, CopyRows, Fill, FillRows, If, Let, Loop, Statement
from symlayout_codegen.passes.rename import identifier

LONGEST = 16
"""Elements of the longest run that moves beside others of its kind."""
MOST = 8
"""Runs in a loop of which rows are made."""
STRIP = 256
"""Steps of the loop in a strip, where a step writes no more than `LONGEST` elements: 4 to 32 KiB."""


def strip(body: Body, taken: set[str]) -> Body:
    """Return *body* with each such loop as one over strips; the names that it needs are added to *taken*."""
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                loop = replace(statement, body=strip(statement.body, taken))
                made.append(_in_strips(loop, taken) if _is_of_runs(loop) else loop)
            case If(_, _, inside, outside):
                made.append(replace(statement, inside=strip(inside, taken), outside=strip(outside, taken)))
            case _:
                made.append(statement)
    return tuple(made)


def _is_of_runs(loop: Loop) -> bool:
    """Return whether *loop* may be long, and holds short runs alone, not all of them single elements."""
    count = subtract(loop.stop, loop.start)
    if not 2 <= len(loop.body) <= MOST or (isinstance(count, Literal) and count.value < STRIP):
        return False
    runs = [inner for inner in loop.body if isinstance(inner, Copy | Fill)]
    lengths = [run.count.value for run in runs if isinstance(run.count, Literal) and run.count.value <= LONGEST]
    steps = [linear(run.to, loop.name)[0] for run in runs]
    return (
        len(lengths) == len(loop.body)
        and max(lengths) > 1
        and all(equal(step, steps[0]) for step in steps)
        and isinstance(steps[0], Literal)
        and 0 < steps[0].value <= LONGEST
    )


def _in_strips(loop: Loop, taken: set[str]) -> Loop:
    number, first, rows = (identifier(f"{loop.name}_{what}", taken) for what in ("strip", "first", "rows"))
    count = subtract(loop.stop, loop.start)
    begin = add(loop.start, mul(STRIP, Name(number)))
    inside = (
        Let(first, begin),
        Let(rows, minimum(Literal(STRIP), subtract(loop.stop, Name(first)))),
        *_rows(loop, first, rows),
    )
    return Loop(number, ZERO, floor_div(add(count, STRIP - 1), Literal(STRIP)), inside, loop.comment)


def _rows(loop: Loop, first: str, rows: str) -> Iterator[Statement]:
    """Yield the rows of each run of *loop*: *rows* of them from step *first* on."""
    for run in loop.body:
        assert isinstance(run, Copy | Fill)
        to_step, to = linear(run.to, loop.name)
        to = add(mul(to_step, Name(first)), to)
        if isinstance(run, Fill):
            yield FillRows(to, to_step, run.fill, Name(rows), run.count)
        else:
            step, start = linear(run.start, loop.name)
            yield CopyRows(to, to_step, run.source, add(mul(step, Name(first)), start), step, Name(rows), run.count)
