"""The algebra by CuTe's names, as methods: of a layout, and of its cases.

A method states what it computes as a question about conditions.  A `Layout` answers it with one layout and the
requirements for which it is right; `Cases` answers it for all sizes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from symlayout.algebra.facts import Facts
from symlayout.language import sympy_bridge
from symlayout.layouts import operations
from symlayout.layouts.conditions import Conditions
from symlayout.layouts.nested import Nest
from symlayout.layouts.operations import Tiler
from symlayout.tensors.declaration import as_list, is_list

Result = TypeVar("Result")
Question = Callable[[Conditions], Nest]


class _Asked(Protocol):
    """What the algebra needs of a layout."""

    @property
    def nest(self) -> Nest: ...
    @property
    def facts(self) -> Facts: ...
    def read(self, value: Any) -> _Asked: ...


class LayoutAlgebra(Generic[Result]):
    """What is asked of a layout, each question in terms of its operands and conditions.

    A tiler is a layout, its text, or a number for ``number:1``.  A tuple or list of tilers goes mode by mode, where
    None leaves a mode as it is; so ``(4, 2)`` takes tiles of 4 of the first mode and of 2 of the second.
    """

    __slots__ = ()

    @abstractmethod
    def _answer(self, question: Question, facts: Facts) -> Result:
        """Return the answer to *question* under *facts*."""

    @abstractmethod
    def _layout(self) -> _Asked:
        """Return the layout that is asked."""

    def _operands(self, tiler: Any = None, number: Any = None) -> tuple[Nest, Tiler, Any, Facts]:
        """Return the layout, a tiler and a number, and facts that hold for all of them."""
        own = self._layout()
        facts = own.facts.fork()
        return own.nest, self._tiler(tiler, facts), None if number is None else self._number(number, facts), facts

    def _tiler(self, value: Any, facts: Facts) -> Tiler:
        if value is None:
            return None
        if is_list(value):
            return [self._tiler(part, facts) for part in as_list(value)]
        other = self._layout().read(value)
        facts.merge(other.facts)
        return other.nest.reduced(facts)

    def _number(self, value: Any, facts: Facts) -> Any:
        """Return a size: a number, an expression, a text of one, or the product of a tuple of them."""
        if is_list(value) or isinstance(value, str):
            other = self._layout().read(value)
            facts.merge(other.facts)
            return other.nest.reduced(facts).size()
        return sympy_bridge.to_extent(value, facts, "size")

    # ------------------------------------------------------------------ one layout

    def coalesce(self, profile: Any = None) -> Result:
        """Return the same function of an integer, with the fewest modes.

        Parameters
        ----------
        profile : tuple, optional
            A tuple coalesces each of its modes by itself; its entries are numbers, or tuples for nested modes.

        Examples
        --------
        >>> import symlayout as sl
        >>> a = sl.layout("(2,(1,6)):(1,(6,2))")
        >>> a.coalesce(), a.coalesce((1, 1))
        (12:1, (2,6):(1,2))
        """
        a, _, _, facts = self._operands()
        shape = _profile(profile)
        return self._answer(lambda c: operations.coalesce(a, shape, c), facts)

    def filter(self, profile: Any = None) -> Result:
        """Return the modes that move the offset, coalesced; *profile* as in `coalesce`.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,4,3):(0,1,4)").filter()
        12:1
        """
        a, _, _, facts = self._operands()
        shape = _profile(profile)
        return self._answer(lambda c: operations.filtered(a, shape, c), facts)

    def complement(self, size: Any = 1) -> Result:
        """Return the layout, in rising order, that reaches what this one leaves out.

        No sum of an offset of each occurs twice.  If each stride is a multiple of what smaller ones reach, both reach
        each number below a multiple of *size* once.  Modes with the stride 0 do not count.

        Parameters
        ----------
        size : int, dim, expression, text, or tuple of them
            How far both reach together, at least; of a tuple, its product.

        Raises
        ------
        ShapeError
            ``overlap`` if modes of this layout reach into each other; ``infeasible`` for a negative stride.
        InconclusiveError
            A condition on symbols is not decided.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("4:2").complement(24)
        (2,3):(1,8)
        >>> found = sl.layout("(4,M):(1,ld)").complement("M*ld")
        >>> found, found.requires
        (ld/4:4, (Eq(Mod(ld, 4), 0),))
        """
        a, _, most, facts = self._operands(number=size)
        return self._answer(lambda c: operations.complement(a, most, c), facts)

    def right_inverse(self) -> Result:
        """Return a layout *R* with ``self(R(k)) == k`` for all k below its size.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(8,4):(4,1)").right_inverse()
        (4,8):(8,1)
        """
        a, _, _, facts = self._operands()
        return self._answer(lambda c: operations.right_inverse(a, c), facts)

    def left_inverse(self) -> Result:
        """Return a layout *L* with ``self(L(self(k))) == self(k)``, and ``L(self(k)) == k`` if no stride is 0.

        Raises
        ------
        ShapeError
            ``infeasible`` for a negative stride.
        InconclusiveError
            No layout is found.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(4,2):(1,16)").left_inverse()
        (16,2):(1,4)
        >>> found = sl.layout("(4,N):(1,2*N)").left_inverse()
        >>> found, found.requires
        ((2*N,N):(1,4), (N >= 2,))
        """
        a, _, _, facts = self._operands()
        return self._answer(lambda c: operations.left_inverse(a, c), facts)

    def nullspace(self) -> Result:
        """Return the layout onto the coordinates with the offset 0, of the modes that do not move.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,4,3):(1,0,2)").nullspace()
        4:2
        """
        a, _, _, facts = self._operands()
        return self._answer(lambda c: operations.nullspace(a, c), facts)

    def upcast(self, width: Any) -> Result:
        """Return the layout of elements that are *width* times as wide: the offsets divided by *width*.

        A mode whose stride divides *width* becomes shorter: its neighbours are one element.

        Raises
        ------
        ShapeError
            ``no_layout`` if a stride is neither a multiple nor a divisor of *width*.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(8,4):(1,8)").upcast(4)
        (2,4):(1,2)
        """
        a, _, number, facts = self._operands(number=width)
        _demand_positive(number, facts)
        return self._answer(lambda c: operations.upcast(a, number, c), facts)

    def downcast(self, width: Any) -> Result:
        """Return the layout of the *width* parts of each element; the modes of stride 1 take them in.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,4):(1,2)").downcast(4)
        (8,4):(1,8)
        """
        a, _, number, facts = self._operands(number=width)
        _demand_positive(number, facts)
        return self._answer(lambda c: operations.downcast(a, number, c), facts)

    def recast(self, old_bits: int, new_bits: int) -> Result:
        """Return the layout of the same bits in elements of another width: `upcast`, `downcast` or both.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(8,4):(1,8)").recast(8, 32), sl.layout("(2,4):(1,2)").recast(32, 8)
        ((2,4):(1,2), (8,4):(1,8))
        """
        a, _, _, facts = self._operands()
        for bits in (old_bits, new_bits):
            _demand_positive(bits, facts)
        return self._answer(lambda c: operations.recast(a, old_bits, new_bits, c), facts)

    # ------------------------------------------------------------------ two layouts

    def composition(self, other: Any) -> Result:
        """Return the layout ``c -> self(other(c))``, with the shape of *other*; its sizes may become tuples.

        Conditions on symbols that are not decided are in ``requires`` of the result.

        Parameters
        ----------
        other : Layout, text, number, None, or tuple of them
            The layout; a tuple is composed mode by mode.

        Raises
        ------
        ShapeError
            ``no_layout`` if no layout has these values, ``infeasible`` if an offset of *other* may be negative.
        InconclusiveError
            A condition on symbols is not decided.

        Examples
        --------
        >>> import symlayout as sl
        >>> a = sl.layout("(M,N):(N,1)")
        >>> a.composition("(M,N):(1,M)")
        (M,N):(N,1)
        >>> tile = a.composition("4:1")
        >>> tile, tile.requires
        (4:N, (M >= 4,))
        >>> sl.layout("(16,8):(1,16)").composition((4, 2))
        (4,2):(1,16)
        """
        a, b, _, facts = self._operands(other)
        return self._answer(lambda c: operations.composition(a, b, c), facts)

    def max_common_layout(self, other: Any) -> Result:
        """Return the longest layout *R* that is found with ``self(R(k)) == other(R(k)) == k``.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("8:1").max_common_layout("(4,2):(1,4)")
        8:1
        """
        a, b, _, facts = self._operands(other)
        return self._answer(lambda c: operations.max_common_layout(a, b, c), facts)

    def logical_divide(self, tiler: Any) -> Result:
        """Return ``((tile), (rest))``: this layout on the coordinates of *tiler*, and on what it leaves out.

        Raises
        ------
        ShapeError, InconclusiveError
            As `composition` and `complement`.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(4,2,3):(2,1,8)").logical_divide("4:2")
        ((2,2),(2,3)):((4,1),(2,8))
        >>> sl.layout("M:1").logical_divide(64)
        (64,(M + 63)//64):(1,64)
        >>> found = sl.layout("(M,N):(ld,1)").logical_divide("64:1")
        >>> found, found.requires
        ((64,(M/64,N)):(ld,(64*ld,1)), (Eq(Mod(M, 64), 0),))
        """
        a, b, _, facts = self._operands(tiler)
        return self._answer(lambda c: operations.logical_divide(a, b, c), facts)

    def zipped_divide(self, tiler: Any) -> Result:
        """Return `logical_divide` by mode, with the tiles in one mode and the rests in another.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(8,6):(1,8)").zipped_divide((4, 2))
        ((4,2),(2,3)):((1,8),(4,16))
        """
        a, b, _, facts = self._operands(tiler)
        return self._answer(lambda c: operations.zipped(operations.logical_divide, a, b, c), facts)

    def tiled_divide(self, tiler: Any) -> Result:
        """Return `zipped_divide` with the modes of the rest at the top.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(8,6):(1,8)").tiled_divide((4, 2))
        ((4,2),2,3):((1,8),4,16)
        """
        a, b, _, facts = self._operands(tiler)
        return self._answer(lambda c: operations.tiled(operations.zipped(operations.logical_divide, a, b, c)), facts)

    def flat_divide(self, tiler: Any) -> Result:
        """Return `zipped_divide` with the modes of the tile and of the rest at the top.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(8,6):(1,8)").flat_divide((4, 2))
        (4,2,2,3):(1,8,4,16)
        """
        a, b, _, facts = self._operands(tiler)
        return self._answer(
            lambda c: operations.flat_halves(operations.zipped(operations.logical_divide, a, b, c)), facts
        )

    def logical_product(self, tiler: Any) -> Result:
        """Return ``((self), (copies))``: this layout, and where *tiler* puts its copies beside each other.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,2):(4,1)").logical_product("6:1")
        ((2,2),(2,3)):((4,1),(2,8))
        """
        a, b, _, facts = self._operands(tiler)
        return self._answer(lambda c: operations.logical_product(a, b, c), facts)

    def zipped_product(self, tiler: Any) -> Result:
        """Return `logical_product` by mode, with the blocks in one mode and the copies in another."""
        a, b, _, facts = self._operands(tiler)
        return self._answer(lambda c: operations.zipped(operations.logical_product, a, b, c), facts)

    def tiled_product(self, tiler: Any) -> Result:
        """Return `zipped_product` with the modes of the copies at the top."""
        a, b, _, facts = self._operands(tiler)
        return self._answer(lambda c: operations.tiled(operations.zipped(operations.logical_product, a, b, c)), facts)

    def flat_product(self, tiler: Any) -> Result:
        """Return `zipped_product` with the modes of the block and of the copies at the top."""
        a, b, _, facts = self._operands(tiler)
        return self._answer(
            lambda c: operations.flat_halves(operations.zipped(operations.logical_product, a, b, c)), facts
        )

    def blocked_product(self, tiler: Any) -> Result:
        """Return the product with each mode of a block beside that of its copies: ``((block, copies), ...)``.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,5):(5,1)").blocked_product("(3,4):(1,3)")
        ((2,3),(5,4)):((5,10),(1,30))
        """
        a, b, _, facts = self._operands(_one(tiler))
        return self._answer(lambda c: operations.interleaved(a, b, c, raked=False), facts)

    def raked_product(self, tiler: Any) -> Result:
        """Return the product with the copies faster than the block: ``((copies, block), ...)``.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,5):(5,1)").raked_product("(3,4):(1,3)")
        ((3,2),(4,5)):((10,5),(30,1))
        """
        a, b, _, facts = self._operands(_one(tiler))
        return self._answer(lambda c: operations.interleaved(a, b, c, raked=True), facts)

    def tile_to_shape(self, shape: Any, order: Any = None) -> Result:
        """Return the blocked product that has the sizes of *shape*.

        Parameters
        ----------
        shape : tuple of int, dim, expression or tuple
            The sizes, each a multiple of this layout's.
        order : tuple of int, optional
            A number for each axis: the copies follow along that of the least number first; by default along the first.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,2):(1,2)").tile_to_shape((4, 6), (1, 0))
        ((2,2),(2,3)):((1,12),(2,4))
        """
        a, goal, _, facts = self._operands(self._layout().read(shape))
        return self._answer(lambda c: operations.tile_to_shape(a, goal, order, c), facts)


def _profile(value: Any) -> Tiler:
    return [_profile(part) for part in as_list(value)] if is_list(value) else None


def _one(tiler: Any) -> Any:
    """Return a tiler that is no tuple of them."""
    if is_list(tiler) or tiler is None:
        raise TypeError('the copies are a layout, such as "(3,4)", not a tuple of tilers')
    return tiler


def _demand_positive(number: Any, facts: Facts) -> None:
    facts.require_nonnegative(number - 1, "infeasible", rule="the width is less than 1")
