"""Remember the checks of a call, so that the next call with the same shapes is fast.

Only a call that succeeded is remembered.  Its plan holds for all arrays of the same shapes, strides and types.  The
remaining checks of each call take less than a microsecond in Python (`Remembered`) or 100 ns in C (`Trampolined`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

_MAX_CALLS = 256  # remembered calls; one more clears them all
_MAX_DIMS = 64  # values of dims with a memory; one more clears them all


class Memory(Protocol):
    """The calls that a kernel remembers."""

    def call(self, arrays: tuple[Any, ...], out: Array | None, /) -> Array | None:
        """Return the result, in *out* or in a new array.

        Return None, with nothing done, if no such call is remembered or *out* may share memory with an input.
        """

    def add(self, plan: Plan, native: CompiledKernel, inputs: list[Array], out: Array) -> None:
        """Remember the call of *native* for *inputs* and *out*, which *plan* describes."""


def memory(threads: int) -> Memory:
    """Return a memory for the calls of a kernel that uses at most *threads* threads."""
    calls = trampoline.calls() if threads == 1 else None
    return Remembered() if calls is None else Trampolined(calls)


class Memories:
    """The memories of a kernel: one for the calls without ``dims=``, and one for each value that calls pass.

    A call passes the same dims if they have the same keys, in the same order, with the same integers.
    """

    def __init__(self, new: Callable[[], Memory]) -> None:
        self._new = new
        self._known: dict[Any, Memory] = {}

    def call(self, dims: Mapping[Any, Any] | None) -> Call:
        """Return `Memory.call` of the calls with *dims*, or a function that returns None if there are none."""
        known = self._known.get(_key(dims))
        return _no_call if known is None else known.call

    def add(
        self, dims: Mapping[Any, Any] | None, plan: Plan, native: CompiledKernel, inputs: list[Array], out: Array
    ) -> None:
        """Remember a call with *dims*; see `Memory.add`.  A mapping that is no dict of integers is not remembered."""
        key = _key(dims)
        if key is None:
            return
        if key not in self._known:
            if len(self._known) >= _MAX_DIMS:
                self._known.clear()
            self._known[key] = self._new()
        self._known[key].add(plan, native, inputs, out)


def _key(dims: Mapping[Any, Any] | None) -> tuple[tuple[Any, int], ...] | None:
    """Return what is equal for equal *dims*; None if that cannot be told: True equals 1, and 1.0 is refused."""
    if not dims and (dims is None or type(dims) is dict):
        return ()
    if type(dims) is not dict:
        return None
    for value in dims.values():
        if type(value) is not int:
            return None
    return tuple(dims.items())


def _no_call(arrays: tuple[Any, ...], out: Array | None) -> None:
    """Return None: no call is remembered."""


class Trampolined:
    """Calls that are remembered and made in C.  Each uses one thread."""

    def __init__(self, calls: Any) -> None:
        self._calls = calls(np.ndarray, np.empty)
        self.call = self._calls.call

    def add(self, plan: Plan, native: CompiledKernel, inputs: list[Array], out: Array) -> None:
        """See `Memory`."""
        strided = not all(a.flags.c_contiguous for a in (*inputs, out))
        fills = None if plan.fills is None else plan.fills.tobytes()
        numbers = np.array(plan.arguments, np.int64)
        arrays = (*inputs, out)
        sizes = tuple([a.itemsize for a in arrays])
        self._calls.add(native.packed, numbers, fills, strided, arrays, plan.shape, sizes, native)


class Remembered:
    """Calls that are remembered in Python.

    The key is the shapes of contiguous arrays.  For a single strided array, it also has the strides of the array and
    of *out*.
    """

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
        if len(self._known) >= _MAX_CALLS:
            self._known.clear()
        shapes = tuple([a.shape for a in inputs])
        if all(a.flags.c_contiguous for a in (out, *inputs)):
            self._known[shapes if len(shapes) > 1 else shapes[0]] = remember(plan, native, inputs)
        elif len(inputs) == 1 and (a := inputs[0]).size:
            made = remember_view(plan, native, a)
            self._known[a.shape, a.strides, out.strides] = made
            if out.flags.c_contiguous:  # a new array has the same strides
                self._known[a.shape, a.strides, None] = made


def remember(plan: Plan, native: CompiledKernel, inputs: list[Array]) -> Call:
    """Return *plan* as a function ``(arrays, out)``, for contiguous inputs with the shapes and types of *inputs*.

    *arrays* is one array, or a tuple if there are several inputs.  The function returns None, with nothing done, if an
    element type or *out* is not as planned, or *out* may share memory with an input.  It checks nothing else.
    """
    if len(inputs) > 1 or plan.threads > 1:
        several = _several(plan, native, inputs)
        return several if len(inputs) > 1 else lambda a, out: several((a,), out)
    shape, dtype, empty, ndarray = plan.shape, plan.dtype, np.empty, np.ndarray
    address, char, given = native.from_buffer, native.char, inputs[0].dtype
    fills = () if plan.fills is None else (native.pointer(plan.fills),)
    size, out_size = inputs[0].nbytes, prod(shape) * dtype.itemsize
    single_thread = partial(native.function, 0, 1, *plan.arguments)

    def one(a: Array, out: Array | None) -> Array | None:
        if a.dtype is not given and a.dtype != given:  # equal dtypes are usually one object: "is" is faster
            return None
        if out is None:
            out = empty(shape, dtype)
        elif type(out) is not ndarray or out.shape != shape or (out.dtype is not dtype and out.dtype != dtype):
            return None
        try:
            source, target = address(char, a), address(char, out, True)
        except (ValueError, BufferError):  # an array is not contiguous, or *out* is read-only
            return None
        if -out_size < target - source < size:  # the two overlap in memory
            return None
        if status := single_thread(source, target, *fills):
            raise _failure(plan, native, status)
        return out

    return one


def _several(plan: Plan, native: CompiledKernel, inputs: list[Array]) -> Call:
    """Return the function of `remember` for a tuple of inputs, on any number of threads."""
    shape, dtype = plan.shape, plan.dtype
    address, char = native.from_buffer, native.char
    fills = () if plan.fills is None else (native.pointer(plan.fills),)
    expected, out_size = [(a.nbytes, a.dtype) for a in inputs], prod(shape) * dtype.itemsize

    def several(arrays: tuple[Array, ...], out: Array | None) -> Array | None:
        if out is None:
            out = np.empty(shape, dtype)
        elif type(out) is not np.ndarray or out.shape != shape or out.dtype != dtype:
            return None
        sources = []
        try:
            target = address(char, out, True)
            for a, (size, given) in zip(arrays, expected, strict=True):
                if a.dtype is not given and a.dtype != given:
                    return None
                source = address(char, a)
                if -out_size < target - source < size:
                    return None
                sources.append(source)
        except (ValueError, BufferError):
            return None
        if status := native.run((*plan.arguments, *sources, target, *fills), plan.threads):
            raise _failure(plan, native, status)
        return out

    return several


def remember_view(plan: Plan, native: CompiledKernel, given: Array) -> Call:
    """Return the function of `remember` for one input of the rank and type of *given*, with any strides.

    The caller checks that the strides of the input and of *out* are those of the plan.
    """
    shape, dtype, pointer, expected = plan.shape, plan.dtype, native.pointer, given.dtype
    fills = () if plan.fills is None else (pointer(plan.fills),)
    first, first_out = _first(given.ndim), _first(len(shape))

    def view(a: Array, out: Array | None) -> Array | None:
        if a.dtype != expected:
            return None
        if out is None:
            out = np.empty(shape, dtype)
        elif type(out) is not np.ndarray or out.shape != shape or out.dtype != dtype or not out.flags.writeable:
            return None
        if np.may_share_memory(a, out):
            return None
        # Only a contiguous array gives its address: a view of the first element is contiguous and has the same address.
        if status := native.run((*plan.arguments, pointer(a[first]), pointer(out[first_out]), *fills), plan.threads):
            raise _failure(plan, native, status)
        return out

    return view


def _first(rank: int) -> tuple[Any, ...]:
    """Return an index that makes a view of the first element."""
    return (*[0] * (rank - 1), slice(1)) if rank else (...,)


def _failure(plan: Plan, native: CompiledKernel, status: int) -> ShapeError:
    error = native.failure(plan.arguments, status)
    return ShapeError(str(error), error.kind)
