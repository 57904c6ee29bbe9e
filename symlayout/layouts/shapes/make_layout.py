"""Layouts made of shapes and of other layouts, by CuTe's names.

References
----------
CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/01_layout.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError
from symlayout.layouts.conditions import Conditions, first_answer
from symlayout.layouts.nested import Nest, Nested, flat, together
from symlayout.layouts.operations import ordered
from symlayout.layouts.shapes import basis
from symlayout.layouts.strided_layout import Layout, layout
from symlayout.tensors.declaration import as_list, is_list


def make_layout(*parts: Any) -> Layout:
    """Return a layout of a shape and its strides, or of several layouts, each of which becomes a mode.

    Parameters
    ----------
    *parts
        A shape, and strides if they are not compact, as for `symlayout.layout`; or layouts, or one list of them.  A
        text with a colon is a layout.  Strides may be the words ``"LayoutLeft"``, of a compact layout with the first
        size fastest, and ``"LayoutRight"``, with the last size fastest.

    Raises
    ------
    TypeError
        There is nothing to make a layout of, or more than a shape and strides.
    ShapeError, FormatError
        As for `symlayout.layout`.

    References
    ----------
    CuTe, layout.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/layout.hpp

    Examples
    --------
    >>> make_layout("(M,N)"), make_layout("(M,N)", "(ld,1)"), make_layout((2, (3, 4)), "LayoutRight")
    ((M,N):(1,M), (M,N):(ld,1), (2,(3,4)):(12,(4,1)))
    >>> make_layout("(2,4):(1,2)", "N:8")
    ((2,4),N):((1,2),8)
    """
    if len(parts) == 1 and is_list(parts[0]) and any(map(_is_layout, as_list(parts[0]))):
        parts = tuple(as_list(parts[0]))
    if parts and all(map(_is_layout, parts)):
        return _joined([layout(part) if isinstance(part, str) else part for part in parts])
    if not 1 <= len(parts) <= 2:
        raise TypeError(f"make_layout takes a shape and strides, or layouts, and not {len(parts)} values")
    shape, stride = (*parts, None)[:2]
    if isinstance(stride, str) and stride == "LayoutRight":
        left = layout(shape)
        leaves = iter(_compact_right(list(flat(left.nest.shape)), left.facts))
        return left.with_modes(Nest(left.nest.shape, _nested(left.nest.shape, leaves)))
    return read_layout(shape, None if isinstance(stride, str) and stride == "LayoutLeft" else stride)


def make_ordered_layout(shape: Any, order: Any) -> Layout:
    """Return the compact layout whose sizes follow each other in this order: the one of the least number is fastest.

    Parameters
    ----------
    shape : int, dim, expression, nested tuple of them, or text
        The sizes.
    order : int, or nested tuple of them
        A number for each size, or for a whole mode, whose first size is the fastest then.  Of equal numbers, the first
        one comes first.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if the order is not nested as the shape is, or less deeply; ``attr_dtype`` if an entry is no
        integer.

    References
    ----------
    CuTe, layout.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/layout.hpp

    Examples
    --------
    >>> make_ordered_layout((2, 3, 4, 5), (2, 67, 42, 50)), make_ordered_layout("(M,N,K)", (1, 0, 2))
    ((2,3,4,5):(1,40,2,8), (M,N,K):(N,1,M*N))
    """
    own = layout(shape)
    return own.with_modes(ordered(own.nest.shape, order, own.facts))


def make_identity_layout(shape: Any) -> Layout:
    """Return the layout whose value at a coordinate is this coordinate; its strides are multiples of `symlayout.E`.

    Parameters
    ----------
    shape : int, dim, expression, nested tuple of them, or text
        The sizes.

    Raises
    ------
    ShapeError, FormatError
        As for `symlayout.layout`.

    References
    ----------
    CuTe, layout.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/layout.hpp

    Examples
    --------
    >>> a = make_identity_layout("(M,(4,N))")
    >>> a, a(5, (1, 2))
    ((M,(4,N)):(1@0,(1@0@1,1@1@1)), (5, (1, 2)))
    >>> tiles = make_identity_layout("(M,N)").zipped_divide((64, 32))
    >>> tiles, tiles((3, 5), (1, 2))
    (((64,32),((M + 63)//64,(N + 31)//32)):((1@0,1@1),(64@0,32@1)), (67, 69))
    """
    own = layout(shape)
    return own.with_modes(Nest(own.nest.shape, _steps(own.nest.shape, ())))


def make_layout_like(like: Any) -> Layout:
    """Return the compact layout of the same shape whose sizes are in the order of the strides; strides 0 stay.

    Where the order depends on dims, the result is right for its ``requires``.

    Parameters
    ----------
    like : Layout, or text
        The layout.

    Raises
    ------
    ShapeError
        ``infeasible`` for a negative stride.

    References
    ----------
    CuTe, layout.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/layout.hpp

    Examples
    --------
    >>> make_layout_like("(2,3,4,5):(0,42,1,0)"), make_layout_like("(M,N):(2*N,2)")
    ((2,3,4,5):(0,4,1,0), (M,N):(N,1))
    """
    own = like if isinstance(like, Layout) else layout(like)
    facts, nest = first_answer(own.facts, lambda c: _like(own.nest, c))
    return Layout(*nest.reduced(facts), facts)


def read_layout(shape: Any, stride: Any = None) -> Layout:
    """Return a layout of sizes and strides, each of them as text or not; of a layout, its shape."""
    sizes = shape.shape if isinstance(shape, Layout) else shape
    if isinstance(sizes, str) and isinstance(stride, str):
        return layout(f"{sizes}:{stride}")
    if isinstance(sizes, str) and stride is not None:
        sizes = layout(sizes).shape
    return layout(sizes, stride)


def _is_layout(e: Any) -> bool:
    return isinstance(e, Layout) or (isinstance(e, str) and ":" in e)


def _joined(parts: Sequence[Layout]) -> Layout:
    facts = Facts()
    for part in parts:
        facts.merge(part.facts)
    return Layout(*together(part.nest for part in parts).reduced(facts), facts)


def _compact_right(sizes: Sequence[Extent], facts: Facts) -> list[Extent]:
    """Return the strides of a compact layout, the last size fastest."""
    return [facts.reduce(product(sizes[k + 1 :])) for k in range(len(sizes))]


def _nested(like: Nested, leaves: Iterator[Extent]) -> Nested:
    return tuple(_nested(part, leaves) for part in like) if isinstance(like, tuple) else next(leaves)


def _steps(shape: Nested, path: basis.Path) -> Nested:
    if isinstance(shape, tuple):
        return tuple(_steps(part, (*path, k)) for k, part in enumerate(shape))
    return basis.element(path) if path else 1


def _like(nest: Nest, c: Conditions) -> Nest:
    nest = nest.reduced(c.facts)
    sizes, strides = list(flat(nest.shape)), list(flat(nest.stride))
    moving = [k for k, d in enumerate(strides) if _moves(d, c)]
    found: list[Extent] = [0] * len(sizes)
    step: Extent = 1
    while moving:
        least = moving[0]
        for other in moving[1:]:
            if not _comes_first(strides[least], strides[other], c):
                least = other
        moving.remove(least)
        found[least], step = step, c.facts.reduce(step * sizes[least])
    return Nest(nest.shape, _nested(nest.shape, iter(found)))


def _moves(stride: Extent, c: Conditions) -> bool:
    if c.at_least(stride - 1):
        return True
    if not c.zero(stride):
        raise ShapeError(f"the stride {c.facts.spell(stride)} may be negative", "infeasible")
    return False


def _comes_first(stride: Extent, other: Extent, c: Conditions) -> bool:
    """Return whether a stride is at most the other one; where both are possible, a number is taken for the lesser."""
    if isinstance(other, int) and not isinstance(stride, int):
        return not c.at_least(stride - other - 1)
    return c.at_least(other - stride)
