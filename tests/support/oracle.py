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
from fractions import Fraction
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


def pad(x: Grid, pad_width: Pairs, mode: str = "constant", constant_values: Any = 0) -> Grid:
    if mode != "constant":
        read = [
            [_beyond(n, t, mode) for t in range(-begin, n + end)]
            for n, (begin, end) in zip(x.shape, pad_width, strict=True)
        ]
        return _pulled(x, read)
    fill = np.array(constant_values).astype(x.dtype).tobytes() if constant_values else x.zero
    shape = [begin + n + end for n, (begin, end) in zip(x.shape, pad_width, strict=True)]
    cells = dict.fromkeys(box(shape), fill)
    for c, cell in x.cells.items():
        moved = tuple(i + begin for i, (begin, _end) in zip(c, pad_width, strict=True))
        if moved in cells:
            cells[moved] = cell
    return x.with_cells(shape, cells)


def _beyond(n: int, t: int, mode: str) -> int:
    """Return what the coordinate *t*, which may be outside ``range(n)``, reads on a padded axis."""
    there, back = list(range(n)), list(range(n))[::-1]
    cycle = {"wrap": there, "symmetric": there + back, "reflect": there + back[1:-1]}
    return min(max(t, 0), n - 1) if mode == "edge" else cycle[mode][t % len(cycle[mode])]


def _pulled(x: Grid, read: Sequence[Sequence[int]]) -> Grid:
    """Return the grid that reads coordinate ``read[axis][o]`` on each axis."""
    in_order = [x.cells[c] for c in itertools.product(*read)]
    shape = [len(coordinates) for coordinates in read]
    return x.with_cells(shape, dict(zip(box(shape), in_order, strict=True)))


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


