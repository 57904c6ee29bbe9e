"""Copy what a formula reads across the rows of its source into tiles, in which it reads along rows.

    for i: for j: to[n*i + j] = f(from[i + 3*j])
    becomes    for each tile of i and j:  tile[i][j] = from[i + 3*j], as a transpose
                                          for i: for j: to[n*i + j] = f(tile[i][j])

The transpose moves elements in registers (`Transpose`), and the compiler makes vectors of the loop over ``j``.  A tile
stays in the nearest cache.

Assumes: the digits are ordered (`order`): the fastest digit of the source is right outside of the output's.  The names
in use are known (`rename`).
Guarantees: the same values, in another order.  Loads with guards, and those of folds, are left as they are.  All tiles
of a kernel have elements of one size.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.formula import TYPES
from symlayout_codegen.ir.identifiers import identifier
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import (
    ONE,
    ZERO,
    expanded,
    floor_div,
    linear,
    minimum,
    names,
    negate,
    substitute,
    subtract,
)
from symlayout_codegen.ir.statements import (
    Axis,
    Body,
    Compute,
    If,
    Let,
    LoadAt,
    Loop,
    Stage,
    Statement,
    is_short,
)

ROWS, COLUMNS = 32, 64
"""The rows and columns of a tile, where both may be many."""

LONG = 1024
"""The columns, or rows, of a tile with few rows, or columns."""

MOST_ELEMENTS = max(ROWS * COLUMNS, 4 * LONG)
"""The most elements of a tile."""


def stage_tiles(body: Body, types: tuple[str, ...], taken: set[str]) -> tuple[Body, int]:
    """Return *body* with tiles, and the bytes of their elements; 0 if there are none.

    Parameters
    ----------
    types : the type of each source.
    taken : the names in use; the names of new loops are added.
    """
    stager = _Stager(types, taken)
    return stager.staged(body), stager.size


class _Stager:
    def __init__(self, types: tuple[str, ...], taken: set[str]) -> None:
        self.types, self.taken, self.size = types, taken, 0

    def staged(self, body: Body) -> Body:
        """Return *body* with the loops around single computed points in tiles."""
        made: list[Statement] = []
        for statement in body:
            match statement:
                case Loop(body=(Loop(body=(Compute() as point,)) as inner,)) if not point.name:
                    made += self.in_tiles(statement, inner, point) or (statement,)
                case Loop():
                    made.append(replace(statement, body=self.staged(statement.body)))
                case If(_, _, inside, outside):
                    made.append(replace(statement, inside=self.staged(inside), outside=self.staged(outside)))
                case _:
                    made.append(statement)
        return tuple(made)

    def in_tiles(self, outer: Loop, inner: Loop, point: Compute) -> Body | None:
        """Return two loops around *point* in tiles; None if a tile is of no use."""
        if linear(point.to, inner.name)[0] != ONE or outer.name in _names(inner):
            return None
        crossing = [k for k, load in enumerate(point.loads) if self.crosses(load, outer.name, inner.name)]
        if not crossing:
            return None
        self.size = TYPES[self.types[point.loads[crossing[0]].source]]
        rows, columns = ROWS, COLUMNS
        counts = subtract(outer.stop, outer.start), subtract(inner.stop, inner.start)
        if is_short(counts[0]):
            rows, columns = _literal(counts[0]), LONG
        elif is_short(counts[1]):
            rows, columns = LONG, _literal(counts[1])
        lets: list[Let] = []
        loops: list[tuple[str, Expr]] = []
        firsts: dict[str, Expr] = {}
        sizes: list[Expr] = []
        for loop, count, step in zip((outer, inner), counts, (rows, columns), strict=True):
            first, size = loop.start, count
            if count != IntLiteral(step):
                number, at, most = (identifier(f"{loop.name}_{what}", self.taken) for what in ("tile", "at", "count"))
                loops.append((number, floor_div(add(count, step - 1), IntLiteral(step))))
                lets.append(Let(at, add(loop.start, mul(step, NamedInt(number)))))
                lets.append(Let(most, minimum(IntLiteral(step), subtract(loop.stop, NamedInt(at)))))
                first, size = NamedInt(at), NamedInt(most)
            firsts[loop.name] = first
            sizes.append(size)
        shifted = {name: add(first, NamedInt(name)) for name, first in firsts.items()}
        loads = [load.mapped(lambda e: expanded(substitute(e, shifted))) for load in point.loads]
        stages: list[Statement] = []
        for k in crossing:
            load = point.loads[k]
            across = linear(load.start, inner.name)[0]
            start = substitute(load.start, firsts)
            stages.append(Stage(Axis(sizes[0], IntLiteral(columns)), k, load.source, start, Axis(sizes[1], across)))
            loads[k] = LoadAt(load.source, add(mul(columns, NamedInt(outer.name)), NamedInt(inner.name)), (), True)
        computed = replace(point, to=expanded(substitute(point.to, shifted)), loads=tuple(loads))
        inmost: Statement = Loop(inner.name, ZERO, sizes[1], (computed,), inner.comment)
        made: Body = (*lets, *stages, Loop(outer.name, ZERO, sizes[0], (inmost,), outer.comment))
        for number, count in reversed(loops):
            made = (Loop(number, ZERO, count, made),)
        return made

    def crosses(self, load: LoadAt, outer: str, inner: str) -> bool:
        """Return whether *load* is contiguous in *outer* and neither fixed, contiguous nor reversed in *inner*."""
        if load.guards or self.size not in (0, TYPES[self.types[load.source]]):
            return False
        step = linear(load.start, inner)[0]
        return linear(load.start, outer)[0] == ONE and step not in (ZERO, ONE, negate(ONE))


def _literal(count: Expr) -> int:
    assert isinstance(count, IntLiteral)
    return count.value


def _names(loop: Loop) -> frozenset[str]:
    return names(loop.start) | names(loop.stop)
