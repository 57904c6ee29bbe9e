"""Recurrent layers: a cell that is applied to each step of a sequence, and keeps a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.compute import scalars
from symlayout.compute.reductions import wide

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]
Activation = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class _Weights:
    """The weights of one direction: of the input, of the state, both biases, and the peepholes."""

    w: Array
    r: Array
    bias: Array
    peephole: Array


Cell = Callable[[Array, Array, Array, _Weights, Sequence[Activation], bool], tuple[Array, Array]]


def _simple(x: Array, h: Array, c: Array, p: _Weights, f: Sequence[Activation], variant: bool) -> tuple[Array, Array]:
    return f[0](x @ p.w.T + h @ p.r.T + p.bias.sum(0)), c


def _gated(x: Array, h: Array, c: Array, p: _Weights, f: Sequence[Activation], variant: bool) -> tuple[Array, Array]:
    size = h.shape[-1]
    both = 2 * size
    z, r = np.split(f[0](x @ p.w[:both].T + h @ p.r[:both].T + p.bias[:, :both].sum(0)), 2, -1)
    new, weight, (first, second) = x @ p.w[both:].T, p.r[both:].T, p.bias[:, both:]
    kept = r * (h @ weight + second) if variant else (r * h) @ weight + second
    return (1 - z) * f[1](new + kept + first) + z * h, c


def _long(x: Array, h: Array, c: Array, p: _Weights, f: Sequence[Activation], variant: bool) -> tuple[Array, Array]:
    i, o, forget, cell = np.split(x @ p.w.T + h @ p.r.T + p.bias.sum(0), 4, -1)
    of_i, of_o, of_forget = np.split(p.peephole, 3)
    i = f[0](i + of_i * c)
    forget = 1 - i if variant else f[0](forget + of_forget * c)
    c = forget * c + i * f[1](cell)
    return f[0](o + of_o * c) * f[2](c), c


CELLS: dict[str, tuple[Cell, int, tuple[str, ...]]] = {
    "RNN": (_simple, 1, ("Tanh",)),
    "GRU": (_gated, 3, ("Sigmoid", "Tanh")),
    "LSTM": (_long, 4, ("Sigmoid", "Tanh", "Tanh")),
}
"""For each kind of layer its cell, the number of gates, and the functions of one direction."""

ACTIVATIONS: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "Affine": (lambda x, a, b: a * x + b, (1.0, 0.0)),
    "Elu": (scalars.elu, (1.0,)),
    "HardSigmoid": (scalars.hard_sigmoid, (0.2, 0.5)),
    "LeakyRelu": (scalars.leaky_relu, (0.01,)),
    "Relu": (lambda x: np.maximum(x, 0), ()),
    "ScaledTanh": (lambda x, a, b: a * np.tanh(b * x), (1.0, 1.0)),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), ()),
    "Softplus": (lambda x: np.log1p(np.exp(x)), ()),
    "Softsign": (lambda x: x / (1 + np.abs(x)), ()),
    "Tanh": (np.tanh, ()),
    "ThresholdedRelu": (scalars.thresholded_relu, (1.0,)),
}
"""Functions by the standard's names, with the defaults of their coefficients alpha and beta."""


def _activation(name: str, alphas: Iterator[float], betas: Iterator[float], clip: float | None) -> Activation:
    function, defaults = ACTIVATIONS[next(key for key in ACTIVATIONS if key.lower() == name.lower())]
    given = [next(source, default) for source, default in zip((alphas, betas), defaults, strict=False)]

    def applied(x: Array) -> Array:
        bounded = x if clip is None else np.clip(x, -clip, clip)
        return np.asarray(function(bounded, *(x.dtype.type(e) for e in given)))

    return applied


