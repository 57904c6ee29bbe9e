"""Cut an innermost loop over several short runs into strips, and make rows of the runs in each strip.

    for i: copy 3; fill 1       becomes       for each strip of i: rows of copies; rows of fills

Many runs then move at once.  A strip is short: the cache lines that one statement of it writes are still in the
nearest cache when the next statement writes them.

Assumes: no other statement of the loop writes an element that a `CopyRun` or `FillRun` writes (the nest's definition,
which `bound_loops` keeps).  Short loops are unrolled (`unroll`).  The names in use are known (`rename`).
Guarantees: the same elements, in another order; a loop with a statement that adds is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symlayout_codegen.ir.identifiers import identifier
from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ZERO, equal, floor_div, linear, minimum, subtract
from symlayout_codegen.ir.statements import Body, CopyRows, CopyRun, FillRows, FillRun, If, Let, Loop, Statement

LONGEST_RUN = 16
"""A run of at most this many elements is short: rows of it move at once."""

MOST_RUNS = 8
"""Loops of at most this many runs are cut into strips."""

STRIP = 256
"""Steps of the loop in a strip.  A step writes at most `LONGEST_RUN` elements, so a strip writes 4 to 32 KiB."""


def cut_into_strips(body: Body, taken: set[str]) -> Body:
    """Return *body* with each loop over short runs cut into strips; new names are added to *taken*."""
    made: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                loop = replace(statement, body=cut_into_strips(statement.body, taken))
                made.append(_in_strips(loop, taken) if _is_of_runs(loop) else loop)
            case If(_, _, inside, outside):
                made.append(
                    replace(
                        statement,
                        inside=cut_into_strips(inside, taken),
                        outside=cut_into_strips(outside, taken),
                    )
                )
            case _:
                made.append(statement)
    return tuple(made)


def _is_of_runs(loop: Loop) -> bool:
    """Return whether *loop* may be long and consists of short runs, not all of them single elements."""
    count = subtract(loop.stop, loop.start)
    if not 2 <= len(loop.body) <= MOST_RUNS or (isinstance(count, IntLiteral) and count.value < STRIP):
        return False
    runs = [inner for inner in loop.body if isinstance(inner, CopyRun | FillRun)]
    lengths = [run.count.value for run in runs if isinstance(run.count, IntLiteral) and run.count.value <= LONGEST_RUN]
    steps = [linear(run.to, loop.name)[0] for run in runs]
    return (
        len(lengths) == len(loop.body)
        and max(lengths) > 1
        and all(equal(step, steps[0]) for step in steps)
        and isinstance(steps[0], IntLiteral)
        and 0 < steps[0].value <= LONGEST_RUN
    )


def _in_strips(loop: Loop, taken: set[str]) -> Loop:
    number, first, rows = (identifier(f"{loop.name}_{what}", taken) for what in ("strip", "first", "rows"))
    count = subtract(loop.stop, loop.start)
    begin = add(loop.start, mul(STRIP, NamedInt(number)))
    inside = (
        Let(first, begin),
        Let(rows, minimum(IntLiteral(STRIP), subtract(loop.stop, NamedInt(first)))),
        *_rows(loop, first, rows),
    )
    return Loop(number, ZERO, floor_div(add(count, STRIP - 1), IntLiteral(STRIP)), inside, loop.comment)


def _rows(loop: Loop, first: str, rows: str) -> Iterator[Statement]:
    """Yield *rows* rows of each run of *loop*, from step *first* on."""
    for run in loop.body:
        assert isinstance(run, CopyRun | FillRun)
        to_step, to = linear(run.to, loop.name)
        to = add(mul(to_step, NamedInt(first)), to)
        if isinstance(run, FillRun):
            yield FillRows(to, to_step, run.fill, NamedInt(rows), run.count)
        else:
            step, start = linear(run.start, loop.name)
            yield CopyRows(
                to, to_step, run.source, add(mul(step, NamedInt(first)), start), step, NamedInt(rows), run.count
            )
