"""Dilated convolutions as space to batch, a convolution and batch to space: the same network in many spellings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper

from tests.optimize_models.spellings.nhwc_models import TO_NCHW, TO_NHWC, Network

BLOCK, CHANNELS, MADE = 2, 4, 5
SHAPES: dict[str, tuple[int | str, ...]] = {
    "static": (2, CHANNELS, 8, 6),
    "dynamic batch": ("N", CHANNELS, 8, 6),
    "all dynamic": ("N", CHANNELS, "H", "W"),
}
_END = (1 << 63) - 1
Part = int | tuple[int, int, int]  # a number, or an axis times a number by a number


class Parts(Network):
    """A network with reshapes whose targets are computed from a value's shape."""

    def integers(self, *values: int) -> str:
        return self.given(values, np.int64)

    def reshape(self, x: str, *target: Part) -> str:
        shape, names = self("Shape", x) if any(isinstance(p, tuple) for p in target) else "", []
        for part in target:
            if isinstance(part, int):
                names.append(self.integers(part))
                continue
            axis, times, by = part
            extent = self("Gather", shape, self.integers(axis))
            extent = self("Mul", extent, self.integers(times)) if times != 1 else extent
            names.append(self("Div", extent, self.integers(by)) if by != 1 else extent)
        return self("Reshape", x, self("Concat", *names, axis=0))

    def pad(self, x: str, *widths: int) -> str:
        return self("Pad", x, self.integers(*widths))

    def turn(self, x: str, *perm: int) -> str:
        return self("Transpose", x, perm=perm)

    def cut(self, x: str, starts: Sequence[int], ends: Sequence[int], steps: Sequence[int]) -> str:
        return self("Slice", x, *(self.integers(*v) for v in (starts, ends, (2, 3), steps)))


