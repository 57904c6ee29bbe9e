"""Say which parts of the runtime a kernel's transposes need, and which of them are compiled apart.

The C of tiles and of streams takes the compiler most of its time, and is the same in all kernels of an element size.
Kernels that are built at run time are therefore linked to it; texts for users have it in their headers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod

from symlayout_codegen.emit.header import VERSION, parts_of, without_passes
from symlayout_codegen.emit.runtime import APART, OWN_CACHES, in_order, join
from symlayout_codegen.emit.text import literal
from symlayout_codegen.ir.choice import MODEL
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral
from symlayout_codegen.ir.queries import ZERO, substitute
from symlayout_codegen.ir.statements import (
    MOST_STREAMS,
    CopyGrid,
    CopyRows,
    CutGrid,
    JoinGrid,
    Share,
    Stage,
    Transpose,
    walk,
)
from symlayout_codegen.passes.schedule import Program

_CALLERS = frozenset({"split_join", "transpose"})
"""The parts for whose calls tiles or streams are compiled apart."""

_PLANNERS = frozenset({"copy_rows", "cut_grid"})
"""The parts whose row plans are compiled apart."""

_TILES, _PIECES = "transpose_tiles.c", "transpose_pieces.c"
"""The objects that each transpose between axes is linked to."""

_CHOICE = "transpose_ways"
"""The part that chooses the way of a transpose: in the object that takes the compiler less time without it."""

_WIDE_PIECES = 2
"""The most bytes of an element of which pieces take the compiler longer than tiles of near arrays."""

_PLANNED_SIZE = 2
"""The most bytes of an element whose turns are planned; rows of such elements take longer by plans that are linked."""

_PLANNED_RUNS = range(1, 16)
"""The bytes of a run that is planned; `sl_is_planned` in the runtime has the rule for calls."""

_STREAMS = range(2, MOST_STREAMS + 1)
_ALL_STREAMS = sum(1 << k for k in _STREAMS)
_ROW_PLANS, _SMALL, _PROMPT, _WAITING, _NARROW = 1, 1 << 5, 1 << 6, 1 << 7, 1 << 8
_LARGE = _PROMPT | _WAITING

ALL_WAYS = _ALL_STREAMS | _ROW_PLANS | _LARGE | _SMALL | _NARROW
"""The bits of the ways to move elements that a kernel may do without.

They are ``1 << k`` for k streams, 1 for row plans, ``1 << 5`` for small matrices, for large arrays ``1 << 6`` where
stores do not wait for the lines that they write and ``1 << 7`` where they do, and ``1 << 8`` for narrow matrices.
"""

_LARGE_SIZES = frozenset({1, 2, 4, 8})
"""The bytes of an element of which large arrays have ways beside tiles; `SL_HAS_LARGE_WAYS` in the runtime."""

_NARROW_SIZES = frozenset({1, 2, 4})
"""The bytes of an element of which narrow matrices have a way of their own; `SL_HAS_NARROW` in the runtime."""

_SQUARE_BYTES = 16
"""The bytes of a row of a square: a narrow matrix has fewer rows or columns, see `sl_is_narrow` in the runtime."""

_LARGE_BYTES = 128 << 10
"""The bytes from which an array is large: `SL_NEAR_LEAST` in the runtime."""

_FAR_LEAST = 1 << 20
"""The bytes from which an output may be far, unless the schedule says when: `SL_FAR_LEAST` in the runtime."""

_SMALL_BYTES, _FEWEST_TURNS = 1024, 4
"""The most bytes of a matrix that is small, and how often it is transposed at least: see `sl_is_small` in the runtime.