def roll(x: Grid, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Grid:
    if axis is None:
        flat = reshape(x, [len(x.cells)])
        return reshape(roll(flat, shift, 0), x.shape)
    shifts = [shift] if isinstance(shift, int) else list(shift)
    axes = [axis] if isinstance(axis, int) else list(axis)
    steps = [0] * len(x.shape)
    for k in range(max(len(shifts), len(axes))):
        steps[axes[k % len(axes)]] += shifts[k % len(shifts)]
    cells = {
        tuple((i + step) % n for i, step, n in zip(c, steps, x.shape, strict=True)): cell for c, cell in x.cells.items()
    }
    return x.with_cells(x.shape, cells)


def tile(x: Grid, reps: int | Sequence[int]) -> Grid:
    counts = [reps] if isinstance(reps, int) else list(reps)
    counts = [1] * (len(x.shape) - len(counts)) + counts
    whole = reshape(x, [1] * (len(counts) - len(x.shape)) + list(x.shape))
    return _pulled(whole, [list(range(n)) * count for n, count in zip(whole.shape, counts, strict=True)])


def repeat(x: Grid, repeats: int, axis: int | None = None) -> Grid:
    whole, at = (reshape(x, [len(x.cells)]), 0) if axis is None else (x, axis % len(x.shape))
    return _pulled(
        whole, [[i for i in range(n) for _ in range(repeats if k == at else 1)] for k, n in enumerate(whole.shape)]
    )


def take(x: Grid, indices: Sequence[Any], axis: int) -> Grid:
    at, n = axis % len(x.shape), x.shape[axis]
    if indices and not isinstance(indices[0], int):  # rows of indices
        made = take(x, [i for row in indices for i in row], at)
        return reshape(made, [*x.shape[:at], len(indices), len(indices[0]), *x.shape[at + 1 :]])
    taken = [i if i >= 0 else n + i for i in indices]
    return _pulled(x, [taken if k == at else list(range(m)) for k, m in enumerate(x.shape)])


def broadcast_to(x: Grid, shape: Sequence[int]) -> Grid:
    whole = reshape(x, [1] * (len(shape) - len(x.shape)) + list(x.shape))
    return _pulled(whole, [[0] * m if n == 1 else list(range(n)) for n, m in zip(whole.shape, shape, strict=True)])


def squeeze(x: Grid, axis: int | Sequence[int] | None = None) -> Grid:
    given = [a for a, n in enumerate(x.shape) if n == 1] if axis is None else [axis] if isinstance(axis, int) else axis
    removed = {a % len(x.shape) for a in given}
    assert all(x.shape[a] == 1 for a in removed)
    return reshape(x, [n for a, n in enumerate(x.shape) if a not in removed])


def expand_dims(x: Grid, axis: int | Sequence[int]) -> Grid:
    given = [axis] if isinstance(axis, int) else list(axis)
    shape = list(x.shape)
    for a in sorted(a % (len(x.shape) + len(given)) for a in given):
        shape.insert(a, 1)
    return reshape(x, shape)


def moveaxis(x: Grid, source: Sequence[int], destination: Sequence[int]) -> Grid:
    rank = len(x.shape)
    places = {d % rank: s % rank for s, d in zip(source, destination, strict=True)}
    others = iter([a for a in range(rank) if a not in places.values()])
    return transpose(x, [places[k] if k in places else next(others) for k in range(rank)])


def swapaxes(x: Grid, axis1: int, axis2: int) -> Grid:
    order = list(range(len(x.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(x, order)


def ravel(x: Grid) -> Grid:
    return reshape(x, [len(x.cells)])


def window(
    x: Grid,
    window_shape: Sequence[int],
    axis: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    padding: Pairs,
) -> Grid:
    rank = len(x.shape)
    widths = [[0, 0] for _ in x.shape]
    kept = [list(range(n)) for n in x.shape]  # where on each axis a window, or an element, may start
    for a, size, step, gap, pair in zip(axis, window_shape, strides, dilation, padding, strict=True):
        widths[a] = list(pair)
        last = x.shape[a] + sum(pair) - (size - 1) * gap
        kept[a] = list(range(0, last, step))
    whole = pad(x, widths)
    shape = [*(len(k) for k in kept), *window_shape]
    cells = {}
    for c in box(shape):
        place = [starts[i] for starts, i in zip(kept, c, strict=False)]
        for a, u, gap in zip(axis, c[rank:], dilation, strict=True):
            place[a] += u * gap
        cells[c] = whole.cells[tuple(place)]
    return x.with_cells(shape, cells)


def pack(x: Grid, axis: int, block: int, constant_values: Any = 0) -> Grid:
    widths = [[0, -n % block if k == axis else 0] for k, n in enumerate(x.shape)]
    whole = pad(x, widths, constant_values=constant_values)
    shape = [*(n // block if k == axis else n for k, n in enumerate(whole.shape)), block]
    cells = {(*c[:axis], c[axis] // block, *c[axis + 1 :], c[axis] % block): cell for c, cell in whole.cells.items()}
    return x.with_cells(shape, cells)


def unpack(x: Grid, axis: int, extent: int | None = None) -> Grid:
    *shape, block = x.shape
    shape[axis] = shape[axis] * block if extent is None else extent
    cells = {}
    for (*c, digit), cell in x.cells.items():
        c[axis] = c[axis] * block + digit
        if c[axis] < shape[axis]:
            cells[tuple(c)] = cell
    return x.with_cells(shape, cells)


def channel_shuffle(x: Grid, groups: int, axis: int = 1) -> Grid:
    size = x.shape[axis] // groups
    order = [group * size + channel for channel in range(size) for group in range(groups)]
    return _pulled(x, [order if k == axis else range(n) for k, n in enumerate(x.shape)])


def resize_nearest(
    x: Grid,
    shape: Sequence[int] | None = None,
    scale: Sequence[int | Fraction] | None = None,
    axes: Sequence[int] = (),
    mode: str = "asymmetric",
) -> Grid:
    read: list[Sequence[int]] = [range(n) for n in x.shape]
    shift = Fraction(1, 2) if mode == "half_pixel" else 0
    for k, a in enumerate(axes):
        n = x.shape[a]
        ratio = Fraction(n, shape[k]) if shape is not None else 1 / Fraction(scale[k]) if scale is not None else 1
        count = shape[k] if shape is not None else int(n / ratio)
        read[a] = [int((o + shift) * ratio) for o in range(count)]
    return _pulled(x, read)


OPS: Mapping[str, Callable[..., Grid]] = {
    f.__name__: f
    for f in (
        transpose, moveaxis, swapaxes, reshape, ravel, squeeze, expand_dims, getitem,
        pad, flip, roll, tile, repeat, take, broadcast_to, window, resize_nearest,
        space_to_batch, batch_to_space, space_to_depth, depth_to_space, pack, unpack, channel_shuffle,
    )
}  # fmt: skip


def run(x: Grid, steps: Iterable[Step]) -> Grid:
    """Apply a chain of ``(name, attributes)``."""
    for name, attributes in steps:
        x = OPS[name](x, **attributes)
    return x
