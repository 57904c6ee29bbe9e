"""Order the digits of each piece as its loops are to run, outermost first.

    for j < W: for i < H: to[H*j + i] = from[W*i + j]    stays (output order, a transpose inside)
    for i < H: for j < W: to[H*j + i] = from[W*i + j]    becomes the loops above

The output is written in memory order, or, with *walk* "source", the source is read in its own memory order; the
outer loops follow.  The source's fastest digit comes right outside of the output's fastest: the two make a transpose.
Where all points of a box are moved, its long loops around these go by both arrays: the next digit of either one is
further inside than what moves far in both.  Lines that are moved in part are then finished soon, and few pages are in
use at a time.

Points that add keep the order of the terms of each element.  Where short runs overlap, each a step on from the run
before, the loop over the runs comes right outside of the run: each element then takes its terms at once.

    for i < n: for c < C: for k < 3: to[M*c + i + k] += ...    becomes    for c < C: for i < n: for k < 3: ...

A digit may go outside of others if the element that is written determines its value.

Assumes: digits are joined where that is possible (`coalesce`); otherwise the inner loops are shorter than need be.
Guarantees: the same points, in another order; the terms of an element that is added to, and reduced digits, keep their
order.  From here on the digits of a piece stand in the order of its loops.
"""

from __future__ import annotations

from collections.abc import Mapping

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, add, mul
from symlayout_codegen.ir.nest import AffineForm, Nest, NestPiece
from symlayout_codegen.ir.queries import ONE, ZERO, SignFacts, equal, expanded, magnitude, negate
from symlayout_codegen.ir.statements import is_short

SHORT_RUN = 16
"""Overlapping runs of at most this many elements, such as windows of a picture, are added along them."""


def order(nest: Nest, walk: str = "output", facts: SignFacts | None = None) -> Nest:
    """Return *nest* with the digits of each piece in loop order; *facts* are the signs that its preconditions give."""

    def ordered(piece: NestPiece) -> NestPiece:
        if piece.formula is not None:
            return piece.with_digits((*_loop_order(piece, walk), *range(piece.written, len(piece.digits))))
        digits = _order_of_sums(piece, facts or SignFacts()) if nest.adds(piece) else _loop_order(piece, walk)
        return piece.with_digits(_long_loop_inside(piece, digits) if nest.halves else digits)

    return nest.map_boxes(ordered)


def _long_loop_inside(piece: NestPiece, digits: tuple[int, ...]) -> tuple[int, ...]:
    """Return *digits* with the inner two exchanged, if the last is short and neither is contiguous in the source.

    Elements of half a byte share bytes: few passes over many bytes are faster than many passes over a few.
    """
    if len(digits) < 2:
        return digits
    reads = piece.offset.coefficients() if piece.offset is not None else {}
    outer, last = digits[-2:]
    if not is_short(piece.digits[last].extent) or is_short(piece.digits[outer].extent):
        return digits
    if ONE in (reads.get(outer, ONE), reads.get(last, ONE)):
        return digits
    return (*digits[:-2], last, outer)


def _crossing(piece: NestPiece) -> AffineForm | None:
    """Return the offset of the first load that is contiguous in another digit than the output is; None if none is."""
    for load in piece.loads:
        steps = load.offset.coefficients()
        fast = [k for k in range(piece.written) if steps.get(k) == ONE]
        if fast and piece.output.coefficients().get(fast[0]) != ONE and not load.guards:
            return load.offset
    return None


def _nearness(writes: Mapping[int, Expr], reads: Mapping[int, Expr], digit: int) -> tuple[float, float]:
    """Return how far inside *digit* belongs: more, the less it moves in one of the arrays; the output decides ties.

    In each array the digit of the least step weighs 1, and the next one half of the one before.
    """

    def weight(steps: Mapping[int, Expr]) -> float:
        step = magnitude(steps.get(digit, ZERO))
        return 0.5 ** sum(magnitude(other) < step for other in steps.values())

    return weight(writes) + weight(reads), weight(writes)


