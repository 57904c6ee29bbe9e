"""Calls of a kernel: what is checked of the arrays.

The shapes, strides and types of a call make a *plan*, once.  Each call checks what a plan cannot know: that *out* is
writeable and shares no memory with an input.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import ArrayError, ShapeError, shown
from symlayout_codegen.errors import PreconditionFailed

if TYPE_CHECKING:
    from symlayout_codegen.jit.kernel import CompiledKernel

Array = np.ndarray[Any, Any]

_WORK = 100_000  # of NumPy's search for an element in common: milliseconds
GRAIN = 1 << 21
"""Bytes of output below which no thread of its own is worth it: to wake one takes as long as to write them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call with given shapes, strides and dtypes comes to, all checks of them done.

    *native* is None where NumPy computes the result, with *dims*; *fills* has the bytes of the fills.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    arguments: tuple[int, ...]
    native: CompiledKernel | None
    fills: Array | None
    dims: dict[str, int]
    threads: int

    def check(self, out: Array, inputs: list[Array]) -> None:
        """Raise unless *out* can be written: of the shape and dtype, and memory of its own."""
        if out.shape != self.shape:
            raise ShapeError(f"out= has shape {out.shape}, the result has {self.shape}", "size_mismatch")
        if out.dtype != self.dtype:
            raise ArrayError(f"out= has dtype {out.dtype}, the result has {self.dtype}")
        if not out.flags.writeable:
            raise ArrayError("out= is read-only\n  help: pass a writeable array")
        if any(_share_memory(a, out) for a in inputs):
            raise ArrayError("out= shares memory with an input\n  help: pass an array of its own")
        if not out.flags.c_contiguous and _overlaps_itself(out):
            raise ArrayError("out= overlaps itself: two of its elements are one place in memory")

    def run(self, native: CompiledKernel, inputs: list[Array], out: Array) -> None:
        """Have *native* write *out*, which has been checked."""
        try:
            native(self.arguments, [_memory(a) for a in inputs], _memory(out), self.fills, self.threads)
        except PreconditionFailed as error:
            raise ShapeError(str(error), error.kind) from error


def check_threads(threads: Any) -> int:
    """Return the number of threads; `ShapeError` unless it is an integer from 1."""
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise ShapeError(f"threads = {shown(threads)} is not an integer", "attr_dtype")
    if (n := int(threads.__index__())) < 1:
        raise ShapeError(f"threads = {n} is less than 1", "infeasible")
    return n


def worthwhile(threads: int, nbytes: int) -> int:
    """Return on how many of *threads* to write *nbytes*: no more than there are processors, each with enough to do."""
    if threads == 1 or nbytes < 2 * GRAIN:
        return 1
    return min(threads, nbytes // GRAIN, processors())


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major array."""
    return tuple(prod(shape[k + 1 :]) for k in range(len(shape)))


def element_strides(a: Array) -> tuple[int, ...]:
    """Return the strides of *a* in elements."""
    return tuple(s // a.itemsize for s in a.strides)


def _memory(a: Array) -> Any:
    return a if a.flags.c_contiguous else a.__array_interface__["data"][0]


def _share_memory(a: Array, b: Array) -> bool:
    """Return whether an element of *a* may be one of *b*: exactly, unless strides make that too hard to say."""
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=_WORK)  # type: ignore[arg-type]  # any number will do
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(a: Array) -> bool:
    """Return whether two elements may share memory; strides that nest, as all views of arrays have, may not."""
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach = stride * (n - 1) + reach
    return False
