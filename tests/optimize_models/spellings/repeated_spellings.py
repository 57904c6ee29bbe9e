"""Movement that reads elements more than once, in many spellings: im2col, and the heads that repeat_kv repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, helper

from tests.optimize_models.spellings.dilation_spellings import Parts

SHAPES: dict[str, tuple[int | str, ...]] = {
    "static": (2, 4, 8, 6),
    "dynamic batch": ("N", 4, 8, 6),
    "all dynamic": ("N", 4, "H", "W"),
}
CHANNELS, REPEATS, WIDTH = 4, 3, 3
PLACES = [(i, j) for i in range(WIDTH) for j in range(WIDTH)]
_END = (1 << 63) - 1


def _cut(n: Parts, x: str, **bounds: tuple[int, int]) -> str:
    """Return a slice; the bounds are named after the axes, as ``a2``."""
    axes = [int(name[1:]) for name in bounds]
    starts, ends = zip(*bounds.values(), strict=True)
    return n("Slice", x, *(n.integers(*v) for v in (starts, ends, axes)))


def _run(k: int, pad: int = 0) -> tuple[int, int]:
    """Return the bounds of the places that one element of a window has."""
    return k + pad, k + 1 - WIDTH - pad or _END


def _stacked(n: Parts, pieces: Iterable[str], axis: int) -> str:
    return n("Concat", *(n("Unsqueeze", piece, n.integers(axis)) for piece in pieces), axis=axis)


# ------------------------------------------------- im2col: (N, C, H, W) to (N, C * 9, (H - 2) * (W - 2))


def _windows(n: Parts, x: str) -> list[str]:
    return [_cut(n, x, a2=_run(i), a3=_run(j)) for i, j in PLACES]


def _windows_by_axes(n: Parts, x: str) -> list[str]:
    return [_cut(n, _cut(n, x, a3=_run(j)), a2=_run(i)) for i, j in PLACES]


def _windows_of_padded(n: Parts, x: str) -> list[str]:
    wide = n.pad(x, 0, 0, 1, 1, 0, 0, 1, 1)
    return [_cut(n, wide, a2=_run(i, 1), a3=_run(j, 1)) for i, j in PLACES]


def _windows_of_turned(n: Parts, x: str) -> list[str]:
    last = n.turn(x, 0, 2, 3, 1)
    return [n.turn(_cut(n, last, a1=_run(i), a2=_run(j)), 0, 3, 1, 2) for i, j in PLACES]


def _joined(axis: int, *perm: int) -> Callable[[Parts, list[str]], str]:
    def join(n: Parts, pieces: list[str]) -> str:
        made = _stacked(n, pieces, axis)
        return n.turn(made, *perm) if perm else made

    return join


def _joined_by_rows(n: Parts, pieces: list[str]) -> str:
    rows = [_stacked(n, pieces[k : k + WIDTH], 2) for k in range(0, len(pieces), WIDTH)]
    return n("Concat", *rows, axis=2)


def _im2col(cut: Callable[[Parts, str], list[str]], join: Callable[[Parts, list[str]], str]) -> Callable[..., str]:
    return lambda n, x: n.reshape(join(n, cut(n, x)), 0, CHANNELS * len(PLACES), -1)


def _one_axis_first(first: int) -> Callable[[Parts, str], str]:
    def write(n: Parts, x: str) -> str:
        if first == 2:
            rows = _stacked(n, [_cut(n, x, a2=_run(k)) for k in range(WIDTH)], 2)
            both = _stacked(n, [_cut(n, rows, a4=_run(k)) for k in range(WIDTH)], 3)
        else:
            columns = _stacked(n, [_cut(n, x, a3=_run(k)) for k in range(WIDTH)], 2)
            both = _stacked(n, [_cut(n, columns, a3=_run(k)) for k in range(WIDTH)], 2)
        return n.reshape(both, 0, CHANNELS * len(PLACES), -1)

    return write


IM2COL: dict[str, Callable[[Parts, str], str]] = {
    "windows, beside the channels": _im2col(_windows, _joined(2)),
    "windows, before the channels": _im2col(_windows, _joined(1, 0, 2, 1, 3, 4)),
    "windows, last": _im2col(_windows, _joined(4, 0, 1, 4, 2, 3)),
    "windows, first": _im2col(_windows, _joined(0, 1, 2, 0, 3, 4)),
    "windows, row by row": _im2col(_windows, _joined_by_rows),
    "windows by axes": _im2col(_windows_by_axes, _joined(2)),
    "windows by axes, last": _im2col(_windows_by_axes, _joined(4, 0, 1, 4, 2, 3)),
    "windows of what is padded": _im2col(_windows_of_padded, _joined(2)),
    "windows of what is padded, first": _im2col(_windows_of_padded, _joined(0, 1, 2, 0, 3, 4)),
    "windows of channels last": _im2col(_windows_of_turned, _joined(2)),
    "rows first": _one_axis_first(2),
    "columns first": _one_axis_first(3),
}


def columns(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return im2col by NumPy."""
    height, width = x.shape[2] - WIDTH + 1, x.shape[3] - WIDTH + 1
    pieces = [x[:, :, i : i + height, j : j + width] for i, j in PLACES]
    return np.stack(pieces, 2).reshape(len(x), -1, height * width)


