"""The algebra of strided layouts, on their modes.

A mode ``size:stride`` is one digit of a coordinate.  Modes ``s_0:d_0, s_1:d_1, ...`` are the function
``A(k) = d_0*(k % s_0) + d_1*(k // s_0 % s_1) + ...`` of the integers ``k >= 0``.  The last digit has no end, so that
*A* is defined beyond its size.  Sizes are >= 1.  Sizes and strides may be symbols; `Conditions` answers each side
condition, or takes it as a condition of the case.

Each function proves the equation that its result is defined by, under the facts of the case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, exact_quotient, product
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.layouts.conditions import Conditions, floor_in
from symlayout.layouts.nested import Mode

_MAX_STEPS = 10_000  # positions at which digits carry, without a change of the stride, that `_first_change` looks at
_MOST_COMPARED = 200_000  # coordinates at which a composition of numbers is compared one by one


class _Carry(Exception):
    """A digit carries, and no modes were found that take this in; *why* says where.

    *is_certain*: there are no modes, if the next size does not follow: nothing makes up for the carry.
    *pieces_are_right*: each mode is right by itself.
    """

    def __init__(self, axis: int, why: str, *, is_certain: bool, pieces_are_right: bool = False) -> None:
        super().__init__(why)
        self.axis, self.why, self.is_certain, self.pieces_are_right = axis, why, is_certain, pieces_are_right


class _Piece(NamedTuple):
    """Modes ``run:step`` of a composition, where the stride of the mode has these digits in the outer sizes."""

    run: Extent
    step: Extent
    digits: Sequence[Extent]


def coalesced(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return the fewest modes of the same function on ``[0, size)``.

    A mode of one element adds 0.  Neighbours ``s:d`` and ``t:s*d`` are ``s*t:d``, since ``k % (s*t)`` is
    ``k % s + s*(k // s % t)``.
    """
    return _joined(modes, facts) or [(1, 0)]


