"""Make a tensor a JAX function: a compiled kernel, its gradient, and shapes under ``jit`` and ``jax.export``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import symlayout as sl
from symlayout.algebra.table import Table
from symlayout.errors import ArrayError
from symlayout.interop.array_moves import WholeTensor, assembled, parts_of
from symlayout.interop.shape_function import ShapeFunction, Size
from symlayout.tensors.bind_dims import bind_shapes
from symlayout.tensors.element_types import fill_element

Array = Any  # a jax.Array, or a tracer
_MOST_SIZES = 256  # for which a function keeps what it does


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Sizes:
    """The dims of a call.  They are not arrays, and pass from a function to its gradient as static data."""

    dims: tuple[tuple[str, Size], ...]


def function(y: sl.Tensor, *, native: bool = True) -> Callable[..., Array]:
    """Return *y* as a function of JAX arrays, one for each input in order of first use.

    The index map becomes operations of XLA: pads, reshapes, transposes and, where those do not suffice, gathers.  They
    run on any device, fuse with what is around them, and work under ``jit``, ``vmap``, ``grad`` and `jax.export`.  Dims
    that the shapes do not determine are passed by name, as ints.  With the symbolic sizes of `jax.export`, the result's
    shape is the tensor's expression, and the caller must ensure the requirements; they are not checked.

    If *native* is false and the sizes are known, the function calls the compiled kernel on the host by
    `jax.pure_callback`.

    Parameters
    ----------
    y : Tensor
        The tensor that the function computes.
    native : bool
        Whether to compute known sizes in XLA, too.

    Raises
    ------
    ArrayError
        The function got a wrong number of arrays, or arrays of several element types.
    ShapeError
        The function got shapes that do not fit, with the kind that a call of the kernel has.

    Examples
    --------
    >>> blocks = function(sl.space_to_depth(sl.tensor("N, C, H, W", name="x"), 2))
    >>> jax.jit(blocks)(np.zeros((1, 3, 4, 6), np.float32)).shape
    (1, 12, 2, 3)
    """
    shape = ShapeFunction(y, jax.core.min_dim, jax.core.max_dim)
    leaves, forward = y.leaves(), sl.compile(y)
    numbers = [k for k, leaf in enumerate(leaves) if leaf.dtype is None or leaf.dtype.kind in "fc"]
    backward = {k: sl.compile(sl.adjoint(y, leaves[k])) for k in numbers}

    def run_kernel(sizes: _Sizes, *arrays: Array) -> Array:
        free = {name: n for name, n in sizes.dims if name in shape.free}
        ranks = [leaf.rank for leaf in leaves]
        return _callback(functools.partial(forward, dims=free), shape.of(dict(sizes.dims)), ranks, arrays)

    def gradients(sizes: _Sizes, dy: Array) -> tuple[Array, ...]:
        dims = dict(sizes.dims)
        found = []
        for k, leaf in enumerate(leaves):
            if k in backward:
                wanted = _summing(backward[k], dims)
                found.append(_callback(wanted, shape.of(dims, leaf), [y.rank], [dy]))
            else:
                found.append(np.zeros(shape.of(dims, leaf), jax.dtypes.float0))
        return tuple(found)

    differentiable = jax.custom_vjp(run_kernel, nondiff_argnums=(0,))
    differentiable.defvjp(
        lambda sizes, *arrays: (run_kernel(sizes, *arrays), None),
        lambda sizes, _, dy: gradients(sizes, dy),
    )

    @functools.lru_cache(_MOST_SIZES)
    def bound_to(sizes: tuple[tuple[str, int], ...]) -> Callable[[dict[str, Array]], Array]:
        """Return the computation for known sizes; raise a `ShapeError` if they break a requirement."""
        part = parts_of(y.bind(dict(sizes)))
        return lambda arrays: assembled(_Lax(), part, shape, {}, arrays)

    def call_checked(*arrays: Array, **dims: int) -> Array:
        arrays = tuple(jax.numpy.asarray(a) for a in arrays)
        if len(arrays) != len(leaves):
            raise ArrayError(f"{y.name} takes {len(leaves)} arrays, got {len(arrays)}")
        if len(dtypes := {a.dtype for a in arrays}) > 1:
            raise ArrayError(f"the arrays have element types {', '.join(sorted(map(str, dtypes)))}")
        shapes = [a.shape for a in arrays]
        known = all(type(n) is int for s in shapes for n in s)
        if known:
            bind_shapes(y, shapes, dims)  # raises a ShapeError for shapes that do not fit
        sizes = shape.dims(shapes, dims)
        if native or not known:
            by_key = dict(zip((leaf.key for leaf in leaves), arrays, strict=True))
            if known:
                return bound_to(tuple(sizes.items()))(by_key)
            return assembled(_Lax(), WholeTensor(y, None), shape, sizes, by_key)
        return differentiable(_Sizes(tuple(sizes.items())), *arrays)

    return call_checked


def _summing(adjoint: sl.Kernel, dims: dict[str, Size]) -> Callable[..., Any]:
    """Return the kernel of a gradient.  It adds bfloat16 and float8 elements in float32."""

    def summed(dy: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
        short = dy.dtype.kind not in "fc"
        found = adjoint(dy.astype(np.float32) if short else dy, dims=dims)
        np.copyto(out, found.astype(dy.dtype) if short else found)

    return summed


def _callback(
    kernel: Callable[..., Any], shape: tuple[Size, ...], ranks: Sequence[int], arrays: Sequence[Array]
) -> Array:
    """Return the result of *kernel*, called on the host.  Axes in front of an array's *ranks* are those of vmap."""

    def on_host(*given: Any) -> np.ndarray[Any, Any]:
        hosted = [np.asarray(a) for a in given]
        batch = hosted[0].shape[: hosted[0].ndim - ranks[0]]
        out = np.empty((*batch, *shape), hosted[0].dtype)
        for index in np.ndindex(*batch):
            kernel(*(a[index] for a in hosted), out=out[index])
        return out

    result = jax.ShapeDtypeStruct(shape, arrays[0].dtype)
    return jax.pure_callback(on_host, result, *arrays, vmap_method="broadcast_all")


