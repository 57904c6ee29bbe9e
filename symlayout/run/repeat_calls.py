"""What is remembered of the checks of a call, so that the next one like it takes no time.

A call that is remembered was made with success: its plan holds for all arrays of the same shapes, strides and types.
What is left to check of them has a good part of a microsecond, in Python, or of 100 ns in C (`Trampolined`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symlayout.errors import ShapeError
from symlayout.run.call_plan import Array, Plan
from symlayout_codegen.jit import trampoline

if TYPE_CHECKING:
    from symlayout_codegen.jit.kernel import CompiledKernel

Call = Callable[..., Array | None]

_MOST = 256  # calls that are remembered


class Memory(Protocol):
    """The calls that a kernel remembers."""

    def call(self, arrays: tuple[Any, ...], out: Array | None, /) -> Array | None:
        """Return the result, in *out* or in a new array.

        None, with nothing done, where no such call is remembered, or *out* may share memory with an input.
        """

    def add(self, plan: Plan, native: CompiledKernel, inputs: list[Array], out: Array) -> None:
        """Remember the call that *native* has done for *inputs* and *out*, by *plan*."""


def memory(threads: int) -> Memory:
    """Return where a kernel keeps its calls, which are made on up to so many threads."""
    calls = trampoline.calls() if threads == 1 else None
    return Remembered() if calls is None else Trampolined(calls)


class Trampolined:
    """The calls in C, one thread each."""

    def __init__(self, calls: Any) -> None:
        self._calls = calls(np.ndarray, np.empty)
        self.call = self._calls.call

    def add(self, plan: Plan, native: CompiledKernel, inputs: list[Array], out: Array) -> None:
        """See `Memory`."""
        strided = not all(a.flags.c_contiguous for a in (*inputs, out))
        fills = None if plan.fills is None else plan.fills.tobytes()
        numbers = np.array(plan.arguments, np.int64)
        size = plan.dtype.itemsize
        self._calls.add(native.packed, numbers, fills, strided, (*inputs, out), plan.shape, plan.dtype, size)


class Remembered:
    """The calls in Python: of contiguous arrays by their shapes, of one array also by its strides and *out*'s."""

    def __init__(self) -> None:
        self._known: dict[Any, Call] = {}

    def call(self, arrays: tuple[Any, ...], out: Array | None, /) -> Array | None:
        """See `Memory`."""
        if len(arrays) != 1:
            known = self._known.get(tuple([a.shape for a in arrays if type(a) is np.ndarray]))
            return None if known is None else known(arrays, out)
        a = arrays[0]
        if type(a) is not np.ndarray:
            return None
        known = self._known.get(a.shape)
        if known is not None and (done := known(a, out)) is not None:
            return done
        known = self._known.get((a.shape, a.strides, out.strides if type(out) is np.ndarray else None))
        return None if known is None else known(a, out)

    def add(self, plan: Plan, native: CompiledKernel, inputs: list[Array], out: Array) -> None:
        """See `Memory`."""
        if len(self._known) >= _MOST:
            self._known.clear()
        shapes = tuple([a.shape for a in inputs])
        if all(a.flags.c_contiguous for a in (out, *inputs)):
            self._known[shapes if len(shapes) > 1 else shapes[0]] = remember(plan, native, inputs)
        elif len(inputs) == 1 and (a := inputs[0]).size:
            made = remember_view(plan, native, a.ndim)
            self._known[a.shape, a.strides, out.strides] = made
            if out.flags.c_contiguous:  # as a new array is
                self._known[a.shape, a.strides, None] = made


def remember(plan: Plan, native: CompiledKernel, inputs: list[Array]) -> Call:
    """Return *plan* as a function of one input, or of a tuple of several, with the shapes of *inputs*; and of *out*.

    What is left to check takes no time: it has a good part of a microsecond.  The function returns None, with nothing
    done, where a type or *out* is not as planned, or *out* may share memory with an input.
    """
    if len(inputs) > 1 or plan.threads > 1:
        several = _several(plan, native, inputs)
        return several if len(inputs) > 1 else lambda a, out: several((a,), out)
    shape, dtype, empty, ndarray = plan.shape, plan.dtype, np.empty, np.ndarray
    address, char = native.from_buffer, native.char
    fills = () if plan.fills is None else (native.pointer(plan.fills),)
    size, behind = inputs[0].nbytes, -prod(shape) * dtype.itemsize
    alone = partial(native.function, 0, 1, *plan.arguments)

    def one(a: Array, out: Array | None) -> Array | None:
        if a.dtype is not dtype and a.dtype != dtype:  # most types are one object each
            return None
        if out is None:
            out = empty(shape, dtype)
        elif type(out) is not ndarray or out.shape != shape or (out.dtype is not dtype and out.dtype != dtype):
            return None
        try:
            source, target = address(char, a), address(char, out, True)
        except (ValueError, BufferError):  # an array that is not contiguous, or *out* is read-only
            return None
        if behind < target - source < size:
            return None
        if status := alone(source, target, *fills):
            raise _failure(plan, native, status)
        return out

    return one


def _several(plan: Plan, native: CompiledKernel, inputs: list[Array]) -> Call:
    """Return `remember`'s function of a tuple of inputs, on any number of threads."""
    shape, dtype = plan.shape, plan.dtype
    address, char = native.from_buffer, native.char
    fills = () if plan.fills is None else (native.pointer(plan.fills),)
    sizes, behind = [a.nbytes for a in inputs], -prod(shape) * dtype.itemsize

    def several(arrays: tuple[Array, ...], out: Array | None) -> Array | None:
        if out is None:
            out = np.empty(shape, dtype)
        elif type(out) is not np.ndarray or out.shape != shape or out.dtype != dtype:
            return None
        sources = []
        try:
            target = address(char, out, True)
            for a, size in zip(arrays, sizes, strict=True):
                if a.dtype is not dtype and a.dtype != dtype:
                    return None
                source = address(char, a)
                if behind < target - source < size:
                    return None
                sources.append(source)
        except (ValueError, BufferError):
            return None
        if status := native.run((*plan.arguments, *sources, target, *fills), plan.threads):
            raise _failure(plan, native, status)
        return out

    return several


def remember_view(plan: Plan, native: CompiledKernel, rank: int) -> Call:
    """Return the same function of one input of *rank*; the caller has checked its strides, and those of *out*."""
    shape, dtype, pointer = plan.shape, plan.dtype, native.pointer
    fills = () if plan.fills is None else (pointer(plan.fills),)
    first, first_out = _first(rank), _first(len(shape))

    def view(a: Array, out: Array | None) -> Array | None:
        if a.dtype != dtype:
            return None
        if out is None:
            out = np.empty(shape, dtype)
        elif type(out) is not np.ndarray or out.shape != shape or out.dtype != dtype or not out.flags.writeable:
            return None
        if np.may_share_memory(a, out):
            return None
        # A view of one element is contiguous, and its address is what the buffer of the whole would begin with.
        if status := native.run((*plan.arguments, pointer(a[first]), pointer(out[first_out]), *fills), plan.threads):
            raise _failure(plan, native, status)
        return out

    return view


def _first(rank: int) -> tuple[Any, ...]:
    """Return the index of the first element, as a view."""
    return (*[0] * (rank - 1), slice(1)) if rank else (...,)


def _failure(plan: Plan, native: CompiledKernel, status: int) -> ShapeError:
    error = native.failure(plan.arguments, status)
    return ShapeError(str(error), error.kind)
