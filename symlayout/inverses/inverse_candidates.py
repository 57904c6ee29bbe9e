"""Make candidates for inverses: functions that find the elements of an input in the output of a map.

A candidate has two operations.  The first gives the output one axis for each digit (see `digit_sides`).  The second
computes, for each element of the input, the digits of its place.  This module proves nothing about a candidate;
`find_inverse` and `properties` do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.inverses.digit_sides import Face, Number, face
from symlayout.inverses.partition_input import AxisRange, Region, cut
from symlayout.maps.compose_chain import Read, normalise
from symlayout.maps.digit_expressions import DigitQuotient, Expression, Translated
from symlayout.ops.axes import ravel
from symlayout.ops.reshape import linear
from symlayout.tensors.apply_operation import apply
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Case, Declared, Fill, Operand, Windows, index_map
from symlayout.tensors.substitute_input import demand_shape

_MOST_PIECES = 32


def candidates(t: Tensor, leaf: Tensor) -> Iterator[Candidate]:
    """Yield functions that may find the elements of *leaf* in *t*; the first one uses all pieces of the map."""
    try:
        reads = normalise(t, shown=all(node.own for node in t.nodes()))
    except InconclusiveError:
        return
    reads = [read for read in reads if read.leaf is not None and read.leaf.key == leaf.key]
    if not reads:
        yield Candidate(t, leaf, [((), None)], False)
    if not 0 < len(reads) <= _MOST_PIECES:
        return
    pieces = [piece for read in reads if (piece := _piece(t, leaf, read)) is not None]
    found = [Candidate(t, leaf, [((), piece)], True) for piece in sorted(pieces, key=lambda p: -len(p.digits))]
    if len(reads) == 1:
        found = [Candidate(t, leaf, c.regions, pieces[0].picks) for c in found]
    elif len(pieces) == len(reads) and (regions := _regions(pieces, t, leaf)) is not None:
        found.insert(0, Candidate(t, leaf, regions, any(piece.picks for piece in pieces)))
    for candidate in found:
        if candidate.is_possible():
            yield candidate
    if len(pieces) < len(reads) and t.rank > 1:  # the row-major number may determine more than the axes do
        yield from (replace(candidate, raveled=True) for candidate in candidates(ravel(t), leaf))


def like(t: Tensor) -> Tensor:
    """Return a leaf ``z`` with the shape of *t*."""
    return Tensor("z", t.dtype, t.extents, t.facts, key="z")


def _piece(t: Tensor, leaf: Tensor, read: Read) -> Face | None:
    for by_number in (False, True):
        try:
            return face(t, leaf, read.path, by_number=by_number)
        except InconclusiveError:
            continue
    return None


def _regions(pieces: Sequence[Face], t: Tensor, leaf: Tensor) -> list[Region] | None:
    try:
        return cut(pieces, [t.facts.reduce(e) for e in leaf.extents], t.facts)
    except InconclusiveError:
        return None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function that finds the elements of *leaf* in *t*.

    Attributes
    ----------
    picks : bool
        Whether an element may occur in several places of the output; the candidate picks one.
    """

    t: Tensor
    leaf: Tensor
    regions: Sequence[Region]
    picks: bool
    raveled: bool = False  # whether *t* is the user's tensor with its axes raveled

    def __call__(self, z: Tensor, undetermined: Any = 0) -> Tensor:
        """Return the input's elements, found in *z* of the output's shape; elements not in *z* are *undetermined*."""
        pieces = [piece for _, piece in self.regions if piece is not None]
        given = demand_shape(ravel(z) if self.raveled else z, self.t)
        places = tuple(apply(digits, (given,), (piece, undetermined), {}, own=True) for piece in pieces)
        return apply(inverse, places or (given,), (self.regions, self.t.facts, self.leaf, undetermined), {}, own=True)

    def is_possible(self) -> bool:
        """Return whether the function can be applied: its divisors and extents are proved to be valid."""
        try:
            self(self.t)
        except (InconclusiveError, ShapeError):
            return False
        return True


def inverse(x: Operand, regions: Sequence[Region], facts: Facts, leaf: Tensor, undetermined: Any) -> Declared:
    """Return the elements of *leaf*, each read from its place; the inputs *x* are the `digits` of each piece."""
    domain = [x.translate(e, leaf.facts) for e in leaf.extents]
    fill = Fill(undetermined)
    cases: list[Case] = []
    source = 0
    for ranges, piece in regions:
        if piece is None:  # the map reads no element of this region
            where = _windows(ranges, Translated(x, facts))
            cases.append(Case(lambda *i: [-1] * x.rank, where=where, fill=fill))
        else:
            cases += _SourceCase(piece, source, ranges, domain, x, fill).cases()
            source += 1
    return Declared(tuple(domain), tuple(cases))


