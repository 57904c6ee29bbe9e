"""The composed index map, as people read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symlayout import symbols
from symlayout.arrays import same_fill
from symlayout.digits import digit_name
from symlayout.facts import Facts
from symlayout.normalise import Read, normalise
from symlayout.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    collapse,
    exact_quotient,
    names_of,
    symbol,
    terms_of,
    text,
)
from symlayout.system import DIGIT

if TYPE_CHECKING:
    from symlayout.tensor import Tensor

REMAINDER = "%"  # the first character of a remainder's name, which only printing uses


class IndexMap:
    """The map from output coordinates to what they read.

    Prints as ``(i0, i1) -> (i1, i0)``, with ``if ... else fill`` where reads can leave the source.

    Attributes
    ----------
    domain : tuple
        The extents of the output: ints and SymPy expressions.
    reads : list of Read
        The pieces in normal form.
    """

    def __init__(self, t: Tensor) -> None:
        self._t = t
        self.domain = t.shape
        self.reads: list[Read] = normalise(t)

    @cached_property
    def indices(self) -> tuple[Any, ...]:
        """The SymPy symbols of the output coordinate."""
        import sympy

        return tuple(sympy.Symbol(n, integer=True, nonnegative=True) for n in self._names())

    @cached_property
    def coords(self) -> tuple[Any, ...]:
        """The coordinate that is read, as ints and SymPy expressions; of the first piece if there are more."""
        if not self.reads:
            return ()
        read = self.reads[0]
        return tuple(self._sympy(e, read.facts) for e in read.coords)

    @cached_property
    def guard(self) -> Any:
        """The condition under which the source is read, as a SymPy boolean; outside it is the fill."""
        import sympy

        if not self.reads or self.reads[0].leaf is None:
            return sympy.false
        read = self.reads[0]
        conditions = []
        for g in read.guards:
            value, extent = self._sympy(g.window.value, read.facts), self._sympy(g.window.extent, read.facts)
            conditions += [sympy.Ge(value, 0), sympy.Lt(value, extent)]
        return sympy.And(*conditions)

    @property
    def fill(self) -> Any:
        """The fill value, or None if every element comes from a source."""
        fills = [g.fill for read in self.reads for g in read.guards]
        fills += [read.fill for read in self.reads if read.leaf is None]
        return fills[0] if fills else None

    def __str__(self) -> str:
        names = self._names()
        return f"({', '.join(names)}) -> " + ("; ".join(self._piece(read) for read in self.reads) or "nothing")

    __repr__ = __str__

    def _piece(self, read: Read) -> str:
        spell = self._speller(read.facts)
        if read.leaf is None:
            written = str(read.fill)
        else:
            coords = ", ".join(spell(e) for e in read.coords)
            written = f"{read.leaf.name if len(self._t.leaves()) > 1 else ''}({coords})"
        for fill, conditions in self._otherwise(read, spell):
            written += f" if {' and '.join(conditions)} else {fill}"
        if read.windows:
            written += " where " + " and ".join(f"0 <= {spell(w.value)} < {spell(w.extent)}" for w in read.windows)
        return written

    def _otherwise(self, read: Read, spell: Callable[[Extent], str]) -> Iterator[tuple[Any, list[str]]]:
        """Yield fills, innermost first, with the conditions of all guards up to theirs."""
        conditions = [f"0 <= {spell(g.window.value)} < {spell(g.window.extent)}" for g in read.guards]
        fills = [g.fill for g in read.guards]
        last = len(fills)
        while last:
            first = last - 1
            while first and same_fill(fills[first - 1], fills[last - 1], self._t.dtype):
                first -= 1
            yield fills[last - 1], conditions[:last]
            last = first

    def _names(self) -> list[str]:
        taken = set(self._t.facts.dims)
        prefix = next(p for p in ("i", "o", "k", "index_") if not any(f"{p}{k}" in taken for k in range(self._t.rank)))
        return [f"{prefix}{k}" for k in range(self._t.rank)]

    def _speller(self, facts: Facts) -> Callable[[Extent], str]:
        names = {digit_name(k): n for k, n in enumerate(self._names())}
        return lambda e: spell_coordinate(e, facts, names)

    def _sympy(self, e: Extent, facts: Facts) -> Any:
        """Return a coordinate as an int or a SymPy expression over `indices`."""
        import sympy

        folded, remainders = fold_remainders(facts.reduce(e), facts)
        folded = in_dims(folded, facts)
        if isinstance(folded, int):
            return folded
        index = {digit_name(k): s for k, s in enumerate(self.indices)}

        def value(name: str) -> Any:
            if name in index:
                return index[name]
            if name in remainders:
                n, d = remainders[name]
                return sympy.Mod(self._sympy(n, facts), self._sympy(d, facts), evaluate=False)
            if name in facts.floors and name not in facts.definitions:
                n, d = facts.floors[name]
                return sympy.floor(self._sympy(n, facts) / self._sympy(d, facts), evaluate=False)
            return symbols.to_sympy(symbol(name), facts)

        return sympy.Add(*(sympy.Mul(c, *(value(n) for n in m)) for m, c in terms_of(folded).items()))


def index_map_of(t: Tensor) -> IndexMap:
    """Return the composed index map of *t*."""
    return IndexMap(t)


def fold_remainders(e: Extent, facts: Facts) -> tuple[Extent, dict[str, tuple[Extent, Extent]]]:
    """Write ``n - d*floor(n/d)`` as ``n % d``, for reading; return the new symbols' meaning too."""
    remainders: dict[str, tuple[Extent, Extent]] = {}
    for name in reversed(facts.bounded):
        if not isinstance(e, Poly) or name not in facts.floors or name in facts.definitions or name not in names_of(e):
            continue
        for n, d in (*facts.coarsens(e, name), facts.floors[name]):
            split = coefficient_of(e, name)
            factor = None if split is None else exact_quotient(-split[0], d)
            if factor is None or not isinstance(e, Poly):
                continue
            candidate = e - factor * (n - d * symbol(name))
            if len(terms_of(candidate)) < len(e.terms):
                remainder = f"{REMAINDER}{name}"
                remainders[remainder] = (n, d)
                e = candidate + factor * symbol(remainder)
                break
    return e, remainders


