"""Attention: which keys a query sees, and a softmax of scores that may have none left; attention with a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute.along_axis import equivariant
from symlayout.compute.reductions import wide

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


@equivariant
def softmax_or_zero(x: Array, axes: Axes) -> Array:
    """Return exponentials divided by their sum; 0 where all elements are negative infinity."""
    v = wide(x)
    top = v.max(axes, keepdims=True, initial=-np.inf)
    e = np.exp(v - np.where(np.isneginf(top), 0, top))
    total = e.sum(axes, keepdims=True)
    return np.asarray(e / np.where(total == 0, 1, total)).astype(x.dtype)


def scaled_by_size(x: Array, axes: Axes) -> Array:
    """Return vectors divided by the fourth root of their number of elements: half of the scale of scores."""
    return np.asarray(x * x.dtype.type(np.sqrt(1 / np.sqrt(max(x.shape[-1], 1)))))


def visible_scores(
    scores: Array,
    *rest: Array,
    axes: Axes,
    causal: bool,
    left: int,
    right: int,
    cached: bool,
    padded: bool,
) -> Array:
    """Return scores of queries and keys, with negative infinity where a query does not see a key.

    Query *i* has the position ``i + offset``.  The offset is the number of cached keys: all keys less those of the
    second operand.  If keys are padded, the second operand has the number of keys, and the last query is at the end.
    """
    s, t = scores.shape[-2:]
    query, key = np.arange(s)[:, None], np.arange(t)
    offset: Any = 0
    seen = np.ones((s, t), bool)
    if padded:
        count = rest[0].astype(np.int64)[..., None, None]
        offset, seen = count - s, key < count
    elif cached:
        offset = t - rest[0].shape[-1]
    distance = query + offset - key
    if causal:
        seen = seen & (distance >= 0)
    if left >= 0:
        seen = seen & (distance <= left)
    if right >= 0:
        seen = seen & (-distance <= right)
    return np.where(seen, scores, scores.dtype.type(-np.inf))


def linear_attention(
    query: Array,
    key: Array,
    value: Array,
    *rest: Array,
    axes: Axes,
    given: tuple[bool, bool, bool],
    heads: tuple[int, int],
    scale: float,
    output: int,
) -> Array:
    """Return the values that queries read from a state, to which each key adds its value; or the last state.

    *rest* are those of the first state, the logarithms of how much of the state stays, and the rates of learning, that
    *given* says are there.  With rates, a key adds the difference between its value and what the state has for it.
    """
    slots = iter(rest)
    past, decay, beta = (next(slots).astype(np.float32) if there else None for there in given)
    q, k, v = (_heads(x, h) for x, h in zip((query, key, value), (heads[0], heads[1], heads[1]), strict=True))
    batch, _, steps, size = q.shape
    width = v.shape[-1]
    state = np.zeros((batch, heads[1], size, width), np.float32) if past is None else past
    factor = np.float32(scale or 1 / np.sqrt(size))
    made = np.zeros((batch, heads[0], steps, width), np.float32)
    for i in range(steps):
        news = v[:, :, i]
        if decay is not None:
            state = state * np.exp(_heads(decay, heads[1])[:, :, i])[..., None]
        if beta is not None:
            rate = beta[:, i].reshape(batch, -1, 1)
            news = rate * (news - np.einsum("bhdm,bhd->bhm", state, k[:, :, i]))
        state = state + k[:, :, i, :, None] * news[:, :, None, :]
        read = np.repeat(state, heads[0] // heads[1], axis=1)
        made[:, :, i] = factor * np.einsum("bhd,bhdm->bhm", q[:, :, i], read)
    if output:
        return state.astype(rest[0].dtype if given[0] else query.dtype)
    return made.transpose(0, 2, 1, 3).reshape(batch, steps, -1).astype(query.dtype)


def _heads(x: Array, count: int) -> Array:
    """Return (batch, time, heads*size) as (batch, heads, time, size), in float32."""
    batch, steps, size = x.shape
    return x.reshape(batch, steps, count, size // count).transpose(0, 2, 1, 3).astype(np.float32)
