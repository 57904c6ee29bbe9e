"""By how much values move if quantized values that they are made of are one unit off: the law ``"requantize"``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symlayout.compute.quantization import quantized
from symlayout.maps.evaluate_bodies import evaluated
from symlayout.maps.gather_elements import int_extents
from symlayout.tensors.chain import Tensor, graph_of

Array = np.ndarray[Any, Any]
_DRAWS_OF_UNITS = 4  # of the directions in which quantized values are off
_OF_UNITS = 1.5  # times what a side changes by then


def explained_by_units(sides: Sequence[Tensor], arrays: Mapping[str, Array], values: Sequence[Array]) -> Array:
    """Return where the *values* of two sides differ by no more than units of quantized values explain.

    Parameters
    ----------
    arrays : mapping
        The elements of the inputs, by key.
    """
    one, other = (v.astype(np.float64) if v.dtype.kind in "fiub" else v for v in values)
    if one.dtype != np.float64 or np.array_equal(one, other, equal_nan=True):
        return np.zeros(one.shape, bool)
    noise = noise_of_units(sides, arrays)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(one - other) <= _OF_UNITS * noise) & (noise > 0))


def noise_of_units(sides: Sequence[Tensor], arrays: Mapping[str, Array]) -> float:
    """Return by how much a side moves at most if those of its quantized values are one unit off that differ.

    That is 0 where no quantized value of a side has other elements than all of the other one.
    """
    values: list[dict[int, tuple[Any, ...]]] = []
    made: list[Array] = []
    for t in sides:
        found: dict[int, tuple[Any, ...]] = {}

        def keep(node: Tensor, elements: Array, found: dict[int, tuple[Any, ...]] = found) -> Array:
            if _is_quantized(node):
                whole = np.broadcast_to(elements, int_extents(node))
                found[id(node)] = whole.shape, whole.dtype, whole.tobytes()
            return elements

        made.append(evaluated([t], arrays, change=keep)[id(t)])
        values.append(found)
    largest = 0.0
    for k, t in enumerate(sides):
        others = set(values[1 - k].values())
        moving = {key for key, value in values[k].items() if value not in others}
        for draw in range(_DRAWS_OF_UNITS if moving else 0):
            rng = np.random.default_rng(draw)

            def move(node: Tensor, elements: Array, rng: Any = rng, moving: set[int] = moving) -> Array:
                if id(node) not in moving:
                    return elements
                info = np.iinfo(elements.dtype)
                moved = elements.astype(np.int64) + rng.choice([-1, 1], elements.shape)
                return np.asarray(np.clip(moved, info.min, info.max), elements.dtype)

            moved = evaluated([t], arrays, change=move)[id(t)]
            with np.errstate(invalid="ignore"):
                apart = np.abs(moved.astype(np.float64) - made[k].astype(np.float64))
            largest = max(largest, float(apart[np.isfinite(apart)].max(initial=0.0)))
    return largest


def are_quantized(tensors: Iterable[Tensor]) -> bool:
    """Return whether quantized values, or what a runtime rounds, are among the values that *tensors* are made of."""
    return any(_is_quantized(node) or (node.body is not None and node.body.rounds) for node in graph_of(tensors))


def _is_quantized(node: Tensor) -> bool:
    integer = node.dtype is not None and node.dtype.kind in "iu"
    return node.body is not None and node.body.function is quantized and integer
