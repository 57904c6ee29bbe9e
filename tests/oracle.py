"""The core operations by brute force, from their meaning and not from any index map.

Nothing of symlayout is imported.  A grid is a shape and the bytes of each element under its coordinate;
an operation visits the elements one by one.  The block operations push: each element of the input is sent
to where the specification says that it goes, so that they share no formula with declarations, which pull.

Block digits are counted by `itertools.product` over the blocks, in row-major order, as the specs do in words.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Coord = tuple[int, ...]
Pairs = Sequence[Sequence[int]]
Step = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Grid:
    """A shape, and the bytes of the element at each coordinate; `zero` is an element of zero bits."""

    shape: Coord
    cells: Mapping[Coord, bytes]
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        assert set(self.cells) == set(box(self.shape)), f"the cells do not cover the shape {self.shape}"

    @property
    def zero(self) -> bytes:
        return bytes(self.dtype.itemsize)

    def with_cells(self, shape: Iterable[int], cells: Mapping[Coord, bytes]) -> Grid:
        return Grid(tuple(shape), cells, self.dtype)

    def data(self) -> bytes:
        """Return the elements in row-major order."""
        return b"".join(self.cells[c] for c in box(self.shape))


def box(shape: Sequence[int]) -> Iterable[Coord]:
    """Return the coordinates of *shape* in row-major order."""
    return itertools.product(*map(range, shape))


def grid(array: np.ndarray[Any, Any]) -> Grid:
    """Return the elements of *array*, whatever its strides."""
    data, size = array.tobytes(), array.dtype.itemsize
    cells = {c: data[k * size : (k + 1) * size] for k, c in enumerate(box(array.shape))}
    return Grid(array.shape, cells, array.dtype)


def transpose(x: Grid, axes: Sequence[int] | None = None) -> Grid:
    order = list(axes) if axes is not None else list(range(len(x.shape)))[::-1]
    return x.with_cells((x.shape[a] for a in order), {tuple(c[a] for a in order): cell for c, cell in x.cells.items()})


def reshape(x: Grid, shape: Sequence[int]) -> Grid:
    full = list(shape)
    if -1 in full:
        known = math.prod(n for n in full if n != -1)
        full[full.index(-1)] = len(x.cells) // known
    in_order = [x.cells[c] for c in box(x.shape)]
    return x.with_cells(full, dict(zip(box(full), in_order, strict=True)))


def pad(x: Grid, pad_width: Pairs, constant_values: Any = 0) -> Grid:
    fill = np.array(constant_values).astype(x.dtype).tobytes() if constant_values else x.zero
    shape = [begin + n + end for n, (begin, end) in zip(x.shape, pad_width, strict=True)]
    cells = dict.fromkeys(box(shape), fill)
    for c, cell in x.cells.items():
        moved = tuple(i + begin for i, (begin, _end) in zip(c, pad_width, strict=True))
        if moved in cells:
            cells[moved] = cell
    return x.with_cells(shape, cells)


def flip(x: Grid, axis: int | Sequence[int] | None = None) -> Grid:
    rank = len(x.shape)
    given = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    flipped = {a % rank for a in given}
    return x.with_cells(
        x.shape,
        {
            tuple(n - 1 - i if a in flipped else i for a, (i, n) in enumerate(zip(c, x.shape, strict=True))): cell
            for c, cell in x.cells.items()
        },
    )


def getitem(x: Grid, key: Sequence[slice | int | None]) -> Grid:
    """Index with slices, integers and new axes, as Python does with lists."""
    axes = iter(range(len(x.shape)))
    kept: list[list[int]] = []  # the indices that each axis of the input reads
    shape: list[int] = []
    for entry in key:
        if entry is None:
            shape.append(1)
            continue
        numbers = list(range(x.shape[next(axes)]))
        if isinstance(entry, slice):
            kept.append(numbers[entry])
            shape.append(len(kept[-1]))
        else:
            kept.append([numbers[entry]])
    for a in axes:
        kept.append(list(range(x.shape[a])))
        shape.append(x.shape[a])
    in_order = [x.cells[c] for c in itertools.product(*kept)]
    return x.with_cells(shape, dict(zip(box(shape), in_order, strict=True)))


def space_to_batch(x: Grid, block_shape: Sequence[int], paddings: Pairs) -> Grid:
    m, batch = len(block_shape), x.shape[0]
    padded = [n + sum(p) for n, p in zip(x.shape[1 : m + 1], paddings, strict=True)]
    number = {digits: k for k, digits in enumerate(box(block_shape))}
    shape = (
        batch * len(number),
        *(n // b for n, b in zip(padded, block_shape, strict=True)),
        *x.shape[m + 1 :],
    )
    cells = dict.fromkeys(box(shape), x.zero)
    for (n, *rest), cell in x.cells.items():
        moved = [i + begin for i, (begin, _end) in zip(rest, paddings, strict=False)]
        inside = [divmod(i, b) for i, b in zip(moved, block_shape, strict=True)]
        block = number[tuple(digit for _, digit in inside)]
        cells[(block * batch + n, *(i for i, _ in inside), *rest[m:])] = cell
    return x.with_cells(shape, cells)


def batch_to_space(x: Grid, block_shape: Sequence[int], crops: Pairs) -> Grid:
    m = len(block_shape)
    blocks = list(box(block_shape))
    batch = x.shape[0] // len(blocks)
    spatial = [n * b - begin - end for n, b, (begin, end) in zip(x.shape[1 : m + 1], block_shape, crops, strict=True)]
    shape = (batch, *spatial, *x.shape[m + 1 :])
    places = set(box(shape))
    cells = {}
    for (n, *rest), cell in x.cells.items():
        digits = blocks[n // batch]
        moved = (i * b + d - begin for i, b, d, (begin, _end) in zip(rest, block_shape, digits, crops, strict=False))
        place = (n % batch, *moved, *rest[m:])
        if place in places:
            cells[place] = cell
    return x.with_cells(shape, cells)


def space_to_depth(
    x: Grid,
    block_size: int | Sequence[int],
    mode: str = "blocks_first",
    depth_axis: int = 1,
    spatial_axes: Sequence[int] | None = None,
) -> Grid:
    depth, spatial, sizes = _depth_axes(x, block_size, depth_axis, spatial_axes)
    number = {digits: k for k, digits in enumerate(box(sizes))}
    channels = x.shape[depth]
    shape = list(x.shape)
    shape[depth] = channels * len(number)
    for axis, b in zip(spatial, sizes, strict=True):
        shape[axis] = x.shape[axis] // b
    cells = {}
    for c, cell in x.cells.items():
        place, digits = list(c), []
        for axis, b in zip(spatial, sizes, strict=True):
            place[axis], digit = divmod(c[axis], b)
            digits.append(digit)
        block = number[tuple(digits)]
        first = {"blocks_first": block * channels + c[depth], "depth_first": c[depth] * len(number) + block}
        place[depth] = first[mode]
        cells[tuple(place)] = cell
    return x.with_cells(shape, cells)


def depth_to_space(
    x: Grid,
    block_size: int | Sequence[int],
    mode: str = "blocks_first",
    depth_axis: int = 1,
    spatial_axes: Sequence[int] | None = None,
) -> Grid:
    depth, spatial, sizes = _depth_axes(x, block_size, depth_axis, spatial_axes)
    blocks = list(box(sizes))
    channels = x.shape[depth] // len(blocks)
    shape = list(x.shape)
    shape[depth] = channels
    for axis, b in zip(spatial, sizes, strict=True):
        shape[axis] = x.shape[axis] * b
    cells = {}
    for c, cell in x.cells.items():
        place = list(c)
        if mode == "blocks_first":
            block, place[depth] = divmod(c[depth], channels)
        else:
            place[depth], block = divmod(c[depth], len(blocks))
        for axis, b, digit in zip(spatial, sizes, blocks[block], strict=True):
            place[axis] = c[axis] * b + digit
        cells[tuple(place)] = cell
    return x.with_cells(shape, cells)


def _depth_axes(
    x: Grid, block_size: int | Sequence[int], depth_axis: int, spatial_axes: Sequence[int] | None
) -> tuple[int, list[int], list[int]]:
    rank = len(x.shape)
    depth = depth_axis % rank
    others = [a for a in range(1, rank) if a != depth]
    spatial = others if spatial_axes is None else [a % rank for a in spatial_axes]
    sizes = [block_size] * len(spatial) if isinstance(block_size, int) else list(block_size)
    return depth, spatial, sizes


OPS: Mapping[str, Callable[..., Grid]] = {
    f.__name__: f
    for f in (
        transpose, reshape, pad, flip, getitem, space_to_batch, batch_to_space, space_to_depth, depth_to_space
    )
}  # fmt: skip


def run(x: Grid, steps: Iterable[Step]) -> Grid:
    """Apply a chain of ``(name, attributes)``."""
    for name, attributes in steps:
        x = OPS[name](x, **attributes)
    return x
