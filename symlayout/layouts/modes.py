"""The algebra of strided layouts, on their modes.

A mode ``size:stride`` is one digit of a coordinate.  Modes ``s_0:d_0, s_1:d_1, ...`` are the function
``A(k) = d_0*(k % s_0) + d_1*(k // s_0 % s_1) + ...`` of the integers ``k >= 0``.  The last digit has no end, so that
*A* is defined beyond its size.  Sizes are >= 1.  Sizes and strides may be symbols; `Facts` proves each side condition.

The functions find candidates.  `layout` proves that a candidate is what it claims to be.
"""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import floor_div
from symlayout.algebra.polynomial import Extent, exact_quotient, product
from symlayout.errors import InconclusiveError, ShapeError

Mode = tuple[Extent, Extent]

_MAX_STEPS = 10_000  # positions at which digits carry, without a change of the stride, that `_run` looks at


def coalesced(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return the fewest modes of the same function on ``[0, size)``."""
    return _joined(modes, facts) or [(1, 0)]


def _joined(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return the modes without those of size 1, neighbours joined where the strides allow."""
    found: list[Mode] = []
    for size, stride in modes:
        if size == 1:
            continue
        if found and facts.reduce(product(found[-1]) - stride) == 0:
            found[-1] = (facts.reduce(found[-1][0] * size), found[-1][1])
        else:
            found.append((size, stride))
    return found


def composed(outer: Sequence[Mode], size: Extent, stride: Extent, facts: Facts) -> list[Mode]:
    """Return modes of the function ``k -> A(k*stride)`` on ``[0, size)``, where *outer* are the modes of *A*.

    Let *run* be the first *k* at which ``A(k*stride)`` is not ``k*A(stride)``: a digit carries there.  Any modes of
    the function begin with ``run:A(stride)``.  The others are those of the stride ``run*stride``.

    Raises
    ------
    ShapeError
        ``no_layout`` if no modes have this function, ``infeasible`` if *stride* is negative.
    InconclusiveError
        A division of symbols is not decided.
    """
    *most, last = outer
    # the last mode stays if its size is 1: beyond the size it counts on
    outer = [*_joined(most, facts), last] if last[0] == 1 else _joined(outer, facts)
    found: list[Mode] = []
    while size != 1:
        facts = facts.fork()
        facts.assume_nonnegative(size - 2)  # the stride of a single element does not matter
        digits = _digits(stride, outer, facts)
        step = facts.reduce(sum(digit * d for digit, (_, d) in zip(digits, outer, strict=True)))
        run = _run(outer, digits, size, stride, step, facts)
        if run is None:
            found.append((size, step))
            break
        rest = exact_quotient(size, run)
        if rest is None:
            if isinstance(size, int) and isinstance(run, int):
                raise ShapeError(
                    f"the composition is no layout: {run} of {size} elements have the stride {step}", "no_layout"
                )
            raise _undecided(f"{facts.spell(run)} divides {facts.spell(size)}", (run, size), facts)
        found.append((run, step))
        size, stride = rest, facts.reduce(stride * run)
    return coalesced(found, facts)


def _digits(number: Extent, modes: Sequence[Mode], facts: Facts) -> list[Extent]:
    """Return the digits of *number* in the sizes of the modes; the last digit has no end."""
    if not facts.nonnegative(number):
        raise ShapeError(f"the offset {facts.spell(number)} may be negative: no coordinate is there", "infeasible")
    found: list[Extent] = []
    for size, _ in modes[:-1]:
        exact = exact_quotient(number, size)
        if exact is not None:
            digit: Extent = 0
            number = exact
        elif isinstance(number, int) and isinstance(size, int):
            number, digit = divmod(number, size)
        elif facts.nonnegative(size - number):  # if they are equal, `_run` is 1, and this digit is all of the mode
            number, digit = 0, number
        else:
            claim = f"{facts.spell(size)} divides {facts.spell(number)}, or is not less"
            raise _undecided(claim, (size, number), facts)
        found.append(digit)
    return [*found, number]


def _run(
    modes: Sequence[Mode], digits: Sequence[Extent], size: Extent, stride: Extent, step: Extent, facts: Facts
) -> Extent | None:
    """Return the first *k* below *size* at which ``A(k*stride)`` is not ``k*step``; None if there is none."""
    carries: list[Extent] = []  # the first k at which each digit carries
    for (radix, _), digit in zip(modes[:-1], digits, strict=False):
        if digit == 0 or facts.nonnegative(radix - 1 - (size - 1) * digit):
            continue
        first = exact_quotient(radix, digit)
        if first is None and isinstance(radix, int) and isinstance(digit, int):
            first = -(-radix // digit)
        if first is None:
            raise _undecided(f"{facts.spell(digit)} divides {facts.spell(radix)}", (digit, radix), facts)
        carries.append(first)
    if not carries:
        return None
    run = _least(carries, facts)
    if facts.nonnegative(run - size):
        return None
    constants = [e for mode in modes for e in mode]
    if isinstance(run, int) and isinstance(size, int) and isinstance(stride, int) and _are_ints(constants):
        last = min(size, run + _MAX_STEPS)
        changed = next((k for k in range(run, last) if offset(modes, k * stride, facts) != k * step), None)
        if changed is None and last < size:
            raise InconclusiveError(f"the stride {step} holds for {size} elements", [f"it holds for {last}"])
        return changed
    return run


def _are_ints(values: Sequence[Extent]) -> bool:
    return all(isinstance(e, int) for e in values)


def offset(modes: Sequence[Mode], number: Extent, facts: Facts) -> Extent:
    """Return ``A(number)``."""
    total: Extent = 0
    for size, stride in modes[:-1]:
        quotient = floor_div(facts, number, size)
        total, number = total + (number - quotient * size) * stride, quotient
    return facts.reduce(total + number * modes[-1][1])


def complemented(modes: Sequence[Mode], size: Extent, facts: Facts) -> list[Mode]:
    """Return modes *B*, in rising order, so that *modes* and *B* together reach each of ``[0, m)`` once.

    *m* is the least number >= *size* that allows that.

    Raises
    ------
    ShapeError
        ``no_layout`` if there are none: a stride is not a multiple of what smaller strides reach.
    InconclusiveError
        A division or an order of symbols is not decided.
    """
    found: list[Mode] = []
    reached: Extent = 1
    for n, stride in _by_stride(modes, facts):
        gap = exact_quotient(stride, reached)
        if gap is None:
            if isinstance(stride, int) and isinstance(reached, int):
                raise ShapeError(f"no complement: the stride {stride} is no multiple of {reached}", "no_layout")
            raise _undecided(f"{facts.spell(reached)} divides {facts.spell(stride)}", (reached, stride), facts)
        found.append((gap, reached))
        reached = facts.reduce(n * stride)
    rest = exact_quotient(size, reached)
    found.append((floor_div(facts, size + reached - 1, reached) if rest is None else rest, reached))
    return coalesced(found, facts)


def right_inverse(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return modes *R* with ``A(R(k)) == k`` on their size, the largest that strides 1, s_0, s_0*s_1, ... reach."""
    found: list[Mode] = []
    left, reached = _placed(modes), product([])
    while True:
        fits = [m for m in left if facts.reduce(m[1] - reached) == 0]
        if not fits:
            return coalesced(found, facts)
        best = max(fits, key=lambda m: m[0] if isinstance(m[0], int) else 0)
        found.append((best[0], best[2]))
        left.remove(best)
        reached = facts.reduce(reached * best[0])


def left_inverse(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return modes *L* with ``L(A(k)) == k`` on the size of *A*.

    Raises
    ------
    ShapeError
        ``no_layout`` if *A* takes a value twice.
    InconclusiveError
        A stride is not a multiple of the smaller ones, or an order of symbols is not decided.
    """
    placed = _placed(modes)
    if repeated := next((size for size, stride, _ in placed if stride == 0), None):
        raise ShapeError(f"no left inverse: {facts.spell(repeated)} coordinates have one offset", "no_layout")
    found: list[Mode] = []
    reached: Extent = 1
    last: Mode = (1, 0)
    for size, stride, place in _ordered(placed, facts):
        ratio = exact_quotient(stride, reached)
        if ratio is None:
            raise _undecided(f"{facts.spell(reached)} divides {facts.spell(stride)}", (reached, stride), facts)
        found.append((ratio, last[1]))
        reached, last = stride, (size, place)
    return coalesced([*found, last], facts)


def _placed(modes: Sequence[Mode]) -> list[tuple[Extent, Extent, Extent]]:
    """Return the modes with more than one element, each with the step of its digit in a coordinate."""
    found, place = [], product([])
    for size, stride in modes:
        if size != 1:
            found.append((size, stride, place))
        place = place * size
    return found


def _by_stride(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return the modes that move, the smallest stride first."""
    return [(n, d) for n, d, _ in _ordered([m for m in _placed(modes) if m[1] != 0], facts)]


def _ordered(placed: Sequence[tuple[Extent, Extent, Extent]], facts: Facts) -> list[tuple[Extent, Extent, Extent]]:
    """Return modes, the smallest stride first."""
    left, found = list(placed), []
    while left:
        least = _least([d for _, d, _ in left], facts)
        found.append(next(m for m in left if m[1] == least))
        left.remove(found[-1])
    return found


def _least(values: Sequence[Extent], facts: Facts) -> Extent:
    """Return the value that is proved to be the least."""
    for value in values:
        if all(other == value or facts.nonnegative(other - value) for other in values):
            return value
    spelled = ", ".join(map(facts.spell, values))
    raise _undecided(f"one of {spelled} is the least", values, facts)


def _undecided(claim: str, values: Sequence[Extent], facts: Facts) -> InconclusiveError:
    return InconclusiveError(claim, [facts.describe(e) for e in values if not isinstance(e, int)])
