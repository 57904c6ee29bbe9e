"""Turn a nest into a program: the list of passes, in their order.

Only digits and faces decide; no op has a name here.  `schedule` is the list.  What each pass rewrites, what it assumes
and which pass establishes that, stand in the pass's module.

Nest to nest: `rename`, `use_divisibility`, `narrow_digit_ranges`, `align`, `stack_pieces`, `coalesce`, `order`.  Nest
to loops: `split_among_threads`, `deal_in_strips` and `bound_loops`.  Loops to loops: `compute_streams`, `stage_tiles`,
`select_runs_and_transposes`, `distribute`, `fuse_rows`, `unroll`, `cut_into_strips`, `prune`, `hoist`.

The terms of an element that is added to keep the order of the nest, since a sum of floats depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from symlayout_codegen.ir.choice import MODEL, Choice
from symlayout_codegen.ir.integer_expressions import Expr, NamedInt
from symlayout_codegen.ir.nest import Local, Nest
from symlayout_codegen.ir.queries import SignFacts
from symlayout_codegen.ir.statements import PART, Body, Let, PartRanges
from symlayout_codegen.ir.text_budget import check_nest
from symlayout_codegen.passes.align import align
from symlayout_codegen.passes.coalesce import coalesce
from symlayout_codegen.passes.compute_streams import compute_streams
from symlayout_codegen.passes.distribute import distribute
from symlayout_codegen.passes.fuse_rows import fuse_rows
from symlayout_codegen.passes.hoist import hoist
from symlayout_codegen.passes.loop_bounds import bound_loops
from symlayout_codegen.passes.narrow_digit_ranges import narrow_digit_ranges
from symlayout_codegen.passes.order import order
from symlayout_codegen.passes.pieces.dealt_rows import deal_in_strips
from symlayout_codegen.passes.prune import prune
from symlayout_codegen.passes.rename import rename
from symlayout_codegen.passes.select_runs_and_transposes import select_runs_and_transposes
from symlayout_codegen.passes.split_among_threads import split_among_threads
from symlayout_codegen.passes.stack_pieces import stack_pieces
from symlayout_codegen.passes.stage_tiles import stage_tiles
from symlayout_codegen.passes.strips import cut_into_strips
from symlayout_codegen.passes.unroll import unroll
from symlayout_codegen.passes.use_divisibility import use_divisibility


@dataclass(frozen=True, slots=True)
class Program:
    """A scheduled nest.

    Attributes
    ----------
    nest : the nest under legal names.
    steps : the locals that depend on the parameters alone; they stand before the statements.
    body : the statements.
    facts : the signs that hold in the statements.
    choice : the candidate that was scheduled.
    tile_size : the bytes of an element of the tiles; 0 if there are none.
    """

    nest: Nest
    steps: tuple[Let, ...]
    body: Body
    facts: SignFacts
    choice: Choice
    tile_size: int = 0


def schedule(nest: Nest, choice: Choice = MODEL) -> Program:
    """Return the loops that do what *nest* says, scheduled as *choice* says.

    Raises
    ------
    CompilerError
        The text of the loops would be too long.
    """
    check_nest(nest)
    nest, taken = rename(nest)
    nest = use_divisibility(nest)
    facts = _entry_signs(nest)

    boxes = narrow_digit_ranges(nest, facts)
    boxes = align(boxes, facts)
    boxes = stack_pieces(boxes, taken)
    boxes = coalesce(boxes)
    boxes = order(boxes, choice.walk, facts)

    parts = split_among_threads(boxes, taken)
    boxes, parts, strips = deal_in_strips(boxes, parts)
    body = bound_loops(boxes, parts, facts, taken, strips)

    body = compute_streams(body, nest.types)
    body, tile_size = stage_tiles(body, nest.types, taken)
    body = select_runs_and_transposes(body)
    body = distribute(body)
    body = fuse_rows(body)
    body = unroll(body)
    body = cut_into_strips(body, taken)
    body = prune(body)
    steps, body = hoist(body, taken)
    return Program(nest, steps, body, facts.and_nonnegative(_loop_names(boxes, parts)), choice, tile_size)


def _entry_signs(nest: Nest) -> SignFacts:
    """Return the signs that are proved on entry: what the nest says, then what follows for its locals."""
    facts = SignFacts.of(nest.positive, nest.nonnegative)
    for step in nest.prelude:
        if isinstance(step, Local) and facts.is_nonnegative(step.value):
            facts = facts.and_nonnegative((NamedInt(step.name),))
    return facts


def _loop_names(nest: Nest, parts: tuple[PartRanges | None, ...] | None) -> Iterator[Expr]:
    """Yield the part's number, the digits, and the ends of a part's ranges: all are non-negative."""
    yield PART
    for piece in nest.boxes:
        yield from (NamedInt(digit.name) for digit in piece.digits)
    for part in parts or ():
        if part is not None:
            yield from (end for ends in part.ranges.values() for end in ends)
