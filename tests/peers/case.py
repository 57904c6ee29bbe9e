"""One question that a framework and we both answer: an operation, the shapes it is applied to, its attributes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Entry = int | tuple[int, int | None]  # an extent, or an interval that it lies in

WORDS = (
    "constant", "edge", "reflect", "symmetric", "wrap", "replicate", "circular", "REFLECT", "SYMMETRIC", "DCR", "CRD",
    "blocks_first", "depth_first", "NHWC", "NCHW", "NCHW_VECT_C", "numpy", "explicit", "bidirectional", "",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """An operation on tensors of known shapes, and what of these shapes is known before.

    Attributes
    ----------
    op : str
        The operation, ``framework:Name``.
    shapes : tuple of tuple of int
        The shapes of the inputs.
    attributes : mapping
        By the framework's names.
    dtype : str
        The element type of the inputs.
    seed : int or None
        Of their elements; None is 0, 1, 2, ... in each input.
    joint : bool
        Whether the inputs are given as a list.
    known : tuple of tuple of Entry
        For each extent the extent itself, or an interval around it.
    """

    op: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: Mapping[str, Any]
    dtype: str = "float32"
    seed: int | None = 0
    joint: bool = False
    known: tuple[tuple[Entry, ...], ...] = field(default=())

    def arrays(self) -> list[Array]:
        """Return inputs of random bits, NaN payloads and negative zeros included.

        Float16 has no NaN: ONNX Runtime and OpenVINO compute through float32, which quiets them.
        """
        kind = np.dtype(self.dtype)
        if self.seed is None:
            return [np.arange(np.prod(shape, dtype=np.int64)).astype(kind).reshape(shape) for shape in self.shapes]
        rng = np.random.default_rng(self.seed)
        made = []
        for shape in self.shapes:
            count = int(np.prod(shape, dtype=np.int64))
            data = rng.bytes(count * kind.itemsize)
            if kind.kind == "b":
                data = bytes(byte & 1 for byte in data)
            array = np.frombuffer(data, kind).reshape(shape).copy()
            if kind == np.float16:
                array[np.isnan(array)] = -0.0
            made.append(array)
        return made

    def unknown(self) -> dict[str, int]:
        """Return the values of the extents that are not known, by the name of their dim (see `tensor`)."""
        return {
            f"x{k}.{axis}": n
            for k, (shape, entries) in enumerate(zip(self.shapes, self.known, strict=True))
            for axis, (n, entry) in enumerate(zip(shape, entries, strict=True))
            if isinstance(entry, tuple) and entry[0] != entry[1]
        }

    def neighbours(self, most: int) -> Iterator[Case]:
        """Yield the case for shapes that are possible, at most so many; where there is no limit, for some sizes."""
        ranges = [(e,) if isinstance(e, int) else _some(*e) for e in itertools.chain(*self.known)]
        for sizes in itertools.islice(itertools.product(*ranges), most):
            left = iter(sizes)
            yield replace(self, shapes=tuple(tuple(next(left) for _ in shape) for shape in self.shapes))


def _some(low: int, high: int | None) -> tuple[int, ...]:
    return (low, low + 1, low + 2, low + 9) if high is None else tuple(range(low, high + 1))


def blurred(rng: random.Random, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[Entry, ...], ...]:
    """Return for each extent what is known of it: all, nothing, or an interval."""

    def entry(n: int) -> Entry:
        kind = rng.random()
        if kind < 0.45:
            return n
        if kind < 0.6:
            return (0, None)
        return max(0, n - rng.randint(0, 2)), rng.choice((None, n + rng.randint(0, 2), n + rng.randint(0, 2)))

    return tuple(tuple(entry(n) for n in shape) for shape in shapes)


def disturbed(rng: random.Random, case: Case) -> Case:
    """Return *case* with one thing changed: an entry of an attribute, its length or type, or the shape of an input."""
    attributes = dict(case.attributes)
    if attributes and rng.random() < 0.75:
        name = rng.choice(sorted(attributes))
        if rng.random() < 0.05:
            del attributes[name]
        else:
            attributes[name] = _changed(rng, attributes[name])
        return replace(case, attributes=attributes)
    shapes = [list(shape) for shape in case.shapes]
    shape = rng.choice(shapes)
    where = rng.randrange(len(shape) + 1)
    kind = rng.randrange(4)
    if kind == 0 or not shape:
        shape.insert(where, rng.randint(0, 3))
    elif kind == 1:
        del shape[where - 1]
    else:
        shape[where - 1] = max(0, rng.choice((0, 1, shape[where - 1] + 1, shape[where - 1] - 1)))
    return replace(case, shapes=tuple(map(tuple, shapes)))


def _changed(rng: random.Random, value: Any) -> Any:
    if isinstance(value, str):
        return rng.choice((*WORDS, value.upper(), value.lower()))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = (value + 1, value - 1, -value) if abs(value) < 2**60 else ()
        return rng.choice((*near, 0, -1, 1, value + 0.5))
    if not isinstance(value, list):
        return value
    value = list(value)
    kind = rng.randrange(6) if value else 0
    where = rng.randrange(max(1, len(value)))
    if kind == 0:
        value.insert(where, value[-1] if value else rng.randint(-1, 2))
    elif kind == 1:
        del value[where]
    elif kind == 2:
        value[where] = rng.choice(value)
    else:
        value[where] = _changed(rng, value[where])
    return value
