"""Find the input box that an output box needs, to process a large array in chunks.

The chain is evaluated on digits that walk only the output box.  A guard or window of a single digit cuts the range of
that digit.  A coordinate then takes its least and greatest value at the ends of the ranges, if its terms vary
independently.  If they do not, the input box is only a hull, and ``exact`` is False.

Digits exist only where the output box has an element, but the result is valid for all sizes.  Therefore its divisors
are >= 1, and ``exact`` requires that the input box is empty whenever the output box is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name, floor_div
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    collapse,
    exact_quotient,
    names_of,
    substitute,
    terms_of,
)
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.language import sympy_bridge
from symlayout.language.readable import fold_remainders
from symlayout.maps.compose_chain import Read, Window, normalise
from symlayout.maps.merge_pieces import is_fork
from symlayout.tensors.chain import Tensor, check_moves

Box = list[tuple[Extent, Extent]]  # half-open ranges


@dataclass(frozen=True, slots=True)
class Image:
    """The part of one input that an output box reads.

    Attributes
    ----------
    source : str
        The name of the input.
    box : tuple of (start, stop), or None
        A half-open range for each axis of the input; the ranges contain every coordinate that is read.  The ends are
        ints or SymPy expressions.  Nothing is read if start >= stop on an axis.  None means that nothing is ever read.
    exact : bool
        Whether no smaller box contains what is read, for any sizes.

    Examples
    --------
    >>> import symlayout as sl
    >>> y = sl.pad(sl.tensor((8,), name="x"), 1)
    >>> (read,) = y.index_map.image([(0, 4)])
    >>> read.source, read.box, read.exact
    ('x', ((0, 3),), True)
    """

    source: str
    box: tuple[tuple[Any, Any], ...] | None
    exact: bool


def image(t: Tensor, box: Sequence[tuple[Any, Any] | None]) -> tuple[Image, ...]:
    """Return the input boxes that an output box reads: one `Image` for each input, in order of first use.

    Parameters
    ----------
    t : Tensor
        The tensor whose output is cut.
    box : sequence of (start, stop) or None
        A half-open range of ints, dims or expressions for each axis of the output; None is the whole axis.

    Raises
    ------
    ShapeError
        ``rank`` if the number of ranges is not the rank; ``crop_exceeds`` if a range is not inside the output, or
        ``infeasible`` if it is outside for all sizes.
    ArrayError
        Elements of *t* are computed: they are not moved from an input.
    InconclusiveError
        An operation that users declare reads its input where it is not proved to be inside.

    Examples
    --------
    >>> from symlayout.ops.pad import pad
    >>> from symlayout.tensors.input_tensor import tensor
    >>> image(pad(tensor((8, 8), name="x"), 1), [(0, 4), None])
    (Image(source='x', box=((0, 3), (0, 8)), exact=True),)
    """
    check_moves("image", t, constants=True)
    if not isinstance(box, Sequence):
        raise TypeError(f"image takes a sequence of ranges, not {type(box).__name__}")
    if len(box) != t.rank:
        raise ShapeError(f"image: a box of {len(box)} ranges for rank {t.rank}", "rank")
    everywhere = t.facts.fork()
    ranges = [_range(pair, axis, t, everywhere) for axis, pair in enumerate(box)]
    facts = everywhere.fork()
    try:
        for start, stop in ranges:
            facts.assume_nonnegative(stop - start - 1)
    except ShapeError:
        return tuple(Image(leaf.name, None, True) for leaf in t.leaves())
    counts: dict[str, Extent] = {}
    coordinates: list[Extent] = []
    for axis, (start, stop) in enumerate(ranges):
        name = digit_name(axis)
        count = facts.reduce(stop - start)
        coordinates.append(facts.reduce(start) if count == 1 else facts.reduce(start) + facts.add_digit(name, count))
        counts[name] = count
    reads = normalise(t, facts.fork(), coordinates, shown=all(node.own for node in t.nodes()))
    empty = _Emptiness([everywhere.reduce(stop - start) for start, stop in ranges], everywhere)
    return tuple(
        _united(
            leaf,
            [_ReadImage(read, facts, counts) for read in reads if read.leaf is not None and read.leaf.key == leaf.key],
            empty,
        )
        for leaf in t.leaves()
    )


def axes_read(t: Tensor, leaf: Tensor) -> list[tuple[int, ...]]:
    """Return the axes of *t* on which the range of each axis of *leaf* depends, where an output box reads something.

    A window of several digits cuts no range (`_ReadImage`), so that it ties no axes together.

    >>> from symlayout.ops.reshape import reshape
    >>> from symlayout.tensors.input_tensor import tensor
    >>> x = tensor("N, C, H", name="x")
    >>> axes_read(reshape(x, (x.shape[0], -1)), x)
    [(0,), (1,), (1,)]
    """
    reads = [read for read in t.index_map.reads if read.leaf is not None and read.leaf.key == leaf.key]
    windows = [_axes_in(w.value, r.facts) for r in reads for w in (*r.windows, *(g.window for g in r.guards))]
    found = []
    for axis in range(leaf.rank):
        used = set().union(*(_axes_in(read.coords[axis], read.facts) for read in reads))
        if len({read.coords[axis] for read in reads}) > 1:  # which part is read matters
            used = used.union(*windows)
        found.append(tuple(sorted(used)))
    return found


def _axes_in(e: Extent, facts: Facts) -> set[int]:
    """Return the output axes whose coordinates an expression in normal form depends on."""
    found: set[int] = set()
    for name in names_of(facts.reduce(e)):
        if name[0] == DIGIT:
            found.add(int(name[1:].split("_")[0]))  # a split digit is called #0_1
        else:
            found = found.union(*(_axes_in(part, facts) for part in facts.terms_within(name)))
    return found


def _range(pair: tuple[Any, Any] | None, axis: int, t: Tensor, facts: Facts) -> tuple[Extent, Extent]:
    """Return an output range; require that it is inside the axis and not reversed."""
    extent = facts.reduce(t.extents[axis])
    if pair is None:
        return 0, extent
    start, stop = (sympy_bridge.to_extent(end, facts, f"box of axis {axis}") for end in pair)
    rule = f"axis {axis}: {start}:{stop} is not a range within 0:{facts.spell(extent)}"
    for inside in (start, stop - start, extent - stop):
        facts.require_nonnegative(inside, "crop_exceeds", "image", rule=rule)
    return start, stop


class _Emptiness:
    """The facts under which the output box is empty: one system for each axis that may be empty."""

    def __init__(self, counts: Sequence[Extent], everywhere: Facts) -> None:
        self.everywhere = everywhere
        self._cases: list[Facts] = []
        for count in counts:
            if everywhere.positive(count):
                continue
            case = everywhere.fork()
            try:
                case.require_zero(count, "infeasible")
            except ShapeError:  # this axis is never empty
                continue
            self._cases.append(case)

    def covers(self, box: Box) -> bool:
        """Return whether it is proved that *box* is empty whenever the output box is."""
        return all(any(case.nonnegative(case.reduce(start - stop)) for start, stop in box) for case in self._cases)


def _united(leaf: Tensor, parts: list[_ReadImage], empty: _Emptiness) -> Image:
    """Return the smallest box of the parts that read *leaf*."""
    facts = empty.everywhere
    found = [(part, _outside(box, part.facts, facts)) for part in parts if (box := part.box()) is not None]
    if not found:
        return Image(leaf.name, None, True)
    exact = all(part.exact and (part.reads or len(found) == 1) for part, _ in found)
    exact = exact and all(empty.covers(box) for _, box in found)
    boxes = [[tuple(sympy_bridge.to_sympy(end, facts) for end in pair) for pair in box] for _, box in found]
    if len(boxes) == 1:
        return Image(leaf.name, tuple((start, stop) for start, stop in boxes[0]), exact)
    ends = [list(zip(*axis, strict=True)) for axis in zip(*boxes, strict=True)]
    united = tuple((sympy_bridge.extreme("min", starts), sympy_bridge.extreme("max", stops)) for starts, stops in ends)
    return Image(leaf.name, united, exact)


def _outside(box: Box, facts: Facts, everywhere: Facts) -> Box:
    """Return *box* in the symbols of *everywhere*, the system that *facts* is a fork of.

    The numbers are the same wherever the output box has an element.  Elsewhere every divisor is at least 1.
    """

    def translate(e: Extent) -> Extent:
        meaning: dict[str, Extent] = {}
        for name in names_of(e):
            d = facts.definitions.get(name)
            if d is None or name in everywhere.definitions:
                continue
            left, right = translate(d.left), translate(d.right)
            if d.form == "floor":
                meaning[name] = floor_div(everywhere, left, everywhere.maximum(right, 1))
            else:
                meaning[name] = everywhere.maximum(left, right)
        return everywhere.reduce(substitute(e, meaning))

    return [(translate(start), translate(stop)) for start, stop in box]


class _Ends(NamedTuple):
    """The least and the greatest value, whether both are attained, and whether all integers between are."""

    low: Extent
    high: Extent
    exact: bool
    dense: bool


class _ReadImage:
    """The contribution of one read to an image.

    Attributes
    ----------
    exact : bool
        Whether its box is the smallest one.
    reads : bool
        Whether it is proved that the read has an element.
    """

    def __init__(self, read: Read, facts: Facts, counts: dict[str, Extent]) -> None:
        self.read, self.facts = read, facts.fork()
        self.facts.adopt(read.facts)
        self.ends = {name: _Ends(0, count - 1, True, True) for name, count in counts.items()}
        self.coords = [self.facts.reduce(e) for e in read.coords]
        self.exact = self.reads = is_fork(read.facts, facts)
        cut = [w for w in (*read.windows, *(g.window for g in read.guards)) if not self._holds(w)]
        joint = [w for w in cut if not self._cut(w)]
        digits = [self._digits(w.value) for w in joint]
        mixed = [found for e in self.coords if len(found := self._digits(e)) > 1]
        self.limits = [w for w in joint if w.value in self.coords]  # further windows that contain a coordinate
        for k, window in enumerate(joint):
            others = [*digits[:k], *digits[k + 1 :], *(self._digits(e) for e in self.coords if e != window.value)]
            self.reads = False
            if window.value not in self.coords or any(digits[k] & found for found in others):
                self.exact = False
        for name in {name for w in cut if w not in joint for name in self._digits(w.value)}:
            if not self.facts.nonnegative(self.ends[name].high - self.ends[name].low):
                self.reads = False
                if not any(self._steps(e, name) for e in self.coords) or any(name in found for found in mixed):
                    self.exact = False

    def box(self) -> Box | None:
        """Return the half-open ranges that are read; None if nothing is read."""
        if self.read.leaf is None:
            return None
        ranges = []
        for e, n in zip(self.coords, self.read.leaf.extents, strict=True):
            extent = self.facts.reduce(n)
            ends = self._ends_of(e) or _Ends(0, extent - 1, False, False)
            low, high, inside = ends.low, ends.high, True
            for limit in (extent, *(self.facts.reduce(w.extent) for w in self.limits if w.value == e)):
                if not (self.facts.nonnegative(low) and self.facts.nonnegative(limit - 1 - high)):
                    low, high = self.facts.maximum(low, 0), self.facts.minimum(high, limit - 1)
                    inside = False
            self.exact = self.exact and ends.exact and (inside or ends.dense)
            ranges.append((low, high + 1))
        return None if any(self.facts.nonnegative(start - stop) for start, stop in ranges) else ranges

    def _steps(self, e: Extent, name: str) -> bool:
        """Return whether *e* is a multiple of the digit *name* and nothing else, so that they are empty together."""
        split = coefficient_of(e, name) if isinstance(e, Poly) and self._variables(e) == [name] else None
        return split is not None and (self.facts.positive(split[0]) or self.facts.positive(-split[0]))

    # ------------------------------------------------------------------ what cuts the ranges

    def _holds(self, w: Window) -> bool:
        return self.facts.nonnegative(w.value) and self.facts.nonnegative(w.extent - 1 - w.value)

    def _cut(self, w: Window) -> bool:
        """Cut the range of a digit by the window *w*; False if *w* mentions another digit, or a floor."""
        value, names = self.facts.reduce(w.value), self._variables(w.value)
        if len(names) != 1 or names[0] not in self.ends or not isinstance(value, Poly):
            return False
        split = coefficient_of(value, names[0])
        sign = 0 if split is None else self.facts.sign(split[0])
        if split is None or not sign:
            return False
        c, rest = split
        step = c * sign
        first, last = (-rest, w.extent - 1 - rest) if sign > 0 else (rest - w.extent + 1, rest)
        try:  # first <= step*digit <= last
            low, high = floor_div(self.facts, first + step - 1, step), floor_div(self.facts, last, step)
        except InconclusiveError:
            return False
        ends = self.ends[names[0]]
        low, high = self.facts.maximum(ends.low, low), self.facts.minimum(ends.high, high)
        self.ends[names[0]] = _Ends(low, high, True, True)
        return True

    # ------------------------------------------------------------------ what an expression takes

    def _ends_of(self, e: Extent) -> _Ends | None:
        """Return the ends of *e* over the ranges of the digits; None if they are not found."""
        folded, remainders = fold_remainders(e, self.facts)
        symbols_of = {n: found for n in sorted(names_of(folded)) if (found := self._digits_of(n, remainders))}
        low = high = collapse({m: c for m, c in terms_of(folded).items() if symbols_of.keys().isdisjoint(m)})
        exact = sum(map(len, symbols_of.values())) == len(set().union(*symbols_of.values()))
        parts: list[tuple[Extent, _Ends]] = []
        for name in symbols_of:
            split = coefficient_of(folded, name) if isinstance(folded, Poly) else None
            if split is None or not symbols_of.keys().isdisjoint(names_of(split[0])):
                return None
            ends = self._remainder(*remainders[name]) if name in remainders else self._of_symbol(name)
            sign = self.facts.sign(split[0])
            if ends is None or not sign:
                return None
            first, last = (ends.low, ends.high) if sign > 0 else (ends.high, ends.low)
            low, high, exact = low + split[0] * first, high + split[0] * last, exact and ends.exact
            parts.append((split[0] * sign, ends))
        return _Ends(low, high, exact, exact and self._is_dense(parts))

    def _of_symbol(self, name: str) -> _Ends | None:
        if name in self.ends:
            return self.ends[name]
        if name in self.facts.entries:
            return self._of_entry(name)
        numerator, denominator = self.facts.floors[name]
        inner = None if self._digits(denominator) else self._ends_of(self.facts.reduce(numerator))
        if inner is None:
            return None
        try:
            low, high = (floor_div(self.facts, end, denominator) for end in inner[:2])
        except InconclusiveError:
            return None
        return _Ends(low, high, inner.exact, inner.dense)

    def _of_entry(self, name: str) -> _Ends:
        """Return the least and the greatest of the entries that are read, or of all entries if the places are dims."""
        table, at = self.facts.entries[name]
        places = self._ends_of(self.facts.reduce(at))
        if places is None or not isinstance(places.low, int) or not isinstance(places.high, int):
            return _Ends(table.low, table.high, False, False)
        entries = [table[place] for place in range(places.low, places.high + 1)]
        return _Ends(min(entries), max(entries), places.exact and places.dense, False)

    def _remainder(self, numerator: Extent, denominator: Extent) -> _Ends | None:
        if self._digits(denominator):
            return None
        inner = self._ends_of(self.facts.reduce(numerator))
        full = inner is not None and inner.dense and self.facts.nonnegative(inner.high - inner.low + 1 - denominator)
        return _Ends(0, denominator - 1, full, full)

    def _is_dense(self, parts: list[tuple[Extent, _Ends]]) -> bool:
        """Return whether a sum attains every integer between its ends: no step exceeds 1 plus the reach below it."""
        span: Extent = 0
        for step, ends in sorted(parts, key=lambda p: sum(exact_quotient(p[0], q[0]) is not None for q in parts)):
            if not ends.dense or not self.facts.nonnegative(span + 1 - step):
                return False
            span = span + step * (ends.high - ends.low)
        return True

    def _digits(self, e: Extent) -> set[str]:
        return {d for n in names_of(e) for d in self._digits_of(n)}

    def _digits_of(self, name: str, remainders: Mapping[str, tuple[Extent, Extent]] | None = None) -> set[str]:
        """Return the digits that a symbol depends on."""
        if name[0] == DIGIT:
            return {name}
        parts = (remainders or {}).get(name) or self.facts.terms_within(name)
        return set().union(*map(self._digits, parts))

    def _variables(self, e: Extent) -> list[str]:
        return sorted(n for n in names_of(e) if self._digits_of(n))
