"""The kernel of a tensor: one callable for every shape that meets its requirements."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout import facade
from symlayout.errors import ArrayError, CompilerError, InconclusiveError
from symlayout.maps.adjoint_map import Adjoint, check_numbers
from symlayout.maps.composed_map import IndexMap
from symlayout.maps.interpreter import match_arrays, result_type
from symlayout.run.call_plan import Plan, check_threads, contiguous_strides, element_strides, worthwhile
from symlayout.run.lower import lower
from symlayout.run.repeat_calls import Memories, memory
from symlayout.run.storage import BYTE, Whole
from symlayout.tensors.bind_dims import bind_shapes, dim_values
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import new_array
from symlayout_codegen.forks import held_off
from symlayout_codegen.ir.nest import NUMBERS
from symlayout_codegen.jit import trampoline
from symlayout_codegen.jit.instruction_set import choose

if TYPE_CHECKING:
    from symlayout_codegen.ir.nest import Nest
    from symlayout_codegen.jit.kernel import CompiledKernel

Array = np.ndarray[Any, Any]

DEFAULT_DTYPE = np.dtype(np.float32)  # the element type of `Kernel.source` if none is given
_MAX_PLANS = 256  # plans that a kernel keeps; one more clears them all
_fallback_warned = threading.Event()


class Kernel:
    """A tensor's map as a callable on arrays.  `compile` makes one.

    Attributes
    ----------
    tensor : Tensor or Adjoint
        The tensor that the kernel computes.
    inputs : list of Tensor
        Its leaves, in the order in which a call takes their arrays.
    index_map : IndexMap
        The tensor's map.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> k = sl.compile(sl.transpose(sl.tensor("N, C")), dtype="int32")
    >>> k(np.arange(6, dtype="int32").reshape(2, 3)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    >>> k.index_map
    (i0, i1) -> (i1, i0)
    """

    def __init__(
        self,
        t: Tensor | Adjoint,
        dtype: np.dtype[Any] | None,
        storage: Whole,
        strict: bool,
        threads: int,
        tune: bool,
        march: str,
    ) -> None:
        self.tensor = t
        self._storage = storage
        self._chain = t = storage.chain(t)
        self._input = t.cotangent if isinstance(t, Adjoint) else t
        self.inputs = self._input.leaves()
        self._only_input = self.inputs[0].name if len(self.inputs) == 1 else ""
        self._dtype = dtype
        self._strict = strict
        self._threads = threads
        self._tune = tune
        self._march = march
        self._tuned: dict[Any, CompiledKernel] = {}
        self._sums = isinstance(t, Adjoint) and not t.copies
        self._natives: dict[tuple[int, str, bool], CompiledKernel | None] = {}
        self._nests: dict[tuple[str, bool], tuple[Nest, list[object]]] = {}
        self._plans: dict[Any, Plan] = {}
        self._memories = Memories(partial(memory, threads))
        self._call_remembered = self._memories.call(None)  # the function itself: a look-up takes half of its time
        self._lock = threading.Lock()
        if dtype is not None and self._native(dtype, strided=False) is not None:
            for fill in self._nest(self._number(dtype), strided=False)[1]:
                storage.fill(fill, dtype)

    @property
    def index_map(self) -> IndexMap:
        """The map that the kernel computes.  The kernel of an adjoint computes the transpose of this map."""
        return self.tensor.index_map

    @property
    def source(self) -> str:
        """The C code of the kernel for contiguous arrays of its element type (float32 if `compile` got none)."""
        with held_off:
            from symlayout_codegen.emit.printer import print_kernel

        dtype = self._dtype or DEFAULT_DTYPE
        return print_kernel(self._nest(self._number(dtype), strided=False)[0], dtype.itemsize)

    @property
    def schedule(self) -> str:
        """The schedule of the kernel in `source` as text: the choices, their reasons and the loops.

        With ``tune=True`` it is the schedule for the last new shapes.
        """
        native = next(reversed(self._tuned.values()), None)
        if native is None:
            native = self._native(self._dtype or DEFAULT_DTYPE, strided=False)
        return "interpreted by NumPy: no compiler" if native is None else native.schedule

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[Any, ...]]:
        """Return the tensor and the options: the kernel is built, or loaded from the cache, where it arrives."""
        options = (self._dtype, self._storage, self._strict, self._threads, self._tune, self._march)
        return type(self)._rebuilt, (self.tensor, *options)

    @classmethod
    def _rebuilt(
        cls,
        t: Any,
        dtype: np.dtype[Any] | None,
        storage: Whole,
        strict: bool,
        threads: int,
        tune: bool,
        march: str,
    ) -> Kernel:
        """Return a kernel of another process; `ProcessorError` if this processor lacks its instructions."""
        return cls(t, dtype, storage, strict, threads, tune, choose(march))

    def _repr_html_(self) -> str:
        return facade.kernel_html(self)

    def __repr__(self) -> str:
        elements = self._storage if self._storage.halves else self._dtype
        return f"Kernel({self.tensor!r}, {'any element type' if self._dtype is None else elements})"

    def __call__(
        self,
        *arrays: Any,
        out: Array | None = None,
        dims: Mapping[Any, Any] | None = None,
        threads: int | None = None,
        **named: Any,
    ) -> Array:
        """Return the elements of the tensor for the given inputs.

        Parameters
        ----------
        *arrays : array
            The leaves' arrays in order of first use, with any strides; or pass them by name.
        out : ndarray, optional
            The array to write, with the result's shape and dtype.  It is writeable and shares no memory with an input.
            It may be a memory-mapped file.
        dims : mapping, optional
            Values of dims that the shapes do not determine.
        threads : int, optional
            The most threads to use, instead of those of `compile`.  Small arrays take one.

        Raises
        ------
        ArrayError
            An array, or *out*, cannot be used.
        ShapeError
            A shape does not fit or a requirement fails, with the kind that construction has.  *out* is
            unchanged then: everything is checked before the first element is written.
        """
        if threads is None:
            remembered = self._call_remembered if dims is None else self._memories.call(dims)
            done = remembered(self._single_input(arrays, named) if named else arrays, out)
            if done is not None:
                return done
        return self._call(arrays, out, dims, threads, named)

    def _single_input(self, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the array of a kernel with a single input, passed by name, as a tuple; () if the call does not fit."""
        return () if arrays or len(named) != 1 else (named.get(self._only_input),)

    def _call(
        self,
        arrays: tuple[Any, ...],
        out: Array | None,
        dims: Mapping[Any, Any] | None,
        threads: int | None,
        named: Mapping[str, Any],
    ) -> Array:
        passed, dims = dims, {} if dims is None else dim_values(dims)
        given = match_arrays(self._input, arrays, named)
        inputs = [a if self._storage.straight(a) else np.asarray(a, order="C") for a in given]
        if out is not None:
            check_is_array(out)
        wanted = self._threads if threads is None else check_threads(threads)
        key = (
            tuple((a.shape, a.strides, a.dtype) for a in inputs),
            None if out is None else (out.shape, out.strides),
            tuple(dims.items()),
            wanted,
        )
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(inputs, out, dims, wanted)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
                self._tuned.clear()
            self._plans[key] = plan
        if out is None:
            out = new_array(plan.shape, plan.dtype)
        else:
            plan.check(out, given)
        if 0 in plan.shape:
            return out
        if plan.native is None or not self._storage.straight(out):
            np.copyto(out, self._storage.interpret(self._chain, inputs, plan.dims))
            return out
        plan.run(plan.native, inputs, out)
        native = self._as_wanted(plan.native)
        if native is not plan.native:
            plan = self._plans[key] = replace(plan, native=native)
        if threads is None and all(a is b for a, b in zip(inputs, given, strict=True)):
            self._memories.add(passed, plan, native, inputs, out)
            self._call_remembered = self._memories.call(None)
        return out

    def at_addresses(
        self, inputs: list[Array], out: Array, dims: Mapping[Any, Any] | None
    ) -> Callable[..., int] | None:
        """Return the call for arrays like these as a function of their addresses: of the inputs, and of the output.

        It returns 0, and checks nothing.  The caller makes sure that arrays of the same shapes and types are at the
        addresses, contiguous, and that the output overlaps no input.  None if C does not compute such a call.
        """
        if not all(a.size and a.flags.c_contiguous for a in (*inputs, out)):
            return None
        plan = self._plan(inputs, out, {} if dims is None else dim_values(dims), 1)
        if plan.native is None:
            return None
        return plan.native.whole().at_addresses(plan.arguments, plan.fills, len(inputs) + 1)

    def write(self, out: Array, inputs: list[Array], dims: Mapping[str, int]) -> bool:
        """Write *out* for the value of every dim, by name, and contiguous arrays of one type; return whether C did.

        The caller makes sure that arrays and *out* have the shapes that these dims give, and do not overlap.

        Raises
        ------
        ShapeError
            The dims break a precondition.
        """
        native = None if 0 in out.shape else self._native(out.dtype, strided=False)
        if native is None:
            return False
        held = self._nest(self._number(out.dtype), strided=False)[1]
        fills = np.frombuffer(b"".join(self._storage.fill(f, out.dtype) for f in held), BYTE) if held else None
        arguments = tuple([dims[name] for name in self._input.facts.dims])
        Plan(out.shape, out.dtype, arguments, native, fills, dict(dims), 1).run(native, inputs, out)
        self._as_wanted(native)
        return True

    def _plan(self, inputs: list[Array], out: Array | None, dims: dict[str, int], threads: int) -> Plan:
        for a in inputs:
            self._storage.check(a)
        dtype = result_type(inputs, self._dtype)
        if self._dtype is not None and dtype.newbyteorder("=") != self._dtype.newbyteorder("="):
            raise ArrayError(
                f"the kernel was compiled for {self._dtype}, the array has {dtype}\n"
                "  help: convert the array, or compile without dtype= for a kernel of every element type"
            )
        if isinstance(self.tensor, Adjoint):
            check_numbers(dtype)
        values = bind_shapes(self._input, [self._storage.tensor_shape(a.shape) for a in inputs], dims)
        bound = self._chain.bind(values)
        shape = self._storage.array_shape(tuple(e for e in bound.extents if isinstance(e, int)))
        strided = not all(a.flags.c_contiguous for a in (*inputs, *([] if out is None else [out])))
        native = None if 0 in shape else self._native(dtype, strided=strided)
        arguments = tuple(values.values())
        fills = None
        if native is not None:
            if strided:
                arguments += self._storage.strides(contiguous_strides(shape) if out is None else element_strides(out))
                arguments += tuple(s for a in inputs for s in self._storage.strides(element_strides(a)))
            held = self._nest(self._number(dtype), strided=strided)[1]
            fills = np.frombuffer(b"".join(self._storage.fill(f, dtype) for f in held), BYTE) if held else None
        plan = Plan(shape, dtype, arguments, native, fills, values, worthwhile(threads, prod(shape) * dtype.itemsize))
        if native is None or not self._tune:
            return plan
        return replace(plan, native=self._fastest(plan, native, inputs, strided))

    def _fastest(self, plan: Plan, native: CompiledKernel, inputs: list[Array], strided: bool) -> CompiledKernel:
        """Return the fastest candidate for a plan, timed on *inputs* and a new output."""
        with held_off:
            from symlayout_codegen.jit.tune import tune

        key = plan.arguments, plan.dtype.str, strided, plan.threads
        if key not in self._tuned:
            nest = self._nest(self._number(plan.dtype), strided=strided)[0]
            out = np.empty(plan.shape, plan.dtype)
            at = len(plan.dims)
            given = plan.arguments
            if strided:  # the timed output is a new array with other strides
                steps = self._storage.strides(contiguous_strides(plan.shape))
                given = (*given[:at], *steps, *given[at + len(steps) :])
            timed = replace(plan, arguments=given)
            arguments = (*plan.arguments, plan.threads)
            self._tuned[key] = tune(
                nest,
                plan.dtype.itemsize,
                native.whole(),
                arguments,
                lambda candidate: timed.run(candidate, inputs, out),
            )
        return self._tuned[key]

    def _number(self, dtype: np.dtype[Any]) -> str:
        """Return the backend's name of the type in which elements are added; "" if the kernel adds none.

        Raises
        ------
        CompilerError
            C has no such type.
        """
        if not self._sums:
            return ""
        name = f"u{dtype.name.removeprefix('u')}" if dtype.kind in "iu" else dtype.name
        if name not in NUMBERS or not dtype.isnative:
            raise CompilerError(f"C cannot add elements of dtype {dtype}\n  known: {', '.join(NUMBERS)}, int8 to int64")
        return name

    def _nest(self, number: str, *, strided: bool) -> tuple[Nest, list[object]]:
        with held_off, self._lock:
            if (number, strided) not in self._nests:
                nest = lower(self._chain, strided=strided, number=number, halves=self._storage.halves)
                self._nests[number, strided] = nest
            return self._nests[number, strided]

    def _native(self, dtype: np.dtype[Any], *, strided: bool) -> CompiledKernel | None:
        """Return the compiled kernel; None, after one warning in a process, if NumPy computes instead."""
        key = dtype.itemsize, dtype.str if self._sums else "", strided
        if key in self._natives:
            return self._natives[key]
        with held_off:
            from symlayout_codegen.jit.kernel import compile_nest

        try:
            with trampoline.beside():
                nest = self._nest(self._number(dtype), strided=strided)[0]
                native = compile_nest(nest, dtype.itemsize, march=self._march, ways=0)
        except (CompilerError, InconclusiveError) as error:
            if self._strict:
                raise
            if not _fallback_warned.is_set():
                _fallback_warned.set()
                warnings.warn(
                    f"NumPy computes what a C kernel would: {str(error).splitlines()[0]}\n"
                    "  help: compile(..., strict=True) raises instead",
                    RuntimeWarning,
                    stacklevel=3,
                )
            native = None
        self._natives[key] = native
        return native

    def _as_wanted(self, native: CompiledKernel) -> CompiledKernel:
        """Return *native* linked to what its last call wanted, for this call's shapes and new ones."""
        made = native.as_wanted()
        if made is not native:
            self._natives.update((key, made) for key, known in [*self._natives.items()] if known is native)
        return made


def check_is_array(out: Any) -> None:
    """Raise `ArrayError` for an *out* that is no array of NumPy itself: a subclass may give its elements a meaning."""
    if type(out) not in (np.ndarray, np.memmap):
        raise ArrayError(
            f"out= is a {type(out).__name__}, not a numpy array\n  help: pass a numpy.ndarray over the same memory"
        )
