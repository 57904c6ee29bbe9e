"""Layouts as tuples of modes, by CuTe's names: modes are grouped, joined, chosen, and left out at a coordinate.

Nothing is computed but an offset, so that what is known of the sizes stays as it is.

References
----------
CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/01_layout.html
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from operator import index
from typing import Any, Self

from symlayout.algebra.facts import Facts
from symlayout.errors import ShapeError, shown
from symlayout.layouts.nested import UNIT, Nest, Nested, depth, flat, profile, together
from symlayout.tensors.declaration import as_list, is_list

WHOLE = slice(None)
"""What stands for all of a mode in a coordinate, beside None and ``...``."""


class LayoutModes:
    """What is made of the modes of a layout."""

    __slots__ = ()

    @property
    @abstractmethod
    def nest(self) -> Nest:
        """The sizes and strides in the symbols of `facts`."""

    @property
    @abstractmethod
    def facts(self) -> Facts:
        """What is known of the symbols."""

    @abstractmethod
    def with_modes(self, nest: Nest, *others: Any) -> Self:
        """Return a layout of these modes, with the facts of this one and of *others*."""

    @abstractmethod
    def read(self, value: Any) -> Any:
        """Return *value* as a layout."""

    @abstractmethod
    def __call__(self, *coordinate: Any) -> Any:
        """Return the offset of a coordinate."""

    @property
    def depth(self) -> int:
        """How deep tuples are nested: 0 for one size.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,(3,4))").depth
        2
        """
        return depth(self.nest.shape)

    def flatten(self) -> Self:
        """Return the layout with all sizes in one tuple; one size stays as it is.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("((2,4),N):((3,6),1)").flatten()
        (2,4,N):(3,6,1)
        """
        nest = self.nest
        return self.with_modes(together(nest.leaves()) if isinstance(nest.shape, tuple) else nest)

    def unflatten(self, target: Any) -> Self:
        """Return the layout of the same sizes, nested as *target* is: a shape, a layout or its text.

        Raises
        ------
        ShapeError
            ``rank`` if *target* has another number of sizes.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,4,N):(3,6,1)").unflatten(((1, 1), 1))
        ((2,4),N):((3,6),1)
        """
        like = profile(self.read(target).nest.shape)
        leaves = list(self.nest.leaves())
        if (count := len(list(flat(like)))) != len(leaves):
            raise ShapeError(f"{len(leaves)} sizes are not nested as {count} are", "rank")
        return self.with_modes(_filled(like, iter(leaves)))

    def group(self, begin: int, end: int | None = None) -> Self:
        """Return the layout with the modes from *begin* up to *end*, which is left out, as one mode.

        `group_modes` is another name for it.

        Raises
        ------
        ShapeError
            ``rank`` if these are not modes of the layout.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,3,5,N)").group(0, 2)
        ((2,3),5,N):((1,2),6,30)
        """
        parts = self.nest.parts()
        begin, end = index(begin), len(parts) if end is None else index(end)
        if not 0 <= begin < end <= len(parts):
            raise ShapeError(f"there are no modes from {begin} to {end} among {len(parts)}", "rank")
        return self.with_modes(together([*parts[:begin], together(parts[begin:end]), *parts[end:]]))

    group_modes = group

    def select(self, *modes: int) -> Self:
        """Return the layout of these modes, in this order.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,3,5)").select(2, 0)
        (5,2):(6,1)
        """
        parts = self.nest.parts()
        return self.with_modes(together(parts[self._place(mode)] for mode in modes))

    def take(self, begin: int, end: int | None = None) -> Self:
        """Return the layout of the modes from *begin* up to *end*, which is left out.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,3,5)").take(1, 3)
        (3,5):(2,6)
        """
        parts = self.nest.parts()
        begin, end = index(begin), len(parts) if end is None else index(end)
        if not 0 <= begin < end <= len(parts):
            raise ShapeError(f"there are no modes from {begin} to {end} among {len(parts)}", "rank")
        return self.with_modes(together(parts[begin:end]))

    def append(self, other: Any = "1:0", rank: int | None = None) -> Self:
        """Return the layout with *other* as a further mode; with a *rank*, as many times as that takes.

        Raises
        ------
        ShapeError
            ``rank`` if the layout has more modes than *rank*.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,3)").append("N:6"), sl.layout("(2,3)").append(rank=4)
        ((2,3,N):(1,2,6), (2,3,1,1):(1,2,0,0))
        """
        more, found = self._more(other, rank)
        return self.with_modes(together([*self.nest.parts(), *more]), found)

    def prepend(self, other: Any = "1:0", rank: int | None = None) -> Self:
        """Return the layout with *other* before its modes; with a *rank*, as many times as that takes.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,3)").prepend("N:6")
        (N,2,3):(6,1,2)
        """
        more, found = self._more(other, rank)
        return self.with_modes(together([*more, *self.nest.parts()]), found)

    def _more(self, other: Any, rank: int | None) -> tuple[Sequence[Nest], Any]:
        found = self.read(other)
        missing = 1 if rank is None else index(rank) - len(self.nest.parts())
        if missing < 0:
            raise ShapeError(f"a layout of {len(self.nest.parts())} modes is not one of {rank}", "rank")
        return [found.nest] * missing, found

    def replace(self, mode: int, other: Any) -> Self:
        """Return the layout with *other* in place of a mode.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,3)").replace(1, "(N,2):(2,0)")
        (2,(N,2)):(1,(2,0))
        """
        parts, found = self.nest.parts(), self.read(other)
        parts[self._place(mode)] = found.nest
        return self.with_modes(together(parts), found)

    def _place(self, mode: int) -> int:
        count = len(self.nest.parts())
        if not -count <= index(mode) < count:
            raise IndexError(f"mode {mode} of {count}")
        return index(mode) % count

    # ------------------------------------------------------------------ at a coordinate

    def slice(self, coordinate: Any) -> Self:
        """Return the layout of the modes that a coordinate leaves open.

        Parameters
        ----------
        coordinate : number, expression, None, ``:``, or a tuple of them for each mode
            None, ``:`` and ``...`` leave a mode open, as CuTe's ``_`` does; ``...`` leaves open all modes that the
            others do not name.

        Raises
        ------
        ShapeError
            ``rank`` if the coordinate does not fit the modes.

        Examples
        --------
        >>> import symlayout as sl
        >>> a = sl.layout("((2,4),N):((1,2),8)")
        >>> a.slice((None, 3)), a[:, 3], a[(1, None), ...]
        (((2,4)):((1,2)), ((2,4)):((1,2)), (4,N):(2,8))
        """
        if is_open(coordinate):
            return self.with_modes(self.nest)
        return self.with_modes(together(_lifted(coordinate, self.nest, keep_open=True)))

    def slice_and_offset(self, coordinate: Any) -> tuple[Self, Any]:
        """Return `slice`, and the offset at which it begins: that of the coordinate with 0 where it is open.

        So ``self(c)`` is ``offset + slice(open part of c)``.

        Examples
        --------
        >>> import symlayout as sl
        >>> i = sl.dim("i")
        >>> sl.layout("(M,N):(ld,1)").slice_and_offset((i, None))
        ((N):(1), i*ld)
        """
        return self.slice(coordinate), self(_closed(coordinate, self.nest))

    def dice(self, coordinate: Any) -> Self:
        """Return the layout of the modes that a coordinate does not leave open: those that `slice` leaves out.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(2,3,N)").dice((0, None, 1))
        (2,N):(1,6)
        """
        if not is_list(coordinate):
            return self.with_modes(together([]) if is_open(coordinate) else self.nest)
        return self.with_modes(together(_lifted(coordinate, self.nest, keep_open=False)))


def is_open(e: Any) -> bool:
    """Return whether an entry of a coordinate stands for all of a mode."""
    return e is None or e is Ellipsis or (isinstance(e, slice) and e == WHOLE)


def has_open(e: Any) -> bool:
    """Return whether a coordinate leaves a mode open."""
    return any(map(has_open, as_list(e))) if is_list(e) else is_open(e)


def _fitted(coordinate: Any, nest: Nest) -> list[tuple[Any, Nest]]:
    """Return each entry of a coordinate with its mode; ``...`` stands for those that others do not name."""
    entries, parts = list(as_list(coordinate)), nest.parts()
    if (dots := [k for k, e in enumerate(entries) if e is Ellipsis]) and len(dots) == 1:
        entries[dots[0] : dots[0] + 1] = [None] * (len(parts) - len(entries) + 1)
    if not isinstance(nest.shape, tuple) or len(entries) != len(parts):
        raise ShapeError(f"coordinate {shown(coordinate)} does not fit a layout of {len(parts)} modes", "rank")
    return list(zip(entries, parts, strict=True))


def _lifted(coordinate: Any, nest: Nest, *, keep_open: bool) -> Iterator[Nest]:
    if is_list(coordinate):
        for entry, part in _fitted(coordinate, nest):
            yield from _lifted(entry, part, keep_open=keep_open)
    elif is_open(coordinate) is keep_open:
        yield nest


def _closed(coordinate: Any, nest: Nest) -> Any:
    """Return a coordinate with 0 where it is open."""
    if is_list(coordinate):
        return tuple(_closed(entry, part) for entry, part in _fitted(coordinate, nest))
    return 0 if is_open(coordinate) else coordinate


def _filled(like: Nested, leaves: Iterator[Nest]) -> Nest:
    if isinstance(like, tuple):
        return together(_filled(part, leaves) for part in like)
    return next(leaves, UNIT)
