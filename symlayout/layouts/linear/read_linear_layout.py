"""Read linear layouts: from bases, and from layouts of sizes and strides under a swizzle."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from symlayout.errors import FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.layouts.linear.linear_layout import Basis, LinearLayout
from symlayout.layouts.nested import flat
from symlayout.layouts.strided_layout import Layout, layout
from symlayout.layouts.swizzle import ComposedLayout, ComposedMap, Swizzle, under_one_swizzle
from symlayout.layouts.swizzle import as_tensors as layouts_as_tensors
from symlayout.tensors.declaration import as_list, is_list
from symlayout.tensors.input_tensor import tensor


def linear_layout(bases: Any, outs: Any = None, *, ins: Sequence[str] | None = None) -> LinearLayout:
    """Return a linear layout, from its bases, or from a layout, a swizzle, or their text.

    Parameters
    ----------
    bases : mapping, Layout, ComposedLayout, Swizzle or str
        For each in dim the values at 1, 2, 4, ...: an int, or a tuple with an int for each out dim.  A layout has sizes
        that are powers of two, an in dim for each mode, and one out dim; of coordinates, one for each of them.
    outs : str, sequence of str, or mapping of str to int, optional
        The out dims, or their sizes; a size that is not given is the least power of two above all bases.  By default
        ``dim0``, ``dim1``, ...; ``offset`` for the offsets of a layout.
    ins : sequence of str, optional
        The in dims of a layout; by default ``i0``, ``i1``, ...

    Raises
    ------
    ShapeError
        ``no_layout`` if a layout is not linear over bits: a size is a dim or no power of two, a sum has a carry, or
        there is an offset before the swizzle.  ``infeasible`` or ``length_mismatch`` if the bases do not fit the out
        dims.
    FormatError
        The bases are none.

    References
    ----------
    Triton: https://github.com/triton-lang/triton/blob/main/include/triton/Tools/LinearLayout.h

    Examples
    --------
    >>> linear_layout({"lane": [(0, 1), (1, 1)]}, ["row", "column"])
    linear_layout({'lane': [[0, 1], [1, 1]]}, {'row': 2, 'column': 2})
    >>> linear_layout("S<1,0,2> o 0 o (4,2):(1,4)", ins=("row", "column"))
    linear_layout({'row': [1, 2], 'column': [5]}, {'offset': 8})
    """
    if not isinstance(bases, Mapping):
        return _of_layout(bases, outs, ins)
    if ins is not None:
        raise FormatError("in dims are named by the bases")
    vectors = {str(name): [_vector(value) for value in _items(values)] for name, values in bases.items()}
    if outs is None:
        width = next((len(v) for e in vectors.values() for v in e), 1)
        outs = [f"dim{k}" for k in range(width)]
    outs = [outs] if isinstance(outs, str) else outs
    if isinstance(outs, Mapping):
        sizes = {str(name): _integer(size) for name, size in outs.items()}
    else:
        every = [v for e in vectors.values() for v in e]
        sizes = {
            str(name): 1 << max((v[k] for v in every if k < len(v)), default=0).bit_length()
            for k, name in enumerate(outs)
        }
        if len(sizes) != len(outs):
            raise FormatError(f"{shown(outs)} are not different names")
    return LinearLayout(vectors, sizes)


def _vector(value: Any) -> Basis:
    return tuple(map(_integer, as_list(value)))


def _items(values: Any) -> list[Any]:
    if not is_list(values):
        raise FormatError(f"{shown(values)} is no list of bases")
    return as_list(values)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise FormatError(f"{shown(value)} is not an integer")
    return int(value.__index__())


def _of_layout(value: Any, outs: Any, ins: Sequence[str] | None) -> LinearLayout:
    found = under_one_swizzle(value.composition(layout((value.size,))) if isinstance(value, Swizzle) else value)
    if isinstance(found, ComposedLayout) and found.offset != 0:
        raise ShapeError(f"{found} has an offset before the swizzle, so that 0 is not at 0", "no_layout")
    swizzle, inner = (found.swizzle, found.layout) if isinstance(found, ComposedLayout) else (Swizzle(0, 0, 0), found)
    if inner.is_based and swizzle.bits:
        raise ShapeError(f"{found} is a swizzle of coordinates", "no_layout")
    names = [f"i{k}" for k in range(inner.rank)] if ins is None else list(ins)
    if len(names) != inner.rank or len(set(names)) != inner.rank:
        raise ShapeError(f"{shown(names)} are not {inner.rank} different names, one for each mode", "rank")
    bases = {name: [_value(inner, k, 1 << t) for t in range(_bits(inner, k))] for k, name in enumerate(names)}
    for values in zip(*itertools.chain(*bases.values()), strict=True):
        if sum(values) != functools.reduce(operator.or_, values):
            raise ShapeError(f"{inner} is not linear over bits: sums of its strides have carries", "no_layout")
    if outs is None:
        outs = [f"dim{k}" for k in range(len(_value(inner, 0, 0)))] if inner.is_based else "offset"
    return linear_layout({name: [tuple(map(swizzle, v)) for v in vectors] for name, vectors in bases.items()}, outs)


def _bits(inner: Layout, mode: int) -> int:
    """Return the number of bits of the sizes in one mode at the top."""
    bits = 0
    for size, _ in inner.nest.parts()[mode].modes():
        if not isinstance(size, int) or size & (size - 1):
            raise ShapeError(f"a size of {inner} is no power of two", "no_layout")
        bits += size.bit_length() - 1
    return bits


def _value(inner: Layout, mode: int, c: int) -> Basis:
    """Return the offset, or the coordinate, at the number *c* of one mode, with 0 for the others."""
    found = list(flat(inner(*(c if k == mode else 0 for k in range(inner.rank)))))
    values = tuple(value for value in found if isinstance(value, int) and value >= 0)
    if len(values) != len(found):
        raise ShapeError(f"a stride of {inner} is not a number that is at least 0", "no_layout")
    return values


def as_tensors(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two layouts of any kind as tensors that read one memory; return anything else as it is."""
    sides = (left, right)
    if not any(isinstance(e, LinearLayout) for e in sides):
        return layouts_as_tensors(left, right)
    if not all(isinstance(e, (Layout, ComposedMap, LinearLayout)) for e in sides):
        return left, right
    ranks = {len(e.out_dims) if isinstance(e, LinearLayout) else 1 for e in sides}
    if len(ranks) != 1:
        raise ShapeError(f"{left} and {right} do not have as many values", "rank")
    names = ("memory",) if ranks == {1} else tuple(f"memory{k}" for k in range(*ranks))
    memory = tensor(tuple(map(sympy_bridge.dim, names)), name="memory")
    return left.view(memory), right.view(memory)
