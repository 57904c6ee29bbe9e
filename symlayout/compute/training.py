"""Steps of training: the new value of each element of a parameter, and of what the method keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def adagrad(
    x: Array,
    g: Array,
    h: Array,
    r: Array,
    t: Array,
    decay_factor: float,
    epsilon: float,
    norm_coefficient: float,
    output: int,
) -> Array:
    """Return the parameter, or the sum of squares, after a step of Adagrad."""
    gradient = norm_coefficient * x + g
    total = h + gradient * gradient
    rate = r / (1 + t * decay_factor)
    return np.asarray(total if output else x - rate * gradient / (np.sqrt(total) + epsilon))


def adam(
    x: Array,
    g: Array,
    v: Array,
    h: Array,
    r: Array,
    t: Array,
    alpha: float,
    beta: float,
    epsilon: float,
    norm_coefficient: float,
    norm_coefficient_post: float,
    output: int,
) -> Array:
    """Return the parameter, the mean of gradients or the mean of their squares after a step of Adam."""
    gradient = norm_coefficient * x + g
    mean = alpha * v + (1 - alpha) * gradient
    square = beta * h + (1 - beta) * gradient * gradient
    if output:
        return np.asarray(mean if output == 1 else square)
    first = t <= 0
    later = np.where(first, 1, t)
    rate = np.where(first, r, r * np.sqrt(1 - beta**later) / (1 - alpha**later))
    moved = x - rate * mean / (np.sqrt(square) + epsilon)
    return np.asarray((1 - norm_coefficient_post) * moved)


def momentum(
    x: Array,
    g: Array,
    v: Array,
    r: Array,
    t: Array,
    alpha: float,
    beta: float,
    nesterov: bool,
    norm_coefficient: float,
    output: int,
) -> Array:
    """Return the parameter, or the momentum, after a step with momentum."""
    gradient = norm_coefficient * x + g
    mean = alpha * v + np.where(t > 0, beta, 1.0) * gradient
    return np.asarray(mean if output else x - r * (gradient + alpha * mean if nesterov else mean))


STEPS: dict[str, tuple[Callable[..., Array], int]] = {
    "Adagrad": (adagrad, 2),
    "Adam": (adam, 3),
    "Momentum": (momentum, 2),
}
"""For each method the function of a step, and how many values it makes for each parameter."""