def _by_reshapes(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.reshape(x, (0, 1, 1), (1, 1, 1), (2, 1, b), b, (3, 1, b), b)
    x = n.turn(x, 3, 5, 0, 1, 2, 4)
    return n.reshape(x, (2, b * b, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1))


def _back_by_reshapes(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.reshape(x, b, b, (0, 1, b * b), (1, 1, 1), (2, 1, 1), (3, 1, 1))
    x = n.turn(x, 2, 3, 4, 0, 5, 1)
    return n.reshape(x, (0, 1, 1), (1, 1, 1), (2, b, 1), (4, b, 1))


def _by_depth(n: Parts, x: str) -> str:
    return n.turn(n("SpaceToDepth", n.turn(x, 1, 0, 2, 3), blocksize=BLOCK), 1, 0, 2, 3)


def _back_by_depth(n: Parts, x: str) -> str:
    return n.turn(n("DepthToSpace", n.turn(x, 1, 0, 2, 3), blocksize=BLOCK), 1, 0, 2, 3)


def _by_slices(n: Parts, x: str) -> str:
    places = [(i, j) for i in range(BLOCK) for j in range(BLOCK)]
    return n("Concat", *(n.cut(x, place, (_END, _END), (BLOCK, BLOCK)) for place in places), axis=0)


def _back_by_parts(n: Parts, x: str) -> str:
    names = [f"part_{len(n.nodes)}_{k}" for k in range(BLOCK * BLOCK)]
    n.nodes.append(helper.make_node("Split", [x], names, axis=0, num_outputs=len(names)))
    rows = []
    for i in range(BLOCK):
        row = [n("Unsqueeze", name, n.integers(4)) for name in names[i * BLOCK : (i + 1) * BLOCK]]
        rows.append(n("Unsqueeze", n.reshape(n("Concat", *row, axis=4), 0, MADE, 0, -1), n.integers(3)))
    joined = n("Concat", *rows, axis=3)
    return n.reshape(joined, (0, 1, 1), (1, 1, 1), (2, BLOCK, 1), (4, 1, 1))


def _axis_by_axis(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.turn(n.reshape(x, (0, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, b), b), 4, 0, 1, 2, 3)
    x = n.reshape(x, (1, b, 1), (2, 1, 1), (3, 1, b), b, (4, 1, 1))
    return n.reshape(n.turn(x, 3, 0, 1, 2, 4), (1, b, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1))


def _back_axis_by_axis(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.turn(n.reshape(x, b, (0, 1, b), (1, 1, 1), (2, 1, 1), (3, 1, 1)), 1, 2, 3, 0, 4)
    x = n.reshape(x, b, (0, 1, b), (1, 1, 1), (2, b, 1), (4, 1, 1))
    return n.reshape(n.turn(x, 1, 2, 3, 4, 0), (0, 1, 1), (1, 1, 1), (2, 1, 1), (3, b, 1))


def _by_samples(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.turn(n.reshape(x, (0, 1, 1), (1, 1, 1), (2, 1, b), b, (3, 1, b), b), 0, 3, 5, 1, 2, 4)
    return n.reshape(x, (0, b * b, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1))


def _back_by_samples(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.turn(n.reshape(x, (0, 1, b * b), b, b, (1, 1, 1), (2, 1, 1), (3, 1, 1)), 0, 3, 4, 1, 5, 2)
    return n.reshape(x, (0, 1, 1), (1, 1, 1), (2, b, 1), (4, b, 1))


def _by_channels_last(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.turn(x, *TO_NHWC)
    x = n.turn(n.reshape(x, (0, 1, 1), (1, 1, b), b, (2, 1, b), b, (3, 1, 1)), 2, 4, 0, 1, 3, 5)
    return n.turn(n.reshape(x, (2, b * b, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1)), *TO_NCHW)


def _back_by_channels_last(n: Parts, x: str) -> str:
    b = BLOCK
    x = n.turn(x, *TO_NHWC)
    x = n.turn(n.reshape(x, b, b, (0, 1, b * b), (1, 1, 1), (2, 1, 1), (3, 1, 1)), 2, 3, 0, 4, 1, 5)
    return n.turn(n.reshape(x, (0, 1, 1), (1, b, 1), (3, b, 1), (5, 1, 1)), *TO_NCHW)


@dataclass(frozen=True)
class Way:
    """How a network is spelled: to the batch, back, the pads before and at the convolution, and what is cut off."""

    to_batch: Callable[[Parts, str], str]
    back: Callable[[Parts, str], str]
    pads: int = BLOCK
    inner: int = 0
    crop: int = 0


WAYS = {
    "reshapes": Way(_by_reshapes, _back_by_reshapes),
    "as tf2onnx": Way(_by_depth, _back_by_depth),
    "reshapes, then depth": Way(_by_reshapes, _back_by_depth),
    "depth, then reshapes": Way(_by_depth, _back_by_reshapes),
    "slices, then reshapes": Way(_by_slices, _back_by_reshapes),
    "slices, then parts": Way(_by_slices, _back_by_parts),
    "one axis after another": Way(_axis_by_axis, _back_axis_by_axis),
    "one axis after another, then parts": Way(_axis_by_axis, _back_by_parts),
    "sample by sample": Way(_by_samples, _back_by_samples),
    "channels last": Way(_by_channels_last, _back_by_channels_last),
    "pads of the convolution": Way(_by_reshapes, _back_by_reshapes, 0, 1),
    "more pads, and a crop": Way(_by_depth, _back_by_reshapes, 2 * BLOCK, 0, BLOCK),
}
WRONG = {
    "too few pads at the convolution's other end": Way(_by_samples, _back_by_reshapes),
    "batches in another order": Way(_by_reshapes, _back_by_samples),
}


def network(way: Way, kind: str, *, groups: int = 1, crop: int | None = None) -> ModelProto:
    """Return the network with the input x and the output y."""
    n = Parts(opset=18)
    x = n("Relu", "x")
    if way.pads:
        x = n.pad(x, 0, 0, way.pads, way.pads, 0, 0, way.pads, way.pads)
    x = way.to_batch(n, x)
    made = MADE if groups == 1 else CHANNELS
    weights = n.weights(made, CHANNELS // groups, 3, 3)
    x = way.back(n, n("Conv", x, weights, n.weights(made), pads=[way.inner] * 4, group=groups))
    cut = way.crop if crop is None else crop
    if cut:
        x = n.cut(x, (cut, cut), (-cut, -cut), (1, 1))
    return n.model(SHAPES[kind], n("Exp", x), 4)


def dilated(x: np.ndarray[Any, Any], model: ModelProto) -> np.ndarray[Any, Any]:
    """Return what a network computes, by NumPy."""
    arrays = [numpy_helper.to_array(t) for t in model.graph.initializer]
    weights, bias = (a for a in arrays if a.dtype == np.float32)
    wide = np.pad(np.maximum(x, 0), [(0, 0), (0, 0), (BLOCK, BLOCK), (BLOCK, BLOCK)]).astype(np.float64)
    height, width = x.shape[2:]
    total: np.ndarray[Any, Any] = np.zeros((x.shape[0], len(bias), height, width)) + bias[:, None, None]
    for i in range(3):
        for j in range(3):
            part = wide[:, :, i * BLOCK :, j * BLOCK :][:, :, :height, :width]
            total += np.einsum("nchw,oc->nohw", part, weights[:, :, i, j])
    made: np.ndarray[Any, Any] = np.exp(total)
    return made
