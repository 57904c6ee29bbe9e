"""Gathers: an operand is read at coordinates that another operand has.

An index that is a constant is a slice, or several of them, where they are few.  Any other index is read at run time:
the body sees the whole of the axes that it selects from, and one element of the operand elsewhere.

`Boxes` are general reads and writes, as StableHLO has them: an index has coordinates along one of its axes, which say
where a box of the data begins.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.errors import ShapeError
from symlayout.ops.concatenate import concatenate
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import Computed, View, computation
from symlayout.tensors.declaration import Body, Operand, Places

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]
MOST_SLICES = 8
"""How many slices a constant index may be; one of more is read like an index that is computed."""


def placed(index: Array, extent: int) -> Array:
    """Return places on an axis of this extent, of which those below 0 count from the end.

    Raises
    ------
    IndexError
        The axis has no such place.

    Examples
    --------
    >>> placed(np.array([0, -1]), 4).tolist()
    [0, 3]
    """
    spots = np.where(index < 0, index.astype(np.int64) + extent, index.astype(np.int64))
    if ((spots < 0) | (spots >= extent)).any():
        raise IndexError(f"an index is out of range for extent {extent}")
    return spots


def selected(data: Array, index: Array, axes: tuple[int, ...]) -> Array:
    """Return the element at the index; the axes of *data* that are read come last, and *index* has one for each.

    An index below 0 counts from the end.
    """
    count = len(axes)
    sizes = data.shape[data.ndim - count :]
    index = index.astype(np.int64).reshape(*index.shape[: data.ndim - count], count)
    spots = [placed(index[..., k], n) for k, n in enumerate(sizes)]
    batch = np.broadcast_shapes(data.shape[: data.ndim - count], index.shape[:-1])
    grid = np.ogrid[tuple(slice(n) for n in batch)] if batch else []
    own = [g if n != 1 else np.zeros_like(g) for g, n in zip(grid, data.shape, strict=False)]
    return np.asarray(data[(*own, *spots)])


_SELECTED = Body("selected", selected, over=True, places=(Places(1),))


@computation
def gather_runtime(x: Operand, axis: int, batch: int = 0) -> Computed:
    """Return slices of the first tensor along *axis*, in the order of the second; both have the first *batch* axes."""
    shape, index = x.shapes
    for k, (n, m) in enumerate(zip(shape[:batch], index, strict=False)):
        x.require_equal(n, m, "size_mismatch", "axis {} has extents {} and {}", k, n, m)
    before, n, after = shape[:axis], shape[axis], shape[axis + 1 :]
    stop = axis + len(index) - batch

    def data(*o: Any) -> list[Any]:
        return [*o[:axis], o[-1], *o[stop:-1]]

    views = (View(data, (n,)), View(lambda *o: [*o[:batch], *o[axis:stop]], (), 1))
    return Computed((*before, *index[batch:], *after), views, _SELECTED)


@computation
def gather_elements(x: Operand, axis: int) -> Computed:
    """Return the element at the coordinate of each index, where the index replaces the coordinate on *axis*."""
    shape, index = x.shapes
    if len(shape) != len(index):
        raise ShapeError(f"{x.where}: the index has rank {len(index)}, not {len(shape)}", "rank")
    for k, (n, m) in enumerate(zip(shape, index, strict=True)):
        if k != axis:
            x.require(n - m, "size_mismatch", "axis {}: the index has extent {}, the tensor {}", k, m, n)

    def data(*o: Any) -> list[Any]:
        return [*o[:axis], o[-1], *o[axis + 1 : -1]]

    return Computed(index, (View(data, (shape[axis],)), View(lambda *o: list(o), (), 1)), _SELECTED)


@computation
def gather_nd(x: Operand, batch_dims: int) -> Computed:
    """Return the slices of the first tensor at the coordinates in the last axis of the second."""
    shape, index = x.shapes
    count = index[-1] if index else 0
    if not isinstance(count, int):
        raise ShapeError(f"{x.where}: the last extent of the index, {x.spell(count)}, is not known", "unknown_rank")
    if not index or batch_dims + count > len(shape) or batch_dims >= len(index):
        raise ShapeError(f"{x.where}: an index of {count} coordinates for rank {len(shape)}", "rank")
    for k in range(batch_dims):
        x.require_equal(shape[k], index[k], "size_mismatch", "axis {} has extents {} and {}", k, shape[k], index[k])
    outer, rest = index[:-1], shape[batch_dims + count :]
    stop = len(outer) + len(rest)

    def data(*o: Any) -> list[Any]:
        return [*o[:batch_dims], *o[stop:], *o[len(outer) : stop]]

    spots = View(lambda *o: [*o[: len(outer)], o[-1]], (count,), 1)
    if count == 1:  # a place on one axis is a number, as in other gathers
        spots = View(lambda *o: [*o[: len(outer)], 0], (), 1)
    return Computed((*outer, *rest), (View(data, shape[batch_dims : batch_dims + count]), spots), _SELECTED)


def take(x: Tensor, index: Array, axis: int) -> Tensor | None:
    """Return slices of *x* along *axis* in the order of a constant index, as movement; None if that is too many.

    >>> import symlayout as sl
    >>> take(sl.tensor("N, C", name="x"), np.array([[0, 2], [4, 6]]), 0).shape
    (2, 2, C)
    """
    before = (slice(None),) * axis
    if index.ndim == 0:
        return getitem(x, (*before, index[()].item() if index.dtype.kind in "iu" else index[()]))
    n = x.shape[axis]
    values = index.reshape(-1).tolist()
    if not values or index.dtype.kind not in "iu":
        return None
    if isinstance(n, int):
        if any(not -n <= v < n for v in values):
            raise ShapeError(f"an index of {values[:9]} is out of range for extent {n}", "bad_axis")
        values = [v % n for v in values]
    runs = _runs(values)
    if len(runs) > MOST_SLICES or not all((first < 0) == (last < 0) for first, last, _ in runs):
        return None
    parts = [_run(x, before, *run) for run in runs]
    made = parts[0] if len(parts) == 1 else concatenate(parts, axis)
    return made if index.ndim == 1 else reshape(made, (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _run(x: Tensor, before: Sequence[slice], first: int, last: int, step: int) -> Tensor:
    """Return the part of *x* at an arithmetic progression of indices, which are required to be in range."""
    n = x.shape[len(before)]
    start, stop = (n + e if e < 0 else e for e in (first, last))
    return getitem(x, (*before, slice(start, stop + (1 if step > 0 else -1), step)), bounds="exact")


def _runs(values: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return indices as arithmetic progressions ``(first, last, step)``, each as long as it can be."""
    runs: list[tuple[int, int, int]] = []
    k = 0
    while k < len(values):
        step = values[k + 1] - values[k] if k + 1 < len(values) else 1
        stop = k + 1
        while step and stop < len(values) and values[stop] - values[stop - 1] == step:
            stop += 1
        runs.append((values[k], values[stop - 1], step if stop > k + 1 else 1))
        k = stop
    return runs