# ------------------------------------------------- repeat_kv: (N, C, S, D) to (N, C * 3, S, D)


def _heads(n: Parts, x: str, height: int = 3, width: int = 4) -> str:
    return n.reshape(x, (0, 1, 1), CHANNELS * REPEATS, (height, 1, 1), (width, 1, 1))


def _repeated(n: Parts, x: str, axis: int, op: str) -> str:
    times = [REPEATS if k == axis else 1 for k in range(5)]
    return n(op, n("Unsqueeze", x, n.integers(axis)), n.integers(*times))


def _expanded_by_computed(n: Parts, x: str) -> str:
    shape = n("Shape", x)
    sizes = [n("Gather", shape, n.integers(k)) for k in range(4)]
    wanted = n("Concat", *sizes[:2], n.integers(REPEATS), *sizes[2:], axis=0)
    return _heads(n, n("Expand", n("Unsqueeze", x, n.integers(2)), wanted))


def _by_heads(n: Parts, x: str, *, split: bool) -> str:
    names = [f"head_{k}" for k in range(CHANNELS)]
    if split:
        n.nodes.append(helper.make_node("Split", [x], names, axis=1, num_outputs=CHANNELS))
    else:
        names = [_cut(n, x, a1=(k, k + 1)) for k in range(CHANNELS)]
    return n("Concat", *(name for name in names for _ in range(REPEATS)), axis=1)


def _reordered(n: Parts, x: str) -> str:
    parts = n.reshape(x, (0, 1, 1), REPEATS, CHANNELS, (2, 1, 1), (3, 1, 1))
    return _heads(n, n.turn(parts, 0, 2, 1, 3, 4))


def _channels_last(n: Parts, x: str) -> str:
    last = _repeated(n, n.turn(x, 0, 2, 3, 1), 4, "Expand")
    return n.turn(n.reshape(last, (0, 1, 1), (1, 1, 1), (2, 1, 1), CHANNELS * REPEATS), 0, 3, 1, 2)


def _flat(n: Parts, x: str) -> str:
    rows = n.reshape(x, 0, CHANNELS, 1, -1)
    tiled = n("Tile", rows, n.integers(1, 1, REPEATS, 1))
    shape = n("Shape", x)
    sizes = [n("Gather", shape, n.integers(k)) for k in (0, 2, 3)]
    return n("Reshape", tiled, n("Concat", sizes[0], n.integers(CHANNELS * REPEATS), *sizes[1:], axis=0))


REPEAT_KV: dict[str, Callable[[Parts, str], str]] = {
    "expand": lambda n, x: _heads(n, _repeated(n, x, 2, "Expand")),
    "expand to a computed shape": _expanded_by_computed,
    "expand, first": lambda n, x: _heads(n, n.turn(_repeated(n, x, 0, "Expand"), 1, 2, 0, 3, 4)),
    "expand, channels last": _channels_last,
    "tile": lambda n, x: _heads(n, _repeated(n, x, 2, "Tile")),
    "tile of whole heads": lambda n, x: _reordered(n, n("Tile", x, n.integers(1, REPEATS, 1, 1))),
    "tile of rows": _flat,
    "stack": lambda n, x: _heads(n, _stacked(n, [x] * REPEATS, 2)),
    "concat of whole heads": lambda n, x: _reordered(n, n("Concat", *[x] * REPEATS, axis=1)),
    "gather": lambda n, x: n("Gather", x, n.integers(*np.repeat(range(CHANNELS), REPEATS).tolist()), axis=1),
    "split heads": lambda n, x: _by_heads(n, x, split=True),
    "sliced heads": lambda n, x: _by_heads(n, x, split=False),
}


def network(write: Callable[[Parts, str], str], shape: Sequence[int | str], rank: int) -> ModelProto:
    """Return a model with a region of movement between a Relu and an Exp."""
    n = Parts(opset=18)
    return n.model(shape, n("Exp", write(n, n("Relu", "x"))), rank)
