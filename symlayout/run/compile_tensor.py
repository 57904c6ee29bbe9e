"""Compile a tensor: choose the kernel for what it computes, its element type and its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symlayout.errors import ArrayError
from symlayout.maps.adjoint_map import Adjoint, check_numbers
from symlayout.maps.gather_elements import int_extents
from symlayout.run.call_plan import check_threads
from symlayout.run.computed_kernel import ComputedKernel
from symlayout.run.kernel import DEFAULT_DTYPE, Kernel
from symlayout.run.storage import BYTE, WHOLE, nibbles
from symlayout.tensors.bind_dims import check_known
from symlayout.tensors.chain import Tensor, not_a_tensor
from symlayout.tensors.element_types import element_type
from symlayout_codegen.jit.instruction_set import choose


def compile(
    t: Tensor | Adjoint,
    dims: Mapping[Any, Any] | None = None,
    dtype: Any = None,
    *,
    strict: bool = False,
    threads: int = 1,
    tune: bool = False,
    march: str | None = None,
) -> Kernel:
    """Return a kernel that computes *t*, for all shapes that meet ``t.requires``.

    Parameters
    ----------
    t : Tensor or Adjoint
        The tensor to compute.  The kernel of an adjoint takes the cotangent ``dy``.  It adds integers, which wrap, and
        floats and complex numbers in the machine's byte order.  NumPy adds the types that C does not have.
    dims : mapping, optional
        Dims to fix.  The kernel is specialised for these values.
    dtype : dtype_like, optional
        The element type.  It replaces a type that the tensor declares, if elements are only moved.  Without either,
        the kernel takes every element type, and is compiled for each element size at the first call.  ``"uint4x2"``
        and ``"int4x2"`` are 4-bit integers, two in each byte along the last axis, the first in the low half: an array
        of shape ``(..., n)`` and type uint8 holds a tensor of shape ``(..., 2*n)``.  A kernel of unknown extents is
        linked anew after the first call for two to four rows, or for runs below 16 bytes: 0.2 s.
    strict : bool
        Raise if no C kernel can be built, instead of computing in NumPy with a warning.
    threads : int
        The most threads that a call uses, at least 1.  A call can override it.
    tune : bool
        Time the candidate schedules and take the fastest: at the first call with new shapes, or now if all dims have
        values.  The choice is kept in the cache; ``k.schedule`` explains it.
    march : str, optional
        The instruction set to compile for: ``"x86-64-v2"``, ``"x86-64-v3"``, ``"x86-64-v4"`` (or ``"v2"``, ...) or
        ``"native"``, which is everything that this processor has.  The default is the environment variable
        ``SYMLAYOUT_MARCH``, or else ``"native"``.

    Raises
    ------
    ProcessorError
        *march*, or ``SYMLAYOUT_MARCH``, is unknown, or this processor lacks some of its instructions.
    CompilerError
        With *strict*: there is no C compiler, or it fails.
    InconclusiveError
        With *strict*: the reads are not shown to be inside their sources.
    ArrayError
        *dtype* is not an element type, cannot hold a fill, or differs from the tensor's, and something is computed.
    ShapeError
        A dim's value is out of bounds or breaks a requirement; ``unknown_dim`` for a dim that *t* has not; *threads* is
        not an integer of at least 1.

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
        raise not_a_tensor("compile", t)
    if dims is not None:
        names = t.facts.dims if isinstance(t, Tensor) else t.tensor.facts.dims
        check_known((key if isinstance(key, str) else str(key) for key in dims), names)
        t = t.subs(dims)
    packed = nibbles(dtype)
    chosen = BYTE if packed else t.dtype if dtype is None else element_type(dtype)
    differs = t.dtype is not None and chosen is not None and chosen.newbyteorder("=") != t.dtype.newbyteorder("=")
    if differs and not packed:  # `Nibbles.chain` compares a packed type
        assert chosen is not None
        t = _of_element_type(t, chosen)
    if isinstance(t, Adjoint) and chosen is not None:
        check_numbers(chosen)
    options = chosen, packed or WHOLE, strict, check_threads(threads), tune, choose(march)
    kernel = ComputedKernel(t, *options) if isinstance(t, Tensor) and t.computes else Kernel(t, *options)
    if strict and chosen is None:
        kernel._native(DEFAULT_DTYPE, strided=False)
    if tune and chosen is not None and not kernel._input.facts.dims:
        leaves = kernel._input.leaves()
        Kernel.__call__(kernel, *(np.zeros(kernel._storage.array_shape(int_extents(x)), chosen) for x in leaves))
    return kernel


def _of_element_type(t: Tensor | Adjoint, dtype: np.dtype[Any]) -> Tensor:
    """Return the same movement of elements of another type.

    Raises
    ------
    ArrayError
        Something is computed, or a constant is read: their results are of the tensor's type.
    """
    if isinstance(t, Adjoint) or t.computes or any(leaf.values is not None for leaf in t.leaves()):
        raise ArrayError(f"dtype {dtype} is not the tensor's {t.dtype}")
    leaves = {leaf.key: Tensor(leaf.name, dtype, leaf.extents, leaf.facts, key=leaf.key) for leaf in t.leaves()}
    return t.replace(leaves)
