"""Find the two faces of a piece of a map: the output coordinate and the input coordinate, both affine in digits.

An inverse computes the digits from the input's face.  That face is one number for each axis; or one row-major number,
if reshapes mix the axes.

* A digit whose step equals the span of the lower digits is the quotient by the step, as in a mixed-radix number.
* A shorter step means that elements occur in several places of the output (overlapping windows).  The quotient, capped
  at the last value of the digit, is one of these places.  A longer step means that some elements occur nowhere.
* A remainder ``(d + rest) % k`` counts as a digit.  Where it is known, ``d`` is ``(remainder - rest) % k`` (swizzles).
* A digit that the input's face does not mention is set to 0 (tile, repeat, broadcast), or to the value that satisfies a
  window (roll).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from math import gcd

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import is_digital
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    collapse,
    exact_quotient,
    names_of,
    product,
    substitute,
    symbol,
    terms_of,
)
from symlayout.errors import InconclusiveError
from symlayout.maps.compose_chain import Read, Window
from symlayout.maps.split_digits import Box, refine
from symlayout.ops.reshape import linear
from symlayout.tensors.chain import Tensor
from symlayout.walks import Walk


@dataclass(frozen=True, slots=True)
class SideDigit:
    """A term ``step*name`` of an input's number; *falling* means that the digit counts down from its last value."""

    name: str
    step: Extent
    extent: Extent
    falling: bool
    short: bool = False  # the step is shorter than the span of the lower digits: they overlap


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the input's face: ``shift + sum(step*digit)``, with the longest step first.

    With *falls*, it is ``shift - sum(step*digit)``.  The *span* is the greatest value less the least value, plus 1.
    """

    shift: Extent
    falls: bool
    digits: tuple[SideDigit, ...]
    span: Extent
    gap: bool  # whether the shortest step is not 1, or there is no digit

    @property
    def start(self) -> Extent:
        """The least value."""
        return self.shift - self.span + 1 if self.falls else self.shift


@dataclass(frozen=True, slots=True)
class Missing:
    """A digit that the input does not determine; its value is ``-(rest // step)``."""

    name: str
    rest: Extent = 0
    step: Extent = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """A digit that a remainder determines: ``factor*(remainder - rest) % modulus``, where *rest* has earlier digits.

    The remainder is one of the digits of a number.  It stands for ``(c*digit + rest) % modulus``, where ``factor*c`` is
    1 modulo the modulus.
    """

    remainder: str
    digit: str
    factor: int
    rest: Extent
    modulus: int


@dataclass(frozen=True, slots=True)
class Face:
    """Both faces of one piece of a map: *numbers* of the input and a coordinate of the *output*, affine in digits.

    Attributes
    ----------
    facts : Facts
        The system of the symbols in both faces.
    by_number : bool
        Whether the input's face is one row-major number.
    missing : tuple of Missing
        The digits that the input does not determine.
    picks : bool
        Whether an element may occur in several places of the output; the inverse then picks one.
    turns : tuple of Turn
        The digits that remainders determine, each after those that it needs.
    """

    facts: Facts
    by_number: bool
    numbers: tuple[Number, ...]
    output: tuple[Extent, ...]
    missing: tuple[Missing, ...]
    picks: bool
    turns: tuple[Turn, ...] = ()

    @property
    def digits(self) -> list[SideDigit]:
        """The digits that the input determines; each that a remainder determines stands in its place."""
        turned = {turn.remainder: turn.digit for turn in self.turns}
        return [replace(d, name=turned.get(d.name, d.name)) for n in self.numbers for d in n.digits]


def face(t: Tensor, leaf: Tensor, path: tuple[int, ...], *, by_number: bool) -> Face:
    """Return the faces of the piece of *t* at *path*, which reads *leaf*.

    Raises
    ------
    InconclusiveError
        The coordinates that are read do not determine the digits.
    """

    def numbers(read: Read) -> list[Extent]:
        if not by_number:
            return list(read.coords)
        return [read.facts.reduce(linear(read.coords, [read.facts.reduce(e) for e in leaf.extents]))]

    box, read = refine(t, path, lambda box, read: [*box.coords, *numbers(read)])
    singles = [read.facts.reduce(n) == 1 for n in ([product(leaf.extents)] if by_number else leaf.extents)]
    reader = _SideReader(t, box, read, numbers(read), singles)
    missing, turns = tuple(reader.missing), tuple(reader.turns)
    return Face(read.facts, by_number, tuple(reader.numbers), reader.output, missing, reader.picks, turns)


class _SideReader:
    """Finds the digits of a box from the numbers that are read (see `Face` for the attributes)."""

    def __init__(self, t: Tensor, box: Box, read: Read, numbers: Sequence[Extent], singles: Sequence[bool]) -> None:
        self.t, self.facts, self.picks = t, read.facts, False
        self.missing: list[Missing] = []
        self.turns: list[Turn] = []
        extents = dict(box.extents)
        moved: dict[str, Extent] = {}
        for window in read.windows:
            self._narrow(window, extents, moved)
        for name in [name for name, e in extents.items() if e == 1]:
            moved[name] = substitute(moved.get(name, symbol(name)), {name: 0})
            del extents[name]

        def told(e: Extent) -> Extent:
            return substitute(self.facts.reduce(e), moved)

        known = (*box.windows, *read.windows, *(guard.window for guard in read.guards))
        windows = [Window(told(w.value), w.extent, w.facts) for w in known]
        self.output = tuple(map(told, box.coords))
        remainders: dict[str, tuple[Extent, int]] = {}
        sides = [self._with_remainders(told(e), told, remainders) for e in numbers]
        sizes = extents | {name: k for name, (_, k) in remainders.items()}
        self.numbers = [self._number(e, one, sizes) for e, one in zip(sides, singles, strict=True)]
        names = self._turn(remainders, [d.name for n in self.numbers for d in n.digits], extents)
        if len(set(names)) != len(names):
            raise self._not_told()
        for name in extents:
            if name not in names:
                self._find(name, windows, extents.keys() - set(names))

    def _narrow(self, window: Window, extents: dict[str, Extent], moved: dict[str, Extent]) -> None:
        """Cut the range of a digit by *window*, if one range remains for all sizes."""
        value = self.facts.reduce(window.value)
        names = [n for n in names_of(value) if is_digital(n, self.facts)]
        split = coefficient_of(value, names[0]) if len(names) == 1 and isinstance(value, Poly) else None
        if split is None or split[0] != 1 or names[0] not in extents or names[0] in moved:
            return
        name, low = names[0], -split[1]
        start = low if self.facts.nonnegative(low) else 0 if self.facts.nonnegative(-low) else None
        stops = (self.facts.reduce(low + window.extent), extents[name])
        stop = next((e for e in stops if all(self.facts.nonnegative(other - e) for other in stops)), None)
        if start is not None and stop is not None:
            moved[name], extents[name] = symbol(name) + start, self.facts.reduce(stop - start)

    def _with_remainders(
        self, e: Extent, told: Callable[[Extent], Extent], remainders: dict[str, tuple[Extent, int]]
    ) -> Extent:
        """Return *e* with a new symbol for each ``n - k*floor(n/k)`` in it, which is added to *remainders*."""
        for name in sorted(n for n in names_of(e) if n in self.facts.floors and is_digital(n, self.facts)):
            n, k = self.facts.floors[name]
            split = coefficient_of(e, name) if isinstance(e, Poly) else None
            times = None if split is None else exact_quotient(-split[0], k)
            if split is not None and times is not None and isinstance(k, int):
                remainders[f"{name}%"] = told(n), k
                e = split[1] + times * (symbol(f"{name}%") - told(n))
        return e

    def _turn(
        self, remainders: dict[str, tuple[Extent, int]], names: list[str], extents: dict[str, Extent]
    ) -> list[str]:
        """Return *names* with the digit that it determines for each remainder, one after the other."""
        waiting = [name for name in names if name in remainders]
        while waiting:
            turn = next((turn for r in waiting if (turn := _turn_of(r, *remainders[r], names, extents))), None)
            if turn is None:
                raise self._not_told()
            waiting.remove(turn.remainder)
            self.turns.append(turn)
            names = [turn.digit if name == turn.remainder else name for name in names]
        return names

    def _number(self, e: Extent, single: bool, extents: dict[str, Extent]) -> Number:
        """Return the coordinate *e* as a number of digits; *single* says that its axis has extent 1."""
        facts, shift = self.facts, e
        found: list[SideDigit] = []
        for name in sorted(n for n in names_of(e) if n in extents):
            split = coefficient_of(shift, name) if isinstance(shift, Poly) else None
            sign = 0 if split is None else facts.sign(split[0])
            if split is None or not sign:
                raise self._not_told()
            found.append(SideDigit(name, split[0] * sign, extents[name], sign < 0))
            shift = split[1]
        falls = bool(found) and all(d.falling for d in found)
        if falls:
            found = [SideDigit(d.name, d.step, d.extent, falling=False) for d in found]
        for d in found:
            shift = shift - d.step * (d.extent - 1) if d.falling else shift
        if any(is_digital(n, facts) for n in names_of(shift)):
            raise self._not_told()
        # a step that divides another one is shorter; otherwise the facts decide
        ordered = sorted(found, key=lambda d: sum(_is_longer(d.step, other.step, facts) for other in found))
        digits: list[SideDigit] = []
        span: Extent = 1
        for d in ordered:
            overlap = span - d.step
            if facts.reduce(overlap) != 0 and facts.nonnegative(overlap):
                digits.append(replace(d, short=True))
                self.picks = True
            elif facts.nonnegative(-overlap):
                digits.append(d)
            else:
                raise self._not_told()
            span = facts.reduce(span + d.step * (d.extent - 1))
        gap = ordered[0].step != 1 if ordered else not single
        return Number(shift, falls, tuple(reversed(digits)), span, gap)

    def _find(self, name: str, windows: Sequence[Window], unknown: Set[str]) -> None:
        """Choose a value for a digit that the input does not determine: 0, or a value for which a window holds."""
        for window in windows:
            split = coefficient_of(window.value, name) if isinstance(window.value, Poly) else None
            if split is None or not self.facts.positive(split[0]) or self._digits_of(split[1]) & unknown:
                continue
            step, rest = split
            self.picks = self.picks or not self.facts.nonnegative(step - self.facts.reduce(window.extent))
            whole = _times(rest, step)
            rest = rest - whole * step  # the rest, if the digit counts from -whole
            self.output = tuple(substitute(e, {name: symbol(name) - whole}) for e in self.output)
            inside = self.facts.nonnegative(rest) and self.facts.nonnegative(window.extent - 1 - rest)
            self.missing.append(Missing(name) if inside else Missing(name, rest, step))
            return
        self.picks = True
        self.missing.append(Missing(name))

    def _digits_of(self, e: Extent) -> set[str]:
        """Return the names in *e*, and in the floors that it has."""
        walk = Walk(names_of(e))
        for name in walk:
            walk.to(names_of(self.facts.floors[name][0]) if name in self.facts.floors else ())
        return set(walk.seen)

    def _not_told(self) -> InconclusiveError:
        return InconclusiveError(f"{self.t!r} reads its input by digits whose steps can be told apart")


def _turn_of(r: str, n: Extent, k: int, names: list[str], extents: dict[str, Extent]) -> Turn | None:
    """Return which digit the remainder ``r = n % k`` determines: the only unknown one, which takes all *k* values."""
    unknown = [name for name in sorted(names_of(n)) if name in extents and name not in names]
    split = coefficient_of(n, unknown[0]) if len(unknown) == 1 and isinstance(n, Poly) else None
    if split is None or not isinstance(split[0], int) or gcd(split[0], k) != 1 or extents[unknown[0]] != k:
        return None
    return Turn(r, unknown[0], pow(split[0], -1, k), split[1], k)


def _is_longer(a: Extent, b: Extent, facts: Facts) -> bool:
    """Return whether it is proved that step *a* is at least step *b*."""
    return exact_quotient(a, b) is not None or facts.nonnegative(a - b)


def _times(e: Extent, step: Extent) -> Extent:
    """Return the quotient of *e* by *step*, without the terms that *step* does not divide."""
    parts = (exact_quotient(collapse({m: c}), step) for m, c in terms_of(e).items())
    return sum((part for part in parts if part is not None), 0)
