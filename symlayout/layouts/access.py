"""What an access costs: bank conflicts in shared memory, and sectors of global memory, also for symbolic strides.

Thread t is at coordinate t of a layout.  What counts are words or sectors, which are blocks of bytes, and which of them
threads share.  Sizes that are symbols are enumerated as far as the threads reach; strides by `residue_cases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm, prod
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, names_of, substitute, terms_of
from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.sympy_conditions import Conjunction
from symlayout.layouts.answers import Answer
from symlayout.layouts.residue_cases import Cases, Ends, Ranges, at, beyond, decided, known_ranges
from symlayout.layouts.strided_layout import Layout, layout
from symlayout.layouts.swizzle import ComposedLayout, Swizzle, under_one_swizzle

MAX_BRANCHES = 4096  # most cases of symbolic sizes
MAX_ACCESSES = 1 << 16  # most elements that the threads read together

Mode = tuple[Extent, Extent]


@dataclass(frozen=True, slots=True)
class Strides:
    """A layout as flat modes, and what it belongs to.

    ``modes[k]`` are the digits of axis *k*, the fastest first.  *swizzle* is applied to the sum of
    *offset* and the strides times the digits.
    """

    modes: tuple[tuple[Mode, ...], ...]
    offset: Extent
    swizzle: Swizzle
    facts: Facts

    @property
    def flat(self) -> list[Mode]:
        """The modes of all axes."""
        return [mode for axis in self.modes for mode in axis]


def strides_of(value: Any) -> Strides:
    """Return a layout, given as such or as text or sizes, as modes."""
    found = under_one_swizzle(value)
    inner: Layout = found.layout if isinstance(found, ComposedLayout) else found
    facts = inner.facts.fork()  # with what is assumed where the layout was made

    def digits(size: Any, stride: Any) -> Iterator[Mode]:
        if isinstance(size, tuple):
            for pair in zip(size, stride, strict=True):
                yield from digits(*pair)
        else:
            yield sympy_bridge.to_extent(size, facts), sympy_bridge.to_extent(stride, facts)

    shape, stride = inner.shape, inner.stride
    axes = list(zip(shape, stride, strict=True)) if isinstance(shape, tuple) else [(shape, stride)]
    modes = [list(digits(*axis)) for axis in axes]
    for n, _ in (mode for axis in modes for mode in axis):
        facts.require_nonnegative(n - 1, "infeasible", "layout", rule="a size is less than 1")
    offset = sympy_bridge.to_extent(found.offset, facts) if isinstance(found, ComposedLayout) else 0
    reduced = tuple(tuple((facts.reduce(n), facts.reduce(d)) for n, d in axis) for axis in modes)
    swizzle = found.swizzle if isinstance(found, ComposedLayout) else Swizzle(0, 0, 0)
    return Strides(reduced, facts.reduce(offset), swizzle, facts)


def bank_conflicts(
    layout: Any,
    threads: int = 32,
    banks: int = 32,
    width: int | None = None,
    element: int | None = None,
    *,
    element_bytes: int | None = None,
    bank_bytes: int | None = None,
    values: bool = False,
) -> Answer:
    """Return in how many steps shared memory serves one access of a warp: the most words that lie in one bank.

    Thread t reads the element at offset ``layout(t)``.  Word w is in bank ``w % banks``; threads that read one word
    share it.  1 is free of conflicts.

    Parameters
    ----------
    layout : Layout, ComposedLayout, or what `symlayout.layout` takes
        The offsets in elements.  It begins at the first byte of bank 0.
    threads : int
        The threads that access together; fewer, if the layout has fewer coordinates.
    banks : int
        The number of banks.
    width, bank_bytes : int
        The bytes of a word, which is what a bank serves in a step; two names for it.  4 by default.
    element, element_bytes : int
        The bytes of an element; two names for it.  2 by default.  An element that spans several words needs them all.
    values : bool
        The layout is one of threads and values: axis 0 has the threads, and each thread accesses all coordinates of the
        other axes at once.

    Returns
    -------
    Answer
        The number, or numbers with conditions on the dims of strides and sizes.

    Raises
    ------
    ShapeError
        ``infeasible`` for numbers below 1; ``attr_dtype`` if two names of one number differ.
    InconclusiveError
        The offsets depend on more than two dims, or on products of them, or there are too many cases.

    References
    ----------
    CUDA C++ Programming Guide, shared memory: https://docs.nvidia.com/cuda/cuda-c-programming-guide/

    Examples
    --------
    >>> import symlayout as sl
    >>> print(sl.bank_conflicts("(8,4):(64,1)", element=4), sl.bank_conflicts("(8,4):(68,1)", element=4))
    8 1
    >>> sl.bank_conflicts("32:ld", element=4).at({"ld": 33})
    1
    """
    size, word = element_and_word(element, element_bytes, width, bank_bytes)
    _demand_positive(threads=threads, banks=banks)
    return _answer(layout, threads, values, lambda s: Banks(s, size, word, banks))


def coalescing(
    layout: Any,
    threads: int = 32,
    element: int | None = None,
    sector: int | None = None,
    *,
    element_bytes: int | None = None,
    sector_bytes: int | None = None,
    values: bool = False,
) -> Answer:
    """Return how many sectors of global memory one access of a warp reads.

    Thread t reads the element at offset ``layout(t)``.  The fewest sectors are the bytes that are read, divided by the
    bytes of a sector.

    Parameters
    ----------
    layout : Layout, ComposedLayout, or what `symlayout.layout` takes
        The offsets in elements.  It begins at the first byte of a sector.
    threads : int
        The threads that access together; fewer, if the layout has fewer coordinates.
    element, element_bytes : int
        The bytes of an element; two names for it.  2 by default.
    sector, sector_bytes : int
        The bytes of a sector; two names for it.  32 by default; a cache line has 128.
    values : bool
        As for `bank_conflicts`.

    Returns
    -------
    Answer
        The number, or numbers with conditions on the dims of strides and sizes.

    Raises
    ------
    ShapeError
        ``infeasible`` for numbers below 1; ``attr_dtype`` if two names of one number differ.
    InconclusiveError
        As for `bank_conflicts`.

    References
    ----------
    CUDA C++ Best Practices Guide, coalesced access: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/

    Examples
    --------
    >>> import symlayout as sl
    >>> print(sl.coalescing("32:1", element=4), sl.coalescing("32:8", element=4))
    4 32
    """
    block = _one("sector", sector, "sector_bytes", sector_bytes, 32)
    size = _one("element", element, "element_bytes", element_bytes, 2)
    _demand_positive(threads=threads)
    return _answer(layout, threads, values, lambda s: Sectors(s, size, block))


def owner(tv: Any) -> Layout:
    """Return who has each element, of a layout of threads and values: a layout of coordinates.

    Parameters
    ----------
    tv : Layout, or what `symlayout.layout` takes
        The elements of threads and values, such as those of a tensor core's operand.

    Returns
    -------
    Layout
        A layout *w* with ``tv(w(k)) == k`` for each element *k* that a thread has (see `symlayout.Layout.owner`).

    Raises
    ------
    ShapeError
        ``infeasible`` for a negative stride; ``no_layout`` under a swizzle.
    InconclusiveError
        No layout is found.

    References
    ----------
    CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/0t_mma_atom.html

    Examples
    --------
    >>> import symlayout as sl
    >>> who = sl.owner("((4,8),(2,2)):((32,1),(16,8))")
    >>> who(17)
    (4, 1)
    """
    return layout(1).read(tv).owner()  # type: ignore[no-any-return]


def element_and_word(
    element: int | None, element_bytes: int | None, width: int | None, bank_bytes: int | None
) -> tuple[int, int]:
    """Return the bytes of an element and of a word of a bank, each of which has two names."""
    size = _one("element", element, "element_bytes", element_bytes, 2)
    return size, _one("width", width, "bank_bytes", bank_bytes, 4)


def _one(name: str, value: int | None, other_name: str, other: int | None, default: int) -> int:
    """Return a number that has two names."""
    if value is not None and other is not None and value != other:
        raise ShapeError(f"{name} is {shown(value)}, and {other_name} is {shown(other)}", "attr_dtype")
    found = other if value is None else value
    _demand_positive(**{name: default if found is None else found})
    return default if found is None else found


def _demand_positive(**numbers: int) -> None:
    for name, value in numbers.items():
        if type(value) is not int or value < 1:
            raise ShapeError(f"{name} is {shown(value)}, and not an integer from 1", "infeasible")


def _answer(value: Any, threads: int, values: bool, judge: Any) -> Answer:
    strides = strides_of(value)
    asked = judge(strides.swizzle)
    cases: Cases = []
    for conditions, offsets, ranges in reached(strides, threads, values):
        cases += [((*conditions, *more), number) for more, number in decided(offsets, asked, ranges)]
    return Answer(cases, strides.facts)


# ---------------------------------------------------------------------- what threads reach


def reached(strides: Strides, threads: int, values: bool) -> Iterator[tuple[Conjunction, list[Extent], Ranges]]:
    """Yield the offsets before the swizzle that threads access together, for each case of the sizes."""
    first = strides.modes[0] if values else tuple(strides.flat)
    others = [mode for axis in strides.modes[1:] for mode in axis] if values else []
    for conditions, fixed, ranges, sizes in size_cases(strides.facts, [n for n, _ in first], threads):
        steps = [substitute(d, fixed) for _, d in first]
        offsets = _numbered(min(threads, prod(sizes)), sizes, steps, substitute(strides.offset, fixed))
        for size, step in others:
            n = substitute(size, fixed)
            if not isinstance(n, int):
                raise InconclusiveError("the number of values of a thread is known", [strides.facts.describe(n)])
            if n * len(offsets) > MAX_ACCESSES:
                raise InconclusiveError(f"the threads access at most {MAX_ACCESSES} elements")
            offsets = [o + c * substitute(step, fixed) for c in range(n) for o in offsets]
        yield conditions, offsets, ranges


def _numbered(count: int, sizes: Sequence[int], steps: Sequence[Extent], start: Extent) -> list[Extent]:
    """Return the offsets of the first coordinates."""
    if count > MAX_ACCESSES:
        raise InconclusiveError(f"the threads access at most {MAX_ACCESSES} elements")
    found: list[Extent] = []
    for t in range(count):
        offset, left = start, t
        for size, step in zip(sizes, steps, strict=True):
            offset, left = offset + left % size * step, left // size
        found.append(offset)
    return found


SizeCase = tuple[Conjunction, Mapping[str, Extent], Ranges, list[int]]


def size_cases(facts: Facts, sizes: Sequence[Extent], most: int) -> Iterator[SizeCase]:
    """Yield cases of symbolic sizes: conditions, symbols with a value, ranges of the others, and sizes.

    The sizes of a case are exact as long as their product is below *most*; the size that reaches it may be a smaller
    one, and further ones are 1.
    """
    branches = 0

    def walk(conditions: Conjunction, fixed: dict[str, Extent], ends: dict[str, Ends]) -> Iterator[SizeCase]:
        nonlocal branches
        branches += 1
        if branches > MAX_BRANCHES:
            raise InconclusiveError(f"the sizes have at most {MAX_BRANCHES} cases")
        found: list[int] = []
        for size in sizes:
            need = -(-most // prod(found))
            n = substitute(size, fixed)
            if need <= 1:
                found.append(1)
            elif isinstance(n, int):
                if n < 1:
                    return
                found.append(n)
            elif (least := _least(n, ends)) is not None and least >= need:
                found.append(need)
            else:
                yield from branch(_chosen(n, ends, facts), conditions, fixed, ends)
                return
        yield conditions, fixed, Ranges(ends), found

    def branch(
        name: str, conditions: Conjunction, fixed: dict[str, Extent], ends: dict[str, Ends]
    ) -> Iterator[SizeCase]:
        low, high = ends[name]
        if low is None:
            raise InconclusiveError(f"{name} has a least value")
        rest = {k: e for k, e in ends.items() if k != name}
        outside = [r for r in conditions if r.relation != "nonnegative" or names_of(r.value) != {name}]
        yield from walk((*outside, at(name, low)), {**fixed, name: low}, rest)
        if high is None or low < high:
            yield from walk((*outside, beyond(name, low + 1)), fixed, {**ends, name: (low + 1, high)})

    yield from walk((), {}, dict(known_ranges(facts).ends))


def _least(e: Extent, ends: Mapping[str, Ends]) -> int | None:
    """Return a lower bound of a polynomial; None if none is seen."""
    total = 0
    for monomial, c in terms_of(e).items():
        bounds = [ends.get(name, (None, None)) for name in monomial]
        lows = [low for low, _ in bounds]
        if any(low is None or low < 0 for low in lows):
            return None
        if c >= 0:
            total += c * prod(low for low in lows if low is not None)
        else:
            highs = [high for _, high in bounds]
            if None in highs:
                return None
            total += c * prod(high for high in highs if high is not None)
    return total


def _chosen(e: Extent, ends: Mapping[str, Ends], facts: Facts) -> str:
    """Return a symbol whose least value becomes a case of its own."""
    for name in sorted(names_of(e)):
        low, _ = ends.get(name, (None, None))
        if low is not None:
            return name
    raise InconclusiveError(f"{facts.spell(e)} is at least some size", [facts.describe(e)])


# ---------------------------------------------------------------------- what is counted


@dataclass(frozen=True, slots=True)
class Sectors:
    """Counts the blocks of *block* bytes that elements of *size* bytes touch."""

    swizzle: Swizzle
    size: int
    block: int

    @property
    def modulus(self) -> int:
        """The number modulo which offsets matter."""
        return _modulus(self.block, self.size, self.swizzle)

    @property
    def near(self) -> int:
        """How far apart offsets may be that share what is counted."""
        return _near(self.block, self.size, self.swizzle)

    def numbers(self, offsets: np.ndarray[Any, Any]) -> Sequence[int]:
        """Return the number of sectors of each row of offsets."""
        _, first = _blocks(self.swizzle(offsets), self.size, self.block)
        return [int(n) for n in first.sum(axis=1)]


@dataclass(frozen=True, slots=True)
class Banks:
    """Counts the different words in each bank, and returns the most."""

    swizzle: Swizzle
    size: int
    word: int
    banks: int

    @property
    def modulus(self) -> int:
        """The number modulo which offsets matter."""
        return _modulus(self.word * self.banks, self.size, self.swizzle)

    @property
    def near(self) -> int:
        """How far apart offsets may be that share what is counted."""
        return _near(self.word, self.size, self.swizzle)

    def numbers(self, offsets: np.ndarray[Any, Any]) -> Sequence[int]:
        """Return the most words in one bank, for each row of offsets."""
        blocks, first = _blocks(self.swizzle(offsets), self.size, self.word)
        rows = np.arange(len(blocks))[:, None]
        places = (rows * self.banks + blocks % self.banks)[first]
        counts = np.bincount(places, minlength=len(blocks) * self.banks)
        return [int(n) for n in counts.reshape(len(blocks), self.banks).max(axis=1)]


def _modulus(block: int, size: int, swizzle: Swizzle) -> int:
    """Return the modulus of offsets that decides in which bytes of blocks elements lie."""
    own = block // gcd(block, size)
    return lcm(own, swizzle.size)


def _near(block: int, size: int, swizzle: Swizzle) -> int:
    """Return how far offsets may differ so that a block of bytes holds parts of both elements."""
    return (block + size - 2) // size + (2 * (swizzle.size - 1) if swizzle.bits else 0)


def _blocks(
    offsets: np.ndarray[Any, Any], size: int, block: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return the blocks that elements touch, sorted in each row, and which of them are the first of their number."""
    parts = np.array(sorted({*range(0, size, block), size - 1}))
    touched = (offsets[:, :, None] * size + parts) // block
    blocks = np.sort(touched.reshape(len(offsets), -1), axis=1)
    first = np.ones(blocks.shape, bool)
    first[:, 1:] = blocks[:, 1:] != blocks[:, :-1]
    return blocks, first
