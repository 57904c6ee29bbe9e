"""Find where the elements of a chain come from: evaluate its coordinates on a grid, from the output to the leaves.

This module knows no operation by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from symlayout.deadlines import work
from symlayout.errors import ArrayError, InconclusiveError, ShapeError
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import fill_element, new_array

IntArray = np.ndarray[Any, np.dtype[np.int64]]
_INDICES = 64  # NumPy takes fewer
READ_PER_GOAL = 1000
"""Elements that are read through one operation, which takes as long as one goal."""
_STEPS = 5  # operations that a part goes through, but for those that others share
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Gather:
    """A part of the output: at the coordinates in *mask*, the elements at *coords* of leaf *key*, or *fill*."""

    mask: BoolArray
    key: str | None
    coords: tuple[IntArray, ...]
    fill: Any = None


def gathered(
    t: Tensor,
    sources: Mapping[str, np.ndarray[Any, Any]],
    dtype: np.dtype[Any],
    grid: Sequence[IntArray] | None = None,
    shape: tuple[int, ...] | None = None,
    parts: Iterable[Gather] | None = None,
) -> np.ndarray[Any, Any]:
    """Return the elements of *t*, moved from the arrays of its leaves; *sources* maps keys to arrays.

    The extents of *t* are ints.  *grid* restricts the output to some coordinates (see `gathers`), of this *shape*.
    *parts* are what `gathers` yields, where that is known.
    """
    result = new_array(int_extents(t) if shape is None else shape, dtype)
    if not result.size:
        return result
    for part in gathers(t, grid) if parts is None else parts:
        if part.key is None:
            np.copyto(result, fill_element(part.fill, dtype), where=part.mask)
        else:
            np.copyto(result, _elements(sources[part.key], _inside(part, sources[part.key].shape)), where=part.mask)
    return result


def numbers_read(t: Tensor) -> IntArray:
    """Return for each element of *t* the row-major number of the element that it reads of the only leaf; -1 for a fill.

    The extents of *t* and of the leaf are ints.  Each part of the map counts as goals.

    Examples
    --------
    >>> import symlayout as sl
    >>> numbers_read(sl.pad(sl.flip(sl.tensor((3,)), 0), [(1, 0)], constant_values=0.5)).tolist()
    [-1, 2, 1, 0]
    """
    (leaf,) = t.leaves()
    shape = int_extents(leaf)
    elements = np.arange(prod(shape)).reshape(shape)
    numbers = np.full(int_extents(t), -1)
    for part in gathers(t) if numbers.size else ():  # each takes arrays of the size of all
        work(1 + _STEPS * numbers.size // READ_PER_GOAL)
        if part.key is not None:
            np.copyto(numbers, elements[_inside(part, shape)], where=part.mask)
    return numbers


def gathers(t: Tensor, grid: Sequence[IntArray] | None = None) -> Iterator[Gather]:
    """Yield disjoint parts that cover the output of *t*.  The output is not empty, and its extents are ints.

    Parts that read a leaf come in the order of the normal form: by the cases of the last operation first.  *grid*
    restricts them to some coordinates; it has one array per axis, and each array has the rank of the output.
    """
    if grid is None:
        grid = np.indices(int_extents(t), dtype=np.int64, sparse=True)
    whole = np.ones((1,) * t.rank, dtype=np.bool_)
    todo: list[tuple[Tensor, list[Any], BoolArray]] = [(t, list(grid), whole)]
    while todo:
        node, coords, mask = todo.pop()
        if node.declared is None:
            yield Gather(mask, node.key, tuple(coords))
            continue
        for case in reversed(node.declared.cases):  # a stack: the last case pushed is visited next
            part = mask
            if case.where is not None:
                for value, extent in case.where(*coords):
                    part = part & np.asarray((value >= 0) & (value < extent))
            source = node.inputs[case.source]
            read = [
                np.asarray(c, dtype=np.int64).reshape((1,) * (t.rank - np.ndim(c)) + np.shape(c))
                for c in case.coords(*coords)
            ]
            inside = part
            for axis, extent in enumerate(int_extents(source)):
                within = (read[axis] >= 0) & (read[axis] < extent)
                inside = inside & within
                if extent == 1 and within.all():  # the only coordinate is 0
                    read[axis] = np.zeros((1,) * t.rank, np.int64)
            if inside.all():
                inside = whole
            if case.fill is not None:
                yield Gather(part & ~inside, None, (), case.fill.value)
            elif bool((part & ~inside).any()):
                raise InconclusiveError(f"{node.name} reads inside its input: some coordinate is outside")
            if inside.any():  # without a coordinate inside, extents may be 0
                todo.append((source, read, inside))


def constant_type(declared: np.dtype[Any] | None) -> np.dtype[Any]:
    """Return the dtype of a tensor that reads no array; `ArrayError` if it declares none."""
    if declared is None:
        raise ArrayError("the constants have no element type\n  help: pass dtype= to full()")
    return declared


def _elements(source: np.ndarray[Any, Any], coords: tuple[IntArray, ...]) -> np.ndarray[Any, Any]:
    """Return the elements at coordinates, of arrays too that have more axes than NumPy takes indices."""
    if len(coords) < _INDICES:
        return np.asarray(source[coords])
    linear: Any = 0
    for c, n in zip(coords, source.shape, strict=True):
        linear = linear * n + c
    return np.asarray(source.reshape(-1)[linear])


def int_extents(t: Tensor) -> tuple[int, ...]:
    """Return the extents of a tensor whose dims are all bound.

    Raises
    ------
    ShapeError
        ``unbound_dim`` if one is not.
    """
    for e in t.extents:
        if not isinstance(e, int):
            raise ShapeError(f"the extent {e} of {t.name} has no value", "unbound_dim")
    return tuple(e for e in t.extents if isinstance(e, int))


def _inside(part: Gather, shape: tuple[int, ...]) -> tuple[IntArray, ...]:
    """Return the coordinates; those that the mask excludes are moved inside the source."""
    return tuple(np.clip(c, 0, n - 1) for c, n in zip(part.coords, shape, strict=True))
