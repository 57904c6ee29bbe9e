"""Chains with symbols in their attributes, decided by enumeration.  Nothing of symlayout is imported.

An expression is an int, the name of a dim, or ``(operator, left, right)``.  A chain is the shape of its
input and steps ``(name, attributes)``, all in expressions.  `run` puts numbers for the dims and applies the
operations to the numbers 1, 2, 3, ... of the input's elements, by NumPy's own reshape, transpose and pad: the
result says for each coordinate which element is read, and a fill is 0 or below.  `Invalid` means that the
chain has no meaning for these numbers, by the rules of the operations' specifications.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Expression = Any
Step = tuple[str, Mapping[str, Any]]
Grid = np.ndarray[Any, np.dtype[np.int64]]
APART = 1 << 32
"""From the number of an element of one input to that of the same of the next."""


class Invalid(Exception):
    """The chain has no meaning for these numbers."""


@dataclass(frozen=True, slots=True)
class Dim:
    """A dim and the values that it can have."""

    name: str
    min: int = 0
    max: int | None = None
    multiple_of: int = 1

    def values(self, most: int) -> list[int]:
        """Return the values up to *most*."""
        top = most if self.max is None else min(most, self.max)
        return [v for v in range(self.min, top + 1) if v % self.multiple_of == 0]


@dataclass(frozen=True, slots=True)
class Chain:
    """The shape of the input, and the steps."""

    shape: tuple[Expression, ...]
    steps: tuple[Step, ...] = ()

    def names(self) -> list[str]:
        """Return the dims in order of use."""
        found: dict[str, None] = {}
        for e in (*self.shape, *_attributes(self.steps)):
            _collect(e, found)
        return list(found)


def _attributes(steps: Sequence[Step]) -> Iterator[Any]:
    for _, given in steps:
        for name, e in given.items():
            if name == "branches":
                yield from itertools.chain.from_iterable(map(_attributes, e))
            elif name == "key" or name not in PLAIN:
                yield e


def exact(a: int, b: int) -> int:
    """Return ``a / b``, which is an integer."""
    if b < 1 or a % b:
        raise Invalid
    return a // b


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": Fraction,  # b/b cancels, so only the whole expression has to be an integer
}


def value(e: Expression, dims: Mapping[str, int]) -> Any:
    """Return an expression, or a list or slice of them, with numbers for the dims."""
    if isinstance(e, str):
        return dims[e]
    if isinstance(e, tuple):
        number = Fraction(rational(e, dims))
        return exact(number.numerator, number.denominator)
    if isinstance(e, list):
        return [value(item, dims) for item in e]
    if isinstance(e, slice):
        return slice(value(e.start, dims), value(e.stop, dims), e.step)
    return e


def rational(e: Expression, dims: Mapping[str, int]) -> Any:
    """Return an expression with numbers for the dims, a Fraction if it divides."""
    if isinstance(e, tuple):
        return OPERATORS[e[0]](rational(e[1], dims), rational(e[2], dims))
    return dims[e] if isinstance(e, str) else e


def _collect(e: Expression, found: dict[str, None]) -> None:
    if isinstance(e, str):
        found[e] = None
    elif isinstance(e, tuple):
        _collect(e[1], found)
        _collect(e[2], found)
    elif isinstance(e, list):
        for item in e:
            _collect(item, found)
    elif isinstance(e, slice):
        _collect(e.start, found)
        _collect(e.stop, found)


def run(chain: Chain, dims: Mapping[str, int]) -> Grid:
    """Return which element each coordinate reads, numbered from 1.

    Raises
    ------
    Invalid
        The chain has no meaning for *dims*.
    """
    return functools.reduce(lambda grid, step: apply(step, grid, dims), chain.steps, leaf(chain.shape, dims))


def leaf(extents: Sequence[Expression], dims: Mapping[str, int]) -> Grid:
    """Return an input, whose elements are numbered from 1."""
    shape = [value(e, dims) for e in extents]
    if min(shape, default=0) < 0:
        raise Invalid
    return np.arange(1, math.prod(shape) + 1, dtype=np.int64).reshape(shape)


def apply(step: Step, grid: Grid, dims: Mapping[str, int]) -> Grid:
    """Return what a step makes of *grid*; one with ``branches`` joins what these make of it."""
    name, attributes = step
    given = {k: v if k in PLAIN else value(v, dims) for k, v in attributes.items()}
    if name == "reshape" and any(n < 0 and e != -1 for n, e in zip(given["shape"], attributes["shape"], strict=True)):
        raise Invalid  # only a -1 that is written as such stands for what remains
    if not _fits(name, grid.ndim, given):
        raise Invalid
    try:
        if "part" in given:
            part: int = given.pop("part")
            return SEVERAL[name](grid, **given)[part]
        if "branches" not in given:
            return OPERATIONS[name](grid, **given)
        parts = [functools.reduce(lambda x, s: apply(s, x, dims), steps, grid) for steps in given.pop("branches")]
        return JOINT[name](parts, **given)
    except IndexError:  # an index or an axis that there is not
        raise Invalid from None


def _fits(name: str, rank: int, given: Mapping[str, Any]) -> bool:
    """Return whether the attributes are for an array of this rank."""
    axis = given.get("axis")
    axes = axis if isinstance(axis, list) else [] if axis is None else [axis]
    places = rank + {"expand_dims": len(axes), "stack": 1, "unpack": -1}.get(name, 0)
    return (
        (name != "transpose" or len(given["axes"]) == rank)
        and len(given.get("pad_width", range(rank))) in (1, rank)
        and all(a < places for a in axes)
        and len(given.get("block_shape", ())) < max(rank, 1)
        and sum(k is not None for k in given.get("key", ())) <= rank
        and ("block_size" not in given or rank > 1)
    )


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def _transpose(x: Grid, axes: Sequence[int] | None = None) -> Grid:
    return x.transpose(axes)


def _flip(x: Grid, axis: Any = None) -> Grid:
    flipped: Grid = np.flip(x, _axes(axis))
    return flipped


def _reshape(x: Grid, shape: Any) -> Grid:
    shape = shape if isinstance(shape, list) else [shape]
    others = math.prod(n for n in shape if n != -1)
    if min(shape, default=0) < -1 or (-1 in shape and (others == 0 or x.size % others)):
        raise Invalid
    if -1 not in shape and others != x.size:
        raise Invalid
    return x.reshape(shape)


def _pad(x: Grid, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Grid:
    if not isinstance(pad_width, list):
        pad_width = [pad_width]
    if len(pad_width) in (1, 2) and not isinstance(pad_width[0], list):  # for both sides, of all axes
        pad_width = [[pad_width[0], pad_width[-1]]]
    if len(pad_width) == 1:  # one pair stands for all axes
        pad_width = [*pad_width] * x.ndim
    if any(n + begin + end < 0 for n, (begin, end) in zip(x.shape, pad_width, strict=True)):
        raise Invalid
    if not pad_width:  # np.pad has no rank 0
        return x
    if mode != "constant":
        if any(min(pair) < 0 or (n == 0 and max(pair)) for n, pair in zip(x.shape, pad_width, strict=True)):
            raise Invalid
        return np.pad(x, pad_width, mode=mode)  # type: ignore[no-any-return, call-overload]
    whole = np.pad(x, [[max(n, 0) for n in pair] for pair in pad_width], constant_values=constant_values)
    return whole[tuple(slice(max(-b, 0), n - max(-e, 0)) for n, (b, e) in zip(whole.shape, pad_width, strict=True))]


def _getitem(x: Grid, key: Sequence[Any]) -> Grid:
    picked: Grid = x[tuple(key)]
    return picked


def _slice(x: Grid, axis: int, start: int, stop: int, step: int) -> Grid:
    """Slice with bounds that have to lie in range and in order."""
    n = x.shape[axis]
    inside = 0 <= start <= stop <= n if step > 0 else -1 <= stop <= start < n
    if not inside:
        raise Invalid
    taken: Grid = np.take(x, np.arange(start, stop, step), axis)
    return taken


def _space_to_batch(x: Grid, block_shape: Sequence[int], paddings: Sequence[Sequence[int]]) -> Grid:
    m = len(block_shape)
    if min(block_shape, default=1) < 1 or any(n < 0 for pair in paddings for n in pair):
        raise Invalid
    x = np.pad(x, [(0, 0), *paddings, *[(0, 0)] * (x.ndim - m - 1)])
    batch, space, rest = x.shape[0], x.shape[1 : m + 1], x.shape[m + 1 :]
    cells = [exact(n, b) for n, b in zip(space, block_shape, strict=True)]
    split = x.reshape([batch, *itertools.chain.from_iterable(zip(cells, block_shape, strict=True)), *rest])
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, split.ndim)]
    return split.transpose(order).reshape([batch * math.prod(block_shape), *cells, *rest])


def _batch_to_space(x: Grid, block_shape: Sequence[int], crops: Sequence[Sequence[int]]) -> Grid:
    m = len(block_shape)
    if min(block_shape, default=1) < 1 or any(n < 0 for pair in crops for n in pair):
        raise Invalid
    batch, cells, rest = exact(x.shape[0], math.prod(block_shape)), x.shape[1 : m + 1], x.shape[m + 1 :]
    split = x.reshape([*block_shape, batch, *cells, *rest])
    pairs = itertools.chain.from_iterable((m + 1 + k, k) for k in range(m))
    space = [n * b for n, b in zip(cells, block_shape, strict=True)]
    whole = split.transpose([m, *pairs, *range(2 * m + 1, split.ndim)]).reshape([batch, *space, *rest])
    if any(n < begin + end for n, (begin, end) in zip(space, crops, strict=True)):
        raise Invalid
    return whole[(slice(None), *(slice(b, n - e) for n, (b, e) in zip(space, crops, strict=True)))]


def _space_to_depth(
    x: Grid, block_size: Any, mode: str = "blocks_first", depth_axis: int = 1, spatial_axes: Sequence[int] | None = None
) -> Grid:
    axes, block = _depth_axes(x, block_size, depth_axis, spatial_axes)
    x = np.moveaxis(x, axes, range(len(axes)))
    c, *space = x.shape[: len(axes)]
    cells = [exact(extent, b) for extent, b in zip(space, block, strict=True)]
    split = x.reshape([c, *itertools.chain.from_iterable(zip(cells, block, strict=True)), *x.shape[len(axes) :]])
    m = len(block)
    places = [*range(2, 2 * m + 1, 2)]
    depth = [*places, 0] if mode == "blocks_first" else [0, *places]
    split = split.transpose([*depth, *range(1, 2 * m, 2), *range(2 * m + 1, split.ndim)])
    return np.moveaxis(split.reshape([c * math.prod(block), *cells, *x.shape[len(axes) :]]), range(len(axes)), axes)


def _depth_to_space(
    x: Grid, block_size: Any, mode: str = "blocks_first", depth_axis: int = 1, spatial_axes: Sequence[int] | None = None
) -> Grid:
    axes, block = _depth_axes(x, block_size, depth_axis, spatial_axes)
    x = np.moveaxis(x, axes, range(len(axes)))
    c, *cells = x.shape[: len(axes)]
    m, rest = len(block), x.shape[len(axes) :]
    kept = exact(c, math.prod(block))
    first = mode == "blocks_first"
    split = x.reshape([*([*block, kept] if first else [kept, *block]), *cells, *rest])
    places = range(m) if first else range(1, m + 1)
    pairs = itertools.chain.from_iterable((m + 1 + k, place) for k, place in enumerate(places))
    whole = split.transpose([m if first else 0, *pairs, *range(2 * m + 1, split.ndim)])
    space = [cell * b for cell, b in zip(cells, block, strict=True)]
    return np.moveaxis(whole.reshape([kept, *space, *rest]), range(len(axes)), axes)


def _depth_axes(
    x: Grid, block_size: Any, depth_axis: int, spatial_axes: Sequence[int] | None
) -> tuple[list[int], list[int]]:
    """Return the axis of the depth and those of space, and a block for each of these."""
    depth = depth_axis % x.ndim
    space = [a for a in range(x.ndim) if a not in (0, depth)] if spatial_axes is None else spatial_axes
    given = block_size if isinstance(block_size, list) else [block_size]
    if min(given) < 1:
        raise Invalid
    block = given if isinstance(block_size, list) else given * len(space)
    return [depth, *(a % x.ndim for a in space)], block


def _roll(x: Grid, shift: Any, axis: Any = None) -> Grid:
    return np.roll(x, tuple(shift) if isinstance(shift, list) else shift, _axes(axis))


def _tile(x: Grid, reps: Any) -> Grid:
    if min(reps if isinstance(reps, list) else [reps], default=0) < 0:
        raise Invalid
    return np.tile(x, reps)


def _repeat(x: Grid, repeats: int, axis: int | None = None) -> Grid:
    if repeats < 0:
        raise Invalid
    return np.repeat(x, repeats, axis)


def _broadcast_to(x: Grid, shape: Any) -> Grid:
    shape = shape if isinstance(shape, list) else [shape]
    if (
        len(shape) < x.ndim
        or min(shape, default=0) < 0
        or any(n not in (1, e) for n, e in zip(x.shape[::-1], shape[::-1], strict=False))
    ):
        raise Invalid
    return np.broadcast_to(x, shape)


def _squeeze(x: Grid, axis: Any = None) -> Grid:
    if axis is not None and any(x.shape[a] != 1 for a in (axis if isinstance(axis, list) else [axis])):
        raise Invalid
    return np.squeeze(x, _axes(axis))


def _expand_dims(x: Grid, axis: Any) -> Grid:
    return np.expand_dims(x, _axes(axis))


def _channel_shuffle(x: Grid, groups: int, axis: int = 1) -> Grid:
    if groups < 1:
        raise Invalid
    axis %= x.ndim
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    split = x.reshape([*before, groups, exact(x.shape[axis], groups), *after])
    return split.swapaxes(axis, axis + 1).reshape(x.shape)


def _pack(x: Grid, axis: int, block: int, constant_values: int = 0) -> Grid:
    if block < 1:
        raise Invalid
    axis %= x.ndim
    missing = -x.shape[axis] % block
    whole = np.pad(x, [(0, missing if a == axis else 0) for a in range(x.ndim)], constant_values=constant_values)
    split = whole.reshape([*x.shape[:axis], whole.shape[axis] // block, block, *x.shape[axis + 1 :]])
    return np.moveaxis(split, axis + 1, -1)


def _unpack(x: Grid, axis: int, extent: int | None = None) -> Grid:
    axis %= x.ndim - 1
    together = np.moveaxis(x, -1, axis + 1)
    count = x.shape[axis] * x.shape[-1]
    whole = together.reshape([*x.shape[:axis], count, *x.shape[axis + 1 : -1]])
    if extent is not None and not 0 <= extent <= count:
        raise Invalid
    kept: Grid = np.take(whole, range(count if extent is None else extent), axis)
    return kept


def _window(
    x: Grid, window_shape: Any, axis: Any = None, strides: Any = 1, dilation: Any = 1, padding: Any = 0
) -> Grid:
    axes = list(range(x.ndim)) if axis is None else axis if isinstance(axis, list) else [axis]
    sizes, steps, gaps, margins = (
        v if isinstance(v, list) else [v] * len(axes) for v in (window_shape, strides, dilation, padding)
    )
    for a, size, step, gap, margin in zip(axes, sizes, steps, gaps, margins, strict=True):
        before, after = margin if isinstance(margin, list) else (margin, margin)
        if min(size, step, gap) < 1 or min(before, after) < 0:
            raise Invalid
        whole = np.pad(x, [(before, after) if k == a % x.ndim else (0, 0) for k in range(x.ndim)])
        starts = range(0, whole.shape[a] - (size - 1) * gap, step)
        if not starts:
            raise Invalid
        windows = [np.take(whole, range(start, start + (size - 1) * gap + 1, gap), a) for start in starts]
        x = np.stack([np.moveaxis(w, a, -1) for w in windows], a)  # which window there, where in it at the end
    return x


def _resize_nearest(x: Grid, shape: Any = None, scale: Any = None, axes: Any = None, mode: str = "asymmetric") -> Grid:
    along = list(range(x.ndim)) if axes is None else axes if isinstance(axes, list) else [axes]
    given = scale if shape is None else shape
    for a, value in zip(along, given if isinstance(given, list) else [given] * len(along), strict=True):
        n = x.shape[a]
        m = math.floor(n * Fraction(value)) if shape is None else value
        if m < 0 or (m and not n) or (value <= 0 and shape is None):
            raise Invalid
        ratio = 1 / Fraction(value) if shape is None else Fraction(n, max(m, 1))
        shift = Fraction(1, 2) if mode == "half_pixel" else 0
        x = np.take(x, [math.floor((o + shift) * ratio) for o in range(m)], a)
    return x


def _input(_: Grid, shape: Sequence[int], number: int) -> Grid:
    """Return input *number*, whatever was at hand: its elements are numbered from ``APART * number + 1``."""
    if min(shape, default=0) < 0:
        raise Invalid
    return np.arange(1, math.prod(shape) + 1, dtype=np.int64).reshape(shape) + APART * number


def _concatenate(xs: Sequence[Grid], axis: int = 0) -> Grid:
    shapes = [np.delete(x.shape, axis).tolist() for x in xs]
    if any(shape != shapes[0] for shape in shapes):
        raise Invalid
    return np.concatenate(xs, axis)


def _stack(xs: Sequence[Grid], axis: int = 0) -> Grid:
    if any(x.shape != xs[0].shape for x in xs):
        raise Invalid
    return np.stack(xs, axis)


def _split(x: Grid, indices_or_sections: Any, axis: int = 0) -> list[Grid]:
    n = x.shape[axis]
    if isinstance(indices_or_sections, int):
        exact(n, indices_or_sections)
    return np.split(x, indices_or_sections, axis)


OPERATIONS: dict[str, Callable[..., Grid]] = {
    "transpose": _transpose,
    "flip": _flip,
    "reshape": _reshape,
    "pad": _pad,
    "getitem": _getitem,
    "slice": _slice,
    "space_to_batch": _space_to_batch,
    "batch_to_space": _batch_to_space,
    "space_to_depth": _space_to_depth,
    "depth_to_space": _depth_to_space,
    "roll": _roll,
    "tile": _tile,
    "repeat": _repeat,
    "broadcast_to": _broadcast_to,
    "squeeze": _squeeze,
    "expand_dims": _expand_dims,
    "moveaxis": np.moveaxis,
    "swapaxes": np.swapaxes,
    "ravel": np.ravel,
    "channel_shuffle": _channel_shuffle,
    "pack": _pack,
    "unpack": _unpack,
    "window": _window,
    "resize_nearest": _resize_nearest,
    "input": _input,
}
SEVERAL: dict[str, Callable[..., list[Grid]]] = {"split": _split}  # operations that give several arrays
JOINT: dict[str, Callable[..., Grid]] = {"concatenate": _concatenate, "stack": _stack}
PLAIN = {  # attributes that are never expressions
    "axes", "axis", "mode", "key", "constant_values", "branches", "part", "number",
    "constant_value", "pad_value", "value", "pad_mode", "data_format",
}  # fmt: skip
