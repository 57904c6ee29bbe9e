"""Swizzles as CuTe writes them, ``S<3,4,3>``, and compositions that are kept, ``S<3,4,3> o 0 o (8,8):(8,1)``.

A swizzle replaces bits of an offset by their exclusive or with bits above or below them.  Bit by bit that is
``(z + y) % 2``, so that a swizzled layout is an index map of digits, and is compared and compiled as any other.  So is
a layout of the offsets of another one, where no layout of sizes and strides has these values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from symlayout.algebra.arithmetic import MAX_BIT, bit, bit_change
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import floor_div
from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.layouts.nested import Mode, of_modes, together
from symlayout.layouts.print_layout import LayoutText, Printed
from symlayout.layouts.strided_layout import Layout, layout, memory_of
from symlayout.layouts.strided_layout import as_tensors as strided_tensors
from symlayout.ops.reshape import mixed_radix
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.declaration import Declared, Operand, index_map

MAX_ENUMERATED = 1 << 20  # most coordinates at which an extent is found by enumeration

_TEXT = re.compile(r"\s*S<\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(-?\d{1,3})\s*>\s*", re.ASCII)
_COMPOSED = re.compile(r"(\S.*?(?:>\s*|[\w)]\s+))o\s+(\S.*?)\s+o\s+(\S.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False)
class Swizzle:
    """The function ``n -> n ^ ((n & Y) >> shift)``, where the mask *Y* has *bits* bits from ``base + max(0, shift)``.

    It is its own inverse.  The bits that change begin at ``base + max(0, -shift)``.

    Attributes
    ----------
    bits : int
        The number of bits that change.
    base : int
        The number of lowest bits that stay: ``2**base`` elements stay together.
    shift : int
        How far above the bits that change are those that change them; below, if it is negative.

    Raises
    ------
    ShapeError
        ``infeasible`` if *bits* or *base* is negative, the bits overlap (``abs(shift) < bits``), or there are more than
        40 bits.

    References
    ----------
    CuTe, swizzle.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/swizzle.hpp

    Examples
    --------
    >>> s = Swizzle(2, 0, 2)
    >>> [s(n) for n in range(16)]
    [0, 1, 2, 3, 5, 4, 7, 6, 10, 11, 8, 9, 15, 14, 13, 12]
    >>> s
    S<2,0,2>
    >>> import symlayout as sl
    >>> s.composition(sl.layout("(4,4):(4,1)"))
    S<2,0,2> o 0 o (4,4):(4,1)
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        for name in ("bits", "base", "shift"):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise ShapeError(f"swizzle: {name} is {shown(value)}, and not an integer", "attr_dtype")
            object.__setattr__(self, name, value.__index__())
        if self.bits < 0 or self.base < 0:
            raise ShapeError(f"swizzle: {self.bits} bits above {self.base} are negative", "infeasible")
        if abs(self.shift) < self.bits:
            raise ShapeError(f"swizzle: {self.bits} bits overlap after a shift by {self.shift}", "infeasible")
        if self.bits + self.base + abs(self.shift) > MAX_BIT:
            raise ShapeError(f"swizzle: {self} spans more than {MAX_BIT} bits", "infeasible")

    def __repr__(self) -> str:
        return f"S<{self.bits},{self.base},{self.shift}>"

    @property
    def size(self) -> int:
        """The size of the blocks that the swizzle permutes: ``2**(bits + base + abs(shift))``, and 1 without bits."""
        return 1 << (self.bits + self.base + abs(self.shift)) if self.bits else 1

    def __call__(self, n: Any) -> Any:
        """Return the swizzled offset of an int, an array of ints, or an expression; of a layout, the composition."""
        if isinstance(n, (Layout, ComposedMap, str)):
            return self.composition(n)
        to, by = self.base + max(0, -self.shift), self.base + max(0, self.shift)
        total = n
        for k in range(self.bits):
            total = total + bit_change(n, bit(n, by + k), to + k)
        return total

    def composition(self, inner: Layout | ComposedMap | str | Any) -> ComposedLayout:
        """Return the layout ``c -> self(inner(c))``.

        Raises
        ------
        ShapeError
            ``no_layout`` if *inner* has another swizzle, or is a layout of another one's offsets; see
            `symlayout.make_composed_layout`.

        Examples
        --------
        >>> Swizzle(3, 4, 3).composition("(8,8)")(1, 2)
        17
        """
        inner = layout(inner) if not isinstance(inner, (Layout, ComposedMap)) else inner
        if isinstance(inner, Layout):
            return ComposedLayout(self, 0, inner)
        if isinstance(inner, ComposedLayout):
            if (inner.swizzle == self and inner.offset == 0) or not self.bits:
                return ComposedLayout(Swizzle(0, 0, 0), 0, inner.layout) if self.bits else inner
            if not inner.swizzle.bits:
                return ComposedLayout(self, inner.offset, inner.layout)
        raise ShapeError(
            f"{self} of {inner} is no layout under one swizzle\n  help: sl.make_composed_layout(a, 0, b) is its map",
            "no_layout",
        )


