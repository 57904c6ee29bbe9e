"""Streams: points of bytes that lie in turn are computed eight at a time, of each stream."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symlayout_codegen.ir.formula import Formula, Step
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO, expanded, subtract
from symlayout_codegen.ir.statements import Compute, LoadAt, Loop, Statement
from symlayout_codegen.passes.compute_streams import compute_streams

ROW, COLUMN, COUNT = NamedInt("i"), NamedInt("j"), NamedInt("n")
TYPES = ("uint8", "float32", "float32")
LOAD, CAST = Step("load", "uint8", (), 0), Step("cast", "float32", (0,))
SCALED = Formula((LOAD, CAST, Step("load", "float32", (), 1), Step("multiply", "float32", (1, 2))))


def loops(
    rows: Expr,
    start: Expr,
    formula: Formula = SCALED,
    scale: Expr = ROW,
    guards: tuple[tuple[Expr, Expr, int], ...] = (),
) -> Statement:
    loads = (LoadAt(0, start, guards), LoadAt(1, scale))
    point = Compute(add(mul(COUNT, ROW), COLUMN), "", formula, loads)
    return Loop("i", ZERO, rows, (Loop("j", ZERO, COUNT, (point,)),))


@pytest.mark.parametrize("streams", [2, 3, 4])
def test_a_statement_computes_a_point_of_each_stream(streams: int) -> None:
    (loop,) = compute_streams((loops(IntLiteral(streams), add(ROW, mul(streams, COLUMN), 7)),), TYPES)
    assert isinstance(loop, Loop)
    assert (loop.name, loop.start, loop.stop, loop.streams) == ("j", ZERO, COUNT, 0)
    for k, point in enumerate(loop.body):
        assert isinstance(point, Compute)
        assert expanded(subtract(point.to, add(mul(k, COUNT), COLUMN))) == ZERO
        byte, scale = point.loads
        assert expanded(subtract(byte.start, add(mul(streams, COLUMN), 7 + k))) == ZERO
        assert scale == LoadAt(1, IntLiteral(k))


def test_what_the_runtime_has_no_vectors_for_is_left() -> None:
    three, start = IntLiteral(3), add(ROW, mul(3, COLUMN))
    left = Formula((LOAD, CAST, Step("maximum", "float32", (1, 1))))
    whole = Formula((LOAD, Step("add", "uint8", (0, 0)), Step("cast", "float32", (1,))))
    twice = Formula((LOAD, CAST, Step("cast", "float64", (1,)), Step("cast", "float32", (2,))))
    for loop in (
        loops(IntLiteral(5), add(ROW, mul(5, COLUMN))),
        loops(COUNT, add(ROW, mul(COUNT, COLUMN))),
        loops(three, add(ROW, mul(4, COLUMN))),
        loops(three, add(mul(2, ROW), mul(3, COLUMN))),
        loops(three, start, scale=COLUMN),
        loops(three, start, guards=((ROW, ONE, 0),)),
        *(loops(three, start, formula) for formula in (left, whole, twice, Formula((LOAD,)))),
    ):
        assert compute_streams((loop,), TYPES) == (loop,)
    assert compute_streams((loops(three, start),), ("uint16", "float32", "float32")) == (loops(three, start),)
    assert compute_streams((loops(three, start),), ("uint8", "float32", "float16")) == (loops(three, start),)


def test_loops_around_stay() -> None:
    inside = loops(IntLiteral(3), add(ROW, mul(3, COLUMN)))
    outer = Loop("h", ZERO, COUNT, (inside,))
    assert compute_streams((outer,), TYPES) == (replace(outer, body=compute_streams((inside,), TYPES)),)
