"""What a piece of a nest writes and reads, and the same in whole bytes where elements are half of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, exact_quotient, names_of
from symlayout.maps.compose_chain import Guard, Window


@dataclass(frozen=True, slots=True)
class Part:
    """The points of one read over a box of digits: where each writes, and what.

    Attributes
    ----------
    box, facts : what holds wherever there is a digit, and where all guards hold.
    digits : the extents of the digits, outermost first.
    output, offset : where a point writes, and reads in array number *source*, in elements.
    source : None where all is *fill*.
    windows, guards : as those of a read.
    apart : for axes of the output, by number, the digit that is the coordinate on it, over the whole axis.
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
        """Return the offsets and the values of the windows."""
        return [self.output, self.offset, *(w.value for w in self.windows), *(g.window.value for g in self.guards)]

    def carried(self) -> dict[str, tuple[Extent, Extent]]:
        """Return the floors over digits that the expressions need, each after those it is made of.

        Their numerators and denominators are those of the facts of the first that asks for them.
        """
        asked = (self.box, *(w.facts for w in self.windows), *(g.window.facts for g in self.guards), self.facts)
        floors: dict[str, tuple[Extent, Extent]] = {}

        def visit(e: Extent) -> bool:
            varies = False
            for name in sorted(names_of(e)):
                if name not in floors:
                    floor = next((facts.floors[name] for facts in asked if name in facts.floors), None)
                    if floor is not None and visit(floor[0]):
                        floors[name] = floor
                varies |= name[0] == DIGIT or name in floors
            return varies

        for e in self.expressions():
            visit(e)
        return floors


def halve(part: Part, half: str) -> Part | None:
    """Return *part*, whose elements are half a byte, in bytes: its points at *half* 0 and 1 as one point.

    The digit *half* has the extent 2.  None unless the two points write the two halves of one byte, the first the low
    one, and read them in the same way, or the same fill.
    """
    if half not in part.digits:
        return None
    output = _pair(part.box.reduce(part.output), half)
    offset = part.offset if part.source is None else _pair(part.facts.reduce(part.offset), half)
    windows = [_bytes(w, half) for w in part.windows]
    guards = [_bytes(g.window, half) for g in part.guards]
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
    return None if half in _reached(made) else made


def _pair(e: Extent, half: str) -> Extent | None:
    """Return the *x* of ``2*x + half``, if that is what *e* is."""
    split = coefficient_of(e, half) if isinstance(e, Poly) else None
    return exact_quotient(split[1], 2) if split is not None and split[0] == 1 else None


def _bytes(window: Window, half: str) -> Window | None:
    """Return a window without *half* that holds where *window* does: ``0 <= 2*x + half < 2*n`` is ``0 <= x < n``."""
    if half not in names_of(window.value):
        return window
    least, count = _pair(window.value, half), exact_quotient(window.extent, 2)
    return None if least is None or count is None else Window(least, count, window.facts)


def _reached(part: Part) -> Iterator[str]:
    """Yield the names in the expressions of *part*, and in the floors in these."""
    for e in part.expressions():
        yield from names_of(e)
    for numerator, _ in part.carried().values():
        yield from names_of(numerator)