class ComposedMap:
    """The function ``c -> outer(offset + inner(c))``, which `symlayout.make_composed_layout` returns.

    CuTe writes it ``outer o offset o inner``.

    Attributes
    ----------
    outer : Swizzle or Layout
        A layout goes on beyond its size, as `Layout` does for a number.
    offset : int or expression
        It is added to what *inner* returns.
    inner : Layout or ComposedMap

    Examples
    --------
    >>> import symlayout as sl
    >>> a = sl.make_composed_layout("(4,3):(1,5)", 0, "3:2")
    >>> a, [a(k) for k in range(3)]
    ((4,3):(1,5) o 0 o 3:2, [0, 2, 5])
    >>> a.view(sl.tensor("9", name="x")).index_map
    (i0) -> (2*(i0 % 2) + 5*(i0//2))
    """

    __slots__ = ("inner", "offset", "outer")

    def __init__(self, outer: Swizzle | Layout, offset: Any, inner: Layout | ComposedMap) -> None:
        self.outer, self.inner = outer, inner
        facts = Facts()
        self.offset = sympy_bridge.to_sympy(sympy_bridge.to_extent(offset, facts, "offset"), facts)

    @property
    def shape(self) -> Any:
        """The sizes: an int, an expression, or nested tuples of them."""
        return self.inner.shape

    @property
    def rank(self) -> int:
        """The number of modes at the top."""
        return self.inner.rank

    @property
    def size(self) -> Any:
        """The number of coordinates."""
        return self.inner.size

    @property
    def cosize(self) -> Any:
        """One more than the largest offset, or a bound: whole blocks of a swizzle, or rows of the outer layout.

        It is exact for a swizzle of numbers.  The bound holds for strides that are not negative.
        """
        before = self._before()
        if isinstance(self.outer, Layout):
            return _covering(self.outer, before, self.inner.facts).cosize
        return self._after(self.outer, before)

    @property
    def facts(self) -> Facts:
        """What is known of the symbols of both maps; not to be changed."""
        if not isinstance(self.outer, Layout):
            return self.inner.facts
        facts = self.outer.facts.fork()
        facts.merge(self.inner.facts)
        return facts

    @property
    def is_based(self) -> bool:
        """Whether the values are coordinates, as for `Layout`."""
        return isinstance(self.outer, Layout) and self.outer.is_based

    def __call__(self, *coordinate: Any) -> Any:
        """Return the offset of a coordinate, given as for `Layout`."""
        return self.outer(self.offset + self.inner(*coordinate))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposedMap) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[Any, Any, Any]:
        return self.outer, self.offset, self.inner

    def __repr__(self) -> str:
        return f"{self.outer} o {str(self.offset).replace(' ', '')} o {self.inner}"

    def __reduce__(self) -> tuple[Callable[..., ComposedMap], tuple[Any, ...]]:
        return type(self), self._parts()

    def _before(self) -> Any:
        """Return the extent that holds all numbers that the outer map is given."""
        return self.inner.cosize + self.offset

    def _after(self, s: Swizzle, before: Any) -> Any:
        """Return the extent that holds all offsets after the swizzle *s*."""
        if s.size == 1:
            return before
        if isinstance(before, int) and isinstance(self.size, int) and self.size <= MAX_ENUMERATED:
            found = [self(k) for k in range(self.size)]
            if all(isinstance(offset, int) for offset in found):
                return 1 + max(found)
        facts = Facts()
        e = sympy_bridge.to_extent(before, facts)
        whole = s.size * floor_div(facts, e + (s.size - 1), s.size)
        return sympy_bridge.to_sympy(facts.reduce(whole), facts)

    def view(self, x: Tensor, offset: Any = 0) -> Tensor:
        """Return the tensor that reads *x* at these offsets, one axis for each mode.

        *offset* is added to all offsets: it is where the memory of the layout begins in *x*.

        Raises
        ------
        ShapeError
            ``size_mismatch`` if `cosize` is more than *x* has, or a number that the outer map is given is negative.
        """
        check_tensors("view", x)
        before, s = self._before(), self.outer
        if isinstance(s, Layout):
            memory = _covering(s, before, self.inner.facts).view(x, offset)
        else:
            memory = swizzled(x, before, self._after(s, before), offset, s.bits, s.base, s.shift)
        return self.inner.view(memory, self.offset)

    def composition(self, other: Layout | str | int) -> Self:
        """Return ``c -> self(other(c))``: the composition of the inner layout, under the same outer map."""
        return type(self)(self.outer, self.offset, self.inner.composition(other))

    def coalesce(self) -> Self:
        """Return the same function of an integer, with the fewest modes."""
        return type(self)(self.outer, self.offset, self.inner.coalesce())


