"""Arrays of any type and layout, between pages that nobody may touch."""

from __future__ import annotations

import ctypes
import math
import mmap
import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.strategies import DTYPES

Array = np.ndarray[Any, Any]
LAYOUTS = ("contiguous", "fortran", "reversed", "stepped", "permuted", "unaligned", "field", "broadcast")
PLACES = ("at the end", "at the beginning", "inside")
LIBC = ctypes.CDLL(None, use_errno=True)
SIZE = 1 << 22  # bytes of the largest array, with what is between its elements
MOST = 1 << 20  # of the random bytes that arrays are made of


class Guarded:
    """Memory of *size* bytes and more, between two pages without any access."""

    def __init__(self, size: int) -> None:
        page = mmap.PAGESIZE
        self.size = -(-size // page) * page
        self.memory = mmap.mmap(-1, self.size + 2 * page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for guard in (address, address + page + self.size):
            if LIBC.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.bytes: Array = np.ndarray(self.size, np.uint8, self.memory, page)

    def part(self, size: int, place: str) -> Array:
        """Return *size* bytes that end or begin at such a page, or lie apart from both."""
        start = {"at the end": self.size - size, "at the beginning": 0}.get(place, (self.size - size) // 2 // 64 * 64)
        return self.bytes[start : start + size]


def by_size() -> dict[int, list[np.dtype[Any]]]:
    """Return the element types by their size in bytes."""
    found: dict[int, list[np.dtype[Any]]] = defaultdict(list)
    for name in DTYPES:
        found[np.dtype(name).itemsize].append(np.dtype(name))
    return dict(found)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the elements of an array lie: *strides* in bytes, and the first element *start* bytes after the lowest."""

    name: str
    strides: tuple[int, ...]
    start: int
    size: int

    def view(self, part: Array, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return the array in the bytes *part*."""
        return np.ndarray(shape, dtype, part, self.start, self.strides)


def layout(rnd: random.Random, name: str, shape: tuple[int, ...], itemsize: int) -> Layout:
    """Return the layout *name* for an array of *shape*."""
    axes = list(range(len(shape)))[::-1]
    if name == "fortran":
        axes.reverse()
    elif name == "permuted":
        rnd.shuffle(axes)
    unit = itemsize + rnd.choice((1, 3, itemsize)) if name == "field" else itemsize
    strides, stride = [0] * len(shape), unit
    for axis in axes:
        gap = rnd.choice((1, 2, 3)) if name in ("stepped", "permuted") else 1
        sign = -1 if name == "reversed" or (name == "permuted" and rnd.random() < 0.3) else 1
        repeats = name == "broadcast" and rnd.random() < 0.5
        strides[axis] = 0 if repeats else sign * gap * stride
        stride *= 1 if repeats else gap * max(shape[axis], 1)
    if 0 in shape:
        return Layout(name, tuple(strides), 0, 0)
    if unit * math.prod(shape) < SIZE < stride:
        return layout(rnd, "contiguous", shape, itemsize)
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    below = -sum(min(r, 0) for r in reach)
    odd = name == "unaligned"
    return Layout(name, tuple(strides), below + odd, below + sum(max(r, 0) for r in reach) + itemsize + odd)


class Bytes:
    """Random bytes, made once."""

    def __init__(self, seed: int) -> None:
        self._bytes = np.random.default_rng(seed).integers(0, 256, 2 * MOST, np.uint8)
        self._bits = self._bytes & 1

    def fill(self, rnd: random.Random, part: Array, dtype: np.dtype[Any]) -> None:
        """Put random bytes into *part*, of which a bool has 0 and 1 only."""
        start = rnd.randrange(MOST)
        source = self._bits if dtype.kind == "b" else self._bytes
        part[:] = np.resize(source[start:], part.size) if part.size > MOST else source[start : start + part.size]
