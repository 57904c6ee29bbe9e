"""Check the arrays of a kernel's call.

What follows from the shapes, strides and element types of the arrays is a *plan*, which is made once.  What depends
on the arrays themselves is checked at each call: *out* is writeable and shares no memory with an input.
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

_MAX_WORK = 100_000  # candidates in NumPy's search for a shared element; as many take milliseconds
GRAIN = 1 << 21
"""The least bytes of output for each thread: to wake a thread takes as long as to write them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The checked call of a kernel for given shapes, strides and dtypes.

    Attributes
    ----------
    shape, dtype : of the result.
    arguments : the integers that the C function takes before its arrays.
    native : the compiled kernel; None if NumPy computes the result.
    fills : the bytes of all fills; None if there are none.
    dims : the value of each dim.
    threads : the number of threads, at least 1.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    arguments: tuple[int, ...]
    native: CompiledKernel | None
    fills: Array | None
    dims: dict[str, int]
    threads: int

    def check(self, out: Array, inputs: list[Array]) -> None:
        """Raise unless *out* has the result's shape and dtype, is writeable and shares no memory."""
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
        """Call *native* to write *out*.  *out* has passed `check`."""
        try:
            native(self.arguments, [_memory(a) for a in inputs], _memory(out), self.fills, self.threads)
        except PreconditionFailed as error:
            raise ShapeError(str(error), error.kind) from error


def check_threads(threads: Any) -> int:
    """Return *threads* as an int; raise `ShapeError` unless it is an integer of at least 1."""
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise ShapeError(f"threads = {shown(threads)} is not an integer", "attr_dtype")
    if (n := int(threads.__index__())) < 1:
        raise ShapeError(f"threads = {n} is less than 1", "infeasible")
    return n


def worthwhile(threads: int, nbytes: int) -> int:
    """Return how many of *threads* to use for *nbytes* of output.

    The result is at most the number of processors, and each thread has at least `GRAIN` bytes.
    """
    if threads == 1 or nbytes < 2 * GRAIN:
        return 1
    return min(threads, nbytes // GRAIN, processors())


def processors() -> int:
    """Return the number of processors that this process may use."""
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
    """Return whether *a* and *b* share an element; True if the strides make that too hard to decide."""
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=_MAX_WORK)  # type: ignore[arg-type]  # typed as -1 or 0 only
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(a: Array) -> bool:
    """Return whether two elements of *a* may share memory.

    They do not if each stride is at least the extent in memory of the axes with smaller strides.
    """
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach = stride * (n - 1) + reach
    return False
