"""Parts: what a piece of a nest writes and reads, in elements, and in bytes for elements of half a byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, exact_quotient, names_of
from symlayout.algebra.table import Table
from symlayout.maps.compose_chain import Guard, Window


@dataclass(frozen=True, slots=True)
class Part:
    """One read over a box of digits: the offsets that each point of the box writes and reads.

    Attributes
    ----------
    box : facts that hold inside the digits' extents.
    facts : facts that hold where all guards hold too.
    digits : the extents of the digits, outermost first.
    output, offset : offsets in the output and in the source, in elements.
    source : the number of the source; None if all is *fill*.
    windows, guards : as those of a read.
    apart : from an axis of the output to the digit that is the coordinate on the whole of it.
    """

    box: Facts
    facts: Facts
    digits: dict[str, Extent]
    output: Extent
    offset: Extent
    source: int | None
    windows: tuple[Window, ...]
    guards: tuple[Guard, ...]
    fill: object
    apart: dict[int, str]

    def expressions(self) -> list[Extent]:
        """Return the offsets and the values of windows and guards."""
        return [self.output, self.offset, *(w.value for w in self.windows), *(g.window.value for g in self.guards)]

    def carried(self) -> dict[str, tuple[Extent, Extent | Table]]:
        """Return what the expressions mention beside digits and sizes, in order of evaluation.

        A floor of digits is ``(numerator, denominator)``, an entry of a table is ``(place, table)``.  Each has the
        definition of the first of the part's facts that have it.
        """
        known = (self.box, *(w.facts for w in self.windows), *(g.window.facts for g in self.guards), self.facts)
        found: dict[str, tuple[Extent, Extent | Table]] = {}

        def visit(e: Extent) -> bool:
            varies = False
            for name in sorted(names_of(e)):
                if name not in found:
                    facts = next((f for f in known if name in f.floors or name in f.entries), None)
                    if facts is not None and name in facts.entries:
                        table, _ = facts.entries[name]
                        (place,) = facts.terms_within(name)
                        visit(place)
                        found[name] = place, table
                    elif facts is not None and visit(facts.floors[name][0]):
                        found[name] = facts.floors[name]
                varies |= name[0] == DIGIT or name in found
            return varies

        for e in self.expressions():
            visit(e)
        return found


def part_in_bytes(part: Part, half: str) -> Part | None:
    """Return *part*, whose elements are half a byte, in bytes: the points with *half* 0 and 1 become one point.

    The digit *half* has extent 2.  The result is None unless the two points write the low and the high half of one
    byte, and read the low and the high half of one byte, or the same fill.
    """
    if half not in part.digits:
        return None
    output = _without_half(part.box.reduce(part.output), half)
    offset = part.offset if part.source is None else _without_half(part.facts.reduce(part.offset), half)
    windows = [_window_in_bytes(w, half) for w in part.windows]
    guards = [_window_in_bytes(g.window, half) for g in part.guards]
    if output is None or offset is None or None in windows or None in guards:
        return None
    digits = {name: e for name, e in part.digits.items() if name != half}
    made = replace(
        part,
        digits=digits,
        output=output,
        offset=offset,
        windows=tuple(w for w in windows if w is not None),
        guards=tuple(replace(g, window=w) for g, w in zip(part.guards, guards, strict=True) if w is not None),
    )
    return None if half in _names_in(made) else made


def _without_half(e: Extent, half: str) -> Extent | None:
    """Return *x* if *e* is ``2*x + half``, else None."""
    split = coefficient_of(e, half) if isinstance(e, Poly) else None
    return exact_quotient(split[1], 2) if split is not None and split[0] == 1 else None


def _window_in_bytes(window: Window, half: str) -> Window | None:
    """Return the window of the whole byte: ``0 <= x < n`` for ``0 <= 2*x + half < 2*n``; None if it has none."""
    if half not in names_of(window.value):
        return window
    least, count = _without_half(window.value, half), exact_quotient(window.extent, 2)
    return None if least is None or count is None else Window(least, count, window.facts)


def _names_in(part: Part) -> Iterator[str]:
    """Yield the names in the expressions of *part* and in the numerators of its floors."""
    for e in part.expressions():
        yield from names_of(e)
    for numerator, _ in part.carried().values():
        yield from names_of(numerator)
