"""Nested sizes with their strides, as values: what the algebra of layouts takes and gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, product
from symlayout.layouts.shapes import basis

Nested = Any  # an Extent, or a tuple of Nested
Mode = tuple[Extent, Extent]
"""A size and its stride."""


class Nest(NamedTuple):
    """Sizes and strides, nested alike: an extent each, or a tuple of them each."""

    shape: Nested
    stride: Nested

    def modes(self) -> list[Mode]:
        """Return each size with its stride, the fastest first."""
        return list(zip(flat(self.shape), flat(self.stride), strict=True))

    def parts(self) -> list[Nest]:
        """Return the modes at the top; a single size is its own mode."""
        if not isinstance(self.shape, tuple):
            return [self]
        return [Nest(*pair) for pair in zip(self.shape, self.stride, strict=True)]

    def size(self) -> Extent:
        """Return the number of coordinates."""
        return product(flat(self.shape))

    def reduced(self, facts: Facts) -> Nest:
        """Return the sizes and strides in the symbols of *facts*."""
        return Nest(_reduced(self.shape, facts), _reduced(self.stride, facts))

    def is_based(self) -> bool:
        """Return whether strides are steps of coordinates."""
        return any(map(basis.is_based, flat(self.stride)))

    def leaves(self) -> Iterator[Nest]:
        """Yield each single size as a layout."""
        return (Nest(*mode) for mode in self.modes())


UNIT = Nest(1, 0)


def together(parts: Iterable[Nest]) -> Nest:
    """Return the layout whose modes at the top are *parts*."""
    kept = list(parts)
    return Nest(tuple(p.shape for p in kept), tuple(p.stride for p in kept))


def of_modes(modes: Iterable[Mode]) -> Nest:
    """Return the flat layout of modes; one mode is no tuple."""
    kept = list(modes)
    return Nest(*kept[0]) if len(kept) == 1 else together(Nest(*mode) for mode in kept)


def compact(shape: Nested, facts: Facts, step: Extent = 1) -> tuple[Nested, Extent]:
    """Return the strides of a compact layout, the first size fastest, and the stride that follows."""
    if not isinstance(shape, tuple):
        return step, facts.reduce(step * shape)
    found = []
    for part in shape:
        stride, step = compact(part, facts, step)
        found.append(stride)
    return tuple(found), step


def flat(e: Nested) -> Iterator[Extent]:
    """Yield the extents of nested tuples in order."""
    if isinstance(e, tuple):
        for part in e:
            yield from flat(part)
    else:
        yield e


def profile(e: Nested) -> Any:
    """Return how tuples are nested, without the extents."""
    return tuple(map(profile, e)) if isinstance(e, tuple) else None


def depth(e: Nested) -> int:
    """Return how deep tuples are nested; 0 for an extent."""
    return 1 + max(map(depth, e), default=0) if isinstance(e, tuple) else 0


def text(e: Nested, facts: Facts) -> str:
    """Return nested extents as CuTe writes them; a sum before ``@`` is in parentheses."""
    if isinstance(e, tuple):
        return f"({','.join(text(part, facts) for part in e)})"
    if basis.is_based(e):
        return "+".join(f"{_factor(n, facts)}@{'@'.join(map(str, path[::-1]))}" for path, n in basis.parts(e).items())
    spelled = facts.spell(e)
    return spelled[1:-1] if _is_enclosed(spelled) else spelled  # ``(n)`` would be a tuple of one size


def _factor(e: Extent, facts: Facts) -> str:
    spelled = facts.spell(e)
    return spelled if re.fullmatch(r"\w+", spelled) or _is_enclosed(spelled) else f"({spelled})"


def _is_enclosed(spelled: str) -> bool:
    """Return whether one pair of parentheses is around all of a text."""
    depth = 0
    for place, character in enumerate(spelled):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(spelled) - 1 > 0
    return False


def _reduced(e: Nested, facts: Facts) -> Nested:
    return tuple(_reduced(part, facts) for part in e) if isinstance(e, tuple) else facts.reduce(e)
