"""Coordinates of shapes, by CuTe's names: numbers of coordinates, and coordinates of numbers.

The first size of a shape is the fastest.  A number beyond the size counts on in the last digit, as in CuTe.

References
----------
CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/01_layout.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.layouts.modes import digits
from symlayout.layouts.nested import Nested, flat
from symlayout.layouts.shapes.make_layout import read_layout
from symlayout.layouts.strided_layout import Layout
from symlayout.tensors.declaration import as_list, is_list


def crd2idx(crd: Any, shape: Any, stride: Any = None) -> Any:
    """Return the number of a coordinate of a shape, or its offset if there are strides.

    Parameters
    ----------
    crd : number, expression, None, or nested tuple of them
        A number is one already; it may stand for a nested mode, too.  None is 0.
    shape : int, dim, expression, nested tuple of them, text, or Layout
        The sizes; of a layout, its strides count.
    stride : int, dim, expression, or nested tuple of them, optional
        The step of each size.  By default the first size is the fastest.

    Raises
    ------
    ShapeError
        ``rank`` if the coordinate does not fit the shape.

    References
    ----------
    CuTe, stride.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/stride.hpp

    Examples
    --------
    >>> import symlayout as sl
    >>> i, j = sl.dims("i j")
    >>> crd2idx((i, j), "(M,N)"), crd2idx((1, (1, 2)), (3, (2, 4))), crd2idx((i, j), "(M,N)", "(ld,1)")
    (M*j + i, 16, i*ld + j)
    """
    found = shape if isinstance(shape, Layout) and stride is None else read_layout(shape, stride)
    return found(_without_none(crd))


def idx2crd(idx: Any, shape: Any) -> Any:
    """Return the coordinate with this number, as ``crd2idx(idx2crd(i, shape), shape) == i``.

    Parameters
    ----------
    idx : number, expression, or nested tuple of them
        The number; of a tuple, each is split by its own mode.
    shape : int, dim, expression, nested tuple of them, text, or Layout
        The sizes.

    Returns
    -------
    int, expression, or nested tuple of them
        A number for each size.

    Raises
    ------
    ShapeError
        ``rank`` if *idx* does not fit the shape.

    References
    ----------
    CuTe, stride.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/stride.hpp

    Examples
    --------
    >>> import symlayout as sl
    >>> idx2crd(16, (3, (2, 4))), idx2crd(sl.dim("k"), "(M,N)")
    ((1, (1, 2)), (Mod(k, M), floor(k/M)))
    """
    own = read_layout(shape)
    facts = own.facts.fork()
    return _written(_split(idx, own.nest.reduced(facts).shape, facts), facts)


def crd2crd(crd: Any, dst_shape: Any, src_shape: Any = None) -> Any:
    """Return the coordinate of another shape that has the same number.

    Of a tuple for modes of both shapes, each entry has the number of its own mode.

    Parameters
    ----------
    crd : number, expression, or nested tuple of them
        The coordinate; a number is one already.
    dst_shape : int, dim, expression, nested tuple of them, text, or Layout
        The shape of the result.
    src_shape : int, dim, expression, nested tuple of them, text, or Layout, optional
        The shape of *crd*; needed where a tuple becomes a number.

    Raises
    ------
    ShapeError
        ``rank`` if a coordinate does not fit its shape, or *src_shape* is missing.

    References
    ----------
    pycute, int_tuple.py: https://github.com/NVIDIA/cutlass/tree/main/python/pycute

    Examples
    --------
    >>> crd2crd(5, (2, 4)), crd2crd((1, 2), 8, (2, 4)), crd2crd(((0, 1), 0), (6, 2), ((2, 3), 2))
    ((1, 2), 5, (2, 0))
    """
    target = read_layout(dst_shape).shape
    source = None if src_shape is None else read_layout(src_shape).shape
    return _carried(crd, target, source)


def _carried(crd: Any, target: Any, source: Any) -> Any:
    if not is_list(crd):
        return idx2crd(crd, target)
    entries = as_list(crd)
    sides = [target] if source is None else [target, source]
    if all(isinstance(e, tuple) and len(e) == len(entries) for e in sides):
        sources = [None] * len(entries) if source is None else source
        return tuple(_carried(*each) for each in zip(entries, target, sources, strict=True))
    if source is None:
        raise ShapeError(f"coordinate {shown(crd)} does not fit {shown(target)}, and no other shape is given", "rank")
    return idx2crd(crd2idx(crd, source), target)


def _without_none(crd: Any) -> Any:
    if is_list(crd):
        return tuple(map(_without_none, as_list(crd)))
    return 0 if crd is None else crd


def _split(idx: Any, shape: Nested, facts: Facts) -> Nested:
    if is_list(idx):
        entries = as_list(idx)
        if not isinstance(shape, tuple) or len(entries) != len(shape):
            raise ShapeError(f"coordinate {shown(idx)} does not fit the shape", "rank")
        return tuple(_split(e, part, facts) for e, part in zip(entries, shape, strict=True))
    number = sympy_bridge.to_extent(idx, facts, "coordinate")
    return _filled(shape, iter(digits(list(flat(shape)), number, facts)))


def _filled(shape: Nested, found: Iterator[Extent]) -> Nested:
    return tuple(_filled(part, found) for part in shape) if isinstance(shape, tuple) else next(found)


def _written(e: Nested, facts: Facts) -> Any:
    return tuple(_written(part, facts) for part in e) if isinstance(e, tuple) else sympy_bridge.to_sympy(e, facts)
