"""Tiles: a formula that reads across the rows of its source reads along the rows of a tile."""

from __future__ import annotations

from symlayout_codegen.ir.formula import Formula, Step
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ONE, ZERO
from symlayout_codegen.ir.statements import Axis, Compute, LoadAt, Loop, Stage, Statement, walk
from symlayout_codegen.passes.stage_tiles import COLUMNS, LONG, ROWS, stage_tiles

ROW, COLUMN, COUNT = NamedInt("i"), NamedInt("j"), NamedInt("n")
CAST = Formula((Step("load", "uint8", (), 0), Step("cast", "float32", (0,))))


def loops(rows: Expr, start: Expr, guards: tuple[tuple[Expr, Expr, int], ...] = ()) -> Statement:
    point = Compute(add(mul(COUNT, ROW), COLUMN), "", CAST, (LoadAt(0, start, guards),))
    return Loop("i", ZERO, rows, (Loop("j", ZERO, COUNT, (point,)),))


def test_few_rows_have_long_tiles_and_are_split_in_registers() -> None:
    body, size = stage_tiles((loops(IntLiteral(3), add(ROW, mul(3, COLUMN))),), ("uint8", "float32"), {"i", "j", "n"})
    (stage,) = (s for s in walk(body) if isinstance(s, Stage))
    (point,) = (s for s in walk(body) if isinstance(s, Compute))
    assert size == 1
    assert (stage.rows, stage.columns.step) == (Axis(IntLiteral(3), IntLiteral(LONG)), IntLiteral(3))
    assert stage.transpose.splits == 3
    assert point.loads == (LoadAt(0, add(mul(LONG, ROW), COLUMN), (), True),)


def test_many_rows_are_cut_too() -> None:
    body, _ = stage_tiles((loops(COUNT, add(ROW, mul(COUNT, COLUMN))),), ("uint8", "float32"), {"i", "j", "n"})
    tiles = [s for s in walk(body) if isinstance(s, Loop)][:2]
    assert [loop.name for loop in tiles] == ["i_tile", "j_tile"]
    (stage,) = (s for s in walk(body) if isinstance(s, Stage))
    assert stage.rows.step == IntLiteral(COLUMNS)
    assert ROWS * COLUMNS <= 4 * LONG


def test_loads_along_rows_and_loads_with_guards_need_no_tile() -> None:
    for start in (COLUMN, add(ROW, COLUMN), add(mul(2, ROW), mul(3, COLUMN))):
        loop = loops(IntLiteral(3), start)
        assert stage_tiles((loop,), ("uint8", "float32"), set()) == ((loop,), 0)
    guarded = loops(IntLiteral(3), add(ROW, mul(3, COLUMN)), ((ROW, ONE, 0),))
    assert stage_tiles((guarded,), ("uint8", "float32"), set()) == ((guarded,), 0)