# ---------------------------------------------------------------------- boxes


@dataclass(frozen=True, slots=True)
class Boxes:
    """How boxes lie, by the names of StableHLO's ``gather``.

    Attributes
    ----------
    offset : tuple of int
        The axes of the result that a box has.
    collapsed : tuple of int
        Axes of the data, of extent 1 in a box, that the result does not have.
    batch, index_batch : tuple of int
        Axes of the data, and the axes of the index, that are one.
    starts : tuple of int
        The axis of the data that each coordinate is of.
    coordinates : int
        The axis of the index that has the coordinates; its rank if each place has one.
    """

    offset: tuple[int, ...]
    collapsed: tuple[int, ...]
    batch: tuple[int, ...]
    index_batch: tuple[int, ...]
    starts: tuple[int, ...]
    coordinates: int

    def places(self, index: Array) -> Iterator[tuple[tuple[int, ...], dict[int, int]]]:
        """Yield the coordinate of each box among the boxes, and where it begins along axes of the data."""
        shape = [n for k, n in enumerate(index.shape) if k != self.coordinates]
        listed = index[..., None] if self.coordinates == index.ndim else np.moveaxis(index, self.coordinates, -1)
        own = [k - (k > self.coordinates) for k in self.index_batch]
        for at in itertools.product(*map(range, shape)):
            begins = dict(zip(self.starts, listed[at].tolist(), strict=True))
            yield at, begins | {axis: at[k] for axis, k in zip(self.batch, own, strict=True)}

    def kept(self, rank: int) -> list[int]:
        """Return the axes of the data that a box has in the result."""
        return [k for k in range(rank) if k not in self.collapsed and k not in self.batch]

    def selection(self, at: Sequence[int], rank: int) -> tuple[Any, ...]:
        """Return the index of a box in a result of this rank."""
        rest = iter(at)
        return tuple(slice(None) if k in self.offset else next(rest) for k in range(rank))