def digits(z: Operand, piece: Face, undetermined: Any) -> Declared:
    """Return the elements of *z*, a tensor of the output's shape, with one axis for each digit of *piece*."""
    translated = Translated(z, piece.facts)
    extents = [translated(d.extent) for d in piece.digits] + [1] * sum(n.gap for n in piece.numbers)
    missing = []
    for m in piece.missing:
        missing.append((m.name, DigitQuotient(m.rest, m.step, translated)))
        if (fixed := missing[-1][1].fixed) is not None:
            translated.fixed[m.name] = 0 - fixed
    output = [Expression(e, translated) for e in piece.output]

    def coords(*i: Any) -> list[Any]:
        values = dict(zip([d.name for d in piece.digits], i, strict=False))
        for name, quotient in missing:
            values[name] = 0 - quotient(values)
        return [e(values) for e in output]

    return index_map(extents, coords, fill=Fill(undetermined))


class _SourceCase:
    """The cases in which elements of *ranges* read input number *source*, which is the `digits` of *piece*."""

    def __init__(
        self, piece: Face, source: int, ranges: Sequence[AxisRange], domain: Sequence[Extent], x: Operand, fill: Fill
    ) -> None:
        translated = Translated(x, piece.facts)
        self.source, self.domain, self.fill, self.by_number = source, domain, fill, piece.by_number
        self.windows = _windows(ranges, translated) if ranges else None
        self.numbers = [_Steps(n, translated) for n in piece.numbers]
        self.wholes = [product(domain)] if piece.by_number else domain
        self.names = [d.name for n in piece.numbers for d in n.digits]
        self.turns = [(turn, Expression(turn.rest, translated)) for turn in piece.turns]

    def cases(self) -> list[Case]:
        """Return a case for each choice, for each short digit, of being at its last value or not."""
        branches = [itertools.product((False, True), repeat=n.count_short()) for n in self.numbers]
        return [self._case(choices) for choices in itertools.product(*branches)]

    def _case(self, choices: Sequence[Sequence[bool]]) -> Case:
        def read(i: Sequence[Any]) -> list[_Told]:
            given = [linear(i, self.domain)] if self.by_number else i
            parts = zip(self.numbers, given, self.wholes, choices, strict=True)
            return [n.read(number, extent, choice) for n, number, extent, choice in parts]

        def coords(*i: Any) -> list[Any]:
            found = read(i)
            values = dict(zip(self.names, (v for told in found for v in told.values), strict=True))
            for turn, rest in self.turns:
                value = turn.factor * (values[turn.remainder] - rest(values)) % turn.modulus
                values[turn.remainder] = values[turn.digit] = value
            return [values[name] for name in self.names] + [v for told in found for v in told.gaps]

        def where(*i: Any) -> list[tuple[Any, Extent]]:
            outer = [] if self.windows is None else self.windows(*i)
            return [*outer, *(window for told in read(i) for window in told.windows)]

        everywhere = self.windows is None and not any(map(len, choices))
        return Case(coords, source=self.source, where=None if everywhere else where, fill=self.fill)


class _Told(NamedTuple):
    """The values of a number's digits, the windows in which these values hold, and the rest below the last step."""

    values: list[Any]
    windows: list[tuple[Any, Extent]]
    gaps: list[Any]


class _Steps:
    """A number of the input's face, in the symbols of an operand; it computes the digits from the number's value."""

    def __init__(self, n: Number, translated: Translated) -> None:
        self.shift, self.falls, self.gap = translated(n.shift), n.falls, n.gap
        self.digits = [(d, translated(d.step), translated(d.extent)) for d in n.digits]

    def count_short(self) -> int:
        """Return the number of digits whose step is shorter than the span of the lower digits."""
        return sum(d.short for d, _, _ in self.digits)

    def read(self, number: Any, extent: Extent, choice: Sequence[bool]) -> _Told:
        """Return the digits of *number* in ``range(extent)``; *choice* says which short digits are at their last."""
        chosen = iter(choice)
        values: list[Any] = []
        windows: list[tuple[Any, Extent]] = []
        if self.falls:
            rest, start, room = self.shift - number, self.shift - extent + 1, self.shift + 1
        else:
            rest, start, room = number - self.shift, -self.shift, extent - self.shift
        for d, step, count in self.digits:  # start <= rest < room
            end = step * (count - 1)
            if d.short and next(chosen):
                windows.append((rest - end, room - end))
                value, rest = count - 1, rest - end
            else:
                if d.short:
                    windows.append((rest - start, end - start))
                value, rest = rest // step, rest % step
            values.append(count - 1 - value if d.falling else value)
            start, room = 0, step
        return _Told(values, windows, [rest] if self.gap else [])


def _windows(ranges: Sequence[AxisRange], translated: Translated) -> Windows:
    given = [(r.axis, translated(r.start), translated(r.count), r.step) for r in ranges]
    return lambda *i: [
        ((i[axis] - start) % step if step else i[axis] - start, count) for axis, start, count, step in given
    ]
