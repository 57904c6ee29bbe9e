"""Operations along one ordered axis: index of an extreme, cumulative sums, the k largest, softmax."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.compute.demands import chosen_from
from symlayout.compute.elementwise import same_extents
from symlayout.compute.reductions import wide
from symlayout.ops.axes import expand_dims, moveaxis
from symlayout.ops.flip import flip
from symlayout.ops.pad import pad
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Body

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]
Attributes = tuple[tuple[str, Any], ...]
FibreFunction = Callable[..., Any]
_EQUIVARIANT: set[FibreFunction] = set()


def equivariant(function: FibreFunction) -> FibreFunction:
    """Declare that a function of fibres is equivariant (see `symlayout.tensors.declaration.Body`)."""
    _EQUIVARIANT.add(function)
    return function


def _last(x: Tensor, axis: int) -> Tensor:
    return x if axis == x.rank - 1 else moveaxis(x, axis, -1)


def along(
    x: Tensor, axes: Sequence[int], function: Callable[..., Any], attributes: Attributes = (), dtype: Any = None
) -> Tensor:
    """Return what a function makes of each fibre along *axes*: a fibre of the same extents.

    >>> import symlayout as sl
    >>> along(sl.tensor("N, C, H", name="x"), [1], softmax).shape
    (N, C, H)
    """
    inner = list(range(x.rank - len(axes), x.rank))
    view = x if list(axes) == inner else moveaxis(x, list(axes), inner)
    body = Body(function.__name__, function, attributes, over=True, equivariant=function in _EQUIVARIANT)
    batch = x.rank - len(axes)
    made = compute(body, [view], batch=batch, result=functools.partial(same_extents, batch), dtype=dtype)
    return made if view is x else moveaxis(made, inner, list(axes))


@equivariant
def softmax(x: Array, axes: Axes) -> Array:
    """Return exponentials divided by their sum."""
    v = wide(x)
    e = np.exp(v - v.max(axes, keepdims=True, initial=-np.inf))
    return np.asarray(e / e.sum(axes, keepdims=True)).astype(x.dtype)


@equivariant
def log_softmax(x: Array, axes: Axes) -> Array:
    """Return the logarithm of `softmax`."""
    v = wide(x)
    moved = v - v.max(axes, keepdims=True, initial=-np.inf)
    return np.asarray(moved - np.log(np.exp(moved).sum(axes, keepdims=True))).astype(x.dtype)


def hardmax(x: Array, axes: Axes) -> Array:
    """Return 1 at the first of the largest elements, and 0 elsewhere."""
    if not x.size:
        return x
    flat = x.reshape(*x.shape[: x.ndim - len(axes)], -1)
    made = np.zeros_like(flat)
    np.put_along_axis(made, flat.argmax(-1)[..., None], made.dtype.type(1), -1)
    return made.reshape(x.shape)


@equivariant
def lp_normalized(x: Array, axes: Axes, p: int = 2) -> Array:
    """Return elements divided by the norm of exponent *p*; 0 where the norm is 0."""
    v = wide(x)
    size = np.abs(v).sum(axes, keepdims=True) if p == 1 else np.sqrt(np.square(v).sum(axes, keepdims=True))
    return np.where(size == 0, 0, v / np.where(size == 0, 1, size)).astype(x.dtype)


@equivariant
def standardized(x: Array, axes: Axes) -> Array:
    """Return elements minus their mean, divided by their standard deviation."""
    v = wide(x)
    deviation = np.sqrt((v * v).mean(axes, keepdims=True) - np.square(v.mean(axes, keepdims=True)))
    return np.asarray((v - v.mean(axes, keepdims=True)) / (deviation + v.dtype.type(1e-9))).astype(x.dtype)


def cumulated(x: Array, axes: Axes, product: bool = False) -> Array:
    """Return the sums, or products, of the elements up to each one."""
    v = wide(x)
    return np.asarray((np.cumprod if product else np.cumsum)(v, -1, dtype=v.dtype)).astype(x.dtype)


def cumulative(
    x: Tensor, axis: int, *, product: bool = False, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    """Return the sums, or products, of the elements along *axis* up to each one.

    Parameters
    ----------
    exclusive : bool
        Whether the element itself is left out.
    reverse : bool
        Whether the elements are those from each one on.

    Examples
    --------
    >>> import symlayout as sl
    >>> cumulative(sl.tensor("N, C", name="x"), 1, exclusive=True).shape
    (N, C)
    """
    made = along(flip(x, [axis]) if reverse else x, [axis], cumulated, (("product", product),))
    if exclusive:
        widths = [(1, -1) if k == axis else (0, 0) for k in range(x.rank)]
        made = pad(made, widths, constant_values=int(product))
    return flip(made, [axis]) if reverse else made


def index_of_extreme(x: Array, axes: Axes, largest: bool, last: bool) -> Array:
    """Return the index of the first, or of the last, of the largest or smallest elements."""
    v = np.flip(x, -1) if last else x
    found = v.argmax(-1) if largest else v.argmin(-1)
    return np.asarray(x.shape[-1] - 1 - found if last else found, dtype=np.int64)


def arg_extreme(x: Tensor, axis: int, *, largest: bool, last: bool, keepdims: bool) -> Tensor:
    """Return the index of an extreme along *axis*, which has an element.

    >>> import symlayout as sl
    >>> arg_extreme(sl.tensor("N, C", name="x"), 0, largest=True, last=False, keepdims=False).shape
    (C,)
    """
    body = Body("index_of_extreme", index_of_extreme, (("largest", largest), ("last", last)), over=True)
    x = chosen_from(x, [axis], [n for k, n in enumerate(x.shape) if k != axis])
    made = compute(body, [_last(x, axis)], batch=x.rank - 1, dtype=np.int64)
    return expand_dims(made, axis) if keepdims else made


def _ranked(x: Array, largest: bool) -> Array:
    """Return the positions of elements, best first; of equal ones the first comes first."""
    if not largest:
        return np.argsort(x, -1, kind="stable")
    return np.asarray(x.shape[-1] - 1 - np.flip(np.argsort(np.flip(x, -1), -1, kind="stable"), -1))


def ordered_values(x: Array, axes: Axes, largest: bool) -> Array:
    """Return the elements in order, best first."""
    return np.take_along_axis(x, _ranked(x, largest), -1)


def ordered_positions(x: Array, axes: Axes, largest: bool) -> Array:
    """Return the positions of the elements in order, best first."""
    return _ranked(x, largest).astype(np.int64)


def top_k(x: Tensor, k: Any, axis: int, *, largest: bool) -> list[Tensor]:
    """Return the values and the positions of the *k* best elements along *axis*: the first ones in order.

    Parameters
    ----------
    k : int, dim or expression
        How many: at least 0, at most the extent of the axis.

    Raises
    ------
    ShapeError
        ``crop_exceeds`` if *k* is out of range.

    Examples
    --------
    >>> import symlayout as sl
    >>> [y.shape for y in top_k(sl.tensor("9, C", name="x"), 3, 0, largest=True)]
    [(3, C), (3, C)]
    """
    found = []
    for function, dtype in ((ordered_values, x.dtype), (ordered_positions, np.int64)):
        made = along(x, [axis], function, (("largest", largest),), dtype)
        found.append(getitem(made, (*(slice(None),) * axis, slice(0, k)), bounds="exact"))
    return found


def _by_key(x: Array, key: Array, axes: Axes) -> Array:
    return np.take_along_axis(x, np.argsort(key, -1, kind="stable"), -1)


def in_order_of(x: Tensor, key: Tensor, axis: int) -> Tensor:
    """Return the elements of *x* along *axis* in the order in which those of *key* increase.

    >>> import symlayout as sl
    >>> in_order_of(sl.tensor("N, 3", name="x"), sl.tensor("N, 3", name="y"), 1).shape
    (N, 3)
    """
    body = Body("in_order_of", _by_key, over=True)
    batch = x.rank - 1
    result = functools.partial(same_extents, batch)
    made = compute(body, [_last(x, axis), _last(key, axis)], batch=batch, result=result, dtype=x.dtype)
    return made if axis == batch else moveaxis(made, -1, axis)