class ComposedLayout(ComposedMap, LayoutText):
    """The function ``c -> swizzle(offset + layout(c))``, as CuTe writes it: ``S<3,4,3> o 0 o (8,8):(8,1)``.

    Attributes
    ----------
    swizzle : Swizzle
    offset : int or expression
        It is added before the swizzle.
    layout : Layout

    Examples
    --------
    >>> import symlayout as sl
    >>> a = sl.layout("S<3,0,3> o 0 o (8,8):(8,1)")
    >>> [a(1, j) for j in range(8)]
    [9, 8, 11, 10, 13, 12, 15, 14]
    >>> sl.prove_equal(a.swizzle.composition(a), a.layout).verdict
    <Verdict.PROVED: 'proved'>
    """

    __slots__ = ()

    outer: Swizzle
    inner: Layout

    def __init__(self, swizzle: Swizzle, offset: Any, inner: Layout) -> None:
        super().__init__(swizzle, offset, inner)

    @property
    def swizzle(self) -> Swizzle:
        """The outer map."""
        return self.outer

    @property
    def layout(self) -> Layout:
        """The inner map."""
        return self.inner

    def _printed(self) -> Printed:
        facts = self.layout.facts.fork()
        offset = sympy_bridge.to_extent(self.offset, facts, "offset")
        s = self.swizzle
        return Printed(self.layout.nest, facts, self.layout.requires, offset, (s.bits, s.base, s.shift))


def make_composed_layout(outer: Any, offset: Any, inner: Any) -> ComposedMap:
    """Return the function ``c -> outer(offset + inner(c))``, without a search for a layout that has these values.

    Where ``outer.composition(inner)`` has no layout, this is the index map.

    Parameters
    ----------
    outer : Swizzle, Layout, ComposedMap, or what `symlayout.layout` takes
        The map of offsets of *inner*, as numbers of its coordinates.
    offset : int, dim or expression
        What is added between the two.
    inner : Layout, ComposedMap, or what `symlayout.layout` takes
        The map of coordinates.

    Returns
    -------
    ComposedMap
        A `ComposedLayout` for a swizzle of a layout.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if the values of *inner* are coordinates.

    References
    ----------
    CuTe, layout_composed.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/layout_composed.hpp

    Examples
    --------
    >>> a = make_composed_layout("(M,N):(ld,1)", 0, "K:2")
    >>> a
    (M,N):(ld,1) o 0 o K:2
    >>> import symlayout as sl
    >>> a(sl.dim("k"))
    ld*(Mod(2*k, M)) + floor(2*k/M)
    >>> make_composed_layout("6:1", 0, "(2,3):(3,1)") == sl.layout("6:1 o 0 o (2,3):(3,1)")
    True
    """
    outer = outer if isinstance(outer, (Swizzle, Layout, ComposedMap)) else layout(outer)
    inner = inner if isinstance(inner, (Layout, ComposedMap)) else layout(inner)
    if isinstance(outer, ComposedMap):
        return make_composed_layout(outer.outer, outer.offset, make_composed_layout(outer.inner, offset, inner))
    if inner.is_based:
        raise ShapeError(f"the values of {inner} are coordinates, and not numbers of them", "attr_dtype")
    if isinstance(outer, Swizzle) and isinstance(inner, Layout):
        return ComposedLayout(outer, offset, inner)
    return ComposedMap(outer, offset, inner)


