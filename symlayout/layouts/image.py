"""Which offsets a layout reaches: each once, all of them, and by which coordinate; for all sizes, or case by case.

In the order of their strides, modes reach each offset once if each stride is more than all smaller modes reach
together.  They reach all offsets exactly if each stride is at most one more than that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, cast

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, names_of, symbol
from symlayout.errors import InconclusiveError
from symlayout.inverses.properties import Finding
from symlayout.language import sympy_bridge
from symlayout.layouts import operations
from symlayout.layouts.answers import relations
from symlayout.layouts.conditions import CaseFound, Conditions, cases, sizes_of
from symlayout.layouts.modes import by_stride, coalesced
from symlayout.layouts.nested import Mode, Nest, together
from symlayout.layouts.shapes import basis
from symlayout.proof.verdict import Verdict
from symlayout_codegen.values import Value

MAX_ELEMENTS = 1 << 20  # most coordinates that are enumerated
_MOST_VALUES = 16  # values of a stride that are cases of their own
_INJECTIVE = "no two coordinates have one offset"
_SURJECTIVE = "each offset is reached"


class PropertyCase(Value):
    """One case of an answer about a property.

    Attributes
    ----------
    requires : tuple of SymPy relations
        The sizes of this case.
    verdict : Verdict
        PROVED: it holds for all sizes of the case.  REFUTED: it holds for none.  UNKNOWN: neither is known.
    reason : str
        Why it is not known.
    point : mapping or None
        Sizes of this case, by name; None if none were found.
    """

    requires: tuple[Any, ...]
    verdict: Verdict
    reason: str
    point: dict[str, int] | None


# ---------------------------------------------------------------------- the questions


def injective(a: Nest, c: Conditions) -> bool:
    """Return whether no two coordinates have one offset.

    Raises
    ------
    InconclusiveError
        No condition tells.
    """
    moving: list[Mode] = []
    for n, d in a.reduced(c.facts).modes():
        if c.zero(d):
            if c.at_least(n - 2):
                return False
        else:
            moving.append((n, d if c.at_least(d) else -d))
    lower: list[Mode] = []
    reach: Extent = 0
    for n, d in _by_stride(moving, c):
        n, d, reach = c.facts.reduce(n), c.facts.reduce(d), c.facts.reduce(reach)
        if not c.at_least(d - 1 - reach):
            if not c.at_least(n - 2):
                continue
            lower = [mode for mode in coalesced(lower, c.facts) if mode[0] != 1]
            try:
                if any(_meet((n, d), other, c) for other in lower):
                    return False
                is_known = len(lower) == 1
            except InconclusiveError:
                is_known = False
            if not is_known:
                return _injective_by_number(a, c)
        lower.append((n, d))
        reach = reach + (n - 1) * d
    return True


def _meet(mode: Mode, other: Mode, c: Conditions) -> bool:
    """Return whether two modes of positive strides have an offset but 0 in common; *mode* has two elements at least."""
    (n, d), (m, e) = ((c.facts.reduce(size), c.facts.reduce(stride)) for size, stride in (mode, other))
    if isinstance(e, int):
        for divisor in (k for k in range(e, 0, -1) if e % k == 0):
            if (times := c.quotient(d, divisor)) is not None:  # the greatest common divisor
                return c.at_least(n - 1 - e // divisor) and c.at_least(m - 1 - times)
    if (times := c.quotient(d, e)) is not None:
        return c.at_least(m - 1 - times)
    raise InconclusiveError(f"the strides {c.facts.spell(d)} and {c.facts.spell(e)} meet")


def _injective_by_number(a: Nest, c: Conditions) -> bool:
    """Return whether no two coordinates have one offset, by enumeration, for each value of what is bounded."""
    modes = a.reduced(c.facts).modes()
    names = sorted({name for mode in modes for e in mode for name in names_of(e)})
    if not names:
        numbers = _offsets(cast("list[tuple[int, int]]", modes))
        if numbers is None:
            raise InconclusiveError(f"at most {MAX_ELEMENTS} coordinates are compared")
        return len(set(numbers)) == len(numbers)
    for name in names:
        low, high = c.facts.low.get(name), c.facts.high.get(name)
        if isinstance(low, int) and isinstance(high, int) and high - low < _MOST_VALUES:
            number = next((k for k in range(low, high) if c.zero(symbol(name) - k)), high)
            if c.zero(symbol(name) - number) and c.facts.reduce(symbol(name)) == number:
                return injective(a, c)
    raise InconclusiveError("no two coordinates have one offset", [c.facts.describe(symbol(name)) for name in names])


def surjective(a: Nest, size: Extent | None, c: Conditions) -> bool:
    """Return whether each number from the least offset to the largest one is an offset; of a size, each below it."""
    moving: list[Mode] = []
    for n, d in a.reduced(c.facts).modes():
        if c.at_least(d):
            moving.append((n, d))
        elif size is None:
            moving.append((n, -d))
        elif c.at_least(n - 2):
            return False
    reach: Extent = 0
    for n, d in _by_stride(moving, c):
        n, d, reach = c.facts.reduce(n), c.facts.reduce(d), c.facts.reduce(reach)
        if c.at_least(reach + 1 - d):
            reach = reach + (n - 1) * d
        elif c.at_least(n - 2):
            return False
    return size is None or c.zero(reach + 1 - size)


def owner(a: Nest, c: Conditions) -> Nest:
    """Return the layout of offsets whose values are coordinates of *a*, one number for each of its modes."""
    steps = [Nest(part.size(), basis.element((k,))) for k, part in enumerate(a.parts())]
    found = operations.composition(together(steps), operations.left_inverse(a, c), c)
    known = {path for _, d in found.modes() for path in basis.parts(d)}
    if missing := [Nest(1, basis.element((k,))) for k in range(len(steps)) if (k,) not in known]:
        return together([*found.parts(), *missing])  # so that each value has all coordinates
    return found


def _by_stride(modes: Sequence[Mode], c: Conditions) -> list[Mode]:
    return [(n, d) for n, d, _ in by_stride([(n, d, 0) for n, d in modes], c)]


# ---------------------------------------------------------------------- the answers


Question = Callable[[Conditions], bool]
Wrong = Callable[["_Numbers"], tuple[tuple[Any, ...], str]]


class ImageCases:
    """The questions about what is reached, answered case by case."""

    __slots__ = ()

    @abstractmethod
    def _layout(self) -> Any:
        """Return the layout that is asked."""

    def is_injective(self) -> tuple[PropertyCase, ...]:
        """Return whether no two coordinates have one offset, for each of the cases that sizes have.

        Examples
        --------
        >>> import symlayout as sl
        >>> for case in sl.layout("(4,N):(ld,1)").cases.is_injective():
        ...     print(case.requires, case.verdict.name)
        (Eq(ld, 0),) REFUTED
        (ld >= N,) PROVED
        (ld >= 1, N >= ld + 1) REFUTED
        """
        own = self._layout()
        return tuple(_case(found) for found in cases(own.facts, lambda c: injective(own.nest, c)))

    def is_surjective(self, size: Any = None) -> tuple[PropertyCase, ...]:
        """Return whether each offset is reached, as for `Layout.is_surjective`, for each of the cases.

        Examples
        --------
        >>> import symlayout as sl
        >>> for case in sl.layout("(4,N):(1,8)").cases.is_surjective():
        ...     print(case.requires, case.verdict.name)
        (N >= 2,) REFUTED
        (N <= 1,) PROVED
        """
        own = self._layout()
        facts, most = own.facts.fork(), None
        if size is not None:
            most = sympy_bridge.to_extent(size, facts, "size")
        return tuple(_case(found) for found in cases(facts, lambda c: surjective(own.nest, most, c)))


class LayoutImage:
    """The questions about what is reached, for all sizes."""

    __slots__ = ()

    @property
    @abstractmethod
    def nest(self) -> Nest:
        """The sizes and strides in the symbols of `facts`."""

    @property
    @abstractmethod
    def facts(self) -> Facts:
        """What is known of the symbols."""

    @abstractmethod
    def _answer(self, question: Callable[[Conditions], Nest], facts: Facts) -> Any:
        """Return the answer to *question* under *facts*."""

    def is_injective(self) -> Finding:
        """Decide whether no two coordinates have one offset; `cases` has the sizes for which it is so.

        The witness is ``(offset, coordinate, other coordinate)``, with a number for each mode.

        Raises
        ------
        ShapeError
            ``attr_dtype`` for a layout of coordinates.

        Examples
        --------
        >>> import symlayout as sl
        >>> print(sl.layout("(M,N):(N,1)").is_injective())
        PROVED: no two coordinates have one offset, for all sizes
        >>> sl.layout("(4,8):(7,1)").is_injective()
        REFUTED: offset 7 is that of (1, 0) and of (0, 7)
        """
        return _finding(_INJECTIVE, self.nest, self.facts, lambda c: injective(self.nest, c), _met)

    def is_surjective(self, size: Any = None) -> Finding:
        """Decide whether the offsets have no gap: each number from the least one to the largest one is reached.

        The witness is ``(offset,)``, which is not reached.

        Parameters
        ----------
        size : int, dim or expression, optional
            The offsets have to be the numbers below *size*.

        Raises
        ------
        ShapeError
            ``attr_dtype`` for a layout of coordinates.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(4,2):(1,3)").is_surjective()
        PROVED: each offset is reached, for all sizes
        >>> sl.layout("(4,N):(1,8)").is_surjective()
        REFUTED: N = 2: offset 4 is reached nowhere
        """
        facts, most = self.facts.fork(), None
        if size is not None:
            most = sympy_bridge.to_extent(size, facts, "size")

        def wrong(own: _Numbers) -> tuple[tuple[Any, ...], str]:
            return _left_out(own, None if most is None else evaluate(most, own.values))

        return _finding(_SURJECTIVE, self.nest, facts, lambda c: surjective(self.nest, most, c), wrong)

    def owner(self) -> Any:
        """Return who has each offset: the layout whose value at an offset is its coordinate.

        Of a layout of threads and values, that is the thread and the value that have an element.  Where several
        coordinates have an offset, it is the one whose modes of stride 0 are 0.  Offsets that are not reached have no
        owner: the values there mean nothing.

        Returns
        -------
        Layout
            A layout *w* of coordinates, with ``self(w(k)) == k`` for each offset *k* of this layout.

        Raises
        ------
        ShapeError
            ``infeasible`` for a negative stride.
        InconclusiveError
            No layout is found, as for `left_inverse`.

        Examples
        --------
        >>> import symlayout as sl
        >>> accumulator = sl.layout("((4,8),(2,2)):((32,1),(16,8))")
        >>> who = accumulator.owner()
        >>> who, who(17), accumulator(4, 1)
        ((8,2,2,4):(4@0,2@1,1@1,1@0), (4, 1), 17)
        """
        return self._answer(lambda c: owner(self.nest, c), self.facts)


def _case(found: CaseFound[bool]) -> PropertyCase:
    error = found.error
    if error is not None and not isinstance(error, InconclusiveError):
        raise error
    verdict = Verdict.UNKNOWN if found.answer is None else Verdict.PROVED if found.answer else Verdict.REFUTED
    reason = "" if error is None else str(error).splitlines()[0]
    return PropertyCase(relations(found.facts), verdict, reason, found.point)


class _Numbers:
    """A layout at sizes that are numbers."""

    def __init__(self, nest: Nest, values: Mapping[str, int]) -> None:
        self.values = values
        self.tops = [evaluate(part.size(), values) for part in nest.parts()]
        self.modes = [(evaluate(n, values), evaluate(d, values)) for n, d in nest.modes()]
        self.offsets = _offsets(self.modes)

    def coordinate(self, number: int) -> tuple[int, ...]:
        """Return the coordinate of this number, one number for each mode at the top."""
        found = []
        for size in self.tops:
            number, digit = divmod(number, size)
            found.append(digit)
        return tuple(found)


def _finding(what: str, nest: Nest, facts: Facts, question: Question, wrong: Wrong) -> Finding:
    """Return the finding about all sizes; *wrong* returns a witness, and why it is one, at sizes of a case."""
    found = list(cases(facts, question))
    for case in found:
        if case.error is not None and not isinstance(case.error, InconclusiveError):
            raise case.error
        if case.answer is False and (point := case.point or sizes_of(case.facts)[0]) is not None:
            witness, reason = wrong(_Numbers(nest, facts.values(point)))
            return Finding(what, Verdict.REFUTED, _dims(point, facts), witness, reason, searched=1)
    if not found or not all(case.answer for case in found):
        return Finding(what, Verdict.UNKNOWN)
    points = (case.point for case in found if case.point is not None)
    point = next(points, None) or sizes_of(facts)[0] or {}
    return Finding(what, Verdict.PROVED, point=_dims(point, facts))


def _dims(point: Mapping[str, int], facts: Facts) -> dict[Any, int]:
    return {sympy_bridge.symbol_of(facts.dims[name]): number for name, number in point.items()}


def _offsets(modes: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return the offsets of all coordinates in the order of their numbers; None if they are many."""
    if prod(n for n, _ in modes) > MAX_ELEMENTS:
        return None
    found = [0]
    for n, d in modes:
        found = [x + k * d for k in range(n) for x in found]
    return found


def _met(own: _Numbers) -> tuple[tuple[Any, ...], str]:
    first: dict[int, int] = {}
    for k, offset in enumerate(own.offsets or ()):
        if (other := first.setdefault(offset, k)) != k:
            witness = offset, own.coordinate(other), own.coordinate(k)
            return witness, f"offset {offset} is that of {witness[1]} and of {witness[2]}"
    return (), "two coordinates have one offset"


def _left_out(own: _Numbers, size: int | None) -> tuple[tuple[Any, ...], str]:
    reached = set(own.offsets or ())
    low, high = (min(reached, default=0), max(reached, default=0) + 1) if size is None else (0, size)
    if outside := [offset for offset in reached if not low <= offset < high]:
        return (min(outside),), f"offset {min(outside)} is not among {size}"
    missing = next((offset for offset in range(low, high) if offset not in reached), None) if reached else None
    return (
        ((), "an offset is reached nowhere")
        if missing is None
        else ((missing,), f"offset {missing} is reached nowhere")
    )
