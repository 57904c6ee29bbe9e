"""Resampling along an axis: each result is a weighted sum of the elements around its place in the input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.compute.reductions import wide
from symlayout.ops.axes import moveaxis
from symlayout.ops.broadcast import broadcast_to
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute, constant
from symlayout.tensors.declaration import Body, Declared, Fill, Operand, index_map

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]
Attributes = tuple[tuple[str, Any], ...]
COORDINATES = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
)  # fmt: skip
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def places(n: int, m: int, scale: float, coordinates: str, roi: tuple[float, float]) -> Array:
    """Return the place in an axis of *n* elements of each of *m* results."""
    o = np.arange(m, dtype=np.float64)
    exact = scale * n
    if coordinates == "align_corners":
        return np.asarray(o * 0 if exact == 1 else o * (n - 1) / (exact - 1))
    if coordinates == "asymmetric":
        return o / scale
    if coordinates == "tf_half_pixel_for_nn":
        return (o + 0.5) / scale
    if coordinates == "tf_crop_and_resize":
        start, end = roi
        middle = o * 0 + (end - start) * (n - 1) / 2
        return np.asarray(start * (n - 1)) + (middle if exact == 1 else o * (end - start) * (n - 1) / (exact - 1))
    if coordinates == "pytorch_half_pixel" and m == 1:
        return o * 0
    moved = n / 2 * (1 - m / exact) if coordinates == "half_pixel_symmetric" else 0.0
    return moved + (o + 0.5) / scale - 0.5


def _kernel(mode: str, distance: Array, cubic: float) -> Array:
    """Return the weight of an element at a distance."""
    d = np.abs(distance)
    if mode == "linear":
        return np.asarray(np.clip(1 - d, 0, 1))
    near = (cubic + 2) * d**3 - (cubic + 3) * d**2 + 1
    far = cubic * d**3 - 5 * cubic * d**2 + 8 * cubic * d - 4 * cubic
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def weights(
    n: int, at: Array, scale: float, mode: str, nearest: str, cubic: float, exclude: bool, smooth: bool
) -> Array:
    """Return a matrix: the weight of each of *n* elements for each place."""
    made = np.zeros((len(at), n))
    rows = np.arange(len(at))
    if mode == "nearest":
        rounded = {
            "round_prefer_floor": np.ceil(at - 0.5),
            "round_prefer_ceil": np.floor(at + 0.5),
            "floor": np.floor(at),
            "ceil": np.ceil(at),
        }[nearest]
        made[rows, np.clip(rounded, 0, n - 1).astype(int)] = 1
        return made
    reach = (1 if mode == "linear" else 2) / (min(scale, 1.0) if smooth else 1.0)
    first = np.ceil(at).astype(int) - 1
    low = math.floor(-reach) + 1
    for k in range(low, 2 - low):
        index = first + k
        weight = _kernel(mode, (index - at) * (min(scale, 1.0) if smooth else 1.0), cubic)
        if exclude:
            weight = np.where((index < 0) | (index >= n), 0, weight)
        np.add.at(made, (rows, np.clip(index, 0, n - 1)), weight)
    if exclude or smooth:
        made /= made.sum(1, keepdims=True)
    return made


def resampled(
    x: Array,
    room: Array,
    axes: Axes,
    scale: float | None,
    mode: str,
    coordinates: str,
    nearest: str = "round_prefer_floor",
    cubic: float = -0.75,
    exclude: bool = False,
    smooth: bool = False,
    outside: float = 0.0,
    roi: tuple[float, float] = (0.0, 1.0),
) -> Array:
    """Return a fibre resampled to the extent of *room*."""
    n, m = x.shape[-1], room.shape[-1]
    ratio = m / n if scale is None else scale
    at = places(n, m, ratio, coordinates, roi)
    v = wide(x)
    matrix = weights(n, at, ratio, mode, nearest, cubic, exclude, smooth)
    if mode == "nearest":
        made = np.take(v, matrix.argmax(1), -1)
    else:
        made = v @ matrix.T.astype(v.dtype if v.dtype.kind in "fc" else np.float64)
    if coordinates == "tf_crop_and_resize":
        made = np.where((at < 0) | (at > n - 1), v.dtype.type(outside), made)
    return np.asarray(np.rint(made) if x.dtype.kind in "iu" else made).astype(x.dtype)


def resample(x: Tensor, axis: int, extent: Any, attributes: Attributes) -> Tensor:
    """Return *x* with another extent of an axis.

    >>> import symlayout as sl
    >>> given = (("scale", None), ("mode", "linear"), ("coordinates", "half_pixel"))
    >>> resample(sl.tensor("N, W", name="x"), 1, 7, given).shape
    (N, 7)
    """
    view = moveaxis(x, axis, -1)
    room = broadcast_to(constant(np.zeros((), np.int8)), (*view.shape[:-1], extent))
    body = Body("resampled", resampled, attributes, over=True)
    made = compute(body, [view, room], batch=x.rank - 1, result=(extent,), dtype=x.dtype)
    return moveaxis(made, -1, axis)


@core_operation
def centered(x: Operand, shape: Any, axes: Sequence[int]) -> Declared:
    """Return *x* with other extents along *axes*: cropped around the middle, or padded with zeros on both sides.

    Where an odd number of elements is added or removed, the end gets one more.

    Parameters
    ----------
    shape : sequence of int, dim or expression
        The extents along *axes*.
    axes : sequence of int
        Each is 0 <= axis < rank.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if there is not one extent for each axis, ``infeasible`` if one is negative, ``overflow``.

    References
    ----------
    ONNX, operator CenterCropPad.

    Examples
    --------
    >>> import symlayout as sl
    >>> centered(sl.tensor("9, C", name="x"), (5,), [0]).shape
    (5, C)
    """
    sizes = x.extents(shape, "shape", len(axes))
    domain: list[Extent] = list(x.shape)
    starts: list[Extent] = [0] * x.rank
    for axis, m in zip(axes, sizes, strict=True):
        x.require(m, "infeasible", "extent {} of axis {} is negative", m, axis)
        n = x.shape[axis]
        added, removed = x.maximum(m - n, 0), x.maximum(n - m, 0)
        starts[axis] = x.floor_div(removed, 2) - x.floor_div(added, 2)
        domain[axis] = m
    return index_map(domain, lambda *o: [c + s for c, s in zip(o, starts, strict=True)], fill=Fill(0))
