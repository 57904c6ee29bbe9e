"""Call what generated kernels call: each leaf of the runtime header, on random counts and strides.

What a leaf writes is written down here once more, as one assignment between two arrays of offsets; the whole buffer is
compared, so that nothing else may have changed.
"""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SHORT = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 17, 24, 31, 32, 33)
LONG = (40, 63, 64, 65, 66, 100, 127, 128, 129, 200, 257)
MOST = 150_000
"""Elements of the larger face."""
SPARE = 64


def _strides(rng: random.Random, extents: list[int], inner: int) -> tuple[list[int], int]:
    """Return strides for axes of these extents around *inner* contiguous elements, and the offset of the first.

    The axes lie inside each other in any order, with and without room between, forwards and backwards.
    """
    strides, first, step = [0] * len(extents), 0, inner
    for k in rng.sample(range(len(extents)), len(extents)):
        step += rng.choice([0, 0, 0, 1, 5])
        backwards = rng.random() < 1 / 8
        strides[k] = -step if backwards else step
        first += step * max(extents[k] - 1, 0) if backwards else 0
        step *= max(extents[k], 1)
    return strides, first


def _offsets(extents: list[int], strides: list[int]) -> Array:
    grids = np.meshgrid(*(np.arange(max(n, 0)) * s for n, s in zip(extents, strides, strict=True)), indexing="ij")
    return np.asarray(sum(grids))


