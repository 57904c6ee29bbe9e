"""How many elements along an axis of a layout one load may take: they are contiguous, and begin at a multiple.

The width is the greatest common divisor of the run of contiguous elements, of the other strides and of the alignment of
the base.  Where sizes and strides are symbols, divisibility by each divisor is a case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod
from typing import Any

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.polynomial import Extent, Poly, collapse, content, names_of, substitute, terms_of
from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.sympy_conditions import Conjunction, greatest_common_divisor
from symlayout.layouts.access import Mode, Strides, strides_of
from symlayout.layouts.answers import Answer
from symlayout.layouts.swizzle import MAX_ENUMERATED

MAX_DIVISORS = 4096  # the largest number whose divisors are cases


def vector_width(layout: Any, axis: int | None = None, base_alignment: int | None = None) -> Answer:
    """Return the most elements along an axis that one aligned access may take.

    For the width v, each v elements from a coordinate that is a multiple of v are contiguous, and the first is at a
    multiple of v.  The size of the axis is a multiple of v.

    Parameters
    ----------
    layout : Layout, ComposedLayout, or what `symlayout.layout` takes
        The offsets in elements.
    axis : int, optional
        The mode along which elements are taken.  By default it is the mode that allows the most, or the one that begins
        with the stride 1 if there are dims.
    base_alignment : int, optional
        The base is at a multiple of so many elements; by default it is aligned for every width.

    Returns
    -------
    Answer
        The number, or numbers with conditions on the dims.  ``gcd(...)`` stands in it where no number bounds the width.

    Raises
    ------
    ShapeError
        ``bad_axis`` if there is no such axis; ``infeasible`` for an alignment below 1.
    InconclusiveError
        A layout under a swizzle has dims, or the divisors are too many.

    References
    ----------
    CUDA C++ Programming Guide, size and alignment: https://docs.nvidia.com/cuda/cuda-c-programming-guide/

    Examples
    --------
    >>> import symlayout as sl
    >>> print(sl.vector_width("(64,32):(32,1)", axis=1), sl.vector_width("(64,32):(36,1)"))
    32 4
    >>> sl.vector_width("(64,32):(ld,1)", axis=1, base_alignment=4)
    4 if Eq(Mod(ld, 4), 0)
    2 if Eq(Mod(ld, 2), 0) & Ne(Mod(ld, 4), 0)
    1 if Ne(Mod(ld, 2), 0) & Ne(Mod(ld, 4), 0)
    """
    if base_alignment is not None and (type(base_alignment) is not int or base_alignment < 1):
        raise ShapeError(f"base_alignment is {shown(base_alignment)}, and not an integer from 1", "infeasible")
    s = strides_of(layout)
    rank = len(s.modes)
    if axis is not None and (type(axis) is not int or not -rank <= axis < rank):
        raise ShapeError(f"the layout has {rank} axes, and no axis {shown(axis)}", "bad_axis")
    is_constant = not any(names_of(e) for mode in s.flat for e in mode) and not names_of(s.offset)
    if is_constant:
        axes = range(rank) if axis is None else [axis % rank]
        return Answer([((), max(_constant(s, k, base_alignment or 0) for k in axes))], s.facts)
    if s.swizzle.bits or s.offset != 0:
        raise InconclusiveError("the vector width of a swizzled layout with dims is known")
    at = _chosen(s.modes) if axis is None else axis % rank
    return Answer(list(_cases(s, at, base_alignment or 0)), s.facts)


def _chosen(modes: Sequence[Sequence[Mode]]) -> int:
    """Return the axis whose stride is 1, or else may be 1."""
    first = [next((d for n, d in axis if n != 1), 0) for axis in modes]
    if 1 in first:
        return first.index(1)
    return next((k for k, d in enumerate(first) if not isinstance(d, int)), 0)


def _constant(s: Strides, axis: int, base: int) -> int:
    """Return the width along an axis of a layout without dims."""
    modes = [[(int(str(n)), int(str(d))) for n, d in m] for m in s.modes]
    if not s.swizzle.bits and s.offset == 0:
        width = _width([m for m in modes[axis] if m[0] > 1], [m for k, a in enumerate(modes) if k != axis for m in a])
        return gcd(width, base)
    size = prod(n for n, _ in modes[axis])
    if prod(n for axis_modes in modes for n, _ in axis_modes) > MAX_ENUMERATED:
        raise InconclusiveError(f"the layout has at most {MAX_ENUMERATED} coordinates")
    start = int(str(s.offset))
    others = [start]
    for n, d in (m for k, a in enumerate(modes) if k != axis for m in a):
        others = [o + c * d for o in others for c in range(n)]
    along = [0]
    for n, d in modes[axis]:
        along = [o + c * d for c in range(n) for o in along]
    rows = [[s.swizzle(o + step) for step in along] for o in others]
    for width in sorted((v for v in range(1, size + 1) if size % v == 0), reverse=True):
        if base % width == 0 and all(_is_aligned(row, width) for row in rows):
            return width
    return 1


def _is_aligned(row: Sequence[int], width: int) -> bool:
    starts = range(0, len(row), width)
    return all(row[c] % width == 0 and row[c : c + width] == list(range(row[c], row[c] + width)) for c in starts)


def _width(along: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Return the greatest common divisor of the contiguous run and the strides of the others."""
    if not along or along[0][1] != 1:
        return 1
    run, *rest = along
    width, left = run[0], list(rest)
    while left and left[0][1] == width:
        width *= left.pop(0)[0]
    return gcd(width, *(d for n, d in [*left, *others] if n > 1))


