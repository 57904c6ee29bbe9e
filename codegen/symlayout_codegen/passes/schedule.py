"""Turn a nest into loops: coalesce, order, bound, and choose the leaves.

Only digits and faces decide; no op has a name here.  Each pass is a module:

1. `exact`: what is known to be a multiple is written as one; `narrow`: what a window leaves of one digit is its
   range; `align`: blocks that a crop cuts are counted from where the array begins;
   `stack`: pieces alike but for where they begin are one;
   `coalesce`: drop digits of extent 1, join two digits that are contiguous on both faces;
2. `order`: the output's fastest digit innermost, the source's fastest digit next to it;
3. `bound`: windows and guards become the bounds of loops, so that no inner loop tests;
   of these, the outer ones are shared out (`share`): a kernel is called for one of several parts of its work;
4. `leaves`: loops over contiguous elements become runs, loops whose two fastest digits differ
   become a tiled transpose;
5. `distribute`: a loop around a transpose and other statements becomes one around each; `rows`: a loop
   around one run or transpose becomes one statement with it;
6. `unroll`: short loops are written out; `strips`: a loop over several short runs becomes rows of each;
   `prune`: what is not needed goes; `hoist`: what does not change in a loop is computed before it.

Points that add keep the order of the nest, since a sum of floats depends on it: their digits are not
reordered, and blocks not taken out of their turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from symlayout_codegen.ir.choice import MODEL, Choice
from symlayout_codegen.ir.integer_expressions import Expr, Name
from symlayout_codegen.ir.nest import Local, Nest
from symlayout_codegen.ir.queries import Facts
from symlayout_codegen.ir.statements import Body, Let, Statement
from symlayout_codegen.ir.text_budget import check_nest
from symlayout_codegen.passes.align import align
from symlayout_codegen.passes.coalesce import coalesce
from symlayout_codegen.passes.distribute import distribute
from symlayout_codegen.passes.fuse_rows import gather_rows
from symlayout_codegen.passes.hoist import hoist
from symlayout_codegen.passes.loop_bounds import Bounder
from symlayout_codegen.passes.narrow_digit_ranges import narrow
from symlayout_codegen.passes.order import long_inside, order
from symlayout_codegen.passes.prune import prune
from symlayout_codegen.passes.rename import rename
from symlayout_codegen.passes.select_runs_and_transposes import select
from symlayout_codegen.passes.split_among_threads import PART, by_one, share, shared
from symlayout_codegen.passes.stack_pieces import stack
from symlayout_codegen.passes.strips import strip
from symlayout_codegen.passes.unroll import unroll
from symlayout_codegen.passes.use_divisibility import exact


@dataclass(frozen=True, slots=True)
class Program:
    """A scheduled nest: under legal names, its statements, the facts that hold in them, and what was chosen.

    *steps* are locals that the parameters decide, which stand before the statements.
    """

    nest: Nest
    steps: tuple[Let, ...]
    body: Body
    facts: Facts
    choice: Choice


def schedule(nest: Nest, choice: Choice = MODEL) -> Program:
    """Return the loops that do what *nest* says, in the way that *choice* says.

    Raises
    ------
    CompilerError
        They would be too long a text.
    """
    check_nest(nest)
    nest, taken = rename(nest)
    nest = exact(nest)
    facts = Facts.of(nest.positive, nest.nonnegative)
    for step in nest.prelude:
        if isinstance(step, Local) and facts.is_nonnegative(step.value):
            facts = facts.and_nonnegative((Name(step.name),))
    body: list[Statement] = []
    digits: list[Expr] = [PART]
    background = () if nest.background is None else (nest.background,)
    together = bool(background or nest.halves) and not all(piece.apart for piece in (*background, *nest.pieces))
    pieces = tuple(narrow(piece, facts) for piece in nest.pieces)
    if nest.combine is None:
        pieces = stack(tuple(align(piece, facts) for piece in pieces), taken)
    for piece in (*background, *pieces):
        adds = nest.combine is not None and piece.source is not None
        piece = coalesce(piece, in_order=adds)
        digits_in_order = tuple(range(len(piece.digits))) if adds else order(piece, choice.walk)
        if nest.halves:
            digits_in_order = long_inside(piece, digits_in_order)
        begin, ranges = share(piece, () if together else piece.apart or shared(piece, digits_in_order), taken)
        bounder = Bounder(piece, digits_in_order, facts, taken, adds=adds, deals=not nest.halves)
        done = bounder.body(begin, ranges)
        body += done if ranges or together else by_one(done)
        digits += [Name(digit.name) for digit in piece.digits]
        digits += [name for ends in ranges.values() for name in ends]
    chosen = select(by_one(tuple(body)) if together else tuple(body))
    selected = unroll(gather_rows(distribute(chosen)))
    if nest.combine is None:
        selected = strip(selected, taken)
    steps, hoisted = hoist(prune(selected), taken)
    return Program(nest, steps, hoisted, facts.and_nonnegative(digits), choice)
