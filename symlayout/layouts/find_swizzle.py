"""The best swizzle of a tile in shared memory: all swizzles that permute its block are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import names_of
from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.layouts.access import Banks, Strides, element_and_word, reached, strides_of
from symlayout.layouts.swizzle import ComposedLayout, Swizzle

MAX_BITS = 24  # most bits of the offsets of a tile


@dataclass(frozen=True, slots=True, repr=False)
class BestSwizzle:
    """A swizzle of a tile, and why none is better.

    Attributes
    ----------
    swizzle : Swizzle
        The best one: the fewest steps of all accesses together, then the fewest of the slowest access, then the fewest
        bits.
    ways : tuple of int
        The steps of each access under it, as `bank_conflicts` counts them.
    bound : tuple of int
        What no arrangement of the elements can undercut: the bytes of each access, divided by those of all banks.
    tried : mapping
        The steps of each access under every swizzle of the block, which is the proof that none is better.
    size : int
        The elements of the block that the swizzles permute: the smallest power of two that holds all offsets.
    keep : int
        So many elements stay together under the swizzles that were tried.

    Examples
    --------
    >>> import symlayout as sl
    >>> found = sl.find_swizzle("32:1", "32:32", element=4)
    >>> found.swizzle, found.ways, found.bound
    (S<5,0,5>, (1, 1), (1, 1))
    >>> min(map(sum, found.tried.values()))
    2
    """

    swizzle: Swizzle
    ways: tuple[int, ...]
    bound: tuple[int, ...]
    tried: Mapping[Swizzle, tuple[int, ...]]
    size: int
    keep: int

    @property
    def is_optimal(self) -> bool:
        """Whether no arrangement of the elements is better, a swizzle or not."""
        return self.ways == self.bound

    def check(self) -> bool:
        """Return whether the choice is the best of those that were tried, and all of them were."""
        every = set(_tried_of(self.size.bit_length() - 1, self.keep))
        return self.tried[self.swizzle] == self.ways and set(self.tried) == every and self.swizzle == _best(self.tried)

    def __repr__(self) -> str:
        ways = ", ".join(map(str, self.ways))
        return f"{self.swizzle}: {ways} steps; the best of {len(self.tried)} swizzles of {self.size} elements"


def find_swizzle(
    *layouts: Any,
    threads: int = 32,
    banks: int = 32,
    width: int | None = None,
    element: int | None = None,
    element_bytes: int | None = None,
    bank_bytes: int | None = None,
    keep: int = 1,
    values: bool = False,
) -> BestSwizzle:
    """Return the swizzle of a tile in shared memory under which accesses have the fewest bank conflicts.

    Parameters
    ----------
    layouts : Layout, or what `symlayout.layout` takes
        One layout for each access to the tile, such as a write and a read: the offset of thread t before the swizzle.
    threads, banks, width, element, element_bytes, bank_bytes, values
        As for `bank_conflicts`.
    keep : int
        So many elements stay together: a power of two, such as the width of vector accesses.

    Returns
    -------
    BestSwizzle
        The swizzle, and the steps under every other one.

    Raises
    ------
    ShapeError
        ``rank`` without layouts; ``no_layout`` for a layout under a swizzle; ``infeasible`` if an offset is negative,
        or *keep* is no power of two.
    InconclusiveError
        A layout has dims, or its offsets have more than 24 bits.

    References
    ----------
    CuTe, swizzle.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/swizzle.hpp

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.find_swizzle("(8,4):(64,2)", "(32):(2)", element=2, keep=2)
    S<3,3,3>: 1, 1 steps; the best of 101 swizzles of 512 elements
    """
    if not layouts:
        raise ShapeError("find_swizzle takes one layout or more", "rank")
    if type(keep) is not int or keep < 1 or keep & (keep - 1):
        raise ShapeError(f"keep is {shown(keep)}, and not a power of two", "infeasible")
    if any(isinstance(e, ComposedLayout) and e.swizzle.bits for e in layouts):
        raise ShapeError("find_swizzle takes layouts without a swizzle", "no_layout")
    size, word = element_and_word(element, element_bytes, width, bank_bytes)
    tiles = [strides_of(e) for e in layouts]
    accesses = [_offsets(s, threads, values) for s in tiles]
    bits = max(_bits(s) for s in tiles)
    tried = {
        s: tuple(Banks(s, size, word, banks).numbers(a[None, :])[0] for a in accesses) for s in _tried_of(bits, keep)
    }
    best = _best(tried)
    bound = tuple(-(-len(np.unique(a)) * size // (word * banks)) for a in accesses)
    return BestSwizzle(best, tried[best], bound, tried, 1 << bits, keep)


def choose_swizzle(write: Any, read: Any, **options: Any) -> BestSwizzle:
    """Return the best swizzle for a write and a read of one tile: `find_swizzle` of both.

    Parameters
    ----------
    write, read : Layout, or what `symlayout.layout` takes
        The offsets of the threads that write and that read, before the swizzle.
    options
        As for `find_swizzle`.

    Raises
    ------
    ShapeError, InconclusiveError
        As for `find_swizzle`.

    References
    ----------
    CuTe, swizzle.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/swizzle.hpp

    Examples
    --------
    >>> choose_swizzle("32:1", "32:32", element=4).swizzle
    S<5,0,5>
    """
    return find_swizzle(write, read, **options)


def swizzles_of(bits: int) -> Iterator[Swizzle]:
    """Yield the swizzles that permute a block of ``2**bits`` elements, the identity first."""
    yield Swizzle(0, 0, 0)
    for n in range(1, bits // 2 + 1):
        for base in range(bits - 2 * n + 1):
            for shift in range(n, bits - n - base + 1):
                yield Swizzle(n, base, shift)
                yield Swizzle(n, base, -shift)


def _tried_of(bits: int, keep: int) -> Iterator[Swizzle]:
    return (s for s in swizzles_of(bits) if not s.bits or 1 << s.base >= keep)


def _best(tried: Mapping[Swizzle, Sequence[int]]) -> Swizzle:
    return min(tried, key=lambda s: (sum(tried[s]), max(tried[s]), s.bits, s.shift < 0, abs(s.shift), s.base))


def _offsets(s: Strides, threads: int, values: bool) -> np.ndarray[Any, Any]:
    cases = list(reached(s, threads, values)) if not _dims(s) else []
    if len(cases) != 1:
        raise InconclusiveError("the layout has no dims", [", ".join(sorted(_dims(s)))])
    return np.array([int(str(e)) for e in cases[0][1]], dtype=np.int64)


def _dims(s: Strides) -> set[str]:
    return {name for mode in s.flat for e in mode for name in names_of(e)} | names_of(s.offset)


def _bits(s: Strides) -> int:
    """Return how many bits the offsets of a layout have."""
    if any(isinstance(d, int) and d < 0 for _, d in s.flat):
        raise ShapeError("find_swizzle: an offset is negative", "infeasible")
    most = int(str(s.offset)) + sum((int(str(n)) - 1) * int(str(d)) for n, d in s.flat)
    if most.bit_length() > MAX_BITS:
        raise InconclusiveError(f"the offsets have at most {MAX_BITS} bits", [f"they have {most.bit_length()}"])
    return most.bit_length()
