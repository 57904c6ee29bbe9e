"""Order the digits of a piece as loops."""

from __future__ import annotations

from symlayout_codegen.ir.nest import Piece
from symlayout_codegen.ir.queries import ONE, ZERO, equal, magnitude
from symlayout_codegen.passes.unroll import is_short


def long_inside(piece: Piece, digits: tuple[int, ...]) -> tuple[int, ...]:
    """Return *digits* with the inner two exchanged, if the last is short and neither is contiguous in the source.

    Where elements share bytes, few passes over many bytes are faster than a few elements many times.
    """
    reads = piece.offset.coefficients() if piece.offset is not None else {}
    *outer, first, last = (-1, -1, *digits)
    if -1 in (first, last) or not is_short(piece.digits[last].extent) or is_short(piece.digits[first].extent):
        return digits
    if ONE in (reads.get(first, ONE), reads.get(last, ONE)):
        return digits
    return (*outer[2:], last, first)


def order(piece: Piece, walk: str = "output") -> tuple[int, ...]:
    """Return the digits from the outermost loop to the innermost.

    The output is written in memory order (or, with *walk* "source", the source is read in its own), except that
    the source's fastest digit comes right outside the output's: the two make a transpose.
    """
    writes = piece.output.coefficients()
    reads = piece.offset.coefficients() if piece.offset is not None else {}
    along = reads if walk == "source" and reads else writes
    digits = sorted(range(len(piece.digits)), key=lambda k: -magnitude(along.get(k, ZERO)))
    if piece.offset is None:
        return tuple(digits)
    fast_write = next((k for k in digits if writes.get(k) == ONE), None)
    fast_read = next((k for k in digits if reads.get(k) == ONE), None)
    if fast_write is None or fast_read is None:
        return tuple(digits)
    inner = (fast_write,) if fast_read == fast_write else (fast_read, fast_write)
    for digit in inner:
        digits.remove(digit)
    if along is writes:
        for digit in [k for k in digits if is_short(piece.digits[k].extent)]:
            # Both halves of a line that a block splits are read while the line is near.
            at = digits.index(digit)
            stride = magnitude(reads.get(digit, ZERO))
            last = max((i for i, k in enumerate(digits) if magnitude(reads.get(k, ZERO)) > stride), default=at)
            digits.insert(max(at, last), digits.pop(at))
    goes_on = (
        len(inner) == 2
        and digits
        and (
            equal(writes.get(digits[-1], ZERO), piece.digits[fast_write].extent)
            or equal(reads.get(digits[-1], ZERO), piece.digits[fast_read].extent)
        )
    )  # then it makes the inner two longer
    if len(digits) > 1 and is_short(piece.digits[digits[-1]].extent) and not goes_on:
        digits[-2:] = digits[:-3:-1]  # runs and transposes are done many at a time: over the longer loop
    return (*digits, *inner)
