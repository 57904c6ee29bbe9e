"""Random blocks with pads or crops that fit."""

from __future__ import annotations

import random
from typing import Any

from tests.peers.extents import Draw, extent


def _margins(rng: random.Random, axes: int) -> list[tuple[int, int, int, int]]:
    """Return block, begin, end and cells of each axis: ``block * cells`` is what pads fill and crops cut."""
    found = []
    for _ in range(axes):
        block, cells = rng.randint(1, 3), rng.randint(1, 4)
        begin = rng.randint(0, min(3, block * cells))
        found.append((block, begin, rng.randint(0, min(3, block * cells - begin)), cells))
    return found


def openvino_blocks(kind: str) -> Draw:
    """Return a draw for SpaceToBatch (*kind* ``"pads"``) and BatchToSpace (``"crops"``)."""

    def draw(rng: random.Random) -> Any:
        shape, block, begins, ends = [rng.randint(1, 3)], [1], [0], [0]
        for b, begin, end, cells in _margins(rng, rng.randint(1, 4)):
            shape[0] *= b if kind == "crops" else 1
            shape.append(cells if kind == "crops" else b * cells - begin - end)
            block.append(b)
            begins.append(begin)
            ends.append(end)
        return shape, {"block_shape": block, f"{kind}_begin": begins, f"{kind}_end": ends}

    return draw


def tensorflow_blocks(kind: str, *, square: bool = False) -> Draw:
    """Return a draw for SpaceToBatch (*kind* ``"paddings"``) and BatchToSpace (``"crops"``), the ND ones or not."""

    def draw(rng: random.Random) -> Any:
        shape, blocks, pairs = [rng.randint(1, 3)], [], []
        one = rng.randint(2, 3)
        for b, begin, end, cells in _margins(rng, 2 if square else rng.randint(0, 3)):
            if square:
                b, begin, end = one, min(begin, one), 0
            shape[0] *= b if kind == "crops" else 1
            shape.append(cells if kind == "crops" else b * cells - begin - end)
            blocks.append(b)
            pairs.append([begin, end])
        shape += [rng.randint(1, 3) for _ in range(1 if square else rng.randint(0, 2))]
        return (shape, {kind: pairs, "block_size": one}) if square else (shape, {"block_shape": blocks, kind: pairs})

    return draw


def depth(name: str, *, deep: bool, axes: Any = (2,), least: int = 1, more: int = 0, **choices: Any) -> Draw:
    """Return a draw for operations with one block: *deep* inputs hold the blocks in the depth."""

    def draw(rng: random.Random) -> Any:
        block, spatial = rng.randint(least, 3), rng.choice(axes)
        chosen = {k: rng.choice(v) for k, v in choices.items()}
        channels = rng.randint(1, 3) * (block**spatial if deep else 1)
        space = [extent(rng) * (1 if deep else block) for _ in range(spatial)]
        layout = chosen.get("data_format", "NCHW")
        core = [*space, channels] if layout == "NHWC" else [channels, *space]
        lead = [rng.randint(1, 2) for _ in range(1 + rng.randint(-more, more))]
        return [*lead, *core, *([4] if layout == "NCHW_VECT_C" else [])], {**chosen, name: block}

    return draw
