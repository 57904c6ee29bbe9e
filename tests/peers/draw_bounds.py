"""Random widths of pads and bounds of slices."""

from __future__ import annotations

import random
from typing import Any

from tests.peers.extents import Draw, some_shape


def _width(rng: random.Random, n: int, mode: str) -> list[int]:
    """Return pads of an axis within what every framework takes."""
    most = {"reflect": n - 1, "symmetric": n, "wrap": n, "circular": n}.get(mode.lower(), 3 if n else 0)
    return [rng.randint(0, max(0, most)), rng.randint(0, max(0, most))]


def _taking(rng: random.Random, pairs: list[list[int]], shape: list[int]) -> list[list[int]]:
    """Return *pairs*, perhaps with one that takes elements away."""
    k = rng.randrange(max(1, len(pairs)))
    if pairs and rng.random() < 0.4 and shape[k] > 1:
        pairs[k][rng.randrange(2)] = -rng.randint(1, shape[k] - 1)
    return pairs


def openvino_pad(rng: random.Random) -> Any:
    shape, mode = some_shape(rng), rng.choice(("constant", "edge", "reflect", "symmetric"))
    pairs = _taking(rng, [_width(rng, n, mode) for n in shape], shape)
    value = {"pad_value": 7} if mode == "constant" else {}
    return shape, {"pads_begin": [a for a, _ in pairs], "pads_end": [b for _, b in pairs], **value, "pad_mode": mode}


def onnx_pad(rng: random.Random) -> Any:
    shape, mode = some_shape(rng), rng.choice(("constant", "edge", "reflect", "wrap"))
    axes = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
    pairs = _taking(rng, [_width(rng, shape[a], mode) for a in axes], [shape[a] for a in axes])
    value = {"constant_value": 7} if mode == "constant" and rng.random() < 0.8 else {}
    signed = [a - rng.choice((0, len(shape))) for a in axes]
    return shape, {"pads": [a for a, _ in pairs] + [b for _, b in pairs], **value, "axes": signed, "mode": mode}


def tensorflow_pad(more: str = "", *modes: str) -> Draw:
    def draw(rng: random.Random) -> Any:
        shape, mode = some_shape(rng, 0), rng.choice(modes or ("",))
        value = {more: mode} if mode else {more: 7} if more else {}
        return shape, {"paddings": [_width(rng, n, mode) for n in shape], **value}

    return draw


def torch_pad(rng: random.Random) -> Any:
    mode, given = rng.choice(("constant", "reflect", "replicate", "circular")), rng.randint(1, 3)
    shape = some_shape(rng, given + 1, given + 2)
    pairs = _taking(rng, [_width(rng, n, mode) for n in shape[: -given - 1 : -1]], shape[::-1])
    value = {"value": 7} if mode == "constant" and rng.random() < 0.8 else {}
    return shape, {"pad": [n for pair in pairs for n in pair], "mode": mode, **value}


def sliced(start: str, stop: str, step: str, axes: str, *, step_last: bool) -> Draw:
    def draw(rng: random.Random) -> Any:
        shape = some_shape(rng)
        along = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
        steps = [rng.choice((-3, -2, -1, 1, 1, 2, 3)) for _ in along]
        # ONNX Runtime reads the greatest integer as an end of either direction, which no specification says
        first = [rng.choice((0, rng.randint(-7, 7), -(2**63), 2**63 - 1)) for _ in along]
        last = [rng.choice((rng.randint(-7, 7), -(2**63), 2**63 - 1 if s > 0 else -1)) for s in steps]
        signed = [a - rng.choice((0, len(shape))) for a in along]
        given = {start: first, stop: last}
        given |= {axes: signed, step: steps} if step_last else {step: steps, axes: signed}
        return shape, given

    return draw


def tensorflow_slice(rng: random.Random) -> Any:
    shape = some_shape(rng)
    begin = [rng.randint(0, n) for n in shape]
    sizes = [rng.choice((-1, rng.randint(0, n - b))) for b, n in zip(begin, shape, strict=True)]
    return shape, {"begin": begin, "size": sizes}


def strided_slice(rng: random.Random) -> Any:
    shape = some_shape(rng)
    length = rng.randint(1, len(shape))
    masks = {name: rng.randrange(2**length) for name in ("begin_mask", "end_mask", "new_axis_mask")}
    ellipsis = rng.choice((0, 1 << rng.randrange(length)))
    index = rng.choice((0, 0, 1 << rng.randrange(length)))
    entries = {
        "begin": [rng.randint(-5, 5) for _ in range(length)],
        "end": [rng.randint(-5, 5) for _ in range(length)],
        "strides": [1 if index >> i & 1 else rng.choice((-2, -1, 1, 2)) for i in range(length)],
    }
    return shape, {**entries, **masks, "ellipsis_mask": ellipsis, "shrink_axis_mask": index}
