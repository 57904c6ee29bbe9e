"""Normalisations: fibres that are scaled by their own mean and variance, and by given ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute.along_axis import equivariant
from symlayout.compute.reductions import wide
from symlayout.errors import ShapeError
from symlayout.tensors.computation import Computed, View, computation
from symlayout.tensors.declaration import Body, Fill, Operand

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


def batch_normalized(x: Array, scale: Array, bias: Array, mean: Array, variance: Array, epsilon: float) -> Array:
    """Return ``(x - mean) / sqrt(variance + epsilon) * scale + bias``."""
    v, s, b, m, d = map(wide, (x, scale, bias, mean, variance))
    factor = s / np.sqrt(d + d.dtype.type(epsilon))
    return np.asarray((v - m) * factor + b).astype(x.dtype)


@equivariant
def normalized(x: Array, axes: Axes, epsilon: float) -> Array:
    """Return ``(x - mean) / sqrt(variance + epsilon)`` of each fibre."""
    v = wide(x)
    centred = v - v.mean(axes, keepdims=True)
    return np.asarray(centred * _inverse_deviation(centred, axes, epsilon)).astype(x.dtype)


@equivariant
def normalized_outside(x: Array, axes: Axes, epsilon: float) -> Array:
    """Return ``(x - mean) / (sqrt(variance) + epsilon)`` of each fibre."""
    v = wide(x)
    centred = v - v.mean(axes, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axes, keepdims=True))
    return np.asarray(centred / (deviation + v.dtype.type(epsilon))).astype(x.dtype)


@equivariant
def length_normalized(x: Array, axes: Axes, epsilon: float, added: bool) -> Array:
    """Return ``x / sqrt(sum(x*x) + epsilon)`` of each fibre; if not *added*, the sum is at least *epsilon*."""
    v = wide(x)
    total = np.square(v).sum(axes, keepdims=True)
    e = v.dtype.type(epsilon)
    return np.asarray(v / np.sqrt(total + e if added else np.maximum(total, e))).astype(x.dtype)


def _inverse_deviation(centred: Array, axes: Axes, epsilon: float) -> Array:
    variance = np.square(centred).mean(axes, keepdims=True)
    return np.asarray(1 / np.sqrt(variance + variance.dtype.type(epsilon)))


def inverse_deviation(x: Array, axes: Axes, epsilon: float) -> Array:
    """Return ``1 / sqrt(variance + epsilon)``, in float32 for narrower types."""
    v = wide(x)
    return np.squeeze(_inverse_deviation(v - v.mean(axes, keepdims=True), axes, epsilon), axes)


@equivariant
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


@computation
def batch_norm(x: Operand, epsilon: float) -> Computed:
    """Return the inference of a batch normalisation of (n, c, ...).

    The other tensors are scale, bias, mean and variance: one element for each channel.
    """
    channels = x.shape[1]
    for p in x.shapes[1:]:
        if len(p) != 1:
            raise ShapeError(f"{x.where}: parameters of channels have rank {len(p)}, not 1", "rank")
        x.require_equal(p[0], channels, "size_mismatch", "{} parameters for {} channels", p[0], channels)
    views = [View(lambda *o: list(o)), *(View(lambda *o: [o[1]], (), k) for k in range(1, 5))]
    return Computed(x.shape, tuple(views), Body("batch_normalized", batch_normalized, (("epsilon", epsilon),)))


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
