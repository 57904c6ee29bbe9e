"""Bijections between the boxes that two values read, found from what their views read.

If both views read one element, the coordinates of that element are equations between a coordinate of the first box and
one of the second.  Solved for the second, they say where each term of the first value stands in the box of the second:
a roll, a shuffle, another order of the digits of a joined axis.  This is a guess.  It is used only where the views are
proved to be equal under it, and where it is proved to have an inverse.  Functions such as a maximum, which do not count
their terms, need less: each place of the second box is met.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from symlayout import facade
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import (
    Coordinate,
    axis_digits,
    digit_name,
    digits_of,
    extent_of,
    floor_mod,
    is_digital,
)
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    exact_quotient,
    names_of,
    substitute,
    symbol,
    terms_of,
)
from symlayout.errors import SymlayoutError
from symlayout.maps.digit_expressions import Expression, Translated
from symlayout.tensors.apply_operation import apply
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Case, Declared, Operand
from symlayout_codegen.forks import cached_property

_DEEPEST = 4  # functions, one after the other, through which the elements of a view are followed
_MOST_AXES = 8  # of a box
_MOST_READS = 16  # elements of a view that are looked at at each coordinate
_MOST_PIECES = 8  # of a view that has cases


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """The coordinates *coords* in a box, where all *windows* ``0 <= value < extent`` hold."""

    windows: tuple[tuple[Extent, Extent], ...]
    coords: tuple[Extent, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Pieces of a map to a box, in the digits *names* of another box of *extents* and the symbols of *facts*."""

    facts: Facts
    extents: tuple[Extent, ...]
    names: tuple[str, ...]
    pieces: tuple[_Piece, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """What a view reads at a coordinate, elements of *leaves*, where *windows* hold."""

    windows: tuple[tuple[Extent, Extent], ...]
    leaves: tuple[tuple[Tensor, tuple[Extent, ...]], ...]


@dataclass(frozen=True, eq=False)
class Bijection:
    """Where each coordinate of the first box stands in the second.

    Attributes
    ----------
    back : bool
        Whether the first box is that of the second value.
    onto : bool
        Whether it is enough that each coordinate of the second box is met, however often.
    """

    places: _Places
    box: Tensor  # stands for the elements of the second box
    back: bool
    onto: bool
    reverse: tuple[tuple[_Places, Tensor], ...] = ()  # guesses of what undoes it, each with the first box

    @cached_property
    def tensor(self) -> Tensor:
        """The elements of the second box, read over the first."""
        return self.applied(self.box, 0)

    @cached_property
    def inverse(self) -> Tensor | None:
        """The elements of the first box, read over the second; None if it is not proved that this undoes `tensor`."""
        guesses = [_over(places, box, 0) for places, box in self.reverse]
        found: Tensor | None = facade.proved_inverse(self.tensor, guesses, both=not self.onto)
        return found

    def applied(self, t: Tensor, batch: int) -> Tensor:
        """Return *t*, whose axes after the batch are the second box, over the first box."""
        return _over(self.places, t, batch)

    def claims(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the claims that make it a bijection: one after the other is the identity, in both orders.

        If it is only *onto*, one order is enough.
        """
        if self.inverse is not None:
            (leaf,) = self.inverse.leaves()
            yield self.inverse.replace({leaf.key: self.tensor}), self.box
            if not self.onto:
                yield self.tensor.replace({self.box.key: self.inverse}), leaf


def _is_spelled(places: _Places) -> bool:
    """Return whether the system of the places has all symbols that they name: a view may bring in others."""
    facts = places.facts
    parts = [e for piece in places.pieces for e in (*piece.coords, *itertools.chain(*piece.windows))]
    named = set().union(*(names_of(facts.reduce(e)) for e in (*parts, *places.extents)))
    symbols = facts.dims.keys() | facts.definitions.keys() | facts.quotients.keys()
    return all(name in symbols or is_digital(name, facts) for name in named)


def _over(places: _Places, t: Tensor, batch: int) -> Tensor:
    return apply(reindexed, (t,), (places, batch), {}, own=False)


def reindexed(x: Operand, places: _Places, batch: int) -> Declared:
    """Return the elements of *x* at the places that each coordinate after the batch has."""
    translated = Translated(x, places.facts)
    domain = [*x.shape[:batch], *(translated(e) for e in places.extents)]

    def case(piece: _Piece) -> Case:
        found = [Expression(e, translated) for e in piece.coords]
        windows = [(Expression(e, translated), translated(extent)) for e, extent in piece.windows]

        def coords(*o: Any) -> list[Any]:
            values = dict(zip(places.names, o[batch:], strict=True))
            return [*o[:batch], *(e(values) for e in found)]

        def where(*o: Any) -> list[tuple[Any, Extent]]:
            values = dict(zip(places.names, o[batch:], strict=True))
            return [(e(values), extent) for e, extent in windows]

        return Case(coords, where=where if windows else None)

    return Declared(tuple(domain), tuple(case(piece) for piece in places.pieces))


@dataclass(frozen=True, slots=True)
class BoxReads:
    """What the views of two values read at any coordinate of one batch, and of the box of each.

    Attributes
    ----------
    facts : Facts
        The system with the digits of all coordinates.
    boxes : pair of list of Extent
        The extents of both boxes.
    names : pair of tuple of str
        The digits of both boxes.
    ends : pair of sequence of Extent
        Any coordinate in both boxes.
    reads : pair of list
        What the views of both read, view by view.
    """

    facts: Facts
    boxes: tuple[list[Extent], list[Extent]]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    ends: tuple[Sequence[Extent], Sequence[Extent]]
    reads: tuple[list[list[_Read]], list[list[_Read]]]

    def guess(self, first: int) -> _Guess:
        """Return what is to be solved for the place in one box, given the place in the other, which is *first*."""
        second = 1 - first
        return _Guess(self.facts, self.names[first], self.names[second], self.boxes[first], self.boxes[second])

    def pairs(self, first: int) -> list[tuple[list[_Read], list[_Read]]]:
        """Return what each view of both reads; that of the box *first* comes first."""
        return list(zip(self.reads[first], self.reads[1 - first], strict=True))

    def equations(self) -> list[Extent]:
        """Return polynomials that are 0 where the first reads of all views are of one element."""
        return [e for v, w in self.pairs(0) if v and w for e in self.guess(0).equations(v[0], w[0])]


def box_reads(a: Tensor, b: Tensor, order: Sequence[int], swapped: bool, facts: Facts) -> BoxReads | None:
    """Return what the views of *a* and *b* read; None if a box is empty or large, or a coordinate has no normal form.

    *facts* are those of both, without coordinates.  Axis ``order[k]`` of the batch of *a* is axis k of that of *b*.
    """
    batch, facts = a.batch, facts.fork()
    facts.splits = None
    try:
        boxes = [[facts.reduce(e) for e in t.inputs[0].extents[batch:]] for t in (a, b)]
        if not all(0 < len(box) <= _MOST_AXES for box in boxes):
            return None
        outer = [facts.reduce(e) for e in a.inputs[0].extents[:batch]]
        facts.meet([*outer, *boxes[0], *boxes[1]])
        digits = axis_digits(tuple(outer + boxes[0] + boxes[1]), facts)
        at, middle = digits[:batch], batch + len(boxes[0])
        ends = digits[batch:middle], digits[middle:]
        starts = [*at, *ends[0]], [*(at[k] for k in order), *ends[1]]
        inputs = (a.inputs[::-1] if swapped else a.inputs), b.inputs
        reads = [[_reads(view, start, facts) for view in views] for views, start in zip(inputs, starts, strict=True)]
    except SymlayoutError:
        return None
    numbers = range(batch, middle), range(middle, middle + len(boxes[1]))
    names = tuple(map(digit_name, numbers[0])), tuple(map(digit_name, numbers[1]))
    return BoxReads(facts, (boxes[0], boxes[1]), names, ends, (reads[0], reads[1]))


def bijections(a: Tensor, b: Tensor, order: Sequence[int], swapped: bool, facts: Facts) -> list[Bijection]:
    """Return the maps that the views of *a* and *b* suggest: of the box of *a* to that of *b*, or back.

    *facts* are those of both, without coordinates.  Axis ``order[k]`` of the batch of *a* is axis k of that of *b*.
    """
    both = box_reads(a, b, order, swapped, facts)
    if both is None:
        return []
    onto = a.body is not None and a.body.idempotent
    guesses: list[list[tuple[_Places, Tensor]]] = []
    for first in (0, 1):
        extents = (b if first == 0 else a).inputs[0].extents[a.batch :]
        box = Tensor("box", a.dtype, tuple(facts.reduce(e) for e in extents), facts, key=f"box {1 - first}")
        own = tuple(both.ends[first]) if both.boxes[0] == both.boxes[1] else None  # what is compared without a guess
        found = both.guess(first).pieces(both.pairs(first))
        some = [pieces for pieces in found if len(pieces) > 1 or pieces[0].coords != own]
        places = [_Places(both.facts, tuple(both.boxes[first]), both.names[first], tuple(pieces)) for pieces in some]
        guesses.append([(each, box) for each in places if _is_spelled(each)])
    return [
        Bijection(places, box, bool(back), onto, tuple(guesses[1 - back]))
        for back in (0, 1)
        for places, box in guesses[back]
    ]


def _reads(view: Tensor, coords: Sequence[Extent], facts: Facts, depth: int = _DEEPEST) -> list[_Read]:
    """Return what *view* reads at *coords*: one read for each combination of cases.

    Fills are left out, and functions whose elements follow those that they read are looked through.
    """
    if view.declared is not None:
        found: list[_Read] = []
        given = [Coordinate(facts.reduce(c), facts) for c in coords]
        for case in view.declared.cases:
            windows = [] if case.where is None else case.where(*given)
            limits = [(facts.reduce(extent_of(value)), facts.reduce(extent)) for value, extent in windows]
            inner = [facts.reduce(extent_of(c)) for c in case.coords(*given)]
            if case.fill is not None:  # only what is read inside is looked at
                source = view.inputs[case.source].extents
                facts.assume_inside(inner, [facts.reduce(e) for e in source], None)
            for read in _reads(view.inputs[case.source], inner, facts, depth):
                found.append(_Read((*limits, *read.windows), read.leaves))
        return found[:_MOST_PIECES]
    if depth and view.body is not None and (not view.body.over or view.body.equivariant):
        operands = [_reads(x, coords, facts, depth - 1) for x in view.inputs if x.rank == len(coords)]
        return [_both(reads) for reads in itertools.islice(itertools.product(*operands), _MOST_PIECES)]
    return [_Read((), ((view, tuple(coords)),))]


def _both(reads: Sequence[_Read]) -> _Read:
    """Return several reads as one, where the windows of all hold."""
    leaves = tuple(leaf for read in reads for leaf in read.leaves)
    return _Read(tuple(window for read in reads for window in read.windows), leaves[:_MOST_READS])


@dataclass(frozen=True, slots=True)
class _Guess:
    """What reads say of the digits *wanted*, of a box of *extents*, given the digits *known*, of a box *given*."""

    facts: Facts
    known: Sequence[str]
    wanted: Sequence[str]
    given: Sequence[Extent]
    extents: Sequence[Extent]

    def pieces(self, views: Sequence[tuple[list[_Read], list[_Read]]]) -> Iterator[list[_Piece]]:
        """Yield the pieces of maps that the reads of the views suggest: first a map without cases."""
        whole = [self.equations(v[0], w[0]) for v, w in views if len(v) == len(w) == 1]
        first = [self.equations(v[0], w[0]) for v, w in views if v and w]
        certain = [e for equations in whole for e in equations]
        coords = self._solved([*certain, *(e for equations in first for e in equations)])
        if coords is not None:
            yield [_Piece((), coords)]
        for v, w in views:
            if 1 < len(v) * len(w) <= _MOST_PIECES:
                found = [self._piece(read, other, certain) for read, other in itertools.product(v, w)]
                pieces = [piece for piece in found if piece is not None]
                if pieces:
                    yield pieces
                    return

    def _piece(self, read: _Read, other: _Read, certain: Sequence[Extent]) -> _Piece | None:
        """Return the coordinates where *read* and *other* both apply; None if they read no element in common."""
        equations = [part for e in (*certain, *self.equations(read, other)) for part in self._apart(e)]
        coords = self._solved(equations) if len(equations) > len(certain) else None
        if coords is None:
            return None
        places = dict(zip(self.wanted, coords, strict=True))
        there = [(self.facts.reduce(substitute(value, places)), extent) for value, extent in other.windows]
        given = [e for e in equations if e != 0 and self._is_known(e)]  # which hold where the piece applies only
        windows = (*read.windows, *there, *((e, 1) for e in given))
        return _Piece(windows, coords) if all(self._is_known(value) for value, _ in windows) else None

    def equations(self, read: _Read, other: _Read) -> list[Extent]:
        """Return polynomials that are 0 where both read one element."""
        found: list[Extent] = []
        for (x, one), (y, two) in zip(read.leaves, other.leaves, strict=False):
            if x.key == y.key or (x.body is not None and x.body == y.body and x.rank == y.rank):
                found += [self.facts.reduce(d - c) for c, d in zip(one, two, strict=True)]
        return found

    def _apart(self, e: Extent) -> list[Extent]:
        """Return what is 0 where ``e = k * a + b`` is, which is *a* and *b* if *b* is proved to be within k of 0."""
        if not isinstance(e, Poly):
            return [e]
        digits = {*self.known, *self.wanted}
        whole = {m: c for m, c in terms_of(e).items() if len(m) == 1 and m[0] in digits}
        for k in sorted({abs(c) for c in whole.values()} - {1}):
            high: Extent = 0
            for (name,), c in whole.items():
                high = high + (c // k) * symbol(name) if c % k == 0 else high
            low = self.facts.reduce(e - k * high)
            if low != e and all(self.facts.nonnegative(k - 1 - x) for x in (low, -1 * low)):
                return [high, low]
        return [e]

    def _root(self, e: Extent, unknown: Sequence[str]) -> tuple[str, Extent | None]:
        """Return one of the *unknown* symbols of *e*, and its value where *e* is 0; None if there is no such value."""
        if not isinstance(e, Poly) or not unknown:
            return "", None
        if len(unknown) == 1:
            return unknown[0], _root(e, unknown[0])
        for floor in unknown if len(unknown) == 2 else ():
            if floor in self.facts.floors:
                name = unknown[1 - unknown.index(floor)]
                if (value := self._rolled(e, floor, name)) is not None:
                    return name, value
        return "", None

    def _rolled(self, e: Poly, floor: str, name: str) -> Extent | None:
        """Return the digit *name* where *e* is 0, if that says what ``(name + rest) % k`` is, and it has k values."""
        numerator, k = self.facts.floors[floor]
        if name not in self.wanted or not isinstance(numerator, Poly) or self.extents[self.wanted.index(name)] != k:
            return None
        of_floor, of_digit = coefficient_of(e, floor), coefficient_of(numerator, name)
        scale = None if of_floor is None else exact_quotient(-1 * of_floor[0], k)
        if of_floor is None or of_digit is None or scale not in (1, -1) or of_digit[0] not in (1, -1):
            return None
        remainder = -1 * scale * (of_floor[1] - scale * numerator)
        if not (self._is_known(remainder) and self._is_known(of_digit[1])):
            return None
        return floor_mod(self.facts, of_digit[0] * (remainder - of_digit[1]), k)

    def _is_known(self, e: Extent) -> bool:
        """Return whether *e* has no digits but those known."""
        return all(digits_of(name, self.facts) <= set(self.known) for name in names_of(e))

    def _solved(self, equations: Sequence[Extent]) -> tuple[Extent, ...] | None:
        """Return the digits wanted; None if the equations do not determine them."""
        facts, values, open_ones = self.facts, dict[str, Extent](), list(equations)
        while open_ones:
            left: list[Extent] = []
            for e in open_ones:
                e = facts.reduce(substitute(e, values))
                unknown = [name for name in names_of(e) if digits_of(name, facts) & set(self.wanted)]
                name, value = self._root(e, unknown)
                if value is None:
                    left += [e] * (len(unknown) > 0)
                elif self._is_known(value):
                    values[name] = value
            if len(left) == len(open_ones):
                break
            open_ones = left
        used = {d for e in values.values() for name in names_of(e) for d in digits_of(name, facts)}
        found: list[Extent] = []
        for name, e in zip(self.wanted, self.extents, strict=True):
            if e != 1 and name not in values:  # nothing reads this axis: it may be any other such axis
                free = [n for n, size in zip(self.known, self.given, strict=True) if n not in used and size == e]
                if not free:
                    return None
                used.add(free[0])
                values[name] = symbol(free[0])
            found.append(0 if e == 1 else values[name])
        return tuple(found)


def _root(e: Poly, name: str) -> Extent | None:
    """Return the value of *name* for which *e*, which is linear in it, is 0; None if that is no polynomial."""
    split = coefficient_of(e, name)
    return None if split is None else exact_quotient(-1 * split[1], split[0])
