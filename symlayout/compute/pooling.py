"""Pooling: reductions over windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.compute.contractions import AxisWindows, Spatial
from symlayout.compute.elementwise import broadcast_jointly, same_extents
from symlayout.compute.reductions import JOINS, greatest, mean, norm
from symlayout.compute.trace import elements, fold
from symlayout.ops.axes import moveaxis
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.pad import pad
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import Computed, View, computation, compute, constant
from symlayout.tensors.declaration import Body, Fill, Operand

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


def mean_of_present(x: Array, present: Array, axes: Axes) -> Array:
    """Return the mean of the terms that are present."""
    total, count = (fold(np.add, terms.astype(np.float64), axes, 0) for terms in (x, present))
    return elements(total / count).astype(x.dtype)


def number_of_greatest(x: Array, numbers: Array, axes: Axes) -> Array:
    """Return the number that belongs to the first of the largest terms."""
    x, numbers = np.broadcast_arrays(x, numbers)
    flat = (*x.shape[: x.ndim - len(axes)], -1)
    best = x.reshape(flat).argmax(-1)[..., None]
    return np.take_along_axis(numbers.reshape(flat), best, -1)[..., 0]


def row_major_numbers(x: Array, axes: Axes) -> Array:
    """Return the number of each element in row-major order."""
    return np.arange(x.size, dtype=np.int64).reshape(x.shape)


def numbers_from_axis(x: Array, axes: Axes, axis: int) -> Array:
    """Return the number of each element in row-major order among those with the same coordinates before *axis*."""
    inner = x.shape[axis:]
    count = int(np.prod(inner))
    return np.broadcast_to(np.arange(count, dtype=np.int64).reshape(inner), x.shape)


def column_major_numbers(x: Array, axes: Axes) -> Array:
    """Return the numbers that elements have if the spatial axes are stored in reverse order."""
    spatial = x.shape[2:]
    inner = np.arange(int(np.prod(spatial)), dtype=np.int64).reshape(spatial[::-1]).T
    outer = np.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(*x.shape[:2], *(1,) * len(spatial))
    return np.asarray(outer * inner.size + inner)


_REDUCE: dict[str, Body] = {
    "max": Body("greatest", greatest, over=True, commutative=True, exact=True, joins=JOINS[greatest], idempotent=True),
    "mean": Body("mean", mean, over=True, commutative=True),
}


def _least(dtype: Any) -> Fill:
    if dtype is None or dtype.kind not in "iub":
        return Fill(-np.inf)
    return Fill(int(np.iinfo(dtype).min) if dtype.kind != "b" else False)


def _view(
    windows: Sequence[AxisWindows], kernel: Sequence[Extent], fill: Fill | None, source: int = 0, outer: int = 2
) -> View:
    stop = outer + len(windows)

    def coords(*o: Any) -> list[Any]:
        spots = [w.at(p, q) for w, p, q in zip(windows, o[outer:stop], o[stop:], strict=True)]
        return [*o[:outer], *spots]

    return View(coords, tuple(kernel), source, fill)


@computation
def pooled(x: Operand, kernel: Any, spatial: Spatial, body: Body, fill: Fill, outer: int = 2) -> Computed:
    """Return what *body* makes of each window along the axes after the *outer* ones, with *fill* outside."""
    extents = x.shape[outer:]
    size = x.extents(kernel, "kernel_shape", len(extents))
    windows = spatial.windows(x, extents, size)
    inside = all(w.inside for w in windows) and not spatial.ceil
    view = _view(windows, size, None if inside else fill, outer=outer)
    return Computed((*x.shape[:outer], *(w.count for w in windows)), (view,), body)


@computation
def pooled_with(
    x: Operand, kernel: Any, spatial: Spatial, body: Body, fill: Fill, padded: bool, dtype: Any
) -> Computed:
    """Return what *body* makes of each window of the first tensor and of the second, which is 0 outside.

    With *padded*, the second tensor has the extents of the first with its pads.
    """
    n, c, *extents = x.shape
    size = x.extents(kernel, "kernel_shape", len(extents))
    windows = spatial.windows(x, extents, size)
    second = [AxisWindows(w.extent, w.size, w.stride, w.dilation, 0, 0, w.count) if padded else w for w in windows]
    views = (_view(windows, size, fill), _view(second, size, Fill(0), 1))
    return Computed((n, c, *(w.count for w in windows)), views, body, dtype=dtype)


def max_pool(x: Tensor, kernel: Sequence[Any], spatial: Spatial) -> Tensor:
    """Return the maximum of each window.

    >>> import symlayout as sl
    >>> max_pool(sl.tensor("N, C, H", name="x"), (2,), Spatial((2,), (1,), ((0, 0),))).shape
    (N, C, floor(H/2))
    """
    return pooled(x, tuple(kernel), spatial, _REDUCE["max"], _least(x.dtype))


def max_pool_numbers(
    x: Tensor, kernel: Sequence[Any], spatial: Spatial, function: Callable[..., Any], given: Any = ()
) -> Tensor:
    """Return the number, as *function* counts with the attributes *given*, of the maximum of each window."""
    numbers = whole(x, function, given, np.int64)
    body = Body("number_of_greatest", number_of_greatest, over=True)
    return pooled_with(x, numbers, tuple(kernel), spatial, body, _least(x.dtype), False, np.int64)


def whole(x: Tensor, function: Callable[..., Any], given: Any, dtype: Any) -> Tensor:
    """Return what a function makes of the whole of *x*: a value of the same shape."""
    return compute(Body(function.__name__, function, given, over=True), [x], batch=0, result=_same, dtype=dtype)


def _same(x: Operand, views: tuple[Tensor, ...]) -> Sequence[Extent]:
    return same_extents(0, x, views)


def average_pool(x: Tensor, kernel: Sequence[Any], spatial: Spatial, *, count_pads: bool) -> Tensor:
    """Return the mean of each window: of the elements inside, or of the pads as well.

    >>> import symlayout as sl
    >>> average_pool(sl.tensor("N, C, H", name="x"), (3,), Spatial((1,), (1,), ((1, 1),)), count_pads=True).shape
    (N, C, H)
    """
    unpadded = spatial.pads == "VALID" or (
        not isinstance(spatial.pads, str) and all(e == 0 for pair in spatial.pads for e in pair)
    )
    automatic = spatial.pads in ("SAME_UPPER", "SAME_LOWER")  # then no window reaches past the end
    if (automatic or not spatial.ceil) and (count_pads or unpadded):
        return pooled(x, tuple(kernel), spatial, _REDUCE["mean"], Fill(0))
    one = reshape(constant(np.ones((), x.dtype or np.float32), "one"), (1,) * x.rank)
    ones = broadcast_jointly([one, x], 0)
    padded = count_pads and not isinstance(spatial.pads, str)
    if padded:
        ones = pad(ones, [(0, 0), (0, 0), *spatial.pads], constant_values=1)
    body = Body("mean_of_present", mean_of_present, over=True, commutative=True)
    return pooled_with(x, ones, tuple(kernel), spatial, body, Fill(0), padded, x.dtype)


def mean_of_parts(x: Array, room: Array, axes: Axes) -> Array:
    """Return the mean of each of as many parts of a vector as *room* has elements."""
    n, m = x.shape[-1], room.shape[-1]
    v = x.astype(np.float64)
    parts = [v[..., k * n // m : -(-(k + 1) * n // m)].mean(-1) for k in range(m)]
    return np.stack(parts, -1).astype(x.dtype) if parts else x[..., :0]


def means_of_parts(x: Tensor, axis: int, count: Any) -> Tensor:
    """Return the means of parts of an axis: part *k* has the elements from ``k*n/count`` on, up to ``(k+1)*n/count``.

    >>> import symlayout as sl
    >>> means_of_parts(sl.tensor("N, C, W", name="x"), 2, 3).shape
    (N, C, 3)
    """
    view = moveaxis(x, axis, -1)
    room = broadcast_to(constant(np.zeros((), np.int8)), (*view.shape[:-1], count))
    body = Body("mean_of_parts", mean_of_parts, over=True)
    return moveaxis(compute(body, [view, room], batch=x.rank - 1, result=(count,), dtype=x.dtype), -1, axis)


def lp_pool(x: Tensor, kernel: Sequence[Any], spatial: Spatial, p: int) -> Tensor:
    """Return the norm of exponent *p* of each window.

    >>> import symlayout as sl
    >>> lp_pool(sl.tensor("N, C, H", name="x"), (3,), Spatial((1,), (1,), ((0, 0),)), 2).shape
    (N, C, H - 2)
    """
    body = Body("norm", norm, (("p", p),), over=True, commutative=True)
    return pooled(x, tuple(kernel), spatial, body, Fill(0))