def recurrent(
    *arrays: Array,
    axes: Axes,
    cell: str,
    given: tuple[bool, ...],
    direction: str,
    layout: bool,
    activations: tuple[str, ...],
    alpha: tuple[float, ...],
    beta: tuple[float, ...],
    clip: float | None,
    variant: bool,
    output: int,
) -> Array:
    """Return the states of a layer at all times (output 0), the last state (1), or the last cell (2).

    *arrays* are those of X, W, R, B, the lengths of sequences, the first state, the first cell and the peepholes that
    *given* says are there.  States after the end of a sequence are 0.
    """
    slots = iter(arrays)
    there = [next(slots) if g else None for g in given]
    x, w, r, b, lengths, h, c, p = there + [None] * (8 - len(there))
    assert x is not None
    assert w is not None
    assert r is not None
    if layout:
        x, h, c = (None if a is None else np.swapaxes(a, 0, 1) for a in (x, h, c))
        assert x is not None
    dtype = x.dtype
    steps, batch = x.shape[:2]
    size, ways = r.shape[2], w.shape[0]
    step, gates, names = CELLS[cell]
    alphas, betas = iter(alpha), iter(beta)
    functions = []
    for number, name in enumerate(activations or names * ways):
        of_cell = number % len(names) == 2  # onnxruntime clips sums of products, and not the cell
        functions.append(_activation(name, alphas, betas, None if of_cell else clip))
    ends = np.full(batch, steps) if lengths is None else lengths.astype(np.int64)
    states, lasts, cells = [], [], []
    for way in range(ways):
        weights = _Weights(
            wide(w[way]),
            wide(r[way]),
            wide(np.zeros((2, gates * size), dtype) if b is None else b[way].reshape(2, -1)),
            wide(np.zeros(3 * size, dtype) if p is None else p[way]),
        )
        backwards = direction == "reverse" or way == 1
        start = [wide(np.zeros((batch, size), dtype) if a is None else a[way]) for a in (h, c)]
        found = _run(step, _turned(wide(x), ends) if backwards else wide(x), ends, start[0], start[1], weights,
                     functions[way * len(names) : (way + 1) * len(names)], variant)  # fmt: skip
        states.append(_turned(found[0], ends) if backwards else found[0])
        lasts.append(found[1])
        cells.append(found[2])
    if output:
        last = np.stack(lasts if output == 1 else cells)
        return (np.swapaxes(last, 0, 1) if layout else last).astype(dtype)
    made = np.stack(states, 1)  # (time, ways, batch, size)
    return (made.transpose(2, 0, 1, 3) if layout else made).astype(dtype)


def batch_first(
    *arrays: Array,
    axes: Axes,
    cell: str,
    once: bool,
    direction: str,
    activations: tuple[str, ...],
    alpha: tuple[float, ...],
    beta: tuple[float, ...],
    clip: float | None,
    variant: bool,
    output: int,
) -> Array:
    """Return what `recurrent` returns, of operands as OpenVINO has them.

    *arrays* are X (batch, time, ...), the first state, the first cell of an LSTM, the lengths of sequences, W, R and B.
    A layer that runs *once* has no axes of time and of directions, and no lengths.
    """
    x, h, *rest = arrays
    c = rest.pop(0) if cell == "LSTM" else None
    lengths = None if once else rest.pop(0)
    w, r, b = rest
    if once:
        x, h, w, r, b = x[:, None], h[:, None], w[None], r[None], b[None]
        c = None if c is None else c[:, None]
    size = r.shape[-1]
    if cell == "LSTM":  # gates f, i, c, o become i, o, f, c
        w, r, b = (np.concatenate([np.split(a, 4, 1)[k] for k in (1, 3, 0, 2)], 1) for a in (w, r, b))
    zeros = np.zeros_like(b)
    if cell == "GRU" and variant:
        both = np.concatenate([b[:, : 3 * size], zeros[:, : 2 * size], b[:, 3 * size :]], 1)
    else:
        both = np.concatenate([b, zeros], 1)
    given = [np.swapaxes(x, 0, 1), w, r, both, lengths, np.swapaxes(h, 0, 1)]
    if c is not None:
        given.append(np.swapaxes(c, 0, 1))
    made = recurrent(
        *(a for a in given if a is not None), axes=(), cell=cell, given=tuple(a is not None for a in given),
        direction=direction, layout=False, activations=activations, alpha=alpha, beta=beta, clip=clip,
        variant=variant, output=output,
    )  # fmt: skip
    turned = np.swapaxes(made, 0, 1) if output else made.transpose(2, 1, 0, 3)
    return turned[:, 0] if once else turned


def _run(
    step: Cell,
    x: Array,
    ends: Array,
    h: Array,
    c: Array,
    weights: _Weights,
    functions: Sequence[Activation],
    variant: bool,
) -> tuple[Array, Array, Array]:
    """Return the states at all times, the last state and the last cell of each sequence."""
    states = np.zeros((x.shape[0], *h.shape), h.dtype)
    for t in range(x.shape[0]):
        new, cell = step(x[t], h, c, weights, functions, variant)
        goes_on = (t < ends)[:, None]
        h, c = np.where(goes_on, new, h), np.where(goes_on, cell, c)
        states[t] = np.where(goes_on, new, 0)
    return states, h, c


def _turned(x: Array, ends: Array) -> Array:
    """Return sequences (time, batch, ...) whose first elements, up to their ends, run backwards."""
    t = np.arange(x.shape[0])[:, None]
    return np.asarray(x[np.where(t < ends, ends - 1 - t, t), np.arange(x.shape[1])])
