"""Record a chain of operations, written once, as a program that any library can run.

A chain is a function of two arguments, a namespace and a tensor: ``lambda op, x: op.transpose(x, (1, 0))``.  With
`symlayout` as the namespace it builds a tensor.  With a `CallRecorder`, the calls become moves in the verbs of a
library.  A verb that the library lacks becomes others: a block operation becomes reshapes and a permutation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

Shape = tuple[int, ...]
Chain = Callable[[Any, Any], Any]
Pairs = Sequence[tuple[int, int]]


class UnsupportedError(Exception):
    """A library has neither an operation nor others that it could be made of."""


@dataclass(frozen=True, slots=True)
class Move:
    """One operation of a program: *verb* on the values with the numbers *inputs* (0 is the source), and *arguments*."""

    verb: str
    inputs: tuple[int, ...]
    arguments: tuple[Any, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Value:
    """An array of a program: its shape, and its number among the values."""

    trace: CallRecorder
    number: int
    shape: Shape

    def __getitem__(self, key: Any) -> Value:
        key = key if isinstance(key, tuple) else (key,)
        cuts = (*key, *[slice(None)] * (len(self.shape) - len(key)))
        shape = tuple(len(range(*cut.indices(n))) for cut, n in zip(cuts, self.shape, strict=True))
        return self.trace.record("slice", self, (cuts,), shape)


class CallRecorder:
    """A namespace with functions of NumPy and symlayout that records their calls.

    Parameters
    ----------
    verbs : mapping
        The verbs of the library, each with a test ``(shape, *arguments) -> bool``: does the library support this call?
    """

    def __init__(self, verbs: Mapping[str, Callable[..., bool]]) -> None:
        self.verbs = verbs
        self.moves: list[Move] = []

    def has(self, verb: str, x: Value, *arguments: Any) -> bool:
        """Return whether the library has *verb* for these arguments."""
        return verb in self.verbs and self.verbs[verb](x.shape, *arguments)

    def record(self, verb: str, x: Value | Sequence[Value], arguments: tuple[Any, ...], shape: Shape) -> Value:
        """Record a move and return its value."""
        inputs = (x,) if isinstance(x, Value) else tuple(x)
        if not self.has(verb, inputs[0], *arguments):
            raise UnsupportedError(verb)
        self.moves.append(Move(verb, tuple(v.number for v in inputs), arguments, shape))
        return Value(self, len(self.moves), shape)

    # ------------------------------------------------------------------ verbs of every library

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """See `numpy.reshape`."""
        known = -prod(shape) if -1 in shape else 1
        target = tuple(prod(x.shape) // known if n == -1 else n for n in shape)
        return x if target == x.shape else self.record("reshape", x, (target,), target)

    def transpose(self, x: Value, axes: Sequence[int] | None = None) -> Value:
        """See `numpy.transpose`."""
        order = tuple(axes) if axes is not None else tuple(range(len(x.shape)))[::-1]
        return self.record("transpose", x, (order,), tuple(x.shape[a] for a in order))

    def concatenate(self, parts: Sequence[Value], axis: int = 0) -> Value:
        """See `numpy.concatenate`."""
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.record("concatenate", parts, (axis % len(shape),), tuple(shape))

    def pad(self, x: Value, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Value:
        """See `numpy.pad`."""
        pairs = pad_width if isinstance(pad_width, Sequence) else [(pad_width, pad_width)] * len(x.shape)
        widths = tuple((before, after) for before, after in pairs)
        shape = tuple(before + n + after for n, (before, after) in zip(x.shape, widths, strict=True))
        return x if shape == x.shape else self.record("pad", x, (widths, mode, constant_values), shape)

    def broadcast_to(self, x: Value, shape: Sequence[int]) -> Value:
        """See `numpy.broadcast_to`."""
        return self.record("broadcast_to", x, (tuple(shape),), tuple(shape))

    def tile(self, x: Value, reps: Sequence[int]) -> Value:
        """See `numpy.tile`; one of *reps* for each axis."""
        shape = tuple(n * r for n, r in zip(x.shape, reps, strict=True))
        return self.record("tile", x, (tuple(reps),), shape)

    # ------------------------------------------------------------------ verbs that other verbs can express

    def flip(self, x: Value, axis: int | Sequence[int] | None = None) -> Value:
        """See `numpy.flip`."""
        axes = _axes(axis, x)
        if self.has("flip", x, axes):
            return self.record("flip", x, (axes,), x.shape)
        return x[tuple(slice(None, None, -1) if a in axes else slice(None) for a in range(len(x.shape)))]

    def roll(self, x: Value, shift: int | Sequence[int], axis: int | Sequence[int]) -> Value:
        """See `numpy.roll`."""
        axes, shifts = _axes(axis, x), tuple(shift) if isinstance(shift, Sequence) else (shift,)
        if self.has("roll", x, shifts, axes):
            return self.record("roll", x, (shifts, axes), x.shape)
        for a, s in zip(axes, shifts, strict=True):
            before = [slice(None)] * a
            end = x.shape[a] - s % x.shape[a]
            x = self.concatenate([x[(*before, slice(end, None))], x[(*before, slice(0, end))]], a)
        return x

    def repeat(self, x: Value, repeats: int, axis: int) -> Value:
        """See `numpy.repeat`."""
        shape = tuple(n * repeats if a == axis else n for a, n in enumerate(x.shape))
        if self.has("repeat", x, repeats, axis):
            return self.record("repeat", x, (repeats, axis), shape)
        before, after = x.shape[: axis + 1], x.shape[axis + 1 :]
        return self.reshape(self.broadcast_to(self.reshape(x, (*before, 1, *after)), (*before, repeats, *after)), shape)

    def window(self, x: Value, window_shape: Sequence[int], axis: Sequence[int]) -> Value:
        """See `numpy.lib.stride_tricks.sliding_window_view`."""
        counts = [x.shape[a] - size + 1 for a, size in zip(axis, window_shape, strict=True)]
        shape = tuple(counts[list(axis).index(a)] if a in axis else n for a, n in enumerate(x.shape))
        if self.has("window", x, tuple(window_shape), tuple(axis)):
            return self.record("window", x, (tuple(window_shape), tuple(axis)), (*shape, *window_shape))
        parts = []
        for starts in itertools.product(*map(range, window_shape)):
            cuts = [slice(None)] * len(x.shape)
            for a, start, count in zip(axis, starts, counts, strict=True):
                cuts[a] = slice(start, start + count)
            parts.append(self.reshape(x[tuple(cuts)], (*shape, 1)))
        return self.reshape(self.concatenate(parts, -1), (*shape, *window_shape))

    # ------------------------------------------------------------------ block operations

    def space_to_batch(self, x: Value, block_shape: Sequence[int], paddings: Pairs) -> Value:
        """See `symlayout.space_to_batch`."""
        m = len(block_shape)
        rest = x.shape[m + 1 :]
        padded = self.pad_shape(x.shape, paddings)
        cells = [n // b for n, b in zip(padded[1 : m + 1], block_shape, strict=True)]
        shape = (x.shape[0] * prod(block_shape), *cells, *rest)
        arguments = tuple(block_shape), tuple((before, after) for before, after in paddings)
        if self.has("space_to_batch", x, *arguments):
            return self.record("space_to_batch", x, arguments, shape)
        x = self.pad(x, [(0, 0), *paddings, *[(0, 0)] * len(rest)])
        cut = (x.shape[0], *itertools.chain(*zip(cells, block_shape, strict=True)), *rest)
        order = (*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, len(cut)))
        return self.reshape(self.transpose(self.reshape(x, cut), order), shape)

    def batch_to_space(self, x: Value, block_shape: Sequence[int], crops: Pairs) -> Value:
        """See `symlayout.batch_to_space`."""
        m, batch = len(block_shape), x.shape[0] // prod(block_shape)
        rest = x.shape[m + 1 :]
        whole = (batch, *(n * b for n, b in zip(x.shape[1 : m + 1], block_shape, strict=True)), *rest)
        shape = self.pad_shape(whole, [(-before, -after) for before, after in crops])
        arguments = tuple(block_shape), tuple((before, after) for before, after in crops)
        if self.has("batch_to_space", x, *arguments):
            return self.record("batch_to_space", x, arguments, shape)
        order = (m, *itertools.chain(*((m + 1 + k, k) for k in range(m))), *range(2 * m + 1, 2 * m + 1 + len(rest)))
        parts = self.reshape(x, (*block_shape, batch, *x.shape[1:]))
        made = self.reshape(self.transpose(parts, order), whole)
        if shape == whole:
            return made
        return made[(slice(None), *(slice(b, b + n) for (b, _), n in zip(crops, shape[1:], strict=False)))]

    @staticmethod
    def pad_shape(shape: Shape, pairs: Pairs) -> Shape:
        """Return *shape* with the pairs added to axes 1 to M."""
        more = [0, *map(sum, pairs), *[0] * (len(shape) - 1 - len(pairs))]
        return tuple(n + m for n, m in zip(shape, more, strict=True))

    def space_to_depth(self, x: Value, block_size: int, mode: str = "blocks_first", depth_axis: int = 1) -> Value:
        """See `symlayout.space_to_depth`; one block size for all spatial axes."""
        b, depth = block_size, depth_axis
        space = [a for a in range(1, len(x.shape)) if a != depth]
        shape = tuple(n // b if a in space else n for a, n in enumerate(x.shape))
        shape = (*shape[:depth], shape[depth] * b ** len(space), *shape[depth + 1 :])
        if self.has("space_to_depth", x, b, mode, depth):
            return self.record("space_to_depth", x, (b, mode, depth), shape)
        cut = tuple(itertools.chain(*((n // b, b) if a in space else (n,) for a, n in enumerate(x.shape))))
        places = list(itertools.accumulate((2 if a in space else 1 for a in range(len(x.shape))), initial=0))
        blocks, channel = [places[a] + 1 for a in space], places[depth]
        moved = [*blocks, channel] if mode == "blocks_first" else [channel, *blocks]
        order = itertools.chain(*(moved if a == depth else [places[a]] for a in range(len(x.shape))))
        return self.reshape(self.transpose(self.reshape(x, cut), tuple(order)), shape)

    def depth_to_space(self, x: Value, block_size: int, mode: str = "blocks_first", depth_axis: int = 1) -> Value:
        """See `symlayout.depth_to_space`; one block size for all spatial axes."""
        b, depth = block_size, depth_axis
        space = [a for a in range(1, len(x.shape)) if a != depth]
        channels = x.shape[depth] // b ** len(space)
        shape = tuple(channels if a == depth else n * b if a in space else n for a, n in enumerate(x.shape))
        if self.has("depth_to_space", x, b, mode, depth):
            return self.record("depth_to_space", x, (b, mode, depth), shape)
        blocks = [b] * len(space)
        digits = (*blocks, channels) if mode == "blocks_first" else (channels, *blocks)
        cut = (*x.shape[:depth], *digits, *x.shape[depth + 1 :])
        first = depth if mode == "blocks_first" else depth + 1  # the first axis of the block's digits
        channel = depth + len(space) if mode == "blocks_first" else depth
        place = {a: a if a < depth else a + len(space) for a in range(len(x.shape))} | {depth: channel}
        order = itertools.chain(
            *([place[a], first + space.index(a)] if a in space else [place[a]] for a in range(len(x.shape)))
        )
        return self.reshape(self.transpose(self.reshape(x, cut), tuple(order)), shape)


def trace(chain: Chain, shape: Shape, verbs: Mapping[str, Callable[..., bool]]) -> list[Move]:
    """Return *chain* on an array of *shape* as moves in *verbs*.  The last move makes the result.

    Raises
    ------
    UnsupportedError
        The chain cannot be expressed in *verbs*.
    """
    notes = CallRecorder(verbs)
    chain(notes, Value(notes, 0, shape))
    return notes.moves


def output_shape(chain: Chain, shape: Shape) -> Shape:
    """Return the shape of the result of *chain* on an array of *shape*.

    >>> output_shape(lambda op, x: op.transpose(x[:, 1:], (1, 0)), (2, 5))
    (4, 2)
    """
    notes = CallRecorder(_AnyVerb())
    result: Value = chain(notes, Value(notes, 0, shape))
    return result.shape


class _AnyVerb(dict[str, Callable[..., bool]]):
    """The verbs of a library that has all of them."""

    def __contains__(self, verb: object) -> bool:
        return True

    def __missing__(self, verb: str) -> Callable[..., bool]:
        return lambda *_: True


def _axes(axis: int | Sequence[int] | None, x: Value) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(len(x.shape)))
    return (axis,) if isinstance(axis, int) else tuple(axis)
