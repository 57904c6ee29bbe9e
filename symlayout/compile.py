"""The kernel of a tensor: one callable for every shape that meets its requirements."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.adjoint import Adjoint, check_numbers
from symlayout.arrays import element_type, fill_element
from symlayout.bind import bind_shapes
from symlayout.errors import ArrayError, CompilerError, InconclusiveError, ShapeError
from symlayout.index_map import IndexMap
from symlayout.interpret import interpret, match_arrays, result_type
from symlayout.lower import lower
from symlayout.tensor import Tensor
from symlayout_codegen.errors import PreconditionFailed
from symlayout_codegen.nest import NUMBERS

if TYPE_CHECKING:
    from symlayout_codegen.kernel import CompiledKernel
    from symlayout_codegen.nest import Nest

Array = np.ndarray[Any, Any]

_DEFAULT = np.dtype(np.float32)  # where no element type was named
_MAX_PLANS = 256  # shapes whose checks one kernel remembers
_READ_ONLY = "out= is read-only\n  help: pass a writeable array"
_SHARED = "out= shares memory with an input\n  help: pass an array of its own"
_fallback_warned = threading.Event()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a call with given shapes, strides and dtypes comes to, all checks of them done."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    arguments: tuple[int, ...]
    native: CompiledKernel | None
    fills: Array | None
    dims: dict[str, int]
    empty: bool


class _Fast:
    """A call on one contiguous array and a contiguous output, of shapes and dtypes that were checked."""

    __slots__ = ("arguments", "dtype", "fills", "from_buffer", "function", "native")

    def __init__(self, plan: _Plan, native: CompiledKernel) -> None:
        self.native, self.dtype, self.arguments = native, plan.dtype, (0, 1, *plan.arguments)
        self.function, self.from_buffer = native.function, native.from_buffer
        self.fills = () if plan.fills is None else (native.from_buffer(plan.fills),)

    def __call__(self, a: Array, out: Array) -> Array:
        """Copy *a* into *out*, once it is writeable memory of its own."""
        if not out.flags.writeable:
            raise ArrayError(_READ_ONLY)
        if np.may_share_memory(a, out):  # for contiguous arrays this is exact
            raise ArrayError(_SHARED)
        status = self.function(*self.arguments, self.from_buffer(a), self.from_buffer(out), *self.fills)
        if status:
            error = self.native.failure(self.arguments[2:], status)
            raise ShapeError(str(error), error.kind)
        return out


class Kernel:
    """A tensor's map as a callable on arrays; made by `compile`.

    Attributes
    ----------
    tensor : Tensor or Adjoint
        What it computes.
    index_map : IndexMap
        The map that it carries out.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> k = compile(sl.transpose(sl.tensor("N, C")), dtype="int32")
    >>> k(np.arange(6, dtype="int32").reshape(2, 3)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    >>> k.index_map
    (i0, i1) -> (i1, i0)
    """

    def __init__(self, t: Tensor | Adjoint, dtype: np.dtype[Any] | None, strict: bool) -> None:
        self.tensor = t
        self._input = t.cotangent if isinstance(t, Adjoint) else t
        self._dtype = dtype
        self._strict = strict
        self._adds = isinstance(t, Adjoint) and not t.copies
        self._natives: dict[tuple[int, str, bool], CompiledKernel | None] = {}
        self._nests: dict[tuple[str, bool], tuple[Nest, list[object]]] = {}
        self._plans: dict[Any, _Plan] = {}
        self._fast: dict[Any, _Fast] = {}
        self._lock = threading.Lock()
        if dtype is not None:
            self._native(dtype, strided=False)

    @property
    def index_map(self) -> IndexMap:
        """The map that the kernel carries out, or, for an adjoint, whose transpose it does."""
        return self.tensor.index_map

    @property
    def source(self) -> str:
        """The C of the kernel for contiguous arrays of the compiled element type (float32 if none was named)."""
        from symlayout_codegen.printer import print_kernel

        dtype = self._dtype or _DEFAULT
        return print_kernel(self._nest(self._number(dtype), strided=False)[0], dtype.itemsize)

    @property
    def schedule(self) -> str:
        """The loops of that kernel, as text."""
        native = self._native(self._dtype or _DEFAULT, strided=False)
        return "interpreted by NumPy: no compiler" if native is None else native.schedule

    def __repr__(self) -> str:
        dtype = "any element type" if self._dtype is None else str(self._dtype)
        return f"Kernel({self.tensor!r}, {dtype})"

    def __call__(
        self, *arrays: Any, out: Array | None = None, dims: Mapping[Any, Any] | None = None, **named: Any
    ) -> Array:
        """Return the elements of the tensor for the given inputs.

        Parameters
        ----------
        *arrays : array
            The leaves' arrays in order of first use, with any strides; or pass them by name.
        out : ndarray, optional
            Where the result goes: of the result's shape and dtype, writeable, and apart from the inputs.  It may be
            a memory-mapped file.
        dims : mapping, optional
            Values of dims that the shapes do not determine.

        Raises
        ------
        ArrayError
            An array, or *out*, cannot be used.
        ShapeError
            A shape does not fit or a requirement fails, with the kind that construction has.  *out* is
            untouched then: everything is checked before the first element is written.
        """
        if out is not None and len(arrays) == 1 and dims is None and not named:
            (a,) = arrays
            if type(a) is np.ndarray and type(out) is np.ndarray:
                fast = self._fast.get((a.shape, a.strides, out.shape, out.strides))
                # a dtype that is not the very same object takes the way below, which compares
                if fast is not None and a.dtype is fast.dtype and out.dtype is fast.dtype:
                    return fast(a, out)
        return self._call(arrays, out, dims, named)

    def _call(
        self, arrays: tuple[Any, ...], out: Array | None, dims: Mapping[Any, Any] | None, named: Mapping[str, Any]
    ) -> Array:
        inputs = [_whole_strides(a) for a in match_arrays(self._input, arrays, named)]
        if out is not None and type(out) not in (np.ndarray, np.memmap):
            raise ArrayError(f"out= is a {type(out).__name__}, not a numpy array")
        key = (
            tuple((a.shape, a.strides, a.dtype) for a in inputs),
            None if out is None else out.strides,
            tuple((str(k), v) for k, v in dims.items()) if dims else None,
        )
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(inputs, out, dims)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
                self._fast.clear()
            self._plans[key] = plan
        if out is None:
            out = np.empty(plan.shape, plan.dtype)
        else:
            _check_out(out, plan, inputs)
        if plan.empty:
            return out
        if plan.native is None or any(s % out.itemsize for s in out.strides):
            np.copyto(out, interpret(self.tensor, *inputs, dims=plan.dims))
            return out
        fills = () if plan.fills is None else (plan.fills,)
        try:
            plan.native(plan.arguments, [_memory(a) for a in inputs], _memory(out), *fills)
        except PreconditionFailed as error:
            raise ShapeError(str(error), error.kind) from error
        if len(inputs) == 1 and not dims and out.flags.c_contiguous and inputs[0].flags.c_contiguous:
            a = inputs[0]
            self._fast[a.shape, a.strides, out.shape, out.strides] = _Fast(plan, plan.native)
        return out

    def _plan(self, inputs: list[Array], out: Array | None, dims: Mapping[Any, Any] | None) -> _Plan:
        dtype = result_type(inputs)
        if self._dtype is not None and dtype.newbyteorder("=") != self._dtype.newbyteorder("="):
            raise ArrayError(f"the kernel was compiled for {self._dtype}, the array has {dtype}")
        if isinstance(self.tensor, Adjoint):
            check_numbers(dtype)
        values = bind_shapes(self._input, [a.shape for a in inputs], dims)
        bound = self.tensor.bind(values)
        shape = tuple(e for e in bound.extents if isinstance(e, int))
        strided = not all(a.flags.c_contiguous for a in (*inputs, *([] if out is None else [out])))
        native = None if 0 in shape else self._native(dtype, strided=strided)
        arguments = tuple(values.values())
        fills = None
        if native is not None:
            if strided:
                arguments += _contiguous(shape) if out is None else _element_strides(out)
                arguments += tuple(s for a in inputs for s in _element_strides(a))
            held = self._nest(self._number(dtype), strided=strided)[1]
            fills = np.frombuffer(b"".join(fill_element(f, dtype).tobytes() for f in held), np.uint8) if held else None
        return _Plan(shape, dtype, arguments, native, fills, values, 0 in shape)

    def _number(self, dtype: np.dtype[Any]) -> str:
        """Return the type in which elements add up, by the backend's name; "" where they only move.

        Raises
        ------
        CompilerError
            C has no such type.
        """
        if not self._adds:
            return ""
        name = f"u{dtype.name.removeprefix('u')}" if dtype.kind in "iu" else dtype.name
        if name not in NUMBERS or not dtype.isnative:
            raise CompilerError(f"C adds up no elements of dtype {dtype}\n  known: {', '.join(NUMBERS)}, int8 to int64")
        return name

    def _nest(self, number: str, *, strided: bool) -> tuple[Nest, list[object]]:
        with self._lock:
            if (number, strided) not in self._nests:
                self._nests[number, strided] = lower(self.tensor, strided=strided, number=number)
            return self._nests[number, strided]

    def _native(self, dtype: np.dtype[Any], *, strided: bool) -> CompiledKernel | None:
        """Return the compiled kernel, or None where NumPy has to do it (after one warning)."""
        key = dtype.itemsize, dtype.str if self._adds else "", strided
        if key in self._natives:
            return self._natives[key]
        from symlayout_codegen.kernel import compile_nest

        try:
            native = compile_nest(self._nest(self._number(dtype), strided=strided)[0], dtype.itemsize)
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


def compile(
    t: Tensor | Adjoint, dims: Mapping[Any, Any] | None = None, dtype: Any = None, *, strict: bool = False
) -> Kernel:
    """Return a kernel that computes *t*: one for all shapes that meet ``t.requires``.

    Parameters
    ----------
    t : Tensor or Adjoint
        The kernel of an adjoint takes the cotangent ``dy``.  Sums are of integers, which wrap, or of floats or
        complex numbers in the machine's byte order; NumPy computes those for which C has no type.
    dims : mapping, optional
        Dims to fix; the kernel is specialised on them.
    dtype : dtype_like, optional
        The element type; without it the kernel serves every element type, compiled for the sizes it meets.
    strict : bool
        Raise where there is no compiler or it fails, instead of computing in NumPy with a warning.

    Raises
    ------
    CompilerError, InconclusiveError
        With *strict*: the C could not be built, or not be shown to be right.
    ShapeError
        A dim's value is out of bounds or breaks a requirement.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> N, C = sl.dims("N C")
    >>> k = compile(sl.flip(sl.tensor((N, C)), axis=1), strict=True)
    >>> out = np.empty((2, 3), "uint8")
    >>> k(np.arange(6, dtype="uint8").reshape(2, 3), out=out) is out
    True
    >>> out.tolist()
    [[2, 1, 0], [5, 4, 3]]
    """
    if not isinstance(t, Tensor | Adjoint):
        raise TypeError(f"compile takes a symlayout tensor, not {type(t).__name__}")
    if dims:
        t = t.subs(dims)
    chosen = t.dtype if dtype is None else element_type(dtype)
    if t.dtype is not None and chosen is not None and chosen.newbyteorder("=") != t.dtype.newbyteorder("="):
        raise ArrayError(f"dtype {chosen} is not the tensor's {t.dtype}")
    if isinstance(t, Adjoint) and chosen is not None:
        check_numbers(chosen)
    kernel = Kernel(t, chosen, strict)
    if strict and chosen is None:
        kernel._native(_DEFAULT, strided=False)
    return kernel


def _memory(a: Array) -> Any:
    return a if a.flags.c_contiguous else a.__array_interface__["data"][0]


def _whole_strides(a: Array) -> Array:
    """Return *a*, or a copy where a stride is no whole number of elements, as in a field of a structure."""
    return np.ascontiguousarray(a) if any(s % a.itemsize for s in a.strides) else a


def _check_out(out: Array, plan: _Plan, inputs: list[Array]) -> None:
    if out.shape != plan.shape:
        raise ShapeError(f"out= has shape {out.shape}, the result has {plan.shape}", "size_mismatch")
    if out.dtype != plan.dtype:
        raise ArrayError(f"out= has dtype {out.dtype}, the result has {plan.dtype}")
    if not out.flags.writeable:
        raise ArrayError(_READ_ONLY)
    for a in inputs:
        if np.may_share_memory(a, out) and np.shares_memory(a, out):
            raise ArrayError(_SHARED)
    if not out.flags.c_contiguous and _overlaps_itself(out):
        raise ArrayError("out= overlaps itself: two of its elements are one place in memory")


def _overlaps_itself(a: Array) -> bool:
    """Return whether two elements may share memory; strides that nest, as all views of arrays have, may not."""
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach = stride * (n - 1) + reach
    return False


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major array."""
    return tuple(prod(shape[k + 1 :]) for k in range(len(shape)))


def _element_strides(a: Array) -> tuple[int, ...]:
    return tuple(s // a.itemsize for s in a.strides)