def _joined(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return the modes without those of size 1, neighbours joined where the strides allow."""
    found: list[Mode] = []
    for size, stride in modes:
        if facts.reduce(size) == 1:
            continue
        if found and _follows(found[-1], stride, facts):
            found[-1] = (facts.reduce(found[-1][0] * size), found[-1][1])
        else:
            found.append((size, stride))
    return found


def _follows(mode: Mode, stride: Extent, facts: Facts) -> bool:
    return facts.reduce(product(mode) - stride) == 0


def _counting(modes: Sequence[Mode], facts: Facts) -> list[Mode]:
    """Return the fewest modes of the same function on all integers >= 0: the last size does not matter."""
    *most, (_, stride) = modes
    found = _joined(most, facts)
    if found and _follows(found[-1], stride, facts):
        return found
    return [*found, (1, stride)]


# ---------------------------------------------------------------------- composition


def composed(outer: Sequence[Mode], inner: Sequence[Mode], c: Conditions) -> list[list[Mode]]:
    """Return the modes of ``A(B(k))`` for each mode of *B*, where *outer* and *inner* are the modes of *A* and *B*.

    Let each stride of a mode of the result have the digits ``g_i`` in the sizes of *A*.  Where no digit carries, for
    all coordinates together, *A* is linear: that is what is proved, from the largest coordinate.

    Raises
    ------
    ShapeError
        ``no_layout`` if no modes have this function, ``infeasible`` if an offset of *B* may be negative.
    InconclusiveError
        No condition makes it a layout that this method finds.
    """
    inner = [(c.facts.reduce(n), c.facts.reduce(d)) for n, d in inner]
    for _, stride in inner:
        if not c.at_least(stride):
            raise ShapeError(
                f"the offset {c.facts.spell(stride)} may be negative: no coordinate is there", "infeasible"
            )
    numbers = _are_numbers([*outer, *inner])
    while True:
        sizes = _counting([(c.facts.reduce(n), c.facts.reduce(d)) for n, d in outer], c.facts)
        try:
            known = [k for k, mode in enumerate(inner) if _are_numbers([mode])]  # they need the fewest conditions
            order = [*known, *(k for k in range(len(inner)) if k not in known)]
            found = {k: _pieces(sizes, *inner[k], c, numbers) for k in order}
            pieces = [found[k] for k in range(len(inner))]
            _demand_linear(sizes, [p for some in pieces for p in some], c, numbers)
            break
        except _Carry as carry:
            if numbers and carry.pieces_are_right:
                _compare(sizes, inner, pieces)
                break
            if numbers:  # the modes begin with the first change, whatever carries
                raise _none(carry.why) from None
            if not _joins(sizes, carry.axis, c):
                raise _no_layout(carry, sizes, c) from None
    return [coalesced([(p.run, p.step) for p in some], c.facts) for some in pieces]


def _are_numbers(modes: Sequence[Mode]) -> bool:
    return all(isinstance(e, int) for mode in modes for e in mode)


def _joins(outer: Sequence[Mode], axis: int, c: Conditions) -> bool:
    """Return whether the size after *axis* follows on it, so that a carry changes nothing; the sizes join then."""
    gap = c.facts.reduce(outer[axis + 1][1] - product(outer[axis]))
    return c.zero(gap) and c.facts.reduce(gap) == 0


def _none(why: str) -> ShapeError:
    """Return the error for a composition that is no layout."""
    tip = "sl.make_composed_layout(a, 0, b) is the index map of a(b(c))"
    return ShapeError(f"the composition is no layout: {why}\n  help: {tip}", "no_layout")


def _no_layout(carry: _Carry, outer: Sequence[Mode], c: Conditions) -> ShapeError | InconclusiveError:
    """Return the error for a digit that carries into one that does not follow on it."""
    if carry.is_certain:
        return _none(carry.why)
    names = [e for mode in outer for e in mode]
    return InconclusiveError(f"the composition is a layout, where {carry.why}", _known(names, c.facts))


def _pieces(outer: Sequence[Mode], size: Extent, stride: Extent, c: Conditions, numbers: bool) -> list[_Piece]:
    """Return the modes of ``k -> A(k*stride)`` on ``[0, size)``.

    Let *run* be the first *k* at which ``A(k*stride)`` is not ``k*A(stride)``: a digit carries there.  Any modes of
    the function begin with ``run:A(stride)``.  The others are those of the stride ``run*stride``.
    """
    found: list[_Piece] = []
    while (size := c.facts.reduce(size)) != 1:
        digits = _digits(stride, outer, c)
        step = c.facts.reduce(sum(digit * d for digit, (_, d) in zip(digits, outer, strict=True)))
        rest: Extent | None = None
        run: Extent = size
        if carries := _carries(outer, digits, size, c):
            axis, run = carries[0]
            for other, first in carries[1:]:
                if not c.at_least(first - run):
                    axis, run = other, first
            if numbers:
                changed = _first_change(outer, *cast("tuple[int, int, int, int]", (size, stride, step, run)))
                run = size if changed is None else changed
            ends = axis == len(outer) - 2 or c.facts.nonnegative(outer[axis + 1][0] - 2 - run * digits[axis + 1])
            rest = _rest(size, run, axis, c, is_certain=len(carries) == 1 and ends)
        if rest is None:
            return [*found, _Piece(size, step, digits)]
        found.append(_Piece(run, step, digits))
        size, stride = rest, c.facts.reduce(stride * run)
    return found


def _digits(number: Extent, outer: Sequence[Mode], c: Conditions) -> list[Extent]:
    """Return the digits of *number* in the sizes of the modes; the last digit has no end."""
    found: list[Extent] = []
    for axis, (size, _) in enumerate(outer[:-1]):
        high, low = _divided(number, c.facts.reduce(size), axis, c)
        found.append(low)
        number = high
    return [*found, number]


def _divided(number: Extent, size: Extent, axis: int, c: Conditions) -> tuple[Extent, Extent]:
    """Return quotient and remainder, where ``size | number`` or ``number <= size``.

    A remainder that equals *size* carries at once, unless the mode has one element: `_stays_linear` decides that.
    """
    if isinstance(number, int) and isinstance(size, int):
        return divmod(number, size)
    if (known := c.known_quotient(number, size)) is not None:
        return known, 0
    if c.facts.nonnegative(size - number):
        return 0, number
    ways: list[Callable[[], tuple[Extent, Extent] | None]] = [
        lambda: None if (exact := c.quotient(number, size)) is None else (exact, 0),
        lambda: (0, number) if c.at_least(size - number) else None,
    ]
    for way in reversed(ways) if isinstance(number, int) else ways:  # an author keeps a number inside of a mode
        if (found := way()) is not None:
            return found
    why = f"{c.facts.spell(size)} neither divides {c.facts.spell(number)} nor is less"
    raise _Carry(axis, why, is_certain=False)


def _carries(outer: Sequence[Mode], digits: Sequence[Extent], size: Extent, c: Conditions) -> list[tuple[int, Extent]]:
    """Return the digits of ``k*stride`` that carry below *size*, each with the first *k* at which it does."""
    found: list[tuple[int, Extent]] = []
    for axis, ((radix, _), digit) in enumerate(zip(outer[:-1], digits, strict=False)):
        digit = c.facts.reduce(digit)
        if digit == 0 or c.facts.nonnegative(radix - 1 - (size - 1) * digit):
            continue
        if isinstance(radix, int) and isinstance(digit, int):
            first: Extent | None = -(-radix // digit)
        else:
            first = _exact_carry(radix, digit, size, axis, c)
        if first is not None:
            found.append((axis, first))
    return found


def _exact_carry(radix: Extent, digit: Extent, size: Extent, axis: int, c: Conditions) -> Extent | None:
    """Return ``radix/digit``; None if the digit does not carry below *size*."""
    if not c.at_least(digit - 1):
        return None
    if (known := c.known_quotient(radix, digit)) is not None:
        return known
    if isinstance(size, int) and c.at_least(radix - 1 - (size - 1) * digit):
        return None
    if (found := c.quotient(radix, digit)) is None:
        if not isinstance(size, int) and c.at_least(radix - 1 - (size - 1) * digit):
            return None
        why = f"{c.facts.spell(digit)} does not divide {c.facts.spell(radix)}"
        raise _Carry(axis, why, is_certain=False)
    return found


def _rest(size: Extent, run: Extent, axis: int, c: Conditions, *, is_certain: bool) -> Extent | None:
    """Return ``size/run``; None if *size* is at most *run*."""
    if isinstance(size, int) and isinstance(run, int):
        if size <= run:
            return None
        if size % run:
            raise _Carry(axis, f"{run} of {size} elements have one stride", is_certain=is_certain)
        return size // run
    if c.facts.nonnegative(run - size):
        return None
    if (known := c.known_quotient(size, run)) is not None:
        return known
    if isinstance(size, int):  # an author keeps a tile of a known size inside of a mode
        if c.at_least(run - size):
            return None
        rest = c.quotient(size, run)
    else:
        rest = c.quotient(size, run)
        if rest is None and c.at_least(run - size):
            return None
    if rest is None:
        why = f"{c.facts.spell(run)} of {c.facts.spell(size)} elements have one stride"
        raise _Carry(axis, why, is_certain=is_certain)
    return rest


def _demand_linear(outer: Sequence[Mode], pieces: Sequence[_Piece], c: Conditions, numbers: bool) -> None:
    """Raise `_Carry` unless no digit carries at the largest coordinate: then *A* is linear on all coordinates.

    The carry is certain to change the offset if it ends in the next digit, which has no end or takes it in.
    """
    totals = [sum((p.run - 1) * p.digits[axis] for p in pieces) for axis in range(len(outer))]
    for axis, (radix, _) in enumerate(outer[:-1]):
        most, after = (c.facts.reduce(e) for e in totals[axis : axis + 2])
        if c.at_least(radix - 1 - most):
            continue
        ends = axis == len(outer) - 2
        if not ends and isinstance(most, int) and isinstance(radix, int):
            ends = c.facts.nonnegative(outer[axis + 1][0] - 1 - after - most // radix)
        why = f"the digit {c.facts.spell(most)} of the largest offset is not less than {c.facts.spell(radix)}"
        raise _Carry(axis, why, is_certain=ends, pieces_are_right=numbers)


def _first_change(outer: Sequence[Mode], size: int, stride: int, step: int, run: int) -> int | None:
    """Return the first *k* from *run* on and below *size* at which ``A(k*stride)`` is not ``k*step``; None if none."""
    last = min(size, run + _MAX_STEPS)
    changed = next((k for k in range(run, last) if value(outer, k * stride) != k * step), None)
    if changed is None and last < size:
        raise InconclusiveError(f"the stride {step} holds for {size} elements", [f"it holds for {last}"])
    return changed


def _compare(outer: Sequence[Mode], inner: Sequence[Mode], pieces: Sequence[Sequence[_Piece]]) -> None:
    """Raise unless a composition of numbers has the values of both layouts at all coordinates."""
    sums: list[tuple[int, int]] = [(0, 0)]  # the offset that *inner* has, and that the result has
    for (size, stride), some in zip(cast("list[tuple[int, int]]", inner), pieces, strict=True):
        if len(sums) * size > _MOST_COMPARED:
            raise InconclusiveError("the composition is a layout", [f"it has more than {_MOST_COMPARED} coordinates"])
        modes = [(p.run, p.step) for p in some] or [(1, 0)]
        axis = [(k * stride, value(modes, k)) for k in range(size)]
        sums = [(a + x, b + y) for x, y in axis for a, b in sums]
    for offset, found in sums:
        if (expected := value(outer, offset)) != found:
            text = f"element {offset} has the offset {expected}, the sum of its digits is {found}"
            raise _none(text)


def value(modes: Sequence[Mode], number: int) -> int:
    """Return ``A(number)``, of modes of numbers."""
    *most, (_, last) = cast("list[tuple[int, int]]", modes)
    total = 0
    for size, stride in most:
        number, digit = divmod(number, size)
        total += digit * stride
    return total + number * last


def offset(modes: Sequence[Mode], number: Extent, facts: Facts) -> Extent:
    """Return ``A(number)``; floors that it needs are added to the facts."""
    found = digits([n for n, _ in modes], number, facts)
    return facts.reduce(sum(digit * d for digit, (_, d) in zip(found, modes, strict=True)))


def digits(sizes: Sequence[Extent], number: Extent, facts: Facts) -> list[Extent]:
    """Return the digits of *number*, the last of which has no end; floors that they need are added to the facts."""
    found: list[Extent] = []
    for size in sizes[:-1]:
        number = facts.reduce(number)
        exact = exact_quotient(number, size)
        if exact is not None:
            quotient = exact
        elif isinstance(number, int) and isinstance(size, int):
            quotient = number // size
        else:
            quotient = floor_in(facts, number, size)
        found.append(number - quotient * size)
        number = quotient
    return [*found, number] if sizes else found


# ---------------------------------------------------------------------- complement


def complemented(modes: Sequence[Mode], size: Extent, c: Conditions) -> list[Mode]:
    """Return modes *B*, in rising order, that reach what *modes* leave out below *size*.

    In order of their strides, each mode of both begins beyond all that the smaller ones reach.  So no sum of offsets
    of both occurs twice.  If each stride is a multiple of what the smaller ones reach, all of ``[0, m)`` is reached.

    Raises
    ------
    ShapeError
        ``overlap`` if two modes reach into each other; ``infeasible`` if a stride may be negative, or *size* below 1.
    InconclusiveError
        That the result reaches nothing twice stays open.
    """
    if not c.at_least(size - 1):
        raise ShapeError(f"no complement: the size {c.facts.spell(size)} may be below 1", "infeasible")
    found: list[Mode] = []
    reached: Extent = 1
    moving = by_stride([(n, d, 0) for n, d in moving_modes(modes, c)], c)
    for n, stride, _ in moving:
        gap = c.quotient(stride, reached)
        if gap is None:
            if not c.at_least(stride - reached):
                text = f"the stride {c.facts.spell(stride)} is less than {c.facts.spell(reached)}"
                raise ShapeError(f"no complement: {text}, where the smaller ones end", "overlap")
            gap = c.floor(stride, reached)
        found.append((gap, reached))
        reached = c.facts.reduce(n * stride)
    rest = c.known_quotient(size, reached)
    found.append((c.floor(size + reached - 1, reached) if rest is None else rest, reached))
    _check_apart([(n, d) for n, d, _ in moving], found, c.facts)
    return coalesced(found, c.facts)


def _check_apart(modes: Sequence[Mode], others: Sequence[Mode], facts: Facts) -> None:
    """Raise unless each of *others* and *modes*, which take turns, begins beyond the sum of all before it."""
    reach: Extent = 0
    for turn in range(len(others)):
        for n, d in (others[turn], *modes[turn : turn + 1]):
            n, d = facts.reduce(n), facts.reduce(d)
            if n != 1 and not facts.nonnegative(d - 1 - reach):
                raise _undecided(f"{facts.spell(d)} > {facts.spell(reach)}", (d, reach), facts)
            if not facts.nonnegative(n - 1):
                raise _undecided(f"the size {facts.spell(n)} is at least 1", (n,), facts)
            reach = facts.reduce(reach + (n - 1) * d)


def moving_modes(modes: Sequence[Mode], c: Conditions) -> list[Mode]:
    """Return the modes of more than one element whose stride is not 0.

    Raises
    ------
    ShapeError
        ``infeasible`` if a stride may be negative.
    """
    return [(n, d) for n, d, _ in _moving(modes, c)]


def _moving(modes: Sequence[Mode], c: Conditions) -> list[tuple[Extent, Extent, Extent]]:
    """Return the modes that move, each with the step of its digit in a coordinate."""
    found: list[tuple[Extent, Extent, Extent]] = []
    place: Extent = 1
    for size, stride in modes:
        size, stride = c.facts.reduce(size), c.facts.reduce(stride)
        if size != 1 and stride != 0:
            if c.at_least(stride - 1):
                found.append((size, stride, place))
            elif not c.zero(stride):
                raise ShapeError(f"the stride {c.facts.spell(stride)} may be negative", "infeasible")
        place = place * size
    return found


def by_stride(placed: Sequence[tuple[Extent, Extent, Extent]], c: Conditions) -> list[tuple[Extent, Extent, Extent]]:
    """Return modes, the smallest stride first."""
    left, found = list(placed), []
    while left:
        least = next((m for m in left if all(c.facts.nonnegative(o[1] - m[1]) for o in left)), None)
        if least is None:
            least = left[0]
            for other in left[1:]:
                least = least if c.at_least(other[1] - least[1]) else other
        found.append(least)
        left.remove(least)
    return found


# ---------------------------------------------------------------------- inverses


def right_inverse(modes: Sequence[Mode], c: Conditions) -> list[Mode]:
    """Return modes *R* with ``A(R(k)) == k`` on their size, the largest that strides 1, s_0, s_0*s_1, ... reach."""
    found: list[Mode] = []
    left: list[tuple[Extent, Extent, Extent]] = []
    place: Extent = 1
    for size, stride in modes:
        if size != 1:
            left.append((size, stride, place))
        place = place * size
    reached: Extent = 1
    while fits := [m for m in left if c.facts.reduce(m[1] - reached) == 0]:
        best = max(fits, key=lambda m: m[0] if isinstance(m[0], int) else 0)
        found.append((best[0], best[2]))
        left.remove(best)
        reached = c.facts.reduce(reached * best[0])
    _check_identity(modes, found, c)
    return coalesced(found, c.facts)


def left_inverse(modes: Sequence[Mode], c: Conditions) -> list[Mode]:
    """Return modes *L* with ``A(L(A(k))) == A(k)`` on the size of *A*; ``L(A(k)) == k`` if no stride is 0.

    Raises
    ------
    ShapeError
        ``infeasible`` if a stride may be negative.
    InconclusiveError
        A stride is not a multiple of the smaller ones, or modes overlap.
    """
    placed = by_stride(_moving(modes, c), c)
    found: list[Mode] = []
    reached: Extent = 1
    for index, (size, stride, _) in enumerate(placed):
        ratio = c.quotient(stride, reached)
        if ratio is None:
            raise _undecided(f"{c.facts.spell(reached)} divides {c.facts.spell(stride)}", (reached, stride), c.facts)
        found.append((ratio, placed[index - 1][2] if index else 0))
        if index + 1 < len(placed) and not c.at_least((after := placed[index + 1][1]) - size * stride):
            raise _undecided(f"{c.facts.spell(size * stride)} <= {c.facts.spell(after)}", (after, size), c.facts)
        reached = stride
    if placed:
        found.append((placed[-1][0], placed[-1][2]))
        _check_places(found, placed, c)
    return coalesced(found, c.facts)


def _check_identity(modes: Sequence[Mode], inverse: Sequence[Mode], c: Conditions) -> None:
    """Raise unless ``A(R(k)) == k`` is proved for the modes *R* of *inverse*."""
    place: Extent = 1
    for (size, _), found in zip(inverse, composed(modes, inverse, c) if inverse else [], strict=True):
        _check_mode(found, size, place, c.facts)
        place = place * size


def _check_places(inverse: Sequence[Mode], placed: Sequence[tuple[Extent, Extent, Extent]], c: Conditions) -> None:
    """Raise unless ``L(A(k))`` is proved to have the step of each mode's digit."""
    for (size, _, place), found in zip(placed, composed(inverse, [(n, d) for n, d, _ in placed], c), strict=True):
        _check_mode(found, size, place, c.facts)


def _check_mode(found: Sequence[Mode], size: Extent, stride: Extent, facts: Facts) -> None:
    expected = coalesced([(facts.reduce(size), facts.reduce(stride))], facts)
    if [(facts.reduce(n), facts.reduce(d)) for n, d in found] != expected:
        raise InconclusiveError(f"{found} is {facts.spell(size)}:{facts.spell(stride)}")


# ---------------------------------------------------------------------- elements of other widths


def upcast(modes: Sequence[Mode], width: Extent, c: Conditions) -> list[Mode]:
    """Return the modes of ``floor(A(c)/width)``, where *width* elements become one.

    A stride that *width* divides is divided.  A stride *d* that divides *width* puts ``width/d`` coordinates into one.

    Raises
    ------
    ShapeError
        ``no_layout`` if a stride is neither, or if what is left of several modes reaches *width*.
    """
    found: list[Mode] = []
    rest: Extent = 0
    for size, stride in modes:
        size, stride = c.facts.reduce(size), c.facts.reduce(stride)
        if (exact := c.quotient(stride, width)) is not None:
            found.append((size, exact))
            continue
        group = c.quotient(width, stride) if c.at_least(stride - 1) else None
        if group is None:
            text = f"the stride {c.facts.spell(stride)} is no multiple of {c.facts.spell(width)}, and no divisor"
            raise ShapeError(f"no layout of wider elements: {text}", "no_layout")
        whole = c.quotient(size, group)
        if whole is not None:
            inside: Extent = group - 1
        elif c.at_least(group - size):
            whole, inside = 1, size - 1
        else:
            whole, inside = c.floor(size + group - 1, group), group - 1
        found.append((whole, 1))
        rest = c.facts.reduce(rest + stride * inside)
    if not c.at_least(width - 1 - rest):
        text = f"{c.facts.spell(rest)} is not less than {c.facts.spell(width)}"
        raise ShapeError(f"no layout of wider elements: coordinates of several modes share one, {text}", "no_layout")
    return found


def downcast(modes: Sequence[Mode], width: Extent, c: Conditions) -> list[Mode]:
    """Return the modes of the parts, where each element becomes *width* of them: the unit stride takes these in.

    Without a unit stride, the modes are those of the first part of each element.

    Raises
    ------
    ShapeError
        ``no_layout`` if several strides are 1: an element would have its parts more than once.
    """
    found: list[Mode] = []
    units = 0
    for size, stride in modes:
        unit = not c.at_least(stride - 2) and (c.zero(stride - 1) or c.zero(stride + 1))
        found.append((c.facts.reduce(size * width), stride) if unit else (size, c.facts.reduce(stride * width)))
        units += unit
    if units > 1 and width != 1:
        raise ShapeError(f"no layout of parts: {units} strides are 1", "no_layout")
    return found


def _undecided(claim: str, values: Sequence[Extent], facts: Facts) -> InconclusiveError:
    return InconclusiveError(claim, _known(values, facts))


def _known(values: Sequence[Extent], facts: Facts) -> list[str]:
    return list(dict.fromkeys(facts.describe(e) for e in values if not isinstance(e, int)))