The other rules for small matrices have fewer bytes, and more turns.
"""

_IDLE = without_passes("no-tree-ccp", "no-tree-dse", "no-dse", "ira-region=one")
"""What leaves out further passes in objects, whose vectors are explicit."""


def compiled_apart(program: Program, element_size: int, ways: int = ALL_WAYS) -> dict[str, str] | None:
    """Return the C files that are compiled apart and linked to the kernel, by name; None if it has all in its own.

    A text depends on the element size and on the choices of the schedule alone: many kernels have the same.

    Parameters
    ----------
    ways : see `linked_ways`.
    """
    nest = program.nest
    called, size = parts_of(program.body, nest.halves), moved_size(program, element_size)
    if (
        nest.halves
        or nest.combine is not None
        or not called & (_CALLERS if size <= _PLANNED_SIZE else _CALLERS | _PLANNERS)
        or APART & set(in_order(called - _CALLERS - _PLANNERS))
    ):
        return None
    made, bits, texts = _between_axes(program), linked_ways(program, element_size, ways), {}
    if bits & _ROW_PLANS or (bits & _SMALL and size <= _PLANNED_SIZE):
        texts["row_plans.c"] = _apart("row plans", 1, "", "row_plans")  # of bytes: the same for all elements
    if made:
        macros = "".join(f"{line}\n" for line in _block_macros(program))
        parts = {_TILES: [OWN_CACHES, "transpose_tiles"], _PIECES: ["transpose_pieces"]}
        parts[_TILES if size <= _WIDE_PIECES else _PIECES].append(_CHOICE)
        texts[_PIECES] = _apart("pieces of tiles", size, "", *parts[_PIECES])
        texts[_TILES] = _apart("tiles of near arrays", size, f"{macros}#define SL_NEAR_TILES 1\n", *parts[_TILES])
        if bits & _SMALL:
            texts["transpose_matrices.c"] = _apart("small matrices", size, "", "transpose_matrices")
        if bits & _NARROW and size in _NARROW_SIZES:
            texts["transpose_narrow.c"] = _apart("narrow matrices", size, "", "transpose_narrow")
        if bits & _LARGE:
            known = "" if bits & _LARGE == _LARGE else f"#define SL_STORES_WAIT {int(bool(bits & _WAITING))}\n"
            texts["transpose_large_tiles.c"] = _apart("tiles of large arrays", size, macros + known, "transpose_tiles")
            if size in _LARGE_SIZES:
                texts["transpose_large.c"] = _apart("ways of large arrays", size, macros + known, "transpose_large")
    for each in _transposes(program):
        for k in (each.splits, each.joins):  # which may be the same number
            bits |= 0 if k is None else 1 << k
    grids = {statement.streams for statement in walk(program.body) if isinstance(statement, JoinGrid)}
    for k in _STREAMS:
        macros = f"#define SL_STREAMS {1 << k}\n"
        if bits >> k & 1:
            texts[f"streams_{k}.c"] = _apart(f"{k} streams", size, macros, "split_join")
        if k in grids:
            macros += "#define SL_JOIN_GRIDS\n"
            texts[f"join_grids_{k}.c"] = _apart(f"grids of {k} streams", size, macros, "split_join")
    return texts


def _apart(about: str, size: int, macros: str, *parts: str) -> str:
    """Return the C of *parts* for elements of *size* bytes, which is compiled apart, also from the other such parts."""
    comment = f"/* Generated by symlayout {VERSION}.\n * transposes : {about}, {size} bytes an element\n */\n"
    defined = f"#define SL_LINKED\n#define SL_ELEMENT_SIZE {size}\n{macros}"
    return f"{comment}{_IDLE}{defined}{join(parts, apart=(APART | {OWN_CACHES}) - {*parts})}"


def linked_parts(texts: Collection[str] | None) -> frozenset[str]:
    """Return the parts of the runtime that a kernel has no text of, since it is linked to the files *texts*."""
    if texts is None:
        return frozenset()
    return APART | {OWN_CACHES} if _TILES in texts else APART


def moved_size(program: Program, element_size: int) -> int:
    """Return the bytes of what the runtime moves: an element, or in kernels that compute an element of a tile."""
    return (program.tile_size or 1) if program.nest.types else element_size


def way_macros(program: Program, element_size: int, ways: int = ALL_WAYS) -> Iterator[str]:
    """Yield what tells the runtime in which ways to move elements, where they are not its own.

    Parameters
    ----------
    ways : see `linked_ways`.
    """
    bits = linked_ways(program, element_size, ways)
    if _between_axes(program):
        yield from _block_macros(program)
        if not program.nest.halves and bits & _ALL_STREAMS != _ALL_STREAMS:
            yield f"#define SL_STREAMS {bits & _ALL_STREAMS}"
        if not program.nest.halves and bits & _LARGE != _LARGE:
            yield f"#define SL_LARGE_ARRAYS {bool(bits & _PROMPT) + 2 * bool(bits & _WAITING)}"
        if not program.nest.halves and not bits & _SMALL:
            yield "#define SL_SMALL_MATRICES 0"
        if not program.nest.halves and not bits & _NARROW:
            yield "#define SL_NARROW_MATRICES 0"
    if _copies(program) and not bits & _ROW_PLANS:
        yield "#define SL_ROW_PLANS 0"
    if later_ways(program, element_size, ways):
        yield "#define SL_WAYS_LATER"


def linked_ways(program: Program, element_size: int, ways: int) -> int:
    """Return the bits of the ways that the kernel is linked to: all that it can need, but of unknown extents *ways*."""
    needed, unknown = _needed_ways(program, element_size)
    return needed | (ways & unknown)


def later_ways(program: Program, element_size: int, ways: int) -> int:
    """Return the bits of the ways that calls may want and the kernel is not linked to."""
    return _needed_ways(program, element_size)[1] & ~ways


def _needed_ways(program: Program, element_size: int) -> tuple[int, int]:
    """Return the bits of the ways that the kernel needs, and of those that it needs at some unknown extents."""
    made = _between_axes(program)
    needed = unknown = 0
    for bits, found in (
        (_ALL_STREAMS, _stream_bits(program, made)),
        (_LARGE, _large_bits(program, made, element_size)),
        (_SMALL, _small_bit(program, made, element_size)),
        (_NARROW, _narrow_bit(program, made, element_size)),
        (_ROW_PLANS, _may_plan(program, element_size)),
    ):
        if found is None:
            unknown |= bits
        else:
            needed |= found
    return needed, unknown


def _between_axes(program: Program) -> list[Transpose]:
    """Return the transposes that are neither splits nor joins; those of tiles are among them."""
    return [each for each in _transposes(program) if each.splits is None and each.joins is None]


def _transposes(program: Program) -> Iterator[Transpose]:
    """Yield all transposes; those of tiles are among them."""
    for statement in walk(program.body):
        leaf = statement.transpose if isinstance(statement, Stage) else statement
        if isinstance(leaf, Transpose):
            yield leaf


def _block_macros(program: Program) -> Iterator[str]:
    """Yield what the schedule chose of blocks of tiles and of far stores."""
    if program.choice.tiles != MODEL.tiles:
        yield f"#define SL_TILES_PER_BLOCK {program.choice.tiles}"
    if program.choice.past != MODEL.past:
        yield f"#define SL_FAR_BYTES {literal(program.choice.past)}"


def _whole_loops(program: Program) -> dict[str, Expr]:
    """Return the bounds of the loops that are shared out, as if one part did all of each."""
    whole: dict[str, Expr] = {}
    for share in (s for s in (*program.steps, *walk(program.body)) if isinstance(s, Share)):
        for begin, end, extent in share.loops:
            whole |= {begin: ZERO, end: extent}
    return whole


def _copies(program: Program) -> list[CopyRows | CopyGrid | CutGrid]:
    """Return the copies of rows."""
    return [statement for statement in walk(program.body) if isinstance(statement, CopyRows | CopyGrid | CutGrid)]


def _may_plan(program: Program, element_size: int) -> int | None:
    """Return the bit of row plans if rows are copied that the runtime's `sl_is_planned` takes; 0 if none are.

    None where the length of a run is unknown; rows of small elements always may be.
    """
    size, whole = moved_size(program, element_size), _whole_loops(program)
    counts = [substitute(each.count, whole) for each in _copies(program)]
    if size <= _PLANNED_SIZE:
        return _ROW_PLANS if counts else 0
    if any(isinstance(count, IntLiteral) and count.value * size in _PLANNED_RUNS for count in counts):
        return _ROW_PLANS
    return 0 if all(isinstance(count, IntLiteral) for count in counts) else None


def _stream_bits(program: Program, made: Sequence[Transpose]) -> int | None:
    """Return the bits ``1 << k`` of the numbers k of streams that an axis of the transposes *made* can have.

    None where an extent is unknown.  The runtime joins levels of axes: an axis has a product of their extents.  What a
    part does of a loop counts as the whole loop; where it is shorter, the runtime does without streams.
    """
    found = 0
    for extents in _extents(program, made):
        products = {1}
        for extent in extents:
            if not isinstance(extent, IntLiteral):
                return None
            products |= {n * extent.value for n in products if n * extent.value <= MOST_STREAMS}
        found |= sum(1 << k for k in _STREAMS if k in products)
    return found


def _large_bits(program: Program, made: Sequence[Transpose], element_size: int) -> int | None:
    """Return the bits of the ways of large arrays if one of the transposes *made* is large, or a part of a far output.

    0 if none is; None where an extent is unknown.
    """
    size, unknown = moved_size(program, element_size), False
    far = min(_FAR_LEAST, program.choice.past)
    whole = [(far, [program.nest.output_size])] if made and program.nest.output_size is not None else []
    for least, extents in (*((_LARGE_BYTES, extents) for extents in _extents(program, made)), *whole):
        known = [extent.value for extent in extents if isinstance(extent, IntLiteral)]
        if len(known) < len(extents):
            unknown = True
        elif prod(known) * size >= least:
            return _LARGE
    return None if unknown else 0


def _small_bit(program: Program, made: Sequence[Transpose], element_size: int) -> int | None:
    """Return the bit of small matrices if one of the transposes *made* may be of those, many times; 0 if none is.

    None where an extent is unknown.  The runtime makes turns of levels, and levels of turns: a matrix has at least the
    least level of each axis, and all others may be turns.
    """
    size, unknown = moved_size(program, element_size), False
    for extents in _extents(program, made):
        known = [extent.value for extent in extents if isinstance(extent, IntLiteral)]
        if len(known) < len(extents):
            unknown = True
            continue
        least = prod(min((n for n in known[at : at + 3] if n > 1), default=1) for at in (0, 3))
        if least * size <= _SMALL_BYTES and prod(known) >= _FEWEST_TURNS * least:
            return _SMALL
    return None if unknown else 0


def _narrow_bit(program: Program, made: Sequence[Transpose], element_size: int) -> int | None:
    """Return the bit of narrow matrices if an axis of the transposes *made* may be that short; 0 if none is.

    None where an extent is unknown.  The runtime makes turns of levels: each level of an axis may be all of it.
    """
    size, unknown = moved_size(program, element_size), False
    if size not in _NARROW_SIZES:
        return 0
    for extents in _extents(program, made):
        known = [extent.value for extent in extents if isinstance(extent, IntLiteral)]
        if len(known) < len(extents):
            unknown = True
        elif any(1 < n < _SQUARE_BYTES // size for n in known[:6]):
            return _NARROW
    return None if unknown else 0


def _extents(program: Program, made: Sequence[Transpose]) -> Iterator[list[Expr]]:
    """Yield the extents of the levels of each transpose, and those of its turns, as if one part did all."""
    whole = _whole_loops(program)
    for each in made:
        levels = [level for axis in (each.rows, each.columns) for level in (axis.count, axis.high, axis.top)]
        yield [substitute(level, whole) for level in (*levels, each.count, each.high)]
