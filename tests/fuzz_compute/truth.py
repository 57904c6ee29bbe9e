"""What an expression means, in NumPy alone: the judge of verdicts.  Nothing of the project is imported here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Node:
    """An operation, its operands, and its attributes; a leaf has the op ``"leaf"`` and its name."""

    op: str
    inputs: tuple[Node, ...] = ()
    given: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.op}({', '.join([*map(str, self.inputs), *map(str, self.given)])})"

    def leaves(self) -> list[str]:
        """Return the names of the leaves, each once."""
        own = [self.given[0]] if self.op == "leaf" else []
        return list(dict.fromkeys([*own, *(name for x in self.inputs for name in x.leaves())]))


def _convolved(x: Array, w: Array, stride: tuple[int, int], pads: tuple[int, ...], groups: int) -> Array:
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    n, _, height, width = x.shape
    m, each, kh, kw = w.shape
    if m % groups or x.shape[1] != each * groups:
        raise ValueError(f"kernels {w.shape} do not fit {x.shape}")
    rows, columns = (height - kh) // stride[0] + 1, (width - kw) // stride[1] + 1
    made = np.zeros((n, m, rows, columns))
    for k in range(m):
        first = k // (m // groups) * each
        for i in range(rows):
            for j in range(columns):
                block = x[:, first : first + each, i * stride[0] :, j * stride[1] :][:, :, :kh, :kw]
                made[:, k, i, j] = (block * w[k]).sum((1, 2, 3))
    return made


def _pooled(x: Array, size: int, stride: int) -> Array:
    count = (x.shape[-1] - size) // stride + 1
    return np.stack([x[..., k * stride : k * stride + size].max(-1) for k in range(count)], -1)


def _softmax(x: Array, axis: int) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


UNARY: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "neg": lambda x: -x,
    "abs": np.abs,
    "exp": np.exp,
}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum}


def meaning(node: Node, arrays: Mapping[str, Array], repeats: bool = False) -> Array:
    """Return the elements of an expression, as doubles; *repeats* lets an operand of extent 1 be repeated."""
    if node.op == "leaf":
        return arrays[node.given[0]]
    xs = [meaning(x, arrays, repeats) for x in node.inputs]
    x, g = xs[0], node.given
    if node.op in UNARY:
        return np.asarray(UNARY[node.op](x))
    if not repeats and len(xs) == 2 and node.op in (*BINARY, "matmul"):
        kept = x.ndim - 2 if node.op == "matmul" else x.ndim
        if x.shape[:kept] != xs[1].shape[:kept]:
            raise ValueError(f"{x.shape} and {xs[1].shape} differ: one of them would be repeated")
    if node.op in BINARY:
        return np.asarray(BINARY[node.op](x, xs[1]))
    match node.op:
        case "transpose":
            return x.transpose(g[0])
        case "flip":
            return np.flip(x, g[0])
        case "crop":
            axis, low, high = g
            return np.asarray(x[(slice(None),) * axis + (slice(low, x.shape[axis] - high),)])
        case "pad":
            axis, low, high, value = g
            return np.pad(x, [(low, high) if k == axis else (0, 0) for k in range(x.ndim)], constant_values=value)
        case "concat":
            return np.concatenate(xs, g[0])
        case "join":  # two neighbouring axes as one
            return x.reshape(*x.shape[: g[0]], -1, *x.shape[g[0] + 2 :])
        case "softmax":
            return _softmax(x, g[0])
        case "sum":
            return np.asarray(x.sum(g[0], keepdims=True))
        case "top":
            return np.asarray(x.max(g[0], keepdims=True))
        case "cumsum":
            return np.cumsum(x, g[0])
        case "matmul":
            return np.asarray(x @ xs[1])
        case "conv":
            return _convolved(x, xs[1], *g)
        case "pool":
            return _pooled(x, *g)
    raise ValueError(node.op)