def in_dims(e: Extent, facts: Facts) -> Extent:
    """Return *e* with the coefficient of each digit in the user's dims, where that is a polynomial."""
    parts: dict[Monomial, dict[Monomial, int]] = {}
    for monomial, c in terms_of(e).items():
        fixed = tuple(n for n in monomial if n in facts.dims or n in facts.quotients)
        varying = tuple(n for n in monomial if n not in facts.dims and n not in facts.quotients)
        parts.setdefault(varying, {})[fixed] = c
    total: Extent = 0
    for varying, terms in parts.items():
        coefficient = collapse(terms)
        top, bottom = facts.to_user(coefficient)
        total = total + (top if bottom == 1 else coefficient) * collapse({varying: 1})
    return total


def spell_coordinate(e: Extent, facts: Facts, names: dict[str, str]) -> str:
    """Return a coordinate as text: digits by *names*, floors as ``//``, remainders as ``%``."""
    folded, remainders = fold_remainders(facts.reduce(e), facts)
    folded = in_dims(folded, facts)

    def spell(name: str) -> str:
        if name in names:
            return names[name]
        if name in facts.definitions:
            return name
        if name in remainders or name in facts.floors:
            n, d = remainders.get(name) or facts.floors[name]
            sign = "%" if name in remainders else "//"
            return f"({_grouped(n, facts, names)}{sign}{_grouped(d, facts, names)})"
        return f"({facts.spell(symbol(name))})" if name in facts.quotients else name

    if isinstance(folded, Poly) and not any(
        n[0] in (DIGIT, REMAINDER) or (n in facts.floors and n not in facts.definitions) for n in names_of(folded)
    ):
        return facts.spell(folded)
    written = text(folded, spell)
    bare = len(terms_of(folded)) == 1 and written.startswith("(") and written.endswith(")")
    return written[1:-1] if bare and _balanced(written[1:-1]) else written


def _grouped(e: Extent, facts: Facts, names: dict[str, str]) -> str:
    written = spell_coordinate(e, facts, names)
    return written if written.isidentifier() or written.isdigit() else f"({written})"


def _balanced(written: str) -> bool:
    depth = 0
    for character in written:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0
