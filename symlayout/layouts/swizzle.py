"""Swizzles as CuTe writes them, ``S<3,4,3>``, and layouts under a swizzle, ``S<3,4,3> o 0 o (8,8):(8,1)``.

A swizzle replaces bits of an offset by their exclusive or with bits above or below them.  Bit by bit that is
``(z + y) % 2``, so that a swizzled layout is an index map of digits, and is compared and compiled as any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symlayout.algebra.arithmetic import MAX_BIT, bit, bit_change
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import floor_div
from symlayout.algebra.polynomial import product
from symlayout.errors import FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.layouts.print_layout import LayoutText, Printed
from symlayout.layouts.strided_layout import Layout, layout
from symlayout.layouts.strided_layout import as_tensors as strided_tensors
from symlayout.ops.reshape import mixed_radix
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.declaration import Declared, Operand, index_map
from symlayout.tensors.input_tensor import tensor

MAX_ENUMERATED = 1 << 20  # most coordinates at which an extent is found by enumeration

_TEXT = re.compile(r"\s*S<\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(-?\d{1,3})\s*>\s*", re.ASCII)
_COMPOSED = re.compile(_TEXT.pattern + r"o\s+(.*?)\s+o\s+(\S.*)", re.ASCII | re.DOTALL)


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
        if isinstance(n, (Layout, ComposedLayout, str)):
            return self.composition(n)
        to, by = self.base + max(0, -self.shift), self.base + max(0, self.shift)
        total = n
        for k in range(self.bits):
            total = total + bit_change(n, bit(n, by + k), to + k)
        return total

    def composition(self, inner: Layout | ComposedLayout | str | Any) -> ComposedLayout:
        """Return the layout ``c -> self(inner(c))``.

        Raises
        ------
        ShapeError
            ``no_layout`` if *inner* has another swizzle.

        Examples
        --------
        >>> Swizzle(3, 4, 3).composition("(8,8)")(1, 2)
        17
        """
        inner = layout(inner) if not isinstance(inner, (Layout, ComposedLayout)) else inner
        if isinstance(inner, Layout):
            return ComposedLayout(self, 0, inner)
        if (inner.swizzle == self and inner.offset == 0) or not self.bits:
            return ComposedLayout(Swizzle(0, 0, 0), 0, inner.layout) if self.bits else inner
        if not inner.swizzle.bits:
            return ComposedLayout(self, inner.offset, inner.layout)
        raise ShapeError(
            f"{self} of {inner} has two swizzles\n  help: self.view(inner.view(x)) is its map", "no_layout"
        )


class ComposedLayout(LayoutText):
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

    __slots__ = ("layout", "offset", "swizzle")

    def __init__(self, swizzle: Swizzle, offset: Any, inner: Layout) -> None:
        self.swizzle, self.layout = swizzle, inner
        facts = Facts()
        self.offset = sympy_bridge.to_sympy(sympy_bridge.to_extent(offset, facts, "offset"), facts)

    @property
    def shape(self) -> Any:
        """The sizes: an int, an expression, or nested tuples of them."""
        return self.layout.shape

    @property
    def rank(self) -> int:
        """The number of modes at the top."""
        return self.layout.rank

    @property
    def size(self) -> Any:
        """The number of coordinates."""
        return self.layout.size

    @property
    def cosize(self) -> Any:
        """One more than the largest offset, or a bound where sizes are symbols: whole blocks of the swizzle.

        The bound holds for strides that are not negative.
        """
        return self._reach(self.offset)[1]

    def __call__(self, *coordinate: Any) -> Any:
        """Return the offset of a coordinate, given as for `Layout`."""
        return self.swizzle(self.offset + self.layout(*coordinate))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposedLayout) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[Swizzle, Any, Layout]:
        return self.swizzle, self.offset, self.layout

    def __repr__(self) -> str:
        return f"{self.swizzle} o {str(self.offset).replace(' ', '')} o {self.layout}"

    def _printed(self) -> Printed:
        facts = self.layout.facts.fork()
        offset = sympy_bridge.to_extent(self.offset, facts, "offset")
        s = self.swizzle
        return Printed(self.layout.nest, facts, self.layout.requires, offset, (s.bits, s.base, s.shift))

    def __reduce__(self) -> tuple[Callable[..., ComposedLayout], tuple[Any, ...]]:
        return ComposedLayout, self._parts()

    def _reach(self, offset: Any) -> tuple[Any, Any]:
        """Return the extents that hold all offsets before and after the swizzle."""
        before, block = self.layout.cosize + offset, self.swizzle.size
        if block == 1:
            return before, before
        if isinstance(before, int) and isinstance(self.size, int) and self.size <= MAX_ENUMERATED:
            return before, 1 + max(self.swizzle(offset + self.layout(k)) for k in range(self.size))
        facts = Facts()
        e = sympy_bridge.to_extent(before, facts)
        whole = block * floor_div(facts, e + (block - 1), block)
        return before, sympy_bridge.to_sympy(facts.reduce(whole), facts)

    def view(self, x: Tensor, offset: Any = 0) -> Tensor:
        """Return the tensor that reads *x* at these offsets, one axis for each mode.

        *offset* is added after the swizzle: it is where the memory of the layout begins in *x*.

        Raises
        ------
        ShapeError
            ``size_mismatch`` if the result reads outside *x*, or before the swizzle an offset is negative.
        """
        check_tensors("view", x)
        before, after = self._reach(self.offset)
        s = self.swizzle
        return self.layout.view(swizzled(x, before, after, offset, s.bits, s.base, s.shift), self.offset)

    def composition(self, other: Layout | str | int) -> ComposedLayout:
        """Return ``c -> self(other(c))``: the composition of the inner layout, under the same swizzle."""
        return ComposedLayout(self.swizzle, self.offset, self.layout.composition(other))

    def coalesce(self) -> ComposedLayout:
        """Return the same function of an integer, with the fewest modes."""
        return ComposedLayout(self.swizzle, self.offset, self.layout.coalesce())


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


def read_composed(text: str) -> ComposedLayout:
    """Return the layout that CuTe writes as ``S<3,4,3> o 0 o (8,8):(8,1)``.

    Raises
    ------
    FormatError
        The text is no such layout.
    """
    found = _COMPOSED.fullmatch(text)
    if found is None:
        raise FormatError(f"{shown(text)} is not a layout under a swizzle\n  help: S<3,4,3> o 0 o (8,8):(8,1)")
    bits, base, shift, offset, inner = found.groups()
    start = layout("1", None) if offset == "0" else layout(f"2:{offset}")
    return ComposedLayout(
        Swizzle(int(bits), int(base), int(shift)), 0 if offset == "0" else start.stride, layout(inner)
    )


def as_tensors(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two layouts, under swizzles or not, as tensors that read one memory; return anything else as it is."""
    if not any(isinstance(e, ComposedLayout) for e in (left, right)):
        return strided_tensors(left, right)
    if not all(isinstance(e, (Layout, ComposedLayout)) for e in (left, right)):
        return left, right
    memory = tensor((sympy_bridge.dim("memory"),), name="memory")
    return left.view(memory), right.view(memory)
