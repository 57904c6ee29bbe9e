"""An interpreter of scheduled loops: the counterpart of `simulate`, by a walk over the statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from symlayout_codegen.ir.integer_expressions import Expr, evaluate
from symlayout_codegen.ir.nest import Term
from symlayout_codegen.ir.statements import (
    AccumulateRows,
    AccumulateRun,
    Axis,
    Body,
    CopyGrid,
    CopyRows,
    CopyRun,
    CutGrid,
    Deal,
    Entry,
    FillRows,
    FillRun,
    If,
    Interval,
    JoinGrid,
    Let,
    Loop,
    Share,
    Statement,
    Transpose,
)
from symlayout_codegen.passes.schedule import Program

Written = dict[int, tuple[Term, ...]]


def run(program: Program, parameters: Mapping[str, int], parts: int = 1) -> Written:
    """Return what the parts together write: the counterpart of `simulate`, by a walk over the statements."""
    values = dict(parameters)
    for step in program.nest.prelude:
        value = evaluate(step.value, values)
        if hasattr(step, "name"):
            values[step.name] = value
    written: Written = {}
    body = (*program.steps, *program.body)
    calls = [execute(body, values | {"part": k, "parts": parts}, program.nest.sources) for k in range(parts)]
    for at, term, adds in itertools.chain(*calls):
        if adds:
            written[at] += (term,)
        else:
            replaced = written.get(at, ())
            filled = program.nest.background is not None and all(source == "fill" for source, _ in replaced)
            assert not replaced or filled, f"offset {at} is written twice"
            written[at] = (term,)
    return written


Element = tuple[int, Term, bool]
"""What a statement writes: the offset, the term, and whether the term is added."""


def elements(body: Body, values: Mapping[str, int] | None = None, sources: tuple[str, ...] = ("x",)) -> list[Element]:
    """Return what *body* writes, in order."""
    return list(execute(body, dict(values or {}), sources))


def execute(body: Body, values: dict[str, int], sources: tuple[str, ...]) -> Iterator[Element]:
    for statement in body:
        yield from execute_one(statement, values, sources)


def execute_one(statement: Statement, values: dict[str, int], sources: tuple[str, ...]) -> Iterator[Element]:
    """Yield the offsets that *statement* writes, in order, with what comes there and whether it is added."""

    def value(expr: Expr) -> int:
        return evaluate(expr, values)

    match statement:
        case Let(name, expr):
            values[name] = value(expr)
        case Entry(name, table, place):
            assert 0 <= value(place) < len(table), "an entry outside of its table is read"
            values[name] = table[value(place)]
        case Interval(first, last, base, coefficient, extent, count):
            inside = [d for d in range(value(count)) if 0 <= value(base) + value(coefficient) * d < value(extent)]
            values[first] = inside[0] if inside else 0
            values[last] = inside[-1] + 1 if inside else 0
            assert inside == list(range(values[first], values[last]))
        case Share(_, loops):
            values.update(share([(begin, end, value(extent)) for begin, end, extent in loops], values))
        case Loop(name, start, stop, body):
            for digit in range(value(start), value(stop)):
                yield from execute(body, values | {name: digit}, sources)
        case If(tested, extent, inside_, outside):
            yield from execute(inside_ if 0 <= value(tested) < value(extent) else outside, values, sources)
        case CopyRun(to, source, start, count) | AccumulateRun(to, source, start, count):
            for i in range(value(count)):
                yield value(to) + i, (sources[source], value(start) + i), isinstance(statement, AccumulateRun)
        case FillRun(to, fill, count):
            for i in range(value(count)):
                yield value(to) + i, ("fill", fill), False
        case CopyRows(to, to_step, source, start, step, rows, count):
            for i in range(value(rows)):
                for j in range(value(count)):
                    at = value(to) + i * value(to_step) + j
                    yield at, (sources[source], value(start) + i * value(step) + j), False
        case CopyGrid(to, to_leap, to_step, source, start, leap, step, turns, rows, count):
            extents = map(value, (statement.high, turns, rows, count))
            for h, t, i, j in itertools.product(*map(range, extents)):
                at = value(to) + h * value(statement.to_jump) + t * value(to_leap) + i * value(to_step) + j
                offset = value(start) + h * value(statement.jump) + t * value(leap) + i * value(step) + j
                yield at, (sources[source], offset), False
        case AccumulateRows(to, to_step, to_each, source, start, step, each, rows, columns):
            for i, j in itertools.product(range(value(rows)), range(value(columns))):
                at = value(to) + i * value(to_step) + j * value(to_each)
                yield at, (sources[source], value(start) + i * value(step) + j * value(each)), True
        case FillRows(to, to_step, fill, rows, count):
            for i in range(value(rows)):
                for j in range(value(count)):
                    yield value(to) + i * value(to_step) + j, ("fill", fill), False
        case Deal(to, to_stride, streams, columns, source, size, start, low, inside, fill):
            levels = (statement.images, statement.planes, statement.rows)
            spans = [range(-value(t.before), value(t.count) + value(t.after)) for t in levels]
            for at_turn, i, j in itertools.product(itertools.product(*spans), range(streams), range(value(columns))):
                at, k = value(to) + i * value(to_stride) + j, i + streams * j
                at += sum((a + value(t.before)) * value(t.to_step) for a, t in zip(at_turn, levels, strict=True))
                offset = value(start) + k + sum(a * value(t.step) for a, t in zip(at_turn, levels, strict=True))
                dealt = all(0 <= a < value(t.count) for a, t in zip(at_turn, levels, strict=True))
                dealt = dealt and 0 <= k - value(low) < value(inside)
                assert not dealt or not value(size) or 0 <= offset < value(size)
                yield at, (sources[source], offset) if dealt else ("fill", fill), False
        case CutGrid(to, to_leap, to_step, source, start, leap, step, turns, rows, count, low, inside, fill):
            before, high, after = (value(e) for e in (statement.before, statement.high, statement.after))
            each_turn, each_row, each_column = (range(value(e)) for e in (turns, rows, count))
            for h, t, i, j in itertools.product(range(-before, high + after), each_turn, each_row, each_column):
                at = value(to) + (h + before) * value(statement.to_jump) + t * value(to_leap) + i * value(to_step) + j
                if 0 <= h < high and 0 <= t + value(turns) * i - value(low) < value(inside):
                    offset = value(start) + h * value(statement.jump) + t * value(leap) + i * value(step) + j
                    yield at, (sources[source], offset), False
                elif fill is not None:
                    yield at, ("fill", fill), False
        case JoinGrid(to, streams, source, start, size, stride, low, columns, first, _, turns, leap, step):
            spans = [range(value(extent)) for extent in (statement.high, statement.count, statement.rows, columns)]
            for h, c, r, e in itertools.product(*spans):
                (block, turn), (along, stream) = divmod(value(first) + r, value(turns)), divmod(value(low) + e, streams)
                offset = value(start) + turn * value(leap) + block * value(step) + stream * value(stride) + along
                offset += c * value(statement.jump) + h * value(statement.from_leap)
                assert 0 <= offset < value(size)
                at = value(to) + c * value(statement.to_jump) + h * value(statement.to_leap) + r * value(columns) + e
                yield at, (sources[source], offset), False
        case Transpose(to, rows, source, start, columns, count, to_step, step, high, to_leap, leap):
            for d, c in itertools.product(range(value(high)), range(value(count))):
                at = value(to) + c * value(to_step) + d * value(to_leap)
                offset = value(start) + c * value(step) + d * value(leap)
                for row, below in enumerate(places(rows, values)):
                    for column, beside in enumerate(places(columns, values)):
                        yield at + below + column, (sources[source], offset + beside + row), False


def places(axis: Axis, values: Mapping[str, int]) -> list[int]:
    """Return the offset of each index."""
    tops, highs, lows = (
        [step * k for k in range(count)]
        for count, step in (
            tuple(evaluate(e, values) for e in level)
            for level in ((axis.top, axis.jump), (axis.high, axis.leap), (axis.count, axis.step))
        )
    )
    return [t + h + low for t in tops for h in highs for low in lows]


def share(loops: list[tuple[str, str, int]], values: Mapping[str, int]) -> dict[str, int]:
    """Return the bounds of one part's loops: parts share a step where they are more than there are steps."""
    part, parts = values["part"], values["parts"]
    bounds: dict[str, int] = {}
    for begin, end, extent in loops:
        last = begin == loops[-1][0]
        groups = [[k] for k in range(parts)] if last or extent >= parts else batches(parts, parts // max(extent, 1))
        at = next(k for k, group in enumerate(groups) if part in group)
        each, more = divmod(extent, len(groups))
        bounds[begin] = each * at + min(at, more)
        bounds[end] = bounds[begin] + each + (at < more)
        part, parts = part - groups[at][0], len(groups[at])
    return bounds


def batches(count: int, size: int) -> list[list[int]]:
    return [list(range(at, min(count, at + size))) for at in range(0, count, size)]