class Leaves:
    """The leaves for elements of one size, and a random number for each argument."""

    def __init__(self, library: ctypes.CDLL, dtype: Any, seed: int) -> None:
        self.library, self.dtype = library, np.dtype(dtype)
        self.rng = random.Random(f"{seed} {self.dtype}")

    def count(self, most: int = MOST) -> int:
        """Return a count, often little, of at most *most*."""
        return min(most, self.rng.choice(self.rng.choice([SHORT, SHORT, SHORT, LONG])))

    def counts(self, number: int) -> list[int]:
        """Return *number* counts whose product is at most `MOST`."""
        found = [self.count() for _ in range(number)]
        while math.prod(max(n, 1) for n in found) > MOST:
            found[self.rng.randrange(number)] = self.rng.choice(SHORT)
        return found

    def check(
        self, call: Callable[..., None], name: str, write: Array, read: Array | None, at: int, start: int
    ) -> None:
        """Call a leaf that reads the offsets *read* from *start* on, or a fill, and writes *write* from *at* on."""
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        lead, ahead = (self.rng.choice([0, self.dtype.itemsize * self.rng.randrange(SPARE), 1, 24]) for _ in "ab")
        size = at + int(write.max(initial=0)) + 1 + SPARE
        source_size = 1 if read is None else start + int(read.max(initial=0)) + 1
        to = rng.integers(0, 255, lead + size * self.dtype.itemsize, np.uint8)[lead:].view(self.dtype)
        source = rng.integers(0, 255, ahead + source_size * self.dtype.itemsize, np.uint8)[ahead:].view(self.dtype)
        wanted = to.copy()
        wanted[at + write] = source[0] if read is None else source[start + read]
        call(ctypes.c_void_p(to.ctypes.data), ctypes.c_void_p(source.ctypes.data))
        assert np.array_equal(to, wanted), f"{name} of {self.dtype.itemsize} bytes: not what its comment says"

    def copy(self) -> None:
        """``to[at + i] = from[start + i]``."""
        (n,), at, start = self.counts(1), self.rng.randrange(9), self.rng.randrange(9)
        one = _offsets([n], [1])
        self.check(
            lambda to, source: self.library.call_copy(to, _int(at), source, _int(start), _int(n)),
            f"sl_copy({n})", one, one, at, start,
        )  # fmt: skip

    def copy_rows(self) -> None:
        """``to[at + i*to_step + j] = from[start + i*step + j]``."""
        rows, n = self.counts(2)
        n = self.rng.choice([1, n, n])
        (to_step,), at = _strides(self.rng, [rows], max(n, 1))
        (step,), start = _strides(self.rng, [rows], self.rng.choice([1, max(n, 1)]))
        write, read = _offsets([rows, n], [to_step, 1]), _offsets([rows, n], [step, 1])
        self.check(
            lambda to, source: self.library.call_copy_rows(
                to, *map(_int, (at, to_step)), source, *map(_int, (start, step, rows, n))
            ),
            f"sl_copy_rows({to_step}, {step}, {rows}, {n})", write, read, at, start,
        )  # fmt: skip

    def fill(self) -> None:
        """``to[at + i] = value``."""
        (n,), at = self.counts(1), self.rng.randrange(9)
        self.check(
            lambda to, value: self.library.call_fill(to, _int(at), value, _int(n)),
            f"sl_fill({n})", _offsets([n], [1]), None, at, 0,
        )  # fmt: skip

    def fill_rows(self) -> None:
        """``to[at + i*to_step + j] = value``."""
        rows, n = self.counts(2)
        n = self.rng.choice([1, n, n])
        (to_step,), at = _strides(self.rng, [rows], max(n, 1))
        self.check(
            lambda to, value: self.library.call_fill_rows(
                to, *map(_int, (at, to_step)), value, *map(_int, (rows, n))
            ),
            f"sl_fill_rows({to_step}, {rows}, {n})", _offsets([rows, n], [to_step, 1]), None, at, 0,
        )  # fmt: skip

    def split(self) -> None:
        """``to[at + c*to_step + i*to_stride + j] = from[start + c*step + i + j*k]``, ``0 <= i < k``."""
        k, (count, columns) = self.rng.choice([2, 3, 4]), self.counts(2)
        (to_step, to_stride), at = _strides(self.rng, [count, k], max(columns, 1))
        (step,), start = _strides(self.rng, [count], k * max(columns, 1))
        write = _offsets([count, k, columns], [to_step, to_stride, 1])
        read = _offsets([count, k, columns], [step, 1, k])
        self.check(
            lambda to, source: self.library.call_split(
                _int(k), to, _int(at), _int(to_stride), source, *map(_int, (start, columns, count, to_step, step))
            ),
            f"sl_split_{k}({columns}, {count})", write, read, at, start,
        )  # fmt: skip

    def join(self) -> None:
        """``to[at + c*to_step + i*k + j] = from[start + c*step + i + j*stride]``, ``0 <= j < k``."""
        k, (count, rows) = self.rng.choice([2, 3, 4]), self.counts(2)
        (to_step,), at = _strides(self.rng, [count], k * max(rows, 1))
        (step, stride), start = _strides(self.rng, [count, k], max(rows, 1))
        write = _offsets([count, rows, k], [to_step, k, 1])
        read = _offsets([count, rows, k], [step, 1, stride])
        self.check(
            lambda to, source: self.library.call_join(
                _int(k), to, _int(at), source, *map(_int, (start, stride, rows, count, to_step, step))
            ),
            f"sl_join_{k}({rows}, {count})", write, read, at, start,
        )  # fmt: skip

    def transpose(self) -> None:
        """``to[at + c*to_step + offset of i + j] = from[start + c*step + i + offset of j]``."""
        extents = self.counts(self.rng.choice([2, 3, 5]))
        self.rng.shuffle(extents)
        rows, columns, count, rows_high, columns_high = (*extents, 1, 1, 1)[:5]
        if self.rng.random() < 1 / 4:  # long enough for more than one round of tiles
            rows, columns, count, rows_high, columns_high = self.rng.randrange(1, 1200), 0, 1, 1, 1
            columns = self.rng.randrange(1, MOST // rows)
        height, width = max(rows, 0) * max(rows_high, 0), max(columns, 0) * max(columns_high, 0)
        (to_step, to_leap, to_row), at = _strides(self.rng, [count, rows_high, rows], max(width, 1))
        (step, leap, column), start = _strides(self.rng, [count, columns_high, columns], max(height, 1))
        all_rows = _offsets([rows_high, rows], [to_leap, to_row]).reshape(-1)
        all_columns = _offsets([columns_high, columns], [leap, column]).reshape(-1)
        some = np.arange(max(count, 0))[:, None, None]
        write = some * to_step + all_rows[:, None] + np.arange(width)
        read = some * step + np.arange(height)[:, None] + all_columns
        axis = ctypes.c_int64 * 4
        self.check(
            lambda to, source: self.library.call_transpose(
                to, _int(at), axis(rows, to_row, rows_high, to_leap),
                source, _int(start), axis(columns, column, columns_high, leap),
                *map(_int, (count, to_step, step)),
            ),
            f"sl_transpose({[rows, to_row, rows_high, to_leap]}, {[columns, column, columns_high, leap]}, "
            f"{count}, {to_step}, {step})", write, read, at, start,
        )  # fmt: skip


def _int(n: int) -> ctypes.c_int64:
    return ctypes.c_int64(n)


def exercise(library: ctypes.CDLL, dtype: Any, draws: int, seed: int) -> None:
    """Call each leaf *draws* times, and transposes, which have the most cases, four times as often."""
    leaves = Leaves(library, dtype, seed)
    once = (leaves.copy, leaves.copy_rows, leaves.fill, leaves.fill_rows, leaves.split, leaves.join)
    for _ in range(draws):
        for leaf in (*once, *[leaves.transpose] * 4):
            leaf()