def _covering(outer: Layout, extent: Any, known: Facts) -> Layout:
    """Return *outer*, in one mode, on numbers below *extent*, or somewhat above; its last size grows as needed."""
    facts = outer.facts.fork()
    facts.merge(known)
    end = facts.reduce(sympy_bridge.to_extent(extent, facts, "extent"))
    modes = outer.nest.reduced(facts).modes()
    kept: list[Mode] = []
    below: Extent = 1
    for place, (size, stride) in enumerate(modes):
        reach = facts.reduce(below * size)
        is_within = facts.nonnegative(reach - end)
        if is_within or place == len(modes) - 1:
            if not is_within or (isinstance(below, int) and isinstance(end, int)):
                size = facts.reduce(floor_div(facts, end + below - 1, below))
            kept.append((size, stride))
            break
        kept.append((size, stride))
        below = reach
    return Layout(*together([of_modes(kept)]).reduced(facts), facts)


@core_operation
def swizzled(x: Operand, extent: Any, reach: Any, offset: Any, bits: int, base: int, shift: int) -> Declared:
    """Return the elements of *x* at ``offset + S(n)`` for n below *extent*, where S is a swizzle.

    The caller ensures ``S(n) < reach`` for all n that are read.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if *x* has fewer than ``offset + reach`` elements; ``infeasible`` for a negative extent.
    """
    n, first = x.extent(extent, "extent"), x.extent(offset, "offset")
    last, count = first + x.extent(reach, "reach") - 1, product(x.shape)
    x.require(n, "infeasible", "extent {} is negative", n)
    x.require(first, "size_mismatch", "element {} is outside of {} elements", first, count)
    x.require(count - 1 - last, "size_mismatch", "element {} is outside of {} elements", last, count)
    swizzle = Swizzle(bits, base, shift)
    return index_map([n], lambda i: mixed_radix(first + swizzle(i), x.shape))


def swizzle(bits: int | str, base: int | None = None, shift: int | None = None) -> Swizzle:
    """Return the swizzle ``S<bits,base,shift>``, from its numbers or from CuTe's text (see `Swizzle`).

    Parameters
    ----------
    bits : int or str
        The number of bits that change, or the whole text ``S<bits,base,shift>``.
    base : int
        The number of lowest bits that stay.
    shift : int
        How far above the bits that change are those that change them; at least *bits*, or at most ``-bits``.

    Raises
    ------
    FormatError
        The text is not a swizzle.
    ShapeError
        ``infeasible`` if the numbers are not those of a swizzle.

    References
    ----------
    CuTe, swizzle.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/swizzle.hpp

    Examples
    --------
    >>> swizzle(3, 4, 3)
    S<3,4,3>
    >>> swizzle("S<3,4,3>") == swizzle(3, 4, 3)
    True
    """
    if not isinstance(bits, str):
        if base is None or shift is None:
            raise ShapeError("swizzle: bits, base and shift are needed", "attr_dtype")
        return Swizzle(bits, base, shift)
    found = _TEXT.fullmatch(bits)
    if found is None or base is not None or shift is not None:
        raise FormatError(f"{shown(bits)} is not a swizzle\n  help: S<3,4,3>")
    return Swizzle(*map(int, found.groups()))


def read_composed(text: str) -> ComposedMap:
    """Return the composition that CuTe writes as ``S<3,4,3> o 0 o (8,8):(8,1)``, or ``(4,3):(1,5) o 0 o 3:2``.

    Raises
    ------
    FormatError
        The text is no such layout.
    """
    found = _COMPOSED.fullmatch(text.strip())
    if found is None:
        raise FormatError(f"{shown(text)} is not a composition\n  help: S<3,4,3> o 0 o (8,8):(8,1)")
    first, offset, inner = found.groups()
    outer = swizzle(first) if first.startswith("S<") else layout(first)
    return make_composed_layout(outer, 0 if offset == "0" else layout(f"2:{offset}").stride, layout(inner))


def under_one_swizzle(value: Any) -> Layout | ComposedLayout:
    """Return *value*, a layout or what `symlayout.layout` takes, as a layout under a swizzle or under none.

    Raises
    ------
    ShapeError
        ``no_layout`` for any other composition.
    """
    found = value if isinstance(value, (Layout, ComposedMap)) else layout(value)
    if isinstance(found, (Layout, ComposedLayout)):
        return found
    raise ShapeError(f"{found} is no layout under one swizzle", "no_layout")


def as_tensors(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two layouts, composed or not, as tensors that read one memory; return anything else as it is."""
    if not any(isinstance(e, ComposedMap) for e in (left, right)):
        return strided_tensors(left, right)
    if not all(isinstance(e, (Layout, ComposedMap)) for e in (left, right)):
        return left, right
    outer = (e.outer if isinstance(e, ComposedMap) else e for e in (left, right))
    memory, start = memory_of(*(e for e in outer if isinstance(e, Layout)))
    return left.view(memory, start), right.view(memory, start)
