"""Arrays in memory that processes share."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_PAGE = 4096
_OFFSET = 16  # from the start of a page, where malloc puts large arrays too


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array lies in an arena."""

    start: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """The bytes of the array."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize


class Arena:
    """Memory of *size* bytes, of which pages that nobody touches take no room.

    It has no name, so that nothing is left of it when its processes end, and is not limited as ``/dev/shm`` is.
    Another process maps it by its *descriptor*, which it inherits.
    """

    def __init__(self, size: int, descriptor: int | None = None) -> None:
        self.size = size
        self.descriptor = os.memfd_create("symlayout-benchmarks") if descriptor is None else descriptor
        if descriptor is None:
            os.ftruncate(self.descriptor, size)
        self._memory = mmap.mmap(self.descriptor, size)

    def array(self, place: Place) -> Array:
        """Return the array at *place*."""
        return np.ndarray(place.shape, place.dtype, self._memory, place.start)


def places(arrays: Iterable[tuple[tuple[int, ...], str]]) -> list[Place]:
    """Return places for arrays of these shapes and element types, one after another.

    >>> places([((2, 3), "uint8"), ((4,), "float32")])
    [Place(start=16, shape=(2, 3), dtype='uint8'), Place(start=4112, shape=(4,), dtype='float32')]
    """
    found: list[Place] = []
    start = _OFFSET
    for shape, dtype in arrays:
        found.append(place := Place(start, shape, dtype))
        start += -(-place.size // _PAGE) * _PAGE
    return found


def bytes_of(found: Iterable[Place]) -> int:
    """Return the bytes of an arena that has these places."""
    return max(place.start + place.size for place in found) + _PAGE