def read_boxes(data: Array, index: Array, axes: Axes, boxes: Boxes, sizes: tuple[int, ...]) -> Array:
    """Return boxes of these *sizes*; one that begins outside, or too late, is moved into the data."""
    outer = [n for k, n in enumerate(index.shape) if k != boxes.coordinates]
    kept = boxes.kept(data.ndim)
    rest, inner = iter(outer), iter([sizes[k] for k in kept])
    rank = len(outer) + len(kept)
    made = np.zeros([next(inner) if k in boxes.offset else next(rest) for k in range(rank)], data.dtype)
    for at, begins in boxes.places(index):
        cuts = []
        for k, (n, size) in enumerate(zip(data.shape, sizes, strict=True)):
            begin = min(max(begins.get(k, 0), 0), n - size)
            cuts.append(slice(begin, begin + size) if k in kept else begin)
        made[boxes.selection(at, rank)] = data[tuple(cuts)]
    return made


JOINS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and,
    "or": np.bitwise_or, "subtract": np.subtract,
    "second": lambda old, new: new,
}  # fmt: skip
"""What becomes of an element and of what is written over it, by StableHLO's names."""


def written_boxes(data: Array, index: Array, updates: Array, axes: Axes, boxes: Boxes, join: str) -> Array:
    """Return *data* with boxes written one after the other; elements of a box that lie outside are left out."""
    made = data.copy()
    kept = boxes.kept(data.ndim)
    for at, begins in boxes.places(index):
        box = updates[boxes.selection(at, updates.ndim)]
        spots: list[Any] = []
        own: list[slice] = []
        for k, n in enumerate(data.shape):
            begin = begins.get(k, 0)
            if k not in kept:
                spots.append(begin if 0 <= begin < n else None)
                continue
            size = box.shape[len(own)]
            first, last = min(max(begin, 0), n), max(min(begin + size, n), 0)
            spots.append(slice(first, max(first, last)))
            own.append(slice(first - begin, max(first, last) - begin))
        if None not in spots and all(cut.stop > cut.start for cut in own):
            where = tuple(spots)
            made[where] = JOINS[join](made[where], box[tuple(own)])
    return made


def box_at(data: Array, *starts: Array, axes: Axes, sizes: tuple[int, ...]) -> Array:
    """Return the box of these *sizes* from the starts on, each moved so that the box lies in the data."""
    cuts = []
    for n, size, start in zip(data.shape, sizes, starts, strict=True):
        begin = min(max(int(start.reshape(())), 0), n - size)
        cuts.append(slice(begin, begin + size))
    return data[tuple(cuts)].copy()


def with_box_at(data: Array, update: Array, *starts: Array, axes: Axes) -> Array:
    """Return *data* with *update* over its elements from the starts on, each moved so that it lies in the data."""
    made = data.copy()
    cuts = []
    for n, size, start in zip(data.shape, update.shape, starts, strict=True):
        begin = min(max(int(start.reshape(())), 0), n - size)
        cuts.append(slice(begin, begin + size))
    made[tuple(cuts)] = update
    return made
