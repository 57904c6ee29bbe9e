"""Print what moves elements of half a byte: calls of the runtime for these, with offsets in half bytes."""

from __future__ import annotations

from collections.abc import Callable

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral
from symlayout_codegen.ir.statements import (
    AccumulateRows,
    AccumulateRun,
    Axis,
    Compute,
    CopyGrid,
    CopyRows,
    CopyRun,
    CutGrid,
    Deal,
    Entry,
    FillRows,
    FillRun,
    FoldTerms,
    If,
    Interval,
    JoinGrid,
    Let,
    Loop,
    Share,
    Stage,
    StartFolds,
    Statement,
    Transpose,
)

Show = Callable[[Expr], str]


def half_leaf(statement: Statement, show: Show, plan: str) -> str | None:
    """Return the C of *statement* for elements of half a byte; None for what holds no element.

    *plan* is the plan of its rows.
    """
    match statement:
        case CopyRun(to, source, start, IntLiteral(1)):
            return f"sl_nibble_move(to, {show(to)}, from{source}, {show(start)});"
        case CopyRun(to, source, start, count):
            return f"sl_nibble_copy(to, {show(to)}, from{source}, {show(start)}, {show(count)});"
        case FillRun(to, fill, IntLiteral(1)):
            return f"sl_nibble_store(to, {show(to)}, fill{fill});"
        case FillRun(to, fill, count):
            return f"sl_nibble_fill(to, {show(to)}, fill{fill}, {show(count)});"
        case CopyRows(to, to_step, source, start, step, rows, count):
            faces = f"to, {show(to)}, {show(to_step)}, from{source}, {show(start)}, {show(step)}"
            return f"sl_nibble_copy_rows({faces}, {show(rows)}, {show(count)}, {plan});"
        case CopyGrid():
            return f"sl_nibble_copy_grid({grid_arguments(statement, show)}, {plan});"
        case FillRows(to, to_step, fill, rows, count):
            return f"sl_nibble_fill_rows(to, {show(to)}, {show(to_step)}, fill{fill}, {show(rows)}, {show(count)});"
        case Transpose(to, rows, source, start, columns):
            faces = f"to, {show(to)}, {_axis(rows, show)}, from{source}, {show(start)}, {_axis(columns, show)}"
            turns = f"sl_turns_{len(statement.turns) // 3}({', '.join(map(show, statement.turns))})"
            return f"sl_nibble_transpose({faces}, {turns});"
        case Let() | Entry() | Interval() | Share() | Loop() | If():
            return None
        case AccumulateRun() | AccumulateRows() | Deal() | CutGrid() | JoinGrid():
            raise TypeError("elements of half a byte are not added, and are not dealt out")
        case StartFolds() | FoldTerms() | Compute() | Stage():
            raise TypeError("elements of half a byte are not computed")


def grid_arguments(grid: CopyGrid, show: Show) -> str:
    """Return the arguments of the call for *grid*, up to its extents."""
    written = f"to, {show(grid.to)}, {show(grid.to_leap)}, {show(grid.to_step)}"
    read = f"from{grid.source}, {show(grid.start)}, {show(grid.leap)}, {show(grid.step)}"
    extents = (grid.turns, grid.rows, grid.count, grid.high, grid.to_jump, grid.jump)
    return ", ".join((written, read, *map(show, extents)))


def _axis(axis: Axis, show: Show) -> str:
    return f"sl_axis_{len(axis.levels) // 2}({', '.join(map(show, axis.levels))})"
