"""The digits of movement: how the elements of a value are read, whatever operations move them.

The composed map is evaluated at examples: small sizes that the requirements of the value allow.  There the reads are
written as ``corner + sum(step_k * d_k)``, over digits ``0 <= d_k < extent_k``.  Each digit lies on one axis of the
output and on one of the input.  Two examples whose dims all differ tell fixed extents from expressions in dims.

What is found are guesses: each spelling that is made of them is proved for all sizes before it is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, names_of
from symlayout.deadlines import work
from symlayout.errors import InconclusiveError, SymlayoutError
from symlayout.maps.gather_elements import READ_PER_GOAL, numbers_read
from symlayout.show.small_sizes import small
from symlayout.tensors.chain import Tensor

_MAX_ELEMENTS = 1 << 22  # of an example
_FACTORS = (2, 3, 5, 7, 11, 13)  # of the dims of an example; they tell dims apart
_LARGE_FACTORS = (11, 13, 17, 19, 23, 29)  # where parts are cut off that small sizes do not have
_TRIES = 24  # ways to give these factors to dims
_MAX_FAILURES = 6  # of these for which an operation cannot be applied, though the requirements are met
_CHOICES = 256  # of sizes where these do not do
_MAX_MODULUS = 64  # that a dim of an example is a multiple of
_PREFERRED = (2, 3, 4, 6, 5, 8, 7, 12)  # sizes where a dim's modulus is not enough

Array = np.ndarray[Any, Any]
_Part = tuple[int, int, int, int, int]  # extent, output axis, input axis, step, stride


@dataclass(frozen=True, slots=True)
class Digit:
    """One digit of the output coordinate.

    Attributes
    ----------
    extent : int or expression
        How many values it has.
    numbers : tuple of int
        The extent in each example.
    target : int
        The output axis whose coordinate it is a digit of.
    source : int
        The input axis whose coordinate it changes; -1 if it repeats elements.
    step : int
        By how much it changes that coordinate.
    stride : int
        The same in elements of the input, in the first example.
    """

    extent: Any
    numbers: tuple[int, ...]
    target: int
    source: int
    step: int
    stride: int


@dataclass(frozen=True, slots=True)
class Example:
    """What the elements of a value are read from at one choice of sizes.

    Attributes
    ----------
    reads : array
        For each output element in row-major order the number of the input element.
    start, end : tuple of int
        The shapes of the input and the output.
    """

    reads: Array
    start: tuple[int, ...]
    end: tuple[int, ...]

    @property
    def is_identity(self) -> bool:
        """Whether the output has the elements of the input in the same order."""
        return self.reads.size == prod(self.start) and bool((self.reads == np.arange(self.reads.size)).all())


@dataclass(frozen=True, slots=True)
class Digits:
    """The digits of a movement in output order, and the coordinate that the first element is read from.

    Attributes
    ----------
    digits : tuple of Digit
        The digits, the most significant first; digits of extent 1 are left out.
    corners : tuple of tuples of int
        For each example the coordinate that the output's first element is read from.
    starts : tuple of tuples of int
        For each example the input's shape.
    """

    digits: tuple[Digit, ...]
    corners: tuple[tuple[int, ...], ...]
    starts: tuple[tuple[int, ...], ...]


def is_number(e: Any) -> bool:
    """Return whether an extent is an int, or an expression that is one."""
    return isinstance(e, int) or bool(e.is_Integer)


def plain(e: Any) -> Any:
    """Return an extent, as an int where it is one."""
    return int(e) if is_number(e) else e


def examples(wanted: Tensor) -> list[Example]:
    """Return what *wanted* reads of its leaf at two choices of sizes, or at one if no second one is found.

    The list is empty if it is filled in part, or too large.
    """
    found = []
    for t in _bound(wanted):
        example = _example(t)
        if example is None:
            return []
        found.append(example)
    return found


def _example(t: Tensor) -> Example | None:
    (source,) = t.leaves()
    if not all(isinstance(n, int) for n in (*source.shape, *t.shape)):
        return None
    if not 0 < prod(source.shape) <= _MAX_ELEMENTS or not 0 < prod(t.shape) <= _MAX_ELEMENTS:
        return None
    work(len(t.nodes()) * (1 + prod(t.shape) // READ_PER_GOAL))
    reads = numbers_read(t)
    return Example(reads.ravel(), source.shape, t.shape) if reads.min() >= 0 else None


def _bound(t: Tensor) -> Iterator[Tensor]:
    """Yield *t* at sizes that tell its dims apart; each extent with dims has another size the second time."""
    names = list(t.facts.dims)
    if not names:
        yield t
        return
    first: list[int] | None = None
    taken: dict[str, int] = {}
    sizes, failures = _Sizes(t), 0
    moduli = _moduli(t)
    for numbers, modulus in (*((_FACTORS, modulus) for modulus in moduli), (_LARGE_FACTORS, moduli[0])):
        for factors in itertools.islice(itertools.permutations(numbers[: max(len(names), 2)], len(names)), _TRIES):
            values = dict(zip(names, factors, strict=True))
            found = _smallest(sizes, values, modulus, taken, first)
            if found is None or (first is not None and any(a == b for a, b in zip(found, first, strict=True))):
                continue
            try:
                bound = t.subs(values)
            except SymlayoutError:
                failures += 1
                if failures == _MAX_FAILURES:
                    return
                continue
            yield bound
            if first is not None or not found:
                return
            first, taken = found, values
    if first is None:
        try:
            yield small(t, preferred=_PREFERRED, tries=_CHOICES, suits=sizes.has_no_row_alone)[0]
        except InconclusiveError:
            return


class _Sizes:
    """The extents along a movement at chosen sizes of its dims, computed without applying its operations again."""

    def __init__(self, t: Tensor) -> None:
        self._facts = t.facts
        self._dims = list(t.facts.dims.values())
        self._start = [*t.leaves()[0].extents]
        self._ends = [e for e in (*self._start, *t.extents) if not isinstance(e, int)]
        within: dict[int, tuple[Facts, set[Extent]]] = {}
        for node in t.nodes():
            within.setdefault(id(node.facts), (node.facts, set()))[1].update(
                e for e in node.extents if not isinstance(e, int)
            )
        self._evaluated = t.facts.evaluation()
        self._within = [(facts.evaluation(), extents) for facts, extents in within.values() if extents]

    def apart(self, values: Mapping[str, int], others: Sequence[int] | None = None) -> list[int] | None:
        """Return the extents with dims of the input and of the output, if these sizes tell axes apart; else None.

        They do if the movement allows them, none of its values with dims has an extent below 2, and no extent of the
        input or of the output is that of *others*, which are in the same order.
        """
        known = self._evaluated(values)
        allowed = all(dim.allows(values[dim.name]) for dim in self._dims)
        if not allowed or self._facts.failing(known) is not None:
            return None
        try:
            ends = [evaluate(e, known) for e in self._ends]
            if others is not None and any(a == b for a, b in zip(ends, others, strict=True)):
                return None
            for evaluated, extents in self._within:
                at = evaluated(values)
                if any(evaluate(e, at) < 2 for e in extents):
                    return None
        except KeyError:  # an extent has no value at these sizes
            return None
        return ends

    def has_no_row_alone(self, known: Mapping[str, int]) -> bool:
        """Return whether no extent of the input is below 2 where its symbols have these values."""
        return all(evaluate(e, known) > 1 for e in self._start if names_of(e) <= known.keys())


def _moduli(t: Tensor) -> list[int]:
    """Return what the dims of an example are multiples of: the numbers in the extents together, then their square."""
    fixed: set[int] = set()
    for e in (e for node in t.nodes() for e in node.shape):
        factor = e if isinstance(e, int) else e.as_coeff_Mul()[0]
        fixed.update((int(factor.numerator), int(factor.denominator)))
    modulus = 1
    for n in sorted(fixed):
        if n > 0 and math.lcm(modulus, n) <= _MAX_MODULUS:
            modulus = math.lcm(modulus, n)
    return [m for m in dict.fromkeys((modulus, modulus**2)) if m <= _MAX_MODULUS]


def _smallest(
    sizes: _Sizes, values: dict[str, int], modulus: int, taken: Mapping[str, int], others: Sequence[int] | None
) -> list[int] | None:
    """Write the smallest sizes that are allowed to *values*, and return the extents there: see `_Sizes.apart`.

    The sizes are the values times divisors of *modulus*; none is that of *taken*, and no extent is one of *others*.
    """
    divisors = [m for m in range(1, modulus + 1) if modulus % m == 0]
    best = {name: value * modulus for name, value in values.items()}
    for name, value in values.items():
        for m in divisors:
            if value * m != taken.get(name) and sizes.apart({**best, name: value * m}, others) is not None:
                best[name] = value * m
                break
    values.update(best)
    return sizes.apart(best)


def digits_of(found: Sequence[Example], start: Sequence[Any], end: Sequence[Any]) -> Digits | None:
    """Return the digits of the movement from the shape *start* to *end*; None if the examples do not have any."""
    sides = [_numeric(example) for example in found]
    if not sides or any(side is None for side in sides):
        return None
    first = sides[0]
    last = sides[-1]
    assert first is not None
    assert last is not None
    if [(t, s) for _, t, s, _, _ in first] != [(t, s) for _, t, s, _, _ in last]:
        return None
    if _ordered_by_step(first) != _ordered_by_step(last):
        return None
    if len(found) < 2 and not all(map(is_number, (*start, *end))):
        return None
    extents: list[Any] = [a[0] if a[0] == b[0] else None for a, b in zip(first, last, strict=True)]
    corners = tuple(tuple(int(c) for c in np.unravel_index(x.reads[0], x.start)) for x in found)
    whole = all(
        prod(n for n, *_ in side) == prod(x.start) for side, x in zip((first, last), (found[0], found[-1]), strict=True)
    )
    _solve(extents, [t for _, t, *_ in first], end)
    if whole:
        _solve(extents, [s for _, _, s, *_ in first], start)
        _solve(extents, [t for _, t, *_ in first], end)
    numbers = [tuple(n for n, *_ in parts) for parts in zip(first, last, strict=True)]
    for k, (_, _, axis, step, _) in enumerate(first):
        if extents[k] is None and axis >= 0:  # a window leaves the same number of places out in both examples
            left = {x.start[axis] - n * abs(step) for x, n in zip((found[0], found[-1]), numbers[k], strict=True)}
            extents[k] = _as_in((start[axis] - left.pop()) / abs(step), end) if len(left) == 1 else None
    if any(e is None for e in extents):
        return None
    made = tuple(
        Digit(plain(e), ns[: len(found)], t, s, step, stride)
        for e, ns, (_, t, s, step, stride) in zip(extents, numbers, first, strict=True)
    )
    return Digits(made, corners, tuple(x.start for x in found))


def _as_in(extent: Any, shape: Sequence[Any]) -> Any:
    """Return an extent as a shape has it: ``Max(0, extent)`` where sizes may be too small for the window."""
    factors = [f for e in shape if not is_number(e) for f in (e.args if e.is_Mul else (e,))]
    return next((f for f in factors if set(f.args) == {0, extent}), extent)


def _ordered_by_step(parts: Sequence[_Part]) -> dict[int, tuple[int, list[int]]]:
    """Return for each input axis the least step along it, and the numbers of its digits by their steps.

    The larger steps are products of extents, which may have dims.
    """
    found = {}
    for axis in {source for _, _, source, _, _ in parts if source >= 0}:
        own = sorted((k for k, p in enumerate(parts) if p[2] == axis), key=lambda k: abs(parts[k][3]))
        found[axis] = parts[own[0]][3], own
    return found


def _solve(extents: list[Any], axes: Sequence[int], shape: Sequence[Any]) -> None:
    """Write the extents that follow from an axis all of whose other digits are known."""
    for axis, extent in enumerate(shape):
        own = [k for k, a in enumerate(axes) if a == axis]
        unknown = [k for k in own if extents[k] is None]
        if len(unknown) == 1:
            others = prod(extents[k] for k in own if extents[k] is not None)
            extents[unknown[0]] = extent / others if others != 1 else extent


def _numeric(x: Example) -> list[_Part] | None:
    """Return the digits of an example, each on one axis of the output and of the input, the most significant first."""
    runs = affine(x.reads)
    if runs is None:
        return None
    placed = _on_output_axes(runs, x.end)
    if placed is None:
        return None
    parts: list[_Part] = []
    for extent, stride, target in placed:
        pieces = _on_input_axes(extent, stride, target, x.start)
        if pieces is None:
            return None
        parts += pieces
    corner = np.unravel_index(x.reads[0], x.start)
    for axis, n in enumerate(x.start):
        moves = [step * (extent - 1) for extent, _, source, step, _ in parts if source == axis]
        if corner[axis] + sum(min(m, 0) for m in moves) < 0 or corner[axis] + sum(max(m, 0) for m in moves) >= n:
            return None
    parts.reverse()
    return parts


def affine(reads: Array) -> list[tuple[int, int]] | None:
    """Return extents and strides, the least significant first, such that *reads* are sums over these digits.

    >>> affine(np.arange(24).reshape(2, 3, 4).transpose(0, 2, 1).ravel())
    [(3, 4), (4, 1), (2, 12)]
    """
    runs = []
    at = reads
    while at.size > 1:
        step = at[1] - at[0]
        other = np.flatnonzero(np.diff(at) != step)
        run = int(other[0]) + 1 if other.size else at.size
        if at.size % run:
            return None
        rows = at.reshape(-1, run)
        if not (rows == rows[:, :1] + step * np.arange(run)).all():
            return None
        runs.append((run, int(step)))
        at = rows[:, 0]
    return runs


def _on_output_axes(runs: Iterable[tuple[int, int]], end: Sequence[int]) -> list[tuple[int, int, int]] | None:
    """Return digits cut where output axes end, with their axes, the least significant first."""
    placed = []
    axis = len(end) - 1
    left = end[axis] if end else 1
    for extent, stride in runs:
        while extent > 1:
            while left == 1:
                axis -= 1
                left = end[axis]
            low = min(extent, left)
            if extent % low or left % low:
                return None
            placed.append((low, stride, axis))
            extent, stride, left = extent // low, stride * low, left // low
    return placed


def _on_input_axes(extent: int, stride: int, target: int, start: Sequence[int]) -> list[_Part] | None:
    """Return a digit cut where input axes end, the least significant part first."""
    if stride == 0:
        return [(extent, target, -1, 0, 0)]
    parts: list[_Part] = []
    while extent > 1:
        below = 1
        for axis in reversed(range(len(start))):
            above = below * start[axis]
            if below <= abs(stride) < above:
                break
            below = above
        else:
            return None
        if stride % below:
            return None
        low = extent
        if abs(stride) * (extent - 1) >= above:
            low = above // abs(stride)
            if above % stride or extent % low:
                return None
        parts.append((low, target, axis, stride // below, stride))
        extent, stride = extent // low, stride * low
    return parts
