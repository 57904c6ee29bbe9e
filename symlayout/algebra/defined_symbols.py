"""Digits, floors and maxima as symbols of a system, each with the facts that its definition implies."""

from __future__ import annotations

from symlayout.algebra.fact_store import DIGIT, Definition, parenthesised, short
from symlayout.algebra.intervals import Interval, positive_part
from symlayout.algebra.nonnegative import Inequalities
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    evaluate,
    exact_quotient,
    names_of,
    symbol,
    terms_of,
    text,
)
from symlayout.algebra.table import Table
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError


class Derived(Inequalities):
    """A system with symbols for digits, floors, entries of tables and maxima."""

    __slots__ = ()

    def add_digit(self, name: str, extent: Extent) -> Poly:
        """Add a digit ``0 <= name < extent`` and return it.  The caller has ensured ``extent >= 1``."""
        self.low[name], self.high[name] = 0, extent - 1
        self.bounded.append(name)
        self._extend_samples(name)
        return symbol(name)

    def split_digit(self, name: str, shift: Extent, radix: Extent) -> bool:
        """Split a digit: write ``digit + shift`` as ``radix*high + low`` with two new digits.

        Return whether the digit was split; that takes bounds of ``high`` that are polynomials.
        """
        bottom, top = self.low[name], self.high[name]
        if self.splits is None or bottom is None or top is None:
            return False
        ends = _ends(bottom, top, shift, radix)
        if ends is None:
            return False
        high, low = f"{name}_0", f"{name}_1"
        self.splits[name] = shift, radix, high, low
        self._define_split(name, shift, radix, *ends)
        value = radix * symbol(high) + symbol(low) - shift
        samples, self._samples = self._samples, None
        self.low[name] = self.high[name] = None  # facts below restore what the new bounds lose
        self.eliminate(name, value)
        if radix * ends[0] != bottom + shift:
            self.learn(self.reduce(value - bottom))
        if radix * (ends[1] + 1) != top + shift + 1:
            self.learn(self.reduce(top - value))
        for sample in samples or ():
            sample[high], sample[low] = divmod(sample.pop(name) + evaluate(shift, sample), evaluate(radix, sample))
        self._samples = samples
        return True

    def _define_split(self, name: str, shift: Extent, radix: Extent, least: int, most: Extent) -> None:
        """Put the two digits of a split in the place of the digit *name*: ``least <= high <= most``."""
        high, low = f"{name}_0", f"{name}_1"
        at = list(self.low).index(name)
        earlier, later = list(self.low.items())[:at], list(self.low.items())[at:]
        self.low = dict([*earlier, (high, least), (low, 0), *later])
        self.high[high], self.high[low] = most, radix - 1
        at = self.bounded.index(name)
        self.bounded[at : at + 1] = high, low

    def add_floor(self, numerator: Extent, denominator: Extent) -> Extent:
        """Return the symbol for ``floor(numerator / denominator)``, or its value if the symbol has been solved.

        The caller has ensured ``denominator >= 1``.

        Raises
        ------
        InconclusiveError
            The floors are nested deeper than ``limits.nesting``, or longer than ``limits.written_names``.
        """
        name = short(f"({parenthesised(numerator)}//{parenthesised(denominator)})")
        if name in self.solved:
            return self.reduce(symbol(name))
        if name not in self.low:
            self._nest(name, numerator, denominator)
            self.take_floor(name, numerator, denominator)
            self._define(name, "floor", numerator, denominator)
        return symbol(name)

    def take_floor(self, name: str, numerator: Extent, denominator: Extent) -> None:
        """Add the symbol *name* for ``floor(numerator / denominator)``, with the bounds that the facts imply."""
        low, high = _floor_interval(self.interval(numerator), self.interval(denominator))
        if low is None and self.nonnegative(numerator):
            low = 0
        self.low[name], self.high[name] = low, self._floor_high(numerator, denominator) if high is None else high
        self.floors[name] = (numerator, denominator)
        self.bounded.append(name)
        self._extend_samples(name)

    def add_entry(self, table: Table, at: Extent) -> Extent:
        """Return the entry of *table* at *at*: a number if *at* is one, else a symbol between the ends of the table.

        Raises
        ------
        InconclusiveError
            Entries and floors are nested deeper than ``limits.nesting``.
        """
        at = self.reduce(at)
        if isinstance(at, int) or table.low == table.high:
            return int(table[at]) if isinstance(at, int) else table.low
        for name, (other, place) in self.entries.items():
            if other == table and self.reduce(place) == at:
                return self.reduce(symbol(name))
        name = short(f"{table.key}[{text(at)}]")
        if name not in self.low:
            self._nest(name, at)
            self.take_entry(name, table, at)
        return symbol(name)

    def take_entry(self, name: str, table: Table, at: Extent) -> None:
        """Add the symbol *name* for the entry of *table* at *at*, with the bounds of the table."""
        self.entries[name] = table, at
        self.low[name], self.high[name] = table.low, table.high
        self.bounded.append(name)
        self._extend_samples(name)

    def _nest(self, name: str, *of: Extent) -> None:
        """Store how deep a floor or a maximum of *of* is, and how long when it is written out.

        Raises
        ------
        InconclusiveError
            The depth is beyond ``limits.nesting``, or the length beyond ``limits.written_names``.
        """
        depth = 1 + max((self._nesting.get(n, 0) for e in of for n in names_of(e)), default=0)
        if depth > limits.nesting:
            raise InconclusiveError(f"{name} is the same as another size: it has {depth} quotients within each other")
        self._nesting[name] = depth
        if name[0] != DIGIT and all(n[0] != DIGIT for e in of for n in names_of(e)):  # no coordinate: users see it
            length = 1 + sum(self._written.get(n, 1) for e in of for m in terms_of(e) for n in m)
            if length > limits.written_names:
                raise InconclusiveError(f"{name} is the same as another size: it has {length} names when written out")
            self._written[name] = length

    def _floor_high(self, numerator: Extent, denominator: Extent) -> Extent | None:
        """Return an upper bound of a floor as a polynomial; None if the bounds of its digits do not divide exactly."""
        top = numerator
        for name in reversed(self.bounded):
            if not isinstance(top, Poly) or name not in top.names:
                continue
            split, high = coefficient_of(top, name), self.high[name]
            if split is None or high is None or name in self.floors or not self.nonnegative(split[0]):
                return None
            top = split[1] + split[0] * high
        quotient = exact_quotient(self.reduce(top + 1), denominator)
        return None if quotient is None else quotient - 1

    def maximum(self, a: Extent, b: Extent) -> Extent:
        """Return the larger of two extents: the one that is proved larger, else ``b + max(0, a - b)``."""
        return b + self._excess(a - b)

    def minimum(self, a: Extent, b: Extent) -> Extent:
        """Return the smaller of two extents: the one that is proved smaller, else ``a - max(0, a - b)``."""
        return a - self._excess(a - b)

    def _excess(self, e: Extent) -> Extent:
        """Return ``max(0, e)``: 0 or *e* if the sign of *e* is proved, else an expression in one symbol."""
        e = self.reduce(e)
        if isinstance(e, int):
            return max(0, e)
        lead = max((m for m in e.terms if m), key=lambda m: (len(m), m))
        if e.terms[lead] < 0:  # max(0, e) = e + max(0, -e)
            return e + self._excess(-e)
        for inner in sorted(e.names & self.definitions.keys()):
            d, split = self.definitions[inner], coefficient_of(e, inner)
            if d.form == "max" and split is not None and split[0] == 1 and self.nonnegative(-split[1]):
                return self._excess(self.reduce(d.right) + split[1])  # max(0, max(0, s) - k) = max(0, s - k)
        if self.nonnegative(e):
            return e
        if self.nonnegative(-e):
            return 0
        name = short(f"max(0, {text(e)})")
        if name in self.solved:
            return self.reduce(symbol(name))
        if name not in self.low:
            self._nest(name, e)
            self._define(name, "max", 0, e)
            self.take_maximum(name, e)
        return symbol(name)

    def take_maximum(self, name: str, e: Extent) -> None:
        """Add the symbol *name* for ``max(0, e)``, with the bounds that the facts imply."""
        most = self.interval(e)[1]
        self.low[name], self.high[name] = 0, None if most is None else max(0, most)
        self._extend_samples(name)
        self.learn(symbol(name) - e)

    def _define(self, name: str, form: str, left: Extent, right: Extent) -> None:
        if any(n[0] == DIGIT for n in names_of(left) | names_of(right)):
            return  # part of a coordinate, so part of no shape
        (top, below), (bottom, above) = self.to_user(left), self.to_user(right)
        if form == "floor":
            top, bottom = self.lowest_terms(top * above, bottom * below)
        elif below != 1 or above != 1:  # to_user returned a fraction: keep the quotient's symbol
            top, bottom = left, right
        self.definitions[name] = Definition(form, top, bottom)


def _ends(bottom: int, top: Extent, shift: Extent, radix: Extent) -> tuple[int, Extent] | None:
    """Return the bounds of ``(d + shift) // radix`` for a digit with ``bottom <= d <= top``; None if none are found."""
    first = bottom + shift
    last = top + shift
    if isinstance(radix, int):
        constant = terms_of(last).get((), 0)
        most = exact_quotient(last - constant % radix, radix)
        return None if most is None or not isinstance(first, int) else (first // radix, most)
    count = exact_quotient(last + 1, radix)
    return None if first != 0 or count is None else (0, count - 1)


def _floor_interval(n: Interval, d: Interval) -> Interval:
    """Return the bounds of ``floor(n/d)``, for ``d >= 1``."""
    d_low, d_high = positive_part(d)
    low = high = None
    if n[0] is not None:
        low = n[0] // d_low if n[0] < 0 else 0 if d_high is None else n[0] // d_high
    if n[1] is not None:
        high = n[1] // d_low if n[1] >= 0 else -1 if d_high is None else n[1] // d_high
    return low, high
