"""Normalisations: fibres that are scaled by their own mean and variance, and by given ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute.elementwise import aligned
from symlayout.compute.reductions import wide
from symlayout.ops.axes import expand_dims
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import Computed, View, computation, compute
from symlayout.tensors.declaration import Body, Fill, Operand

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


def batch_normalized(x: Array, scale: Array, bias: Array, mean: Array, variance: Array, epsilon: float) -> Array:
    """Return ``(x - mean) / sqrt(variance + epsilon) * scale + bias``."""
    v, s, b, m, d = map(wide, (x, scale, bias, mean, variance))
    factor = s / np.sqrt(d + d.dtype.type(epsilon))
    return np.asarray((v - m) * factor + b).astype(x.dtype)


def normalized(x: Array, axes: Axes, epsilon: float) -> Array:
    """Return ``(x - mean) / sqrt(variance + epsilon)`` of each fibre."""
    v = wide(x)
    centred = v - v.mean(axes, keepdims=True)
    return np.asarray(centred * _inverse_deviation(centred, axes, epsilon)).astype(x.dtype)


def _inverse_deviation(centred: Array, axes: Axes, epsilon: float) -> Array:
    variance = np.square(centred).mean(axes, keepdims=True)
    return np.asarray(1 / np.sqrt(variance + variance.dtype.type(epsilon)))


def mean_as_float32(x: Array, axes: Axes) -> Array:
    """Return the mean, in float32 for narrower types."""
    return np.asarray(wide(x).mean(axes))


def inverse_deviation(x: Array, axes: Axes, epsilon: float) -> Array:
    """Return ``1 / sqrt(variance + epsilon)``, in float32 for narrower types."""
    v = wide(x)
    return np.squeeze(_inverse_deviation(v - v.mean(axes, keepdims=True), axes, epsilon), axes)


def root_mean_square_normalized(x: Array, axes: Axes, epsilon: float) -> Array:
    """Return ``x / sqrt(mean(x*x) + epsilon)`` of each fibre."""
    v = wide(x)
    return np.asarray(v / np.sqrt(np.square(v).mean(axes, keepdims=True) + v.dtype.type(epsilon))).astype(x.dtype)


def local_response(x: Array, near: Array, axes: Axes, alpha: float, beta: float, bias: float, size: int) -> Array:
    """Return ``x / (bias + alpha / size * sum(near * near)) ** beta``."""
    v, n = wide(x), wide(near)
    t = v.dtype.type
    total = np.square(n).sum(tuple(range(v.ndim - n.ndim, 0)))
    return np.asarray(v / np.power(t(bias) + t(alpha / size) * total, t(beta))).astype(x.dtype)


def batch_norm(x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float) -> Tensor:
    """Return the inference of a batch normalisation: each parameter has an element for each channel of (n, c, ...).

    >>> import symlayout as sl
    >>> batch_norm(sl.tensor("N, C, H", name="x"), *(sl.tensor("C", name=n) for n in "sbmv"), 1e-5).shape
    (N, C, H)
    """
    inner = list(range(1, x.rank - 1))
    views = [expand_dims(p, inner) if inner else p for p in (scale, bias, mean, variance)]
    body = Body("batch_normalized", batch_normalized, (("epsilon", epsilon),))
    return compute(body, aligned([x, *views]), batch=x.rank, dtype=x.dtype)


@computation
def lrn(x: Operand, size: int, alpha: float, beta: float, bias: float) -> Computed:
    """Return the local response normalisation of (n, c, ...): each element divided by a power of its channels' sum."""
    before = (size - 1) // 2
    views = (
        View(lambda *o: list(o)),
        View(lambda *o: [o[0], o[1] + o[-1] - before, *o[2:-1]], (size,), fill=Fill(0)),
    )
    given = (("alpha", alpha), ("beta", beta), ("bias", bias), ("size", size))
    return Computed(x.shape, views, Body("local_response", local_response, given, over=True))
