"""Random permutations, shapes, axes, repetitions, joins and parts."""

from __future__ import annotations

import random
from typing import Any

from tests.peers.extents import Draw, extent, some_shape


def permuted(name: str, *, negative: bool = False, optional: bool = False) -> Draw:
    def draw(rng: random.Random) -> Any:
        shape = some_shape(rng, 0)
        order = rng.sample(range(len(shape)), len(shape))
        signed = [a - len(shape) if negative and rng.random() < 0.3 else a for a in order]
        return shape, {} if optional and rng.random() < 0.2 else {name: signed}

    return draw


def reshaped(zeros: str = "", *flags: Any) -> Draw:
    """Return a draw for reshapes; *zeros* is the attribute that says whether 0 copies an axis."""

    def draw(rng: random.Random) -> Any:
        shape = some_shape(rng, 0)
        flag = rng.choice(flags) if zeros else None
        kept = rng.randint(0, len(shape)) if zeros and bool(flag) is (zeros == "special_zero") else 0
        tail = [n for n in shape[kept:] for n in ([n] if n < 4 else [2, n - n // 2] if n == 4 else [n])]
        rng.shuffle(tail)
        if tail and rng.random() < 0.6:
            tail[rng.randrange(len(tail))] = -1
        return shape, {"shape": [0] * kept + tail, **({zeros: flag} if zeros else {})}

    return draw


def flattened(rng: random.Random) -> Any:
    shape = some_shape(rng, 0)
    return shape, {"axis": rng.randint(-len(shape), len(shape))}


def squeezed(rng: random.Random) -> Any:
    shape = [rng.choice((1, 1, 2, 3, 0)) for _ in range(rng.randint(0, 4))]
    ones = [k - rng.choice((0, len(shape))) for k, n in enumerate(shape) if n == 1]
    chosen = rng.sample(ones, rng.randint(0, len(ones)))
    return shape, {"axes": chosen} if chosen or rng.random() < 0.3 else {}


def unsqueezed(rng: random.Random) -> Any:
    shape = some_shape(rng, 0, 3)
    new = rng.randint(1, 2)
    rank = len(shape) + new
    return shape, {"axes": [a - rng.choice((0, rank)) for a in rng.sample(range(rank), new)]}


def reversed_along(name: str) -> Draw:
    def draw(rng: random.Random) -> Any:
        shape = some_shape(rng, 0)
        axes = rng.sample(range(len(shape)), rng.randint(0, len(shape)))
        return shape, {name: [a - rng.choice((0, len(shape))) for a in axes]}

    return draw


def unchanged(rng: random.Random) -> Any:
    return some_shape(rng, 0), {}


def repeated(name: str, *lengths: int) -> Draw:
    """Return a draw for tiles; *lengths* are how many more numbers than axes there may be."""

    def draw(rng: random.Random) -> Any:
        shape = some_shape(rng, 0)
        return shape, {name: [rng.choice((1, 2, 3, 0)) for _ in range(max(0, len(shape) + rng.choice(lengths)))]}

    return draw


def rolled(shift: str, axes: str, *, scalar: bool = False) -> Draw:
    def draw(rng: random.Random) -> Any:
        shape = some_shape(rng)
        along = [rng.randrange(-len(shape), len(shape)) for _ in range(rng.randint(1, 3))]
        if scalar and rng.random() < 0.2:
            return shape, {shift: rng.randint(-9, 9), axes: along[0]}
        return shape, {shift: [rng.randint(-9, 9) for _ in along], axes: along}

    return draw


def broadcast(name: str, *, both: bool, **more: Any) -> Draw:
    def draw(rng: random.Random) -> Any:
        shape = [rng.choice((1, n)) for n in some_shape(rng, 0)]
        target = [extent(rng) if n == 1 else rng.choice((1, n)) if both else n for n in shape]
        shorter = both and rng.random() < 0.3
        new = [extent(rng) for _ in range(rng.randint(0, 2))]
        return shape, {name: target[1:] if shorter else new + target, **more}

    return draw


def openvino_broadcast(rng: random.Random) -> Any:
    mode = rng.choice(("numpy", "explicit", "bidirectional"))
    if mode != "explicit":
        return broadcast("target_shape", both=mode == "bidirectional", mode=mode)(rng)
    target = some_shape(rng)
    mapping = sorted(rng.sample(range(len(target)), rng.randint(0, len(target))))
    shape = [rng.choice((1, target[k])) for k in mapping]
    return shape, {"target_shape": target, "axes_mapping": mapping, "mode": "explicit"}


def joined(rng: random.Random) -> Any:
    shape = some_shape(rng)
    axis = rng.randrange(-len(shape), len(shape))
    shapes = [list(shape) for _ in range(rng.randint(1, 4))]
    for each in shapes:
        each[axis] = extent(rng)
    return shapes, {"axis": axis}


def in_groups(least: int, count: str, axis: str = "", *, axis_first: bool = True) -> Draw:
    def draw(rng: random.Random) -> Any:
        shape = some_shape(rng, least)
        along = rng.randrange(-len(shape), len(shape)) if axis else 1
        groups = rng.randint(1, 3)
        shape[along] = groups * rng.randint(0, 3)
        given = {axis: along} if axis else {}
        return shape, {**given, count: groups} if axis_first else {count: groups, **given}

    return draw


def onnx_split(rng: random.Random) -> Any:
    shape = some_shape(rng)
    axis = rng.randrange(-len(shape), len(shape))
    if rng.random() < 0.5:
        parts = [rng.randint(0, 3) for _ in range(rng.randint(1, 4))]
        shape[axis] = sum(parts)
        return shape, {"split": parts, "axis": axis}
    shape[axis] = rng.randint(0, 7)
    return shape, {"num_outputs": rng.randint(1, 4), "axis": axis}


def windows(rng: random.Random) -> Any:
    shape = [extent(rng, 1) for _ in range(rng.randint(1, 4))]
    axis = rng.randrange(-len(shape), len(shape))
    return shape, {"dimension": axis, "size": rng.randint(1, shape[axis]), "step": rng.randint(1, 3)}