# ---------------------------------------------------------------------- with dims


@dataclass(frozen=True, slots=True)
class _Case:
    """A case of the dims: what holds in it, and what divides the width there."""

    conditions: Conjunction
    fixed: Mapping[str, Extent]


def _cases(s: Strides, axis: int, base: int) -> Iterator[tuple[Conjunction, Any]]:
    """Yield cases, of which the first that holds counts."""
    order = [*s.modes[axis], *(m for k, a in enumerate(s.modes) if k != axis for m in a)]
    count = len(s.modes[axis])
    for case, moving in _moving(s.facts, [n for n, _ in order]):
        modes = [(substitute(n, case.fixed), substitute(d, case.fixed)) for n, d in order]
        along = [m for m, moves in zip(modes[:count], moving[:count], strict=True) if moves]
        others = [m for m, moves in zip(modes[count:], moving[count:], strict=True) if moves]
        yield from _runs(case.conditions, along, others, base, s.facts)


def _moving(facts: Facts, sizes: Sequence[Extent]) -> Iterator[tuple[_Case, list[bool]]]:
    """Yield cases in which each size is 1, or more than 1."""

    def walk(case: _Case, k: int, found: list[bool]) -> Iterator[tuple[_Case, list[bool]]]:
        if k == len(sizes):
            yield case, found
            return
        size = substitute(sizes[k], case.fixed)
        if isinstance(size, int) or facts.nonnegative(size - 2):
            if not isinstance(size, int) or size >= 1:
                yield from walk(case, k + 1, [*found, not isinstance(size, int) or size > 1])
            return
        one = Requirement("", "zero", size - 1)
        name = _alone(size)
        fixed = {**case.fixed, name: 1} if name else case.fixed
        yield from walk(_Case((*case.conditions, one), fixed), k + 1, [*found, False])
        yield from walk(
            replace(case, conditions=(*case.conditions, Requirement("", "nonnegative", size - 2))),
            k + 1,
            [*found, True],
        )

    yield from walk(_Case((), {}), 0, [])


def _alone(e: Extent) -> str | None:
    """Return the name of a polynomial that is a symbol."""
    terms = terms_of(e)
    (monomial, c), *rest = terms.items()
    return monomial[0] if not rest and c == 1 and len(monomial) == 1 else None


def _runs(
    conditions: Conjunction, along: Sequence[Mode], others: Sequence[Mode], base: int, facts: Facts
) -> Iterator[tuple[Conjunction, Any]]:
    """Yield the cases of a first stride that is 1 or not, and of strides that continue the run or not."""
    if not along:
        yield conditions, 1
        return
    (run, first), *rest = along
    yield from _if_zero(
        conditions,
        facts.reduce(first - 1),
        lambda c: _continued(c, run, rest, others, base, facts),
        lambda c: iter([(c, 1)]),
    )


def _continued(
    conditions: Conjunction, run: Extent, rest: Sequence[Mode], others: Sequence[Mode], base: int, facts: Facts
) -> Iterator[tuple[Conjunction, Any]]:
    ends = [run, *(d for _, d in [*rest, *others])]
    if not rest:
        yield from _divisors(conditions, ends, base, facts)
        return
    (size, stride), *later = rest
    yield from _if_zero(
        conditions,
        facts.reduce(stride - run),
        lambda c: _continued(c, facts.reduce(run * size), later, others, base, facts),
        lambda c: _divisors(c, ends, base, facts),
    )


def _if_zero(conditions: Conjunction, e: Extent, yes: Any, no: Any) -> Iterator[tuple[Conjunction, Any]]:
    """Yield the cases where *e* is 0, and then those that remain."""
    if e == 0:
        yield from yes(conditions)
        return
    if isinstance(e, Poly):
        yield from yes((*conditions, Requirement("", "zero", e)))
    yield from no(conditions)


def _divisors(
    conditions: Conjunction, numbers: Sequence[Extent], base: int, facts: Facts
) -> Iterator[tuple[Conjunction, Any]]:
    """Yield the greatest common divisor of numbers and *base*: one case for each divisor, the largest first."""
    bound, symbols = base, []
    for e in numbers:
        if isinstance(e, int):
            bound = gcd(bound, e)
        elif e not in symbols:
            symbols.append(e)
    if not symbols:
        yield conditions, bound
    elif not bound:
        written = [sympy_bridge.to_sympy(e, facts) for e in symbols]
        yield conditions, written[0] if len(written) == 1 else greatest_common_divisor(written)
    elif bound > MAX_DIVISORS:
        raise InconclusiveError(f"the vector width is at most {MAX_DIVISORS}\n  help: pass base_alignment=")
    else:
        seen: list[set[Requirement]] = []
        for width in sorted((v for v in range(1, bound + 1) if bound % v == 0), reverse=True):
            demanded = _divisible(symbols, width)
            if demanded is not None and demanded not in seen:
                seen.append(demanded)
                yield (*conditions, *sorted(demanded, key=str)), width


def _divisible(symbols: Sequence[Extent], width: int) -> set[Requirement] | None:
    """Return when a width divides polynomials; None if it never does."""
    found: set[Requirement] = set()
    for e in symbols:
        left = collapse({m: c % width for m, c in terms_of(e).items() if c % width})
        if left == 0:
            continue
        if isinstance(left, int):
            return None
        common = gcd(content(left.terms), width)
        if common > 1:
            left = collapse({m: c // common for m, c in left.terms.items()})
        found.add(Requirement("", "divides", left, width // common))
    return found