def _loop_order(piece: NestPiece, walk: str) -> tuple[int, ...]:
    writes = piece.output.coefficients()
    offset = piece.offset if piece.formula is None else _crossing(piece)
    reads = offset.coefficients() if offset is not None else {}
    along = reads if walk == "source" and reads else writes
    digits = sorted(range(piece.written), key=lambda k: -magnitude(along.get(k, ZERO)))
    if offset is None:
        return tuple(digits)
    fast_write = next((k for k in digits if writes.get(k) == ONE), None)
    fast_read = next((k for k in digits if reads.get(k) == ONE), None)
    if fast_write is None or fast_read is None:
        return tuple(digits)
    short = [is_short(digit.extent) for digit in piece.digits]
    inner = (fast_write,) if fast_read == fast_write else (fast_read, fast_write)
    for digit in inner:
        digits.remove(digit)
    if along is writes:
        if piece.formula is None and not [*piece.conditions]:
            kept = {*digits[len(digits) + len(inner) - 2 :]}  # where runs are copied, the rows stay those of the output
            free = [k for k in digits if not short[k] and k not in kept]
            by_nearness = iter(sorted(free, key=lambda k: _nearness(writes, reads, k)))
            digits = [next(by_nearness) if k in free else k for k in digits]
        for digit in [k for k in digits if short[k]]:
            # A block may split a line of the source: both halves are then read while the line is in the cache.
            at = digits.index(digit)
            stride = magnitude(reads.get(digit, ZERO))
            last = max((i for i, k in enumerate(digits) if magnitude(reads.get(k, ZERO)) > stride), default=at)
            digits.insert(max(at, last), digits.pop(at))
    lengthens_inner = (
        len(inner) == 2
        and digits
        and (
            equal(writes.get(digits[-1], ZERO), piece.digits[fast_write].extent)
            or equal(reads.get(digits[-1], ZERO), piece.digits[fast_read].extent)
        )
    )
    if len(digits) > 1 and short[digits[-1]] and not lengthens_inner:
        # Runs and transposes are done many at a time: over the longer of the two loops around them.
        digits[-1], digits[-2] = digits[-2], digits[-1]
        if len(inner) == 1 and len(digits) > 3 and short[digits[-3]] and not short[digits[-4]]:
            digits[-3], digits[-4] = digits[-4], digits[-3]  # and then over the longer of the next two
    return (*digits, *inner)


def _order_of_sums(piece: NestPiece, facts: SignFacts) -> tuple[int, ...]:
    """Return the order of a piece that adds: that of the nest, but for the loop over short runs that overlap."""
    digits = tuple(range(len(piece.digits)))
    steps = piece.output.coefficients()
    if len(digits) < 3 or piece.carried or steps.get(digits[-1]) != ONE:
        return digits
    run = piece.digits[-1].extent
    if not isinstance(run, IntLiteral) or not 1 < run.value <= SHORT_RUN:
        return digits
    for along in reversed(digits[:-1]):
        step = steps.get(along)
        if isinstance(step, IntLiteral) and 0 < step.value < run.value:
            inner = digits[along + 1 : -1]
            return (*digits[:along], *inner, along, digits[-1]) if _determined(piece, along, inner, facts) else digits
    return digits


def _determined(piece: NestPiece, along: int, inner: tuple[int, ...], facts: SignFacts) -> bool:
    """Return whether the element that is written, and the digits outside of *along*, determine the digits *inner*.

    They do if the step of each, from the greatest on, exceeds what all smaller ones reach together.  Digits that tell
    elements apart are determined.
    """
    steps = piece.output.coefficients()
    left = [along, len(piece.digits) - 1, *(k for k in inner if k not in piece.apart)]
    if not all(facts.is_nonnegative(steps.get(k, ZERO)) for k in left):
        return False
    reach = {k: mul(steps.get(k, ZERO), add(piece.digits[k].extent, IntLiteral(-1))) for k in left}
    for greatest in sorted(left[2:], key=lambda k: -magnitude(steps.get(k, ZERO))):
        del reach[greatest]
        above = expanded(add(steps.get(greatest, ZERO), negate(add(ONE, *reach.values()))))
        if not facts.is_nonnegative(above):
            return False
    return True