class _Lax:
    """The moves of `array_moves` in XLA."""

    def pad(self, x: Array, widths: Sequence[tuple[Any, Any]], value: Any) -> Array:
        return jax.lax.pad(x, value, [(before, after, 0) for before, after in widths])

    def reshape(self, x: Array, shape: Sequence[Any]) -> Array:
        return jax.lax.reshape(x, tuple(shape))

    def transpose(self, x: Array, axes: Sequence[int]) -> Array:
        return jax.lax.transpose(x, tuple(axes))

    def flip(self, x: Array, axes: Sequence[int]) -> Array:
        return jax.lax.rev(x, tuple(axes))

    def broadcast_to(self, x: Array, shape: Sequence[Any]) -> Array:
        return jax.numpy.broadcast_to(x, tuple(shape))

    def concatenate(self, arrays: Sequence[Array], axis: int) -> Array:
        return jax.lax.concatenate(arrays, axis)

    def value(self, fill: Any, like: Array) -> Array:
        return jax.numpy.asarray(fill_element(fill, like.dtype))

    def full(self, shape: Sequence[Any], value: Any, like: Array) -> Array:
        return jax.numpy.full(shape, value, like.dtype)

    def coordinate(self, shape: Sequence[Any], axis: int) -> Array:
        return jax.lax.broadcasted_iota(int, shape, axis)

    def integer(self, size: Size) -> Array:
        return jax.numpy.asarray(size)

    def entry(self, table: Table, at: Any) -> Array:
        return jax.numpy.asarray(table.values)[jax.numpy.clip(at, 0, len(table.values) - 1)]

    def take(self, x: Array, coords: Sequence[Any], shape: Sequence[Any]) -> Array:
        at = tuple(jax.numpy.broadcast_to(c, shape) for c in coords)
        return x.at[at].get(mode="fill", fill_value=0)

    def where(self, condition: Any, a: Array, b: Array) -> Array:
        return jax.numpy.where(condition, a, b)
