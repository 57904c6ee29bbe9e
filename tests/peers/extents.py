"""Random extents, and the type of the functions that draw shapes and attributes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Draw = Callable[[random.Random], tuple[Any, dict[str, Any]]]  # a shape, or a list of them, and attributes


def extent(rng: random.Random, least: int = 0) -> int:
    """Return an extent; one in twelve is 0."""
    return max(least, rng.choice((1, 2, 3, 4, 1, 2, 3, 4, 2, 3, 5, 0)))


def some_shape(rng: random.Random, least: int = 1, most: int = 4) -> list[int]:
    return [extent(rng) for _ in range(rng.randint(least, most))]
