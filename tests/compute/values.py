"""Arrays for the leaves of tensors, drawn at random, and what both sides of a claim are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import symlayout as sl

Array = np.ndarray[Any, Any]


def drawn(sides: tuple[sl.Tensor, sl.Tensor], dims: Mapping[Any, int], rng: np.random.Generator) -> dict[str, Array]:
    """Return an array for each input of both sides; indices are below a bound that is drawn, too."""
    most = int(rng.integers(1, 8))
    found: dict[str, Array] = {}
    for leaf in (leaf for side in sides for leaf in side.arguments()):
        shape = leaf.subs(dict(dims)).shape
        if leaf.dtype is not None and leaf.dtype.kind == "i":
            found[leaf.name] = rng.integers(0, most, shape).astype(leaf.dtype)
        else:
            found[leaf.name] = rng.standard_normal(shape).astype(leaf.dtype or np.float32)
    return found


def evaluated(side: sl.Tensor, dims: Mapping[Any, int], arrays: Mapping[str, Array]) -> Array:
    """Return the elements of a side."""
    own: dict[str, Any] = {leaf.name: arrays[leaf.name] for leaf in side.arguments()}
    known = {name: n for name, n in dims.items() if getattr(name, "name", name) in side.facts.dims}
    return sl.interpret(side, dims=known, **own)


def differ(sides: tuple[sl.Tensor, sl.Tensor], dims: Mapping[Any, int], coord: Any, tries: int = 60) -> bool:
    """Return whether the sides have other shapes at these sizes, or other values at a coordinate for some inputs."""
    for seed in range(tries):
        arrays = drawn(sides, dims, np.random.default_rng(seed))
        try:
            left, right = (evaluated(side, dims, arrays) for side in sides)
        except sl.InconclusiveError:  # an index is out of range
            continue
        if left.shape != right.shape:
            return True
        if coord is not None and not np.allclose(left[tuple(coord)], right[tuple(coord)], rtol=1e-4, atol=1e-5):
            return True
    return False
